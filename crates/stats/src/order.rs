//! Distribution-free intervals for quantiles, from order statistics and the binomial distribution.

use super::interval::{Interval, Undefined, check, check_probability, tail};
use super::quantile::quantile;
use statrs::distribution::{Binomial, DiscreteCDF};

/// Two order statistics that enclose a quantile, as ranks counted from one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranks {
    pub low: usize,
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
    let too_few = Undefined::TooFew { got: n, needed: needed(p, tail) };
    let (low, below) = lower_rank(n, p, tail).ok_or(too_few)?;
    // The upper rank is the lower one counted from the other end.
    let (from_end, above) = lower_rank(n, 1.0 - p, tail).ok_or(too_few)?;
    Ok(Ranks { low, high: n + 1 - from_end, coverage: 1.0 - below - above })
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
