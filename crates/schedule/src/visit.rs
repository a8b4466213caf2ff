//! A visit of an experiment: its first launches, the length of the next ones, then a block after the other until its policy or
//! its time ends.

use crate::batch::calibrate;
use crate::block::{BlockEnd, ComparisonSet, Until, launch_block};
use crate::first_launches::{Room, Scope, first_launches};
use crate::precision::{NextBlock, Policy, SetStanding};
use crate::rounds::fix_for_precision;
use crate::run::{ActiveRun, Step};
use crate::view::View;
use record::decision::{Ending, Reason, Width};
use record::plan::Plan;
use stats::{interval::LEAST_LAUNCHES, stopping::StoppingGoal};
use std::collections::BTreeSet;

/// A visit to come.
#[derive(Clone, Debug)]
pub(crate) struct Visit<'a> {
    pub experiment: &'a str,
    pub until: Until,
    pub policy: Policy,
    /// True for what was left out before.
    pub retry: bool,
    /// The comparisons that may be launched for the first time.
    pub scope: Scope,
}

impl<'a> Visit<'a> {
    pub fn new(experiment: &'a str, until: Until, policy: Policy) -> Visit<'a> {
        Visit {
            experiment,
            until,
            policy,
            retry: false,
            scope: Scope::All,
        }
    }

    /// Makes the visit.
    pub fn make(&self, run: &mut ActiveRun) -> Step {
        let begun_s = run.view().spent_s;
        self.prepare(run)?;
        let mut sets = ComparisonSet::all(&run.view(), self.experiment);
        loop {
            let view = run.view();
            let plan = &view.state.plan;
            let widths = view.forecast.widths(view.state, self.experiment);
            let standing: Vec<_> = sets
                .iter()
                .map(|set| standing(&view, set, &widths, self.until))
                .collect();
            let goal = StoppingGoal {
                precision: plan.precision,
                budget_seconds: (self.until.visit_s - begun_s).max(0.0),
            };
            let next = self.policy.choose(
                &goal,
                plan.min_launches as usize,
                &standing,
                view.spent_s - begun_s,
            );
            let finished = finished(&widths, plan);
            run.finished = finished;
            let reason = match next {
                NextBlock::End(reason) => reason,
                NextBlock::Block { set, whole } => {
                    let set = &mut sets[set];
                    // What is precise is launched once in each visit: the machine may be another by now.
                    if set.block_s.is_none() {
                        run.finished.clear();
                    }
                    match launch_block(run, set, whole, self.until)? {
                        BlockEnd::Complete => continue,
                        BlockEnd::Full => Reason::BudgetSpent,
                    }
                }
            };
            self.end(run, &sets, &widths, reason);
            return Ok(());
        }
    }

    /// Makes the first launches, and fixes the size of the next ones.
    fn prepare(&self, run: &mut ActiveRun) -> Step {
        let until_s = self.until.planned_s;
        let view = run.view();
        // What neighboring conditions need is not there for the rounds of the usual one.
        let needs =
            ComparisonSet::needs_of(&view, self.experiment, |group| view.is_neighbor(group));
        let neighbors_s: f64 = self.until.level_s.map_or(0.0, |level_s| {
            needs.iter().map(|need| need.due_s(level_s, 0)).sum()
        });
        let room = Room::of_experiment(&view, until_s, self.retry);
        first_launches(run, self.experiment, &self.scope, room)?;
        calibrate(run, self.experiment, until_s)?;
        fix_for_precision(run, self.experiment, until_s - neighbors_s)
    }

    /// Keeps the end of the experiment; later visits replace it.
    fn end(&self, run: &mut ActiveRun, sets: &[ComparisonSet], widths: &[Width], reason: Reason) {
        let view = run.view();
        let need = |set: &ComparisonSet| {
            let standing = standing(&view, set, widths, self.until);
            let is_narrow = standing
                .ranked
                .is_some_and(|width| width <= view.state.plan.precision);
            set.need(&view, standing.next_s, !is_narrow)
        };
        let open = sets.iter().filter(|set| set.is_open(&view));
        let needs = open.map(need).collect();
        let reason = final_reason(&view.state.plan, widths, reason);
        let fewest = sets.iter().min_by_key(|set| set.blocks);
        let fewest_cell = fewest.and_then(|set| {
            let group = *set.launch_groups.first()?;
            view.group(group).cells.first().copied()
        });
        let launches = fewest.map_or(0, |set| set.blocks as usize);
        run.needs.insert(self.experiment.to_owned(), needs);
        if matches!(self.policy, Policy::Least { .. }) || sets.is_empty() {
            return;
        }
        let is_of_experiment = |ending: &Ending| matches!(ending, Ending::Experiment { experiment, .. } if experiment == self.experiment);
        run.endings.retain(|ending| !is_of_experiment(ending));
        let ranked = widths.iter().filter(|width| width.ranked);
        run.endings.push(Ending::Experiment {
            experiment: self.experiment.to_owned(),
            reason,
            launches,
            fewest: fewest_cell,
            widest: ranked
                .max_by(|a, b| a.half_width.total_cmp(&b.half_width))
                .copied(),
        });
    }
}

/// The reason for the end of a visit. Sets that are closed and neighboring conditions may be wider than what ended it.
fn final_reason(plan: &Plan, widths: &[Width], reason: Reason) -> Reason {
    let mut ranked = widths.iter().filter(|width| width.ranked);
    let is_wide = ranked
        .clone()
        .any(|width| width.half_width > plan.precision);
    match reason {
        Reason::BudgetSpent => reason,
        _ if closes_on_words(plan) && ranked.all(|width| is_known(width, plan)) => Reason::Settled,
        Reason::Precise if is_wide => Reason::NothingOpen,
        _ => reason,
    }
}

/// The ranked cells of which enough is known; never a baseline.
fn finished(widths: &[Width], plan: &Plan) -> BTreeSet<usize> {
    let mut finished = BTreeSet::new();
    for width in widths.iter().filter(|width| width.ranked) {
        let stays = widths.iter().any(|other| {
            other.base == width.cell || other.cell == width.cell && !is_known(other, plan)
        });
        if !stays {
            finished.insert(width.cell);
        }
    }
    finished
}

/// Tells whether launches end with the words. A run that is watched goes on for narrower intervals.
fn closes_on_words(plan: &Plan) -> bool {
    plan.ends_on_words && plan.precision > 0.0
}

/// Tells whether a ratio is as narrow as requested, or has its word in a run that ends on words.
fn is_known(width: &Width, plan: &Plan) -> bool {
    width.half_width <= plan.precision || closes_on_words(plan) && width.settled
}

fn standing(view: &View, set: &ComparisonSet, widths: &[Width], until: Until) -> SetStanding {
    let (beside, later, launches) = (
        set.is_neighbor(view),
        until.visit_s < until.planned_s,
        set.blocks as usize,
    );
    let widest = |ranked: bool| {
        let mine = widths
            .iter()
            .filter(|width| width.ranked == ranked && set.holds(view, &[width.cell]));
        let mine = mine.filter(|width| beside || !view.is_beside(width.cell));
        mine.map(|width| width.half_width).reduce(f64::max)
    };
    let progress = || {
        // Launches of a neighbor come one after the other through all visits, also the least ones.
        let lacks = launches < LEAST_LAUNCHES && !(beside && later);
        let beyond_s =
            launches.saturating_sub(LEAST_LAUNCHES) as f64 * set.next_s(view) / set.share(view);
        if lacks {
            launches as f64 / LEAST_LAUNCHES as f64 - 1.0
        } else {
            beyond_s
        }
    };
    let progress = until.level_s.is_some().then(progress);
    // What is left over of a usual condition's time is not its neighbors'.
    let more_s = set.next_s(view) / set.share(view);
    let is_over = progress
        .zip(until.level_s)
        .is_some_and(|(progress, level_s)| progress + more_s > level_s);
    let is_served = beside && launches >= LEAST_LAUNCHES && is_over;
    let is_settled = is_settled(view, set, widths);
    SetStanding {
        open: set.is_open(view) && !is_served && !is_settled,
        due: later && set.block_s.is_none(),
        launches,
        next_s: set.next_s(view),
        ranked: widest(true),
        others: widest(false).filter(|_| !beside),
        word_s: word_s(view, set, widths),
        progress,
    }
}

/// The seconds until the next word of a set, by what its launches have shown.
fn word_s(view: &View, set: &ComparisonSet, widths: &[Width]) -> Option<f64> {
    let open = widths.iter().filter(|width| width.ranked && !width.settled);
    let foretold = open.filter(|width| set.holds(view, &[width.cell]));
    let launches = foretold.filter_map(|width| {
        let behind = width
            .word_at?
            .saturating_sub(view.forecast.launches(width.cell));
        Some(behind.max(1))
    });
    Some(launches.min()? as f64 * set.next_s(view))
}

/// Tells whether all that a run that ends on words asks of a set is known.
fn is_settled(view: &View, set: &ComparisonSet, widths: &[Width]) -> bool {
    let plan = &view.state.plan;
    let of_set = widths
        .iter()
        .filter(|width| width.ranked && set.holds(view, &[width.cell]));
    let is_open = of_set.clone().any(|width| !is_known(width, plan));
    closes_on_words(plan) && of_set.count() > 0 && !is_open
}
