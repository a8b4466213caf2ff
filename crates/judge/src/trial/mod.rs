//! A try judged: costs of runs that were interleaved in blocks, the change against the baseline with its interval, the A/A
//! check, and whether each setting was seen to take effect. Pure.

pub(crate) mod outcome;
mod proof;

use std::collections::BTreeMap;

use record::folder::Kept;
use record::kind::Kind;
use record::summary::Verdict;
use record::trial::{
    Again, Against, ArmStatus, ArmSummary, Change, Cost, Measure, Measured, Role, TRIAL_SCHEMA, TrialNote, TrialPlan,
    TrialSummary, TriedRun,
};
use stats::interval::LEAST_LAUNCHES;
use stats::multiplicity::holm;
use stats::quantile::quantile;
use stats::stopping::STOPPED_CONFIDENCE;
use stats::t::t_interval;

use crate::estimate::{Estimated, LEVEL, of_logs};
use crate::notes;

/// Error rate of calling identical runs different: the A/A check's level.
const AGAIN_LEVEL: f64 = 0.01;
/// The level of all verdicts of a try together.
const VERDICTS_LEVEL: f64 = 0.05;

/// A run's cost in the measure's unit: seconds, bytes or faults.
pub(crate) fn cost(of: &Cost, measure: Measure) -> f64 {
    match measure {
        Measure::Cpu => (of.user_us + of.system_us) as f64 * 1e-6,
        Measure::User => of.user_us as f64 * 1e-6,
        Measure::Kernel => of.system_us as f64 * 1e-6,
        Measure::Wall => of.wall_ns as f64 * 1e-9,
        Measure::MaxRss => of.max_rss_kib as f64 * 1024.0,
        Measure::Faults => of.minor_faults as f64,
    }
}

/// The runs of whole blocks: for each block the run of every arm that takes part in it.
struct Blocks<'a> {
    runs: Vec<BTreeMap<usize, &'a TriedRun>>,
}

impl<'a> Blocks<'a> {
    fn of(runs: &'a [TriedRun]) -> Blocks<'a> {
        let mut by_block: BTreeMap<i64, BTreeMap<usize, &TriedRun>> = BTreeMap::new();
        for run in runs.iter().filter(|r| r.block >= 0) {
            by_block.entry(run.block).or_default().insert(run.arm, run);
        }
        Blocks { runs: by_block.into_values().collect() }
    }

    /// Baseline and arm side by side, a pair for each block that has both.
    fn pairs(&self, arm: usize, measure: Measure) -> Vec<(f64, f64)> {
        let both = |block: &BTreeMap<usize, &'a TriedRun>| Some((*block.get(&0)?, *block.get(&arm)?));
        self.runs.iter().filter_map(both).map(|(a, b)| (cost(&a.cost, measure), cost(&b.cost, measure))).collect()
    }

    /// Blocks in which every arm of the last block took part; an interrupted block is not whole.
    fn whole(&self, arms: usize) -> usize {
        self.runs.iter().filter(|b| b.contains_key(&0) && b.contains_key(&(arms - 1))).count()
    }
}

/// The confidence of a try's intervals: higher where precision ends it, which prefers blocks that lie close together.
fn level(plan: &TrialPlan) -> f64 {
    if plan.pairs.is_some() { LEVEL } else { STOPPED_CONFIDENCE }
}

fn ratio(pairs: &[(f64, f64)], level: f64) -> Option<Estimated> {
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
    // A cost below the clock's resolution is recorded as zero and has no ratio; its difference is told all the same.
    if logs.iter().any(|x| !x.is_finite()) {
        return None;
    }
    of_logs(&logs, level)
}

fn change(pairs: &[(f64, f64)], level: f64) -> Option<Change> {
    if pairs.len() < LEAST_LAUNCHES {
        return None;
    }
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
    let interval = t_interval(&differences, level).ok()?;
    Some(Change { value: interval.estimate, low: interval.low, high: interval.high })
}

/// The widest half-width of the total CPU time's ratio among all arms that are still tried: what decides on going on.
pub fn half_width(plan: &TrialPlan, runs: &[TriedRun]) -> Option<f64> {
    let blocks = Blocks::of(runs);
    let live = (1..plan.arms.len())
        .filter(|&arm| plan.arms[arm].skipped.is_none() && outcome::failure(plan, runs, arm).is_none());
    let widths =
        live.filter_map(|arm| Some(ratio(&blocks.pairs(arm, Measure::Cpu), level(plan))?.estimate.half_width()));
    widths.max_by(f64::total_cmp)
}

/// Times of one arm in every block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Times {
    /// The command as the user wrote it.
    pub command: String,
    /// The arm of a try, or `command`.
    pub arm: String,
    /// Name of the time: `cpu`, `kernel`, `wall`, `page-faults`.
    pub time: &'static str,
    /// Seconds of each block.
    pub seconds: Vec<f64>,
}

