use super::*;

/// A method's cost at 1, 2, 4 … threads, each within this share.
fn line(costs: &[f64], share: f64) -> Line {
    let point = |(at, &cost): (usize, &f64)| CurvePoint {
        cell: 0,
        value: 1 << at,
        value_words: String::new(),
        cost: (cost, Some((cost * (1.0 - share), cost * (1.0 + share)))),
        cost_words: String::new(),
    };
    Line {
        label: "touch".to_owned(),
        color: 0,
        points: costs.iter().enumerate().map(point).collect(),
    }
}

fn between(costs: &[f64], share: f64) -> Option<(u64, u64)> {
    knee(THREADS, 0, &line(costs, share)).map(|knee| knee.between)
}

#[test]
fn the_knee_lies_behind_the_last_step_that_helps() {
    assert_eq!(
        between(&[800.0, 400.0, 200.0, 200.0, 210.0], 0.02),
        Some((4, 8))
    );
    assert_eq!(
        between(&[800.0, 400.0, 420.0, 900.0], 0.02),
        Some((2, 4)),
        "a cost that rises again"
    );
    assert_eq!(
        between(&[800.0, 420.0, 330.0, 310.0, 309.0], 0.01),
        Some((4, 16)),
        "Amdahl's law"
    );
}

#[test]
fn an_undecided_step_widens_the_knee() {
    assert_eq!(between(&[800.0, 400.0, 370.0, 370.0], 0.02), Some((2, 8)));
}

#[test]
fn no_knee_where_all_steps_help_or_none_does() {
    assert_eq!(between(&[800.0, 400.0, 200.0, 100.0], 0.02), None);
    assert_eq!(between(&[800.0, 820.0, 830.0], 0.02), None);
    assert_eq!(knee("bytes", 0, &line(&[800.0, 400.0, 400.0], 0.02)), None);
}
