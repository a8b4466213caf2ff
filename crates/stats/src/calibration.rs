//! A/A checks as calibration: do intervals of identical methods miss 1 as seldom as they promise?
//!
//! One check says almost nothing: one of twenty is off by chance. All checks of a run, and those of runs kept from the same
//! machine, say whether the standard errors are right; if they are not, every interval of the run is widened by how much.

use super::estimate::Estimate;
use super::multiplicity::holm;
use super::quantile::{MAD_TO_SD, median};
use super::t::{normal_quantile, t_tail, two_sided_p};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Fewer checks than this calibrate nothing.
pub const LEAST_CHECKS: usize = 6;

/// The pool of checks is off where chance would be as far off no oftener than this.
pub const OFF_AT: f64 = 0.001;

/// An identical pair that differs at this level, adjusted for the number of pairs, makes the run untrusted.
pub const UNTRUSTED_AT: f64 = 0.01;

/// A single check counts as at most this many standard errors, so that one broken group cannot condemn the others.
pub const LARGEST_Z: f64 = 3.0;

/// What a pool of A/A checks says of the standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The number of checks in the pool.
    pub checks: usize,
    /// How many times the promised standard error the checks scatter (Birge's ratio 1932, of bounded scores); 1 is right.
    pub scatter: f64,
    /// The probability of a scatter this large where the standard errors are right, or less.
    pub p: f64,
    /// The factor for all intervals of the run: 1, or where the pool is off its scatter.
    pub factor: f64,
}

/// The score of one A/A check, standard normal where the interval keeps its promise: ln ratio / standard error, taken from
/// Student's distribution to the normal one at equal probability. `None` where identical counts have no standard error.
pub fn score(check: &Estimate) -> Option<f64> {
    let t = check.log / check.error;
    let z = t.signum() * -normal_quantile(two_sided_p(t, check.freedom).max(1e-300) / 2.0);
    (check.error > 0.0 && z.is_finite()).then_some(z)
}

/// Judges a pool of scores: of all groups of a run and of runs kept from the same machine.
///
/// The sum of squares of at most [`LARGEST_Z`]² each is held against χ². Bounding can only make the sum smaller, so the
/// probability is an upper bound. The factor is the root of the mean square, or the scores' MAD where that is larger, as
/// with scores that are mostly beyond the bound. Below [`LEAST_CHECKS`] nothing is claimed.
pub fn calibrate(scores: &[f64]) -> Calibration {
    let n = scores.len() as f64;
    let sum: f64 = scores.iter().map(|z| z.abs().min(LARGEST_Z).powi(2)).sum();
    let middle = median(&mut scores.iter().map(|z| z.abs()).collect::<Vec<_>>()).unwrap_or(0.0);
    let scatter = if scores.is_empty() { 1.0 } else { (sum / n).sqrt().max(MAD_TO_SD * middle) };
    let p = match ChiSquared::new(n) {
        Ok(chi) if scores.len() >= LEAST_CHECKS => chi.sf(sum),
        _ => 1.0,
    };
    let factor = if p <= OFF_AT { scatter.max(1.0) } else { 1.0 };
    Calibration { checks: scores.len(), scatter, p, factor }
}

/// The A/A checks of a run, by index, that are no chance: their difference is beyond Holm's adjustment at
/// [`UNTRUSTED_AT`], and their interval does not lie within the margin, inside which no verdict depends on it.
pub fn differing(checks: &[Estimate], margin: f64) -> Vec<usize> {
    let p = |check: &Estimate| if check.log == 0.0 { 1.0 } else { two_sided_p(check.log / check.error, check.freedom) };
    let adjusted = holm(&checks.iter().map(p).collect::<Vec<_>>());
    let edge = margin.ln_1p();
    let harmless = |check: &Estimate| {
        let outside = |t: f64| t_tail(t, check.freedom);
        let p = outside((check.log - edge) / check.error).max(outside((-edge - check.log) / check.error));
        p <= (1.0 - check.confidence) / 2.0
    };
    (0..checks.len()).filter(|&i| adjusted[i] <= UNTRUSTED_AT && !harmless(&checks[i])).collect()
}

#[cfg(test)]
mod tests {
    use super::super::estimate::{Point, estimate};
    use super::super::moderated::Prior;
    use super::*;

    fn check(logs: &[f64]) -> Estimate {
        let points: Vec<Point> = logs.iter().map(|log| Point { log: *log, rounds: 5, round_variance: 0.0 }).collect();
        estimate(&points, &Prior::NONE, 0.95).expect("enough launches")
    }

    #[test]
    fn one_broken_group_does_not_condemn_the_others() {
        let mut scores = [0.3, -1.1, 0.8, -0.4, 1.6, -0.2, 0.1, -0.9, 0.5, 1.0];
        assert_eq!(calibrate(&scores).factor, 1.0);
        scores[4] = 400.0;
        assert_eq!(calibrate(&scores).factor, 1.0);
        let wide = scores.map(|z| 4.0 * z.min(2.0));
        let seen = calibrate(&wide);
        assert!(seen.factor > 2.0 && seen.p <= OFF_AT, "{seen:?}");
        assert_eq!(calibrate(&[9.0; 5]).factor, 1.0, "five checks calibrate nothing");
        assert_eq!(calibrate(&[]).factor, 1.0);
    }

    #[test]
    fn a_score_is_the_normal_deviate_of_the_same_probability() {
        let one = check(&[0.1, 0.3, -0.1, 0.2, 0.15]);
        let z = score(&one).expect("it varies");
        let p = two_sided_p(one.log / one.error, one.freedom);
        assert!((normal_quantile(1.0 - p / 2.0) - z).abs() < 1e-9);
        assert_eq!(score(&check(&[0.0; 5])), None);
    }

    #[test]
    fn only_what_is_no_chance_and_matters_costs_the_trust() {
        let tight = |centre: f64| check(&[centre, centre + 1e-4, centre - 1e-4, centre + 2e-4, centre - 2e-4, centre]);
        let checks = [tight(0.0), tight(0.01), tight(0.05), check(&[0.1, 0.3, -0.1, 0.2])];
        assert_eq!(differing(&checks, 0.02), [2]);
        assert_eq!(differing(&checks, 0.001), [1, 2]);
    }
}
