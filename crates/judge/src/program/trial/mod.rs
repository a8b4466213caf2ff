//! A try, judged: each arm's change against the baseline with its interval, the A/A check, and each setting's effect.

mod arms;
mod blocks;
mod watch;

use super::{Times, failure};
use crate::contrast::estimate::LEVEL;
use crate::contrast::verdicts::hold_among_all;
use arms::arm_summary;
use blocks::Blocks;
use record::command::{
    Again, ArmRole, ArmStatus, ArmSummary, COMMAND_SUMMARY_SCHEMA, CommandLaunch, CommandPlan,
    Measure, TrialSummary,
};
use record::summary::{Note, NoteKind, Verdict};
use stats::calibration::differing;
use stats::estimate::{Ratio, confidence};
use stats::interval::LEAST_LAUNCHES;
use stats::looks::{next_look, price};

/// Judges a try from its plan and launches alone.
pub fn judge(plan: &CommandPlan, launches: &[CommandLaunch]) -> TrialSummary {
    interim(plan, launches)
        .unwrap_or_else(|| judged(plan, launches, confidence(plan.pairs.is_none())))
}

fn judged(plan: &CommandPlan, launches: &[CommandLaunch], level: f64) -> TrialSummary {
    let blocks = Blocks::new(launches, level);
    let mut arms: Vec<ArmSummary> = (0..plan.arms.len())
        .map(|arm| arm_summary(plan, launches, &blocks, arm))
        .collect();
    let again = again(plan, &arms, &blocks);
    adjust(plan, &mut arms);
    if again.is_some_and(|check| check.differs) {
        withhold(&mut arms);
    }
    let watch = watch::watch(plan, launches, &arms);
    let whole = blocks.whole(plan.arms.len());
    let mut notes = failure::notes(plan, launches);
    notes.extend(super::notes(
        launches,
        (arms[0].status == ArmStatus::Ok).then_some(whole),
        LEAST_LAUNCHES,
    ));
    TrialSummary {
        schema: COMMAND_SUMMARY_SCHEMA,
        plan: plan.clone(),
        blocks: whole,
        trusted: again.is_none_or(|check| !check.differs),
        arms,
        again,
        watch,
        notes: notes.into_iter().map(Note::from).collect(),
    }
}

/// The A/A check, by total CPU and wall time.
fn again(plan: &CommandPlan, arms: &[ArmSummary], blocks: &Blocks) -> Option<Again> {
    let last = arms.len() - 1;
    if arms[last].role != ArmRole::Again || arms[last].status != ArmStatus::Ok {
        return None;
    }
    let checks: Vec<Ratio> = [Measure::Cpu, Measure::Wall]
        .into_iter()
        .filter_map(|measure| blocks.ratio(last, measure))
        .collect();
    let p = checks
        .iter()
        .map(|check| 2.0 * check.p_below(1.0).min(check.p_above(1.0)))
        .fold(1.0, f64::min);
    let p = (checks.len() as f64 * p).min(1.0);
    Some(Again {
        ratio: *checks.first()?,
        p,
        differs: !differing(&checks, plan.margin).is_empty(),
    })
}

