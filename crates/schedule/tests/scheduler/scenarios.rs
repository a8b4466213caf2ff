//! Runs of known machines.

use record::decision::DecisionKind;
use record::decision::{Ending, Reason};
use record::launches::End;
use record::method::Role;
use record::outcome::{Cause, Outcome, Status};
use record::plan::{LaunchGroup, Plan};
use record::state::State;
use record::summary::WarningKind;

use crate::machine::{
    Machine, Manner, UntilLaunched, add_condition, add_experiment, add_method, add_slow, plan,
};

const WILD: [(&str, Manner); 2] = [
    ("touch", Manner::Takes(1e6, 0.4)),
    ("populate-write", Manner::Takes(5e5, 0.4)),
];

fn phases() -> f64 {
    plan(|_| ()).cells[0].method.phases.len() as f64
}

#[test]
fn precise_ratios_have_the_least_launches() {
    let done = Machine::new(&[]).run(plan(|_| ()));
    assert_eq!(
        (done.reason("fault"), done.launches("touch")),
        (Some(Reason::Precise), 6)
    );
    let again = State::after(plan(|_| ()), &done.decisions).unwrap();
    assert_eq!(
        again.launch_groups, done.state.launch_groups,
        "the decisions alone tell the run again"
    );
}

#[test]
fn varying_ratios_are_launched_until_the_budget_ends_and_no_launch_is_begun_without_time() {
    let done = Machine::new(&WILD).run(plan(|p| (p.budget_s, p.max_launches) = (2.0, 400)));
    assert_eq!(done.reason("fault"), Some(Reason::BudgetSpent));
    assert!(done.launches("touch") > 6);
    let shortest = done
        .records
        .iter()
        .map(|record| record.wall_s)
        .fold(f64::MAX, f64::min);
    assert!(
        done.last_s.0 + shortest <= 2.0,
        "the last launch was begun {} s into a budget of 2 s",
        done.last_s.0
    );
}

#[test]
fn a_run_that_ends_on_words_ends_with_them_and_not_with_the_budget() {
    let seconds = |p: &mut Plan| (p.ends_on_words, p.budget_s, p.max_launches) = (true, 40.0, 400);
    let clear = [
        ("touch", Manner::Takes(1e6, 0.05)),
        ("populate-write", Manner::Takes(5e5, 0.05)),
    ];
    let done = Machine::new(&clear).run(plan(seconds));
    assert_eq!(done.reason("fault"), Some(Reason::Settled));
    assert!(done.launches("touch") < 12, "{}", done.launches("touch"));
    // What is not to be told apart has no word, and takes the time there is.
    let alike = [
        ("touch", Manner::Takes(1e6, 0.4)),
        ("populate-write", Manner::Takes(1.02e6, 0.4)),
    ];
    let done = Machine::new(&alike).run(plan(|p| {
        seconds(p);
        p.budget_s = 2.0;
    }));
    assert_eq!(done.reason("fault"), Some(Reason::BudgetSpent));
}

#[test]
fn the_most_launches_end_a_run_that_is_not_precise() {
    let done = Machine::new(&WILD).run(plan(|p| p.max_launches = 9));
    assert_eq!(
        (done.reason("fault"), done.launches("touch")),
        (Some(Reason::NothingOpen), 9)
    );
}

#[test]
fn a_set_that_had_all_its_launches_is_not_called_as_narrow_as_requested() {
    let two = plan(|p| {
        add_condition(p, "wild");
        p.max_launches = 9;
    });
    let done = Machine::new(&[("wild", Manner::Takes(7e5, 0.4))]).run(two);
    assert_eq!(
        (done.launches("wild"), done.reason("fault")),
        (9, Some(Reason::NothingOpen))
    );
    assert!(
        done.launches("populate-write") < 9,
        "the precise set is open, and needs no more"
    );
}

