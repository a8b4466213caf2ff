//! The length of launches: rounds with which a second of launches says most, within what lets enough launches fit.

use crate::constants::{
    CHEAP_BESIDE, CLAIM_LAUNCH_S, MOST_ROUNDS, PLANNED_LAUNCHES, PLANNED_SHARE, ROUNDS_TO_PROCESS,
    SHORT_ROUND_S, TIMING_ROUNDS,
};
use crate::run::{ActiveRun, Step};
use crate::view::View;
use record::decision::DecisionKind;
use record::state::{LaunchCost, Stage};

/// Fixes the rounds of what a first launch of a run of claims has shown.
pub(crate) fn fix_for_claims(run: &mut ActiveRun) -> Step {
    let view = run.view();
    let is_open = |group: &usize| {
        !run.waiting.contains(group)
            && view.is_alive(*group)
            && matches!(view.stage(*group), Stage::Piloted(_))
    };
    let groups = (0..view.state.launch_groups.len()).filter(is_open);
    let sizes: Vec<LaunchSize> = groups
        .map(|group| LaunchSize::new(&view, group, claims(&view, group)))
        .collect();
    let why = "a launch is worth its start; more launches say more than longer ones";
    fix(run, why, sizes)
}

/// Fixes the rounds of what a first launch of an experiment has shown, by the time until so many seconds of the run.
pub(crate) fn fix_for_precision(run: &mut ActiveRun, experiment: &str, until_s: f64) -> Step {
    let sizes = precision(&run.view(), experiment, until_s);
    let why = "a launch is worth its start, and about ten of every group fit into the budget";
    fix(run, why, sizes)
}

/// The length of each further launch of a group.
struct LaunchSize {
    launch_group: usize,
    rounds: u32,
    warmup_rounds: u32,
}

impl LaunchSize {
    fn new(view: &View, launch_group: usize, rounds: u32) -> LaunchSize {
        LaunchSize {
            launch_group,
            rounds,
            warmup_rounds: view.warmup_rounds(launch_group),
        }
    }
}

fn fix(run: &mut ActiveRun, why: &'static str, sizes: Vec<LaunchSize>) -> Step {
    for size in sizes {
        let what = DecisionKind::Rounds {
            launch_group: size.launch_group,
            rounds: size.rounds,
            warmup_rounds: size.warmup_rounds,
        };
        run.decide(why, what)?;
    }
    Ok(())
}

/// Rounds with which a second of launches says most, and about ten launches of each group fit.
fn precision(view: &View, experiment: &str, until_s: f64) -> Vec<LaunchSize> {
    let groups = view.groups_of(experiment);
    let begun = groups
        .iter()
        .any(|&g| matches!(view.stage(g), Stage::Sized { rounds: 2.., .. }));
    let is_open = |&g: &usize| view.is_alive(g) && matches!(view.stage(g), Stage::Piloted(_));
    let open: Vec<usize> = groups.into_iter().filter(is_open).collect();
    let usual: Vec<usize> = open
        .iter()
        .copied()
        .filter(|&group| !view.is_neighbor(group))
        .collect();
    let one_round_s: f64 = usual.iter().map(|&group| view.one_round_s(group)).sum();
    let adjustable = usual
        .iter()
        .filter(|&&g| !view.group(g).fresh)
        .count()
        .max(1) as f64;
    let left_s = (until_s - view.spent_s) * PLANNED_SHARE;
    let spare_s = |launches: f64| (left_s / launches - one_round_s) / adjustable;
    let most_s = spare_s(PLANNED_LAUNCHES.max(f64::from(view.state.plan.min_launches)));
    let rounds = |group: usize| {
        let (cost, warmup) = (view.cost(group), view.warmup_rounds(group));
        let is_launched = view
            .alive(group)
            .iter()
            .all(|&cell| view.forecast.launches(cell) > 0);
        if view.group(group).fresh || is_launched && view.is_long(group) {
            1
        } else if begun || view.is_neighbor(group) {
            cheap(cost, warmup).max(if view.one_round_s(group) < SHORT_ROUND_S {
                TIMING_ROUNDS
            } else {
                1
            })
        } else {
            best(cost, warmup, most_s)
        }
    };
    open.into_iter()
        .map(|group| LaunchSize::new(view, group, rounds(group)))
        .collect()
}

fn claims(view: &View, group: usize) -> u32 {
    if view.group(group).fresh {
        1
    } else {
        best(view.cost(group), view.warmup_rounds(group), CLAIM_LAUNCH_S)
    }
}

/// Rounds that lengthen a launch of a neighbouring condition by little: those that take a quarter of its start and warm-up.
fn cheap(cost: LaunchCost, warmup_rounds: u32) -> u32 {
    let (share, most) = CHEAP_BESIDE;
    let rounds = share * cost.launch_s(warmup_rounds) / cost.round_s.max(1e-6);
    rounds.clamp(1.0, most) as u32
}

/// Rounds with which the mean of launches has the least variance for its seconds, within `most_s` more than one round takes, or
/// a quarter of the launch: a virtual machine that warms up for a second says more by a hundred turns of 10 µs than by one.
/// Where a launch costs `start + n * round` and its variance is `process + rounds / n`, n is the root of both quotients'
/// product (Cochran, Sampling Techniques, 3rd edition, section 10.6: subsampling with units of equal size).
fn best(cost: LaunchCost, warmup_rounds: u32, most_s: f64) -> u32 {
    let round_s = cost.round_s.max(1e-6);
    let launch_s = cost.launch_s(warmup_rounds);
    let best = (ROUNDS_TO_PROCESS * launch_s / round_s).sqrt();
    let most = 1.0 + most_s.max(CHEAP_BESIDE.0 * launch_s) / round_s;
    best.round().min(most).clamp(1.0, MOST_ROUNDS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_grow_with_the_root_of_what_the_start_takes() {
        let best = |round_s, start_s, most_s| best(LaunchCost { round_s, start_s }, 0, most_s);
        assert_eq!(best(0.01, 0.1, 10.0), 5, "the root of 26.5");
        assert_eq!(best(0.1, 0.0, 10.0), 1, "a start that costs nothing");
        assert_eq!(best(0.01, 0.1, 0.02), 3, "ten launches fit");
        assert_eq!(best(0.001, 2.0, -1.0), 73, "they take little of it");
        assert_eq!(best(5.0, 2.0, -1.0), 1);
        let cheap = |start_s| {
            cheap(
                LaunchCost {
                    round_s: 0.01,
                    start_s,
                },
                2,
            )
        };
        assert_eq!(
            [cheap(0.5), cheap(0.04)],
            [8, 1],
            "of 0.52 s, and of 0.06 s"
        );
    }
}
