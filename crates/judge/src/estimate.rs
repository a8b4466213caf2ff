//! From launches to ratios with their intervals: the one place where a ratio's statistics are chosen.

use crate::evidence::{CellEvidence, Evidence};
use crate::groups::{Group, groups};
use crate::pairs::{PairedCost, points};
use record::{decision::Width, method::Role, state::State, summary::Estimate};
use stats::estimate::{Point, RatioEstimate, confidence, estimate, prior};
use stats::{interval::CONFIDENCE, moderated::Prior};
use std::collections::BTreeMap;

/// Confidence of the intervals that are shown, but where precision itself ended the run.
pub(crate) const LEVEL: f64 = CONFIDENCE;
/// The note of an experiment that ended because its intervals were as narrow as asked.
const PRECISE: &str = "precision-reached";

/// The confidence of an experiment's intervals. While it runs it is the one that they have if precision ends it.
pub(crate) fn level(state: &State, experiment: &str) -> f64 {
    let by_precision = |notes: &[record::summary::Note]| {
        notes.iter().any(|note| note.code == PRECISE && (note.experiment.is_empty() || note.experiment == experiment))
    };
    confidence(state.ended.as_ref().map_or(state.plan.precision > 0.0, |ended| by_precision(&ended.notes)))
}

pub(crate) fn shown(estimate: &RatioEstimate) -> Estimate {
    Estimate {
        ratio: estimate.ratio,
        low: estimate.low,
        high: estimate.high,
        level: estimate.confidence,
        launches: estimate.n,
        moved: estimate.moved.map(|moved| (moved.low, moved.high)),
    }
}

/// The ratios of cells to one of a group by one measure. Their variances are pooled; the floor's is no method's and stays out.
pub(crate) fn against(
    state: &State,
    evidence: &Evidence,
    group: &Group,
    base: usize,
    (measure, which): (usize, PairedCost),
    level: f64,
) -> BTreeMap<usize, RatioEstimate> {
    let Some(base_evidence) = evidence.cells.get(&base) else { return BTreeMap::new() };
    let others = group.cells.iter().copied().chain(group.twin).filter(|c| *c != base);
    let points_of = |cell: usize| Some((cell, points(base_evidence, evidence.cells.get(&cell)?, measure, which)?));
    let all: Vec<(usize, Vec<Point>)> = others.filter_map(points_of).collect();
    let methods = all.iter().filter(|(cell, _)| state.cells[*cell].method.role != Role::Null);
    let common = prior(&methods.map(|(_, points)| points.clone()).collect::<Vec<_>>());
    let at = |points: &[Point]| chosen(|level| estimate(points, &common, level).ok(), state.plan.precision, level);
    all.iter().filter_map(|(cell, points)| Some((*cell, at(points)?))).collect()
}

/// A ratio at its level. A cell leaves the launches as soon as its ratio is as narrow as asked, so a ratio that is has the
/// level of a run that its precision ended, however the run ended.
fn chosen(at: impl Fn(f64) -> Option<RatioEstimate>, precision: f64, level: f64) -> Option<RatioEstimate> {
    let stopped = at(confidence(true)).filter(|estimate| estimate.half_width() <= precision);
    stopped.or_else(|| at(level))
}

/// One cell's ratio to another by itself.
pub(crate) fn alone(
    base: &CellEvidence,
    other: &CellEvidence,
    measure: usize,
    which: PairedCost,
    level: f64,
) -> Option<RatioEstimate> {
    estimate(&points(base, other, measure, which)?, &Prior::NONE, level).ok()
}

/// One estimate with what further tests need of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimated {
    pub estimate: Estimate,
    pub error: f64,
    pub freedom: f64,
}

/// The ratio from one logarithm a launch, in the order in which they ran, of whose rounds nothing is known.
pub(crate) fn of_series(logs: &[f64], level: f64) -> Option<RatioEstimate> {
    let points: Vec<Point> = logs.iter().map(|log| Point { log: *log, rounds: 1, round_variance: 0.0 }).collect();
    estimate(&points, &Prior::NONE, level).ok()
}

/// The same as it is shown.
pub(crate) fn of_logs(logs: &[f64], level: f64) -> Option<Estimated> {
    let fitted = of_series(logs, level)?;
    Some(Estimated { estimate: shown(&fitted), error: fitted.error, freedom: fitted.freedom })
}

/// The widths of all headline ratios of an experiment that have one. Where none of them is ranked, all are.
pub fn half_widths(state: &State, evidence: &Evidence, experiment: &str) -> Vec<Width> {
    let mut widths = Vec::new();
    for group in groups(state, Some(experiment)) {
        let Some(measure) = group.experiment.measures().position(|m| m == group.experiment.headline()) else {
            continue;
        };
        let Some(base) = group.baseline else { continue };
        let ratios = against(state, evidence, &group, base, (measure, PairedCost::Wall), level(state, experiment));
        // How wide the floor's ratio is does not matter: nobody chooses it.
        let is_null = |c: &usize| state.cells[*c].method.role == Role::Null;
        let others = group.cells.iter().copied().chain(group.twin).filter(|c| *c != base);
        for cell in others.filter(|c| !is_null(c)) {
            if let Some(found) = ratios.get(&cell) {
                let (planned, first) = (&state.cells[cell], &state.cells[base].cell.worker);
                widths.push(Width {
                    base,
                    cell,
                    half_width: found.half_width(),
                    ranked: !planned.twin
                        && planned.cell.worker == *first
                        && planned.method.group.is_empty()
                        && matches!(planned.method.role, Role::Method | Role::Published),
                });
            }
        }
    }
    if !widths.iter().any(|w| w.ranked) {
        widths.iter_mut().for_each(|w| w.ranked = true);
    }
    widths
}

/// Every cell against the baseline of its group by the headline: the logarithm of each launch's ratio, in their order.
pub fn launch_logs(state: &State, evidence: &Evidence) -> Vec<(usize, Vec<f64>)> {
    let mut logs = Vec::new();
    for group in groups(state, None) {
        let measure = group.experiment.measures().position(|m| m == group.experiment.headline());
        let Some((base, measure)) = group.baseline.zip(measure) else { continue };
        let Some(base_evidence) = evidence.cells.get(&base) else { continue };
        for cell in group.cells.iter().copied().chain(group.twin).filter(|c| *c != base) {
            let all = evidence.cells.get(&cell).and_then(|e| points(base_evidence, e, measure, PairedCost::Wall));
            logs.extend(all.map(|all| (cell, all.iter().map(|point| point.log).collect())));
        }
    }
    logs
}

/// Every group's baseline against its hidden duplicate, and the logarithm of each launch's ratio.
pub fn twins(state: &State, evidence: &Evidence) -> Vec<(Estimate, Vec<f64>)> {
    let mut estimates = Vec::new();
    for group in groups(state, None) {
        let measure = group.experiment.measures().position(|m| m == group.experiment.headline());
        let Some(((base, twin), measure)) = group.baseline.zip(group.twin).zip(measure) else { continue };
        let ratios = against(state, evidence, &group, base, (measure, PairedCost::Wall), level(state, &group.experiment.name));
        let Some(ratio) = ratios.get(&twin) else { continue };
        let Some((base, twin)) = evidence.cells.get(&base).zip(evidence.cells.get(&twin)) else { continue };
        let launches = points(base, twin, measure, PairedCost::Wall).unwrap_or_default();
        estimates.push((shown(ratio), launches.iter().map(|point| point.log).collect()));
    }
    estimates
}
