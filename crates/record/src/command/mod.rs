//! A study of a user's program: its plan, its launches and its results. `try` compares arms of the program; `profile` prices
//! the memory events of one arm by launches of a worker between those of the program.

mod cost;
mod faults;
mod kernel;
mod profile;
mod stacks;
mod trial;
mod watch;

use crate::outcome::Cause;
use crate::{kind::Kind, setting::Setting};
pub use cost::{CommandCost, CommandEnd, ObservedEffects, Split};
pub use faults::Faults;
pub use kernel::{KernelWork, SampledPart};
pub use profile::{
    Agreement, Candidate, Consistency, CostLine, EventCounts, EventFamily, FollowingCost,
    KernelPart, MemoryEvent, Price, ProfileSummary, Suggestion, SuggestionKind,
};
use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};
pub use stacks::{CallFrame, CallStack, CallStacks};
use std::{collections::BTreeMap, ops::RangeInclusive, path::PathBuf};
pub use trial::{
    Again, Against, ArmStatus, ArmSummary, Failure, FailureKind, Measure, Measured, ProofSummary,
    SettingEffect, TrialSummary,
};
pub use watch::{CoursePoint, WatchSummary, WatchedArm, WatchedLaunch, WatchedMoment, Watching};

crate::read_from_json!(
    CommandCost,
    CommandLaunch,
    CommandPlan,
    ProfileSummary,
    TrialSummary
);
crate::written_to_json!(
    CommandLaunch,
    CommandPlan,
    CommandSummary,
    ProfileSummary,
    TrialSummary
);

/// Version of the plan and launches of a study.
pub const COMMAND_SCHEMA: u32 = 6;
/// Version of its summary.
pub const COMMAND_SUMMARY_SCHEMA: u32 = 7;

/// Versions that are read. Tries of version 2 have no interim analyses, profiles of version 3 other names of kinds.
pub(crate) fn schemas_of(kind: Kind) -> RangeInclusive<u32> {
    if kind == Kind::Try {
        2..=COMMAND_SCHEMA
    } else {
        3..=COMMAND_SCHEMA
    }
}

/// Plan of a study. Written once, before the first launch.
#[apply(bool => #[serde(default, skip_serializing_if = "crate::is_default")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandPlan {
    /// [`COMMAND_SCHEMA`], or an older one that is read.
    pub schema: u32,
    /// [`Kind::Try`] or [`Kind::Profile`].
    pub kind: Kind,
    /// Name of the run, which is its folder's.
    #[serde(deserialize_with = "crate::plan::deserialize_name")]
    pub run: String,
    /// When it was made, RFC 3339.
    pub created: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// Seed of the orders.
    pub seed: u64,
    /// Arms: the first is the baseline, the last of a try the baseline once more. A profile has one.
    pub arms: Vec<Arm>,
    /// The folder in which every launch starts.
    pub directory: PathBuf,
    /// A shell command that is run before every launch, unmeasured.
    pub prepare: Option<String>,
    /// Files that are put out of the page cache before every launch.
    pub evict: Vec<PathBuf>,
    /// Standard input of every launch; nothing where there is none.
    pub input: Option<PathBuf>,
    /// Half-width at which the study ends: of the ratio of total CPU time, or of the cost of page faults relative to it.
    pub precision: f64,
    /// True if a try ends at the interim analysis by which every arm differs in CPU time, precise or not.
    pub interim: bool,
    /// Smaller differences are called within the margin, as a share.
    pub margin: f64,
    /// Seconds for all launches together; three blocks are run in any case by a profile, and six by a try without a budget.
    pub budget_s: Option<f64>,
    /// Blocks to run, whatever the precision.
    pub pairs: Option<usize>,
    /// Launches of each arm before the first block; the first of a try proves the arm's effect.
    pub warmups: usize,
    /// Seconds after which a launch is ended.
    pub time_limit_s: f64,
    /// True if a baseline that ends with a code other than 0 is measured all the same.
    #[serde_with(skip_apply)]
    pub ignore_failure: bool,
    /// True if the output goes to /dev/null, so that it is not compared.
    #[serde_with(skip_apply)]
    pub discard_output: bool,
    /// True if samples divide CPU time into user and kernel time, which costs some of it; otherwise the kernel's ticks do.
    pub sample_kernel: bool,
    /// True if page faults are counted in total only, although each could be followed.
    pub totals_only: bool,
    /// True if callers of page faults are looked for.
    pub stacks: bool,
    /// The process that runs already, where one is profiled.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub attached: Option<Attached>,
    /// How memory is watched beside time, if it is.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub watch: Option<Watching>,
    /// True if arms may change the machine, which is undone.
    pub allow_system_changes: bool,
    /// Pages of the machine, if memory events are priced.
    #[serde(flatten)]
    pub pages: Option<Pages>,
    /// Main facts of the machine.
    pub environment: BTreeMap<String, String>,
    /// The kept profile of the same command that predicted something.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub profile: Option<String>,
    /// The change of kernel time that it predicted for each setting, in seconds: written before anything was measured.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub predicted: BTreeMap<String, Amount>,
}

