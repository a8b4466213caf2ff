//! What is decided while a run goes on: a line of `decisions.jsonl` each, never changed once it is written.

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::summary::Note;

/// One decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// When, RFC 3339.
    pub time: String,
    /// Why, in a sentence.
    pub why: String,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What was decided. Indices are those of the plan's cells and launch groups, and of those that decisions have added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum What {
    /// What a launch of this group takes, from its pilot.
    Timed {
        /// The launch group.
        launch_group: usize,
        /// One round, in seconds.
        round_s: f64,
        /// Starting and ending the process, in seconds.
        start_s: f64,
    },
    /// How much each further launch of this group holds.
    Rounds {
        /// The launch group.
        launch_group: usize,
        /// Measured rounds.
        rounds: u32,
        /// Discarded rounds before them.
        warmup_rounds: u32,
    },
    /// How often these cells do their work in one sample.
    Batch {
        /// The cells.
        cells: Vec<usize>,
        /// Times.
        batch: u32,
    },
    /// These cells will not be launched again.
    Settled {
        /// The cells.
        cells: Vec<usize>,
        /// What became of them.
        outcome: Outcome,
    },
    /// Each of these cells is launched by itself from now on, in a new group of its own; they follow in this order.
    Split {
        /// The launch group that they leave.
        launch_group: usize,
        /// The cells.
        cells: Vec<usize>,
    },
    /// The run goes on where it was interrupted, with these limits.
    Resumed {
        /// Time for the whole run, in seconds.
        budget_s: f64,
        /// Longest time of one launch, in seconds; where left out, it follows from the pilot.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time_limit_s: Option<f64>,
    },
    /// Another run was measuring on this machine at the same time.
    Company,
    /// Nothing more is launched.
    Ended {
        /// The signal that stopped the run, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopped_by: Option<i32>,
        /// Launches that had been kept.
        launches: usize,
        /// What is to be told of budget and precision.
        notes: Vec<Note>,
    },
}
