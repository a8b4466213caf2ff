use pagewise_stats::calibration::{OFF_AT, calibrate, differing, score};
use pagewise_stats::estimate::Ratio;
use pagewise_stats::estimate::{Point, estimate};
use pagewise_stats::moderated::Prior;
use pagewise_stats::t::two_sided_p;
use statrs::distribution::{ContinuousCDF, Normal};

fn check(logs: &[f64]) -> Ratio {
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
fn one_broken_group_does_not_condemn_the_others() {
    let mut scores = [0.3, -1.1, 0.8, -0.4, 1.6, -0.2, 0.1, -0.9, 0.5, 1.0];
    assert_eq!(calibrate(&scores).factor, 1.0);
    scores[4] = 400.0;
    assert_eq!(calibrate(&scores).factor, 1.0);
    let wide = scores.map(|z| 4.0 * z.min(2.0));
    let seen = calibrate(&wide);
    assert!(seen.factor > 2.0 && seen.p <= OFF_AT, "{seen:?}");
    assert_eq!(
        calibrate(&[9.0; 5]).factor,
        1.0,
        "five checks calibrate nothing"
    );
    assert_eq!(calibrate(&[]).factor, 1.0);
}

#[test]
fn a_score_is_the_normal_deviate_of_the_same_probability() {
    let one = check(&[0.1, 0.3, -0.1, 0.2, 0.15]);
    let z = score(&one).expect("it varies");
    let p = two_sided_p(one.log() / one.error, one.freedom);
    assert!((Normal::standard().inverse_cdf(1.0 - p / 2.0) - z).abs() < 1e-9);
    assert_eq!(score(&check(&[0.0; 5])), None);
}

fn tight(centre: f64) -> Ratio {
    check(&[
        centre,
        centre + 1e-4,
        centre - 1e-4,
        centre + 2e-4,
        centre - 2e-4,
        centre,
    ])
}

#[test]
fn only_what_is_no_chance_and_matters_costs_the_trust() {
    let checks = [
        tight(0.0),
        tight(0.01),
        tight(0.05),
        check(&[0.1, 0.3, -0.1, 0.2]),
    ];
    assert_eq!(differing(&checks, 0.02), [2]);
    assert_eq!(differing(&checks, 0.001), [1, 2]);
}
