use pagewise_stats::estimate::Ratio;
use pagewise_stats::estimate::{Point, estimate};
use pagewise_stats::moderated::Prior;
use pagewise_stats::verdicts::Region;
use pagewise_stats::verdicts::verdicts;
use proptest::prelude::*;

fn from(logs: &[f64]) -> Ratio {
    let points: Vec<Point> = logs
        .iter()
        .map(|log| Point {
            log: *log,
            rounds: 5,
            round_variance: 0.0,
        })
        .collect();
    estimate(&points, &Prior::NONE, 0.95).expect("enough launches")
}

#[test]
fn company_makes_words_rarer() {
    let one = from(&[-0.05, -0.09, -0.06, -0.1, -0.07, -0.095]);
    let alone = verdicts(&[(one, 0.02)], 0.95);
    assert_eq!(
        (alone[0].verdict, alone[0].alone),
        (Region::Faster, Region::Faster)
    );
    let many = verdicts(&[(one, 0.02); 200], 0.95);
    assert_eq!(
        (many[0].verdict, many[0].alone),
        (Region::Undecided, Region::Faster)
    );
}

#[test]
fn a_chosen_interval_needs_more() {
    let one = from(&[-0.05, -0.09, -0.06, -0.1, -0.07, -0.095]);
    let [usual, chosen] =
        [0.95, 0.968].map(|level| verdicts(&[(one.at(level).expect("a level"), 0.02)], 0.95)[0]);
    assert!(
        (chosen.p / usual.p - 0.05 / 0.032).abs() < 1e-9,
        "{chosen:?} {usual:?}"
    );
    // At an edge that its interval just holds nothing is said, though the interval at 95 % would not hold it.
    let margin = (-one.bounds(0.96).expect("limits").1.ln()).exp_m1();
    let said = [0.95, 0.968]
        .map(|level| verdicts(&[(one.at(level).expect("a level"), margin)], 0.95)[0].alone);
    assert_eq!(said, [Region::Faster, Region::Undecided]);
}

#[test]
fn exact_counts_are_decided() {
    for (log, expected) in [
        (-0.5, Region::Faster),
        (0.5, Region::Slower),
        (0.0, Region::Equivalent),
    ] {
        assert_eq!(
            verdicts(&[(from(&[log; 4]), 0.02)], 0.95)[0].verdict,
            expected
        );
    }
}

proptest! {
    #[test]
    fn a_word_alone_is_where_the_interval_lies(logs in prop::collection::vec(-0.1..0.1, 4..7), margin in 0.001..0.1_f64) {
        let one = from(&logs);
        let alone = verdicts(&[(one, margin)], 0.95)[0].alone;
        let (below, above) = (1.0 / (1.0 + margin), 1.0 + margin);
        let place = if one.high < below { Region::Faster }
            else if one.low > above { Region::Slower }
            else if one.low >= below && one.high <= above { Region::Equivalent }
            else { Region::Undecided };
        let near = [one.low, one.high].iter().any(|l| (l / below - 1.0).abs() < 1e-9 || (l / above - 1.0).abs() < 1e-9);
        prop_assert!(near || alone == place, "{alone:?} {place:?} {one:?}");
    }
}
