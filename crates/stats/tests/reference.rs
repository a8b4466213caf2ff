//! The statistics against numbers made by SciPy, NumPy and statsmodels; `fixtures/stats/make.py` made them.

use pagewise_stats::calibration::calibrate;
use pagewise_stats::interval::{Interval, Undefined};
use pagewise_stats::moderated::{inverse_trigamma, trigamma, weighted_mean};
use pagewise_stats::moved::autocorrelation;
use pagewise_stats::moved::neighbours_alike;
use pagewise_stats::multiplicity::{benjamini_hochberg, holm};
use pagewise_stats::quantile::midmean;
use pagewise_stats::quantile::{median_absolute_deviation, quantile};
use pagewise_stats::quantile::{order_interval, ranks};
use pagewise_stats::signed_rank::signed_rank_interval;
use pagewise_stats::t::{t_interval, two_sided_p, welch};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    signed_rank: Vec<OneSample>,
    order: Vec<Order>,
    quantiles: Vec<Quantiles>,
    student: Vec<OneSample>,
    t_tails: Vec<TTail>,
    welch: Vec<Welch>,
    adjusted: Vec<Adjusted>,
    autocorrelation: Vec<Autocorrelation>,
    midmeans: Vec<Midmean>,
    weighted: Vec<Weighted>,
    trigammas: Vec<Trigamma>,
    ranked_neighbours: Vec<Neighbours>,
    chi_squared_tails: Vec<ChiSquaredTail>,
}

#[derive(Deserialize)]
struct Midmean {
    values: Vec<f64>,
    midmean: f64,
}

#[derive(Deserialize)]
struct Weighted {
    values: Vec<f64>,
    weights: Vec<f64>,
    mean: f64,
    error: f64,
}

#[derive(Deserialize)]
struct Trigamma {
    x: f64,
    trigamma: f64,
}

#[derive(Deserialize)]
struct Neighbours {
    values: Vec<f64>,
    p: f64,
}

#[derive(Deserialize)]
struct ChiSquaredTail {
    scores: Vec<f64>,
    p: f64,
}

#[derive(Deserialize)]
struct OneSample {
    values: Vec<f64>,
    confidence: f64,
    estimate: f64,
    low: f64,
    high: f64,
    coverage: Option<f64>,
}

#[derive(Deserialize)]
struct Order {
    n: usize,
    p: f64,
    confidence: f64,
    low: Option<usize>,
    high: Option<usize>,
    coverage: Option<f64>,
}

#[derive(Deserialize)]
struct Quantiles {
    values: Vec<f64>,
    p: Vec<f64>,
    quantiles: Vec<f64>,
    mad: f64,
}

#[derive(Deserialize)]
struct TTail {
    t: f64,
    freedom: f64,
    p: f64,
}

#[derive(Deserialize)]
struct Welch {
    a: Vec<f64>,
    b: Vec<f64>,
    p: f64,
    freedom: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Adjusted {
    p: Vec<f64>,
    holm: Vec<f64>,
    benjamini_hochberg: Vec<f64>,
}

#[derive(Deserialize)]
struct Autocorrelation {
    values: Vec<f64>,
    correlations: Vec<f64>,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("fixtures/stats/reference.json"))
        .expect("the fixture has this shape")
}

#[track_caller]
fn assert_close(got: f64, expected: f64, tolerance: f64) {
    let scale = expected.abs().max(1e-6);
    assert!(
        (got - expected).abs() <= tolerance * scale,
        "got {got}, expected {expected}"
    );
}

#[track_caller]
fn assert_interval(got: &Interval, estimate: f64, low: f64, high: f64) {
    assert_close(got.estimate, estimate, 1e-9);
    assert_close(got.low, low, 1e-9);
    assert_close(got.high, high, 1e-9);
}

#[test]
fn signed_rank_intervals_invert_scipys_test() {
    let cases = reference().signed_rank;
    assert!(cases.len() > 80);
    for case in cases {
        let got = signed_rank_interval(&case.values, case.confidence).expect("SciPy found one");
        assert_interval(&got, case.estimate, case.low, case.high);
        assert_close(got.coverage, case.coverage.expect("always given"), 1e-9);
    }
}

