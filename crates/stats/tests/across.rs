//! The ratio between two sets of runs: against SciPy (`fixtures/stats/make_across.py`), and on simulated machines
//! whose truth is known.

use pagewise_stats::across::{ratio, runs_to_decide, side};
use pagewise_stats::estimate::Ratio;
use pagewise_stats::rng::Seeded;
use pagewise_stats::t::{two_sided_p, welch};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    a: Vec<Vec<f64>>,
    b: Vec<Vec<f64>>,
    ratio: f64,
    low: f64,
    high: f64,
    freedom: f64,
    p: f64,
}

#[test]
fn limits_over_runs_follow_from_scipys_welch_statistic() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("fixtures/stats/across.json")).unwrap();
    assert!(cases.len() > 20);
    for case in cases {
        let got = ratio(&side(&case.a).unwrap(), &side(&case.b).unwrap(), 0.95).unwrap();
        let p = two_sided_p(got.log() / got.error, got.freedom);
        for (got, expected) in [
            (got.ratio, case.ratio),
            (got.low, case.low),
            (got.high, case.high),
            (got.freedom, case.freedom),
            (p, case.p),
        ] {
            assert!((got / expected - 1.0).abs() < 1e-7, "{got} {expected}");
        }
    }
}

/// A machine: how its runs and the launches within them scatter, as standard deviations of logarithms.
#[derive(Clone, Copy)]
struct Machine {
    runs: usize,
    launches: usize,
    between: f64,
    within: f64,
}

fn normal(rng: &mut Seeded) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

fn simulated(machine: Machine, centre: f64, rng: &mut Seeded) -> Vec<Vec<f64>> {
    let mut runs = Vec::new();
    for _ in 0..machine.runs {
        let level = centre + machine.between * normal(rng);
        let launches = (0..machine.launches).map(|_| level + machine.within * normal(rng));
        runs.push(launches.collect());
    }
    runs
}

/// Of `tries`, the share in which a judgement holds.
fn share(
    a: Machine,
    b: Machine,
    effect: f64,
    tries: usize,
    judge: impl Fn(&[Vec<f64>], &[Vec<f64>]) -> bool,
) -> f64 {
    let mut rng = Seeded::new(20_261_121);
    let mut holding = 0;
    for _ in 0..tries {
        let runs_a = simulated(a, 6.0, &mut rng);
        let runs_b = simulated(b, 6.0 + effect, &mut rng);
        holding += usize::from(judge(&runs_a, &runs_b));
    }
    holding as f64 / tries as f64
}

fn interval(a: &[Vec<f64>], b: &[Vec<f64>]) -> Ratio {
    ratio(&side(a).unwrap(), &side(b).unwrap(), 0.95).unwrap()
}

fn differs(a: &[Vec<f64>], b: &[Vec<f64>]) -> bool {
    let found = interval(a, b);
    found.low > 1.0 || found.high < 1.0
}

const QUIET: Machine = Machine {
    runs: 3,
    launches: 10,
    between: 0.005,
    within: 0.02,
};
const USUAL: Machine = Machine {
    runs: 3,
    launches: 10,
    between: 0.03,
    within: 0.02,
};
const WILD: Machine = Machine {
    runs: 3,
    launches: 6,
    between: 0.15,
    within: 0.02,
};

fn usual(runs: usize) -> Machine {
    Machine { runs, ..USUAL }
}

#[test]
fn identical_sides_are_called_different_in_at_most_five_of_a_hundred() {
    for (a, b) in [
        (QUIET, QUIET),
        (USUAL, USUAL),
        (WILD, WILD),
        (usual(5), usual(5)),
        (usual(3), usual(8)),
    ] {
        let alarms = share(a, b, 0.0, 4000, differs);
        assert!(alarms <= 0.05, "{alarms}");
    }
}

#[test]
fn a_noisier_side_brings_no_more_false_alarms() {
    for (a, b) in [
        (USUAL, WILD),
        (QUIET, WILD),
        (Machine { runs: 6, ..QUIET }, WILD),
    ] {
        let alarms = share(a, b, 0.0, 4000, differs);
        assert!(
            alarms <= 0.05 + 0.007,
            "{alarms}: more than chance allows above 5 %"
        );
    }
}

#[test]
fn effects_far_above_the_noise_are_found() {
    assert!(share(QUIET, QUIET, 0.15, 500, differs) > 0.9);
    assert!(
        share(
            Machine { runs: 5, ..USUAL },
            Machine { runs: 5, ..USUAL },
            0.2,
            500,
            differs
        ) > 0.99
    );
}

#[test]
fn launches_taken_for_runs_would_be_wrong_most_of_the_time() {
    let alarms = share(USUAL, USUAL, 0.0, 1000, |a, b| {
        welch(&a.concat(), &b.concat()).unwrap().p() < 0.05
    });
    assert!(
        alarms > 0.3,
        "{alarms}: this test would not catch that levels are ignored"
    );
}

#[test]
fn a_forecast_of_runs_never_names_as_many_as_have_not_decided() {
    // Copies of one run agree to the last digit; only their launches scatter.
    let [a, b] = [0.0, 0.1].map(|shift| {
        let launches = [-0.2, 0.1, 0.0, 0.15].map(|log| log + shift).to_vec();
        side(&vec![launches; 3]).unwrap()
    });
    let now = ratio(&a, &b, 0.95).unwrap();
    assert!(now.low < 1.0 && now.high > 1.0, "{now:?}");
    assert!(runs_to_decide(&a, &b, 0.02, 0.95).is_some_and(|runs| runs > 3));
}
