//! One arm of a try: what it cost, its changes against the baseline, and whether it did what its name says.

use super::blocks::Blocks;
use crate::program::failure;
use crate::program::proof::{self, FaultChange};
use record::command::{
    Against, ArmRole, ArmStatus, ArmSummary, CommandLaunch, CommandPlan, Measure, Measured,
};
use record::summary::{Contrast, Verdict};
use stats::interval::CONFIDENCE;
use stats::{absolute::absolute, quantile::median, t::mean_and_deviation};
use std::collections::BTreeMap;

/// Confidence of the interval of page faults that proves an effect.
const PROOF_LEVEL: f64 = 0.99;
/// A run is slow beyond so many times the median.
const SLOW: f64 = 1.5;

pub(super) fn arm_summary(
    plan: &CommandPlan,
    launches: &[CommandLaunch],
    blocks: &Blocks,
    index: usize,
) -> ArmSummary {
    let arm = &plan.arms[index];
    let faults = fault_change(plan, blocks, index);
    let proof = proof::proof(plan, launches, index, faults.as_ref());
    let failure = failure::given_up(plan, launches, index);
    let status = match &failure {
        Some(_) if arm.skipped.is_some() => ArmStatus::Skipped,
        Some(_) => ArmStatus::Failed,
        None if proof.took_effect == Some(false) => ArmStatus::NoEffect,
        None => ArmStatus::Ok,
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
        measured: Measure::judged(plan)
            .filter_map(|m| Some((m, measured(&blocks.series(index, m))?)))
            .collect(),
        against: if index > 0 && status == ArmStatus::Ok {
            Measure::judged(plan)
                .map(|measure| (measure, against(plan, blocks, index, measure)))
                .collect()
        } else {
            BTreeMap::new()
        },
        proof,
        major_faults: major.iter().sum::<u64>() as f64 / major.len().max(1) as f64,
    }
}

/// Change of an arm's page faults, beside those of all launches of the command as it is.
fn fault_change(plan: &CommandPlan, blocks: &Blocks, index: usize) -> Option<FaultChange> {
    let ratio = blocks.ratio_at(index, Measure::Faults, PROOF_LEVEL)?;
    let series = |arm| blocks.series(arm, Measure::Faults);
    let is_unchanged =
        |arm: &usize| matches!(plan.arms[*arm].role, ArmRole::Baseline | ArmRole::Again);
    let usual: Vec<f64> = (0..plan.arms.len())
        .filter(is_unchanged)
        .flat_map(series)
        .collect();
    Some(FaultChange::new(ratio, &usual, &series(index)))
}

/// The change of an arm against the baseline.
fn against(plan: &CommandPlan, blocks: &Blocks, arm: usize, measure: Measure) -> Against {
    let mut contrast = Contrast::alone(blocks.ratio(arm, measure), plan.margin);
    let mean = blocks.mean_ratio(arm, measure);
    let mut usual_only = false;
    let is_skewed = [0, arm]
        .iter()
        .any(|&arm| slow_runs(&blocks.series(arm, measure)) > 0);
    if is_skewed {
        let of_mean = mean.map_or(contrast.verdict, |mean| {
            Verdict::from_interval(mean.low, mean.high, plan.margin)
        });
        (contrast.verdict, usual_only) = confirmed(contrast.verdict, of_mean);
    }
    Against {
        contrast,
        change: blocks.change(arm, measure),
        mean,
        usual_only,
    }
}

fn measured(series: &[f64]) -> Option<Measured> {
    let mut launches: Vec<[f64; 1]> = series.iter().map(|cost| [*cost]).collect();
    let median = absolute(&mut launches, CONFIDENCE).ok()?.median;
    let (mean, _) = mean_and_deviation(series)?;
    Some(Measured {
        median: median.estimate,
        low: median.interval.map(|i| i.low),
        high: median.interval.map(|i| i.high),
        mean,
        slow_runs: slow_runs(series),
    })
}

fn slow_runs(series: &[f64]) -> usize {
    let median = median(&mut series.to_vec()).unwrap_or(0.0);
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
