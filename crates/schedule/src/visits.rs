//! The tour of an ordinary run. Every comparison first has the launches of an interval, then every experiment is visited in
//! its share of the time. Several experiments are visited more than once: a machine changes over minutes, and launches of one
//! of them would show nothing of it (docs/decisions/0016-a-run-comes-back-to-its-experiments.md).

use crate::action::{Action, StepResult};
use crate::block::{ComparisonSet, LaunchBlock, Next, Until};
use crate::constants::{LONGER, PLANNED_SHARE, VISITS};
use crate::neighbors::Neighbors;
use crate::pilot::{Pilots, Room, Scope};
use crate::precision::{NextBlock, Policy, SetStanding};
use crate::rounds::Sizing;
use crate::shares::{self, SetNeed};
use crate::{Shared, Task, batch::BatchCalibration, names, view::View};
use record::decision::{Ending, LeftOut, Reason, Width};
use record::plan::Plan;
use record::state::Stage;
use stats::{interval::LEAST_LAUNCHES, stopping::StoppingGoal};
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(crate) struct Tour {
    stop: Stop,
    weights: Vec<f64>,
    /// In the overview, the seconds of a usual condition beyond its least launches.
    level_s: Option<f64>,
    visits: Visits,
    spent_s: Vec<f64>,
    /// The experiment of the visit under way, and the second at which that began.
    under_way: Option<(usize, f64)>,
}

/// The least launches of everything, whatever they take.
const LEAST: Policy = Policy::Least {
    longest_s: f64::INFINITY,
};

/// The next stop of a tour. Numbers of experiments are those of the plan.
#[derive(Debug, Default)]
enum Stop {
    #[default]
    Pilots,
    /// The shares of the experiments.
    Share,
    /// The least launches of an experiment.
    Least(usize),
    /// A comparison that was left out, in the time that others left over; the next one last.
    Again(Vec<(usize, Vec<usize>)>),
    /// The least launches of an experiment whose groups were readmitted.
    Retry(usize, Vec<(usize, Vec<usize>)>),
    Visit(usize, usize),
    /// The least launches that usual conditions still lack after the first visits, from this experiment on; then the choice among
    /// neighboring ones.
    LeastUsual(usize),
    /// The first launches under neighboring conditions, between the first visits and the second ones.
    Neighbors(Neighbors),
    /// The least launches under them.
    LeastBeside(Neighbors),
    /// The groups of an experiment that are still left out.
    TakeUp(usize),
    /// One more visit of that experiment.
    Last(usize),
}

