//! The shift between two unpaired groups: Hodges–Lehmann's estimate and the interval of Mann & Whitney's rank-sum test.
//!
//! They assume independent values and two distributions of the same shape. Source: Hollander, Wolfe & Chicken,
//! Nonparametric Statistical Methods, 2014, sections 4.2 and 4.3; the limits are those of R's
//! `wilcox.test(b, a, conf.int = TRUE, exact = TRUE)`.

use super::interval::{Interval, Undefined, check, tail};
use super::quantile::median;
use super::t::normal_quantile;

/// The exact distribution is used while neither group is larger than this.
pub const EXACT_UP_TO: usize = 50;

/// The median of all differences `b - a`, between the c-th smallest and the c-th largest of them, in the values' unit.
///
/// `c` is the largest count with P(U < c) at most half of `1 - confidence`: by the exact distribution of U while both
/// groups have at most [`EXACT_UP_TO`] values, by the normal approximation with continuity correction beyond. The `n` of
/// the result is the size of the smaller group. `TooFew`, with the count both groups would need, where even the extremes
/// leave too much: at 95 % four values in each group are enough, and three are not.
pub fn shift_interval(a: &[f64], b: &[f64], confidence: f64) -> Result<Interval, Undefined> {
    let tail = tail(confidence)?;
    check(a, 1)?;
    check(b, 1)?;
    let smaller = a.len().min(b.len());
    let too_few = || Undefined::TooFew { got: smaller, needed: needed(tail) };
    let (count, outside) = cut(a.len(), b.len(), tail).ok_or_else(too_few)?;
    let mut differences: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| b - a)).collect();
    let last = differences.len() - count;
    let low = *differences.select_nth_unstable_by(count - 1, f64::total_cmp).1;
    let high = *differences.select_nth_unstable_by(last, f64::total_cmp).1;
    Ok(Interval {
        estimate: median(&mut differences).ok_or(Undefined::NotFinite)?,
        low,
        high,
        coverage: 1.0 - 2.0 * outside,
        n: smaller,
    })
}

/// The smallest size of two equal groups whose most extreme arrangement, one of C(2m, m), is rare enough.
fn needed(tail: f64) -> usize {
    let mut size = 0;
    let mut extreme = 1.0;
    while extreme > tail {
        size += 1;
        let m = size as f64;
        extreme *= m / (2.0 * (2.0 * m - 1.0));
    }
    size
}

/// The largest `c` ≥ 1 with P(U < c) ≤ tail, and that probability.
fn cut(n: usize, m: usize, tail: f64) -> Option<(usize, f64)> {
    if n.max(m) > EXACT_UP_TO {
        return normal_cut(n as f64, m as f64, tail);
    }
    let mut outside = 0.0;
    let mut count = 0;
    for mass in masses(n, m) {
        if outside + mass > tail {
            break;
        }
        outside += mass;
        count += 1;
    }
    (count > 0).then_some((count, outside))
}

fn normal_cut(n: f64, m: f64, tail: f64) -> Option<(usize, f64)> {
    let mean = n * m / 2.0;
    let sd = (n * m * (n + m + 1.0) / 12.0).sqrt();
    let count = (mean + normal_quantile(tail) * sd + 0.5).floor();
    (count >= 1.0).then_some((count as usize, tail))
}

/// P(U = u) for every u, by Mann & Whitney's (1947) recurrence on which group the largest value belongs to:
/// P(u; n, m) = n/(n+m) · P(u - m; n-1, m) + m/(n+m) · P(u; n, m-1).
fn masses(n: usize, m: usize) -> Vec<f64> {
    // Row i holds the distributions for i values in the first group and 0..=m in the other.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=m {
            let share = i as f64 / (i + j) as f64;
            let mut masses = vec![0.0; i * j + 1];
            for (u, mass) in row[j].iter().enumerate() {
                masses[u + j] += share * mass;
            }
            for (u, mass) in next[j - 1].iter().enumerate() {
                masses[u] += (1.0 - share) * mass;
            }
            next.push(masses);
        }
        row = next;
    }
    row.swap_remove(m)
}

#[cfg(test)]
#[path = "../tests/unit/rank_sum.rs"]
mod tests;
