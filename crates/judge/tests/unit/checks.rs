use record::transcript::Counts;

use super::*;

fn wrong(phases: &[&str], may_lack: &[String]) -> bool {
    let method = Method::parse("method\tx\ty\tphases=touch refault\tkeys=bytes:size").unwrap();
    let seen: Vec<TimedPhase> = phases
        .iter()
        .map(|p| TimedPhase::by_laboratory(p, Counts::default()))
        .collect();
    let mut checks = Checks::default();
    checks.phases(&method, (&seen, None), may_lack, 0);
    checks.outcome().is_some()
}

#[test]
fn launches_that_are_joined_are_as_if_taken_one_after_the_other() {
    let launches = [
        [("faults", "3"), ("page", "12")],
        [("faults", "9"), ("page", "ab")],
        [("faults", "1"), ("page", "7")],
    ];
    let launches =
        launches.map(|facts| facts.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let (mut joined, mut taken) = (Checks::default(), Checks::default());
    for facts in &launches {
        let mut one = Checks::default();
        one.facts(facts);
        joined.join(one);
        taken.facts(facts);
    }
    assert_eq!(joined.facts, taken.facts);
    assert_eq!(joined.facts["faults"], FactSeen::Numbers(1, 9, 3));
}

#[test]
fn only_what_stands_beside_the_question_may_be_left_out() {
    let seldom = ["refault".to_owned()];
    assert!(!wrong(&["touch", "refault"], &[]) && !wrong(&["touch"], &seldom));
    assert!(
        wrong(&["touch"], &[]),
        "a round that proves passes all of them"
    );
    assert!(
        wrong(&["refault"], &seldom),
        "the question itself is never left out"
    );
    assert!(
        wrong(&["touch", "release"], &seldom),
        "and nothing is passed that was not declared"
    );
}
