//! Promises of the scheduler on machines of every kind.

use proptest::prelude::*;
use record::plan::Plan;

use crate::machine::{
    Done, Machine, Manner, UntilLaunched, add_experiment, add_method, add_slow, plan,
};

/// A method of any kind: nanoseconds of a phase between 1 µs and 3 s.
fn manner() -> impl Strategy<Value = Manner> {
    let takes = (3.0..9.5_f64, 0.0..0.5_f64)
        .prop_map(|(digits, share)| Manner::Takes(10_f64.powf(digits), share));
    prop_oneof![8 => takes, 1 => Just(Manner::Dies), 1 => Just(Manner::Skips)]
}

#[derive(Clone, Debug)]
struct Setup {
    manners: Vec<Manner>,
    experiments: usize,
    slow: usize,
    overview: bool,
    claims: bool,
    budget_s: f64,
    launches: (u32, u32),
    precision: f64,
}

fn setup() -> impl Strategy<Value = Setup> {
    let sizes = (1..4_usize, 0..3_usize, prop::bool::ANY, prop::bool::ANY);
    let goal = (
        0.0..3.0_f64,
        1..8_u32,
        0..40_u32,
        prop_oneof![Just(0.0), Just(0.01), Just(0.1)],
    );
    (prop::collection::vec(manner(), 6), sizes, goal).prop_map(|(manners, sizes, goal)| Setup {
        manners,
        experiments: sizes.0,
        slow: sizes.1,
        overview: sizes.2,
        claims: sizes.3,
        budget_s: 10_f64.powf(goal.0),
        launches: (goal.1, goal.1 + goal.2),
        precision: goal.3,
    })
}

const NAMES: [&str; 6] = [
    "touch",
    "populate-write",
    "null",
    "third",
    "slow-0",
    "slow-1",
];

fn planned(setup: &Setup) -> Plan {
    plan(|p| {
        add_method(p, "third");
        (1..setup.experiments).for_each(|number| add_experiment(p, &format!("other-{number}")));
        for number in 0..setup.slow.min(2) {
            let experiment = p.experiments[number % setup.experiments].name.clone();
            add_slow(p, &experiment, &format!("slow-{number}"));
        }
        (p.usual_first, p.budget_s, p.precision) =
            (setup.overview, setup.budget_s, setup.precision);
        (p.min_launches, p.max_launches) = setup.launches;
    })
}

fn done(setup: &Setup) -> Done {
    let plan = planned(setup);
    let manners: Vec<(&str, Manner)> = NAMES
        .into_iter()
        .zip(setup.manners.iter().copied())
        .collect();
    let cells = ["touch", "third"].map(|m| {
        plan.cells
            .iter()
            .map(|p| &p.cell)
            .find(|c| c.method == m)
            .unwrap()
            .clone()
    });
    let undecided = UntilLaunched(cells.to_vec(), 30);
    let machine = Machine::new(&manners);
    if setup.claims {
        machine.asking(&undecided).run(plan)
    } else {
        machine.run(plan)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// `Machine::run` panics after twenty thousand actions.
    #[test]
    fn every_run_ends_and_its_last_launch_is_begun_within_the_budget(setup in setup()) {
        let done = done(&setup);
        prop_assert!(done.last_s.0 <= setup.budget_s, "begun at {} s", done.last_s.0);
    }

    #[test]
    fn no_block_is_launched_twice_and_none_beyond_the_most(setup in setup()) {
        let done = done(&setup);
        let mut judged: Vec<(usize, i32)> =
            done.records.iter().filter(|r| r.block >= 0).map(|r| (r.launch_group, r.block)).collect();
        prop_assert!(judged.iter().all(|(_, block)| *block < setup.launches.1.max(6) as i32));
        let launches = judged.len();
        judged.sort_unstable();
        judged.dedup();
        prop_assert_eq!(judged.len(), launches);
    }

    /// The same machine with one method slower by any factor is launched in the same way, as long as time does not matter: an
    /// ordinary run sees widths and no differences.
    #[test]
    fn no_difference_decides_an_ordinary_run(factor in 0.01..100.0_f64, share in 0.0..0.3_f64, target in 0.005..0.1_f64) {
        let launches = |ns: f64| {
            let plan = plan(|p| (p.rounds, p.budget_s, p.precision) = (Some(3), 1e9, target));
            let manners = [("touch", Manner::Takes(1e6, share)), ("populate-write", Manner::Takes(ns, share))];
            let done = Machine::new(&manners).run(plan);
            done.records.into_iter().map(|r| (r.launch_group, r.block, r.cells, r.rounds)).collect::<Vec<_>>()
        };
        prop_assert_eq!(launches(1e6), launches(1e6 * factor));
    }
}

/// Seen by chance: the pilot of a long job counts as its first launch. It took too long, and was tried again as the same block.
#[test]
fn a_first_launch_that_took_too_long_is_not_tried_again_as_the_same_block() {
    let takes = |ns| Manner::Takes(ns, 0.0);
    let manners = [vec![takes(1e3); 5], vec![takes(1_340_138_628.3)]].concat();
    let (experiments, slow, budget_s) = (2, 2, 42.583_472_69);
    let setup = Setup {
        manners,
        experiments,
        slow,
        overview: false,
        claims: false,
        budget_s,
        launches: (1, 1),
        precision: 0.0,
    };
    let done = done(&setup);
    let blocks: Vec<_> = done
        .records
        .iter()
        .filter(|r| r.block >= 0)
        .map(|r| (r.launch_group, r.block))
        .collect();
    let once: std::collections::BTreeSet<_> = blocks.iter().collect();
    assert_eq!(once.len(), blocks.len(), "{blocks:?}");
}
