use pagewise_stats::moderated::{Prior, inverse_trigamma, trigamma, weighted_mean};

#[test]
fn trigamma_has_its_known_values_and_an_inverse() {
    let pi = std::f64::consts::PI;
    assert!((trigamma(1.0) - pi * pi / 6.0).abs() < 1e-9);
    assert!((trigamma(0.5) - pi * pi / 2.0).abs() < 1e-8);
    for x in [0.05, 0.3, 1.0, 2.5, 10.0, 400.0] {
        assert!(
            (inverse_trigamma(trigamma(x)) / x - 1.0).abs() < 1e-6,
            "{x}"
        );
    }
}

#[test]
fn few_or_exact_variances_stand_alone() {
    assert_eq!(Prior::fit(&[(1.0, 5.0); 3]), Prior::NONE);
    assert_eq!(
        Prior::fit(&[(1.0, 5.0), (1.0, 5.0), (0.0, 5.0), (1.0, 5.0)]),
        Prior::NONE
    );
    assert_eq!(Prior::NONE.moderate(2.0, 5.0), (2.0, 5.0));
}

#[test]
fn like_variances_pool_and_unlike_ones_do_not() {
    let alike = Prior::fit(&[(1.0, 5.0), (1.3, 5.0), (0.8, 5.0), (1.1, 5.0), (0.9, 5.0)]);
    let (variance, freedom) = alike.moderate(4.0, 5.0);
    assert!(
        variance < 2.5 && freedom > 10.0 && freedom <= 12.5,
        "{variance} {freedom}"
    );
    let unlike = Prior::fit(&[
        (1.0, 5.0),
        (900.0, 5.0),
        (0.001, 5.0),
        (30.0, 5.0),
        (0.1, 5.0),
    ]);
    let (_, freedom) = unlike.moderate(4.0, 5.0);
    assert!(freedom < 6.0, "{freedom}");
}

#[test]
fn equal_weights_change_nothing() {
    let values = [1.0, 2.0, 4.0, 9.0];
    // The mean is 4; the squares of the deviations sum to 38.
    assert_eq!(weighted_mean(&values, &[3.0; 4]), Ok((4.0, 38.0 / 3.0)));
}
