//! Cells that share a process, and the one that is a hidden duplicate.

use super::wish::Wish;
use crate::worker::{self, Worker};
use anyhow::{Result, bail};
use record::method::{Isolation, Role};
use record::outcome::{Cause, Outcome, Status};
use record::plan::{LaunchGroup, PlannedCell, compatible, group_of};
use record::{experiment::Experiment, sizes};
use std::collections::{BTreeMap, BTreeSet};

/// Adds the twins and puts the cells into launch groups.
pub(super) fn launch_groups(
    cells: &mut Vec<PlannedCell>,
    experiments: &[Experiment],
    baselines: &BTreeMap<String, String>,
    twins: Twins,
) -> Result<Vec<LaunchGroup>> {
    add_twins(cells, experiments, baselines, twins)?;
    let mut planned: Vec<(String, LaunchGroup)> = Vec::new();
    // Cells with fewer parameters (limits, floors) come last, so that they find the group of the cells they belong to.
    let mut order: Vec<usize> = (0..cells.len())
        .filter(|&i| cells[i].outcome.is_none())
        .collect();
    let experiment = |i: usize| {
        experiments
            .iter()
            .find(|e| e.name == cells[i].cell.experiment)
    };
    let grouping =
        |i: usize| experiment(i).map_or_else(BTreeMap::new, |e| group_of(e, &cells[i].cell));
    order.sort_by_key(|&i| std::cmp::Reverse(grouping(i).len()));
    let mut groups: Vec<BTreeMap<String, String>> = Vec::new();
    for i in order {
        let method = &cells[i].method;
        let group = grouping(i);
        let apart = experiment(i).is_some_and(|e| e.apart)
            && !matches!(method.role, Role::Limit | Role::Null);
        let alone = apart || method.preload.is_some() || method.tunables.is_some();
        let key = format!(
            "{} {} {:?} {apart}",
            cells[i].cell.experiment, cells[i].cell.worker, method.isolation
        );
        let home = (method.isolation == Isolation::Shared && !alone)
            .then(|| {
                (0..planned.len()).find(|&u| planned[u].0 == key && compatible(&group, &groups[u]))
            })
            .flatten();
        match home {
            Some(u) => planned[u].1.cells.push(i),
            None => {
                let fresh = method.isolation == Isolation::Fresh;
                planned.push((
                    key,
                    LaunchGroup {
                        experiment: cells[i].cell.experiment.clone(),
                        cells: vec![i],
                        fresh,
                    },
                ));
                groups.push(group);
            }
        }
    }
    Ok(planned.into_iter().map(|(_, group)| group).collect())
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
    let mut seen = BTreeSet::new();
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
            Twins::OneOfEach => BTreeMap::new(),
        };
        let is_baseline = baselines.get(&experiment.name) == Some(&planned.cell.method);
        if is_baseline && seen.insert((experiment.name.clone(), planned.cell.worker.clone(), group))
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
        let has = |name: &str| {
            cells
                .iter()
                .any(|p| p.cell.experiment == experiment.name && p.cell.method == name)
        };
        let wished = wish.baseline.as_deref().filter(|b| has(b));
        let mine = |p: &&PlannedCell| p.cell.experiment == experiment.name;
        let is_work = |p: &&PlannedCell| {
            mine(p) && p.method.role == Role::Method && p.method.group.is_empty()
        };
        // Workers list the usual choice of their language first.
        let first = || {
            cells
                .iter()
                .find(is_work)
                .or_else(|| cells.iter().find(mine))
                .map(|p| p.cell.method.clone())
        };
        let usual = has(&experiment.baseline).then(|| experiment.baseline.clone());
        if let Some(name) = wished.map(str::to_owned).or(usual).or_else(first) {
            chosen.insert(experiment.name.clone(), name);
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

/// Marks the cells whose worker, library or toolchain is missing, with the reason.
pub(super) fn settle_missing(
    cells: &mut [PlannedCell],
    all: &[Worker],
) -> Result<BTreeMap<String, String>> {
    let mut hashes = BTreeMap::new();
    for planned in cells.iter_mut() {
        let method = &planned.method;
        for side in planned.cell.sides() {
            let worker = worker::find(all, side)?;
            if let Some(cause) = method
                .needs
                .as_deref()
                .and_then(|needs| worker.lacks(needs))
            {
                planned.outcome = Some(Outcome::because(Status::Skipped, cause));
                continue;
            }
            match worker.start() {
                Ok(started) => {
                    hashes.insert(worker.name.clone(), started.hash.clone());
                }
                Err(error) => {
                    let package = worker.package().map(str::to_owned);
                    let cause = Cause::NoWorker {
                        error: error.to_owned(),
                        package,
                    };
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
