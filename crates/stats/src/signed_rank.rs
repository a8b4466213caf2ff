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
mod tests {
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
}
