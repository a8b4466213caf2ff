//! A run under way, as its policies see it: the moment, what they have found out, and the two things that they can do.

use crate::launch::Launch;
use crate::shares::SetNeed;
use crate::{Facts, Moment, view::View};
use record::cell::Cell;
use record::decision::{DecisionKind, Ending, LeftOut};
use record::state::State;
use std::collections::{BTreeMap, BTreeSet};

/// Carries out launches and decisions, and keeps them. It decides nothing.
pub trait Executor {
    /// The run as it is now.
    fn moment(&self) -> Moment<'_>;

    /// Makes a launch, and follows what it shows; nothing where none of its cells is left.
    /// Errors: the run ends here, or begins to be planned anew.
    fn launch(&mut self, launch: &Launch) -> Step;

    /// Keeps a decision with its reason, and follows it.
    /// Errors: the same.
    fn decide(&mut self, why: &'static str, what: DecisionKind) -> Step;
}

/// The reason why a policy does not go on.
#[derive(Debug)]
pub enum Halt {
    /// The user ends the run.
    Stopped,
    /// The time of the run has changed: it is planned anew, with what it has.
    Changed,
    /// The run cannot go on.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Halt {
    fn from(error: anyhow::Error) -> Halt {
        Halt::Failed(error)
    }
}

/// Nothing, or the reason why there is nothing more.
pub type Step = Result<(), Halt>;

/// A run under way.
pub(crate) struct ActiveRun<'a> {
    executor: &'a mut dyn Executor,
    facts: &'a Facts,
    /// Cells that are precise or decided and leave the launches.
    pub finished: BTreeSet<usize>,
    /// Launch groups that have no turn in this pass of a run of claims.
    pub waiting: BTreeSet<usize>,
    /// The ends of experiments up to now.
    pub endings: Vec<Ending>,
    /// The needs of each experiment's comparisons at the end of its last visit.
    pub needs: BTreeMap<String, Vec<SetNeed>>,
}

impl<'a> ActiveRun<'a> {
    pub fn new(executor: &'a mut dyn Executor, facts: &'a Facts) -> ActiveRun<'a> {
        ActiveRun {
            executor,
            facts,
            finished: BTreeSet::new(),
            waiting: BTreeSet::new(),
            endings: Vec::new(),
            needs: BTreeMap::new(),
        }
    }

    pub fn view(&self) -> View<'_> {
        View {
            moment: self.executor.moment(),
            facts: self.facts,
        }
    }

    pub fn launch(&mut self, launch: &Launch) -> Step {
        self.executor.launch(launch)
    }

    pub fn decide(&mut self, why: &'static str, what: DecisionKind) -> Step {
        self.executor.decide(why, what)
    }

    /// Leaves out the groups that the budget does not hold, if there are some.
    pub fn leave_out(&mut self, launch_groups: Vec<usize>) -> Step {
        if launch_groups.is_empty() {
            return Ok(());
        }
        let reason = LeftOut::NoRoom;
        self.decide(
            "the launches of an interval do not fit into the budget",
            DecisionKind::LeftOut {
                launch_groups,
                reason,
            },
        )
    }

    /// Tries groups again that were left out.
    pub fn readmit(&mut self, launch_groups: Vec<usize>) -> Step {
        self.decide(
            "time is left over",
            DecisionKind::Readmitted { launch_groups },
        )
    }
}

/// The names of the experiments of a plan, in its order.
pub(crate) fn names(state: &State) -> Vec<String> {
    let experiments = state.plan.experiments.iter();
    experiments
        .map(|experiment| experiment.name.clone())
        .collect()
}

/// The cells of a group in a block. Finished ones leave after the least launches; baseline, twin and unranked stay.
pub(crate) fn taking_part(
    state: &State,
    finished: &BTreeSet<usize>,
    launch_group: usize,
    block: i32,
) -> Vec<usize> {
    let mut cells = state.alive(launch_group);
    if u32::try_from(block).is_ok_and(|block| block >= state.plan.min_launches) {
        cells.retain(|cell| !finished.contains(cell));
    }
    cells
}

/// Parameters of a cell without its batch, which a decision may change.
pub(crate) fn plain(cell: &Cell) -> BTreeMap<&str, &str> {
    let plain = cell
        .parameters
        .iter()
        .filter(|(key, _)| *key != record::plan::BATCH);
    plain
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect()
}
