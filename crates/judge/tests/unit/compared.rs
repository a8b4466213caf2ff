use record::summary::Estimate as Shown;
use stats::estimate::{Point, estimate};
use stats::moderated::Prior;

use super::*;

fn ratio_of(logs: &[f64]) -> RatioEstimate {
    let points: Vec<Point> = logs
        .iter()
        .map(|log| Point {
            log: *log,
            rounds: 1,
            round_variance: 0.0,
        })
        .collect();
    estimate(&points, &Prior::NONE, 0.95).unwrap()
}

fn check(half_width: f64) -> AaCheck {
    let (low, high) = (1.0 / (1.0 + half_width), 1.0 + half_width);
    let ratio = Shown {
        ratio: 1.0,
        low,
        high,
        level: 0.95,
        launches: 10,
        moved: None,
    };
    AaCheck {
        cell: 0,
        ratio,
        z: 0.0,
        p: 1.0,
        differs: false,
        weak: half_width > 0.1,
    }
}

fn doubted(logs: &[f64], half_width: f64) -> Option<Doubt> {
    let estimate = ratio_of(logs);
    doubt(
        &estimate,
        Verdict::from_interval(estimate.low, estimate.high, 0.02),
        logs,
        Some(&check(half_width)),
    )
}

#[test]
fn a_weak_check_takes_the_verdicts_that_it_could_explain_by_a_bias() {
    let around = |ratio: f64| {
        [-0.02, 0.02, -0.01, 0.01, 0.0, 0.015, -0.015, 0.005].map(|off| ratio.ln() + off)
    };
    // ±54 % excludes nothing of 30 % less time, or of the same time; a tenth of the time is beyond it.
    assert!(
        matches!(doubted(&around(0.7), 0.54), Some(Doubt::WeakCheck { half_width }) if half_width > 0.5)
    );
    assert!(matches!(
        doubted(&around(1.0), 0.54),
        Some(Doubt::WeakCheck { .. })
    ));
    assert_eq!(doubted(&around(0.1), 0.54), None);
    assert_eq!(doubted(&around(0.7), 0.05), None);
}

#[test]
fn launches_on_two_levels_have_no_verdict() {
    // vmsplice / memcpy as published at 256 MiB, in a run of all of transfer.
    let logs = [
        0.97f64, 0.95, 0.24, 0.99, 0.23, 0.96, 0.22, 0.98, 0.23, 0.94,
    ]
    .map(f64::ln);
    let Some(Doubt::TwoLevels(levels)) = doubted(&logs, 0.02) else {
        panic!()
    };
    assert!(
        (levels.low - 0.23).abs() < 0.01 && (levels.high - 0.965).abs() < 0.01,
        "{levels:?}"
    );
    assert!((levels.share - 0.6).abs() < 1e-9);
}
