//! How wide the ratios of a run are, and what they vary by: what decides which launch is worth its time.

use std::collections::BTreeMap;

use record::method::Role;
use record::state::State;
use record::summary::Estimate;
use stats::variance::{Components, components};

use crate::estimate::{against, level, shown};
use crate::evidence::{CellEvidence, CellLaunch, Evidence};
use crate::groups::groups;
use crate::pairs::{Column, points};

/// The half-widths of all headline ratios of an experiment that have one, with the parameters of their group.
pub fn half_widths(state: &State, evidence: &Evidence, experiment: &str) -> Vec<(BTreeMap<String, String>, f64)> {
    let mut widths = Vec::new();
    for group in groups(state, Some(experiment)) {
        let Some(measure) = group.experiment.measures().position(|m| m == group.experiment.headline()) else {
            continue;
        };
        let Some(base) = group.baseline else { continue };
        let level = level(state, experiment);
        let ratios = against(state, evidence, &group, base, (measure, Column::Wall), level);
        // How wide the floor's ratio is does not matter: nobody chooses it.
        let is_null = |c: &usize| state.cells[*c].method.role == Role::Null;
        let others = group.cells.iter().copied().chain(group.twin).filter(|c| Some(*c) != group.baseline);
        for cell in others.filter(|c| !is_null(c)) {
            if let Some(found) = ratios.get(&cell) {
                widths.push((group.parameters.clone(), found.half_width()));
            }
        }
    }
    widths
}

/// The two components of variance of the comparison that varies most among cells of one process, by the headline.
pub fn components_within(state: &State, evidence: &Evidence, cells: &[usize]) -> Option<Components> {
    let experiment = state.plan.experiment(&state.cells[*cells.first()?].cell.experiment)?;
    let measure = experiment.measures().position(|m| m == experiment.headline())?;
    let mut found = Vec::new();
    for group in groups(state, Some(&experiment.name)) {
        let Some(base) = group.baseline.filter(|b| cells.contains(b)).and_then(|b| evidence.cells.get(&b)) else {
            continue;
        };
        let is_null = |c: &usize| state.cells[*c].method.role == Role::Null;
        let others = group.cells.iter().copied().chain(group.twin);
        for cell in others.filter(|c| cells.contains(c) && Some(*c) != group.baseline && !is_null(c)) {
            let Some(mine) = evidence.cells.get(&cell) else { continue };
            let rounds: Vec<Vec<f64>> = mine.launches.iter().filter_map(|l| round_logs(base, l, measure)).collect();
            let slices: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
            found.extend(components(&slices).ok());
        }
    }
    let variance = |c: &Components| c.variance_of(1, 10);
    found.into_iter().max_by(|a, b| variance(a).total_cmp(&variance(b)))
}

/// The log ratio of each round of one launch, where the baseline took turns with it in the same process.
pub(crate) fn round_logs(base: &CellEvidence, launch: &CellLaunch, measure: usize) -> Option<Vec<f64>> {
    let other = base.launches.iter().find(|l| l.launch == launch.launch)?;
    let (x, y) = (&other.measures[measure].wall_ns, &launch.measures[measure].wall_ns);
    let all = x.len() == y.len() && x.iter().chain(y).all(|ns| *ns > 0.0);
    all.then(|| x.iter().zip(y).map(|(x, y)| (y / x).ln()).collect())
}

/// Every group's baseline against its hidden duplicate, and the logarithm of each launch's ratio.
pub fn twins(state: &State, evidence: &Evidence) -> Vec<(Estimate, Vec<f64>)> {
    let mut found = Vec::new();
    for group in groups(state, None) {
        let measure = group.experiment.measures().position(|m| m == group.experiment.headline());
        let Some(((base, twin), measure)) = group.baseline.zip(group.twin).zip(measure) else { continue };
        let level = level(state, &group.experiment.name);
        let ratios = against(state, evidence, &group, base, (measure, Column::Wall), level);
        let Some(ratio) = ratios.get(&twin) else { continue };
        let Some((base, twin)) = evidence.cells.get(&base).zip(evidence.cells.get(&twin)) else { continue };
        let launches = points(base, twin, measure, Column::Wall).unwrap_or_default();
        found.push((shown(ratio), launches.iter().map(|point| point.log).collect()));
    }
    found
}
