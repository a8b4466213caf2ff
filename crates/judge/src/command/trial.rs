//! A try, judged: each arm's change against the baseline with its interval, the A/A check, and each setting's effect.

use super::{Times, failure, proof};
use crate::estimate::{LEVEL, of_series, shown};
use record::command::{
    Again, Against, Amount, ArmRole, ArmStatus, ArmSummary, COMMAND_SUMMARY_SCHEMA, CommandCost,
    CommandLaunch, CommandPlan, Measure, Measured, TrialSummary,
};
use record::summary::{Note, NoteKind, Verdict};
use stats::estimate::{RatioEstimate, confidence};
use stats::interval::{CONFIDENCE, LEAST_LAUNCHES};
use stats::looks::{next_look, price};
use stats::t::{mean_and_deviation, t_interval};
use stats::{absolute::absolute, calibration::differing, verdicts::verdicts};
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

    fn ratio_at(&self, arm: usize, measure: Measure, level: f64) -> Option<RatioEstimate> {
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

    fn ratio(&self, arm: usize, measure: Measure) -> Option<RatioEstimate> {
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
        cpu.is_some_and(|cpu| cpu.holds_among_all && !cpu.usual_only && cpu.verdict.differs())
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
    adjust(plan, &mut arms, &blocks);
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
        let ratio = blocks.ratio(index, measure).as_ref().map(shown);
        let of_ratio = ratio.map_or(Verdict::NotSettled, |r| {
            Verdict::from_interval(r.low, r.high, plan.margin)
        });
        let mean = blocks.mean_ratio(index, measure);
        let of_mean = mean.map_or(of_ratio, |m| {
            Verdict::from_interval(m.low, m.high, plan.margin)
        });
        let is_skewed = [0, index]
            .iter()
            .any(|&arm| slow_runs(&blocks.series(arm, measure)) > 0);
        let (verdict, usual_only) = confirmed(of_ratio, of_mean);
        let (verdict, usual_only) = if is_skewed {
            (verdict, usual_only)
        } else {
            (of_ratio, false)
        };
        let change = blocks.change(index, measure);
        (
            measure,
            Against {
                ratio,
                change,
                mean,
                verdict,
                usual_only,
                holds_among_all: true,
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
    let checks: Vec<RatioEstimate> = [Measure::Cpu, Measure::Wall]
        .into_iter()
        .filter_map(|measure| blocks.ratio(last, measure))
        .collect();
    let p = checks
        .iter()
        .map(|check| 2.0 * check.p_below(1.0).min(check.p_above(1.0)))
        .fold(1.0, f64::min);
    let p = (checks.len() as f64 * p).min(1.0);
    Some(Again {
        ratio: shown(checks.first()?),
        p,
        differs: !differing(&checks, plan.margin).is_empty(),
    })
}

/// The setting with the largest settled saving of CPU time among those that do not cost wall time.
pub fn best(summary: &TrialSummary) -> Option<usize> {
    if !summary.trusted {
        return None;
    }
    let holds = |against: &&Against| against.holds_among_all && !against.usual_only;
    let settled = |arm: &ArmSummary, measure| {
        arm.against
            .get(&measure)
            .filter(holds)
            .map(|against| against.verdict)
    };
    let saves = |arm: &&ArmSummary| {
        arm.role == ArmRole::Setting
            && matches!(settled(arm, Measure::Cpu), Some(Verdict::Faster { .. }))
            && !matches!(settled(arm, Measure::Wall), Some(Verdict::Slower { .. }))
    };
    let ratio = |arm: &ArmSummary| {
        arm.against[&Measure::Cpu]
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
fn adjust(plan: &CommandPlan, arms: &mut [ArmSummary], blocks: &Blocks) {
    let mut family: Vec<(&mut Against, RatioEstimate)> = Vec::new();
    for (index, arm) in arms
        .iter_mut()
        .enumerate()
        .filter(|(_, arm)| arm.role != ArmRole::Again)
    {
        family.extend(
            arm.against
                .iter_mut()
                .filter_map(|(&m, against)| Some((against, blocks.ratio(index, m)?))),
        );
    }
    let questions: Vec<(RatioEstimate, f64)> = family
        .iter()
        .map(|(_, estimate)| (*estimate, plan.margin))
        .collect();
    for ((against, _), word) in family.into_iter().zip(verdicts(&questions, LEVEL)) {
        against.holds_among_all = crate::compared::holds(against.verdict, word.verdict);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/command/trial.rs"]
mod tests;
