//! State of a run: its plan and all decisions since. A pure function of the two.

use crate::decision::{Decision, DecisionKind, LeftOut};
use crate::plan::{BATCH, MOST_CELLS, Plan, PlannedCell};
use crate::summary::Note;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

/// The time of a launch group's launches, as its pilot or first launch showed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchCost {
    /// Time of one round, in seconds.
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
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum Stage {
    /// Nothing is known of its launches.
    Planned,
    /// A pilot showed its cost.
    Piloted(LaunchCost),
    /// The budget does not hold it.
    LeftOut {
        /// Reason for leaving it out.
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
    /// Cost of a launch, as far as it is known.
    pub fn cost(self) -> Option<LaunchCost> {
        match self {
            Stage::Piloted(cost) => Some(cost),
            Stage::LeftOut { cost, .. } | Stage::Sized { cost, .. } => cost,
            Stage::Planned | Stage::Split => None,
        }
    }

    /// True if the rounds of its launches are fixed.
    pub fn is_sized(self) -> bool {
        matches!(self, Stage::Sized { .. })
    }

    /// True if the budget does not hold it.
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
    /// Name of the experiment.
    pub experiment: String,
    /// Indices of its cells; none after a split.
    pub cells: Vec<usize>,
    /// True if each sample has a process of its own.
    pub fresh: bool,
    /// The group whose launch died, where this one tries a cell of it by itself.
    pub split_from: Option<usize>,
    /// Stage of its planning.
    pub stage: Stage,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// Number of the signal that ended the run, if one did.
    pub stopped_by: Option<i32>,
    /// Number of launches.
    pub launches: usize,
    /// Remarks on the whole.
    pub notes: Vec<Note>,
    /// Seconds from the start of the program to the end; absent where it was resumed.
    pub wall_s: Option<f64>,
}

/// A run as it is now.
#[derive(Clone, Debug)]
pub struct State {
    /// Plan, which never changes.
    pub plan: Plan,
    /// SHA-256 of each worker used: those of the plan, and those that were built since.
    pub workers: BTreeMap<String, String>,
    /// Cells of the plan with the batches that were decided.
    pub cells: Vec<PlannedCell>,
    /// Groups of the plan, and those that splits added.
    pub launch_groups: Vec<GroupState>,
    /// Time that the run may take, in seconds.
    pub budget_s: f64,
    /// Longest time of one launch, in seconds; `None` where it follows from the pilot.
    pub time_limit_s: Option<f64>,
    /// True if another run was measuring at the same time.
    pub had_contention: bool,
    /// Decisions that were applied.
    pub decisions: usize,
    /// Set once nothing more is launched; a run that was killed never is.
    pub ended: Option<RunEnd>,
}

impl State {
    /// State at the start of a run.
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
            workers: plan.workers.clone(),
            cells: plan.cells.clone(),
            budget_s: plan.budget_s,
            time_limit_s: plan.time_limit_s,
            had_contention: false,
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

    /// Applies one decision. Errors: it names a cell or group that does not exist.
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
            DecisionKind::Built { worker, hash } => {
                self.workers.insert(worker.clone(), hash.clone());
            }
            DecisionKind::Contention => self.had_contention = true,
            DecisionKind::Split {
                launch_group,
                cells,
            } => self.split(*launch_group, cells)?,
            DecisionKind::Resumed {
                budget_s,
                time_limit_s,
            } => {
                self.time_limit_s = *time_limit_s;
                self.give_time(*budget_s);
                self.ended = None;
            }
            DecisionKind::Lengthened { budget_s } => self.give_time(*budget_s),
            DecisionKind::Ended {
                stopped_by,
                launches,
                notes,
                wall_s,
            } => {
                self.ended = Some(RunEnd {
                    stopped_by: *stopped_by,
                    launches: *launches,
                    notes: notes.clone(),
                    wall_s: *wall_s,
                });
            }
        }
        Ok(())
    }

    /// Gives the run another time: groups that did not fit into the one before may be launched again.
    fn give_time(&mut self, budget_s: f64) {
        self.budget_s = budget_s;
        for group in &mut self.launch_groups {
            group.stage = group.stage.readmitted();
        }
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
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::cell::Cell;
    use crate::kind::Kind;
    use crate::method::Method;
    use crate::outcome::{Outcome, Status};
    use crate::plan::{LAUNCHES, LaunchGroup, SCHEMA};

    fn plan(cells: usize, rounds: Option<u32>) -> Plan {
        let method = Method::parse("method\tx\ty\tphases=map\tkeys=batch:count").unwrap();
        let parameters = [(BATCH, "1")].into();
        let cell = Cell {
            experiment: "x".to_owned(),
            method: "y".to_owned(),
            worker: "c-O3".to_owned(),
            parameters,
        };
        let one = PlannedCell {
            cell,
            method,
            twin: false,
            free_batch: true,
            proves: false,
            outcome: None,
        };
        Plan {
            schema: SCHEMA,
            kind: Kind::Run,
            run: "r".to_owned(),
            created: String::new(),
            version: String::new(),
            seed: 1,
            budget_s: 10.0,
            precision: 0.01,
            margin: 0.02,
            time_limit_s: None,
            min_launches: LAUNCHES.0,
            max_launches: LAUNCHES.1,
            rounds,
            usual_first: false,
            short: false,
            ends_on_words: false,
            articles: Vec::new(),
            allow_system_changes: false,
            keep_environment: false,
            baselines: BTreeMap::new(),
            workers: BTreeMap::new(),
            files: BTreeMap::new(),
            experiments: Vec::new(),
            cells: vec![one; cells],
            launch_groups: vec![LaunchGroup {
                experiment: "x".to_owned(),
                cells: (0..cells).collect(),
                fresh: false,
            }],
        }
    }

    fn after(plan: Plan, what: &[DecisionKind]) -> Result<State> {
        let decision = |what: &DecisionKind| Decision {
            time: String::new(),
            why: String::new(),
            what: what.clone(),
        };
        State::after(plan, &what.iter().map(decision).collect::<Vec<_>>())
    }

    fn timed() -> DecisionKind {
        DecisionKind::Timed {
            launch_group: 0,
            round_s: 0.5,
            start_s: 0.1,
        }
    }

    fn split() -> DecisionKind {
        DecisionKind::Split {
            launch_group: 0,
            cells: vec![0, 2],
        }
    }

    #[test]
    fn a_group_whose_pilot_died_is_piloted_cell_by_cell() {
        let state = after(plan(3, None), &[timed(), split()]).unwrap();
        assert_eq!(state.launch_groups.len(), 3);
        assert!(state.launch_groups[0].cells.is_empty());
        let parts = &state.launch_groups[1..];
        assert_eq!(
            (&parts[0].cells[..], &parts[1].cells[..]),
            (&[0][..], &[2][..])
        );
        assert!(
            parts
                .iter()
                .all(|g| g.stage == Stage::Planned && g.split_from == Some(0)),
            "{parts:?}"
        );
    }

    #[test]
    fn a_group_that_died_later_goes_on_with_the_rounds_it_had() {
        let rounds = DecisionKind::Rounds {
            launch_group: 0,
            rounds: 20,
            warmup_rounds: 5,
        };
        let state = after(plan(3, None), &[timed(), rounds, split()]).unwrap();
        let cost = Some(LaunchCost {
            round_s: 0.5,
            start_s: 0.1,
        });
        let sized = Stage::Sized {
            cost,
            rounds: 20,
            warmup_rounds: 5,
        };
        assert!(state.launch_groups[1..].iter().all(|g| g.stage == sized));
        let fixed = Stage::Sized {
            cost: None,
            rounds: 2,
            warmup_rounds: 1,
        };
        assert_eq!(
            after(plan(1, Some(2)), &[]).unwrap().launch_groups[0].stage,
            fixed
        );
    }

    #[test]
    fn a_group_that_was_left_out_keeps_its_cost_and_a_longer_run_takes_it_up() {
        let left_out = DecisionKind::LeftOut {
            launch_groups: vec![0],
            reason: LeftOut::NoRoom,
        };
        let state = after(plan(1, None), &[timed(), left_out.clone()]).unwrap();
        let stage = state.launch_groups[0].stage;
        assert!(stage.is_left_out() && stage.cost().is_some(), "{stage:?}");
        let resumed = DecisionKind::Resumed {
            budget_s: 99.0,
            time_limit_s: None,
        };
        for what in [
            DecisionKind::Readmitted {
                launch_groups: vec![0],
            },
            resumed,
            DecisionKind::Lengthened { budget_s: 99.0 },
        ] {
            let state = after(plan(1, None), &[timed(), left_out.clone(), what]).unwrap();
            assert!(matches!(state.launch_groups[0].stage, Stage::Piloted(_)));
        }
        let sized = DecisionKind::Rounds {
            launch_group: 0,
            rounds: 3,
            warmup_rounds: 0,
        };
        let state = after(plan(1, None), &[timed(), sized, left_out]).unwrap();
        assert!(
            state.launch_groups[0].stage.is_sized(),
            "an admitted group stays"
        );
    }

    #[test]
    fn the_first_outcome_stays_and_the_last_batch_counts() {
        let settled = |status| DecisionKind::Settled {
            cells: vec![1],
            outcome: Outcome {
                status,
                cause: None,
            },
        };
        let batch = |batch| DecisionKind::Batch {
            cells: vec![0, 1],
            batch,
        };
        let what = [
            batch(3),
            settled(Status::Failed),
            settled(Status::Skipped),
            batch(40),
        ];
        let state = after(plan(2, None), &what).unwrap();
        assert_eq!(
            state.cells[1].outcome.as_ref().unwrap().status,
            Status::Failed
        );
        assert_eq!(
            (
                state.cells[0].cell.parameters[BATCH].as_str(),
                state.alive(0)
            ),
            ("40", vec![0])
        );
        assert_eq!(state.plan.cells[0].cell.parameters[BATCH], "1");
    }

    #[test]
    fn a_run_that_goes_on_has_not_ended() {
        let ended = DecisionKind::Ended {
            stopped_by: Some(2),
            launches: 0,
            notes: Vec::new(),
            wall_s: None,
        };
        let resumed = DecisionKind::Resumed {
            budget_s: 99.0,
            time_limit_s: None,
        };
        assert!(
            after(plan(1, None), std::slice::from_ref(&ended))
                .unwrap()
                .ended
                .is_some()
        );
        let state = after(plan(1, None), &[ended, resumed]).unwrap();
        assert_eq!((state.ended, state.budget_s), (None, 99.0));
    }

    #[test]
    fn a_decision_on_what_is_not_there_is_named() {
        let what = [
            timed(),
            DecisionKind::Batch {
                cells: vec![7],
                batch: 1,
            },
        ];
        let error = format!("{:#}", after(plan(2, None), &what).unwrap_err());
        assert_eq!(error, "decision 2 cannot be followed: there is no cell 7");
        let what = [DecisionKind::Split {
            launch_group: 4,
            cells: vec![0],
        }];
        assert!(after(plan(2, None), &what).is_err());
    }

    #[test]
    fn decisions_are_read_as_they_were_written() {
        let all = [
            timed(),
            split(),
            DecisionKind::Ended {
                stopped_by: None,
                launches: 0,
                notes: Vec::new(),
                wall_s: None,
            },
        ];
        for what in all {
            let decision = Decision {
                time: "2026-01-01T00:00:00Z".to_owned(),
                why: "so".to_owned(),
                what,
            };
            let line = serde_json::to_string(&decision).unwrap();
            assert_eq!(
                serde_json::from_str::<Decision>(&line).unwrap(),
                decision,
                "{line}"
            );
        }
    }
}
