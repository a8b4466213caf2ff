//! Outcome of a cell. None of these is ever a blank, a zero or a crash.

use crate::{launches::End, machine_state::LostProof};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// The six outcomes.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Status {
    /// Measured, and every law and proof holds.
    Ok,
    /// The machine lacks what it needs.
    Skipped,
    /// It would not fit, is not permitted, or would change the machine.
    Refused,
    /// A call failed or a worker died.
    Failed,
    /// A law, a proof or a digest is broken.
    Untrusted,
    /// Its record is not as it was written.
    Damaged,
}

impl Status {
    /// Word of JSON and of tables.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// The cause of an outcome, with its figures: programs decide by it, and `crates/report` makes its sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "word")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum Cause {
    /// The time budget ended before the cell was measured.
    Budget,
    /// The library is missing; this package of Debian has it, if one has.
    NotInstalled {
        package: String,
        library: Option<String>,
    },
    /// A worker cannot be built or started; a package of Debian may have its language.
    NoWorker {
        error: String,
        package: Option<String>,
    },
    /// The JDK of the worker is older than the method needs.
    OldJdk { needed: u32, have: u32 },
    /// The method takes these values of a parameter, and not the one that was set.
    OtherValues {
        key: String,
        value: String,
        known: Vec<String>,
    },
    /// The value is made for the run, which was not permitted.
    MadeValue { key: String, value: String },
    /// The value empties everybody's page cache, which was not permitted.
    DroppedCache { key: String, value: String },
    /// The parameter needs a memory cgroup, which was not permitted.
    NeedsCgroup { key: String },
    /// Pages of tmpfs are the storage itself and cannot be evicted.
    ColdTmpfs,
    /// Pages of tmpfs are charged to the cgroup of the process that wrote them, so this key cannot bound them.
    BoundedTmpfs { key: String },
    /// A memory bound needs a file that is evicted first, as by this value.
    BoundedWarm { key: String, value: String },
    /// Only bounded cells were requested, and the worker takes no memory bound.
    Unbounded,
    /// The machine or the worker lacks something, in the words of the worker or of the state's file.
    Lacks { text: String },
    /// Only the native worker can be in the state.
    NativeOnly { state: String },
    /// The kernel gives no transparent huge pages, by this file.
    NoHugePages { path: String },
    /// The user's own value of a variable, which a setting does not replace.
    OwnVariable { name: String, value: String },
    /// `LD_PRELOAD` takes no path with a space or a colon.
    UnfitPreload { path: String },
    /// Every zram device is in use.
    NoZram,
    /// The kernel lacks the setting.
    NoSetting { name: String },
    /// The setting cannot be written.
    SettingRefused { name: String, error: String },
    /// No memory cgroup can be made: none is mounted, the lowest level has no controller, or it refuses.
    NoCgroup {
        path: Option<String>,
        error: Option<String>,
    },
    /// Cgroups of version 1 have no `memory.high`.
    NoMemoryHigh,
    /// The capture file cannot be made, in the words of the helper.
    NoCapture { end: End, text: String },
    /// A setting of the kernel is below the least value that the worker needs, which it says in its own words.
    Setting {
        name: String,
        least: u64,
        text: Option<String>,
    },
    /// A launch needs more bytes than are available, a reserve included; `limited_by` names the limit.
    Memory {
        needed_bytes: u64,
        available_bytes: u64,
        limited_by: String,
    },
    /// A memory bound of the parameter `key` holds less than the worker needs for itself.
    Bound {
        key: String,
        bound_bytes: u64,
        needed_bytes: u64,
    },
    /// A system call of the worker failed in this phase, `-` between phases.
    Call {
        call: String,
        phase: String,
        error: String,
    },
    /// A signal ended the worker in this phase, by its own account. `end` is given where Pagewise sent the signal.
    Crash {
        signal: String,
        phase: String,
        end: Option<End>,
    },
    /// A process of the launch ended without an account. `side` is `a` or `b` of a pair.
    Ended {
        end: End,
        oom_killed: bool,
        worker: String,
        side: Option<String>,
        message: String,
    },
    /// Other processes took the CPU in most rounds.
    SwitchedOut { percent: u32 },
    /// Most launches were disturbed, mainly by other users of the disk.
    OthersOnDisk(Disturbed),
    /// Most launches were disturbed otherwise.
    Disturbed(Disturbed),
    /// Results of a launch break the plan or the protocol; `law` is one that they break too.
    Broken {
        launch: usize,
        #[serde(flatten)]
        fault: LaunchFault,
        #[serde(default, skip_serializing_if = "crate::is_default")]
        law: Option<BrokenLaw>,
    },
    /// A law on counters and facts is broken.
    Law(BrokenLaw),
    /// The hidden duplicate is broken. Both run the same code, so neither is believed.
    Duplicate { cause: Box<Cause> },
    /// The digest differs from that of another cell with the same content.
    Disagrees {
        digest: String,
        right: String,
        cell: String,
    },
    /// The machine lost the state in every launch; `proof` is the first that was broken.
    StateLost { launches: usize, proof: LostProof },
    /// The record of the launches is not as it was written.
    Altered,
}

/// Disturbed launches of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Disturbed {
    /// Launches that were disturbed.
    pub launches: usize,
    /// Launches of the cell; 0 in summaries before version 6.
    #[serde(default)]
    pub all: usize,
    /// Codes of the warnings on them.
    #[serde(default)]
    pub by: Vec<String>,
}

/// A law with the samples that break it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BrokenLaw {
    /// The first violation: launch, law and figures.
    pub first: String,
    /// Number of samples that break it.
    pub broken: u64,
    /// Number of samples.
    pub samples: u64,
}

/// Fault in the results of one launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "fault")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum LaunchFault {
    /// The transcript breaks the protocol.
    Transcript { error: String },
    /// Rounds with samples, and rounds requested.
    Rounds { seen: usize, planned: u32 },
    /// The method does not declare the phase.
    UnknownPhase { phase: String },
    /// A slot lacks the phase.
    MissingPhase { phase: String },
    /// A slot timed the phase twice.
    DoublePhase { phase: String },
    /// No digest was recorded.
    NoDigest,
    /// The digest is not that of the content.
    WrongDigest { digest: String, right: String },
    /// The digest differs between samples.
    UnequalDigests { digests: Vec<String> },
}

/// A status with its cause; absent for `ok`.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Outcome {
    /// Result without its cause.
    pub status: Status,
    /// Cause; absent for an `ok`.
    pub cause: Option<Cause>,
}

impl Outcome {
    /// Outcome of a cell without objection.
    pub const OK: Outcome = Outcome {
        status: Status::Ok,
        cause: None,
    };

    /// An outcome whose cause says all.
    pub fn because(status: Status, cause: Cause) -> Outcome {
        Outcome {
            status,
            cause: Some(cause),
        }
    }
}
