use pagewise_stats::quantile::{median, median_absolute_deviation, quantile};
use proptest::prelude::*;

#[test]
fn small_cases() {
    assert_eq!(median(&mut []), None);
    assert_eq!(median(&mut [3.0]), Some(3.0));
    assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(quantile(&mut [1.0, 2.0, 3.0], 1.0), Some(3.0));
    assert_eq!(quantile(&mut [1.0, 2.0], 1.5), None);
    assert_eq!(median(&mut [1.0, f64::NAN]), None);
    assert_eq!(median(&mut [1.0, f64::INFINITY]), None);
    assert_eq!(
        median_absolute_deviation(&mut [1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]),
        Some(1.0)
    );
}

proptest! {
    #[test]
    fn selection_agrees_with_sorting(mut values in prop::collection::vec(-1e6..1e6, 1..60), p in 0.0..=1.0_f64) {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let position = (sorted.len() - 1) as f64 * p;
        let low = sorted[position.floor() as usize];
        let high = sorted[position.ceil() as usize];
        let expected = low + (position - position.floor()) * (high - low);
        let got = quantile(&mut values, p).expect("finite values");
        prop_assert!((got - expected).abs() <= 1e-9 * (1.0 + expected.abs()));
    }
}
