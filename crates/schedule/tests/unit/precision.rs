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
    let next = |sets: &[SetStanding]| Policy::Least.choose(&GOAL, LEAST_LAUNCHES, sets, 1e9);
    let block = |set| NextBlock::Block { set, whole: true };
    assert_eq!(next(&[set(3, true), set(0, true), set(0, false)]), block(1));
    assert_eq!(next(&[set(1, true), set(2, true), set(3, true)]), block(0));
    assert_eq!(
        next(&[set(LEAST_POINTS, true), set(9, true)]),
        NextBlock::End(Reason::NothingOpen)
    );
}
