//! First launches: they show the cost of a group, what cannot run here, and which comparisons the budget holds. They are judged
//! as every other ([decision 30](../../../docs/decisions/0030-the-first-launch-is-judged.md)), but where a batch is chosen and for
//! claims, whose first launches are pilots. A comparison without room for the launches of an interval is left out: its time would
//! be missing elsewhere.

use crate::action::{Action, Launch, PILOT, StepResult};
use crate::constants::{
    CLAIM_PILOTS, FIRST_ROUNDS, LEAST_PILOT_S, LEAST_TIME_S, LONGER, SHORT_ROUND_S, TIMING_ROUNDS,
};
use crate::{Shared, view::View};
use record::state::Stage;
use stats::estimate::LEAST_POINTS;

/// The time of an experiment while its first launches are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Its end, in seconds of the run.
    pub until_s: f64,
    /// Seconds that the admitted comparisons need.
    held_s: f64,
    /// True if a comparison may be left out now.
    chooses: bool,
    /// Seconds of one pilot at most, if given.
    longest_s: Option<f64>,
}

impl Room {
    /// The room of an experiment. A `retry` leaves out what does not fit even if it is the first.
    pub fn of_experiment(view: &View, until_s: f64, retry: bool) -> Room {
        let plan = &view.state.plan;
        let worth_it = retry || until_s - view.spent_s >= LEAST_TIME_S;
        let chooses = !plan.sweeps() && plan.rounds.is_none() && worth_it;
        Room {
            until_s,
            held_s: if retry { f64::MIN_POSITIVE } else { 0.0 },
            chooses,
            longest_s: None,
        }
    }

    /// The room of a run of claims, which chooses among what has a pilot.
    pub fn of_claims(view: &View) -> Room {
        let (share, all) = CLAIM_PILOTS;
        let until_s = view.spent_s + view.left_s() * all;
        // The pilots of a few claims may take an even part of a pass each: in some states a launch takes seconds.
        let share = share.max(all / (2 * view.state.launch_groups.len()) as f64);
        Room {
            until_s,
            held_s: 0.0,
            chooses: false,
            longest_s: Some(view.state.budget_s * share),
        }
    }

    /// Tells whether something was admitted; the first comparison is measured however long it takes.
    fn limits(&self) -> bool {
        self.chooses && self.held_s > 0.0
    }

    fn left_s(&self, view: &View) -> f64 {
        self.until_s - view.spent_s - self.held_s
    }

    fn longest_s(&self, view: &View) -> Option<f64> {
        let most_s = (self.left_s(view) / (LEAST_POINTS + 1) as f64).max(LEAST_PILOT_S);
        self.longest_s.or_else(|| self.limits().then_some(most_s))
    }
}

/// The comparisons of an experiment that are launched for the first time.
#[derive(Clone, Debug)]
pub(crate) enum Scope {
    All,
    /// Those under the usual condition of their question.
    Usual,
    /// The one of these launch groups.
    These(Vec<usize>),
}

