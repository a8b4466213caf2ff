//! The answer to one question of a user: the shape of `advise QUESTION --json`.

use super::{AdvicePoint, Segment};
use crate::outcome::Outcome;
use crate::summary::{Ratio, TailQuantile, WarningKind};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;

/// Version of [`AdviceAnswer`].
pub const ANSWER_SCHEMA: u32 = 5;

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AdviceAnswer {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// Id of the question, as in `advice/*.toml`.
    pub question: String,
    /// Task of the program, in words that follow `to`.
    pub does: String,
    /// Size for which the answer is, in bytes.
    pub bytes: u64,
    /// Answer under the usual condition.
    pub case: Case,
    /// Time of the advised method at the size asked for; absent where its topic is not in proportion to the size.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub time: Option<AdviceTime>,
    /// Methods by their own time and the harm that they do to others, the least harm first; where the question has harm.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub frontier: Vec<TradeOff>,
    /// True if another condition of the program contradicts its answer: each condition is among the other cases.
    #[serde(default)]
    pub depends: bool,
    /// Costs and needs of the advised method that no ratio shows, in sentences.
    pub costs: Vec<String>,
    /// Sizes beyond which another method is faster.
    pub flips: Vec<Flip>,
    /// From which size to which one way is shown to cost less.
    pub segments: Vec<Segment>,
    /// The smallest and largest size measured; absent where the size decides nothing.
    pub measured: Option<(u64, u64)>,
    /// From which number of uses on another way costs less.
    pub uses: Vec<Repeated>,
    /// Answers under other conditions of the program.
    pub also: Vec<Case>,
    /// Code for the advised method, by language.
    pub snippets: Vec<Snippet>,
    /// Measured sizes, the smallest first.
    pub points: Vec<AdvicePoint>,
    /// Runs that were made for the answer.
    pub runs: Vec<String>,
    /// The kept runs of this machine that it rests on as well.
    pub reused: Vec<String>,
    /// Disturbances of these runs by something else on the machine, the worst of each kind.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub disturbances: Vec<WarningKind>,
    /// Smallest difference that matters, as a share: 0.02 for 2 %.
    pub margin: f64,
}

/// A method by its own time and the harm that it does to others.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TradeOff {
    /// Name of the method.
    pub method: String,
    /// Its own time in the median launch, in nanoseconds.
    pub time_ns: TailQuantile,
    /// Quantile of the others' latencies in the median launch, in nanoseconds.
    pub harm_ns: TailQuantile,
    /// The harm relative to the usual choice's; absent for that itself.
    pub to_usual: Option<Ratio>,
    /// True if it is shown to harm others less than the usual choice.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub is_gentler: bool,
    /// A method that is shown to be better by one and as good by the other; absent on the frontier.
    pub dominated_by: Option<String>,
}

/// Time of a method for the bytes that a user asked about, in proportion to those that were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AdviceTime {
    /// Name of the method.
    pub method: String,
    /// Size asked for, in bytes.
    pub bytes: u64,
    /// Size that was measured, in bytes.
    pub measured_bytes: u64,
    /// Clause of the conditions under which it was measured, which follows "if"; empty where the experiment has none.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub condition: String,
    /// Time in nanoseconds, with its limits; a time, not a ratio.
    pub time_ns: Ratio,
}

/// Advice for one case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Case {
    /// Values of parameters that make up the case.
    pub settings: BTreeMap<String, String>,
    /// Clause of its condition, which follows "if"; empty where the case is no condition of the program.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub condition: String,
    /// Usual choice, the baseline of the ratios.
    #[serde(rename = "obvious")]
    pub baseline: String,
    /// The method shown to cost less than the usual choice, or the usual choice where none is; absent if not settled.
    #[serde(rename = "use")]
    pub way: Option<String>,
    /// Its cost relative to the usual choice's.
    pub gain: Option<Ratio>,
    /// CPU time of all sides and threads likewise.
    pub cpu: Option<Ratio>,
    /// Methods that are as good as the advised one: shown to cost less, too, and not set apart from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<String>,
    /// Methods within the margin of the advised one.
    pub within: Vec<String>,
    /// Ways that may be better or worse.
    pub unsettled: Vec<String>,
    /// Ways among the unsettled that look faster and are too noisy to advise, with their costs relative to the usual choice's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noisy: Vec<(String, Ratio)>,
    /// Ways that could not be measured here, with their outcomes.
    pub missing: Vec<(String, Outcome)>,
}

/// The sizes between which the answer changes: the ratio's interval leaves 1 on one side at the first, on the other at the
/// last. A segment, which asks for more than the margin, may end before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Flip {
    /// The largest size at which the smaller ones' way is shown to take less.
    pub above: u64,
    /// The smallest size at which the larger ones' way is.
    pub up_to: u64,
    /// Method that is faster up to the size.
    pub below: String,
    /// Method that is faster from the size on.
    pub beyond: String,
}

/// The number of uses from which another way costs less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Repeated {
    /// The way that costs less with many uses.
    pub way: String,
    /// The way that costs less with few.
    pub than: String,
    /// Counted things: `passes`.
    #[serde(rename = "words")]
    pub noun: String,
    /// The number at which both cost the same, with its limits; a count, not a ratio.
    pub count: Ratio,
}

/// The calls of a way in one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Snippet {
    /// `c`, `go` or `java`.
    pub language: String,
    /// Path of the snippet below `snippets/`.
    pub path: String,
    /// Source text.
    pub code: String,
}
