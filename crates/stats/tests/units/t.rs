use pagewise_stats::interval::Undefined;
use pagewise_stats::t::{t_interval, t_quantile, two_sided_p, welch};

#[test]
fn equal_values_have_an_interval_of_no_width() {
    let interval = t_interval(&[2.0; 5], 0.95).expect("five values");
    assert_eq!(
        (interval.low, interval.estimate, interval.high),
        (2.0, 2.0, 2.0)
    );
}

#[test]
fn groups_without_spread_differ_surely_or_not_at_all() {
    let same = welch(&[1.0; 3], &[1.0; 4]).expect("enough");
    assert_eq!((same.p(), same.limits(0.95)), (1.0, Ok((0.0, 0.0))));
    let other = welch(&[1.0; 3], &[2.0; 4]).expect("enough");
    assert_eq!((other.p(), other.limits(0.95)), (0.0, Ok((1.0, 1.0))));
}

#[test]
fn one_value_says_nothing_of_its_spread() {
    assert_eq!(
        t_interval(&[2.0], 0.95),
        Err(Undefined::TooFew { got: 1, needed: 2 })
    );
}

#[test]
fn extreme_statistics_have_probabilities() {
    assert_eq!(two_sided_p(0.0, 3.0), 1.0);
    assert_eq!(two_sided_p(f64::INFINITY, 3.0), 0.0);
    assert!(two_sided_p(f64::NAN, 3.0).is_nan());
    assert!(two_sided_p(1.0, 0.0).is_nan());
}

/// Searching the quantile of such degrees took for ever.
#[test]
fn degrees_that_no_estimate_has_give_no_number() {
    for freedom in [0.0, 1e-320, 1e-300, 0.5, -1.0, f64::NAN] {
        assert!(t_quantile(0.975, freedom).is_nan(), "{freedom}");
        assert!(two_sided_p(1.0, freedom).is_nan(), "{freedom}");
    }
    assert!((t_quantile(0.975, 1.0) - 12.706).abs() < 1e-2);
}

/// Searching the quantile of so many degrees took for ever, and was wrong in the sixth digit on some processors.
#[test]
fn quantiles_of_very_many_degrees_are_the_normal_ones() {
    let normal = 1.959963984540054;
    for freedom in [1.1e6, 9.2e18, f64::MAX] {
        let quantile = t_quantile(0.975, freedom);
        assert!((quantile - normal).abs() < 1e-5, "{freedom}: {quantile}");
    }
}

/// Where one way of computing ends and the other begins, and far beyond, the quantile is the one whose tail was asked for.
#[test]
fn quantiles_of_many_degrees_have_the_tail_asked_for() {
    for freedom in [30.0, 9e3, 1.1e4, 3e4, 1e5, 9.9e5] {
        for tail in [0.4, 0.025, 1e-4] {
            let both = two_sided_p(t_quantile(1.0 - tail, freedom), freedom);
            assert!(
                (both / (2.0 * tail) - 1.0).abs() < 1e-7,
                "{freedom}, {tail}: {both}"
            );
        }
    }
}
