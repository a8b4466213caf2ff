//! The length of launches: rounds that are worth the start of a process, within what lets enough launches fit.

use crate::action::{Action, Why};
use crate::constants::{
    CHEAP, CHEAP_BESIDE, CLAIMS_ROUNDS, MOST_ROUNDS, PLANNED_LAUNCHES, PLANNED_SHARE,
    PRECISION_ROUNDS, RoundsRule, SHORT_ROUND_S, TIMING_ROUNDS,
};
use crate::view::View;
use record::state::{LaunchCost, Stage};

/// Fixes the rounds of what a pilot has shown: of an experiment until a time in seconds, or of all for claims.
#[derive(Debug)]
pub(crate) enum Sizing {
    Precision {
        experiment: String,
        until_s: f64,
    },
    Claims {
        without: std::collections::BTreeSet<usize>,
    },
}

impl Sizing {
    pub fn decisions(&self, view: &View) -> Vec<Action> {
        let mut decisions = match self {
            Sizing::Precision {
                experiment,
                until_s,
            } => precision(view, experiment, *until_s),
            Sizing::Claims { without } => {
                let groups =
                    (0..view.state.launch_groups.len()).filter(|group| !without.contains(group));
                let piloted = groups
                    .filter(|&g| view.is_alive(g) && matches!(view.stage(g), Stage::Piloted(_)));
                piloted
                    .map(|group| fixed(view, group, claims(view, group), Why::MoreLaunches))
                    .collect()
            }
        };
        decisions.reverse();
        decisions
    }
}

fn fixed(view: &View, launch_group: usize, rounds: u32, why: Why) -> Action {
    Action::FixRounds {
        launch_group,
        rounds,
        warmup_rounds: view.warmup_rounds(launch_group),
        why,
    }
}

/// Rounds with which about ten launches of each group fit and the most launches fill the time.
fn precision(view: &View, experiment: &str, until_s: f64) -> Vec<Action> {
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
    let plan = &view.state.plan;
    let (most_s, fewest_s) = (
        spare_s(PLANNED_LAUNCHES.max(f64::from(plan.min_launches))),
        spare_s(f64::from(plan.max_launches)),
    );
    let rounds = |group: usize| {
        let (cost, warmup) = (view.cost(group), view.warmup_rounds(group));
        let is_launched = view
            .alive(group)
            .iter()
            .all(|&cell| view.forecast.launches(cell) > 0);
        if view.group(group).fresh || is_launched {
            1
        } else if begun || view.is_neighbor(group) {
            cheap(cost, warmup, CHEAP_BESIDE).max(if view.one_round_s(group) < SHORT_ROUND_S {
                TIMING_ROUNDS
            } else {
                1
            })
        } else {
            between(
                cost.round_s,
                worth(cost, warmup, PRECISION_ROUNDS),
                fewest_s,
                most_s,
            )
            .max(cheap(cost, warmup, CHEAP))
        }
    };
    open.into_iter()
        .map(|group| fixed(view, group, rounds(group), Why::WorthItsStart))
        .collect()
}

fn claims(view: &View, group: usize) -> u32 {
    if view.group(group).fresh {
        1
    } else {
        worth(view.cost(group), view.warmup_rounds(group), CLAIMS_ROUNDS) as u32
    }
}

/// The rounds with which a launch is worth its start.
fn worth(cost: LaunchCost, warmup_rounds: u32, rule: RoundsRule) -> f64 {
    let round_s = cost.round_s.max(1e-6);
    let short = if round_s < SHORT_ROUND_S {
        rule.short
    } else {
        1.0
    };
    let rounds = (rule.worth * cost.launch_s(warmup_rounds) / round_s).max(short);
    rounds
        .min(rule.enough_s / round_s)
        .clamp(1.0, MOST_ROUNDS)
        .ceil()
}

/// Rounds that lengthen a launch by a share of its start and warm-up: fewer would be mostly start.
fn cheap(cost: LaunchCost, warmup_rounds: u32, share: f64) -> u32 {
    let rounds = share * cost.launch_s(warmup_rounds) / cost.round_s.max(1e-6);
    rounds.clamp(1.0, PRECISION_ROUNDS.short) as u32
}

/// Rounds between those with which the most launches fill the time and those with which about ten fit.
fn between(round_s: f64, worth: f64, fewest_s: f64, most_s: f64) -> u32 {
    let within = |seconds: f64| 1.0 + (seconds / round_s.max(1e-6)).max(0.0);
    worth
        .max(within(fewest_s))
        .min(within(most_s))
        .min(MOST_ROUNDS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_pay_for_the_start_and_short_ones_are_several() {
        let worth = |round_s, start_s| worth(LaunchCost { round_s, start_s }, 2, PRECISION_ROUNDS);
        assert_eq!(
            [worth(0.5, 1.0), worth(0.01, 0.01), worth(1e-5, 10.0)],
            [12.0, 9.0, MOST_ROUNDS]
        );
        assert_eq!(
            super::worth(
                LaunchCost {
                    round_s: 0.01,
                    start_s: 0.01
                },
                0,
                PRECISION_ROUNDS
            ),
            8.0
        );
        assert_eq!(between(0.1, 20.0, 0.0, 10.0), 20);
        assert_eq!(
            between(0.1, 20.0, 5.0, 10.0),
            51,
            "the most launches fill the budget"
        );
        assert_eq!(between(0.1, 20.0, 0.0, 0.5), 6, "ten launches fit");
        assert_eq!(between(0.1, 20.0, -3.0, -1.0), 1);
        let cheap = |start_s, share| {
            cheap(
                LaunchCost {
                    round_s: 0.01,
                    start_s,
                },
                2,
                share,
            )
        };
        assert_eq!(
            [
                cheap(0.5, 1.0),
                cheap(0.04, CHEAP),
                cheap(0.04, CHEAP_BESIDE)
            ],
            [8, 6, 1],
            "of 0.52 s, and of 0.06 s"
        );
    }
}