/// Most arms of a study.
pub const MOST_ARMS: usize = 200;
/// Longest plan of a study, in bytes.
pub const MOST_PLAN_BYTES: u64 = 1 << 20;

impl CommandPlan {
    /// True if it has arms, and each of them a program to start. A plan that this program wrote always is.
    pub(crate) fn is_whole(&self) -> bool {
        (1..=MOST_ARMS).contains(&self.arms.len())
            && self.arms.iter().all(|arm| !arm.command.is_empty())
    }
}

/// A process that is followed for some windows of time.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attached {
    /// Process id.
    pub pid: i32,
    /// When it began, in clock ticks since the machine did: another process that gets the number began later.
    pub started_ticks: Option<u64>,
    /// Seconds of a window, each of which stands for a launch.
    pub window_s: f64,
}

/// Pages of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// Size of a base page in bytes.
    pub page_bytes: u64,
    /// Bytes of a transparent huge page; 0 where there are none.
    pub huge_page_bytes: u64,
    /// The kernel's rule for transparent huge pages: `always`, `madvise`, `never`, or empty.
    pub thp: String,
}

/// A value with its interval at 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// Ratio, in the unit of its field.
    pub value: f64,
    /// Lower bound of the interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
}

/// Part of an arm in a study.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ArmRole {
    /// The command as it is.
    #[default]
    Baseline,
    /// The command with a setting.
    Setting,
    /// Another command.
    Command,
    /// The baseline once more: the A/A check.
    Again,
}

/// One way of running the command.
#[skip_serializing_none]
#[apply(BTreeMap => #[serde(default, skip_serializing_if = "crate::is_default")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Name of the arm, unique in the study.
    pub name: String,
    /// Its part in the study.
    pub role: ArmRole,
    /// The command as the user wrote it.
    pub shown: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Setting that is applied; absent for a command as it is.
    pub setting: Option<Setting>,
    /// Variables that are set, after joining with what the environment had.
    pub variables: BTreeMap<String, String>,
    /// Values of variables with a list, to which the setting added.
    pub joined: BTreeMap<String, String>,
    /// Values of the user's variables that the setting replaced.
    pub replaced: BTreeMap<String, String>,
    /// The library that is preloaded, by its real path.
    #[serde(rename = "library")]
    pub preloaded: Option<String>,
    /// The processors that it keeps to.
    pub cpus: Option<String>,
    /// Why it cannot be tried here.
    pub skipped: Option<Cause>,
}

