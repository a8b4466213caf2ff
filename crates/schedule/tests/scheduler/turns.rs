//! The rounds of a launch.

use crate::machine::plan;
use pagewise_schedule::Launch;
use pagewise_schedule::turns::{of_launch, turns};
use record::method::Role;
use record::state::State;

const ROLES: [Role; 4] = [Role::Method, Role::Method, Role::Limit, Role::Null];

#[test]
fn methods_have_every_round_and_the_rest_few() {
    let first = turns(&ROLES, 0, (2, 20), 7, false, true);
    assert_eq!(first.uneven(4), [20, 20, 7, 20]);
    assert!(first.warmup.iter().all(|order| order.len() == 4));
    let later = turns(&ROLES, 3, (2, 20), 7, false, true);
    assert_eq!(later.uneven(4), [20, 20, 7, 0]);
    assert!(
        later.warmup.iter().all(|order| order.len() == 3),
        "the floor is not warmed for nothing"
    );
}

#[test]
fn a_limit_of_launches_with_one_round_comes_in_one_launch_of_three() {
    let with: Vec<i32> = (0..9)
        .filter(|&block| turns(&ROLES, block, (0, 1), 7, false, true).rounds[0].contains(&2))
        .collect();
    assert_eq!(with, [0, 3, 6]);
}

#[test]
fn one_round_of_eight_carries_proofs() {
    let all = turns(&ROLES, 0, (2, 20), 7, false, true).proofs;
    assert_eq!(all.len(), 2);
    assert!(
        (0..10).contains(&all[0]) && (10..20).contains(&all[1]),
        "{all:?}"
    );
    let many = turns(&ROLES, 0, (2, 400), 7, false, true).proofs;
    assert_eq!(
        many.iter().map(|round| round / 100).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
    assert_eq!(
        turns(&ROLES, 0, (0, 1), 7, false, true).proofs,
        [0],
        "the first launch has one"
    );
    let proves = |rounds: u32, seed: u64| {
        turns(&ROLES, 5, (0, rounds), seed, false, true).proofs[0] < rounds
    };
    let of_hundred = |rounds| (0..800).filter(|&seed| proves(rounds, seed)).count() / 8;
    assert!((9..=16).contains(&of_hundred(1)), "{}", of_hundred(1));
    assert!((45..=55).contains(&of_hundred(4)), "{}", of_hundred(4));
    assert_eq!(of_hundred(8), 100);
    assert!(
        turns(&ROLES, 5, (0, 1), 7, false, false).proofs.is_empty(),
        "a worker that always proves"
    );
}

#[test]
fn a_figure_of_a_sampled_phase_has_a_proving_round_in_every_launch() {
    let proving = |proves: bool| {
        let state = State::new(plan(|p| p.cells[0].proves = proves));
        let launch = |block| Launch {
            launch_group: 0,
            block,
            rounds: 1,
            warmup_rounds: 0,
            at_most_s: None,
            cells: vec![0, 1],
        };
        (1..40)
            .filter(|&block| of_launch(&state, &launch(block), &[0, 1], true).proofs == [0])
            .count()
    };
    assert_eq!(proving(true), 39);
    assert!((1..20).contains(&proving(false)), "{}", proving(false));
}

#[test]
fn where_nothing_else_is_measured_limits_are() {
    assert!(
        turns(&[Role::Limit, Role::Null], 3, (1, 5), 7, false, true)
            .uneven(2)
            .is_empty()
    );
    assert!(
        turns(&ROLES, 3, (1, 5), 7, true, true).uneven(4).is_empty(),
        "the conformance suite"
    );
}
