//! Quantiles by selection: linear in time, in place, without a sort or a copy.

/// The factor that makes a median absolute deviation estimate the standard deviation of a normal distribution: 1/Φ⁻¹(3/4).
pub const MAD_TO_SD: f64 = 1.482_602_218_505_602;

/// The middle value, or the mean of the two middle ones, in the values' own unit.
///
/// Reorders the slice. `None` where it is empty or a value is not finite.
pub fn median(values: &mut [f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The quantile at `p` by Hyndman & Fan's (1996) type 7, the default of R and NumPy: linear between the order statistics
/// around position `(n - 1) p`, counted from zero.
///
/// Reorders the slice. `None` where it is empty, a value is not finite, or `p` is outside [0, 1].
pub fn quantile(values: &mut [f64], p: f64) -> Option<f64> {
    if values.is_empty() || !(0.0..=1.0).contains(&p) || !values.iter().all(|v| v.is_finite()) {
        return None;
    }
    let position = (values.len() - 1) as f64 * p;
    let index = position.floor() as usize;
    let fraction = position - index as f64;
    let (_, &mut below, above) = values.select_nth_unstable_by(index, f64::total_cmp);
    if fraction == 0.0 {
        return Some(below);
    }
    let next = above.iter().copied().fold(f64::INFINITY, f64::min);
    Some(below + fraction * (next - below))
}

/// The median of the absolute deviations from the median, unscaled, in the values' own unit.
///
/// Overwrites the slice with the deviations. `None` where it is empty or a value is not finite.
pub fn median_absolute_deviation(values: &mut [f64]) -> Option<f64> {
    let centre = median(values)?;
    for value in values.iter_mut() {
        *value = (*value - centre).abs();
    }
    median(values)
}
