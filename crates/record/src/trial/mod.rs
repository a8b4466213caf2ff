//! A try of somebody's own program: what was planned, what each run cost, and what came out.

mod faults;
mod summary;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::Setting;
pub use faults::Faults;
pub use summary::{
    Again, Against, ArmStatus, ArmSummary, Change, Measure, Measured, ProofSummary, TrialNote, TrialSummary,
};

/// Version of the plan's and of the summary's shape.
pub const TRIAL_SCHEMA: u32 = 2;

/// Plan of a try. Written once, before the first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialPlan {
    /// [`TRIAL_SCHEMA`].
    pub schema: u32,
    /// [`Kind::Try`].
    pub kind: Kind,
    /// Name of the try.
    #[serde(deserialize_with = "crate::name::deserialize")]
    pub run: String,
    /// When it was made, RFC 3339.
    pub created: String,
    /// Version of Pagewise.
    pub version: String,
    /// Seed of the orders.
    pub seed: u64,
    /// Compared arms: the first is the baseline, the last the baseline once more.
    pub arms: Vec<Arm>,
    /// The folder in which every run starts.
    pub directory: PathBuf,
    /// A shell command that is run before every run, unmeasured.
    pub prepare: Option<String>,
    /// Files that are put out of the page cache before every run.
    pub evict: Vec<PathBuf>,
    /// Standard input of every run; nothing where there is none.
    pub input: Option<PathBuf>,
    /// Half-width of the interval of the ratio of total CPU time that is asked for, as a share.
    pub precision: f64,
    /// Smaller differences are called within the margin, as a share.
    pub margin: f64,
    /// Seconds for all runs together; where none was named, as long as six blocks need at least.
    pub budget_s: Option<f64>,
    /// Blocks to run, whatever the precision.
    pub pairs: Option<usize>,
    /// Runs of each arm before the first block; the first of them is the one whose effect is proved.
    pub warmups: usize,
    /// Seconds after which a run is ended.
    pub time_limit_s: f64,
    /// True if a baseline that ends with a code other than 0 is measured all the same.
    pub ignore_failure: bool,
    /// True if the output goes to /dev/null, so that it is not compared.
    pub discard_output: bool,
    /// True if samples divide CPU time into user and kernel time, which costs some of it; otherwise the kernel's ticks do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sample_kernel: bool,
    /// Main facts of the machine.
    pub environment: BTreeMap<String, String>,
    /// The kept profile of the same command that predicted something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The change of kernel time that it predicted for each setting, in seconds: written before anything was measured.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub predicted: BTreeMap<String, Change>,
}

/// Why an arm takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Baseline.
    Baseline,
    /// The same command with a setting.
    Setting,
    /// Another command.
    Command,
    /// The baseline once more: the A/A check.
    Again,
}

/// One way of running the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Name in tables.
    pub name: String,
    /// Why it takes part.
    pub role: Role,
    /// The command as the user wrote it.
    pub shown: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Changed setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<Setting>,
    /// Variables that are set, after joining with what the environment had.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// The library that is preloaded, by its real path.
    #[serde(default, rename = "library", skip_serializing_if = "Option::is_none")]
    pub preloaded: Option<String>,
    /// The processors that it keeps to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// Why it cannot be tried here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// End of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// By itself; the code is its exit status.
    Exit,
    /// By a signal; the code is its number.
    Signal,
    /// It was ended at the time limit.
    TimeLimit,
    /// The try was ended.
    Stopped,
    /// It could not be started; the code is the error's number.
    #[default]
    NotStarted,
}

/// Cost of one run, over all processes and threads of the command that were waited for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// End.
    pub end: Ending,
    /// Exit status, signal or error number.
    pub code: i32,
    /// From before the start to the end of the first process, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time in user mode, in microseconds.
    pub user_us: u64,
    /// CPU time in the kernel, in microseconds. The two together are exact; ticks or samples (`split`) divide them.
    pub system_us: u64,
    /// The most resident memory of any one process, in KiB.
    pub max_rss_kib: u64,
    /// Page faults without input or output.
    pub minor_faults: u64,
    /// Page faults that waited for a device.
    pub major_faults: u64,
    /// Switches because it waited.
    pub voluntary_switches: u64,
    /// Switches because its time was over.
    pub involuntary_switches: u64,
    /// Bytes written to standard output.
    pub output_bytes: u64,
    /// A hash of them.
    pub output_hash: String,
    /// Bytes written to standard error.
    pub error_bytes: u64,
    /// Processes that still ran when the command had ended, and were ended.
    pub left: u64,
    /// Bytes of files that stayed in the page cache although they were to leave it.
    pub not_evicted: u64,
    /// Bytes that its processes read by calls, from files, pipes and all else.
    #[serde(default)]
    pub read_bytes: u64,
    /// Bytes that they wrote.
    #[serde(default)]
    pub write_bytes: u64,
    /// Calls that read.
    #[serde(default)]
    pub read_calls: u64,
    /// Calls that wrote.
    #[serde(default)]
    pub write_calls: u64,
    /// Its page faults by kind, where they were followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// Why they could not be followed although this was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults_unseen: Option<String>,
    /// The samples that divide its CPU time, where that was asked for; where there are none, the kernel's ticks did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Observation of its processes, if they were observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Seen>,
}

/// Samples of a command's CPU time by a clock of perf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// CPU time between two samples of a thread, in microseconds.
    pub period_us: u64,
    /// Samples in user mode.
    pub user: u64,
    /// Samples in the kernel; none where it may not be looked into, and then the rest of the CPU time is the kernel's.
    pub kernel: u64,
    /// True if it may.
    pub in_kernel_seen: bool,
    /// Samples that were lost: where there are any, the ticks divide.
    pub lost: u64,
    /// Processes and threads that it began. The first stretch of each has no sample, so with many the ticks divide.
    pub started: u64,
}

/// Facts in `/proc` about a command's processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// True if every process was looked at just before its end; otherwise the first was looked at from time to time.
    pub traced: bool,
    /// Processes that were looked at when they ended.
    pub processes: u64,
    /// The most memory in transparent huge pages that one process had, in bytes.
    pub huge_bytes: u64,
    /// Processes for which transparent huge pages were off.
    pub thp_disabled: u64,
    /// Resident memory of the process that ended with the most, in bytes.
    #[serde(default)]
    pub end_rss_bytes: u64,
    /// Part without a file.
    #[serde(default)]
    pub end_anonymous_bytes: u64,
    /// Part in transparent huge pages.
    #[serde(default)]
    pub end_huge_bytes: u64,
    /// Processes whose program is to run with the rights of its owner.
    #[serde(default)]
    pub setuid: u64,
    /// The processors that the first process kept to.
    pub cpus: String,
    /// Processes that had the preloaded library mapped; one number, or none where nothing was preloaded.
    pub mapped: Vec<u64>,
    /// Processes in whose environment each variable stood, in the order of their names.
    pub expected: Vec<u64>,
}

/// One run of one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriedRun {
    /// Index of the arm.
    pub arm: usize,
    /// The block it belongs to; warm-ups are negative.
    pub block: i64,
    /// The kernel's rule for transparent huge pages when it began: `always`, `madvise`, `never`, or empty.
    pub thp: String,
    /// Cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// The end of what it wrote to standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub messages: String,
}