#[test]
fn the_overview_measures_the_usual_condition_with_more_weight_than_its_neighbors() {
    let seconds = |usual_first: bool| {
        let two = plan(|p| {
            add_condition(p, "wild");
            (p.usual_first, p.budget_s, p.max_launches) = (usual_first, 4.0, 400);
        });
        let all = [
            ("populate-write", Manner::Takes(7e5, 0.2)),
            ("wild", Manner::Takes(7e5, 0.2)),
        ];
        let done = Machine::new(&all).run(two);
        assert!(done.spent_s() <= 4.0);
        assert!(
            ["populate-write", "wild"]
                .iter()
                .all(|method| done.launches(method) >= 6)
        );
        ["populate-write", "wild"].map(|method| {
            let cell = done
                .state
                .cells
                .iter()
                .position(|c| c.cell.method == method && !c.twin)
                .unwrap();
            done.records
                .iter()
                .filter(|record| record.cells.contains(&cell))
                .map(|record| record.wall_s)
                .sum::<f64>()
        })
    };
    let [usual, neighbor] = seconds(true);
    assert!(usual >= 2.0 * neighbor, "{usual} and {neighbor} s");
    let [usual, neighbor] = seconds(false);
    assert!(
        usual < 2.0 * neighbor,
        "a run that names its values weighs them alike: {usual} and {neighbor} s"
    );
}

#[test]
fn a_neighboring_condition_comes_after_the_usual_one_and_only_with_time_for_its_least_launches() {
    // A launch of the usual condition takes so many seconds, of a budget of ten.
    for (launch_s, is_measured) in [(0.1, true), (2.0, false)] {
        let two = plan(|p| {
            add_condition(p, "wild");
            (p.usual_first, p.budget_s, p.max_launches) = (true, 10.0, 400);
        });
        let takes = Manner::Prepares(launch_s / 2.0);
        let done = Machine::new(&[("populate-write", takes), ("wild", takes)]).run(two);
        let place = |method: &str| {
            let mut cells = done.state.cells.iter();
            cells
                .position(|c| c.cell.method == method && !c.twin)
                .unwrap()
        };
        let [usual, wild] = ["populate-write", "wild"].map(place);
        let first = done
            .records
            .iter()
            .position(|record| record.cells.contains(&wild));
        assert_eq!(first.is_some(), is_measured, "{launch_s}");
        let before = &done.records[..first.unwrap_or(0)];
        let of_usual = before.iter().filter(|record| record.cells.contains(&usual));
        assert!(!is_measured || of_usual.count() >= 4, "{launch_s}");
    }
}

/// The seconds of two questions in an overview, whose methods behave so.
fn seconds_of_two(precision: f64, manners: [Manner; 2]) -> [f64; 2] {
    let two = plan(|p| {
        add_experiment(p, "other");
        let other = p
            .cells
            .iter_mut()
            .map(|planned| &mut planned.cell)
            .filter(|cell| cell.experiment == "other");
        other
            .filter(|cell| cell.method == "populate-write")
            .for_each(|cell| cell.method = "slow".to_owned());
        (p.usual_first, p.budget_s, p.max_launches, p.precision) = (true, 150.0, 4000, precision);
    });
    let done = Machine::new(&[("populate-write", manners[0]), ("slow", manners[1])]).run(two);
    ["fault", "other"].map(|experiment| {
        let mine = |group: usize| done.state.launch_groups[group].experiment == experiment;
        done.records
            .iter()
            .filter(|r| r.block >= 0 && mine(r.launch_group))
            .map(|r| r.wall_s)
            .sum::<f64>()
    })
}

#[test]
fn in_the_overview_a_cheap_question_has_as_much_time_as_a_dear_one() {
    let seconds = seconds_of_two(0.0, [Manner::Takes(7e5, 0.2), Manner::Takes(3e8, 0.2)]);
    // The six least launches of the dear one come beside it.
    assert!(
        seconds[0] < seconds[1] && seconds[1] < 2.0 * seconds[0],
        "{seconds:?}"
    );
}

#[test]
fn in_the_overview_a_narrow_question_leaves_its_time_to_a_wide_one() {
    let (wide, narrow) = (Manner::Takes(7e5, 1.0), Manner::Takes(7e5, 0.01));
    let seconds = seconds_of_two(0.02, [narrow, wide]);
    assert!(seconds[1] > 120.0, "{seconds:?}");
}

