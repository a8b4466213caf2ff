use pagewise_stats::moved::autocorrelation;
use pagewise_stats::rng::Seeded;

/// A first-order series x(t) = φ x(t-1) + u with uniform u.
fn series(phi: f64, n: usize) -> Vec<f64> {
    let mut rng = Seeded::new(9);
    let mut x = 0.0;
    (0..n)
        .map(|_| {
            x = phi * x + rng.unit() - 0.5;
            x
        })
        .collect()
}

#[test]
fn a_first_order_series_has_its_known_correlations() {
    let values = series(0.8, 40_000);
    for lag in [1, 2, 5] {
        let got = autocorrelation(&values, lag).expect("long enough");
        assert!(
            (got - 0.8_f64.powi(lag as i32)).abs() < 0.03,
            "{lag}: {got}"
        );
    }
}

#[test]
fn a_constant_series_has_no_correlation() {
    assert_eq!(autocorrelation(&[0.1; 8], 1), None);
    assert_eq!(autocorrelation(&[1.0, 2.0], 5), None);
}