impl Tour {
    pub fn step(&mut self, view: &View, shared: &mut Shared) -> StepResult {
        let names = names(view.state);
        // Whatever was launched since the last step was of that visit.
        if let Some((place, begun_s)) = self.under_way.take() {
            self.spent_s[place] += view.spent_s - begun_s;
        }
        loop {
            let (next, step) = match std::mem::take(&mut self.stop) {
                Stop::Pilots if view.state.plan.sweeps() => {
                    let room = Room::of_experiment(view, view.state.budget_s, false);
                    let pilots = first_launches(view, &names, room);
                    (Stop::Share, Some(StepResult::After(pilots)))
                }
                Stop::Pilots => (Stop::Share, None),
                Stop::Share => {
                    (self.weights, self.level_s) = weights(view, &names);
                    self.spent_s = vec![0.0; names.len()];
                    let least_first = !view.state.plan.sweeps() && names.len() > 1;
                    (
                        if least_first {
                            Stop::Least(0)
                        } else {
                            self.first_visit(view)
                        },
                        None,
                    )
                }
                Stop::Least(place) if place == names.len() => {
                    (Stop::Again(lacking(view, &names)), None)
                }
                Stop::Least(place) => {
                    let share = self.weights[place] / self.weights[place..].iter().sum::<f64>();
                    let until = Until::all(view.spent_s + view.left_s().max(0.0) * share);
                    let visit = Visit::new(view, &names[place], until, LEAST);
                    (Stop::Least(place + 1), Some(at(visit)))
                }
                Stop::Again(mut rest) => match rest.pop() {
                    None => (self.first_visit(view), None),
                    Some((place, groups)) => (
                        Stop::Retry(place, rest),
                        Some(StepResult::Do(Action::Readmit(groups))),
                    ),
                },
                Stop::Retry(place, rest) => {
                    let until = Until::all(view.state.budget_s);
                    let visit = Visit {
                        retry: true,
                        ..Visit::new(view, &names[place], until, LEAST)
                    };
                    (Stop::Again(rest), Some(at(visit)))
                }
                Stop::Visit(visit, place) => self.visit(view, shared, &names, (visit, place)),
                Stop::LeastUsual(place) if place == names.len() || !view.state.plan.usual_first => {
                    (Stop::Neighbors(Neighbors::new(view, &names)), None)
                }
                Stop::LeastUsual(place) => {
                    let until = Until::all(view.state.budget_s);
                    let visit = Visit {
                        scope: Scope::Usual,
                        ..Visit::new(view, &names[place], until, LEAST)
                    };
                    (Stop::LeastUsual(place + 1), Some(at(visit)))
                }
                Stop::Neighbors(mut beside) => match beside.next(view, &names) {
                    Some(pilots) => (Stop::Neighbors(beside), Some(pilots)),
                    None => {
                        beside.places.reverse();
                        (Stop::LeastBeside(beside), None)
                    }
                },
                Stop::LeastBeside(mut beside) => match beside.places.pop() {
                    None => (Stop::Visit(1, 0), None),
                    Some(place) => {
                        let policy = Policy::Least {
                            longest_s: beside.longest_s(),
                        };
                        let until = Until::all(beside.until_s);
                        let visit = Visit {
                            scope: Scope::These(Vec::new()),
                            ..Visit::new(view, &names[place], until, policy)
                        };
                        (Stop::LeastBeside(beside), Some(at(visit)))
                    }
                },
                Stop::TakeUp(place) if place == names.len() => return StepResult::Done,
                Stop::TakeUp(place) => {
                    let mine = view.groups_of(&names[place]).into_iter();
                    let groups: Vec<usize> = mine
                        .filter(|&group| view.stage(group).is_left_out())
                        .collect();
                    let fits = view.left_s() >= LONGER * self.visits.shares_s[place];
                    let taken = fits && !groups.is_empty();
                    (
                        if taken {
                            Stop::Last(place)
                        } else {
                            Stop::TakeUp(place + 1)
                        },
                        taken.then_some(StepResult::Do(Action::Readmit(groups))),
                    )
                }
                Stop::Last(place) => {
                    let until = Until::all(view.state.budget_s);
                    let visit = Visit::new(view, &names[place], until, Policy::Precise);
                    (Stop::TakeUp(place + 1), Some(at(visit)))
                }
            };
            self.stop = next;
            if let Some(step) = step {
                return step;
            }
        }
    }

    fn first_visit(&mut self, view: &View) -> Stop {
        let has_neighbors =
            (0..view.state.launch_groups.len()).any(|group| view.is_neighbor(group));
        self.visits = Visits::new(&self.weights, view.left_s(), has_neighbors);
        Stop::Visit(0, 0)
    }

