use super::two_levels;
use crate::rng::Seeded;

#[test]
fn launches_that_get_frames_back_from_the_host_are_a_second_level() {
    let ms = [
        215.0, 221.0, 600.0, 236.0, 228.0, 1157.0, 219.0, 790.0, 222.0, 840.0,
    ];
    let logs: Vec<f64> = ms.iter().map(|ms: &f64| ms.ln()).collect();
    let found = two_levels(&logs).unwrap();
    assert!((found.share - 0.4).abs() < 1e-12);
    assert!(
        (found.low.exp() - 221.5).abs() < 1.0 && found.high.exp() > 800.0,
        "{found:?}"
    );
    // Two far launches of ten are no level, and so few launches as seven show none.
    assert_eq!(two_levels(&logs[..7]), None);
    let two: Vec<f64> = ms
        .map(|ms| if ms > 800.0 { ms } else { 220.0 })
        .iter()
        .map(|ms| ms.ln())
        .collect();
    assert_eq!(two_levels(&two), None);
}

#[test]
fn one_scattered_level_is_seldom_called_two() {
    let mut seeded = Seeded::new(7);
    let mut noise = || {
        let mut unit = || seeded.below(1 << 20) as f64 / f64::from(1 << 20);
        (0..12).map(|_| unit()).sum::<f64>() - 6.0
    };
    for count in [8, 10, 20, 100] {
        let sets = (0..400).map(|_| (0..count).map(|_| 0.3 * noise()).collect::<Vec<f64>>());
        let wrong = sets.filter(|set| two_levels(set).is_some()).count();
        assert!(wrong <= 16, "{wrong} of 400 with {count} launches");
    }
}
