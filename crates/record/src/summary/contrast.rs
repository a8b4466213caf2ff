//! The contrast of two subjects: how much one costs relative to another, and what may be said of it.

use serde::{Deserialize, Serialize};
use stats::estimate::Ratio;

/// Cost of one subject relative to another's by one measure. The record that holds it names both subjects and the measure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Contrast {
    /// The ratio of costs; absent with too few launches and where a side is untrusted.
    #[serde(default)]
    pub ratio: Option<Ratio>,
    /// Position of the ratio's interval relative to the margin.
    pub verdict: Verdict,
    /// True if the verdict holds among all that were asked together (Holm at 5 %). Where it does not, it is not said.
    pub holds_among_all: bool,
}

impl Contrast {
    /// A ratio judged by itself.
    pub fn alone(ratio: Option<Ratio>, margin: f64) -> Contrast {
        Contrast {
            ratio,
            verdict: ratio.map_or(Verdict::NotSettled, |ratio| {
                Verdict::from_interval(ratio.low, ratio.high, margin)
            }),
            holds_among_all: true,
        }
    }

    /// The verdict that may be said: the interval's, if it holds among all.
    pub fn overall(&self) -> Verdict {
        if self.holds_among_all {
            self.verdict
        } else {
            Verdict::NotSettled
        }
    }
}

/// Position of an interval relative to the margin, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "word")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum Verdict {
    /// The whole interval lies below the margin: it takes at least this share less time than the baseline.
    Faster {
        /// 0.085 for 8.5 %.
        at_least: f64,
    },
    /// The whole interval lies above the margin: it takes at least this share more time than the baseline.
    Slower { at_least: f64 },
    /// The whole interval lies within the margin.
    Within {
        /// The margin: 0.02 for 2 %.
        margin: f64,
    },
    /// The interval reaches across an edge of the margin, or there is none.
    NotSettled,
}

impl Verdict {
    /// The verdict of an interval. The margin is `1 / (1 + margin)` to `1 + margin`: exchanged sides mirror it.
    pub fn from_interval(low: f64, high: f64, margin: f64) -> Verdict {
        let (below, above) = (1.0 / (1.0 + margin), 1.0 + margin);
        if high < below {
            Verdict::Faster {
                at_least: 1.0 - high,
            }
        } else if low > above {
            Verdict::Slower {
                at_least: low - 1.0,
            }
        } else if low >= below && high <= above {
            Verdict::Within { margin }
        } else {
            Verdict::NotSettled
        }
    }

    /// Tells whether it is faster or slower, and by more than the margin.
    pub fn differs(self) -> bool {
        matches!(self, Verdict::Faster { .. } | Verdict::Slower { .. })
    }
}
