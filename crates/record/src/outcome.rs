//! Outcome of a cell. None of these is ever a blank, a zero or a crash.

use crate::machine_state::LostProof;
use serde::{Deserialize, Serialize};

/// The six outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
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
    pub fn word(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Skipped => "skipped",
            Status::Refused => "refused",
            Status::Failed => "failed",
            Status::Untrusted => "untrusted",
            Status::Damaged => "damaged",
        }
    }
}

/// The cause of an outcome, with its figures: programs decide by it, and `crates/report` makes its sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "word")]
pub enum Cause {
    /// The time budget ended before the cell was measured.
    Budget,
    /// A library or a language is missing; this package of Debian has it.
    NotInstalled { package: String },
    /// A setting of the kernel is below the least value that the worker needs.
    Setting { name: String, least: u64 },
    /// A launch needs more bytes than are available, a reserve included; `limited_by` names the limit.
    Memory { needed_bytes: u64, available_bytes: u64, limited_by: String },
    /// A memory bound of the parameter `key` holds less than the worker needs for itself.
    Bound { key: String, bound_bytes: u64, needed_bytes: u64 },
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        law: Option<BrokenLaw>,
    },
    /// A law on counters and facts is broken.
    Law(BrokenLaw),
    /// The hidden duplicate is broken. Both run the same code, so neither is believed.
    Duplicate { cause: Box<Cause> },
    /// The digest differs from that of another cell with the same content.
    Disagrees { digest: String, right: String, cell: String },
    /// The machine lost the state in every launch; `proof` is the first that was broken.
    StateLost { launches: usize, proof: LostProof },
    /// The record of the launches is not as it was written.
    Altered,
}

/// Disturbed launches of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Disturbed {
    pub launches: usize,
    /// Launches of the cell; 0 in summaries before version 6.
    #[serde(default)]
    pub all: usize,
    /// Codes of the warnings on them.
    #[serde(default)]
    pub by: Vec<String>,
}

/// A law with the samples that break it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BrokenLaw {
    /// The first violation: launch, law and figures.
    pub first: String,
    pub broken: u64,
    pub samples: u64,
}

/// Fault in the results of one launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "fault")]
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

/// A status with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    pub status: Status,
    /// Why, in the words of a worker, the kernel or the preparation; empty for `ok`, and where the cause says all.
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
}

impl Outcome {
    pub fn new(status: Status, reason: impl Into<String>) -> Outcome {
        Outcome { status, reason: reason.into(), cause: None }
    }

    /// An outcome whose cause says all.
    pub fn because(status: Status, cause: Cause) -> Outcome {
        Outcome { cause: Some(cause), ..Outcome::new(status, "") }
    }
}
