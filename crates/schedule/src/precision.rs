//! The policy of an ordinary run: the widest ranked ratio is launched next. It sees widths, and which
//! ratios have their word, never where a ratio lies.

use crate::constants::{OTHERS_EVERY, OTHERS_WIDTH};
use record::decision::Reason;
use stats::stopping::{GroupProgress, NextStep, StoppingGoal, decide};
use stats::{estimate::LEAST_POINTS, interval::LEAST_LAUNCHES};

#[derive(Clone, Copy, Debug)]
pub(crate) struct SetStanding {
    pub open: bool,
    /// True if it had no block in this visit, and other visits follow.
    pub due: bool,
    pub launches: usize,
    pub next_s: f64,
    /// The widest ranked half-width.
    pub ranked: Option<f64>,
    /// The widest other half-width.
    pub others: Option<f64>,
    /// The seconds until the next of its words, in a run that ends on words, if one is foretold.
    pub word_s: Option<f64>,
    /// In the overview, its seconds beyond the least launches by its share; below zero if it lacks launches and comes first.
    pub progress: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NextBlock {
    /// A block of this set: all of it, or its ranked launch groups.
    Block { set: usize, whole: bool },
    /// Nothing more.
    End(Reason),
}

/// The rule of one visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Policy {
    /// The launches without which there is no interval, of sets whose block takes no longer than so many seconds.
    Least { longest_s: f64 },
    /// Until every ranked ratio is as narrow as requested.
    Precise,
}

impl Policy {
    pub fn choose(
        self,
        goal: &StoppingGoal,
        min_launches: usize,
        sets: &[SetStanding],
        spent_s: f64,
    ) -> NextBlock {
        match self {
            Policy::Least { longest_s } => least(sets, longest_s),
            Policy::Precise => precise(goal, min_launches, sets, spent_s),
        }
    }
}

/// Each set once, then those that are complete soonest: a lack of time costs one long comparison, not all.
fn least(sets: &[SetStanding], longest_s: f64) -> NextBlock {
    let lacking = (0..sets.len()).filter(|&set| {
        let set = &sets[set];
        set.open && set.launches < LEAST_POINTS && set.next_s <= longest_s
    });
    let rest_s = |set: usize| match sets[set].launches {
        0 => -1.0,
        launches => (LEAST_POINTS - launches) as f64 * sets[set].next_s,
    };
    let next = lacking.min_by(|&a, &b| rest_s(a).total_cmp(&rest_s(b)));
    next.map_or(NextBlock::End(Reason::NothingOpen), |set| {
        NextBlock::Block { set, whole: true }
    })
}