#[test]
fn a_precise_method_leaves_the_launches_and_its_baseline_stays() {
    let third = plan(|p| {
        add_method(p, "wild");
        p.max_launches = 20;
    });
    let done = Machine::new(&[("wild", Manner::Takes(7e5, 0.4))]).run(third);
    assert_eq!(
        ["populate-write", "wild", "touch"].map(|method| done.launches(method)),
        [6, 20, 20]
    );
    let twin = done.state.cells.iter().position(|c| c.twin).unwrap();
    assert!(
        done.records.last().unwrap().cells.contains(&twin),
        "the A/A check goes on"
    );
}

/// The lower bound of a run with such lower bounds, whether a warning tells that it was beaten, and the largest share of it.
fn with_lower_bounds(manners: &[(&str, Manner)]) -> (String, Vec<String>, f64) {
    let bounded = plan(|p| {
        for (name, _) in manners.iter().filter(|(name, _)| name.starts_with("limit")) {
            add_method(p, name);
            p.cells.last_mut().unwrap().method.role = Role::Limit;
        }
    });
    let done = Machine::new(manners).run(bounded);
    let summary =
        judge::summarise(&done.state, &done.evidence, judge::Circumstances::default()).unwrap();
    let best = summary
        .groups
        .iter()
        .find_map(|group| group.best_possible)
        .unwrap();
    let beaten = summary
        .warnings
        .iter()
        .filter_map(|warning| match &warning.kind {
            WarningKind::BestPossibleBeaten { by } => Some(by.clone()),
            _ => None,
        });
    let headline = &summary.experiments[0].headline;
    let shares = summary
        .cells
        .iter()
        .filter_map(|cell| cell.phases.get(headline)?.of_best_possible);
    (
        summary.cells[best].method.clone(),
        beaten.collect(),
        shares.map(|share| share.ratio).fold(0.0, f64::max),
    )
}

#[test]
fn a_lower_bound_that_is_beaten_gives_its_place_to_the_winner() {
    let (best, beaten, largest) = with_lower_bounds(&[("limit", Manner::Takes(1e5, 0.0))]);
    assert_eq!((best.as_str(), beaten.len()), ("limit", 0));
    assert!((0.1..=1.0).contains(&largest), "{largest}");
    let (best, beaten, largest) = with_lower_bounds(&[("limit", Manner::Takes(7e5, 0.0))]);
    assert_eq!(best, "populate-write");
    assert!(
        beaten.len() == 1 && beaten[0].contains("populate-write"),
        "{beaten:?}"
    );
    assert!(
        (0.5..=1.0).contains(&largest),
        "nothing is below the lower bound: {largest}"
    );
}

#[test]
fn of_two_lower_bounds_the_lesser_counts_however_few_launches_they_have() {
    // A launch has one round, and a lower bound takes part in one of three: there is no interval.
    let slow = [
        ("touch", 1e8),
        ("populate-write", 8e7),
        ("limit-first", 7e7),
        ("limit-second", 5e7),
    ];
    let (best, beaten, _) =
        with_lower_bounds(&slow.map(|(name, ns)| (name, Manner::Takes(ns, 0.0))));
    assert_eq!((best.as_str(), beaten.len()), ("limit-second", 0));
}

#[test]
fn what_decides_no_claim_has_the_launches_of_an_interval_too() {
    // As a state and the plain machine: two launch groups of one set, and only one of them decides.
    let two = plan(|p| {
        add_method(p, "wild");
        let cell = p.launch_groups[0].cells.pop().unwrap();
        p.launch_groups.push(LaunchGroup {
            cells: vec![cell],
            ..p.launch_groups[0].clone()
        });
    });
    let cells = ["touch", "populate-write"].map(|m| {
        two.cells
            .iter()
            .find(|c| c.cell.method == m)
            .unwrap()
            .cell
            .clone()
    });
    let undecided = UntilLaunched(cells.to_vec(), 17);
    let done = Machine::new(&[("wild", Manner::Takes(7e5, 0.1))])
        .asking(&undecided)
        .run(two);
    assert_eq!(
        ["touch", "wild"].map(|method| done.launches(method)),
        [17, 6]
    );
}

#[test]
fn what_prepares_its_samples_for_long_is_launched_and_not_only_tried() {
    let two = plan(|p| (p.budget_s, p.max_launches) = (20.0, 40));
    let done = Machine::new(&[
        ("populate-write", Manner::Prepares(0.4)),
        ("touch", Manner::Prepares(0.4)),
    ])
    .run(two);
    assert!(
        done.launches("populate-write") >= 3,
        "{:?}",
        done.records
            .iter()
            .map(|r| (r.block, r.wall_s))
            .collect::<Vec<_>>()
    );
}

