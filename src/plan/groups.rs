//! Cells that share a process, and the one that is a hidden duplicate.

use super::wish::Wish;
use crate::worker::{self, Worker};
use anyhow::{Result, bail};
use record::method::{Isolation, Role};
use record::outcome::{Cause, Outcome, Status};
use record::parameters::Parameters;
use record::plan::{LaunchGroup, PlannedCell, compatible, group_of};
use record::{cell::Cell, experiment::Experiment, sizes};
use std::collections::{BTreeMap, BTreeSet};

/// Adds the twins and puts the cells into launch groups.
pub(super) fn launch_groups(
    cells: &mut Vec<PlannedCell>,
    experiments: &[Experiment],
    baselines: &BTreeMap<String, String>,
    twins: Twins,
) -> Result<Vec<LaunchGroup>> {
    add_twins(cells, experiments, baselines, twins)?;
    let mut planned: Vec<OpenGroup> = Vec::new();
    // Cells with fewer parameters (limits, floors) come last, so that they find the group of the cells they belong to.
    let mut placed: Vec<PlacedCell> = (0..cells.len())
        .filter(|&cell| cells[cell].outcome.is_none())
        .map(|cell| PlacedCell::new(cell, &cells[cell], experiments))
        .collect();
    placed.sort_by_key(|placed| std::cmp::Reverse(placed.parameters.len()));
    for placed in placed {
        let home = planned.iter_mut().find(|group| {
            placed.shares
                && group.key == placed.key
                && compatible(&placed.parameters, &group.parameters)
        });
        match home {
            Some(group) => group.launch_group.cells.push(placed.cell),
            None => {
                let PlannedCell { cell, method, .. } = &cells[placed.cell];
                planned.push(OpenGroup {
                    key: placed.key,
                    parameters: placed.parameters,
                    launch_group: LaunchGroup {
                        experiment: cell.experiment.clone(),
                        cells: vec![placed.cell],
                        fresh: method.isolation == Isolation::Fresh,
                    },
                });
            }
        }
    }
    Ok(planned
        .into_iter()
        .map(|group| group.launch_group)
        .collect())
}

/// A launch group that further cells may join.
struct OpenGroup {
    key: String,
    /// Grouping parameters of its first cell.
    parameters: Parameters,
    launch_group: LaunchGroup,
}

/// A cell that looks for its launch group.
struct PlacedCell {
    cell: usize,
    /// Cells with different keys never share a process.
    key: String,
    /// Grouping parameters.
    parameters: Parameters,
    /// True if it may share a process with other cells.
    shares: bool,
}

impl PlacedCell {
    fn new(cell: usize, planned: &PlannedCell, experiments: &[Experiment]) -> PlacedCell {
        let method = &planned.method;
        let Cell {
            experiment, worker, ..
        } = &planned.cell;
        let definition = experiments.iter().find(|e| e.name == *experiment);
        let apart =
            definition.is_some_and(|e| e.apart) && !matches!(method.role, Role::Limit | Role::Null);
        let alone = apart || method.preload.is_some() || method.tunables.is_some();
        PlacedCell {
            cell,
            key: format!("{experiment} {worker} {:?} {apart}", method.isolation),
            parameters: definition.map_or_else(Parameters::default, |e| group_of(e, &planned.cell)),
            shares: method.isolation == Isolation::Shared && !alone,
        }
    }
}

/// Baselines with a hidden duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twins {
    All,
    /// The first of each worker in an experiment: a duplicate in each of a hundred groups would take a third of the time.
    OneOfEach,
}

fn add_twins(
    cells: &mut Vec<PlannedCell>,
    experiments: &[Experiment],
    baselines: &BTreeMap<String, String>,
    which: Twins,
) -> Result<()> {
    let mut duplicated = BTreeSet::new();
    let mut twins = Vec::new();
    for planned in cells.iter().filter(|p| p.outcome.is_none() && !p.twin) {
        let Some(experiment) = experiments
            .iter()
            .find(|e| e.name == planned.cell.experiment)
        else {
            continue;
        };
        let group = match which {
            Twins::All => group_of(experiment, &planned.cell),
            Twins::OneOfEach => Parameters::default(),
        };
        let is_baseline = baselines.get(&experiment.name) == Some(&planned.cell.method);
        if is_baseline
            && duplicated.insert((experiment.name.clone(), planned.cell.worker.clone(), group))
        {
            twins.push(PlannedCell {
                twin: true,
                ..planned.clone()
            });
        }
    }
    cells.extend(twins);
    Ok(())
}

/// The baseline of each experiment: the wish's where it names a method of that experiment.
pub(super) fn baselines(
    experiments: &[Experiment],
    cells: &[PlannedCell],
    wish: &Wish,
) -> Result<BTreeMap<String, String>> {
    let mut chosen = BTreeMap::new();
    for experiment in experiments {
        let of_experiment: Vec<&PlannedCell> = cells
            .iter()
            .filter(|p| p.cell.experiment == experiment.name)
            .collect();
        let named = [wish.baseline.as_ref(), Some(&experiment.baseline)];
        let named = named
            .into_iter()
            .flatten()
            .find(|name| of_experiment.iter().any(|p| p.cell.method == **name));
        // Workers list the usual choice of their language first.
        let first = of_experiment
            .iter()
            .find(|p| p.method.role == Role::Method && p.method.group.is_empty())
            .or(of_experiment.first())
            .map(|p| &p.cell.method);
        if let Some(name) = named.or(first) {
            chosen.insert(experiment.name.clone(), name.clone());
        }
    }
    if let Some(baseline) = &wish.baseline
        && !chosen.values().any(|b| b == baseline)
    {
        let hint = sizes::did_you_mean(baseline, cells.iter().map(|p| p.cell.method.as_str()));
        bail!("--baseline: no selected cell has the method \"{baseline}\"{hint}");
    }
    Ok(chosen)
}

/// Marks the cells whose worker, library or toolchain is missing, with the reason. Returns the digest of each worker; with
/// `later`, of all but those that have to be built first, which is left to their first launch.
pub(super) fn settle_missing(
    cells: &mut [PlannedCell],
    workers: &[Worker],
    later: bool,
) -> Result<BTreeMap<String, String>> {
    let mut hashes = BTreeMap::new();
    let mut unbuilt = BTreeSet::new();
    for planned in cells.iter_mut() {
        let method = &planned.method;
        for side in planned.cell.sides() {
            let worker = worker::find(workers, side)?;
            if let Some(cause) = method
                .needs
                .as_deref()
                .and_then(|needs| worker.lacks(needs))
            {
                planned.outcome = Some(Outcome::because(Status::Skipped, cause));
                continue;
            }
            if later && (unbuilt.contains(&worker.name) || worker.building().is_some()) {
                unbuilt.insert(&worker.name);
                continue;
            }
            match worker.start_and_say() {
                Ok(started) => {
                    hashes.insert(worker.name.clone(), started.hash.clone());
                }
                Err(error) => {
                    let cause = worker.absence(error);
                    planned.outcome = Some(Outcome::because(Status::Skipped, cause));
                }
            }
        }
        if let Some((library, package)) = &method.preload
            && worker::find_library(library)?.is_none()
        {
            let cause = Cause::NotInstalled {
                package: package.clone(),
                library: Some(library.clone()),
            };
            planned.outcome = Some(Outcome::because(Status::Skipped, cause));
        }
    }
    Ok(hashes)
}
