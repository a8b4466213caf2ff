//! From a ratio and a margin to one of four words.

use super::ratio::Ratio;
use serde::{Deserialize, Serialize};

/// The margin within which two costs count as the same, unless the user names another.
pub const MARGIN: f64 = 0.02;

/// What can be said of a method against its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The whole interval lies below the margin: the method costs less by more than the margin.
    Faster,
    /// The whole interval lies above the margin.
    Slower,
    /// The whole interval lies within the margin.
    Equivalent,
    /// The interval reaches across an edge of the margin: more launches are needed, or the truth lies at the edge.
    Undecided,
}

/// The verdict of a ratio against a margin, which runs from `1 / (1 + margin)` to `1 + margin`.
///
/// The edges are symmetrical as logarithms, so exchanging method and baseline exchanges faster and slower and nothing
/// else. Deciding by where the interval lies is the rule of equivalence testing (Kruschke 2018; Schuirmann 1987).
pub fn verdict(ratio: &Ratio, margin: f64) -> Verdict {
    let (below, above) = (1.0 / (1.0 + margin), 1.0 + margin);
    if ratio.high < below {
        Verdict::Faster
    } else if ratio.low > above {
        Verdict::Slower
    } else if ratio.low >= below && ratio.high <= above {
        Verdict::Equivalent
    } else {
        Verdict::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::super::ratio::Basis;
    use super::*;

    fn ratio(low: f64, high: f64) -> Ratio {
        let estimate = (low * high).sqrt();
        Ratio { estimate, low, high, coverage: 0.96, n: 8, t_low: low, t_high: high, basis: Basis::Median }
    }

    #[test]
    fn the_place_of_the_interval_decides() {
        for (low, high, expected) in [
            (0.90, 0.97, Verdict::Faster),
            (0.90, 0.99, Verdict::Undecided),
            (0.99, 1.01, Verdict::Equivalent),
            (1.001, 1.019, Verdict::Equivalent),
            (1.01, 1.03, Verdict::Undecided),
            (0.90, 1.10, Verdict::Undecided),
            (1.03, 1.05, Verdict::Slower),
        ] {
            assert_eq!(verdict(&ratio(low, high), 0.02), expected, "{low}..{high}");
        }
    }

    #[test]
    fn exchanging_the_sides_exchanges_faster_and_slower() {
        for low in [0.9, 0.97, 0.9803, 0.9805, 0.995, 1.015, 1.0201, 1.1] {
            for width in [1.0, 1.004, 1.03, 1.2] {
                let forth = verdict(&ratio(low, low * width), 0.02);
                let back = verdict(&ratio(1.0 / (low * width), 1.0 / low), 0.02);
                let expected = match forth {
                    Verdict::Faster => Verdict::Slower,
                    Verdict::Slower => Verdict::Faster,
                    other => other,
                };
                assert_eq!(back, expected, "{low} {width}");
            }
        }
    }
}
