//! Hodges–Lehmann's pseudo-median and the interval that belongs to it, Wilcoxon's signed-rank interval.
//!
//! They assume independent values from a symmetric distribution, nothing more; with ties the interval covers at least as
//! often as it says. Sources: Hodges & Lehmann 1963; Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 2014,
//! sections 3.2 and 3.3. The limits are those of R's `wilcox.test(x, conf.int = TRUE, exact = TRUE)`.

use super::interval::{Interval, Undefined, check, tail};
use super::{quantile::median, t::normal_quantile};

/// Up to this count the distribution is exact: every number of subsets is below 2⁵³, so a double holds it exactly.
pub const EXACT_UP_TO: usize = 50;

/// The pseudo-median between the c-th smallest and the c-th largest Walsh average, in the values' own unit.
///
/// `c` is the largest count with P(W < c) at most half of `1 - confidence`, W being the signed-rank statistic: by its
/// exact distribution for at most [`EXACT_UP_TO`] values, by the normal approximation with continuity correction beyond.
/// `TooFew` where even the extremes leave too much, which at 95 % means fewer than six values.
pub fn signed_rank_interval(values: &[f64], confidence: f64) -> Result<Interval, Undefined> {
    let tail = tail(confidence)?;
    check(values, 1)?;
    let n = values.len();
    let too_few = Undefined::TooFew {
        got: n,
        needed: (-tail.log2()).ceil() as usize,
    };
    let (count, outside) = cut(n, tail).ok_or(too_few)?;
    let mut averages = walsh_averages(values);
    let last = averages.len() - count;
    let low = *averages.select_nth_unstable_by(count - 1, f64::total_cmp).1;
    let high = *averages.select_nth_unstable_by(last, f64::total_cmp).1;
    Ok(Interval {
        estimate: median(&mut averages).ok_or(Undefined::NotFinite)?,
        low,
        high,
        coverage: 1.0 - 2.0 * outside,
        n,
    })
}

/// The n(n+1)/2 means of each pair and of each value with itself; their median is the pseudo-median.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let mut averages = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (i, a) in values.iter().enumerate() {
        averages.extend(values[i..].iter().map(|b| a + 0.5 * (b - a)));
    }
    averages
}

/// The largest `c` ≥ 1 with P(W < c) ≤ tail, and that probability.
fn cut(n: usize, tail: f64) -> Option<(usize, f64)> {
    if n > EXACT_UP_TO {
        return normal_cut(n as f64, tail);
    }
    let mut outside = 0.0;
    let mut count = 0;
    for mass in masses(n) {
        if outside + mass > tail {
            break;
        }
        outside += mass;
        count += 1;
    }
    (count > 0).then_some((count, outside))
}

fn normal_cut(n: f64, tail: f64) -> Option<(usize, f64)> {
    let mean = n * (n + 1.0) / 4.0;
    let sd = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let count = (mean + normal_quantile(tail) * sd + 0.5).floor();
    (count >= 1.0).then_some((count as usize, tail))
}

/// P(W = w) for every w: the share of the 2ⁿ subsets of the ranks 1..=n that sum to w, by adding one rank after another.
fn masses(n: usize) -> Vec<f64> {
    let mut masses = vec![0.0; n * (n + 1) / 2 + 1];
    masses[0] = 1.0;
    let mut largest = 0;
    for rank in 1..=n {
        largest += rank;
        for sum in (0..=largest).rev() {
            let with_rank = if sum >= rank { masses[sum - rank] } else { 0.0 };
            masses[sum] = 0.5 * (masses[sum] + with_rank);
        }
    }
    masses
}

#[cfg(test)]
#[path = "../tests/unit/signed_rank.rs"]
mod tests;
