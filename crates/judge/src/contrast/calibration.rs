//! Hidden duplicates of a run's baselines: the widths that its intervals must have, and whether it can be believed.

use crate::contrast::verdicts::{Judged, MeasureRatios};
use record::summary::{AaCheck, Calibration};
use stats::calibration::{calibrate, differing, score};
use stats::estimate::{Ratio, confirm_drifts};
use stats::t::two_sided_p;

/// The word "moved" is said where it holds among all ratios of the run at this level.
const MOVED_FAMILY: f64 = 0.05;

/// Calibration of the standard errors by duplicates, this run's and those of kept runs. Everything judged is widened by it.
pub(crate) fn widen(judged: &mut [Judged], kept_scores: &[f64]) -> (Calibration, Vec<Option<f64>>) {
    let scores: Vec<Option<f64>> = judged.iter().map(|group| score(group.twin()?)).collect();
    let pool: Vec<f64> = scores
        .iter()
        .flatten()
        .chain(kept_scores)
        .copied()
        .collect();
    let calibration = calibrate(&pool);
    for group in judged.iter_mut() {
        for ratio in group
            .measures
            .iter_mut()
            .flat_map(MeasureRatios::ratios_mut)
        {
            *ratio = ratio.widened(calibration.factor);
        }
        group.widened = calibration.factor;
    }
    let has_checks = !pool.is_empty();
    let calibration = Calibration {
        checks: calibration.checks,
        spread: has_checks.then_some(calibration.scatter),
        p: has_checks.then_some(calibration.p),
        widened: calibration.factor,
    };
    (calibration, scores)
}

/// Keeps "moved" only where it holds among all ratios of the run.
pub(crate) fn confirm(judged: &mut [Judged]) {
    let mut ratios: Vec<Ratio> = judged
        .iter_mut()
        .flat_map(Judged::walls_mut)
        .map(|estimate| *estimate)
        .collect();
    confirm_drifts(&mut ratios, MOVED_FAMILY);
    for (estimate, confirmed) in judged.iter_mut().flat_map(Judged::walls_mut).zip(ratios) {
        estimate.drift = confirmed.drift;
    }
}

/// The check of each group, with its score before anything was widened.
pub(crate) fn checks(
    judged: &[Judged],
    scores: &[Option<f64>],
    margin: f64,
) -> Vec<Option<AaCheck>> {
    let twins: Vec<(usize, Ratio)> = judged
        .iter()
        .enumerate()
        .filter_map(|(i, g)| Some((i, *g.twin()?)))
        .collect();
    let broken = differing(
        &twins
            .iter()
            .map(|(_, estimate)| *estimate)
            .collect::<Vec<_>>(),
        margin,
    );
    let mut checks: Vec<Option<AaCheck>> = vec![None; judged.len()];
    for (number, (index, estimate)) in twins.iter().enumerate() {
        let p = if estimate.error > 0.0 {
            two_sided_p(estimate.log() / estimate.error, estimate.freedom)
        } else {
            f64::from(estimate.log() == 0.0)
        };
        checks[*index] = judged[*index].group.baseline.map(|cell| AaCheck {
            cell,
            ratio: *estimate,
            z: scores[*index].unwrap_or(0.0),
            p,
            differs: broken.contains(&number),
            weak: AaCheck::is_weak(estimate),
        });
    }
    checks
}