    fn visit(
        &mut self,
        view: &View,
        shared: &mut Shared,
        names: &[String],
        (visit, place): (usize, usize),
    ) -> (Stop, Option<StepResult>) {
        if visit == self.visits.ends.len() {
            return (Stop::TakeUp(0), None);
        }
        if let (1.., 0, Some(level_s)) = (visit, place, &mut self.level_s) {
            let needs: Vec<&[SetNeed]> = names
                .iter()
                .map(|name| shared.needs.get(name).map_or(&[][..], |all| all))
                .collect();
            let visits = self.visits.ends.len() - visit;
            *level_s = shares::level_s(needs.iter().copied().flatten(), visits, view.left_s());
            let due_s = |all: &[SetNeed]| {
                all.iter()
                    .map(|need| need.due_s(*level_s, visits))
                    .sum::<f64>()
            };
            self.visits.shares_s = self
                .spent_s
                .iter()
                .zip(needs)
                .map(|(spent_s, all)| spent_s + due_s(all))
                .collect();
        }
        let next = match names.get(place + 1) {
            Some(_) => Stop::Visit(visit, place + 1),
            None if visit == 0 && self.visits.ends.len() > 1 => Stop::LeastUsual(0),
            None => Stop::Visit(visit + 1, 0),
        };
        self.under_way = Some((place, view.spent_s));
        let (planned_s, visit_s) =
            self.visits
                .time(visit, place, &self.spent_s, view.left_s().max(0.0));
        let (planned_s, visit_s) = (view.spent_s + planned_s, view.spent_s + visit_s);
        let until = Until {
            planned_s,
            visit_s,
            level_s: self.level_s,
        };
        let task = Visit {
            scope: if view.state.plan.usual_first {
                Scope::Usual
            } else {
                Scope::All
            },
            ..Visit::new(view, &names[place], until, Policy::Precise)
        };
        (next, Some(at(task)))
    }
}

/// The first launches of everything: of an experiment after the other, but of articles in the order of their rows, whichever
/// experiment these are of.
fn first_launches(view: &View, names: &[String], room: Room) -> Vec<Task> {
    if view.state.plan.articles.is_empty() {
        let pilots = names
            .iter()
            .map(|name| Pilots::new(view, name, Scope::Usual, room));
        return pilots.map(Task::Pilots).collect();
    }
    let mut rows: Vec<(&String, Vec<usize>)> = Vec::new();
    for name in names {
        rows.extend(view.comparisons(name).into_iter().map(|set| (name, set)));
    }
    rows.sort_by_key(|(_, set)| {
        let cells = set.iter().flat_map(|&group| &view.group(group).cells);
        cells.min().copied()
    });
    let pilots = rows
        .into_iter()
        .map(|(name, set)| Pilots::new(view, name, Scope::These(set), room));
    pilots.map(Task::Pilots).collect()
}

fn at(visit: Visit) -> StepResult {
    StepResult::After(vec![Task::Visit(visit)])
}

/// The shares of the budget: each experiment's need, or its jobs' sizes. In the overview every question has its least launches
/// and a share of the rest, which is the second figure.
fn weights(view: &View, names: &[String]) -> (Vec<f64>, Option<f64>) {
    let plan = &view.state.plan;
    if !plan.sweeps() {
        let needed: Vec<f64> = plan
            .experiments
            .iter()
            .map(|experiment| experiment.needed_s())
            .collect();
        let fits = needed.iter().sum::<f64>() <= view.state.budget_s;
        return (
            if fits {
                needed
            } else {
                names.iter().map(|name| view.by_size_s(name)).collect()
            },
            None,
        );
    }
    let needs: Vec<Vec<SetNeed>> = names
        .iter()
        .map(|name| ComparisonSet::needs_of(view, name, |_| true))
        .collect();
    let level_s = shares::level_s(needs.iter().flatten(), 0, view.left_s() * PLANNED_SHARE);
    let due_s =
        |all: &Vec<SetNeed>| all.iter().map(|need| need.due_s(level_s, 0)).sum::<f64>() + 1e-3;
    (needs.iter().map(due_s).collect(), Some(level_s))
}

