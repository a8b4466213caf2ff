//! State of a run: its plan and all decisions since. A pure function of the two.

use crate::decision::{Decision, DecisionKind, LeftOut};
use crate::plan::{BATCH, MOST_CELLS, Plan, PlannedCell};
use crate::summary::Note;
use anyhow::{Context, Result, bail};

/// The time of a launch group's launches, as its pilot or first launch showed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchCost {
    pub round_s: f64,
    /// Start and end of a launch, in seconds.
    pub start_s: f64,
}

impl LaunchCost {
    /// A launch of this many rounds, discarded ones included, in seconds.
    pub fn launch_s(self, rounds: u32) -> f64 {
        self.start_s + self.round_s * f64::from(rounds)
    }
}

/// Progress of a launch group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    /// Nothing is known of its launches.
    Planned,
    Piloted(LaunchCost),
    /// The budget does not hold it.
    LeftOut {
        reason: LeftOut,
        /// Its cost, if a pilot showed it before.
        cost: Option<LaunchCost>,
    },
    /// The length of its launches is fixed.
    Sized {
        /// Its cost; absent before the first launch if the plan fixed the rounds.
        cost: Option<LaunchCost>,
        rounds: u32,
        warmup_rounds: u32,
    },
    /// A launch died: its cells have launch groups of their own.
    Split,
}

impl Stage {
    pub fn cost(self) -> Option<LaunchCost> {
        match self {
            Stage::Piloted(cost) => Some(cost),
            Stage::LeftOut { cost, .. } | Stage::Sized { cost, .. } => cost,
            Stage::Planned | Stage::Split => None,
        }
    }

    pub fn is_sized(self) -> bool {
        matches!(self, Stage::Sized { .. })
    }

    pub fn is_left_out(self) -> bool {
        matches!(self, Stage::LeftOut { .. })
    }

    fn timed(self, cost: LaunchCost) -> Stage {
        match self {
            Stage::Planned | Stage::Piloted(_) => Stage::Piloted(cost),
            Stage::LeftOut { reason, .. } => Stage::LeftOut {
                reason,
                cost: Some(cost),
            },
            Stage::Sized {
                rounds,
                warmup_rounds,
                ..
            } => Stage::Sized {
                cost: Some(cost),
                rounds,
                warmup_rounds,
            },
            Stage::Split => Stage::Split,
        }
    }

    fn left_out(self, reason: LeftOut) -> Stage {
        if self.is_sized() || self == Stage::Split {
            self
        } else {
            Stage::LeftOut {
                reason,
                cost: self.cost(),
            }
        }
    }

    fn readmitted(self) -> Stage {
        match self {
            Stage::LeftOut { cost, .. } => cost.map_or(Stage::Planned, Stage::Piloted),
            stage => stage,
        }
    }
}

/// Cells that take turns in one process, as they are launched now.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupState {
    pub experiment: String,
    /// Indices of its cells; none after a split.
    pub cells: Vec<usize>,
    pub fresh: bool,
    /// The group whose launch died, where this one tries a cell of it by itself.
    pub split_from: Option<usize>,
    pub stage: Stage,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    pub stopped_by: Option<i32>,
    pub launches: usize,
    pub notes: Vec<Note>,
}

/// A run as it is now.
#[derive(Clone, Debug)]
pub struct State {
    pub plan: Plan,
    pub cells: Vec<PlannedCell>,
    pub launch_groups: Vec<GroupState>,
    pub budget_s: f64,
    /// Longest time of one launch, in seconds; `None` where it follows from the pilot.
    pub time_limit_s: Option<f64>,
    /// True if another run was measuring at the same time.
    pub had_company: bool,
    pub decisions: usize,
    /// Set once nothing more is launched; a run that was killed never is.
    pub ended: Option<RunEnd>,
}

impl State {
    pub fn new(plan: Plan) -> State {
        let groups = plan.launch_groups.iter().map(|group| {
            let sized = |rounds: u32| Stage::Sized {
                cost: None,
                rounds: if group.fresh { 1 } else { rounds },
                warmup_rounds: u32::from(!group.fresh),
            };
            GroupState {
                experiment: group.experiment.clone(),
                cells: group.cells.clone(),
                fresh: group.fresh,
                split_from: None,
                stage: plan.rounds.map_or(Stage::Planned, sized),
            }
        });
        State {
            launch_groups: groups.collect(),
            cells: plan.cells.clone(),
            budget_s: plan.budget_s,
            time_limit_s: plan.time_limit_s,
            had_company: false,
            decisions: 0,
            ended: None,
            plan,
        }
    }

