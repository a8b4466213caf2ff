//! The set of methods that cannot be told from the best, with one error probability for the whole set.
//!
//! Every pair of methods is compared, so the claim is the strong one: with the confidence asked for, *no* method is left
//! out that is as good as the best (within the margin), however many are tied. The comparisons with the best alone (Hsu
//! 1984) would be fewer, but bound the error for one best method only, and identical methods are a case that happens.

use super::interval::{LEAST_LAUNCHES, Undefined, check, check_probability};
use super::multiplicity::holm;
use super::rng::Seeded;
use super::t::{mean_and_variance, two_sided_p};
use serde::{Deserialize, Serialize};

/// From this many launches on the bootstrap is used. Resampling fewer repeats so many of them that it hardly finds
/// anything: in trials with twelve launches it used less than 1 % of the 5 % of error it may make.
pub const BOOTSTRAP_FROM: usize = 20;

/// The number of bootstrap resamples.
pub const RESAMPLES: usize = 1999;

/// How the comparisons were adjusted for their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjustment {
    /// The bootstrap distribution of the largest |t| of all pairs, whole launches being drawn so that what the methods of
    /// a launch have in common stays in common (Westfall & Young 1993).
    MaxT,
    /// Holm's adjustment of paired t tests, for few launches.
    Holm,
}

/// The answer for a group of methods, which are named by their index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The methods that cannot be told from the best, in ascending order; the leader is one of them.
    pub members: Vec<usize>,
    /// The method with the lowest mean logarithm, which need not be the best in truth.
    pub leader: usize,
    /// How the comparisons were adjusted.
    pub adjustment: Adjustment,
    /// The number of launches.
    pub n: usize,
}

/// Finds the set from one row for each launch, holding one logarithm of cost for each method.
///
/// The logarithms may be relative to anything that is common to the row, such as the baseline. A method is left out where
/// another is cheaper by more than `margin` (a fraction, 0.02 for 2 %; zero for any difference) beyond chance.
///
/// `TooFew` below [`LEAST_LAUNCHES`] launches or without methods, `LengthsDiffer` where a row has not every method,
/// `NotFinite` where a logarithm is not finite.
pub fn best_set(launches: &[impl AsRef<[f64]>], margin: f64, confidence: f64, seed: u64) -> Result<Best, Undefined> {
    check_probability(confidence)?;
    let n = launches.len();
    if n < LEAST_LAUNCHES {
        return Err(Undefined::TooFew { got: n, needed: LEAST_LAUNCHES });
    }
    let methods = launches[0].as_ref().len();
    for row in launches.iter().map(AsRef::as_ref) {
        check(row, 1)?;
        if row.len() != methods {
            return Err(Undefined::LengthsDiffer { left: methods, right: row.len() });
        }
    }
    let contrasts: Vec<Contrast> = (0..methods)
        .flat_map(|slower| (0..methods).map(move |faster| (slower, faster)))
        .filter_map(|(slower, faster)| Contrast::new(launches, slower, faster))
        .collect();
    let statistics: Vec<f64> = contrasts.iter().map(|c| c.statistic(margin)).collect();
    let (adjustment, adjusted) = match n < BOOTSTRAP_FROM {
        true => (Adjustment::Holm, holm_adjusted(&statistics, n)),
        false => (Adjustment::MaxT, max_t_adjusted(&contrasts, &statistics, n, seed)),
    };
    let mut is_member = vec![true; methods];
    for (contrast, p) in contrasts.iter().zip(adjusted) {
        is_member[contrast.slower] &= p > 1.0 - confidence;
    }
    let mean_of = |method: usize| launches.iter().map(|row| row.as_ref()[method]).sum::<f64>();
    let leader = (0..methods).min_by(|&a, &b| mean_of(a).total_cmp(&mean_of(b))).unwrap_or(0);
    Ok(Best { members: (0..methods).filter(|&method| is_member[method]).collect(), leader, adjustment, n })
}

/// The difference between two methods across launches, taken so that its mean is above zero.
struct Contrast {
    slower: usize,
    mean: f64,
    /// The standard error of the mean.
    error: f64,
    /// The differences less their mean, by launch.
    centred: Vec<f64>,
}

impl Contrast {
    /// `None` for the half of the ordered pairs whose difference is not positive, so that each pair is counted once; a pair
    /// without any difference cannot exclude anything and is left out.
    fn new(launches: &[impl AsRef<[f64]>], slower: usize, faster: usize) -> Option<Self> {
        let differences: Vec<f64> = launches.iter().map(|row| row.as_ref()[slower] - row.as_ref()[faster]).collect();
        let (mean, variance) = mean_and_variance(&differences);
        let error = (variance / differences.len() as f64).sqrt();
        let centred = differences.iter().map(|difference| difference - mean).collect();
        (mean > 0.0).then_some(Self { slower, mean, error, centred })
    }

