//! What became of a cell. None of these is ever a blank, a zero or a crash.

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
    /// The word used everywhere.
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

/// A status with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    /// Which of the six.
    pub status: Status,
    /// Why, in one sentence; empty for `ok`.
    pub reason: String,
}

impl Outcome {
    /// Any outcome but `ok`.
    pub fn of(status: Status, reason: impl Into<String>) -> Outcome {
        Outcome { status, reason: reason.into() }
    }
}