/// The comparisons that were left out, the shortest last, whichever experiment they are of. Guessed by size before a pilot;
/// a pilot that took too long is longer than all others.
fn lacking(view: &View, names: &[String]) -> Vec<(usize, Vec<usize>)> {
    let group_s = |&group: &usize| match view.stage(group) {
        Stage::LeftOut {
            reason: LeftOut::TooLong,
            ..
        } => f64::INFINITY,
        stage if stage.cost().is_some() => view.one_round_s(group),
        _ => view
            .alive(group)
            .into_iter()
            .map(|cell| view.guess_s(cell))
            .sum(),
    };
    let mut lacking: Vec<(f64, usize, Vec<usize>)> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let sets = view.comparisons(name).into_iter();
        let left_out = sets.filter(|set| set.iter().any(|&group| view.stage(group).is_left_out()));
        lacking.extend(left_out.map(|set| (set.iter().map(group_s).sum(), place, set)));
    }
    lacking.sort_by(|a, b| b.0.total_cmp(&a.0));
    lacking
        .into_iter()
        .map(|(_, place, set)| (place, set))
        .collect()
}

#[derive(Clone, Debug, Default)]
struct Visits {
    /// The share of each experiment, in seconds.
    shares_s: Vec<f64>,
    /// The share of its time that an experiment has had after each visit.
    ends: &'static [f64],
}

impl Visits {
    /// The time left, shared out by these weights.
    fn new(weights: &[f64], left_s: f64, has_neighbors: bool) -> Visits {
        let left_s = left_s.max(0.0);
        let shares_s = weights
            .iter()
            .map(|weight| left_s * weight / weights.iter().sum::<f64>())
            .collect();
        let several = VISITS
            .iter()
            .rev()
            .find(|(from_s, _)| left_s >= *from_s)
            .map_or(VISITS[0].1, |(_, ends)| ends);
        Visits {
            shares_s,
            ends: if weights.len() < 2 && !has_neighbors {
                &[1.0]
            } else {
                several
            },
        }
    }

    fn owed_s(&self, place: usize, spent_s: &[f64]) -> f64 {
        (self.shares_s[place] - spent_s[place]).max(0.0)
    }

    /// The seconds that an experiment has left in all and in this visit, after what each has spent, with `left_s` of the run
    /// left. The last visits also share out what others left over.
    fn time(&self, visit: usize, place: usize, spent_s: &[f64], left_s: f64) -> (f64, f64) {
        let owed_s = self.owed_s(place, spent_s);
        if visit + 1 < self.ends.len() {
            let before = visit.checked_sub(1).map_or(0.0, |before| self.ends[before]);
            let part = (self.ends[visit] - before) / (1.0 - before);
            return (owed_s.min(left_s), (owed_s * part).min(left_s));
        }
        let rest_s: f64 = (place..self.shares_s.len())
            .map(|other| self.owed_s(other, spent_s))
            .sum();
        let mine_s = left_s * owed_s / rest_s.max(1e-9);
        (mine_s, mine_s)
    }
}

#[derive(Debug)]
pub(crate) struct Visit {
    experiment: String,
    until: Until,
    policy: Policy,
    begun_s: f64,
    retry: bool,
    /// The comparisons that may be launched for the first time.
    scope: Scope,
    /// Absent while pilots are made.
    sets: Option<Vec<ComparisonSet>>,
    prepared: bool,
    block: Option<LaunchBlock>,
    /// The widths before the block under way.
    widths: Vec<Width>,
}

impl Visit {
    pub fn new(view: &View, experiment: &str, until: Until, policy: Policy) -> Visit {
        Visit {
            experiment: experiment.to_owned(),
            until,
            policy,
            begun_s: view.spent_s,
            retry: false,
            scope: Scope::All,
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
            // What neighboring conditions need is not there for the rounds of the usual one.
            let beside = ComparisonSet::needs_of(view, name, |group| view.is_neighbor(group));
            let beside_s = |level_s| beside.iter().map(|need| need.due_s(level_s, 0)).sum();
            let beside_s: f64 = self.until.level_s.map_or(0.0, beside_s);
            let room = Room::of_experiment(view, until_s, self.retry);
            return StepResult::After(vec![
                Task::Pilots(Pilots::new(view, name, self.scope.clone(), room)),
                Task::Calibration(BatchCalibration::new(name, until_s)),
                Task::Sizing(Sizing::Precision {
                    experiment: name.clone(),
                    until_s: until_s - beside_s,
                }),
            ]);
        }
        let sets = self
            .sets
            .get_or_insert_with(|| ComparisonSet::all(view, &self.experiment));
        if let Some(block) = &mut self.block {
            let set = &mut sets[block.set];
            match block.next(view, shared, set, self.until) {
                Next::Launch(launch) => return StepResult::Do(Action::Launch(launch)),
                Next::Full => {
                    self.end(view, shared, Reason::BudgetSpent);
                    return StepResult::Done;
                }
                Next::Complete => self.block = None,
            }
        }
        self.choose(view, shared)
    }