    /// Student's t of what exceeds the margin; infinite where launches do not differ at all.
    fn statistic(&self, margin: f64) -> f64 {
        let beyond = self.mean - margin.ln_1p();
        match beyond > 0.0 {
            true => beyond / self.error,
            false => 0.0,
        }
    }

    /// |t| of the centred differences where launch `i` is drawn `times[i]` times.
    fn resampled(&self, times: &[f64]) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (value, times) in self.centred.iter().zip(times) {
            sum += times * value;
            squares += times * value * value;
        }
        let n = times.len() as f64;
        let spread = (squares - sum * sum / n).max(0.0);
        match sum == 0.0 {
            true => 0.0,
            false => sum.abs() / n / (spread / (n - 1.0) / n).sqrt(),
        }
    }
}

fn holm_adjusted(statistics: &[f64], n: usize) -> Vec<f64> {
    let p_values: Vec<f64> = statistics.iter().map(|t| two_sided_p(*t, (n - 1) as f64)).collect();
    holm(&p_values)
}

/// For each statistic the share of resamples whose largest |t| reaches it.
fn max_t_adjusted(contrasts: &[Contrast], statistics: &[f64], n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Seeded::new(seed);
    let mut reached = vec![1_usize; statistics.len()];
    for _ in 0..RESAMPLES {
        let mut times = vec![0.0; n];
        (0..n).for_each(|_| times[rng.below(n)] += 1.0);
        let largest = contrasts.iter().map(|contrast| contrast.resampled(&times)).fold(0.0, f64::max);
        for (count, statistic) in reached.iter_mut().zip(statistics) {
            *count += usize::from(largest >= *statistic);
        }
    }
    reached.into_iter().map(|count| count as f64 / (RESAMPLES + 1) as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of `n` launches with small differences between launches that are not the same for each method.
    fn rows(n: usize, levels: &[f64]) -> Vec<Vec<f64>> {
        let mut rng = Seeded::new(5);
        (0..n).map(|_| levels.iter().map(|level| level + 0.01 * (rng.unit() - 0.5)).collect()).collect()
    }

    #[test]
    fn clear_losers_are_left_out_by_either_adjustment() {
        for (n, adjustment) in [(8, Adjustment::Holm), (25, Adjustment::MaxT)] {
            let best = best_set(&rows(n, &[0.30, 0.0, 0.001, 0.10]), 0.0, 0.95, 1).expect("enough launches");
            assert_eq!((best.members, best.adjustment), (vec![1, 2], adjustment));
        }
    }

    #[test]
    fn what_is_common_to_a_launch_does_not_matter() {
        let plain = rows(15, &[0.0, 0.02, 0.004, 0.0]);
        let shifted: Vec<Vec<f64>> =
            plain.iter().enumerate().map(|(i, row)| row.iter().map(|v| v + 8.0 * i as f64).collect()).collect();
        assert_eq!(best_set(&plain, 0.0, 0.95, 1), best_set(&shifted, 0.0, 0.95, 1));
    }

    #[test]
    fn a_difference_within_the_margin_excludes_nobody() {
        for n in [8, 25] {
            let rows = rows(n, &[0.0, 0.015, 0.15]);
            assert_eq!(best_set(&rows, 0.0, 0.95, 1).expect("enough").members, [0]);
            assert_eq!(best_set(&rows, 0.02, 0.95, 1).expect("enough").members, [0, 1]);
        }
    }

    #[test]
    fn exact_counts_are_told_apart_or_tied() {
        for n in [8, 25] {
            let rows = vec![[1.0, 1.0, 2.0]; n];
            assert_eq!(best_set(&rows, 0.0, 0.95, 1).expect("enough").members, [0, 1]);
        }
    }

    #[test]
    fn bad_input_is_named() {
        let mut rows = rows(6, &[0.0, 0.0]);
        assert_eq!(best_set(&rows[..5], 0.0, 0.95, 1), Err(Undefined::TooFew { got: 5, needed: 6 }));
        rows[4].pop();
        assert_eq!(best_set(&rows, 0.0, 0.95, 1), Err(Undefined::LengthsDiffer { left: 2, right: 1 }));
        rows[4].push(f64::NAN);
        assert_eq!(best_set(&rows, 0.0, 0.95, 1), Err(Undefined::NotFinite));
        assert_eq!(best_set(&[[0.3]; 6], 0.0, 0.95, 1).expect("one method").members, [0]);
    }
}