#[test]
fn the_pilot_of_a_single_claim_may_be_slow() {
    let slow = plan(|p| {
        p.budget_s = 100.0;
        add_slow(p, "fault", "slow");
    });
    let cell = slow
        .cells
        .iter()
        .find(|planned| planned.cell.method == "slow")
        .unwrap()
        .cell
        .clone();
    let undecided = UntilLaunched(vec![cell], 6);
    let done = Machine::new(&[("slow", Manner::Takes(4e9 / phases(), 0.0))])
        .asking(&undecided)
        .run(slow);
    assert!(done.launches("slow") >= 6, "{}", done.launches("slow"));
}

#[test]
fn an_undecided_comparison_goes_on_alone_until_it_is_decided() {
    let more = || {
        plan(|p| {
            add_method(p, "wild");
            p.max_launches = 100;
        })
    };
    let cells = ["touch", "wild"].map(|m| {
        more()
            .cells
            .into_iter()
            .map(|p| p.cell)
            .find(|c| c.method == m)
            .unwrap()
    });
    let wild = [("wild", Manner::Takes(7e5, 0.4))];
    let undecided = UntilLaunched(cells.to_vec(), 17);
    let done = Machine::new(&wild).asking(&undecided).run(more());
    assert_eq!(
        ["populate-write", "wild", "touch"].map(|method| done.launches(method)),
        [6, 17, 17]
    );
    assert!(
        matches!(
            done.endings[..],
            [Ending::Claims {
                likely: 0,
                near_edge: 0,
                ..
            }]
        ),
        "{:?}",
        done.endings
    );
    // An interim analysis that the time does not hold is not begun.
    let undecided = UntilLaunched(cells.to_vec(), 90);
    let done = Machine::new(&wild).asking(&undecided).run(Plan {
        budget_s: 0.4,
        ..more()
    });
    assert!(
        done.spent_s() <= 0.4 && done.launches("wild") < 90,
        "{} s",
        done.spent_s()
    );
}

#[test]
fn a_cell_that_kills_its_process_is_found_by_launching_each_alone() {
    let done = Machine::new(&[("populate-write", Manner::Dies)]).run(plan(|_| ()));
    let dead = done
        .state
        .cells
        .iter()
        .find(|c| c.cell.method == "populate-write")
        .unwrap();
    let outcome = dead.outcome.as_ref().unwrap();
    assert!(
        outcome.status == Status::Failed
            && matches!(
                outcome.cause,
                Some(Cause::Ended {
                    end: End::Signal(9),
                    ..
                })
            ),
        "{outcome:?}"
    );
    assert!(
        done.state
            .cells
            .iter()
            .filter(|c| c.cell.method == "touch")
            .all(|c| c.outcome.is_none())
    );
    assert_eq!(done.launches("touch"), 6);
    assert_eq!(
        done.decisions
            .iter()
            .filter(|d| matches!(d.what, DecisionKind::Split { .. }))
            .count(),
        1
    );
}

#[test]
fn a_skipped_cell_has_its_reason_and_the_rest_goes_on() {
    let done = Machine::new(&[("populate-write", Manner::Skips)]).run(plan(|_| ()));
    let skipped = done
        .state
        .cells
        .iter()
        .find(|c| c.cell.method == "populate-write")
        .unwrap();
    let lacks = Cause::Lacks {
        text: "there is no pool here".to_owned(),
    };
    assert_eq!(
        skipped.outcome,
        Some(Outcome::because(Status::Skipped, lacks))
    );
    assert_eq!(done.launches("touch"), 6);
}

#[test]
fn an_experiment_without_a_ranked_ratio_ends_so() {
    let skips = [("touch", Manner::Skips), ("populate-write", Manner::Skips)];
    let done = Machine::new(&skips).run(plan(|_| {}));
    let end = |ending: &Ending| {
        matches!(
            ending,
            Ending::Experiment {
                reason: Reason::Precise,
                widest: None,
                ..
            }
        )
    };
    assert!(done.endings.iter().any(end), "{:?}", done.endings);
}

