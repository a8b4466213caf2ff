//! How much less a series of rounds says than as many independent ones would.

use super::quantile::median;

/// No correlation beyond this many rounds is looked for: what changes more slowly acts as a level of the whole launch, and
/// the variance between launches holds it.
pub const LONGEST_LAG: usize = 200;

/// The correlation of a series with itself `lag` rounds later, between −1 and 1; `None` where the series is no longer than
/// the lag or constant.
///
/// The usual estimator, with one mean and divisor n at every lag (Box & Jenkins 1976).
pub fn autocorrelation(values: &[f64], lag: usize) -> Option<f64> {
    // Rounding gives even a constant series a variance, so the values themselves are asked.
    let varies = values.iter().any(|value| *value != values[0]);
    let deviations = deviations(values);
    (lag < values.len() && varies).then(|| lagged_product(&deviations, lag) / lagged_product(&deviations, 0))
}

fn deviations(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

fn lagged_product(deviations: &[f64], lag: usize) -> f64 {
    deviations.iter().zip(&deviations[lag..]).map(|(a, b)| a * b).sum()
}

/// By how much correlation inflates the variance of the series' median: n correlated rounds say as much as n / sum
/// independent ones. It has no lower bound, which would bias an average over several short series upwards.
///
/// The sum 1 + 2 Σ ρ(lag) over the signs of the deviations from the median, because these determine the variance of a
/// median, cut at the first lag that is five times the sum so far (Sokal 1997, section 3) or at [`LONGEST_LAG`].
pub(crate) fn correlation_sum(values: &[f64]) -> f64 {
    let Some(centre) = median(&mut values.to_vec()) else {
        return 1.0;
    };
    let sign = |value: &f64| f64::from(i8::from(*value > centre) - i8::from(*value < centre));
    let signs: Vec<f64> = values.iter().map(sign).collect();
    let signs = deviations(&signs);
    let square = lagged_product(&signs, 0);
    if square == 0.0 {
        return 1.0;
    }
    let mut time = 1.0;
    for lag in 1..=LONGEST_LAG.min(values.len() / 4) {
        time += 2.0 * lagged_product(&signs, lag) / square;
        if lag as f64 >= 5.0 * time {
            break;
        }
    }
    time
}

#[cfg(test)]
mod tests {
    use super::super::rng::Seeded;
    use super::*;

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
    fn independent_rounds_count_fully() {
        assert!((1.0 / correlation_sum(&series(0.0, 20_000)) - 1.0).abs() < 0.1);
    }

    #[test]
    fn a_first_order_series_has_its_known_correlations() {
        let values = series(0.8, 40_000);
        for lag in [1, 2, 5] {
            let got = autocorrelation(&values, lag).expect("long enough");
            assert!((got - 0.8_f64.powi(lag as i32)).abs() < 0.03, "{lag}: {got}");
        }
        // For a normal series the signs correlate by 2/π asin(φ^lag), which sums to a time of 6.28.
        let time = correlation_sum(&values);
        assert!((5.3..7.3).contains(&time), "{time}");
    }

    #[test]
    fn a_constant_series_has_no_correlation() {
        assert_eq!(autocorrelation(&[0.1; 8], 1), None);
        assert_eq!(autocorrelation(&[1.0, 2.0], 5), None);
        assert_eq!(correlation_sum(&[1.0; 8]), 1.0);
        assert_eq!(correlation_sum(&[]), 1.0);
    }
}
