use super::*;

const FILE: &str = r#"
name = "x"
title = "t"
when = "w"
make = ["nothing"]

[[proofs]]
counter = "low"
at = "both"
at_most = 10

[[proofs]]
counter = "moved"
at = "rise"
at_least = 5
"#;

fn counters(low: u64, moved: u64) -> Counters {
    Counters::from([("low".to_owned(), low), ("moved".to_owned(), moved)])
}

#[test]
fn a_proof_holds_at_its_moments_only() {
    let state = MachineState::parse("x", FILE).expect("a state");
    assert_eq!(state.lost(&counters(10, 3), &counters(0, 8)), []);
    let lost = state.lost(&counters(10, 3), &counters(11, 7));
    let broken: Vec<_> = lost
        .iter()
        .map(|l| (l.proof.counter.as_str(), l.value))
        .collect();
    assert_eq!(broken, [("low", Some(11)), ("moved", Some(4))]);
    let lost = state.lost(&counters(11, 3), &counters(0, 8));
    assert_eq!(lost[0].value, Some(11));
}

#[test]
fn a_counter_that_nobody_reports_proves_nothing() {
    let state = MachineState::parse("x", FILE).expect("a state");
    let lost = state.lost(&Counters::new(), &counters(0, 8));
    assert_eq!(
        lost.iter().map(|l| l.value).collect::<Vec<_>>(),
        [None, None]
    );
}

#[test]
fn a_state_without_a_condition_is_refused() {
    let without = FILE.replace("at_most = 10", "");
    assert!(MachineState::parse("x", &without).is_err());
    assert!(MachineState::parse("x", FILE.split("[[proofs]]").next().expect("a start")).is_err());
}
