//! Cells that are compared with each other, and what may be said of them.

use super::{Contrast, Verdict, frontier::FrontierPoint};
use crate::parameters::Parameters;
use serde::{Deserialize, Serialize};
use serde_with::apply;
use stats::estimate::Ratio;

/// One comparison group of an experiment: cells that differ in method, worker and options only.
#[apply(Vec<Parameters> => #[serde(default, skip_serializing_if = "crate::is_default")])]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GroupSummary {
    /// Name of the experiment.
    pub experiment: String,
    /// The parameters that all its cells share, sizes in plain bytes.
    pub parameters: Parameters,
    /// Its cells as indices into the summary's, fastest first by the headline; floors and lower bounds last.
    pub cells: Vec<usize>,
    /// Index of the baseline's cell; absent where it could not be measured.
    pub baseline: Option<usize>,
    /// The cell of role `limit` that nothing beat.
    pub best_possible: Option<usize>,
    /// The empty method.
    pub floor: Option<usize>,
    /// The baseline against its hidden duplicate, by the headline.
    pub aa: Option<AaCheck>,
    /// Every cell against the baseline, phase by phase.
    pub comparisons: Vec<Comparison>,
    /// Claims about the fastest, one for each kind of method (moves and handovers are ranked among themselves).
    pub best: Vec<BestClaim>,
    /// Answer for the group.
    pub recommendation: Recommendation,
    /// Degree to which the comparisons under this condition are sure; absent where there are none. An answer that also rests on
    /// other conditions (`conditions`, `elsewhere`) is as sure as the least of their groups.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub sureness: Option<Sureness>,
    /// The method of the recommendation, one that another condition recommends, or each of `faster`, under the other conditions
    /// measured.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub conditions: Vec<AnswerCondition>,
    /// Methods that are as good as the recommended one, the fastest first: each is shown to be faster than the baseline, is
    /// estimated to be about as fast, and is not set apart from it. Indices of cells; they hold under its conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<usize>,
    /// Methods of an inconclusive answer that are each shown to be faster, and of which any may be the fastest: indices of cells.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub faster: Vec<usize>,
    /// Methods that were measured to be faster than those of the answer, and that it does not name: they are not shown to be
    /// faster than the baseline, or another condition shows that they are not. Indices of cells, the fastest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maybe_faster: Vec<usize>,
    /// Methods that another condition recommends, under which those of the answer are not all shown to be faster or are not among
    /// the recommended: each against the baseline there, the fastest of a condition first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<AnswerCondition>,
    /// Usual conditions next to this one under which nothing was measured that says whether the answer holds: the value that
    /// differs.
    pub unmeasured: Vec<Parameters>,
    /// Usual conditions next to this one that were measured, and whose intervals leave it open whether the answer holds.
    pub unsettled: Vec<Parameters>,
    /// Usual conditions next to this one under which the methods of the answer, or the usual choice, do not exist.
    pub absent: Vec<Parameters>,
    /// Seconds of further launches after which an open answer is expected to be settled; absent where it is not open, where it
    /// is noisy, and where no time is expected to settle it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub further_s: Option<f64>,
    /// Comparison with the plain machine, where the group was measured in another state of it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub state: Option<StateAnswer>,
    /// Methods by their own time and the harm that they do to others, the least harm first; where the experiment has harm.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub frontier: Vec<FrontierPoint>,
}

/// Degree to which comparisons are sure, the least first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Sureness {
    /// Something else took CPUs, memory or devices from its launches, or its A/A check is weak after many.
    Noisy,
    /// Fewer launches behind it than would show a move with time.
    Early,
    /// Enough launches, and nothing disturbed them much.
    Settled,
}

/// One state of the machine against the plain one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StateAnswer {
    /// The group measured on the plain machine, as an index into the summary's.
    pub plain: usize,
    /// Each method's cost in the state relative to the same on the plain machine.
    pub ratios: Vec<StateRatio>,
    /// Effect on the answer.
    pub best: StateEffect,
}

/// One method in a state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StateRatio {
    /// The cell in the state.
    pub cell: usize,
    /// The same on the plain machine.
    pub plain: usize,
    /// Wall time of the headline in the state relative to the plain machine, over launches of the same block.
    #[serde(flatten)]
    pub contrast: Contrast,
}

/// Effect of a state on the best method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "word")]
pub enum StateEffect {
    /// The method recommended on the plain machine is recommended in the state.
    Same {
        /// Its cell in the state.
        cell: usize,
    },
    /// Another method is recommended in the state, and the verdicts contradict each other.
    Changes {
        /// The cell in the state of the method recommended on the plain machine.
        from: usize,
        /// The cell recommended in the state.
        to: usize,
    },
    /// No verdict in one of the two, or none that contradicts.
    Inconclusive,
}

/// One method against the baseline under another condition of the same question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AnswerCondition {
    /// The values of the conditions that differ from those of the group.
    pub when: Parameters,
    /// The group measured under it, as an index into the summary's.
    pub group: usize,
    /// Index of the cell in the summary.
    pub cell: usize,
    /// Its wall time relative to the baseline there.
    #[serde(flatten)]
    pub contrast: Contrast,
}