#[test]
fn order_ranks_follow_the_binomial_distribution() {
    for case in reference().order {
        let got = ranks(case.n, case.p, case.confidence);
        let Some(coverage) = case.coverage else {
            assert!(
                matches!(got, Err(Undefined::TooFew { .. })),
                "{} {} {got:?}",
                case.n,
                case.p
            );
            continue;
        };
        let got = got.expect("SciPy found ranks");
        assert_eq!(
            (Some(got.low), Some(got.high)),
            (case.low, case.high),
            "{} {}",
            case.n,
            case.p
        );
        assert_close(got.coverage, coverage, 1e-9);
        let mut values: Vec<f64> = (1..=case.n).rev().map(|rank| rank as f64).collect();
        let interval =
            order_interval(&mut values, case.p, case.confidence).expect("the ranks exist");
        assert_eq!(
            (interval.low, interval.high),
            (got.low as f64, got.high as f64)
        );
    }
}

#[test]
fn quantiles_are_those_of_numpy() {
    for mut case in reference().quantiles {
        for (p, expected) in case.p.iter().zip(&case.quantiles) {
            assert_close(
                quantile(&mut case.values, *p).expect("values"),
                *expected,
                1e-12,
            );
        }
        assert_close(
            median_absolute_deviation(&mut case.values).expect("values"),
            case.mad,
            1e-12,
        );
    }
}

#[test]
fn students_intervals_and_tails_are_those_of_scipy() {
    let reference = reference();
    for case in reference.student {
        let got = t_interval(&case.values, case.confidence).expect("two values or more");
        assert_interval(&got, case.estimate, case.low, case.high);
    }
    for case in reference.t_tails {
        assert_close(two_sided_p(case.t, case.freedom), case.p, 1e-9);
        assert_close(two_sided_p(-case.t, case.freedom), case.p, 1e-9);
    }
}

#[test]
fn welchs_test_is_that_of_scipy() {
    for case in reference().welch {
        let got = welch(&case.a, &case.b).expect("enough values");
        assert_close(got.p(), case.p, 1e-9);
        assert_close(got.freedom, case.freedom, 1e-9);
        let (low, high) = got.limits(0.95).expect("a confidence");
        assert_close(low, case.low, 1e-8);
        assert_close(high, case.high, 1e-8);
    }
}

#[test]
fn adjusted_p_values_are_those_of_statsmodels_and_scipy() {
    for case in reference().adjusted {
        let adjusted = [
            (holm(&case.p), case.holm),
            (benjamini_hochberg(&case.p), case.benjamini_hochberg),
        ];
        for (got, expected) in adjusted {
            got.iter()
                .zip(&expected)
                .for_each(|(got, expected)| assert_close(*got, *expected, 1e-12));
        }
    }
}

#[test]
fn autocorrelations_are_those_of_statsmodels() {
    for case in reference().autocorrelation {
        for (lag, expected) in case.correlations.iter().enumerate() {
            assert_close(
                autocorrelation(&case.values, lag).expect("long enough"),
                *expected,
                1e-9,
            );
        }
    }
}

#[test]
fn midmeans_agree() {
    for row in reference().midmeans {
        assert_close(midmean(&row.values).expect("values"), row.midmean, 1e-12);
    }
}

#[test]
fn weighted_means_and_their_errors_agree() {
    for row in reference().weighted {
        let (mean, variance) =
            weighted_mean(&row.values, &row.weights).expect("two values at least");
        assert_close(mean, row.mean, 1e-10);
        assert_close(
            (variance / row.values.len() as f64).sqrt(),
            row.error,
            1e-10,
        );
    }
}

#[test]
fn trigammas_agree() {
    for row in reference().trigammas {
        assert_close(trigamma(row.x), row.trigamma, 1e-8);
        assert_close(inverse_trigamma(row.trigamma), row.x, 1e-7);
    }
}

/// The beta approximation against all orders, or a million of them.
#[test]
fn the_likeness_of_neighbours_agrees() {
    for row in reference().ranked_neighbours {
        let p = neighbours_alike(&row.values).expect("eight values at least");
        assert!(
            (p - row.p).abs() <= 0.006 + 0.03 * row.p,
            "{p} {} {}",
            row.p,
            row.values.len()
        );
    }
}

#[test]
fn tails_of_bounded_scores_agree() {
    for row in reference().chi_squared_tails {
        assert_close(calibrate(&row.scores).p, row.p, 1e-9);
    }
}
