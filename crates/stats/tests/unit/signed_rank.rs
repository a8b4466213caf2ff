use super::*;

#[test]
fn six_values_reach_95_percent_by_their_range() {
    let values = [3.0, 1.0, 4.0, 1.5, 5.0, 9.0];
    let interval = signed_rank_interval(&values, 0.95).expect("six will do");
    assert_eq!((interval.low, interval.high), (1.0, 9.0));
    assert_eq!(interval.coverage, 1.0 - 2.0 / 64.0);
    assert_eq!(
        signed_rank_interval(&values[..5], 0.95),
        Err(Undefined::TooFew { got: 5, needed: 6 })
    );
    assert!(signed_rank_interval(&values[..5], 0.90).is_ok());
}

#[test]
fn the_masses_are_the_share_of_all_sign_patterns() {
    let n = 9;
    let mut counted = vec![0.0; n * (n + 1) / 2 + 1];
    for signs in 0_u32..1 << n {
        let sum: usize = (0..n)
            .filter(|rank| signs >> rank & 1 == 1)
            .map(|rank| rank + 1)
            .sum();
        counted[sum] += 1.0 / f64::from(1 << n);
    }
    assert_eq!(masses(n), counted);
}

#[test]
fn the_normal_approximation_continues_the_exact_counts() {
    let (exact, outside) = cut(EXACT_UP_TO, 0.025).expect("enough");
    let (approximate, _) = normal_cut(EXACT_UP_TO as f64, 0.025).expect("enough");
    assert!(exact.abs_diff(approximate) <= 1, "{exact} {approximate}");
    assert!(outside <= 0.025 && outside > 0.024);
}

#[test]
fn shifting_and_scaling_the_values_shifts_and_scales_the_interval() {
    let values: Vec<f64> = (0..12).map(|i| f64::from(i * i % 17)).collect();
    let moved: Vec<f64> = values.iter().map(|v| 3.0 * v - 8.0).collect();
    let a = signed_rank_interval(&values, 0.95).expect("enough");
    let b = signed_rank_interval(&moved, 0.95).expect("enough");
    for (a, b) in [(a.estimate, b.estimate), (a.low, b.low), (a.high, b.high)] {
        assert!((3.0 * a - 8.0 - b).abs() < 1e-12);
    }
}
