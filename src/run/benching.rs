//! Times of a run of the user's functions: how long it takes where no budget is given, and how long counting may take.

use crate::run::launch::{TimeLimit, duration};
use record::kind::Kind;
use record::plan::Plan;
use record::state::{LaunchCost, State};
use schedule::{LONGER, Launch};
use stats::estimate::LEAST_POINTS;
use std::collections::BTreeSet;

/// Counted launches of a group, and their measured rounds. A tolerance is learnt from both.
const COUNTED_LAUNCHES: usize = 4;
const COUNTED_ROUNDS: u32 = 2;
/// Seconds of a round from which one is counted in a launch.
const LONG_ROUND_S: f64 = 0.2;
/// Time of counting: this share of that of measuring, and the least in seconds. Each group is counted once.
const COUNTING: (f64, f64) = (0.25, 2.5);
/// Longest time of a counted launch, in seconds. A system call that is traced takes a hundred times as long.
const COUNTED_LAUNCH_S: f64 = 10.0;
/// Launches of each group that say how much launches differ, and the time in seconds up to which a run without a given budget
/// has them. Four leave an interval twice as wide.
const USUAL_LAUNCHES: (usize, f64) = (10, 8.0);
/// Share by which a needed time exceeds the budget before this is changed.
const NOTABLE: f64 = 1.05;

/// True if the budget is the one of functions for which none was given. A given one leaves no precision.
fn has_usual_budget(plan: &Plan) -> bool {
    let is_usual = |budget_s| budget_s == Some(plan.budget_s);
    plan.kind == Kind::Bench
        && plan.precision > 0.0
        && plan
            .experiments
            .iter()
            .any(|experiment| is_usual(experiment.budget_s))
}

/// Seconds of a run without a given budget, if its functions are too long for the usual one: the least launches of an interval,
/// or within 8 s the usual number. `launches` has the number of those that each group had.
pub(super) fn needed_s(state: &State, launches: &[usize], spent_s: f64) -> Option<f64> {
    if !has_usual_budget(&state.plan) {
        return None;
    }
    let (usual, usual_s) = USUAL_LAUNCHES;
    let mut known = 0.0;
    let [mut rest_s, mut usual_rest_s] = [0.0; 2];
    let mut groups = 0.0;
    for (group, done) in (0..state.launch_groups.len()).zip(launches) {
        if state.alive(group).is_empty() {
            continue;
        }
        groups += 1.0;
        if let Some(cost) = state.launch_groups[group].stage.cost() {
            known += 1.0;
            let launch_s = least_launch_s(state, group, cost);
            rest_s += launch_s * LEAST_POINTS.saturating_sub(*done) as f64;
            usual_rest_s += launch_s * usual.saturating_sub(*done) as f64;
        }
    }
    if known == 0.0 {
        return None;
    }
    let [least_s, wished_s] =
        [rest_s, usual_rest_s].map(|rest_s| spent_s + LONGER * rest_s * groups / known);
    let needed_s = least_s.max(wished_s.min(usual_s));
    (needed_s > NOTABLE * state.budget_s).then_some(needed_s.ceil())
}

fn least_launch_s(state: &State, group: usize, cost: LaunchCost) -> f64 {
    let experiment = state
        .plan
        .experiment(&state.launch_groups[group].experiment);
    let warmup_rounds = experiment.map_or(0, |experiment| experiment.warmup_rounds);
    cost.launch_s(1 + warmup_rounds)
}

/// Seconds of one turn of all functions, and of the start of their processes, as far as they are known.
pub(super) fn known_s(state: &State) -> [f64; 2] {
    let groups = state.launch_groups.iter();
    let costs = groups.filter_map(|group| group.stage.cost());
    costs.fold([0.0, 0.0], |[turn_s, start_s], cost| {
        [turn_s + cost.round_s, start_s + cost.start_s]
    })
}

/// The launches that count, within a time.
pub(super) struct Counting {
    /// Groups to be counted, the next one last.
    rest: Vec<usize>,
    first: usize,
    most_s: f64,
    spent_s: f64,
    longest_s: f64,
}

impl Counting {
    /// After measuring for so many seconds. Where a baseline takes part, its counts are compared: nothing is left out.
    pub fn new(state: &State, measured_s: f64) -> Counting {
        let groups = state.launch_groups.len();
        let workers: BTreeSet<&str> = state
            .cells
            .iter()
            .flat_map(|cell| cell.cell.sides())
            .collect();
        let (share, least_s) = COUNTING;
        let most_s = if workers.len() > 1 {
            f64::INFINITY
        } else {
            (share * measured_s).max(least_s)
        };
        let rest = (0..COUNTED_LAUNCHES).flat_map(|_| (0..groups).rev());
        Counting {
            rest: rest.collect(),
            first: groups,
            most_s,
            spent_s: 0.0,
            longest_s: 0.0,
        }
    }

    /// The group of the next launch; `seconds` is the time of the last one.
    pub fn next(&mut self, seconds: f64) -> Option<usize> {
        self.spent_s += seconds;
        self.longest_s = self.longest_s.max(seconds);
        let is_over = self.first == 0 && self.spent_s + self.longest_s > self.most_s;
        self.first = self.first.saturating_sub(1);
        self.rest.pop().filter(|_| !is_over)
    }

    /// Rounds of a counted launch, and those before them that are not counted.
    pub fn rounds(state: &State, group: usize) -> [u32; 2] {
        let group = &state.launch_groups[group];
        let is_long = group
            .stage
            .cost()
            .is_some_and(|cost| cost.round_s > LONG_ROUND_S);
        match (group.fresh, is_long) {
            (true, _) => [1, 0],
            (false, true) => [1, 1],
            (false, false) => [COUNTED_ROUNDS, 1],
        }
    }

    /// Longest time of a counted launch.
    pub fn limit(state: &State, launch: &Launch) -> TimeLimit {
        let cost = state.launch_groups[launch.launch_group].stage.cost();
        let timed_s = cost.map_or(0.0, |cost| {
            cost.launch_s(launch.rounds + launch.warmup_rounds)
        });
        let limit_s = COUNTED_LAUNCH_S.max(LONGER * timed_s);
        TimeLimit::Strict(duration(
            state
                .time_limit_s
                .map_or(limit_s, |limit| limit.min(limit_s)),
        ))
    }
}