/// Mode of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchMode {
    /// Timed, without any tracing.
    #[default]
    Plain,
    /// The command under ptrace, which stops its processes just before they end. Its cost is no figure.
    Traced,
    /// The command with each of its page faults followed.
    Followed,
    /// The command with its time in the kernel sampled.
    Sampled,
    /// A worker: first writes of base pages, and giving them back.
    PriceBase,
    /// A worker: the same with huge pages.
    PriceHuge,
    /// A worker: zero pages, files and calls.
    PriceEvents,
    /// A worker: copies after a fork.
    PriceCow,
}

impl LaunchMode {
    /// True for a launch of the command.
    pub fn is_command(self) -> bool {
        matches!(
            self,
            LaunchMode::Plain | LaunchMode::Traced | LaunchMode::Followed | LaunchMode::Sampled
        )
    }
}

/// A phase of a price's worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PricePhase {
    /// CPU time of the worker, in nanoseconds.
    pub cpu_ns: u64,
    /// Operations of the phase.
    pub ops: u64,
    /// Bytes of the phase.
    pub bytes: u64,
    /// Minor page faults of the phase.
    pub minor_faults: u64,
}

/// One launch of a study.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandLaunch {
    /// Index of the arm.
    pub arm: usize,
    /// The block it belongs to; warm-ups are negative.
    pub block: i64,
    /// Means of observation, which decide which figures are valid.
    #[serde(default)]
    pub mode: LaunchMode,
    /// The kernel's rule for transparent huge pages when it began: `always`, `madvise`, `never`, or empty.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub thp: String,
    /// Cost of the command; absent for a price.
    #[serde(flatten)]
    pub cost: Option<CommandCost>,
    /// The end of what the command wrote to standard error.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub messages: String,
    /// Callers of its page faults, where they were looked for.
    pub stacks: Option<CallStacks>,
    /// Costs of the price worker, by phase; empty for a run of the command.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub phases: BTreeMap<String, PricePhase>,
    /// The reason why there is no price.
    pub failed: Option<Cause>,
}

/// The kernel's part of CPU time, one in so many, from which on one block leaves the answer of a profile open.
const OPEN: u64 = 10;

impl CommandLaunch {
    /// True if it is of an arm of the plan, and its stacks refer to frames that there are.
    pub(crate) fn belongs_to(&self, plan: &CommandPlan) -> bool {
        self.arm < plan.arms.len() && self.stacks.as_ref().is_none_or(CallStacks::is_whole)
    }

    /// True if it is a launch before the first block of a profile that may stand for that block's own: it found its files in the
    /// page cache, and the kernel has so much of its time that more blocks follow.
    pub fn stands_for_first(&self) -> bool {
        let is_warm = |cost: &&CommandCost| cost.major_faults == 0 && cost.fetched_bytes == 0;
        let cost = self.cost.as_ref().filter(is_warm);
        let is_open = |cost: &CommandCost| {
            let all_us = cost.user_us.saturating_add(cost.system_us);
            cost.system_us.saturating_mul(OPEN) >= all_us
        };
        self.mode == LaunchMode::Plain && cost.is_some_and(is_open)
    }
}

/// True if the process that is followed has ended.
pub fn has_ended(launches: &[CommandLaunch]) -> bool {
    launches
        .iter()
        .any(|launch| launch.cost.as_ref().is_some_and(|cost| cost.process_ended))
}

/// A try or profile, read whole.
#[derive(Debug)]
pub struct KeptCommand {
    /// Path of the folder or file.
    pub path: PathBuf,
    /// Plan of the study.
    pub plan: CommandPlan,
    /// Launches in the order in which they ended.
    pub launches: Vec<CommandLaunch>,
    /// True if a signal or a kill ended its last session.
    pub interrupted: bool,
    /// Damaged parts, one sentence each.
    pub damage: Vec<String>,
}

/// Summary of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandSummary {
    /// Summary of a `try`.
    Try(Box<TrialSummary>),
    /// Summary of a `profile`.
    Profile(Box<ProfileSummary>),
}