    fn choose(&mut self, view: &View, shared: &mut Shared) -> StepResult {
        let sets = self.sets.as_deref().unwrap_or_default();
        let plan = &view.state.plan;
        self.widths = view.forecast.widths(view.state, &self.experiment);
        shared.finished = finished(&self.widths, plan);
        let standing: Vec<_> = sets
            .iter()
            .map(|set| standing(view, set, &self.widths, self.until))
            .collect();
        let budget_seconds = (self.until.visit_s - self.begun_s).max(0.0);
        let goal = StoppingGoal {
            precision: plan.precision,
            budget_seconds,
        };
        match self.policy.choose(
            &goal,
            plan.min_launches as usize,
            &standing,
            view.spent_s - self.begun_s,
        ) {
            NextBlock::Block { set, whole } => {
                // What is precise is launched once in each visit: the machine may be another by now.
                if sets[set].block_s.is_none() {
                    shared.finished.clear();
                }
                self.block = Some(LaunchBlock::new(view, sets, set, whole));
                StepResult::After(Vec::new())
            }
            NextBlock::End(reason) => {
                self.end(view, shared, reason);
                StepResult::Done
            }
        }
    }

    /// Keeps the end of the experiment; later visits replace it.
    fn end(&self, view: &View, shared: &mut Shared, reason: Reason) {
        let sets = self.sets.as_deref().unwrap_or_default();
        let need = |set: &ComparisonSet| {
            let standing = standing(view, set, &self.widths, self.until);
            let is_narrow = standing
                .ranked
                .is_some_and(|width| width <= view.state.plan.precision);
            set.need(view, standing.next_s, !is_narrow)
        };
        shared.needs.insert(
            self.experiment.clone(),
            sets.iter()
                .filter(|set| set.is_open(view))
                .map(need)
                .collect(),
        );
        if matches!(self.policy, Policy::Least { .. }) || sets.is_empty() {
            return;
        }
        let ranked = self.widths.iter().filter(|width| width.ranked);
        let widest = ranked.max_by(|a, b| a.half_width.total_cmp(&b.half_width));
        // Sets that are closed and neighboring conditions may be wider than what ended the visit.
        let is_wide = widest.is_some_and(|width| width.half_width > view.state.plan.precision);
        let plan = &view.state.plan;
        let mut ranked = self.widths.iter().filter(|width| width.ranked);
        let reason = match reason {
            Reason::BudgetSpent => reason,
            _ if closes_on_words(plan) && ranked.all(|width| is_known(width, plan)) => {
                Reason::Settled
            }
            Reason::Precise if is_wide => Reason::NothingOpen,
            _ => reason,
        };
        let mine = |ending: &Ending| matches!(ending, Ending::Experiment { experiment, .. } if *experiment == self.experiment);
        shared.endings.retain(|ending| !mine(ending));
        shared.endings.push(Ending::Experiment {
            experiment: self.experiment.clone(),
            reason,
            launches: self
                .sets
                .iter()
                .flatten()
                .map(|set| set.blocks as usize)
                .min()
                .unwrap_or(0),
            widest: widest.copied(),
        });
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
        progress,
    }
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
