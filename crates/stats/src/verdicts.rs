//! Verdicts of all comparisons of a run at once: words are adjusted for their number, intervals are not.

use super::{estimate::Ratio, multiplicity::holm};
use serde::{Deserialize, Serialize};

/// Verdict on one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AdjustedVerdict {
    /// The word that holds together with all others of the run.
    pub verdict: Region,
    /// The word that its interval alone would carry; where it differs, "open among so many comparisons" is the
    /// sentence that does not contradict the interval.
    pub alone: Region,
    /// The adjusted probability of saying something wrong by the word `alone`, or by the likeliest where that is none.
    pub p: f64,
}

/// The words for comparisons, each against its margin (a fraction, 0.02 for 2 %).
///
/// A comparison alone is decided where its interval at `confidence` lies on one side of an edge, or between both
/// (Schuirmann 1987): of three one-sided tests, each at half of `1 - confidence`, at most two can err at once. Holm's
/// adjustment of these then bounds the chance of *any* wrong word in the run by `1 - confidence`. An interval at a higher
/// confidence was chosen for being short ([`super::stopping`]): its tests count as so much less sure, so that it decides where
/// that interval does and is right as often as the others.
pub fn verdicts(comparisons: &[(Ratio, f64)], confidence: f64) -> Vec<AdjustedVerdict> {
    let tests: Vec<(Region, f64)> = comparisons
        .iter()
        .map(|(estimate, margin)| likeliest(estimate, *margin))
        .collect();
    let p: Vec<f64> = tests
        .iter()
        .zip(comparisons)
        .map(|((_, p), (estimate, _))| {
            let chosen = ((1.0 - confidence) / (1.0 - estimate.level)).max(1.0);
            (2.0 * p * chosen).min(1.0)
        })
        .collect();
    let mut verdicts = Vec::with_capacity(tests.len());
    for ((region, _), (p, adjusted)) in tests.into_iter().zip(p.iter().zip(holm(&p))) {
        verdicts.push(AdjustedVerdict {
            verdict: region.decided(adjusted, confidence),
            alone: region.decided(*p, confidence),
            p: adjusted,
        });
    }
    verdicts
}

/// The word with the smallest probability of being wrong, and that probability at the edge of its claim.
pub(crate) fn likeliest(estimate: &Ratio, margin: f64) -> (Region, f64) {
    let (below, above) = (1.0 / (1.0 + margin), 1.0 + margin);
    let within = estimate.p_above(below).max(estimate.p_below(above));
    let tests = [
        (Region::Faster, estimate.p_below(below)),
        (Region::Slower, estimate.p_above(above)),
        (Region::Equivalent, within),
    ];
    tests
        .into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((Region::Undecided, 1.0))
}

/// The margin within which two costs count as the same, unless the user names another.
pub const MARGIN: f64 = 0.02;

/// The place of an interval against the margin: the verdict without its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Region {
    /// The whole interval lies below the margin: the method costs less by more than the margin.
    Faster,
    /// The whole interval lies above the margin.
    Slower,
    /// The whole interval lies within the margin.
    Equivalent,
    /// The interval reaches across an edge of the margin: more launches are needed, or the truth lies at the edge.
    Undecided,
}

impl Region {
    /// The region itself where the probability of its being wrong allows the word.
    fn decided(self, p: f64, confidence: f64) -> Region {
        if p <= 1.0 - confidence {
            self
        } else {
            Region::Undecided
        }
    }
}
