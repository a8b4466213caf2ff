//! Answers to claims: the shape of `claims --json`. The committed JSON Schema `claims.schema.json` describes it.

use super::{Claim, ClaimKind, Source};
use crate::{cell::Cell, outcome::Outcome, summary::Ratio};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;

crate::read_from_json!(Answers);
crate::written_to_json!(Answers, Vec<AnswerChange>);

/// Version of this shape. Version 1, with reasons and causes as sentences, is read too.
pub const ANSWERS_SCHEMA: u32 = 4;

/// The verdict on a claim, the most surprising first.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// The difference is shown in the other direction.
    Reversed,
    /// Both cost the same within the margin, although a difference was claimed.
    NoDifferenceHere,
    /// As said, but by less; of an absolute claim: it costs less; of a crossover: it pays only later.
    Weaker,
    /// Reversed, without a difference, or weaker: which of them is open.
    DoesNotHold,
    /// As said, and by more; of an absolute claim: it costs more; of a crossover: it pays sooner.
    Stronger,
    /// The claim holds or more than it holds; the interval includes the upper edge.
    HoldsOrStronger,
    /// The interval lies within the claimed range.
    Holds,
    /// The interval lies across an edge that decides.
    Undecided,
    /// This machine cannot measure the claim.
    NotMeasurableHere,
}

impl Word {
    /// Tells whether it says something of the claim.
    pub fn is_decided(self) -> bool {
        !matches!(self, Word::Undecided | Word::NotMeasurableHere)
    }

    /// Tells whether it leaves open which of several exact verdicts is true.
    pub fn is_coarse(self) -> bool {
        matches!(self, Word::DoesNotHold | Word::HoldsOrStronger)
    }

    /// The coarse verdict that this exact one implies.
    pub fn coarse(self) -> Word {
        let holds = matches!(self, Word::Holds | Word::Stronger | Word::HoldsOrStronger);
        if holds {
            Word::HoldsOrStronger
        } else {
            Word::DoesNotHold
        }
    }

    /// Tells whether both say something of the claim and cannot both be true. Coarse verdicts bear their exact ones.
    pub fn contradicts(self, other: Word) -> bool {
        let is_coarse = self.is_coarse() || other.is_coarse();
        let agrees = if is_coarse {
            self.coarse() == other.coarse()
        } else {
            self == other
        };
        self.is_decided() && other.is_decided() && !agrees
    }
}

/// The answers to a selection of claims.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// The run that was made for them; absent where kept runs answered everything.
    pub run: Option<String>,
    /// Main facts of the machine, by label.
    pub environment: BTreeMap<String, String>,
    /// Smallest difference that matters, as a share: 0.02 for 2 %.
    pub margin: f64,
    /// Kept runs that answered something.
    pub reused: Vec<String>,
    /// The answers, the most surprising first.
    pub answers: Vec<Answer>,
}

/// The answer to one claim.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Id of the claim, such as `P5-a`.
    pub id: String,
    /// Claim in one sentence.
    pub statement: String,
    /// Form of the figure that decides.
    pub kind: ClaimKind,
    /// The experiment that asks it; empty where none does.
    #[serde(default)]
    pub question: String,
    /// Published table that the claim belongs to, if one.
    pub table: Option<String>,
    /// Place where the claim was made.
    pub source: Source,
    /// Circumstance that a reader of the claim may overlook; shown after `beware`.
    pub confuses: Option<String>,
    /// The verdict: that of the corrected comparison, or of the published one where there is no other.
    pub word: Word,
    /// Comparisons that were made for it: corrected, as published, or both.
    pub jobs: Vec<JobAnswer>,
    /// Reason for having no verdict; absent with one.
    pub why: Option<NoVerdict>,
}

/// The answer of one comparison.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobAnswer {
    /// `corrected` or `as published`.
    pub job: String,
    /// Verdict of this comparison.
    pub word: Word,
    /// The cell of the praised way, with its parameters.
    pub way: String,
    /// Cell with which it is compared; absent for an absolute claim.
    pub other: Option<String>,
    /// Phase or total, and which cost of it.
    pub figure: String,
    /// The edges of what holds: ratios, bytes of a crossover, or a cost; absent where open.
    pub holds: (Option<f64>, Option<f64>),
    /// Ours: a ratio, or of an absolute claim the cost itself.
    pub ratio: Option<Ratio>,
    /// Unit of the ratio or cost; empty for a ratio.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub unit: String,
    /// True if both sides share their blocks of launches; otherwise the interval lacks what differs between their times.
    pub paired: bool,
    /// Of a crossover: between which values it lies.
    pub band: Option<Band>,
    /// Of a crossover: the ratio at each value.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub points: Vec<ClaimPoint>,
    /// Run that has the launches.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub run: String,
    /// Cause of the difference, as far as counters show it.
    pub cause: Option<Difference>,
    /// True if the budget did not reach its cells, so that a longer one may decide it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub late: bool,
    /// Reason for having no verdict; absent with one.
    pub why: Option<NoVerdict>,
}