#[test]
fn a_comparison_that_the_budget_does_not_hold_is_left_to_a_longer_run() {
    let slow = |budget_s: f64| {
        plan(move |p| {
            add_slow(p, "fault", "slow");
            p.budget_s = budget_s;
        })
    };
    let machine = || Machine::new(&[("slow", Manner::Takes(3e9, 0.0))]);
    let done = machine().run(slow(60.0));
    assert_eq!((done.launches("slow"), done.launches("touch")), (0, 6));
    assert!(
        done.state.cells.iter().all(|c| c.outcome.is_none()),
        "a pilot that was ended concludes nothing"
    );
    assert!(done.state.launch_groups.last().unwrap().stage.is_left_out());
    assert!(done.spent_s() < 30.0, "{} s", done.spent_s());
    assert!(machine().run(slow(6000.0)).launches("slow") >= 6);
}

#[test]
fn the_first_launch_is_judged_and_those_of_a_long_job_are_of_one_kind() {
    let long = |budget_s: f64, usual_first: bool| {
        plan(move |p| {
            (p.budget_s, p.usual_first) = (budget_s, usual_first);
            add_slow(p, "fault", "slow");
        })
    };
    let machine = || Machine::new(&[("slow", Manner::Takes(2e9 / phases(), 0.0))]);
    let done = machine().run(long(40.0, false));
    let slow: Vec<_> = done
        .records
        .iter()
        .filter(|record| record.launch_group == 1)
        .collect();
    let blocks: Vec<i32> = slow.iter().map(|record| record.block).collect();
    assert_eq!(
        blocks,
        (0..blocks.len() as i32).collect::<Vec<_>>(),
        "no pilot beside the launches"
    );
    assert!(
        blocks.len() >= 6 && done.launches("slow") == blocks.len(),
        "{blocks:?}"
    );
    assert!(
        slow.iter().all(|record| record.rounds == 1),
        "all are of one kind"
    );
    for usual_first in [false, true] {
        let done = machine().run(long(600.0, usual_first));
        assert!(
            done.records.iter().all(|record| record.block >= 0),
            "however much time there is"
        );
    }
}

#[test]
fn an_article_launches_every_row_before_any_again_and_leaves_none_out_for_another() {
    let rows = |budget_s: f64| {
        plan(move |p| {
            (p.budget_s, p.articles) = (budget_s, vec!["P5".to_owned()]);
            add_slow(p, "fault", "slow");
        })
    };
    let machine = || Machine::new(&[("slow", Manner::Takes(8e9 / phases(), 0.1))]);
    let done = machine().run(rows(40.0));
    let blocks: Vec<i32> = done.records.iter().map(|record| record.block).collect();
    let again = blocks.iter().position(|block| *block == 1).unwrap();
    assert!(
        done.records[..again].iter().any(|r| r.launch_group == 1),
        "the costly row had its first launch: {blocks:?}"
    );
    assert!(done.launches("slow") >= 2 && done.launches("touch") >= 2);
    let is_left_out = |decision: &record::decision::Decision| {
        matches!(decision.what, DecisionKind::LeftOut { .. })
    };
    assert!(!done.decisions.iter().any(is_left_out));
    // Its bytes alone take 4 s.
    let done = machine().run(rows(2.0));
    assert_eq!(done.launches("slow"), 0);
    assert!(done.launches("touch") >= 6, "the cheap row has all of it");
}

#[test]
fn an_article_ends_with_its_time() {
    let rows = |budget_s: f64| {
        plan(move |p| {
            (p.budget_s, p.articles) = (budget_s, vec!["P3".to_owned()]);
            add_slow(p, "fault", "slow");
        })
    };
    // It takes much longer than a guess by its bytes.
    let slow = || Machine::new(&[("slow", Manner::Takes(60e9 / phases(), 0.0))]);
    for budget_s in [5.0, 10.0, 30.0] {
        let done = slow().run(rows(budget_s));
        let end_s = done.last_s.1;
        assert!(end_s <= budget_s + 0.5 + 1e-9, "{end_s} of {budget_s} s");
        assert!(done.launches("touch") > 0 && done.launches("slow") == 0);
    }
    // Its file alone takes as long as there is; what is made already takes nothing.
    let of_file = |name: &str| Some((name.to_owned(), 1_u64 << 30));
    let quick = || Machine::new(&[("slow", Manner::Takes(1e6, 0.0))]);
    let launches = |budget_s: f64, of_others: &str| {
        let rows = rows(budget_s);
        let mut inputs = vec![of_file(of_others); rows.cells.len()];
        *inputs.last_mut().unwrap() = of_file("of slow");
        quick().reading(inputs).run(rows).launches("slow")
    };
    assert_eq!(launches(6.0, "of others"), 0);
    assert!(launches(6.0, "of slow") > 0 && launches(12.0, "of others") > 0);
}

