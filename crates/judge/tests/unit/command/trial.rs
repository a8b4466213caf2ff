//! The judging of tries compared with simulated programs whose true costs are known.

use std::collections::BTreeMap;

use record::command::{Arm, CommandCost, CommandEnd, FailureKind, ObservedEffects, SettingEffect};
use record::setting::{Proof, Setting};
use record::summary::NoteKind;
use stats::rng::Seeded;
use stats::stopping::{GroupProgress, NextStep, StoppingGoal, decide};

use super::*;

fn arm(name: &str, role: ArmRole, setting: Option<Setting>) -> Arm {
    let command = vec!["program".to_owned()];
    Arm {
        name: name.to_owned(),
        role,
        shown: "program".to_owned(),
        command,
        setting,
        variables: BTreeMap::new(),
        preloaded: None,
        cpus: None,
        skipped: None,
    }
}

fn plan(pairs: Option<usize>) -> CommandPlan {
    let setting = Setting {
        name: "thp".to_owned(),
        proof: vec![Proof::Huge, Proof::Faults],
        ..Setting::default()
    };
    CommandPlan {
        schema: 2,
        kind: record::kind::Kind::Try,
        run: "r".to_owned(),
        seed: 1,
        arms: vec![
            arm("as it is", ArmRole::Baseline, None),
            arm("thp", ArmRole::Setting, Some(setting)),
            arm("other", ArmRole::Command, None),
            arm("again", ArmRole::Again, None),
        ],
        directory: "/".into(),
        precision: 0.01,
        margin: 0.01,
        pairs,
        warmups: 1,
        time_limit_s: 60.0,
        ..CommandPlan::default()
    }
}

fn run(arm: usize, block: i64, cpu_s: f64, faults: u64) -> CommandLaunch {
    let cost = CommandCost {
        end: CommandEnd::Exit,
        code: 0,
        wall_ns: (cpu_s * 1.1e9) as u64,
        user_us: (cpu_s * 0.8e6) as u64,
        system_us: (cpu_s * 0.2e6) as u64,
        max_rss_kib: 10_000,
        minor_faults: faults,
        major_faults: 0,
        voluntary_switches: 1,
        involuntary_switches: 1,
        output_bytes: 5,
        output_hash: "ab".to_owned(),
        error_bytes: 0,
        left: 0,
        not_evicted: 0,
        read_bytes: 0,
        write_bytes: 0,
        read_calls: 0,
        write_calls: 0,
        dirtied_pages: 0,
        faults: None,
        faults_unseen: None,
        stacks_unseen: None,
        split: None,
        process_ended: false,
        proof: (block < 0).then(ObservedEffects::default),
    };
    CommandLaunch {
        arm,
        block,
        thp: "madvise".to_owned(),
        cost: Some(cost),
        ..CommandLaunch::default()
    }
}

/// A program whose cost drifts from block to block, varies from run to run, and is sometimes disturbed.
struct Program {
    rng: Seeded,
    drift: f64,
}

