//! Decisions made during a run: a line of `decisions.jsonl` each, never changed once it is written.

use crate::{outcome::Outcome, summary::Note};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

crate::read_from_json!(Decision);
crate::written_to_json!(Decision);

/// One decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// When, RFC 3339.
    pub time: String,
    /// Reason in one sentence, for the reader of the record.
    pub why: String,
    /// Decision itself.
    #[serde(flatten)]
    pub what: DecisionKind,
}

/// The reason why a launch group is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOut {
    /// The launches of an interval do not fit into the time.
    NoRoom,
    /// Its pilot was ended for taking too long.
    TooLong,
}

/// Decision. Indices are those of the plan's cells and launch groups, and of those that decisions have added.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "decision",
    rename_all = "kebab-case",
    rename_all_fields = "snake_case"
)]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum DecisionKind {
    /// Time of a launch of this group, from its pilot.
    Timed {
        launch_group: usize,
        round_s: f64,
        start_s: f64,
    },
    /// Size of each further launch of this group.
    Rounds {
        launch_group: usize,
        rounds: u32,
        warmup_rounds: u32,
    },
    /// The budget does not hold these groups.
    LeftOut {
        launch_groups: Vec<usize>,
        reason: LeftOut,
    },
    /// These groups may be launched again.
    Readmitted { launch_groups: Vec<usize> },
    /// Batch of these cells: executions in one sample.
    Batch { cells: Vec<usize>, batch: u32 },
    /// These cells will not be launched again.
    Settled { cells: Vec<usize>, outcome: Outcome },
    /// Each of these cells is launched by itself from now on, in a new group of its own; they follow in this order.
    Split {
        launch_group: usize,
        cells: Vec<usize>,
    },
    /// The run goes on where it was interrupted, with these limits.
    Resumed {
        budget_s: f64,
        /// Longest time of one launch, in seconds; where left out, it follows from the pilot.
        time_limit_s: Option<f64>,
    },
    /// The run has another time than its plan, because its functions take longer.
    Lengthened { budget_s: f64 },
    /// A worker was built, or found, for its first launch: its name, and its SHA-256 as a plan has it.
    Built { worker: String, hash: String },
    /// Another run was measuring on this machine at the same time.
    #[serde(rename = "company")]
    Contention,
    /// The end, with the signal that caused it, if one did.
    Ended {
        stopped_by: Option<i32>,
        launches: usize,
        notes: Vec<Note>,
        /// Seconds from the start of the program, if this session made every launch.
        wall_s: Option<f64>,
    },
}

/// The width of one headline ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width {
    /// Index of the baseline's cell.
    pub base: usize,
    /// Index of the cell that is compared.
    pub cell: usize,
    /// Half of the interval's width, as a share.
    pub half_width: f64,
    /// True if ranked: an ordinary method of the baseline's worker; no lower bound, other job or hidden duplicate.
    pub ranked: bool,
    /// True if what is to be said of it is known: its word holds whatever ends the launches.
    pub settled: bool,
    /// Launches in all after which its word is foretold, in a run that ends on words; `None` where it is not.
    pub word_at: Option<usize>,
}

/// The reason why nothing more is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Every ranked ratio is as narrow as requested.
    Precise,
    /// Every ranked ratio has its word, in a run that ends on words.
    Settled,
    /// The next launch would not end within the budget.
    BudgetSpent,
    /// Every comparison set has had its most launches, or has no cell left.
    NothingOpen,
}

/// One end.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum Ending {
    Experiment {
        experiment: String,
        reason: Reason,
        /// Launches of its least launched comparison set.
        launches: usize,
        /// Its widest ranked ratio, if any could be measured.
        widest: Option<Width>,
    },
    Claims {
        /// Undecided comparisons that more launches should decide.
        likely: usize,
        /// Undecided comparisons whose estimate lies near an edge.
        near_edge: usize,
        launches: usize,
    },
}