#[test]
fn the_first_launch_of_an_article_s_row_has_no_hidden_duplicate() {
    let rows = plan(|p| (p.budget_s, p.articles) = (5.0, vec!["P4".to_owned()]));
    let twin = rows.cells.iter().position(|cell| cell.twin).unwrap();
    let done = Machine::new(&[]).run(rows);
    assert!(!done.records[0].cells.contains(&twin));
    assert!(done.records[1..].iter().any(|r| r.cells.contains(&twin)));
}

#[test]
fn rows_of_an_article_that_are_compared_come_before_a_lone_one_that_costs_more_than_each() {
    let rows = plan(|p| {
        (p.budget_s, p.articles) = (40.0, vec!["P1".to_owned()]);
        add_slow(p, "fault", "slow");
        let slow = p.cells.last_mut().unwrap();
        let bytes = (64_u64 << 20).to_string();
        slow.cell.parameters.insert("bytes".to_owned(), bytes);
    });
    let compared = rows.launch_groups[0].cells.len();
    assert!(
        compared >= 3,
        "together they are guessed to take longer than the lone one"
    );
    let done = Machine::new(&[("slow", Manner::Takes(1e6, 0.0))]).run(rows);
    assert_eq!(done.records[0].launch_group, 0);
}

#[test]
fn left_out_comparisons_are_tried_again_and_the_shortest_comes_first_in_all_experiments() {
    let three = plan(|p| {
        p.experiments[0].budget_s = Some(10.0);
        add_experiment(p, "second");
        add_experiment(p, "first");
        add_slow(p, "first", "slower");
        add_slow(p, "second", "slow");
        p.budget_s = 100.0;
    });
    // Neither fits into a third of the time, and both together do not fit into all of it.
    let manners = [
        ("slower", Manner::Takes(14e9 / phases(), 0.0)),
        ("slow", Manner::Takes(9e9 / phases(), 0.0)),
    ];
    let done = Machine::new(&manners).run(three);
    let launches = |method: &str| done.launches(method);
    assert!(
        launches("slow") >= 4 && launches("slower") < 4,
        "{} and {}",
        launches("slow"),
        launches("slower")
    );
    assert!(done.spent_s() <= 100.0, "{} s", done.spent_s());
}

#[test]
fn time_left_over_goes_to_comparisons_of_other_experiments() {
    let two = plan(|p| {
        p.experiments[0].budget_s = Some(10.0);
        add_experiment(p, "other");
        add_slow(p, "other", "slow");
        p.budget_s = 100.0;
    });
    // A launch takes 12 s: half of the time does not hold the launches of an interval, and nearly all of it does.
    let done = Machine::new(&[("slow", Manner::Takes(12e9 / phases(), 0.0))]).run(two);
    assert!(done.launches("slow") >= 4, "{}", done.launches("slow"));
    assert!(done.spent_s() <= 100.0, "{} s", done.spent_s());
    let ends = done
        .endings
        .iter()
        .filter(|e| matches!(e, Ending::Experiment { experiment, .. } if experiment == "other"));
    assert_eq!(ends.count(), 1, "an experiment has one end");
}

#[test]
fn experiments_take_turns_and_all_have_their_least_launches_first() {
    let two = plan(|p| {
        add_experiment(p, "other");
        (p.budget_s, p.max_launches) = (6.0, 400);
    });
    let done = Machine::new(&WILD).run(two);
    let judged: Vec<usize> = done
        .records
        .iter()
        .filter(|r| r.block >= 0)
        .map(|r| r.launch_group)
        .collect();
    let visits: Vec<usize> = judged.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
    assert_eq!(
        visits.len(),
        6,
        "the least of both, then two visits each: {visits:?}"
    );
    assert_eq!(visits[..2], [4, 4]);
    assert!(
        visits[2..].iter().all(|launches| *launches > 1),
        "{visits:?}"
    );
    assert_eq!(
        [done.reason("fault"), done.reason("other")],
        [Some(Reason::BudgetSpent); 2]
    );
}