/// The reason why there is no verdict, or no surer one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "word")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum NoVerdict {
    /// No machine can measure it with what Pagewise has.
    Missing { needs: String },
    /// It was not planned, in the sentence of a record before version 3.
    LeftOut { reason: String },
    /// No worker here is of this name or pattern.
    NoWorker { worker: String },
    /// Both sides are the same on this machine.
    SameSides,
    /// Its cells are in no run.
    NoRun,
    /// The budget did not reach it; about so many seconds would.
    Budget { needed_s: Option<f64> },
    /// A cell has no figures.
    Cell {
        cell: String,
        #[serde(flatten)]
        outcome: Outcome,
    },
    /// Fewer launches than an interval needs.
    Launches { launches: usize, least: usize },
    /// The figure is not recorded, or it is zero.
    NoFigure,
    /// Verdicts that the interval allows, in the order of their regions.
    Interval { verdicts: Vec<Word> },
    /// The verdict alone, which does not hold among so many questions.
    AmongAll { alone: Word, questions: usize },
    /// The verdict of launches from which other work took CPUs, memory or devices.
    Disturbed { alone: Word },
    /// No size shows which way is cheaper.
    NoSize,
    /// It crosses more than once.
    CrossesOften,
    /// The band reaches beyond the range.
    BeyondRange,
}

/// Cause of a difference, as far as the counters show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "word")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum Difference {
    /// No counter explains the difference.
    NotFound,
    /// The fact is counted in every sample; the interval is its extremes.
    Counted { fact: String },
    /// Page faults of both sides, counted by the kernel.
    Faults { first: f64, second: f64 },
    /// Most of it is time in the kernel.
    Kernel(DifferencePart),
    /// Most of it is waiting.
    Waiting(DifferencePart),
    /// Most of it is time in user mode.
    Program(DifferencePart),
    /// Both cost the same and sleep so often.
    BothSleep { first: f64, second: f64 },
    /// Both cost the same and wait for the device.
    BothWait,
    /// Faults and time in the kernel are the same.
    Same,
}

/// A part of a difference, with the counter that explains it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferencePart {
    /// Of the whole difference, at most 1.
    pub share: f64,
    /// The side that costs more, by what distinguishes it.
    pub dear: String,
    /// Side that costs less, by what distinguishes it.
    pub cheap: String,
    /// Counter that explains the difference.
    pub counter: Counter,
    /// Count of one operation on the side that costs more.
    pub dear_count: f64,
    /// Count of one operation on the side that costs less.
    pub cheap_count: f64,
}

/// Counter of the kernel, or a recorded fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counter {
    /// Page faults.
    Faults,
    /// Bytes written back and made dirty again.
    Redirtied,
    /// Bytes.
    Copied,
    /// System calls.
    Calls,
    /// Voluntary context switches.
    Sleeps,
    /// Bytes.
    HugePages,
    /// Bytes read from the device.
    Device,
    /// As many bytes from the device, for longer.
    DeviceLonger,
    /// As many sleeps, for longer.
    SleepsLonger,
    /// No counter explains it.
    Nothing,
}

/// Between which values of a parameter one way becomes cheaper than another; open where nothing was measured beyond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// The largest value at which it is shown to be dearer.
    pub above: Option<u64>,
    /// The smallest value from which on it is shown to be cheaper.
    pub up_to: Option<u64>,
}

/// The ratio at one value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimPoint {
    /// The value; bytes where it is a size.
    pub value: u64,
    /// Ratio at this value; absent with too few launches.
    pub ratio: Option<Ratio>,
}

/// A claim whose verdict is another in another run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AnswerChange {
    /// Id of the claim.
    pub id: String,
    /// Claim in one sentence.
    pub statement: String,
    /// Comparison, `corrected` or `as published`.
    pub job: String,
    /// Its verdict in the first run; absent where the first run did not ask.
    pub first: Option<Word>,
    /// Verdict in the second run; absent where that run did not include the claim.
    pub second: Option<Word>,
    /// Ratios in the first and the second run.
    pub ratios: (Option<Ratio>, Option<Ratio>),
    /// Unit of the ratios; empty for a plain ratio.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub unit: String,
}

/// A claim with its cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResolvedClaim {
    /// Claim as its file has it.
    pub claim: Claim,
    /// Comparisons with cells of this machine.
    pub jobs: Vec<ResolvedJob>,
}

/// One comparison with its cells.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResolvedJob {
    /// `corrected` or `as published`.
    pub job: String,
    /// The cells of `way`: one, or of a crossover one for each of its points. Empty where there are none here.
    pub way: Vec<Cell>,
    /// The cells of `other`, likewise; empty of an absolute claim.
    pub other: Vec<Cell>,
    /// Of a crossover: the value of its parameter for each cell.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub points: Vec<u64>,
    /// The reason why it is not measured.
    pub left_out: Option<NoVerdict>,
}

impl ResolvedJob {
    /// True if time was too short, not the machine.
    pub fn is_late(&self) -> bool {
        matches!(self.left_out, Some(NoVerdict::Budget { .. }))
    }

    /// Cells of all comparisons.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.way.iter().chain(&self.other)
    }
}
