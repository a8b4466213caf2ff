use std::collections::BTreeMap;

use super::*;
use crate::cell::Cell;
use crate::kind::Kind;
use crate::method::Method;
use crate::outcome::{Outcome, Status};
use crate::plan::{LAUNCHES, LaunchGroup, SCHEMA};

fn plan(cells: usize, rounds: Option<u32>) -> Plan {
    let method = Method::parse("method\tx\ty\tphases=map\tkeys=batch:count").unwrap();
    let parameters = BTreeMap::from([(BATCH.to_owned(), "1".to_owned())]);
    let cell = Cell {
        experiment: "x".to_owned(),
        method: "y".to_owned(),
        worker: "c-O3".to_owned(),
        parameters,
    };
    let one = PlannedCell {
        cell,
        method,
        twin: false,
        free_batch: true,
        proves: false,
        outcome: None,
    };
    Plan {
        schema: SCHEMA,
        kind: Kind::Run,
        run: "r".to_owned(),
        created: String::new(),
        version: String::new(),
        seed: 1,
        budget_s: 10.0,
        precision: 0.01,
        margin: 0.02,
        time_limit_s: None,
        min_launches: LAUNCHES.0,
        max_launches: LAUNCHES.1,
        rounds,
        first_look: false,
        short: false,
        allow_system_changes: false,
        keep_environment: false,
        baselines: BTreeMap::new(),
        workers: BTreeMap::new(),
        experiments: Vec::new(),
        cells: vec![one; cells],
        launch_groups: vec![LaunchGroup {
            experiment: "x".to_owned(),
            cells: (0..cells).collect(),
            fresh: false,
        }],
    }
}

fn after(plan: Plan, what: &[DecisionKind]) -> Result<State> {
    let decision = |what: &DecisionKind| Decision {
        time: String::new(),
        why: String::new(),
        what: what.clone(),
    };
    State::after(plan, &what.iter().map(decision).collect::<Vec<_>>())
}

fn timed() -> DecisionKind {
    DecisionKind::Timed {
        launch_group: 0,
        round_s: 0.5,
        start_s: 0.1,
    }
}

fn split() -> DecisionKind {
    DecisionKind::Split {
        launch_group: 0,
        cells: vec![0, 2],
    }
}

#[test]
fn a_group_whose_pilot_died_is_piloted_cell_by_cell() {
    let state = after(plan(3, None), &[timed(), split()]).unwrap();
    assert_eq!(state.launch_groups.len(), 3);
    assert!(state.launch_groups[0].cells.is_empty());
    let parts = &state.launch_groups[1..];
    assert_eq!(
        (&parts[0].cells[..], &parts[1].cells[..]),
        (&[0][..], &[2][..])
    );
    assert!(
        parts
            .iter()
            .all(|g| g.stage == Stage::Planned && g.split_from == Some(0)),
        "{parts:?}"
    );
}

#[test]
fn a_group_that_died_later_goes_on_with_the_rounds_it_had() {
    let rounds = DecisionKind::Rounds {
        launch_group: 0,
        rounds: 20,
        warmup_rounds: 5,
    };
    let state = after(plan(3, None), &[timed(), rounds, split()]).unwrap();
    let cost = Some(LaunchCost {
        round_s: 0.5,
        start_s: 0.1,
    });
    let sized = Stage::Sized {
        cost,
        rounds: 20,
        warmup_rounds: 5,
    };
    assert!(state.launch_groups[1..].iter().all(|g| g.stage == sized));
    let fixed = Stage::Sized {
        cost: None,
        rounds: 2,
        warmup_rounds: 1,
    };
    assert_eq!(
        after(plan(1, Some(2)), &[]).unwrap().launch_groups[0].stage,
        fixed
    );
}

#[test]
fn a_group_that_was_left_out_keeps_its_cost_and_a_longer_run_takes_it_up() {
    let left_out = DecisionKind::LeftOut {
        launch_groups: vec![0],
        reason: LeftOut::NoRoom,
    };
    let state = after(plan(1, None), &[timed(), left_out.clone()]).unwrap();
    let stage = state.launch_groups[0].stage;
    assert!(stage.is_left_out() && stage.cost().is_some(), "{stage:?}");
    let resumed = DecisionKind::Resumed {
        budget_s: 99.0,
        time_limit_s: None,
    };
    for what in [
        DecisionKind::Readmitted {
            launch_groups: vec![0],
        },
        resumed,
    ] {
        let state = after(plan(1, None), &[timed(), left_out.clone(), what]).unwrap();
        assert!(matches!(state.launch_groups[0].stage, Stage::Piloted(_)));
    }
    let sized = DecisionKind::Rounds {
        launch_group: 0,
        rounds: 3,
        warmup_rounds: 0,
    };
    let state = after(plan(1, None), &[timed(), sized, left_out]).unwrap();
    assert!(
        state.launch_groups[0].stage.is_sized(),
        "an admitted group stays"
    );
}

#[test]
fn the_first_outcome_stays_and_the_last_batch_counts() {
    let settled = |status| DecisionKind::Settled {
        cells: vec![1],
        outcome: Outcome {
            status,
            cause: None,
        },
    };
    let batch = |batch| DecisionKind::Batch {
        cells: vec![0, 1],
        batch,
    };
    let what = [
        batch(3),
        settled(Status::Failed),
        settled(Status::Skipped),
        batch(40),
    ];
    let state = after(plan(2, None), &what).unwrap();
    assert_eq!(
        state.cells[1].outcome.as_ref().unwrap().status,
        Status::Failed
    );
    assert_eq!(
        (
            state.cells[0].cell.parameters[BATCH].as_str(),
            state.alive(0)
        ),
        ("40", vec![0])
    );
    assert_eq!(state.plan.cells[0].cell.parameters[BATCH], "1");
}

#[test]
fn a_run_that_goes_on_has_not_ended() {
    let ended = DecisionKind::Ended {
        stopped_by: Some(2),
        launches: 0,
        notes: Vec::new(),
    };
    let resumed = DecisionKind::Resumed {
        budget_s: 99.0,
        time_limit_s: None,
    };
    assert!(
        after(plan(1, None), std::slice::from_ref(&ended))
            .unwrap()
            .ended
            .is_some()
    );
    let state = after(plan(1, None), &[ended, resumed]).unwrap();
    assert_eq!((state.ended, state.budget_s), (None, 99.0));
}

#[test]
fn a_decision_on_what_is_not_there_is_named() {
    let what = [
        timed(),
        DecisionKind::Batch {
            cells: vec![7],
            batch: 1,
        },
    ];
    let error = format!("{:#}", after(plan(2, None), &what).unwrap_err());
    assert_eq!(error, "decision 2 cannot be followed: there is no cell 7");
    let what = [DecisionKind::Split {
        launch_group: 4,
        cells: vec![0],
    }];
    assert!(after(plan(2, None), &what).is_err());
}

#[test]
fn decisions_are_read_as_they_were_written() {
    let all = [
        timed(),
        split(),
        DecisionKind::Ended {
            stopped_by: None,
            launches: 0,
            notes: Vec::new(),
        },
    ];
    for what in all {
        let decision = Decision {
            time: "2026-01-01T00:00:00Z".to_owned(),
            why: "so".to_owned(),
            what,
        };
        let line = serde_json::to_string(&decision).unwrap();
        assert_eq!(
            serde_json::from_str::<Decision>(&line).unwrap(),
            decision,
            "{line}"
        );
    }
}
