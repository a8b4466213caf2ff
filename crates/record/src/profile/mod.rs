//! A profile of somebody's own program: what was planned, what each run cost and each price was, and what came out.

mod summary;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::trial::Cost;
pub use summary::{
    Amount, Candidate, Consistency, CostLine, Counts, Kind, Outcome, Price, ProfileNote, ProfileSummary,
};

/// Version of the plan's and of the summary's shape.
pub const PROFILE_SCHEMA: u32 = 2;

/// Plan of a profile. Written once, before the first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfilePlan {
    /// [`PROFILE_SCHEMA`].
    pub schema: u32,
    /// [`crate::kind::Kind::Profile`].
    pub kind: crate::kind::Kind,
    /// Name of the profile.
    #[serde(deserialize_with = "crate::name::deserialize")]
    pub run: String,
    /// When it was made, RFC 3339.
    pub created: String,
    /// Version of Pagewise.
    pub version: String,
    /// Seed of the orders.
    pub seed: u64,
    /// The command as the user wrote it.
    pub shown: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder in which every run starts.
    pub directory: PathBuf,
    /// Standard input of every run; nothing where there is none.
    pub input: Option<PathBuf>,
    /// Seconds for all runs together, beyond the six blocks that an interval needs.
    pub budget_s: f64,
    /// Blocks to run, whatever the time.
    pub blocks: Option<usize>,
    /// Seconds after which a run is ended.
    pub time_limit_s: f64,
    /// True if a command that ends with a code other than 0 is measured all the same.
    pub ignore_failure: bool,
    /// True if the output goes to /dev/null.
    pub discard_output: bool,
    /// True if only totals are wanted although each fault could be followed.
    pub totals_only: bool,
    /// Bytes of a base page.
    pub page_bytes: u64,
    /// Bytes of a transparent huge page; 0 where there are none.
    pub huge_page_bytes: u64,
    /// The kernel's rule for transparent huge pages: `always`, `madvise`, `never`, or empty.
    pub thp: String,
    /// Main facts of the machine.
    pub environment: BTreeMap<String, String>,
}

/// Kind of one run of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The command, followed by ptrace, which stops its processes just before they end. Its cost is no figure.
    Looked,
    /// The command, untouched.
    Clean,
    /// The command with each of its page faults followed.
    Followed,
    /// A worker: first writes of base pages, and giving them back.
    PriceBase,
    /// A worker: the same with huge pages.
    PriceHuge,
    /// A worker: zero pages, files and calls.
    PriceEvents,
    /// A worker: copies after a fork.
    PriceCow,
}

impl What {
    /// Tells whether it is a run of the command.
    pub fn is_command(self) -> bool {
        matches!(self, What::Looked | What::Clean | What::Followed)
    }
}

/// A phase of a price's worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// CPU time of the worker, in nanoseconds.
    pub cpu_ns: u64,
    /// Units done.
    pub ops: u64,
    /// Bytes that they were.
    pub bytes: u64,
    /// Minor page faults.
    pub minor_faults: u64,
}

/// One process of a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileRun {
    /// The block it belongs to; what was run before the first is negative.
    pub block: i64,
    /// Kind.
    pub what: What,
    /// Cost, if it was the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The end of what the command wrote to standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub messages: String,
    /// The phases of a price.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<String, Phase>,
    /// Why a price could not be had.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failed: String,
}
