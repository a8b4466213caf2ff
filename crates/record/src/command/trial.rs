//! Result of a try: the shape of its `summary.json` and of `try --json`.

use super::{Amount, ArmRole, CommandPlan, WatchSummary};
use crate::outcome::Cause;
use crate::summary::{Contrast, Note, Ratio};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;

/// Compared quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// User and kernel time together, in seconds.
    Cpu,
    /// CPU time in user mode, in seconds.
    User,
    /// CPU time in the kernel, in seconds.
    Kernel,
    /// From start to end, in seconds.
    Wall,
    /// The most resident memory of any one process, in bytes.
    MaxRss,
    /// Page faults, minor and major.
    Faults,
    /// Mean resident memory of all processes over the time of a launch, in bytes.
    Rss,
    /// The same, of which shared pages count in proportion.
    Pss,
    /// Mean memory in transparent huge pages, in bytes.
    Huge,
    /// Pages of the machine that came back after the kernel had taken them.
    Refaults,
}

impl Measure {
    /// Those of a watched try, in the order in which they are shown.
    pub const WATCHED: [Measure; 6] = [
        Measure::Cpu,
        Measure::Kernel,
        Measure::Rss,
        Measure::Pss,
        Measure::Huge,
        Measure::Refaults,
    ];

    /// Measures of a plan, in the order in which they are judged.
    pub fn judged(plan: &CommandPlan) -> impl Iterator<Item = Measure> {
        let watched = plan.watch.map(|_| Measure::WATCHED).into_iter().flatten();
        let usual = Measure::ALL.into_iter();
        usual.chain(watched.filter(|measure| !Measure::ALL.contains(measure)))
    }

    /// Those of any try, in the order in which they are shown.
    pub const ALL: [Measure; 6] = [
        Measure::Cpu,
        Measure::User,
        Measure::Kernel,
        Measure::Wall,
        Measure::MaxRss,
        Measure::Faults,
    ];
}

/// A whole try, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialSummary {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// Plan; its `kind` is `try`.
    pub plan: CommandPlan,
    /// Blocks that were complete.
    pub blocks: usize,
    /// Every arm with its outcome, in the plan's order.
    pub arms: Vec<ArmSummary>,
    /// The A/A check; absent with too few blocks.
    pub again: Option<Again>,
    /// True if the A/A check holds.
    pub trusted: bool,
    /// Memory for time, where it was watched.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub watch: Option<WatchSummary>,
    /// Remarks on the whole.
    pub notes: Vec<Note>,
}

/// Outcome of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmStatus {
    /// Measured, and its effect proved where that was asked.
    Ok,
    /// The machine lacks what it needs.
    Skipped,
    /// It did not do what the baseline does: another output, another end.
    Failed,
    /// It was not seen to change anything, so its figures say nothing of it.
    NoEffect,
}

/// One arm.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmSummary {
    /// Name of the arm.
    pub name: String,
    /// Its part in the study.
    pub role: ArmRole,
    /// Result of the arm.
    pub status: ArmStatus,
    /// The reason why it is `failed` or `skipped`; [`ProofSummary`] has that of `no-effect`.
    pub failure: Option<Failure>,
    /// Runs that are judged.
    pub runs: usize,
    /// Costs by measure.
    pub measured: BTreeMap<Measure, Measured>,
    /// The same relative to the baseline; empty for the baseline, and where the status is not `ok`.
    pub against: BTreeMap<Measure, Against>,
    /// Evidence that the setting took effect.
    pub proof: ProofSummary,
    /// Mean major page faults of a run.
    pub major_faults: f64,
}

/// The cost over runs: the median with its interval at 95 % by order statistics, and how skewed it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The median, in the measure's unit.
    pub median: f64,
    /// Lower limit; absent below six runs.
    pub low: Option<f64>,
    /// Upper bound; absent below six runs.
    pub high: Option<f64>,
    /// Mean, which a user pays.
    pub mean: f64,
    /// Runs beyond 1.5 times the median.
    pub slow_runs: usize,
}

/// An arm relative to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The ratio of costs, absent with too few blocks and where a cost is zero. Where its interval and that of the means agree
    /// that it differs, the verdict claims no more than the mean shows.
    #[serde(flatten)]
    pub contrast: Contrast,
    /// The arm's cost minus the baseline's, in the measure's unit; absent with too few blocks.
    pub change: Option<Amount>,
    /// The ratio of the means; absent with too few blocks.
    pub mean: Option<Amount>,
    /// True where some runs took much longer than the median and the mean does not confirm the verdict.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub usual_only: bool,
}

/// Proof of an arm's effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProofSummary {
    /// True if it took effect; absent where nothing had to be proved.
    pub took_effect: Option<bool>,
    /// Observations behind `took_effect`.
    pub seen: Vec<SettingEffect>,
}

/// Evidence of a setting's effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "word")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum SettingEffect {
    /// Processes of all that mapped the preloaded library.
    Preloaded {
        library: String,
        mapped: u64,
        all: u64,
    },
    /// Bytes in huge pages, with the setting and without.
    Huge { bytes: u64, usual_bytes: u64 },
    /// Page faults relative to the baseline's, and the launches of all in which they were outside the baseline's range.
    Faults {
        ratio: f64,
        low: f64,
        high: f64,
        #[serde(default)]
        moved: u64,
        #[serde(default)]
        launches: u64,
    },
    /// Too few runs to see a change of page faults.
    TooFewRuns,
    /// Processes of all without huge pages.
    ThpDisabled { processes: u64, all: u64 },
    /// Processors seen and requested, as lists.
    Cpus { seen: String, wanted: String },
    /// Processes of all that had the variables.
    Environment { processes: u64, all: u64 },
    /// None of these programs and libraries was mapped, whose own setting it is.
    NoModule { modules: Vec<String> },
    /// Bytes of one process that were merged with equal pages.
    Merged { bytes: u64 },
    /// Bytes on which the kernel took advice, and its last refusal.
    Advised { bytes: u64, error: Option<String> },
}

/// The reason why a study gives no figures.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Kind with its figures.
    #[serde(flatten)]
    pub kind: FailureKind,
    /// The last line that the command wrote to standard error.
    pub message: Option<String>,
}

/// Kind of a failure, with its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "word")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum FailureKind {
    /// The machine lacks what the arm needs.
    Skipped { cause: Cause },
    /// No program has this name.
    NoProgram { program: String },
    /// The kernel's error.
    NotStarted { reason: String },
    /// A signal ended it.
    Signal { number: i32, signal: Option<String> },
    /// It still ran after so many seconds.
    TimeLimit { limit_s: f64 },
    /// Processes that ran when the command had ended.
    LeftRunning { processes: u64 },
    /// An exit code and the signal that a shell means by it; `usual` is that of the baseline's first launch.
    Exit {
        code: i32,
        signal: Option<String>,
        may_ignore: bool,
        usual: Option<i32>,
        followed: bool,
    },
    /// Bytes of its output, and of the baseline's.
    OutputChanged { bytes: u64, before: u64 },
    /// Some of its runs ended by themselves, and others were ended after their window of so many seconds.
    EndsDiffer { window_s: f64 },
    /// The size of a page is unknown.
    NoPageSize,
}

/// The baseline against itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Again {
    /// Total CPU time of the one relative to the other.
    pub ratio: Ratio,
    /// The smallest probability of total CPU and wall time differing this much where both are the same (Holm).
    pub p: f64,
    /// True if it is too far off to be chance (at 1 %).
    pub differs: bool,
}
