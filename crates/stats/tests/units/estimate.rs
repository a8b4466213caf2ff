use pagewise_stats::estimate::{Point, estimate};
use pagewise_stats::moderated::Prior;
use pagewise_stats::t::t_interval;

fn plain(logs: &[f64]) -> Vec<Point> {
    logs.iter()
        .map(|log| Point {
            log: *log,
            rounds: 10,
            round_variance: 0.01,
        })
        .collect()
}

#[test]
fn launches_alike_give_students_interval() {
    let logs = [0.1, 0.3, -0.1, 0.2, 0.15];
    let student = t_interval(&logs, 0.95).expect("five");
    let own = estimate(&plain(&logs), &Prior::NONE, 0.95).expect("five");
    assert!(
        (own.low - student.low.exp()).abs() < 1e-12
            && (own.high - student.high.exp()).abs() < 1e-12
    );
    assert_eq!((own.launches, own.freedom, own.drift), (5, 4.0, None));
}

#[test]
fn exchanging_the_sides_inverts_the_ratio() {
    let logs = [0.1, 0.3, -0.1, 0.2, 0.15, 0.7, 0.71, 0.72, 0.73];
    let back: Vec<f64> = logs.iter().map(|log| -log).collect();
    let forth = estimate(&plain(&logs), &Prior::NONE, 0.95).expect("nine");
    let back = estimate(&plain(&back), &Prior::NONE, 0.95).expect("nine");
    assert!(
        (forth.low * back.high - 1.0).abs() < 1e-12
            && (forth.ratio * back.ratio - 1.0).abs() < 1e-12
    );
}

#[test]
fn a_ratio_that_moves_is_said_to_move_between_its_blocks() {
    let logs: Vec<f64> = (0..16).map(|i| -1.8 + 0.015 * f64::from(i)).collect();
    let moved = estimate(&plain(&logs), &Prior::NONE, 0.95)
        .expect("sixteen")
        .drift
        .expect("it moves");
    assert!(
        (moved.low - (-1.8_f64 + 0.0225).exp()).abs() < 1e-9,
        "{moved:?}"
    );
    assert!(
        (moved.high - (-1.8_f64 + 0.2025).exp()).abs() < 1e-9,
        "{moved:?}"
    );
}

#[test]
fn what_is_widened_is_wider_by_that_factor_and_never_narrower() {
    let one = estimate(&plain(&[0.1, 0.3, -0.1, 0.2]), &Prior::NONE, 0.95).expect("four");
    let wider = one.widened(2.0);
    assert!(((wider.high / wider.low).ln() / (one.high / one.low).ln() - 2.0).abs() < 1e-9);
    assert_eq!(one.widened(0.5), one);
}

#[test]
fn launches_with_few_rounds_weigh_less() {
    let mut points = plain(&[0.0, 0.0, 0.1, 0.0, 0.0]);
    points[2].rounds = 1;
    let weighted = estimate(&points, &Prior::NONE, 0.95).expect("five");
    assert!(weighted.log() < 0.02, "{weighted:?}");
}
