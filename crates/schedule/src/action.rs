//! The actions of a scheduler.

use crate::Task;
use record::decision::{DecisionKind, Ending, LeftOut};

/// The block of launches that are kept but only show the cost of a launch.
pub const PILOT: i32 = -1;
/// The block of launches that show the length of a batched sample.
pub(crate) const CALIBRATION: i32 = -2;

/// One launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launch {
    /// Index of the launch group in the plan.
    pub launch_group: usize,
    /// The block; negative ones are not judged.
    pub block: i32,
    /// Measured rounds of a launch.
    pub rounds: u32,
    /// Rounds of a launch that are recorded and not judged.
    pub warmup_rounds: u32,
    /// Seconds after which its group is left out, if its cost is unknown and the budget may not hold it.
    pub at_most_s: Option<f64>,
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum Action {
    /// A launch that shows what later launches cost.
    Pilot(Launch),
    /// A launch that is judged.
    Launch(Launch),
    /// The length of each further launch of a group.
    FixRounds {
        launch_group: usize,
        rounds: u32,
        warmup_rounds: u32,
        why: Why,
    },
    /// Batch of cells: executions in one sample.
    FixBatch { cells: Vec<usize>, batch: u32 },
    /// Groups that the budget does not hold.
    LeaveOut(Vec<usize>),
    /// Groups that were left out and are tried again.
    Readmit(Vec<usize>),
    /// Nothing more, with the end of every experiment.
    End(Vec<Ending>),
}

/// The rule by which rounds are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A launch is worth its start, and the planned launches fit.
    WorthItsStart,
    /// A run of claims prefers more launches.
    MoreLaunches,
}

impl Action {
    /// The decision to be kept before it is followed, with its reason; absent for launches and the end.
    pub fn decision(&self) -> Option<(&'static str, DecisionKind)> {
        Some(match self.clone() {
            Action::FixRounds {
                launch_group,
                rounds,
                warmup_rounds,
                why,
            } => {
                let why = match why {
                    Why::WorthItsStart => {
                        "a launch is worth its start, and about ten of every group fit into the budget"
                    }
                    Why::MoreLaunches => {
                        "a launch is worth its start; more launches say more than longer ones"
                    }
                };
                (
                    why,
                    DecisionKind::Rounds {
                        launch_group,
                        rounds,
                        warmup_rounds,
                    },
                )
            }
            Action::FixBatch { cells, batch } => {
                let why =
                    "samples are short against a timer tick and long against a read of the clock";
                (why, DecisionKind::Batch { cells, batch })
            }
            Action::LeaveOut(launch_groups) => {
                let why = "the launches of an interval do not fit into the budget";
                (
                    why,
                    DecisionKind::LeftOut {
                        launch_groups,
                        reason: LeftOut::NoRoom,
                    },
                )
            }
            Action::Readmit(launch_groups) => (
                "time is left over",
                DecisionKind::Readmitted { launch_groups },
            ),
            Action::Pilot(_) | Action::Launch(_) | Action::End(_) => return None,
        })
    }
}

pub(crate) enum StepResult {
    Do(Action),
    /// Other tasks first, in this order; then the task goes on.
    After(Vec<Task>),
    Replace(Task),
    Done,
}
