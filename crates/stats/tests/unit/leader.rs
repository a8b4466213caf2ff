use super::super::rng::Seeded;
use super::*;

fn rows(n: usize, levels: &[f64]) -> Vec<Vec<f64>> {
    let mut rng = Seeded::new(5);
    (0..n)
        .map(|_| {
            levels
                .iter()
                .map(|level| level + 0.01 * (rng.unit() - 0.5))
                .collect()
        })
        .collect()
}

/// A ranking by one row of logarithms a launch.
fn rank(rows: &[Vec<f64>], margin: f64, confidence: f64) -> Ranking {
    let log = |a: usize, b: usize| {
        move |row: &Vec<f64>| Point {
            log: row[b] - row[a],
            rounds: 1,
            round_variance: 0.0,
        }
    };
    let contrast = |a, b| rows.iter().map(log(a, b)).collect();
    rank_contrasts(
        rows[0].len(),
        contrast,
        |_, _| confidence,
        Some(0),
        (margin, confidence),
        1.0,
    )
    .expect("methods")
}

#[test]
fn each_has_its_standing() {
    let ranking = rank(&rows(16, &[0.30, 0.0, 0.001, 0.021]), 0.02, 0.95);
    use Standing::{Beaten, Leader, NotSettled, Within};
    assert_eq!(ranking.standings, [Beaten, Leader, Within, NotSettled]);
    assert_eq!(ranking.leader, 1);
    assert!(ranking.to_leader[0].expect("a pair").ratio > 1.3 && ranking.to_leader[1].is_none());
}

#[test]
fn bad_input_is_named_and_too_few_launches_settle_nothing() {
    let none = |_, _| Vec::new();
    let ranked = |methods, confidence| {
        rank_contrasts(methods, none, |_, _| 0.95, None, (0.0, confidence), 1.0)
    };
    assert!(matches!(
        ranked(0, 0.95),
        Err(Undefined::TooFew { got: 0, needed: 1 })
    ));
    assert!(matches!(ranked(2, 1.5), Err(Undefined::NotAProbability(_))));
    assert_eq!(
        rank(&rows(3, &[0.0, 0.3]), 0.0, 0.95).standings,
        [Standing::Leader, Standing::NotSettled]
    );
    assert_eq!(
        rank(&rows(6, &[0.3]), 0.0, 0.95).standings,
        [Standing::Leader]
    );
}