    /// The state after these decisions, in their order. One that speaks of what is not there is an error.
    pub fn after(plan: Plan, decisions: &[Decision]) -> Result<State> {
        if plan.cells.len() > MOST_CELLS {
            bail!(
                "its plan has {} cells; no run has more than {MOST_CELLS}",
                plan.cells.len()
            );
        }
        let mut state = State::new(plan);
        for (number, decision) in decisions.iter().enumerate() {
            state
                .apply(&decision.what)
                .with_context(|| format!("decision {} cannot be followed", number + 1))?;
        }
        Ok(state)
    }

    pub fn apply(&mut self, what: &DecisionKind) -> Result<()> {
        self.decisions += 1;
        match what {
            DecisionKind::Timed {
                launch_group,
                round_s,
                start_s,
            } => {
                let group = self.group(*launch_group)?;
                group.stage = group.stage.timed(LaunchCost {
                    round_s: *round_s,
                    start_s: *start_s,
                });
            }
            DecisionKind::Rounds {
                launch_group,
                rounds,
                warmup_rounds,
            } => {
                let group = self.group(*launch_group)?;
                let (cost, rounds, warmup_rounds) = (group.stage.cost(), *rounds, *warmup_rounds);
                group.stage = Stage::Sized {
                    cost,
                    rounds,
                    warmup_rounds,
                };
            }
            DecisionKind::LeftOut {
                launch_groups,
                reason,
            } => {
                for &index in launch_groups {
                    let group = self.group(index)?;
                    group.stage = group.stage.left_out(*reason);
                }
            }
            DecisionKind::Readmitted { launch_groups } => {
                for &index in launch_groups {
                    let group = self.group(index)?;
                    group.stage = group.stage.readmitted();
                }
            }
            DecisionKind::Batch { cells, batch } => {
                for &cell in cells {
                    self.cell(cell)?
                        .cell
                        .parameters
                        .insert(BATCH.to_owned(), batch.to_string());
                }
            }
            DecisionKind::Settled { cells, outcome } => {
                for &cell in cells {
                    self.cell(cell)?
                        .outcome
                        .get_or_insert_with(|| outcome.clone());
                }
            }
            DecisionKind::Company => self.had_company = true,
            DecisionKind::Split {
                launch_group,
                cells,
            } => self.split(*launch_group, cells)?,
            DecisionKind::Resumed {
                budget_s,
                time_limit_s,
            } => {
                (self.budget_s, self.time_limit_s) = (*budget_s, *time_limit_s);
                self.launch_groups
                    .iter_mut()
                    .for_each(|group| group.stage = group.stage.readmitted());
                self.ended = None;
            }
            DecisionKind::Ended {
                stopped_by,
                launches,
                notes,
            } => {
                self.ended = Some(RunEnd {
                    stopped_by: *stopped_by,
                    launches: *launches,
                    notes: notes.clone(),
                });
            }
        }
        Ok(())
    }

    fn split(&mut self, launch_group: usize, cells: &[usize]) -> Result<()> {
        for &cell in cells {
            self.cell(cell)?;
        }
        let group = self.group(launch_group)?;
        let single = GroupState {
            cells: Vec::new(),
            split_from: Some(launch_group),
            // After a pilot that died each part has a pilot of its own.
            stage: if group.stage.is_sized() {
                group.stage
            } else {
                Stage::Planned
            },
            ..group.clone()
        };
        (group.cells, group.stage) = (Vec::new(), Stage::Split);
        self.launch_groups
            .extend(cells.iter().map(|&cell| GroupState {
                cells: vec![cell],
                ..single.clone()
            }));
        Ok(())
    }

    fn group(&mut self, index: usize) -> Result<&mut GroupState> {
        self.launch_groups
            .get_mut(index)
            .with_context(|| format!("there is no launch group {index}"))
    }

    fn cell(&mut self, index: usize) -> Result<&mut PlannedCell> {
        self.cells
            .get_mut(index)
            .with_context(|| format!("there is no cell {index}"))
    }

    /// The cells of a launch group that may still be launched.
    pub fn alive(&self, launch_group: usize) -> Vec<usize> {
        let cells = self.launch_groups[launch_group].cells.iter().copied();
        cells.filter(|&c| self.cells[c].outcome.is_none()).collect()
    }
}

#[cfg(test)]
#[path = "../tests/unit/state.rs"]
mod tests;
