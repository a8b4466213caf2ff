//! Widths of a run's ratios and their variation: the basis for the choice of launches.

use crate::estimate::{against, level, shown};
use crate::pairs::{PairedCost, points};
use crate::{evidence::Evidence, groups::groups};
use record::{ending::Width, method::Role, state::State, summary::Estimate};

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
