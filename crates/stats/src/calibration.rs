//! A/A checks as calibration: do intervals of identical methods miss 1 as seldom as they promise?
//!
//! One check says almost nothing: one of twenty is off by chance. All checks of a run, and those of runs kept from the same
//! machine, say whether the standard errors are right; if they are not, every interval of the run is widened by how much.

use super::quantile::{MAD_TO_SD, median};
use super::t::{normal_quantile, t_tail, two_sided_p};
use super::{estimate::Ratio, multiplicity::holm};
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

/// Calibration of the standard errors by a pool of A/A checks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ErrorCalibration {
    /// Number of A/A checks in the pool.
    pub checks: usize,
    /// Scatter of the checks in standard errors (Birge's ratio 1932, of bounded scores); 1 is right.
    pub scatter: f64,
    /// The probability of a scatter this large where the standard errors are right, or less.
    pub p: f64,
    /// The factor for all intervals of the run: 1, or where the pool is off its scatter.
    pub factor: f64,
}

/// The score of one A/A check, standard normal where the interval keeps its promise: ln ratio / standard error, taken from
/// Student's distribution to the normal one at equal probability. `None` where identical counts have no standard error.
pub fn score(check: &Ratio) -> Option<f64> {
    let t = check.log() / check.error;
    let z = t.signum() * -normal_quantile(two_sided_p(t, check.freedom).max(1e-300) / 2.0);
    (check.error > 0.0 && z.is_finite()).then_some(z)
}

/// Judges a pool of scores: of all groups of a run and of runs kept from the same machine.
///
/// The sum of squares of at most [`LARGEST_Z`]² each is compared with χ². Bounding can only make the sum smaller, so the
/// probability is an upper bound. The factor is the root of the mean square, or the scores' MAD where that is larger, as
/// with scores that are mostly beyond the bound. Below [`LEAST_CHECKS`] nothing is claimed.
pub fn calibrate(scores: &[f64]) -> ErrorCalibration {
    let n = scores.len() as f64;
    let sum: f64 = scores.iter().map(|z| z.abs().min(LARGEST_Z).powi(2)).sum();
    let middle = median(&mut scores.iter().map(|z| z.abs()).collect::<Vec<_>>()).unwrap_or(0.0);
    let scatter = if scores.is_empty() {
        1.0
    } else {
        (sum / n).sqrt().max(MAD_TO_SD * middle)
    };
    let p = match ChiSquared::new(n) {
        Ok(chi) if scores.len() >= LEAST_CHECKS => chi.sf(sum),
        _ => 1.0,
    };
    let factor = if p <= OFF_AT { scatter.max(1.0) } else { 1.0 };
    ErrorCalibration {
        checks: scores.len(),
        scatter,
        p,
        factor,
    }
}

/// The A/A checks of a run, by index, that are no chance: their difference is beyond Holm's adjustment at
/// [`UNTRUSTED_AT`], and their interval does not lie within the margin, inside which no verdict depends on it.
pub fn differing(checks: &[Ratio], margin: f64) -> Vec<usize> {
    let p: Vec<f64> = checks.iter().map(p_if_the_same).collect();
    let adjusted = holm(&p);
    (0..checks.len())
        .filter(|&i| adjusted[i] <= UNTRUSTED_AT && !is_within(&checks[i], margin))
        .collect()
}

/// The probability of a difference this large where there is none.
fn p_if_the_same(check: &Ratio) -> f64 {
    if check.log() == 0.0 {
        1.0
    } else {
        two_sided_p(check.log() / check.error, check.freedom)
    }
}

/// Tells whether a check is shown to lie within the margin, at its own level.
fn is_within(check: &Ratio, margin: f64) -> bool {
    let edge = margin.ln_1p();
    let above = t_tail((check.log() - edge) / check.error, check.freedom);
    let below = t_tail((-edge - check.log()) / check.error, check.freedom);
    above.max(below) <= (1.0 - check.level) / 2.0
}