/// The reason why an interval has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "word")]
pub enum Doubt {
    /// The A/A check of the group excludes no bias as large as the effect.
    WeakCheck {
        /// Half-width of the check, as a share.
        half_width: f64,
    },
    /// The launches have two levels, so that one interval describes neither.
    TwoLevels(Levels),
    /// Something else took CPUs, memory or devices from the launches of the method or of the baseline.
    Disturbed,
}

impl Doubt {
    /// Tells whether a quieter machine may take the doubt away.
    pub fn is_noise(&self) -> bool {
        matches!(self, Doubt::WeakCheck { .. } | Doubt::Disturbed)
    }
}

/// Two levels of one figure over launches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Levels {
    /// Median of the launches on the lower level, in the unit of the figure.
    pub low: f64,
    /// Median of those on the upper level.
    pub high: f64,
    /// Share of the launches on the upper level, 0 to 1.
    pub share: f64,
}

/// One cell against the baseline of its group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Comparison {
    /// The cell, as an index into the summary's.
    pub cell: usize,
    /// Name of the phase or total.
    pub phase: String,
    /// Wall time relative to the baseline.
    #[serde(flatten)]
    pub contrast: Contrast,
    /// CPU time relative to the baseline.
    pub cpu_ratio: Option<Ratio>,
    /// Page faults relative to the baseline.
    pub faults_ratio: Option<Ratio>,
    /// The reason why the interval has no verdict, if it is neither its width nor its place.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub doubt: Option<Doubt>,
}

impl Comparison {
    /// The lowest ratio that its interval and its doubt allow; absent without an interval.
    pub fn lowest(&self) -> Option<f64> {
        let low = self.contrast.ratio?.low;
        Some(match self.doubt {
            Some(Doubt::WeakCheck { half_width }) => low / (1.0 + half_width),
            Some(Doubt::TwoLevels(levels)) => low.min(levels.low),
            Some(Doubt::Disturbed) | None => low,
        })
    }

    /// The ratio of a method that looks faster by more than the margin, where noise withholds the verdict.
    pub fn noisy_lead(&self, margin: f64) -> Option<Ratio> {
        let is_noise = self.doubt.is_some_and(|doubt| doubt.is_noise());
        let ratio = self.contrast.ratio.filter(|_| is_noise)?;
        matches!(
            Verdict::from_interval(ratio.low, ratio.high, margin),
            Verdict::Faster { .. }
        )
        .then_some(ratio)
    }

    /// Tells whether it is shown to be faster than the baseline by more than the margin, or may be.
    pub fn may_be_faster(&self, margin: f64) -> bool {
        match self.contrast.overall() {
            Verdict::Faster { .. } => true,
            Verdict::NotSettled => self.lowest().is_none_or(|low| low < 1.0 / (1.0 + margin)),
            Verdict::Slower { .. } | Verdict::Within { .. } => false,
        }
    }
}

/// The baseline against its hidden duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AaCheck {
    /// The baseline.
    pub cell: usize,
    /// The duplicate relative to the baseline.
    pub ratio: Ratio,
    /// The logarithm of the ratio in standard errors.
    pub z: f64,
    /// Its two-sided probability where both are the same.
    pub p: f64,
    /// True if it is too far off to be chance, among all A/A checks of the run (Holm at 1 %).
    pub differs: bool,
    /// True if its interval is so wide that it excludes little: effects within it get no verdict.
    #[serde(default)]
    pub weak: bool,
}

/// Half-width beyond which an A/A check excludes little: most effects worth a change lie within it.
const WEAK: f64 = 0.1;

impl AaCheck {
    /// Tells whether a check with this ratio is weak.
    pub fn is_weak(ratio: &Ratio) -> bool {
        ratio.half_width() > WEAK
    }
}

/// The fastest of the methods that are ranked with each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BestClaim {
    /// Their kind; empty for the ordinary one.
    pub group: String,
    /// The fastest, as an index into the summary's cells.
    pub leader: usize,
    /// Methods within the margin of the leader.
    pub within: Vec<usize>,
    /// Methods that may be faster or slower than the leader.
    pub unsettled: Vec<Unsettled>,
    /// Number of methods that are ranked.
    pub ranked: usize,
}

/// A method that is not settled against the leader.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Unsettled {
    /// Index of the cell in the summary.
    pub cell: usize,
    /// Relative to the leader.
    pub ratio: Option<Ratio>,
}

/// Default of `everywhere`: answers of older versions do not know conditions.
fn without_conditions() -> bool {
    true
}

/// Recommendation. It never asks to change what is not shown to help.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "word")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum Recommendation {
    Use {
        cell: usize,
        /// Relative to the baseline.
        ratio: Ratio,
        /// True if it is shown to be faster under each usual condition next to this one (`Experiment::neighbors`). Otherwise the
        /// condition of the group is part of the recommendation.
        #[serde(default = "without_conditions")]
        everywhere: bool,
    },
    /// Keep the baseline: no method is shown to be faster, and none may be.
    Keep { cell: usize },
    /// No method is shown to be faster, but one may be.
    Inconclusive { cell: usize },
    /// Another condition measured contradicts the answer of this one, see [`GroupSummary::conditions`].
    Depends {
        /// The method whose verdict flips.
        cell: usize,
        /// Relative to the baseline, under the condition of the group.
        ratio: Option<Ratio>,
    },
    /// There is nothing to say: no baseline, or too few launches.
    Nothing,
}
