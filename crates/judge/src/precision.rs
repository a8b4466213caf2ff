//! How wide the ratios of a run are, and what they vary by: what decides which launch is worth its time.

use std::collections::{BTreeMap, BTreeSet};

use record::method::Role;
use record::state::State;
use record::summary::Estimate;

use crate::estimate::{against, level, shown};
use crate::evidence::Evidence;
use crate::groups::groups;
use crate::pairs::{Column, points};

/// How wide one headline ratio is.
#[derive(Clone, Debug)]
pub struct Width {
    /// The parameters of its group.
    pub parameters: BTreeMap<String, String>,
    /// The cell that others are compared with.
    pub base: usize,
    /// The cell compared.
    pub cell: usize,
    /// Half of the interval's width, as a share.
    pub half_width: f64,
    /// Whether the cell is one of those that are ranked: an ordinary method of the baseline's worker. Limits, methods that do
    /// another job, other workers and the hidden duplicate are not.
    pub ranked: bool,
}

/// The widths of all headline ratios of an experiment that have one. Where none of them is ranked, all are.
pub fn half_widths(state: &State, evidence: &Evidence, experiment: &str) -> Vec<Width> {
    let mut widths = Vec::new();
    for group in groups(state, Some(experiment)) {
        let Some(measure) = group.experiment.measures().position(|m| m == group.experiment.headline()) else {
            continue;
        };
        let Some(base) = group.baseline else { continue };
        let ratios = against(state, evidence, &group, base, (measure, Column::Wall), level(state, experiment));
        // How wide the floor's ratio is does not matter: nobody chooses it.
        let is_null = |c: &usize| state.cells[*c].method.role == Role::Null;
        let others = group.cells.iter().copied().chain(group.twin).filter(|c| *c != base);
        for cell in others.filter(|c| !is_null(c)) {
            if let Some(found) = ratios.get(&cell) {
                let (planned, first) = (&state.cells[cell], &state.cells[base].cell.worker);
                widths.push(Width {
                    parameters: group.parameters.clone(),
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

/// The ranked cells whose ratio is as narrow as asked; never those that others are compared with.
pub fn precise(widths: &[Width], precision: f64) -> BTreeSet<usize> {
    let narrow = widths.iter().filter(|w| w.ranked && w.half_width <= precision).map(|w| w.cell);
    let bases: BTreeSet<usize> = widths.iter().map(|w| w.base).collect();
    let wide: BTreeSet<usize> = widths.iter().filter(|w| w.half_width > precision).map(|w| w.cell).collect();
    narrow.filter(|cell| !bases.contains(cell) && !wide.contains(cell)).collect()
}

/// Every cell against the baseline of its group by the headline: the logarithm of each launch's ratio, in their order.
pub fn launch_logs(state: &State, evidence: &Evidence) -> Vec<(usize, Vec<f64>)> {
    let mut found = Vec::new();
    for group in groups(state, None) {
        let measure = group.experiment.measures().position(|m| m == group.experiment.headline());
        let Some((base, measure)) = group.baseline.zip(measure) else { continue };
        let Some(base_evidence) = evidence.cells.get(&base) else { continue };
        for cell in group.cells.iter().copied().chain(group.twin).filter(|c| *c != base) {
            let all = evidence.cells.get(&cell).and_then(|e| points(base_evidence, e, measure, Column::Wall));
            found.extend(all.map(|all| (cell, all.iter().map(|point| point.log).collect())));
        }
    }
    found
}

/// Every group's baseline against its hidden duplicate, and the logarithm of each launch's ratio.
pub fn twins(state: &State, evidence: &Evidence) -> Vec<(Estimate, Vec<f64>)> {
    let mut found = Vec::new();
    for group in groups(state, None) {
        let measure = group.experiment.measures().position(|m| m == group.experiment.headline());
        let Some(((base, twin), measure)) = group.baseline.zip(group.twin).zip(measure) else { continue };
        let ratios =
            against(state, evidence, &group, base, (measure, Column::Wall), level(state, &group.experiment.name));
        let Some(ratio) = ratios.get(&twin) else { continue };
        let Some((base, twin)) = evidence.cells.get(&base).zip(evidence.cells.get(&twin)) else { continue };
        let launches = points(base, twin, measure, Column::Wall).unwrap_or_default();
        found.push((shown(ratio), launches.iter().map(|point| point.log).collect()));
    }
    found
}
