use pagewise_stats::stopping::{GroupProgress, NextStep, StoppingGoal, decide};

const GOAL: StoppingGoal = StoppingGoal {
    precision: 0.01,
    budget_seconds: 60.0,
};

fn group(launches: usize, half_width: f64) -> GroupProgress {
    GroupProgress {
        launches,
        half_width: Some(half_width),
        launch_seconds: 1.0,
    }
}

#[test]
fn nothing_is_looked_at_before_six_launches() {
    let precise = GroupProgress {
        launches: 5,
        half_width: Some(0.0),
        launch_seconds: 1.0,
    };
    assert_eq!(
        decide(&GOAL, &[precise], 5.0),
        NextStep::Continue { group: 0 }
    );
    let fresh = GroupProgress {
        launches: 0,
        half_width: None,
        launch_seconds: 0.0,
    };
    assert_eq!(
        decide(&GOAL, &[precise, fresh], 5.0),
        NextStep::Continue { group: 1 }
    );
    assert_eq!(
        decide(&GOAL, &[precise, fresh], 60.0),
        NextStep::BudgetSpent {
            needs_seconds: 61.0
        }
    );
}

#[test]
fn the_widest_interval_gets_the_next_launch() {
    let groups = [group(8, 0.011), group(8, 0.014), group(8, 0.002)];
    assert_eq!(
        decide(&GOAL, &groups, 24.0),
        NextStep::Continue { group: 1 }
    );
}

#[test]
fn precision_stops_the_run() {
    let undefined = GroupProgress {
        launches: 6,
        half_width: None,
        launch_seconds: 1.0,
    };
    assert_eq!(
        decide(&GOAL, &[group(6, 0.01), undefined], 12.0),
        NextStep::Precise
    );
    assert_eq!(decide(&GOAL, &[], 0.0), NextStep::Precise);
}

#[test]
fn a_launch_that_would_not_end_in_time_is_not_started() {
    assert_eq!(
        decide(&GOAL, &[group(8, 0.011)], 59.0),
        NextStep::Continue { group: 0 }
    );
    // Eight launches at ±1.1 % need 9.7 for ±1 %, which is two more.
    assert_eq!(
        decide(&GOAL, &[group(8, 0.011)], 59.5),
        NextStep::BudgetSpent {
            needs_seconds: 61.5
        }
    );
}

#[test]
fn a_target_out_of_reach_is_named_with_its_price() {
    // Ten launches at ±5 % need 250 for ±1 %, and no more than 60 fit.
    assert_eq!(
        decide(&GOAL, &[group(10, 0.05)], 10.0),
        NextStep::Unreachable {
            needs_seconds: 250.0
        }
    );
    // At ±4 % they need 160, which is within the doubt of what fits.
    assert_eq!(
        decide(&GOAL, &[group(10, 0.04)], 10.0),
        NextStep::Continue { group: 0 }
    );
}

#[test]
fn the_overrun_is_at_most_one_launch_whatever_the_widths() {
    for (half_width, seconds) in [(0.5, 7.0), (0.012, 7.0), (0.012, 25.0), (0.012, 100.0)] {
        let mut state = GroupProgress {
            launches: 0,
            half_width: None,
            launch_seconds: 0.0,
        };
        let mut spent = 0.0;
        while let NextStep::Continue { .. } = decide(&GOAL, &[state], spent) {
            spent += seconds;
            state = GroupProgress {
                launches: state.launches + 1,
                half_width: Some(half_width),
                launch_seconds: seconds,
            };
        }
        assert!(spent < GOAL.budget_seconds + seconds, "{spent} {seconds}");
    }
}
