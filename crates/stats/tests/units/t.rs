use pagewise_stats::interval::Undefined;
use pagewise_stats::t::{t_interval, two_sided_p, welch};

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