/// Cost of every arm with figures in each block, for another try to be compared with.
pub(crate) fn costs(plan: &TrialPlan, runs: &[TriedRun]) -> Vec<Times> {
    let summary = judge(plan, runs);
    let believed = summary.arms.iter().enumerate().filter(|(_, a)| a.status == ArmStatus::Ok && a.role != Role::Again);
    let times = [(Measure::Cpu, "cpu"), (Measure::Kernel, "kernel"), (Measure::Wall, "wall")];
    let of_arm = |(arm, summary): (usize, &ArmSummary)| {
        times.map(|(measure, time)| Times {
            command: plan.arms[arm].shown.clone(),
            arm: summary.name.clone(),
            time,
            seconds: runs.iter().filter(|r| r.arm == arm && r.block >= 0).map(|r| cost(&r.cost, measure)).collect(),
        })
    };
    believed.flat_map(of_arm).collect()
}

/// Why the arm need not be run again, where it has failed or cannot run here; the baseline's failure ends a try.
pub fn given_up(plan: &TrialPlan, runs: &[TriedRun], arm: usize) -> Option<String> {
    plan.arms[arm].skipped.clone().or_else(|| outcome::failure(plan, runs, arm))
}

fn measured(runs: &[&TriedRun]) -> BTreeMap<Measure, Measured> {
    let of = |measure: Measure| {
        let mut values: Vec<f64> = runs.iter().map(|r| cost(&r.cost, measure)).collect();
        let median = quantile(&mut values, 0.5)?;
        values.sort_unstable_by(f64::total_cmp);
        let limits = order_limits(values.len()).map(|k| (values[k], values[values.len() - 1 - k]));
        Some((measure, Measured { median, low: limits.map(|l| l.0), high: limits.map(|l| l.1) }))
    };
    Measure::ALL.into_iter().filter_map(of).collect()
}

/// Number of order statistics to leave out at either end for an interval of the median at 95 %; `None` below six values.
fn order_limits(count: usize) -> Option<usize> {
    let mut term = 0.5_f64.powi(i32::try_from(count).ok()?);
    let (mut tail, mut k) = (term, 0);
    if term == 0.0 {
        // Thousands of runs: the normal limit.
        return Some((count as f64 / 2.0 - 0.98 * (count as f64).sqrt()).floor() as usize);
    }
    if 2.0 * tail > 0.05 {
        return None;
    }
    loop {
        term *= (count - k) as f64 / (k + 1) as f64;
        if 2.0 * (tail + term) > 0.05 {
            return Some(k);
        }
        tail += term;
        k += 1;
    }
}

/// Judges a kept try; its damage is noted.
pub fn judge_kept(kept: &Kept<TrialPlan, TriedRun>) -> TrialSummary {
    let mut summary = judge(&kept.plan, &kept.launches);
    summary.trusted &= kept.damage.is_empty();
    summary.notes.extend(notes::of_program(kept, Kind::Try).map(|(code, text)| TrialNote { code, text }));
    summary
}

/// Judges a try from its plan and runs alone.
pub fn judge(plan: &TrialPlan, runs: &[TriedRun]) -> TrialSummary {
    let blocks = Blocks::of(runs);
    let mut arms: Vec<ArmSummary> = (0..plan.arms.len()).map(|arm| arm_summary(plan, runs, &blocks, arm)).collect();
    let again = again(plan, &arms, &blocks);
    hold_among_all(plan, &mut arms, &blocks);
    let mut notes = outcome::notes(plan, runs);
    if arms[0].status == ArmStatus::Ok && blocks.whole(plan.arms.len()) < LEAST_LAUNCHES {
        let text = format!("no interval below {LEAST_LAUNCHES} blocks of runs; give it more time with --budget");
        notes.push(TrialNote { code: "too-few".to_owned(), text });
    }
    TrialSummary {
        schema: TRIAL_SCHEMA,
        plan: plan.clone(),
        blocks: blocks.whole(plan.arms.len()),
        trusted: again.is_none_or(|a| !a.differs),
        arms,
        again,
        notes,
    }
}