impl Scope {
    fn holds(&self, view: &View, comparison: &[usize]) -> bool {
        match self {
            Scope::All => true,
            Scope::Usual => !comparison.iter().any(|&group| view.is_neighbor(group)),
            Scope::These(groups) => comparison.iter().any(|group| groups.contains(group)),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Pilots {
    experiment: String,
    scope: Scope,
    room: Room,
    /// Comparisons to come, the next one last; absent before the first step.
    rest: Option<Vec<Vec<usize>>>,
    /// The comparison under way, and its group.
    comparison: Vec<usize>,
    at: usize,
    attempt: Attempt,
    /// True if a pilot is the first launch of its group, as in every run but one of claims. What a batch is chosen for stays
    /// outside: its first launches have another one.
    count: bool,
    known_groups: usize,
}

/// The launches of one group's pilot.
#[derive(Clone, Copy, Debug)]
enum Attempt {
    None,
    /// One round was launched, of this many cells.
    First(usize),
    Second,
}

impl Pilots {
    pub fn new(view: &View, experiment: &str, scope: Scope, room: Room) -> Pilots {
        Pilots {
            experiment: experiment.to_owned(),
            scope,
            room,
            rest: None,
            comparison: Vec::new(),
            at: 0,
            attempt: Attempt::None,
            count: false,
            known_groups: view.state.launch_groups.len(),
        }
    }

    pub fn step(&mut self, view: &View, shared: &mut Shared) -> StepResult {
        if self.rest.is_none() {
            self.begin(view);
        }
        loop {
            // A group whose pilot dies is split; its parts have pilots of their own.
            let parts = self.known_groups..view.state.launch_groups.len();
            self.known_groups = parts.end;
            self.comparison.extend(parts);
            while let Some(&group) = self.comparison.get(self.at) {
                if let Some(launch) = self.launch(view, shared, group) {
                    return StepResult::Do(launch);
                }
                (self.at, self.attempt) = (self.at + 1, Attempt::None);
            }
            let left_out = self.admit(view);
            self.comparison.clear();
            if !left_out.is_empty() {
                return StepResult::Do(Action::LeaveOut(left_out));
            }
            let Some(next) = self.rest.as_mut().and_then(Vec::pop) else {
                return StepResult::Done;
            };
            if view.is_too_long(&next, self.room.until_s) {
                continue;
            }
            if self.room.limits() && self.room.left_s(view) < 0.0 {
                let unsized_groups = open(view, &next);
                if !unsized_groups.is_empty() {
                    return StepResult::Do(Action::LeaveOut(unsized_groups));
                }
                continue;
            }
            (self.comparison, self.at) = (next, 0);
            if self.count {
                // Pilots that count are the first block, whose order is drawn as every block's is.
                let set = self.comparison.clone();
                view.shuffle(&set, 0, &mut self.comparison);
            }
        }
    }

    fn begin(&mut self, view: &View) {
        self.count = self.room.longest_s.is_none();
        let mut all = view.comparisons(&self.experiment);
        all.retain(|comparison| self.scope.holds(view, comparison));
        // After earlier pilots the shortest comparison comes first; unknown ones keep their order, after them.
        let one_s = |set: &[usize]| {
            set.iter()
                .map(|&group| view.one_round_s(group))
                .sum::<f64>()
        };
        all.sort_by(|a, b| one_s(a).total_cmp(&one_s(b)));
        all.reverse();
        self.rest = Some(all);
    }

    /// The next launch of a group's pilot; nothing once it is complete.
    fn launch(&mut self, view: &View, shared: &Shared, group: usize) -> Option<Action> {
        let (stage, alive) = (view.stage(group), view.alive(group).len());
        let cells = || view.group(group).cells.iter();
        let is_over =
            view.spent_s >= self.room.until_s || alive == 0 || shared.waiting.contains(&group);
        let is_cut = self.room.chooses
            && self
                .comparison
                .iter()
                .any(|&group| view.stage(group).is_left_out());
        if is_over || is_cut || stage.is_left_out() || stage.is_sized() {
            return None;
        }
        let batched = cells().any(|&cell| view.state.cells[cell].free_batch);
        let is_judged = self.count && !batched;
        let next = (0..).find(|&block| !view.forecast.has_launch(group, block));
        // Of a launch that a cell ended, the others have nothing.
        let is_cut_short = matches!(self.attempt, Attempt::First(before) if alive < before);
        let first = next.filter(|block| is_judged && (*block == 0 || is_cut_short));
        let counts = first.is_some();
        let is_simple = view.group(group).fresh || view.is_long(group) || view.is_neighbor(group);
        let warmup_rounds = match (view.group(group).fresh, view.is_long(group)) {
            (true, _) => 0,
            _ if counts => view.warmup_rounds(group),
            (false, true) => 0,
            (false, false) => 1 + u32::from(view.compiles(group)),
        };
        let block = first.map_or(PILOT, |block| i32::try_from(block).unwrap_or(PILOT));
        let (at_most_s, left_s) = (self.room.longest_s(view), self.room.left_s(view));
        let launch = Launch {
            launch_group: group,
            block,
            rounds: if counts && !is_simple {
                FIRST_ROUNDS
            } else {
                1
            },
            warmup_rounds,
            at_most_s,
        };
        match self.attempt {
            Attempt::None if stage == Stage::Planned => self.attempt = Attempt::First(alive),
            // A skip ends the launch of a pair, which then tells nothing of the others.
            Attempt::First(before) if alive < before => self.attempt = Attempt::First(alive),
            // A second launch times it, but not where launches have one round, nor under neighboring conditions, which have few
            // rounds however short these are.
            Attempt::First(_)
                if !is_judged
                    && !view.group(group).fresh
                    && !view.is_neighbor(group)
                    && is_short(view, group, left_s) =>
            {
                self.attempt = Attempt::Second;
                return Some(Action::Pilot(Launch {
                    rounds: TIMING_ROUNDS,
                    ..launch
                }));
            }
            _ => return None,
        }
        Some(if counts {
            Action::Launch(launch)
        } else {
            Action::Pilot(launch)
        })
    }

    /// Admits the comparison whose pilots were made if its least launches fit; otherwise the groups to leave out.
    fn admit(&mut self, view: &View) -> Vec<usize> {
        if !self.room.chooses || self.comparison.is_empty() {
            return Vec::new();
        }
        let is_open = |group: &&usize| {
            view.is_alive(**group) && matches!(view.stage(**group), Stage::Piloted(_))
        };
        let block_s: f64 = self
            .comparison
            .iter()
            .filter(is_open)
            .map(|&group| view.one_round_s(group))
            .sum();
        let need_s = LEAST_POINTS as f64 * LONGER * block_s;
        let is_in = self
            .comparison
            .iter()
            .any(|&group| view.stage(group).is_sized());
        let is_cut = self
            .comparison
            .iter()
            .any(|&group| view.stage(group).is_left_out());
        if !is_in && (is_cut || self.room.held_s > 0.0 && need_s > self.room.left_s(view)) {
            return open(view, &self.comparison);
        }
        self.room.held_s += need_s;
        Vec::new()
    }
}

/// The groups that may still be left out.
fn open(view: &View, groups: &[usize]) -> Vec<usize> {
    let is_open = |group: &usize| matches!(view.stage(*group), Stage::Planned | Stage::Piloted(_));
    groups.iter().copied().filter(is_open).collect()
}

/// Tells whether a round is so short that one tells little. It takes longer where it proves, or where samples prepare much.
fn is_short(view: &View, group: usize, left_s: f64) -> bool {
    let samples_ns = view
        .group(group)
        .cells
        .iter()
        .filter_map(|&cell| view.forecast.sample_ns(cell));
    let measured_s = samples_ns.sum::<f64>() / 1e9;
    let round_s = view.stage(group).cost().map(|cost| cost.round_s);
    let most_s = left_s / f64::from(TIMING_ROUNDS * (LEAST_POINTS as u32 + 1));
    round_s.is_some_and(|s| {
        s < SHORT_ROUND_S || measured_s > 0.0 && measured_s < SHORT_ROUND_S && s < most_s
    })
}