fn precise(
    goal: &StoppingGoal,
    min_launches: usize,
    sets: &[SetStanding],
    spent_s: f64,
) -> NextBlock {
    let open: Vec<usize> = (0..sets.len()).filter(|&set| sets[set].open).collect();
    let widest = |width: &dyn Fn(usize) -> f64| {
        open.iter()
            .copied()
            .max_by(|&a, &b| width(a).total_cmp(&width(b)))
    };
    let Some(widest_ranked) = widest(&|set| sets[set].ranked.unwrap_or(0.0)) else {
        return NextBlock::End(Reason::NothingOpen);
    };
    let block = |set: usize| {
        let launches = sets[set].launches;
        NextBlock::Block {
            set,
            whole: launches < LEAST_LAUNCHES || launches.is_multiple_of(OTHERS_EVERY),
        }
    };
    let group = |&set: &usize| GroupProgress {
        launches: sets[set].launches,
        half_width: sets[set].ranked,
        launch_seconds: sets[set].next_s,
    };
    let due = open
        .iter()
        .copied()
        .filter(|&set| sets[set].due && sets[set].next_s < goal.budget_seconds - spent_s);
    if let Some(set) = due.min_by_key(|&set| sets[set].launches) {
        return block(set);
    }
    let left_s = goal.budget_seconds - spent_s;
    let wide = |set: &&usize| {
        sets[**set]
            .ranked
            .is_none_or(|width| width > goal.precision)
    };
    let behind = open
        .iter()
        .filter(wide)
        .filter_map(|&set| Some((sets[set].progress?, set)));
    let fits = |&(_, set): &(f64, usize)| sets[set].next_s <= left_s;
    if let Some((_, set)) = behind.filter(fits).min_by(|(a, _), (b, _)| a.total_cmp(b)) {
        return block(set);
    }
    // The word that is next in seconds gains most for each of them.
    let foretold = open
        .iter()
        .filter(|&&set| sets[set].launches >= LEAST_LAUNCHES)
        .filter_map(|&set| Some((sets[set].word_s.filter(|word_s| *word_s <= left_s)?, set)));
    if let Some((_, set)) = foretold.min_by(|(a, _), (b, _)| a.total_cmp(b)) {
        return block(set);
    }
    match decide(goal, &open.iter().map(group).collect::<Vec<_>>(), spent_s) {
        NextStep::Continue { group } => block(open[group]),
        // The rest of the time is spent: intervals narrow even if the target is out of reach.
        NextStep::Unreachable { .. } => block(widest_ranked),
        NextStep::BudgetSpent { .. } => NextBlock::End(Reason::BudgetSpent),
        NextStep::Precise => {
            if let Some(&set) = open.iter().find(|&&set| sets[set].launches < min_launches) {
                return NextBlock::Block { set, whole: true };
            }
            let set = widest(&|set| sets[set].others.unwrap_or(0.0)).unwrap_or(widest_ranked);
            let wide = sets[set]
                .others
                .is_some_and(|width| width > OTHERS_WIDTH * goal.precision);
            if wide && sets[set].next_s < left_s {
                NextBlock::Block { set, whole: true }
            } else {
                NextBlock::End(Reason::Precise)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: StoppingGoal = StoppingGoal {
        precision: 0.01,
        budget_seconds: 60.0,
    };

    fn next(sets: &[SetStanding], spent_s: f64) -> NextBlock {
        Policy::Precise.choose(&GOAL, LEAST_LAUNCHES, sets, spent_s)
    }

    fn set(launches: usize, ranked: f64, others: f64) -> SetStanding {
        SetStanding {
            open: true,
            due: false,
            launches,
            next_s: 1.0,
            ranked: Some(ranked),
            others: Some(others),
            word_s: None,
            progress: None,
        }
    }

    #[test]
    fn ranked_ratios_come_first_and_others_take_part_in_one_launch_of_three() {
        let block = |set, whole| NextBlock::Block { set, whole };
        assert_eq!(
            next(&[set(7, 0.02, 0.3), set(7, 0.005, 0.9)], 10.0),
            block(0, false)
        );
        assert_eq!(
            next(&[set(9, 0.02, 0.3), set(9, 0.005, 0.9)], 10.0),
            block(0, true)
        );
        assert_eq!(next(&[set(3, 0.02, 0.3)], 10.0), block(0, true));
        assert_eq!(
            next(&[set(7, 0.2, 0.2)], 30.0),
            block(0, false),
            "out of reach, still spent"
        );
        assert_eq!(
            next(&[set(7, 0.009, 0.3)], 10.0),
            block(0, true),
            "the rest gets the time left"
        );
    }

    #[test]
    fn the_word_that_is_next_comes_before_the_widest_ratio() {
        let near = |word_s| SetStanding {
            word_s,
            ..set(7, 0.05, 0.0)
        };
        let block = |set| NextBlock::Block { set, whole: false };
        let sets = |word_s| [set(7, 0.9, 0.0), near(Some(9.0)), near(word_s)];
        assert_eq!(next(&sets(Some(3.0)), 10.0), block(2));
        assert_eq!(next(&sets(None), 10.0), block(1));
        assert_eq!(
            next(&sets(None), 55.0),
            block(0),
            "no word in the time left"
        );
    }

    #[test]
    fn in_the_overview_what_had_the_least_of_its_time_comes_next() {
        let next = |sets: &[SetStanding], precision| {
            Policy::Precise.choose(
                &StoppingGoal { precision, ..GOAL },
                LEAST_LAUNCHES,
                sets,
                10.0,
            )
        };
        let block = |set| NextBlock::Block { set, whole: false };
        let launched = |progress, next_s| SetStanding {
            progress: Some(progress),
            next_s,
            ..set(7, 0.1, 0.0)
        };
        assert_eq!(
            next(
                &[launched(0.5, 1.0), launched(0.4, 1.0), launched(0.9, 1.0)],
                0.0
            ),
            block(1)
        );
        assert_eq!(
            next(&[launched(0.5, 1.0), launched(0.4, 51.0)], 0.0),
            block(0),
            "no time for it"
        );
        assert_eq!(
            next(
                &[
                    launched(0.5, 1.0),
                    SetStanding {
                        ranked: Some(0.001),
                        ..launched(0.4, 1.0)
                    }
                ],
                0.01
            ),
            block(0),
            "it is precise"
        );
    }

    #[test]
    fn what_had_no_block_in_a_visit_comes_first_if_one_fits() {
        let due = |launches, next_s| SetStanding {
            due: true,
            next_s,
            ..set(launches, 0.005, 0.0)
        };
        let block = |set| NextBlock::Block { set, whole: false };
        assert_eq!(
            next(&[set(7, 0.9, 0.0), due(8, 1.0), due(7, 1.0)], 10.0),
            block(2),
            "the least launched first, precise or not"
        );
        assert_eq!(
            next(&[set(7, 0.9, 0.0), due(7, 51.0)], 10.0),
            block(0),
            "no time for it"
        );
    }

    #[test]
    fn every_end_has_its_reason() {
        let end = NextBlock::End;
        assert_eq!(next(&[set(7, 0.009, 0.04)], 10.0), end(Reason::Precise));
        assert_eq!(next(&[set(7, 0.009, 0.3)], 59.5), end(Reason::Precise));
        assert_eq!(
            next(
                &[SetStanding {
                    open: false,
                    ..set(40, 0.2, 0.2)
                }],
                10.0
            ),
            end(Reason::NothingOpen)
        );
        assert_eq!(next(&[set(7, 0.2, 0.2)], 59.5), end(Reason::BudgetSpent));
    }

    #[test]
    fn every_set_has_its_least_launches_and_the_shortest_rest_comes_first() {
        let set = |launches, open| SetStanding {
            open,
            next_s: launches as f64,
            ..set(launches, 0.0, 0.0)
        };
        let within = |longest_s, sets: &[SetStanding]| {
            Policy::Least { longest_s }.choose(&GOAL, LEAST_LAUNCHES, sets, 1e9)
        };
        let next = |sets: &[SetStanding]| within(f64::INFINITY, sets);
        let block = |set| NextBlock::Block { set, whole: true };
        assert_eq!(next(&[set(3, true), set(0, true), set(0, false)]), block(1));
        assert_eq!(next(&[set(1, true), set(2, true), set(3, true)]), block(0));
        assert_eq!(within(1.5, &[set(2, true), set(1, true)]), block(1));
        assert_eq!(
            within(1.5, &[set(2, true)]),
            NextBlock::End(Reason::NothingOpen),
            "its block takes two seconds"
        );
        assert_eq!(
            next(&[set(LEAST_POINTS, true), set(9, true)]),
            NextBlock::End(Reason::NothingOpen)
        );
    }
}
