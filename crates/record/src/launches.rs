//! Record of each launch: a line of `launches.jsonl`, with the end of each process.

use crate::{machine::preflight::NoiseDelta, machine_state::StateSeen};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

crate::read_from_json!(LaunchRecord);
crate::written_to_json!(LaunchRecord);

/// The block of launches that are counted by a tracer and not timed.
pub const COUNTED: i32 = -3;

/// One line of `launches.jsonl`: a launch that has ended.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// Number of the launch, from 0.
    pub launch: usize,
    /// Index of its launch group in the plan.
    pub launch_group: usize,
    /// Replicate; negative for pilots (−1), calibrations (−2) and counted launches (−3), whose times are not judged. The pilot
    /// of a long job may be replicate 0.
    pub block: i32,
    /// Indices of its cells in the plan, in the order of the request.
    pub cells: Vec<usize>,
    /// Measured rounds of a launch.
    pub rounds: u32,
    /// Of how many of them each cell is to have a sample, where they differ: limits and floors take part in a few only.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub turns: Vec<u32>,
    /// The rounds that carry proofs; where left out, all do. A number that no round has: none does.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub proofs: Vec<u32>,
    /// From the first start to the last end, in seconds.
    pub wall_s: f64,
    /// CPU time of the laboratory meanwhile, in seconds.
    pub laboratory_cpu_s: f64,
    /// Processes of the launch, side a first.
    pub sides: Vec<SideRecord>,
    /// Decisions that had been written when it began.
    pub decisions: usize,
    /// Place of its request and transcripts.
    #[serde(default)]
    pub frame: Frame,
    /// True if the kernel's OOM killer was at work meanwhile.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub oom_killed: bool,
    /// Counters of noise that moved meanwhile; absent where they could not be read.
    pub noise: Option<NoiseDelta>,
    /// State of the machine, where one was made for the launch.
    pub state: Option<StateSeen>,
}

impl LaunchRecord {
    /// Number of samples of a cell, by its number in the request.
    pub fn turns(&self, number: usize) -> u32 {
        self.turns.get(number).copied().unwrap_or(self.rounds)
    }

    /// Tells whether a round carries proofs.
    pub fn proves(&self, round: i32) -> bool {
        self.proofs.is_empty()
            || u32::try_from(round).is_ok_and(|round| self.proofs.contains(&round))
    }
}

/// One process of a launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SideRecord {
    /// Name of the worker.
    pub worker: String,
    /// Name of its transcript within the launch's frame.
    pub transcript: String,
    /// End of the process.
    pub end: End,
    /// The first line it wrote to standard error, where it did not end cleanly.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub message: String,
}

/// Place of a launch's frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Its first byte in `transcripts.zst`.
    pub offset: u64,
    /// Length of the compressed frame in bytes.
    pub length: u64,
    /// SHA-256 of the compressed frame, in hexadecimal.
    pub sha256: String,
}

/// End of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Exit with this code.
    Exit(i32),
    /// Death by the signal of this number.
    Signal(i32),
    /// The laboratory ended it after its time limit, in seconds.
    TimeLimit(u64),
    /// The same, and it had to be killed: it did not end when it was asked to.
    Deaf(u64),
    /// The laboratory ended it because the other side had ended.
    OtherSide,
    /// The laboratory ended it because the run was stopped.
    Stopped,
}

impl End {
    /// Tells whether it is what a worker that did its work does.
    pub fn is_clean(&self) -> bool {
        *self == End::Exit(0)
    }
}

/// Signals by number, where it is the same on every architecture of Linux that Pagewise runs on (signal(7)).
const SIGNALS: [(i32, &str); 15] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
];

/// The name of a signal, if it has the same number everywhere.
pub fn signal_name(number: i32) -> Option<&'static str> {
    SIGNALS
        .iter()
        .find(|(known, _)| *known == number)
        .map(|(_, name)| *name)
}
