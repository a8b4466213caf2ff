//! A try, judged: each arm's change against the baseline with its interval, the A/A check, and each setting's effect.

use super::{Times, failure, proof};
use crate::contrast::estimate::{LEVEL, of_series};
use crate::contrast::verdicts::hold_among_all;
use record::command::{
    Again, Against, Amount, ArmRole, ArmStatus, ArmSummary, COMMAND_SUMMARY_SCHEMA, CommandCost,
    CommandLaunch, CommandPlan, Measure, Measured, TrialSummary,
};
use record::summary::{Contrast, Note, NoteKind, Verdict};
use stats::estimate::{Ratio, confidence};
use stats::interval::{CONFIDENCE, LEAST_LAUNCHES};
use stats::looks::{next_look, price};
use stats::t::{mean_and_deviation, t_interval};
use stats::{absolute::absolute, calibration::differing};
use std::collections::BTreeMap;

/// Confidence of the interval of page faults that proves an effect.
const PROOF_LEVEL: f64 = 0.99;
/// A run is slow beyond so many times the median.
const SLOW: f64 = 1.5;

/// A launch's cost in the measure's unit: seconds, bytes or faults.
fn measured_cost(cost: &CommandCost, measure: Measure) -> f64 {
    match measure {
        Measure::Cpu => cost.cpu_s(),
        Measure::User => cost.user_us as f64 * 1e-6,
        Measure::Kernel => cost.kernel_s(),
        Measure::Wall => cost.wall_ns as f64 * 1e-9,
        Measure::MaxRss => cost.max_rss_kib as f64 * 1024.0,
        Measure::Faults => cost.minor_faults as f64,
    }
}

/// The judged costs: for each block the cost of every arm that took part in it.
struct Blocks<'a> {
    costs: BTreeMap<i64, BTreeMap<usize, &'a CommandCost>>,
    /// Confidence of the intervals: higher where precision ends the try, which prefers blocks that lie close together, and
    /// where an interim analysis does.
    level: f64,
}

