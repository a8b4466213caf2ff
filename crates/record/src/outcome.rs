//! Outcome of a cell. None of these is ever a blank, a zero or a crash.

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

/// The cause of an outcome, with its figures: programs decide by it, never by the reason's text.
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
    /// Other processes took the CPU in most rounds.
    SwitchedOut { percent: u32 },
    /// Most launches were disturbed, mainly by other users of the disk.
    OthersOnDisk { launches: usize },
    /// Most launches were disturbed otherwise.
    Disturbed { launches: usize },
}

/// A status with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    pub status: Status,
    /// Why, in one sentence; empty for `ok`.
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
}

impl Outcome {
    pub fn new(status: Status, reason: impl Into<String>) -> Outcome {
        Outcome { status, reason: reason.into(), cause: None }
    }

    pub fn with(self, cause: Cause) -> Outcome {
        Outcome { cause: Some(cause), ..self }
    }
}
