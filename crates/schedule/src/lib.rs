//! The next action of a run as a pure function of its state, a forecast and the time spent.
//!
//! A [`Scheduler`] has an agenda of tasks, the last of which is under way. Each call of [`Scheduler::next`] steps that task
//! until there is an [`Action`]: a pilot, a launch, fixed rounds or a batch, groups left out, the end.
//!
//! Invariants: nothing is started here and no clock is read; the runner carries actions out and keeps them. No task sees
//! where a ratio lies: a [`Forecast`] has widths and, in a run of claims, the undecided comparisons by the rule for interim
//! analyses. So no difference can end a run, but one that ends on words, whose evidence holds whatever ends it. All constants are in `constants.rs`.
//!
//! Begin with [`Scheduler::next`]; then `visits.rs`, the tour of a run through its experiments, `pilot.rs` and `neighbors.rs`.
//! [`command`] is the policy of `try` and `profile`. Reasons: docs/decisions/0020-one-scheduler.md.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod action;
mod batch;
mod block;
mod claims;
pub mod command;
mod constants;
pub mod crossover;
pub mod lessons;
mod neighbors;
mod pilot;
mod precision;
pub mod rounds;
mod shares;
pub mod turns;
mod view;
mod visits;

use anyhow::Result;
use record::{cell::Cell, decision::Ending, state::State};
use std::collections::{BTreeMap, BTreeSet};

pub use action::{Action, Launch, PILOT};
pub use constants::LONGER;
pub use view::{Forecast, Undecided, guess_s};

use action::StepResult;
use claims::Claims;
use view::View;
use visits::Tour;

/// The purpose of a run.
#[derive(Clone, Debug)]
pub enum Purpose {
    /// Ratios as narrow as the plan requests.
    Precision,
    /// A verdict for each claim: the cells of each comparison, and true if the claim's own verdict rests on it.
    Claims(Vec<(Vec<Cell>, bool)>),
}

/// Facts about workers and cells that a plan does not have.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Workers that compile their code while they run.
    pub compiling: BTreeSet<String>,
    /// Peak memory by cell of the plan, in bytes.
    pub memory: Vec<f64>,
}

/// The state of the run at one moment, with the clock of the runner.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// Plan, groups and decisions of the run.
    pub state: &'a State,
    /// Results of launches, as far as they may decide.
    pub forecast: &'a dyn Forecast,
    /// Time that has passed, in seconds.
    pub spent_s: f64,
    /// Launches that have ended.
    pub launches: usize,
}

/// Decides the next action of one run.
#[derive(Debug)]
pub struct Scheduler {
    facts: Facts,
    agenda: Vec<Task>,
    shared: Shared,
}

/// The part of a scheduler that its tasks read and write.
#[derive(Debug, Default)]
struct Shared {
    /// Cells that are precise or decided and leave the launches.
    finished: BTreeSet<usize>,
    /// Launch groups that have no turn in this pass of a run of claims.
    waiting: BTreeSet<usize>,
    endings: Vec<Ending>,
    /// The needs of each experiment's comparisons at the end of its last visit.
    needs: BTreeMap<String, Vec<shares::SetNeed>>,
}

#[derive(Debug)]
enum Task {
    Tour(Tour),
    Claims(Claims),
    Visit(visits::Visit),
    Pilots(pilot::Pilots),
    Calibration(batch::BatchCalibration),
    Sizing(rounds::Sizing),
    Decisions(Vec<Action>),
}

impl Scheduler {
    /// Scheduler of a new or resumed run.
    pub fn new(purpose: Purpose, facts: Facts) -> Scheduler {
        let task = match purpose {
            Purpose::Precision => Task::Tour(Tour::default()),
            Purpose::Claims(comparisons) => Task::Claims(Claims::new(comparisons)),
        };
        Scheduler {
            facts,
            agenda: vec![task],
            shared: Shared::default(),
        }
    }

    /// The next action. The runner calls again after it has carried the action out.
    /// Errors: the forecast cannot be made.
    pub fn next(&mut self, moment: Moment) -> Result<Action> {
        let view = View {
            moment,
            facts: &self.facts,
        };
        while let Some(mut task) = self.agenda.pop() {
            let shared = &mut self.shared;
            let step = match &mut task {
                Task::Tour(tour) => tour.step(&view, shared),
                Task::Claims(claims) => claims.step(&view, shared)?,
                Task::Visit(visit) => visit.step(&view, shared),
                Task::Pilots(pilots) => pilots.step(&view, shared),
                Task::Calibration(calibration) => calibration.step(&view),
                Task::Sizing(sizing) => {
                    StepResult::Replace(Task::Decisions(sizing.decisions(&view)))
                }
                Task::Decisions(rest) => rest.pop().map_or(StepResult::Done, StepResult::Do),
            };
            match step {
                StepResult::Do(action) => {
                    self.agenda.push(task);
                    return Ok(action);
                }
                StepResult::After(first) => {
                    self.agenda.push(task);
                    self.agenda.extend(first.into_iter().rev());
                }
                StepResult::Replace(next) => self.agenda.push(next),
                StepResult::Done => {}
            }
        }
        Ok(Action::End(self.endings()))
    }

    /// The ends of experiments up to now: all of them after [`Action::End`], fewer if the user stops the run.
    pub fn endings(&self) -> Vec<Ending> {
        self.shared.endings.clone()
    }

    /// Indices of the cells that take part in a launch.
    pub fn cells(&self, state: &State, launch: &Launch) -> Vec<usize> {
        taking_part(
            state,
            &self.shared.finished,
            launch.launch_group,
            launch.block,
        )
    }

    /// The seconds after which a launch counts as hung.
    pub fn limit_s(&self, state: &State, launch: &Launch) -> f64 {
        let (factor, least_s) = constants::PATIENCE;
        let cost = state.launch_groups[launch.launch_group].stage.cost();
        let expected_s = cost.map_or(0.0, |cost| {
            cost.launch_s(launch.rounds + launch.warmup_rounds)
        });
        (factor * expected_s)
            .max(least_s)
            .min(launch.at_most_s.unwrap_or(f64::INFINITY))
    }
}

/// The cells of a group in a block. Finished ones leave after the least launches; baseline, twin and unranked stay.
fn taking_part(
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

fn names(state: &State) -> Vec<String> {
    state
        .plan
        .experiments
        .iter()
        .map(|experiment| experiment.name.clone())
        .collect()
}

/// Parameters of a cell without its batch, which a decision may change.
fn plain(cell: &Cell) -> BTreeMap<&str, &str> {
    let plain = cell
        .parameters
        .iter()
        .filter(|(key, _)| *key != record::plan::BATCH);
    plain
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect()
}