fn arm_summary(plan: &TrialPlan, runs: &[TriedRun], blocks: &Blocks, index: usize) -> ArmSummary {
    let arm = &plan.arms[index];
    let own: Vec<&TriedRun> = runs.iter().filter(|r| r.arm == index && r.block >= 0).collect();
    let faults = ratio(&blocks.pairs(index, Measure::Faults), 0.99);
    let proof = proof::proof(plan, runs, index, faults.map(|f| f.estimate));
    let (status, reason) = match (&arm.skipped, outcome::failure(plan, runs, index)) {
        (Some(why), _) => (ArmStatus::Skipped, why.clone()),
        (None, Some(why)) => (ArmStatus::Failed, why),
        (None, None) if proof.took_effect == Some(false) => (ArmStatus::NoEffect, proof.seen.join("; ")),
        (None, None) => (ArmStatus::Ok, String::new()),
    };
    let compared = index > 0 && status == ArmStatus::Ok;
    let against = |measure| {
        let pairs = blocks.pairs(index, measure);
        let ratio = ratio(&pairs, level(plan)).map(|r| r.estimate);
        let verdict = ratio.map_or(Verdict::NotSettled, |r| Verdict::from_interval(r.low, r.high, plan.margin));
        (measure, Against { ratio, change: change(&pairs, level(plan)), verdict, holds_among_all: true })
    };
    let major: u64 = own.iter().map(|r| r.cost.major_faults).sum();
    ArmSummary {
        name: arm.name.clone(),
        role: arm.role,
        status,
        reason,
        runs: own.len(),
        measured: measured(&own),
        against: if compared { Measure::ALL.into_iter().map(against).collect() } else { BTreeMap::new() },
        proof,
        major_faults: major as f64 / own.len().max(1) as f64,
    }
}

/// The A/A check, by total CPU and wall time.
fn again(plan: &TrialPlan, arms: &[ArmSummary], blocks: &Blocks) -> Option<Again> {
    let last = arms.len() - 1;
    if arms[last].role != Role::Again || arms[last].status != ArmStatus::Ok {
        return None;
    }
    let estimates = [Measure::Cpu, Measure::Wall].map(|m| ratio(&blocks.pairs(last, m), level(plan)));
    let known: Vec<Estimated> = estimates.into_iter().flatten().collect();
    let p = holm(&known.iter().map(Estimated::p).collect::<Vec<_>>()).into_iter().fold(1.0, f64::min);
    Some(Again { ratio: known.first()?.estimate, p, differs: p < AGAIN_LEVEL })
}

/// Takes back verdicts that do not hold among all of the try. The A/A arm's are no verdicts of the try.
fn hold_among_all(plan: &TrialPlan, arms: &mut [ArmSummary], blocks: &Blocks) {
    let mut asked = Vec::new();
    for (index, arm) in arms.iter().enumerate().filter(|(_, a)| a.role != Role::Again) {
        for (&measure, against) in &arm.against {
            let estimated = ratio(&blocks.pairs(index, measure), level(plan));
            // What is not settled was asked too: Holm's rule is told of every question, not of the answers that came out.
            let tail = estimated.and_then(|e| e.p_of(against.verdict, plan.margin)).unwrap_or(1.0);
            // Less and more are both looked for, so a tail counts twice.
            let twice = matches!(against.verdict, Verdict::Faster { .. } | Verdict::Slower { .. });
            asked.push((index, measure, if twice { (2.0 * tail).min(1.0) } else { tail }));
        }
    }
    let adjusted = holm(&asked.iter().map(|(_, _, p)| *p).collect::<Vec<_>>());
    for ((index, measure, _), p) in asked.into_iter().zip(adjusted) {
        let against = arms[index].against.get_mut(&measure).expect("it was asked");
        against.holds_among_all = against.verdict == Verdict::NotSettled || p <= VERDICTS_LEVEL;
    }
}

#[cfg(test)]
#[path = "../../tests/unit/trial/tests.rs"]
mod tests;
