//! Locations of values: quantiles by selection, linear in time and in place, and the midmean, which stands for a launch.

use super::interval::{Interval, Undefined, check, check_probability, tail};
use statrs::distribution::{Binomial, DiscreteCDF};

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

/// The mean of the middle half of the values, in their own unit: ⌊n/4⌋ are left out at either end.
///
/// Tukey's midmean. A quarter of the values may be arbitrarily wrong at either end and it stays where it is. For normal
/// values its variance is 1.2 times that of the mean, where the median's is 1.57 times (Rosenberger & Gasko 1983); up to
/// two values it is the mean, with three and four the median. `TooFew` without values, `NotFinite` where one is not finite.
pub fn midmean(values: &[f64]) -> Result<f64, Undefined> {
    check(values, 1)?;
    let mut sorted = values.to_vec();
    let (n, cut) = (sorted.len(), sorted.len() / 4);
    if n == 3 {
        sorted.sort_unstable_by(f64::total_cmp);
        return Ok(sorted[1]);
    }
    if cut > 0 {
        sorted.select_nth_unstable_by(cut, f64::total_cmp);
        let (_, _, above) = sorted.select_nth_unstable_by(n - cut - 1, f64::total_cmp);
        debug_assert_eq!(above.len(), cut);
        sorted[..n - cut].select_nth_unstable_by(cut, f64::total_cmp);
    }
    let middle = &sorted[cut..n - cut];
    Ok(middle.iter().sum::<f64>() / middle.len() as f64)
}

/// The midmean's variance by that of a mean of as many normal values.
pub const MIDMEAN_VARIANCE: f64 = 1.2;

/// Two order statistics that enclose a quantile, as ranks counted from one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranks {
    /// Rank of the lower one.
    pub low: usize,
    /// Rank of the upper one.
    pub high: usize,
    /// The probability that the two enclose the quantile of a continuous distribution; with ties it is higher.
    pub coverage: f64,
}

/// The interval for the quantile at `p`, with the type 7 quantile as its estimate, in the values' own unit.
///
/// No distribution is assumed, only that the values are independent. Each tail keeps at most half of `1 - confidence`
/// (David & Nagaraja, Order Statistics, 2003, section 7.1); for the median this is the interval of the sign test.
/// Reorders the slice. `TooFew` where even the smallest and largest value do not reach the confidence.
pub fn order_interval(values: &mut [f64], p: f64, confidence: f64) -> Result<Interval, Undefined> {
    check(values, 1)?;
    let ranks = ranks(values.len(), p, confidence)?;
    let estimate = quantile(values, p).ok_or(Undefined::NotFinite)?;
    Ok(Interval {
        estimate,
        low: nth(values, ranks.low),
        high: nth(values, ranks.high),
        coverage: ranks.coverage,
        n: values.len(),
    })
}

/// The ranks of that interval among `n` values.
///
/// With B the number of values below the quantile, binomial with `n` and `p`, the lower rank is the largest `l` with
/// P(B < l) at most half of `1 - confidence`, the upper rank the smallest `u` with P(B ≥ u) at most that.
pub fn ranks(n: usize, p: f64, confidence: f64) -> Result<Ranks, Undefined> {
    let tail = tail(confidence)?;
    check_probability(p)?;
    let too_few = Undefined::TooFew {
        got: n,
        needed: needed(p, tail),
    };
    let (low, below) = lower_rank(n, p, tail).ok_or(too_few)?;
    // The upper rank is the lower one counted from the other end.
    let (from_end, above) = lower_rank(n, 1.0 - p, tail).ok_or(too_few)?;
    Ok(Ranks {
        low,
        high: n + 1 - from_end,
        coverage: 1.0 - below - above,
    })
}

/// The largest rank `l` with P(B < l) ≤ tail, and that probability.
fn lower_rank(n: usize, p: f64, tail: f64) -> Option<(usize, f64)> {
    let below = Binomial::new(p, n as u64).ok()?;
    let rank = below.inverse_cdf(tail);
    (rank >= 1).then(|| (rank as usize, below.cdf(rank - 1)))
}

/// The smallest count whose extremes leave at most `tail` on the rarer side of the quantile at `p`.
fn needed(p: f64, tail: f64) -> usize {
    (tail.ln() / p.max(1.0 - p).ln()).ceil() as usize
}

/// The value of the given rank, counted from one.
fn nth(values: &mut [f64], rank: usize) -> f64 {
    *values.select_nth_unstable_by(rank - 1, f64::total_cmp).1
}
