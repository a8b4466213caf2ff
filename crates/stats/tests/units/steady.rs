use pagewise_stats::interval::Undefined;
use pagewise_stats::rng::Seeded;
use pagewise_stats::steady::{Label, TOLERANCE, steadiness};

/// Costs around 80 with 3 % noise, one round in fifty hit by a tick, times `level` at each share of the launch.
fn launch(rounds: usize, seed: u64, level: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut rng = Seeded::new(seed);
    (0..rounds)
        .map(|round| {
            let tick = if rng.below(50) == 0 { 30.0 } else { 0.0 };
            80.0 * (1.0 + 0.06 * (rng.unit() - 0.5)) * level(round as f64 / rounds as f64) + tick
        })
        .collect()
}

fn labels(rounds: usize, level: impl Fn(f64) -> f64) -> Vec<Label> {
    let mut labels = Vec::new();
    for seed in 0..20 {
        let costs = launch(rounds, seed, &level);
        let judged = steadiness(&costs, TOLERANCE, seed).expect("positive costs");
        labels.push(judged.label);
    }
    labels
}

#[test]
fn each_behaviour_gets_its_label() {
    for rounds in [60, 200, 3000] {
        assert_eq!(labels(rounds, |_| 1.0), [Label::Steady; 20], "{rounds}");
        assert_eq!(
            labels(rounds, |t| 1.0 + 0.3 * t),
            [Label::Drifting; 20],
            "{rounds}"
        );
        assert_eq!(
            labels(rounds, |t| if t < 0.4 { 1.0 } else { 1.2 }),
            [Label::TwoLevel; 20],
            "{rounds}"
        );
        assert_eq!(
            labels(rounds, |t| if (0.3..0.7).contains(&t) { 1.2 } else { 1.0 }),
            [Label::TwoLevel; 20],
            "{rounds}: there and back"
        );
        assert_eq!(
            labels(rounds, |t| 1.0 + 0.2 * (3.0 * t).floor()),
            [Label::Drifting; 20],
            "{rounds}: stairs"
        );
    }
}

#[test]
fn the_place_and_the_size_of_a_step_are_found() {
    let judged = steadiness(
        &launch(600, 1, |t| if t < 0.5 { 1.0 } else { 1.2 }),
        TOLERANCE,
        1,
    )
    .expect("positive");
    let shift = judged.shift.expect("long enough");
    assert!((shift - 1.2).abs() < 0.02, "{shift}");
    assert_eq!(judged.change_points.len(), 1);
    assert!(judged.change_points[0].abs_diff(300) <= 10, "{judged:?}");
}

#[test]
fn what_cannot_be_judged_says_so() {
    let short = steadiness(&[1.0; 29], TOLERANCE, 1).expect("positive");
    assert_eq!((short.label, short.shift), (Label::Short, None));
    assert_eq!(steadiness(&[0.0; 40], TOLERANCE, 1), Err(Undefined::Zero));
    assert_eq!(
        steadiness(&[-1.0; 40], TOLERANCE, 1),
        Err(Undefined::Negative)
    );
    assert_eq!(
        steadiness(&[f64::NAN; 40], TOLERANCE, 1),
        Err(Undefined::NotFinite)
    );
}
