//! Correlation of a series with itself.

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
