//! One visit of an experiment: pilots of new groups, their rounds, then blocks by a policy.

use crate::action::{Action, StepResult};
use crate::block::{ComparisonSet, LaunchBlock, Next};
use crate::pilot::{Pilots, Room};
use crate::precision::{NextBlock, Policy, SetStanding};
use crate::rounds::{Sizing, shortened};
use crate::{Shared, Task, batch::BatchCalibration, constants::NEIGHBOR, view::View};
use record::ending::{Ending, Reason, Width};
use stats::stopping::StoppingGoal;
use std::collections::BTreeSet;

/// The end of a visit, in seconds of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    /// The end of the experiment's time if it had all of it at once: launches are planned by it.
    pub planned_s: f64,
    pub visit_s: f64,
}

impl Until {
    /// One visit for all the time left.
    pub fn all(end_s: f64) -> Until {
        Until { planned_s: end_s, visit_s: end_s }
    }
}

#[derive(Debug)]
pub(crate) struct Visit {
    experiment: String,
    until: Until,
    policy: Policy,
    begun_s: f64,
    retry: bool,
    /// Absent while pilots are made.
    sets: Option<Vec<ComparisonSet>>,
    prepared: bool,
    block: Option<LaunchBlock>,
    /// The widths before the block under way.
    widths: Vec<Width>,
}

impl Visit {
    pub fn new(view: &View, experiment: &str, until: Until, policy: Policy, retry: bool) -> Visit {
        Visit {
            experiment: experiment.to_owned(),
            until,
            policy,
            begun_s: view.spent_s,
            retry,
            sets: None,
            prepared: false,
            block: None,
            widths: Vec::new(),
        }
    }

    pub fn step(&mut self, view: &View, shared: &mut Shared) -> StepResult {
        if !self.prepared {
            self.prepared = true;
            let (name, until_s) = (&self.experiment, self.until.planned_s);
            let room = Room::of_experiment(view, until_s, self.retry);
            return StepResult::After(vec![
                Task::Pilots(Pilots::new(view, name, room)),
                Task::Calibration(BatchCalibration::new(name, until_s)),
                Task::Sizing(Sizing::Precision { experiment: name.clone(), until_s }),
            ]);
        }
        let sets = self.sets.get_or_insert_with(|| ComparisonSet::all(view, &self.experiment));
        if let Some(block) = &mut self.block {
            let set = &mut sets[block.set];
            match block.next(view, shared, set, self.until.visit_s) {
                Next::Launch(launch) => return StepResult::Do(Action::Launch(launch)),
                Next::Full => {
                    self.end(view, shared, Reason::BudgetSpent);
                    return StepResult::Done;
                }
                Next::Complete => self.block = None,
            }
            let shorter = shortened(view, sets, self.until.planned_s);
            if !shorter.is_empty() {
                return StepResult::After(vec![Task::Decisions(shorter)]);
            }
        }
        self.choose(view, shared)
    }

    fn choose(&mut self, view: &View, shared: &mut Shared) -> StepResult {
        let sets = self.sets.as_deref().unwrap_or_default();
        let plan = &view.state.plan;
        self.widths = view.forecast.widths(view.state, &self.experiment);
        shared.finished = precise(&self.widths, plan.precision);
        let standing: Vec<SetStanding> = sets.iter().map(|set| standing(view, set, &self.widths)).collect();
        let ranked = self.widths.iter().filter(|width| width.ranked);
        let launches = sets.iter().map(|set| set.blocks as usize).min().unwrap_or(0);
        shared.position.reached = Some((launches, ranked.map(|width| width.half_width).fold(0.0, f64::max)));
        let budget_seconds = (self.until.visit_s - self.begun_s).max(0.0);
        let goal = StoppingGoal { precision: plan.precision, budget_seconds };
        match self.policy.choose(&goal, plan.min_launches as usize, &standing, view.spent_s - self.begun_s) {
            NextBlock::Block { set, whole } => {
                self.block = Some(LaunchBlock::new(view, sets, set, whole));
                StepResult::After(Vec::new())
            }
            NextBlock::End(reason) => {
                if !sets.is_empty() {
                    self.end(view, shared, reason);
                }
                StepResult::Done
            }
        }
    }

    /// Keeps the end of the experiment; later visits replace it.
    fn end(&self, view: &View, shared: &mut Shared, reason: Reason) {
        if self.policy == Policy::Least {
            return;
        }
        let ranked = self.widths.iter().filter(|width| width.ranked);
        let widest = ranked.max_by(|a, b| a.half_width.total_cmp(&b.half_width));
        // Sets that are closed and neighboring conditions may be wider than what ended the visit.
        let is_wide = widest.is_some_and(|width| width.half_width > view.state.plan.precision);
        let reason = if reason == Reason::Precise && is_wide { Reason::NothingOpen } else { reason };
        let mine = |ending: &Ending| matches!(ending, Ending::Experiment { experiment, .. } if *experiment == self.experiment);
        shared.endings.retain(|ending| !mine(ending));
        shared.endings.push(Ending::Experiment {
            experiment: self.experiment.clone(),
            reason,
            launches: self.sets.iter().flatten().map(|set| set.blocks as usize).min().unwrap_or(0),
            widest: widest.copied(),
        });
    }
}

/// The ranked cells whose ratio is as narrow as requested; never a baseline.
fn precise(widths: &[Width], precision: f64) -> BTreeSet<usize> {
    let narrow = widths.iter().filter(|width| width.ranked && width.half_width <= precision);
    let stays =
        |cell: usize| widths.iter().any(|width| width.base == cell || width.cell == cell && width.half_width > precision);
    narrow.map(|width| width.cell).filter(|&cell| !stays(cell)).collect()
}

fn standing(view: &View, set: &ComparisonSet, widths: &[Width]) -> SetStanding {
    let widest = |ranked: bool| {
        let mine = widths.iter().filter(|width| width.ranked == ranked && set.holds(view, width.cell));
        mine.map(|width| width.half_width).reduce(f64::max)
    };
    let beside = set.launch_groups.iter().any(|&group| view.is_neighbor(group));
    SetStanding {
        open: set.is_open(view),
        launches: set.blocks as usize,
        next_s: set.next_s(view),
        ranked: widest(true).map(|width| if beside { width / NEIGHBOR.1 } else { width }),
        others: widest(false).filter(|_| !beside),
    }
}