impl<'a> Blocks<'a> {
    fn new(launches: &'a [CommandLaunch], level: f64) -> Blocks<'a> {
        let mut costs: BTreeMap<i64, BTreeMap<usize, &CommandCost>> = BTreeMap::new();
        for launch in launches.iter().filter(|launch| launch.block >= 0) {
            costs
                .entry(launch.block)
                .or_default()
                .extend(launch.cost.as_ref().map(|cost| (launch.arm, cost)));
        }
        Blocks { costs, level }
    }

    /// Costs of an arm in the order of its blocks.
    fn series(&self, arm: usize, measure: Measure) -> Vec<f64> {
        self.costs
            .values()
            .filter_map(|block| Some(measured_cost(block.get(&arm)?, measure)))
            .collect()
    }

    /// Baseline and arm, a pair for each block that has both.
    fn pairs(&self, arm: usize, measure: Measure) -> Vec<(f64, f64)> {
        let pair = |block: &BTreeMap<usize, &CommandCost>| {
            Some((
                measured_cost(block.get(&0)?, measure),
                measured_cost(block.get(&arm)?, measure),
            ))
        };
        self.costs.values().filter_map(pair).collect()
    }

    fn ratio_at(&self, arm: usize, measure: Measure, level: f64) -> Option<Ratio> {
        let logs: Vec<f64> = self
            .pairs(arm, measure)
            .iter()
            .map(|(base, cost)| (cost / base).ln())
            .collect();
        // A cost below the clock's resolution is recorded as zero and has no ratio; its difference is known all the same.
        if logs.len() >= LEAST_LAUNCHES && logs.iter().all(|log| log.is_finite()) {
            of_series(&logs, level)
        } else {
            None
        }
    }

    fn ratio(&self, arm: usize, measure: Measure) -> Option<Ratio> {
        self.ratio_at(arm, measure, self.level)
    }

    fn change(&self, arm: usize, measure: Measure) -> Option<Amount> {
        let differences: Vec<f64> = self
            .pairs(arm, measure)
            .iter()
            .map(|(base, cost)| cost - base)
            .collect();
        let interval = t_interval(&differences, self.level)
            .ok()
            .filter(|i| i.n >= LEAST_LAUNCHES)?;
        Some(Amount {
            value: interval.estimate,
            low: interval.low,
            high: interval.high,
        })
    }

    /// The ratio of the arm's mean to the baseline's. The split of a change into user and kernel is of the same means.
    fn mean_ratio(&self, arm: usize, measure: Measure) -> Option<Amount> {
        let change = self.change(arm, measure)?;
        let bases: Vec<f64> = self
            .pairs(arm, measure)
            .iter()
            .map(|(base, _)| *base)
            .collect();
        let (base, _) = mean_and_deviation(&bases)?;
        let ratio = |change: f64| 1.0 + change / base;
        (base > 0.0).then(|| Amount {
            value: ratio(change.value),
            low: ratio(change.low),
            high: ratio(change.high),
        })
    }

    /// Blocks with the first and the last arm; an interrupted block is not whole.
    fn whole(&self, arms: usize) -> usize {
        self.costs
            .values()
            .filter(|block| block.contains_key(&0) && block.contains_key(&(arms - 1)))
            .count()
    }
}

/// The widest half-width of the total CPU time's ratio among all arms that are still tried.
pub(super) fn half_width(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<f64> {
    let blocks = Blocks::new(launches, confidence(plan.pairs.is_none()));
    let live = (1..plan.arms.len()).filter(|&arm| failure::given_up(plan, launches, arm).is_none());
    live.filter_map(|arm| Some(blocks.ratio(arm, Measure::Cpu)?.half_width()))
        .max_by(f64::total_cmp)
}

/// Cost of every arm with figures in each block.
pub(super) fn costs(plan: &CommandPlan, launches: &[CommandLaunch]) -> Vec<Times> {
    let (summary, blocks) = (judge(plan, launches), Blocks::new(launches, LEVEL));
    let believed = summary
        .arms
        .iter()
        .enumerate()
        .filter(|(_, arm)| arm.status == ArmStatus::Ok && arm.role != ArmRole::Again);
    let times = [
        (Measure::Cpu, "cpu"),
        (Measure::Kernel, "kernel"),
        (Measure::Wall, "wall"),
    ];
    let of_arm = |(arm, summary): (usize, &ArmSummary)| {
        times.map(|(measure, time)| Times {
            command: plan.arms[arm].shown.clone(),
            arm: summary.name.clone(),
            time,
            seconds: blocks.series(arm, measure),
        })
    };
    believed.flat_map(of_arm).collect()
}

/// Judges a try from its plan and launches alone.
pub fn judge(plan: &CommandPlan, launches: &[CommandLaunch]) -> TrialSummary {
    interim(plan, launches)
        .unwrap_or_else(|| judged(plan, launches, confidence(plan.pairs.is_none())))
}

/// The summary of a try that an interim analysis ends: every arm differs in CPU time, at the price of all analyses up to this.
pub(super) fn interim(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<TrialSummary> {
    let blocks = Blocks::new(launches, LEVEL).whole(plan.arms.len());
    if !plan.interim || next_look(blocks.saturating_sub(1)) != blocks {
        return None;
    }
    let mut summary = judged(plan, launches, 1.0 - (1.0 - LEVEL) / price(blocks));
    let differs = |arm: &ArmSummary| {
        let cpu = arm.against.get(&Measure::Cpu);
        cpu.is_some_and(|cpu| {
            cpu.contrast.holds_among_all && !cpu.usual_only && cpu.contrast.verdict.differs()
        })
    };
    let is_lost = |arm: &ArmSummary| matches!(arm.status, ArmStatus::Failed | ArmStatus::Skipped);
    let mut open = summary
        .arms
        .iter()
        .filter(|arm| matches!(arm.role, ArmRole::Setting | ArmRole::Command) && !is_lost(arm));
    let is_settled = summary.trusted
        && open
            .next()
            .is_some_and(|first| differs(first) && open.all(differs));
    summary.notes.push(
        NoteKind::SettledEarly {
            precision: plan.precision,
        }
        .into(),
    );
    is_settled.then_some(summary)
}

fn judged(plan: &CommandPlan, launches: &[CommandLaunch], level: f64) -> TrialSummary {
    let blocks = Blocks::new(launches, level);
    let mut arms: Vec<ArmSummary> = (0..plan.arms.len())
        .map(|arm| arm_summary(plan, launches, &blocks, arm))
        .collect();
    let again = again(plan, &arms, &blocks);
    adjust(plan, &mut arms);
    let whole = blocks.whole(plan.arms.len());
    let mut notes = failure::notes(plan, launches);
    notes.extend(super::notes(
        launches,
        (arms[0].status == ArmStatus::Ok).then_some(whole),
    ));
    TrialSummary {
        schema: COMMAND_SUMMARY_SCHEMA,
        plan: plan.clone(),
        blocks: whole,
        trusted: again.is_none_or(|check| !check.differs),
        arms,
        again,
        notes: notes.into_iter().map(Note::from).collect(),
    }
}

fn arm_summary(
    plan: &CommandPlan,
    launches: &[CommandLaunch],
    blocks: &Blocks,
    index: usize,
) -> ArmSummary {
    let arm = &plan.arms[index];
    let faults = blocks.ratio_at(index, Measure::Faults, PROOF_LEVEL);
    let proof = proof::proof(plan, launches, index, faults.as_ref());
    let failure = failure::given_up(plan, launches, index);
    let status = match &failure {
        Some(_) if arm.skipped.is_some() => ArmStatus::Skipped,
        Some(_) => ArmStatus::Failed,
        None if proof.took_effect == Some(false) => ArmStatus::NoEffect,
        None => ArmStatus::Ok,
    };
    let compared = index > 0 && status == ArmStatus::Ok;
    let against = |measure| {
        let ratio = blocks.ratio(index, measure);
        let mut contrast = Contrast::alone(ratio, plan.margin);
        let mean = blocks.mean_ratio(index, measure);
        let of_mean = mean.map_or(contrast.verdict, |m| {
            Verdict::from_interval(m.low, m.high, plan.margin)
        });
        let is_skewed = [0, index]
            .iter()
            .any(|&arm| slow_runs(&blocks.series(arm, measure)) > 0);
        let mut usual_only = false;
        if is_skewed {
            (contrast.verdict, usual_only) = confirmed(contrast.verdict, of_mean);
        }
        let change = blocks.change(index, measure);
        (
            measure,
            Against {
                contrast,
                change,
                mean,
                usual_only,
            },
        )
    };
    let major: Vec<u64> = blocks
        .costs
        .values()
        .filter_map(|block| Some(block.get(&index)?.major_faults))
        .collect();
    ArmSummary {
        name: arm.name.clone(),
        role: arm.role,
        status,
        failure,
        runs: major.len(),
        measured: Measure::ALL
            .into_iter()
            .filter_map(|m| Some((m, measured(&blocks.series(index, m))?)))
            .collect(),
        against: if compared {
            Measure::ALL.into_iter().map(against).collect()
        } else {
            BTreeMap::new()
        },
        proof,
        major_faults: major.iter().sum::<u64>() as f64 / major.len().max(1) as f64,
    }
}

fn measured(series: &[f64]) -> Option<Measured> {
    let median = absolute(
        &mut series.iter().map(|value| [*value]).collect::<Vec<_>>(),
        CONFIDENCE,
    )
    .ok()?
    .median;
    let (low, high) = (
        median.interval.map(|i| i.low),
        median.interval.map(|i| i.high),
    );
    let (mean, _) = mean_and_deviation(series)?;
    Some(Measured {
        median: median.estimate,
        low,
        high,
        mean,
        slow_runs: slow_runs(series),
    })
}

fn slow_runs(series: &[f64]) -> usize {
    let median = stats::quantile::median(&mut series.to_vec()).unwrap_or(0.0);
    series.iter().filter(|cost| **cost > SLOW * median).count()
}

/// Verdict of the usual run and the mean together; the second is true where the mean does not confirm a difference.
fn confirmed(usual: Verdict, mean: Verdict) -> (Verdict, bool) {
    use Verdict::{Faster, NotSettled, Slower, Within};
    match (usual, mean) {
        (Faster { at_least }, Faster { at_least: of_mean }) => (
            Faster {
                at_least: at_least.min(of_mean),
            },
            false,
        ),
        (Slower { at_least }, Slower { at_least: of_mean }) => (
            Slower {
                at_least: at_least.min(of_mean),
            },
            false,
        ),
        (Faster { .. } | Slower { .. }, _) => (usual, true),
        (Within { .. }, Within { .. }) => (usual, false),
        _ => (NotSettled, false),
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

/// The setting with the largest settled saving of CPU time among those that do not cost wall time.
pub fn best(summary: &TrialSummary) -> Option<usize> {
    if !summary.trusted {
        return None;
    }
    let settled = |arm: &ArmSummary, measure| {
        arm.against
            .get(&measure)
            .filter(|against| !against.usual_only)
            .map(|against| against.contrast.overall())
    };
    let saves = |arm: &&ArmSummary| {
        arm.role == ArmRole::Setting
            && matches!(settled(arm, Measure::Cpu), Some(Verdict::Faster { .. }))
            && !matches!(settled(arm, Measure::Wall), Some(Verdict::Slower { .. }))
    };
    let ratio = |arm: &ArmSummary| {
        arm.against[&Measure::Cpu]
            .contrast
            .ratio
            .map_or(1.0, |ratio| ratio.ratio)
    };
    let arms = summary
        .arms
        .iter()
        .enumerate()
        .filter(|(_, arm)| saves(arm));
    arms.min_by(|(_, a), (_, b)| ratio(a).total_cmp(&ratio(b)))
        .map(|(index, _)| index)
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

#[cfg(test)]
mod tests {
    //! The judging of tries compared with simulated programs whose true costs are known.

    use std::collections::BTreeMap;

    use record::command::{
        Arm, CommandCost, CommandEnd, FailureKind, ObservedEffects, SettingEffect,
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
                let log = |program: &mut Program, sd: f64| {
                    program.drift + disturbed + sd * program.normal()
                };
                let cpu = own * log(program, 0.03).exp();
                let faults = (own * 10_000.0 * (0.002 * program.normal()).exp()) as u64;
                let mut run = run(arm, number, cpu, faults);
                run.cost.as_mut().unwrap().system_us =
                    (0.2e6 * own * log(program, 0.06).exp()) as u64;
                run.cost.as_mut().unwrap().wall_ns =
                    (1.1e9 * own * log(program, 0.04).exp()) as u64;
                run.cost.as_mut().unwrap().max_rss_kib =
                    (10_000.0 * own * (0.01 * program.normal()).exp()) as u64;
                run
            };
            (0..4).map(|arm| one(arm, self)).collect()
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

    /// Tells whether anything at all is announced.
    fn announces(summary: &TrialSummary) -> bool {
        let said = |a: &Against| {
            matches!(
                a.contrast.verdict,
                Verdict::Faster { .. } | Verdict::Slower { .. }
            ) && a.contrast.holds_among_all
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

    #[test]
    fn what_only_the_usual_run_saves_is_no_saving_of_the_mean() {
        let plan = plan(Some(40));
        let tried = |slow: f64| {
            let mut runs: Vec<CommandLaunch> =
                (0..4).map(|arm| run(arm, -1, 1.0, 10_000)).collect();
            let cost = |arm: usize, block: i64| match (arm, block % 9) {
                (2, 0 | 5) => slow,
                (2, _) => 0.7 + 0.001 * (block % 7) as f64,
                _ => 1.0 + 0.001 * (block % 5) as f64,
            };
            runs.extend((0..40).flat_map(|block| {
                (0..4).map(move |arm| run(arm, block, cost(arm, block), 10_000))
            }));
            judge(&plan, &runs).arms.swap_remove(2)
        };
        let skewed = tried(1.6);
        let cpu = skewed.against[&Measure::Cpu];
        assert!(
            matches!(cpu.contrast.verdict, Verdict::Faster { .. }) && cpu.usual_only,
            "{cpu:?}"
        );
        assert_eq!(skewed.measured[&Measure::Cpu].slow_runs, 9);
        assert!(skewed.measured[&Measure::Cpu].mean > 1.25 * skewed.measured[&Measure::Cpu].median);
        let even = tried(0.7).against[&Measure::Cpu];
        assert!(
            matches!(even.contrast.verdict, Verdict::Faster { at_least } if at_least > 0.29)
                && !even.usual_only,
            "{even:?}"
        );
        // Where the mean saves as well, no more is promised than it shows.
        let mild = tried(1.1).against[&Measure::Cpu];
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
}