/// The launches of a usual and of a neighboring condition in each visit of their experiment.
fn launches_of_visits(spread: f64) -> Vec<[usize; 2]> {
    let two = plan(|p| {
        add_condition(p, "wild");
        add_experiment(p, "other");
        (p.usual_first, p.budget_s, p.max_launches) = (true, 150.0, 4000);
    });
    let all = [
        ("populate-write", Manner::Takes(7e5, spread)),
        ("wild", Manner::Takes(7e5, spread)),
    ];
    let done = Machine::new(&all).run(two);
    let cells = ["populate-write", "wild"].map(|m| {
        done.state
            .cells
            .iter()
            .position(|c| c.cell.method == m && !c.twin)
            .unwrap()
    });
    let experiment = |launch_group: usize| &done.state.launch_groups[launch_group].experiment;
    let judged: Vec<_> = done.records.iter().filter(|r| r.block >= 0).collect();
    let visits = judged.chunk_by(|a, b| experiment(a.launch_group) == experiment(b.launch_group));
    let visits = visits.filter(|visit| experiment(visit[0].launch_group) == "fault");
    // Before the first visit every comparison had its first launch.
    visits
        .skip(1)
        .map(|visit| {
            cells.map(|cell| {
                visit
                    .iter()
                    .filter(|record| record.cells.contains(&cell))
                    .count()
            })
        })
        .collect()
}

#[test]
fn an_overview_launches_every_comparison_in_every_visit_and_a_neighbor_less_often() {
    for (spread, precise) in [(0.0, true), (0.4, false)] {
        let visits = launches_of_visits(spread);
        // In the last of six visits nothing is launched that is precise.
        assert_eq!(visits.len(), if precise { 5 } else { 6 }, "{visits:?}");
        assert!(
            visits[..4]
                .iter()
                .all(|[usual, neighbor]| *usual >= 1 && *neighbor >= 1),
            "{visits:?}"
        );
        assert_eq!(
            visits[1..4].iter().all(|[usual, _]| *usual == 1),
            precise,
            "{visits:?}"
        );
        assert!(
            precise || visits.iter().all(|[usual, neighbor]| usual > neighbor),
            "{visits:?}"
        );
    }
}

#[test]
fn a_batch_is_chosen_by_five_launches_and_its_samples_are_short_against_a_tick() {
    let batched = plan(|p| {
        for cell in &mut p.cells {
            cell.free_batch = true;
            cell.cell
                .parameters
                .insert("batch".to_owned(), "1".to_owned());
        }
    });
    let short = [
        ("touch", Manner::Takes(1e3, 0.0)),
        ("populate-write", Manner::Takes(5e2, 0.0)),
    ];
    let done = Machine::new(&short).run(batched);
    assert_eq!(
        done.records
            .iter()
            .filter(|record| record.block == -2)
            .count(),
        5
    );
    assert!(
        done.decisions
            .iter()
            .any(|d| matches!(d.what, DecisionKind::Batch { batch: 2..=100, .. })),
        "100 µs at the most"
    );
}

#[test]
fn a_resumed_run_goes_on_from_where_it_was_left() {
    let first = plan(|p| p.max_launches = 3);
    let done = Machine::new(&[]).run(first.clone());
    let before = done.records.len();
    let done = Machine::new(&[]).go_on(
        Plan {
            max_launches: 8,
            ..first
        },
        Some(done),
    );
    let numbers: Vec<usize> = done.records.iter().map(|record| record.launch).collect();
    assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
    assert!(numbers.len() > before && done.launches("touch") >= 6);
    let blocks: Vec<i32> = done
        .records
        .iter()
        .map(|r| r.block)
        .filter(|block| *block >= 0)
        .collect();
    assert_eq!(
        blocks,
        (0..blocks.len() as i32).collect::<Vec<_>>(),
        "no block is made twice"
    );
}
