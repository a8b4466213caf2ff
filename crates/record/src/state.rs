//! What a run has become: its plan and all that was decided since. A pure function of the two.

use anyhow::{Context, Result, bail};

use crate::decision::{Decision, What};
use crate::plan::{BATCH, Plan, PlannedCell};

/// Cells that take turns in one process, as they are launched now.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupState {
    /// The experiment of all its cells.
    pub experiment: String,
    /// Indices of its cells; none where they are tried one by one now.
    pub cells: Vec<usize>,
    /// One sample a process.
    pub fresh: bool,
    /// The group whose launch died, where this one tries a cell of it by itself.
    pub split_from: Option<usize>,
    /// Whether a pilot has shown what a round takes.
    pub timed: bool,
    /// What one round takes, in seconds.
    pub round_s: f64,
    /// What starting and ending a launch takes, in seconds.
    pub start_s: f64,
    /// Measured rounds a launch; 0 until they are chosen.
    pub rounds: u32,
    /// Discarded rounds a launch.
    pub warmup_rounds: u32,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The signal that stopped it, if one did.
    pub stopped_by: Option<i32>,
    /// What is to be told of budget and precision.
    pub notes: Vec<String>,
}

/// A run as it is now.
#[derive(Clone, Debug)]
pub struct State {
    /// The plan, as it was written.
    pub plan: Plan,
    /// The plan's cells with their batch and outcome.
    pub cells: Vec<PlannedCell>,
    /// The plan's launch groups and those that were added.
    pub launch_groups: Vec<GroupState>,
    /// Time for the whole run, in seconds.
    pub budget_s: f64,
    /// Longest time of one launch, in seconds; `None` where it follows from the pilot.
    pub time_limit_s: Option<f64>,
    /// Set once nothing more is launched; a run that was killed never is.
    pub ended: Option<Ended>,
}

impl State {
    /// The state before anything was decided.
    pub fn new(plan: Plan) -> State {
        let groups = plan.launch_groups.iter().map(|group| {
            let fixed = |rounds: u32| if group.fresh { 1 } else { rounds };
            GroupState {
                experiment: group.experiment.clone(),
                cells: group.cells.clone(),
                fresh: group.fresh,
                split_from: None,
                timed: false,
                round_s: 0.0,
                start_s: 0.0,
                rounds: plan.rounds.map_or(0, fixed),
                warmup_rounds: u32::from(plan.rounds.is_some() && !group.fresh),
            }
        });
        State {
            launch_groups: groups.collect(),
            cells: plan.cells.clone(),
            budget_s: plan.budget_s,
            time_limit_s: plan.time_limit_s,
            ended: None,
            plan,
        }
    }

    /// The state after these decisions, in their order. One that speaks of what is not there is an error.
    pub fn after(plan: Plan, decisions: &[Decision]) -> Result<State> {
        let mut state = State::new(plan);
        for (number, decision) in decisions.iter().enumerate() {
            state.apply(&decision.what).with_context(|| format!("decision {} cannot be followed", number + 1))?;
        }
        Ok(state)
    }

    /// Follows one decision.
    pub fn apply(&mut self, what: &What) -> Result<()> {
        match what {
            What::Timed { launch_group, round_s, start_s } => {
                let group = self.group(*launch_group)?;
                (group.timed, group.round_s, group.start_s) = (true, *round_s, *start_s);
            }
            What::Rounds { launch_group, rounds, warmup_rounds } => {
                let group = self.group(*launch_group)?;
                (group.rounds, group.warmup_rounds) = (*rounds, *warmup_rounds);
            }
            What::Batch { cells, batch } => {
                for &cell in cells {
                    self.cell(cell)?.cell.parameters.insert(BATCH.to_owned(), batch.to_string());
                }
            }
            What::Settled { cells, outcome } => {
                for &cell in cells {
                    self.cell(cell)?.outcome.get_or_insert_with(|| outcome.clone());
                }
            }
            What::Split { launch_group, cells } => self.split(*launch_group, cells)?,
            What::Resumed { budget_s, time_limit_s } => {
                (self.budget_s, self.time_limit_s) = (*budget_s, *time_limit_s);
                self.ended = None;
            }
            What::Ended { stopped_by, notes } => {
                self.ended = Some(Ended { stopped_by: *stopped_by, notes: notes.clone() });
            }
        }
        Ok(())
    }

    fn split(&mut self, launch_group: usize, cells: &[usize]) -> Result<()> {
        for &cell in cells {
            self.cell(cell)?;
        }
        let group = self.group(launch_group)?;
        let one = GroupState {
            cells: Vec::new(),
            split_from: Some(launch_group),
            // Where the pilot died, each part has a pilot of its own.
            timed: group.timed && group.rounds > 0,
            ..group.clone()
        };
        group.cells.clear();
        self.launch_groups.extend(cells.iter().map(|&cell| GroupState { cells: vec![cell], ..one.clone() }));
        Ok(())
    }

    fn group(&mut self, index: usize) -> Result<&mut GroupState> {
        match self.launch_groups.get_mut(index) {
            Some(group) => Ok(group),
            None => bail!("there is no launch group {index}"),
        }
    }

    fn cell(&mut self, index: usize) -> Result<&mut PlannedCell> {
        match self.cells.get_mut(index) {
            Some(cell) => Ok(cell),
            None => bail!("there is no cell {index}"),
        }
    }

    /// The cells of a launch group that may still be launched.
    pub fn alive(&self, launch_group: usize) -> Vec<usize> {
        let cells = self.launch_groups[launch_group].cells.iter().copied();
        cells.filter(|&c| self.cells[c].outcome.is_none()).collect()
    }
}