impl Program {
    fn normal(&mut self) -> f64 {
        let (u, v) = (self.rng.unit().max(1e-12), self.rng.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// A block of all arms, of which the second and third cost `factor` times what the others do.
    fn block(&mut self, number: i64, factor: f64) -> Vec<CommandLaunch> {
        self.drift = 0.9 * self.drift + 0.05 * self.normal();
        let one = |arm: usize, program: &mut Program| {
            let disturbed = if program.rng.unit() < 0.08 {
                0.3 * program.rng.unit()
            } else {
                0.0
            };
            let own = if arm == 1 || arm == 2 { factor } else { 1.0 };
            let log =
                |program: &mut Program, sd: f64| program.drift + disturbed + sd * program.normal();
            let cpu = own * log(program, 0.03).exp();
            let faults = (own * 10_000.0 * (0.002 * program.normal()).exp()) as u64;
            let mut run = run(arm, number, cpu, faults);
            run.cost.as_mut().unwrap().system_us = (0.2e6 * own * log(program, 0.06).exp()) as u64;
            run.cost.as_mut().unwrap().wall_ns = (1.1e9 * own * log(program, 0.04).exp()) as u64;
            run.cost.as_mut().unwrap().max_rss_kib =
                (10_000.0 * own * (0.01 * program.normal()).exp()) as u64;
            run
        };
        (0..4).map(|arm| one(arm, self)).collect()
    }

    /// A whole try that ends at an interim analysis, on precision or after 60 blocks.
    fn tried(&mut self, plan: &CommandPlan, factor: f64) -> TrialSummary {
        let mut runs: Vec<CommandLaunch> = (0..4).map(|arm| run(arm, -1, 1.0, 10_000)).collect();
        runs[1].cost.as_mut().unwrap().proof = Some(ObservedEffects {
            huge_bytes: 64 << 20,
            processes: 1,
            ..ObservedEffects::default()
        });
        let goal = StoppingGoal {
            precision: plan.precision,
            budget_seconds: 60.0,
        };
        for number in 0.. {
            runs.extend(self.block(number, factor));
            let launches = number as usize + 1;
            let group = GroupProgress {
                launches,
                half_width: half_width(plan, &runs),
                launch_seconds: 1.0,
            };
            let done = plan.pairs.is_some_and(|n| launches >= n) || launches >= 60;
            if done
                || interim(plan, &runs).is_some()
                || (plan.pairs.is_none()
                    && matches!(decide(&goal, &[group], launches as f64), NextStep::Precise))
            {
                break;
            }
        }
        judge(plan, &runs)
    }
}

/// Tells whether anything at all is announced.
fn announces(summary: &TrialSummary) -> bool {
    let said = |a: &Against| {
        matches!(a.verdict, Verdict::Faster { .. } | Verdict::Slower { .. }) && a.holds_among_all
    };
    summary
        .arms
        .iter()
        .filter(|a| a.role != ArmRole::Again)
        .any(|a| a.against.values().any(said))
}

#[test]
fn identical_commands_are_called_different_in_at_most_5_percent_of_tries() {
    for (pairs, precision) in [
        (None, 0.02),
        (None, 0.01),
        (Some(6), 0.01),
        (Some(20), 0.01),
    ] {
        let plan = CommandPlan {
            precision,
            margin: 0.0001,
            ..plan(pairs)
        };
        let tries = 300;
        let (any, differs, outside, _) = simulated(&plan, tries, 1.0);
        // 300 tries at 5 %: 15, and two standard errors above are 23. The margin here is next to nothing on purpose.
        assert!(any <= 23, "{any} of {tries}");
        assert!(differs <= 9, "{differs} of {tries}");
        assert!(outside <= 23, "{outside} of {tries}");
    }
}

/// Tries by simulation: those that announce a difference, those that are not believed, those whose interval of CPU time does
/// not hold the true ratio, and all their blocks.
fn simulated(plan: &CommandPlan, tries: usize, factor: f64) -> (usize, usize, usize, usize) {
    let mut program = Program {
        rng: Seeded::new(20),
        drift: 0.0,
    };
    let (mut any, mut differs, mut outside, mut blocks) = (0, 0, 0, 0);
    for _ in 0..tries {
        let summary = program.tried(plan, factor);
        let ratio = summary.arms[1].against[&Measure::Cpu]
            .ratio
            .expect("six blocks");
        any += usize::from(announces(&summary));
        differs += usize::from(!summary.trusted);
        outside += usize::from(ratio.low > factor || ratio.high < factor);
        blocks += summary.blocks;
    }
    eprintln!(
        "factor {factor}, precision {}: {any}, {differs}, {outside} of {tries}; {blocks} blocks",
        plan.precision
    );
    (any, differs, outside, blocks)
}

#[test]
fn an_interim_analysis_ends_a_try_sooner_and_is_wrong_no_more_often() {
    let tries = 300;
    for margin in [0.0001, 0.01] {
        let usual = CommandPlan {
            margin,
            ..plan(None)
        };
        let plan = CommandPlan {
            interim: true,
            ..usual.clone()
        };
        // 300 tries at 5 %: 15, and two standard errors above are 23.
        let (any, differs, outside, _) = simulated(&plan, tries, 1.0);
        assert!(
            any <= 23 && differs <= 9 && outside <= 23,
            "{any}, {differs}, {outside}"
        );
        for factor in [1.02, 1.05, 1.1, 0.9] {
            let (any, _, outside, blocks) = simulated(&plan, tries, factor);
            let (any_usually, _, _, usually) = simulated(&usual, tries, factor);
            assert!(outside <= 23, "{factor}: {outside}");
            assert!(any + 6 >= any_usually, "{factor}: {any} of {any_usually}");
            assert!(
                blocks <= usually && (factor < 1.1 || 2 * blocks < usually),
                "{factor}: {blocks} of {usually}"
            );
        }
    }
}

#[test]
fn a_difference_of_ten_percent_is_found() {
    let plan = plan(None);
    let mut program = Program {
        rng: Seeded::new(7),
        drift: 0.0,
    };
    let found = (0..100).filter(|_| {
        let summary = program.tried(&plan, 0.9);
        matches!(
            summary.arms[1].against[&Measure::Cpu].verdict,
            Verdict::Faster { .. }
        ) && summary.arms[1].against[&Measure::Cpu].holds_among_all
    });
    assert!(found.count() >= 95);
}

/// A try that was interrupted: its screen says that there is no interval yet, and so nothing may rest on one.
#[test]
fn nothing_is_called_faster_before_there_are_six_blocks() {
    let tried = |blocks: i64| {
        let plan = plan(None);
        let mut program = Program {
            rng: Seeded::new(11),
            drift: 0.0,
        };
        judge(
            &plan,
            &(0..blocks)
                .flat_map(|number| program.block(number, 0.3))
                .collect::<Vec<_>>(),
        )
    };
    for blocks in 2..LEAST_LAUNCHES as i64 {
        let summary = tried(blocks);
        assert!(
            !announces(&summary) && summary.arms[2].against[&Measure::Cpu].ratio.is_none(),
            "{blocks} blocks"
        );
    }
    assert!(announces(&tried(LEAST_LAUNCHES as i64)));
}

#[test]
fn what_only_the_usual_run_saves_is_no_saving_of_the_mean() {
    let plan = plan(Some(40));
    let tried = |slow: f64| {
        let mut runs: Vec<CommandLaunch> = (0..4).map(|arm| run(arm, -1, 1.0, 10_000)).collect();
        let cost = |arm: usize, block: i64| match (arm, block % 9) {
            (2, 0 | 5) => slow,
            (2, _) => 0.7 + 0.001 * (block % 7) as f64,
            _ => 1.0 + 0.001 * (block % 5) as f64,
        };
        runs.extend(
            (0..40)
                .flat_map(|block| (0..4).map(move |arm| run(arm, block, cost(arm, block), 10_000))),
        );
        judge(&plan, &runs).arms.swap_remove(2)
    };
    let skewed = tried(1.6);
    let cpu = skewed.against[&Measure::Cpu];
    assert!(
        matches!(cpu.verdict, Verdict::Faster { .. }) && cpu.usual_only,
        "{cpu:?}"
    );
    assert_eq!(skewed.measured[&Measure::Cpu].slow_runs, 9);
    assert!(skewed.measured[&Measure::Cpu].mean > 1.25 * skewed.measured[&Measure::Cpu].median);
    let even = tried(0.7).against[&Measure::Cpu];
    assert!(
        matches!(even.verdict, Verdict::Faster { at_least } if at_least > 0.29) && !even.usual_only,
        "{even:?}"
    );
    // Where the mean saves as well, no more is promised than it shows.
    let mild = tried(1.1).against[&Measure::Cpu];
    let Verdict::Faster { at_least } = mild.verdict else {
        panic!("{mild:?}")
    };
    assert!(
        !mild.usual_only && at_least <= 1.0 - mild.mean.unwrap().high + 1e-9,
        "{mild:?}"
    );
}

#[test]
fn a_setting_that_was_not_seen_to_take_effect_has_no_figures() {
    let plan = plan(Some(6));
    let mut runs: Vec<CommandLaunch> = (0..4).map(|arm| run(arm, -1, 1.0, 10_000)).collect();
    for block in 0..6 {
        runs.extend((0..4).map(|arm| run(arm, block, if arm == 1 { 0.5 } else { 1.0 }, 10_000)));
    }
    let summary = judge(&plan, &runs);
    assert_eq!(summary.arms[1].status, ArmStatus::NoEffect);
    assert!(
        summary.arms[1].against.is_empty()
            && summary.arms[1]
                .proof
                .seen
                .iter()
                .any(|e| matches!(e, SettingEffect::Faults { .. }))
    );
    // The other command has nothing to prove.
    assert_eq!(
        (summary.arms[2].status, summary.arms[2].proof.took_effect),
        (ArmStatus::Ok, None)
    );
}

#[test]
fn an_arm_that_does_something_else_is_failed() {
    let plan = plan(Some(6));
    let sound = || {
        (0..4)
            .flat_map(|arm| [run(arm, -1, 1.0, 10), run(arm, 0, 1.0, 10)])
            .collect::<Vec<_>>()
    };
    let of = |change: &dyn Fn(&mut CommandLaunch), at: usize| {
        let mut runs = sound();
        change(&mut runs[at]);
        let summary = judge(&plan, &runs);
        (
            summary
                .arms
                .into_iter()
                .map(|a| (a.status, a.failure.map(|failure| failure.kind)))
                .collect::<Vec<_>>(),
            summary.notes,
        )
    };
    let changed = of(
        &|r| r.cost.as_mut().unwrap().output_hash = "cd".to_owned(),
        3,
    )
    .0;
    assert!(
        changed[1].0 == ArmStatus::Failed
            && matches!(changed[1].1, Some(FailureKind::OutputChanged { .. })),
        "{changed:?}"
    );
    let code = of(&|r| r.cost.as_mut().unwrap().code = 2, 3).0;
    assert!(
        matches!(
            code[1].1,
            Some(FailureKind::Exit {
                code: 2,
                usual: Some(0),
                ..
            })
        ),
        "{code:?}"
    );
    let left = of(&|r| r.cost.as_mut().unwrap().left = 2, 2).0;
    assert_eq!(left[1].1, Some(FailureKind::LeftRunning { processes: 2 }));
    let slow = of(&|r| r.cost.as_mut().unwrap().end = CommandEnd::TimeLimit, 1).0;
    assert!(
        slow[0].0 == ArmStatus::Failed
            && slow[0].1 == Some(FailureKind::TimeLimit { limit_s: 60.0 }),
        "{slow:?}"
    );
    // Where the command itself writes another thing each time, an output says nothing.
    let (arms, notes) = of(
        &|r| r.cost.as_mut().unwrap().output_hash = "cd".to_owned(),
        7,
    );
    assert!(
        arms[3].0 == ArmStatus::Ok && notes.iter().any(|n| n.kind == NoteKind::OutputVaries),
        "{arms:?}"
    );
}