/// The summary of a try that an interim analysis ends: the verdict on every arm is known, at the price of all analyses up to this.
pub(super) fn interim(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<TrialSummary> {
    let blocks = Blocks::new(launches, LEVEL).whole(plan.arms.len());
    if !plan.interim || next_look(blocks.saturating_sub(1)) != blocks {
        return None;
    }
    let mut summary = judged(plan, launches, 1.0 - (1.0 - LEVEL) / price(blocks));
    let open: Vec<&ArmSummary> = summary
        .arms
        .iter()
        .filter(|arm| matches!(arm.role, ArmRole::Setting | ArmRole::Command))
        .filter(|arm| !matches!(arm.status, ArmStatus::Failed | ArmStatus::Skipped))
        .collect();
    let saving = least_saving(&open);
    let all_known = open.iter().all(|arm| is_known(arm, saving));
    if !summary.trusted || open.is_empty() || !all_known {
        return None;
    }
    summary.notes.push(
        NoteKind::SettledEarly {
            precision: plan.precision,
        }
        .into(),
    );
    Some(summary)
}

/// Ratio of CPU time that the best arm which is shown to save is certain to reach; `None` where no arm is.
fn least_saving(arms: &[&ArmSummary]) -> Option<f64> {
    let saving = arms.iter().filter(|arm| differs_in_cpu_time(arm));
    let bounds =
        saving.filter_map(|arm| Some(arm.against.get(&Measure::Cpu)?.contrast.ratio?.high));
    bounds.filter(|high| *high < 1.0).min_by(f64::total_cmp)
}

/// True if more launches would change no verdict on an arm: it differs, is the same within the margin, has no effect, or saves
/// less than another arm that saves.
fn is_known(arm: &ArmSummary, saving: Option<f64>) -> bool {
    let cpu = arm.against.get(&Measure::Cpu).map(|cpu| &cpu.contrast);
    let same = cpu.is_some_and(|contrast| {
        contrast.holds_among_all && matches!(contrast.verdict, Verdict::Within { .. })
    });
    let ratio = cpu.and_then(|contrast| contrast.ratio);
    let is_beaten = saving
        .zip(ratio)
        .is_some_and(|(saving, ratio)| ratio.low > saving);
    arm.status == ArmStatus::NoEffect || same || is_beaten || differs_in_cpu_time(arm)
}

fn differs_in_cpu_time(arm: &ArmSummary) -> bool {
    arm.against.get(&Measure::Cpu).is_some_and(|cpu| {
        cpu.contrast.holds_among_all && !cpu.usual_only && cpu.contrast.verdict.differs()
    })
}

/// The widest half-width of the total CPU time's ratio among all arms that are still tried.
pub(super) fn half_width(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<f64> {
    let blocks = Blocks::new(launches, confidence(plan.pairs.is_none()));
    (1..plan.arms.len())
        .filter(|&arm| failure::given_up(plan, launches, arm).is_none())
        .filter_map(|arm| Some(blocks.ratio(arm, Measure::Cpu)?.half_width()))
        .max_by(f64::total_cmp)
}

/// Cost of every arm with figures in each block.
pub(super) fn costs(plan: &CommandPlan, launches: &[CommandLaunch]) -> Vec<Times> {
    let (summary, blocks) = (judge(plan, launches), Blocks::new(launches, LEVEL));
    let mut costs = Vec::new();
    for (index, arm) in summary.arms.iter().enumerate() {
        if arm.status != ArmStatus::Ok || arm.role == ArmRole::Again {
            continue;
        }
        for (measure, time) in [
            (Measure::Cpu, "cpu"),
            (Measure::Kernel, "kernel"),
            (Measure::Wall, "wall"),
        ] {
            costs.push(Times {
                command: plan.arms[index].shown.clone(),
                arm: arm.name.clone(),
                time,
                seconds: blocks.series(index, measure),
                is_disturbed: !summary.trusted,
            });
        }
    }
    costs
}

/// The setting or command with the largest settled saving of CPU time among those that do not cost wall time.
pub fn best(summary: &TrialSummary) -> Option<usize> {
    if !summary.trusted {
        return None;
    }
    let saving =
        summary.arms.iter().enumerate().filter(|(_, arm)| {
            matches!(arm.role, ArmRole::Setting | ArmRole::Command) && saves(arm)
        });
    saving
        .min_by(|(_, a), (_, b)| cpu_ratio(a).total_cmp(&cpu_ratio(b)))
        .map(|(index, _)| index)
}

fn saves(arm: &ArmSummary) -> bool {
    matches!(settled(arm, Measure::Cpu), Some(Verdict::Faster { .. }))
        && !matches!(settled(arm, Measure::Wall), Some(Verdict::Slower { .. }))
}

/// The verdict of the usual run and the mean alike.
fn settled(arm: &ArmSummary, measure: Measure) -> Option<Verdict> {
    let against = arm.against.get(&measure)?;
    (!against.usual_only).then(|| against.contrast.overall())
}

fn cpu_ratio(arm: &ArmSummary) -> f64 {
    let contrast = arm.against[&Measure::Cpu].contrast;
    contrast.ratio.map_or(1.0, |ratio| ratio.ratio)
}

/// Marks the verdicts that do not hold among all of the try, by the rule of a run. The A/A arm's are no verdicts of the try.
fn adjust(plan: &CommandPlan, arms: &mut [ArmSummary]) {
    hold_among_all(
        arms.iter_mut()
            .filter(|arm| arm.role != ArmRole::Again)
            .flat_map(|arm| arm.against.values_mut())
            .map(|against| &mut against.contrast),
        plan.margin,
    );
}

/// Takes the verdicts on all arms, where the command differs from itself: what is noisy is open.
fn withhold(arms: &mut [ArmSummary]) {
    for against in arms.iter_mut().flat_map(|arm| arm.against.values_mut()) {
        against.contrast.verdict = Verdict::NotSettled;
        (against.contrast.holds_among_all, against.usual_only) = (true, false);
    }
}

#[cfg(test)]
mod tests {
    //! The judging of tries compared with simulated programs whose true costs are known.

    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use record::command::{
        Arm, CommandCost, CommandEnd, FailureKind, ObservedEffects, SettingEffect, WatchedLaunch,
        WatchedMoment, Watching,
    };
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
            joined: BTreeMap::new(),
            replaced: BTreeMap::new(),
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
                arm("unchanged", ArmRole::Baseline, None),
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
            fetched_bytes: 0,
            faults: None,
            faults_unseen: None,
            stacks_unseen: None,
            kernel_work: None,
            kernel_unseen: None,
            split: None,
            watched: None,
            process_ended: false,
            observer_us: 0,
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
            (0..4)
                .map(|arm| {
                    let factor = if arm == 1 || arm == 2 { factor } else { 1.0 };
                    self.launch(arm, number, factor)
                })
                .collect()
        }

        fn launch(&mut self, arm: usize, block: i64, factor: f64) -> CommandLaunch {
            let disturbed = if self.rng.unit() < 0.08 {
                0.3 * self.rng.unit()
            } else {
                0.0
            };
            let level = self.drift + disturbed;
            let cpu_s = factor * (level + 0.03 * self.normal()).exp();
            let faults = (factor * 10_000.0 * (0.002 * self.normal()).exp()) as u64;
            let mut launch = run(arm, block, cpu_s, faults);
            let cost = launch.cost.as_mut().unwrap();
            cost.system_us = (0.2e6 * factor * (level + 0.06 * self.normal()).exp()) as u64;
            cost.wall_ns = (1.1e9 * factor * (level + 0.04 * self.normal()).exp()) as u64;
            cost.max_rss_kib = (10_000.0 * factor * (0.01 * self.normal()).exp()) as u64;
            launch
        }

        /// A whole try that ends at an interim analysis, on precision or after 60 blocks.
        fn tried(&mut self, plan: &CommandPlan, factor: f64) -> TrialSummary {
            let mut runs: Vec<CommandLaunch> =
                (0..4).map(|arm| run(arm, -1, 1.0, 10_000)).collect();
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

    /// A watched try in six blocks: CPU time in seconds and memory in MiB of each of the four arms.
    fn watched(costs: [(f64, u64); 4], end: CommandEnd) -> TrialSummary {
        let plan = CommandPlan {
            watch: Some(Watching {
                every_ms: 50,
                window_s: 1.0,
            }),
            ..plan(Some(6))
        };
        let mut launches = Vec::new();
        for block in -1..6 {
            for (arm, (cpu_s, mib)) in costs.into_iter().enumerate() {
                let shaken = 1.0 + 0.001 * ((3 * block + 5 * arm as i64) % 7) as f64;
                let mut launch = run(arm, block, cpu_s * shaken, 1000);
                let cost = launch.cost.as_mut().unwrap();
                cost.end = end;
                if let Some(proof) = &mut cost.proof {
                    proof.huge_bytes = u64::from(arm == 1) << 23;
                }
                let moments = (1..=10).map(|step| WatchedMoment {
                    at_ms: 100 * step,
                    cpu_us: (1e5 * cpu_s) as u64 * step,
                    rss_kib: (mib << 10) + step,
                    ..WatchedMoment::default()
                });
                cost.watched = Some(WatchedLaunch {
                    moments: moments.collect(),
                });
                launches.push(launch);
            }
        }
        judge(&plan, &launches)
    }

    #[test]
    fn an_arm_is_beaten_by_one_that_takes_less_of_both() {
        let costs = [(1.0, 100), (0.8, 180), (1.2, 150), (1.0, 100)];
        let summary = watched(costs, CommandEnd::Window);
        let watch = summary.watch.as_ref().unwrap();
        assert!(watch.is_service);
        let beaten: Vec<Option<&str>> = watch
            .arms
            .iter()
            .map(|arm| arm.beaten_by.as_deref())
            .collect();
        assert_eq!(beaten, [None, None, Some("unchanged"), None]);
        let thp = &watch.arms[1];
        let relative = |measure| (100.0 * thp.relative[&measure]).round();
        assert_eq!(
            (relative(Measure::Cpu), relative(Measure::Rss)),
            (80.0, 180.0)
        );
        let (first, last) = (thp.course[0], *thp.course.last().unwrap());
        assert_eq!((thp.course.len(), last.at_s), (10, 1.0));
        assert!((first.cpu - 0.8).abs() < 1e-6 && last.rss_bytes > first.rss_bytes);
        assert!(!watched(costs, CommandEnd::Exit).watch.unwrap().is_service);
    }

    #[test]
    fn a_run_that_was_cut_is_not_compared_with_one_that_ended() {
        let mut summary = watched([(1.0, 100); 4], CommandEnd::Exit);
        assert!(summary.watch.is_some() && summary.arms[1].failure.is_none());
        let plan = summary.plan.clone();
        let cut = |arm, end| {
            let mut launch = run(arm, 0, 1.0, 1000);
            launch.cost.as_mut().unwrap().end = end;
            launch
        };
        summary = judge(
            &plan,
            &[cut(0, CommandEnd::Exit), cut(1, CommandEnd::Window)],
        );
        let failure = summary.arms[1].failure.as_ref().unwrap();
        assert_eq!(failure.kind, FailureKind::EndsDiffer { window_s: 1.0 });
    }

    proptest! {
        /// The law: no arm of a try has a verdict where the command differs from itself.
        #[test]
        fn a_command_that_differs_from_itself_lets_nothing_be_faster_or_slower(
            itself in 0.5f64..2.0,
            factors in prop::collection::vec(0.2f64..3.0, 2),
        ) {
            let costs = [1.0, factors[0], factors[1], itself].map(|cpu_s| (cpu_s, 100));
            let summary = watched(costs, CommandEnd::Exit);
            if !summary.trusted {
                let mut judged = summary.arms.iter().flat_map(|arm| arm.against.values());
                prop_assert!(judged.all(|a| a.contrast.overall() == Verdict::NotSettled));
                let watch = summary.watch.as_ref().unwrap();
                prop_assert!(watch.arms.iter().all(|arm| arm.beaten_by.is_none()));
            }
            prop_assert!(summary.trusted || (itself - 1.0).abs() > 0.001);
            prop_assert!(!summary.trusted || (itself - 1.0).abs() < 0.1);
        }
    }

    /// Tells whether anything at all is announced.
    fn announces(summary: &TrialSummary) -> bool {
        summary
            .arms
            .iter()
            .filter(|arm| arm.role != ArmRole::Again)
            .flat_map(|arm| arm.against.values())
            .any(|a| a.contrast.verdict.differs() && a.contrast.holds_among_all)
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
                .contrast
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
                summary.arms[1].against[&Measure::Cpu].contrast.verdict,
                Verdict::Faster { .. }
            ) && summary.arms[1].against[&Measure::Cpu]
                .contrast
                .holds_among_all
        });
        assert!(found.count() >= 95);
    }

    /// A try of so many blocks, of a change that saves most of the time.
    fn tried(blocks: i64) -> TrialSummary {
        let mut program = Program {
            rng: Seeded::new(11),
            drift: 0.0,
        };
        let launches: Vec<CommandLaunch> = (0..blocks)
            .flat_map(|number| program.block(number, 0.3))
            .collect();
        judge(&plan(None), &launches)
    }

    /// A try that was interrupted: its screen says that there is no interval yet, and so nothing may rest on one.
    #[test]
    fn nothing_is_called_faster_before_there_are_six_blocks() {
        for blocks in 2..LEAST_LAUNCHES as i64 {
            let summary = tried(blocks);
            assert!(
                !announces(&summary)
                    && summary.arms[2].against[&Measure::Cpu]
                        .contrast
                        .ratio
                        .is_none(),
                "{blocks} blocks"
            );
        }
        assert!(announces(&tried(LEAST_LAUNCHES as i64)));
    }

    /// An arm that saves 30 % but in two of nine blocks, in which it costs `slow`.
    fn sometimes_slow(slow: f64) -> ArmSummary {
        let mut runs: Vec<CommandLaunch> = (0..4).map(|arm| run(arm, -1, 1.0, 10_000)).collect();
        for block in 0..40 {
            for arm in 0..4 {
                let cpu_s = match (arm, block % 9) {
                    (2, 0 | 5) => slow,
                    (2, _) => 0.7 + 0.001 * (block % 7) as f64,
                    _ => 1.0 + 0.001 * (block % 5) as f64,
                };
                runs.push(run(arm, block, cpu_s, 10_000));
            }
        }
        judge(&plan(Some(40)), &runs).arms.swap_remove(2)
    }

    #[test]
    fn what_only_the_usual_run_saves_is_no_saving_of_the_mean() {
        let skewed = sometimes_slow(1.6);
        let cpu = skewed.against[&Measure::Cpu];
        assert!(
            matches!(cpu.contrast.verdict, Verdict::Faster { .. }) && cpu.usual_only,
            "{cpu:?}"
        );
        assert_eq!(skewed.measured[&Measure::Cpu].slow_runs, 9);
        assert!(skewed.measured[&Measure::Cpu].mean > 1.25 * skewed.measured[&Measure::Cpu].median);
        let even = sometimes_slow(0.7).against[&Measure::Cpu];
        assert!(
            matches!(even.contrast.verdict, Verdict::Faster { at_least } if at_least > 0.29)
                && !even.usual_only,
            "{even:?}"
        );
        // Where the mean saves as well, no more is promised than it shows.
        let mild = sometimes_slow(1.1).against[&Measure::Cpu];
        let Verdict::Faster { at_least } = mild.contrast.verdict else {
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
            runs.extend(
                (0..4).map(|arm| run(arm, block, if arm == 1 { 0.5 } else { 1.0 }, 10_000)),
            );
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

    /// glibc gives a heap huge pages in some launches only: it depends on where the heap begins.
    #[test]
    fn a_setting_that_acts_in_some_launches_takes_effect() {
        let faults = |launches: [u64; 6]| {
            let mut runs: Vec<CommandLaunch> =
                (0..4).map(|arm| run(arm, -1, 1.0, 10_000)).collect();
            for (block, faults) in launches.into_iter().enumerate() {
                let of_arm = |arm| if arm == 1 { faults } else { 10_000 };
                runs.extend((0..4).map(|arm| run(arm, block as i64, 1.0, of_arm(arm))));
            }
            let arm = judge(&plan(Some(6)), &runs).arms.swap_remove(1);
            let effect = arm.proof.seen.into_iter().find_map(|effect| match effect {
                SettingEffect::Faults {
                    moved, launches, ..
                } => Some((moved, launches)),
                _ => None,
            });
            (arm.status, effect)
        };
        assert_eq!(
            faults([10_000, 600, 600, 10_000, 600, 600]),
            (ArmStatus::Ok, Some((4, 6)))
        );
        assert_eq!(
            faults([10_000, 9_990, 10_000, 10_010, 10_000, 10_000]),
            (ArmStatus::NoEffect, Some((0, 6)))
        );
    }

    /// Whether page faults moved is known by six blocks: before them a setting is not without effect.
    #[test]
    fn what_too_few_runs_cannot_show_is_open() {
        let status = |blocks: i64| {
            let mut runs: Vec<CommandLaunch> =
                (0..4).map(|arm| run(arm, -1, 1.0, 10_000)).collect();
            for block in 0..blocks {
                runs.extend((0..4).map(|arm| run(arm, block, 1.0, 10_000)));
            }
            let arm = judge(&plan(Some(6)), &runs).arms.swap_remove(1);
            (arm.status, arm.proof.took_effect)
        };
        assert_eq!(status(2), (ArmStatus::Ok, None));
        assert_eq!(status(6), (ArmStatus::NoEffect, Some(false)));
    }

    /// A try of one block after its warm-ups, of which one launch did something else.
    fn with_one_changed(at: usize, change: impl Fn(&mut CommandCost)) -> TrialSummary {
        let mut runs: Vec<CommandLaunch> = (0..4)
            .flat_map(|arm| [run(arm, -1, 1.0, 10), run(arm, 0, 1.0, 10)])
            .collect();
        change(runs[at].cost.as_mut().unwrap());
        judge(&plan(Some(6)), &runs)
    }

    fn failure(arm: &ArmSummary) -> Option<&FailureKind> {
        arm.failure.as_ref().map(|failure| &failure.kind)
    }

    #[test]
    fn an_arm_that_does_something_else_is_failed() {
        let changed = &with_one_changed(3, |cost| cost.output_hash = "cd".to_owned()).arms[1];
        assert!(
            changed.status == ArmStatus::Failed
                && matches!(failure(changed), Some(FailureKind::OutputChanged { .. })),
            "{changed:?}"
        );
        let code = &with_one_changed(3, |cost| cost.code = 2).arms[1];
        assert!(
            matches!(
                failure(code),
                Some(FailureKind::Exit {
                    code: 2,
                    usual: Some(0),
                    ..
                })
            ),
            "{code:?}"
        );
        let left = &with_one_changed(2, |cost| cost.left = 2).arms[1];
        assert_eq!(
            failure(left),
            Some(&FailureKind::LeftRunning { processes: 2 })
        );
        let slow = &with_one_changed(1, |cost| cost.end = CommandEnd::TimeLimit).arms[0];
        assert!(
            slow.status == ArmStatus::Failed
                && failure(slow) == Some(&FailureKind::TimeLimit { limit_s: 60.0 }),
            "{slow:?}"
        );
        // Where the command itself writes another thing each time, an output says nothing.
        let varied = with_one_changed(7, |cost| cost.output_hash = "cd".to_owned());
        assert!(
            varied.arms[3].status == ArmStatus::Ok
                && varied
                    .notes
                    .iter()
                    .any(|n| n.kind == NoteKind::OutputVaries),
            "{varied:?}"
        );
    }
}
