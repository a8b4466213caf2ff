//! The batch of methods too short to time once: a repeated median over short launches, one for all compared cells.

use crate::constants::{CALIBRATIONS, SAMPLE, TIMING_ROUNDS};
use crate::launch::{CALIBRATION, Launch};
use crate::run::{ActiveRun, Step};
use crate::view::View;
use record::decision::DecisionKind;
use record::plan::{BATCH, compatible, group_of};
use record::state::Stage;
use stats::quantile::median;
use std::collections::BTreeMap;

/// Calibrates the batches of an experiment's methods until so many seconds of the run. Each pass launches every open group,
/// and chooses the batches by what was seen up to then.
pub(crate) fn calibrate(run: &mut ActiveRun, experiment: &str, until_s: f64) -> Step {
    let (coarse, fine) = CALIBRATIONS;
    // Nanoseconds of one repetition by cell, a value for each launch.
    let mut costs_ns: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for pass in 0..coarse + fine {
        if run.view().spent_s >= until_s {
            return Ok(());
        }
        let groups = open(&run.view(), experiment);
        for group in groups {
            let launch = calibration(&run.view(), group);
            run.launch(&launch)?;
            learn(&run.view(), group, pass <= coarse, &mut costs_ns);
            if run.view().spent_s >= until_s {
                return Ok(());
            }
        }
        if costs_ns.is_empty() {
            return Ok(());
        }
        let batches = batches(&run.view(), experiment, &costs_ns);
        for (batch, cells) in batches {
            let why = "samples are short against a timer tick and long against a read of the clock";
            run.decide(why, DecisionKind::Batch { cells, batch })?;
        }
    }
    Ok(())
}

fn calibration(view: &View, launch_group: usize) -> Launch {
    let fresh = view.group(launch_group).fresh;
    Launch {
        launch_group,
        block: CALIBRATION,
        rounds: if fresh { 1 } else { TIMING_ROUNDS },
        warmup_rounds: if fresh || view.is_long(launch_group) {
            0
        } else {
            1 + u32::from(view.compiles(launch_group))
        },
        at_most_s: None,
        cells: view.alive(launch_group),
    }
}

/// Adds the samples of a group's last launch. Samples that are still too short contain the cost of the clock: of these only the
/// latest counts.
fn learn(view: &View, group: usize, is_coarse: bool, costs_ns: &mut BTreeMap<usize, Vec<f64>>) {
    for cell in free(view, group) {
        let Some(sample_ns) = view.forecast.sample_ns(cell) else {
            continue;
        };
        let cell_costs = costs_ns.entry(cell).or_default();
        if is_coarse {
            cell_costs.clear();
        }
        cell_costs.push(sample_ns / f64::from(batch_of(view, cell)));
    }
}

/// The batches that change, with their cells.
fn batches(
    view: &View,
    experiment: &str,
    costs_ns: &BTreeMap<usize, Vec<f64>>,
) -> BTreeMap<u32, Vec<usize>> {
    let mut chosen: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let Some(experiment) = view.state.plan.experiment(experiment) else {
        return chosen;
    };
    let group = |cell: usize| {
        let mut group = group_of(experiment, &view.state.cells[cell].cell);
        group.remove(BATCH);
        group
    };
    let each: Vec<_> = costs_ns
        .iter()
        .filter_map(|(&cell, costs)| Some((cell, group(cell), median(&mut costs.clone())?)))
        .collect();
    for (cell, own, _) in &each {
        let compared = each
            .iter()
            .filter(|(_, group, _)| compatible(own, group))
            .map(|(.., ns)| *ns);
        let (fastest, slowest) = compared.fold((f64::INFINITY, 0.0_f64), |(low, high), ns| {
            (low.min(ns), high.max(ns))
        });
        let worker = view.state.cells[*cell].cell.sides().next();
        let clock_ns = worker
            .and_then(|worker| view.forecast.clock_read_ns(worker))
            .unwrap_or(100.0);
        let batch = batch_for(fastest, slowest, clock_ns);
        if batch != batch_of(view, *cell) {
            chosen.entry(batch).or_default().push(*cell);
        }
    }
    chosen
}

fn open(view: &View, experiment: &str) -> Vec<usize> {
    let piloted = |group: &usize| {
        matches!(view.stage(*group), Stage::Piloted(_)) && !free(view, *group).is_empty()
    };
    view.groups_of(experiment)
        .into_iter()
        .filter(piloted)
        .collect()
}

/// The cells of a group whose batch is not the user's.
fn free(view: &View, group: usize) -> Vec<usize> {
    view.alive(group)
        .into_iter()
        .filter(|&cell| view.state.cells[cell].free_batch)
        .collect()
}

fn batch_of(view: &View, cell: usize) -> u32 {
    let batch = view.state.cells[cell].cell.parameters.number(BATCH);
    batch.and_then(|batch| batch.try_into().ok()).unwrap_or(1)
}

/// The batch with which the slowest sample is short against a timer tick and the fastest long against the clock.
fn batch_for(fastest_ns: f64, slowest_ns: f64, clock_read_ns: f64) -> u32 {
    let (sample_ns, clock_reads) = SAMPLE;
    let most = sample_ns / slowest_ns.max(1e-3);
    let least = clock_reads * clock_read_ns / fastest_ns.max(1e-3);
    most.floor().max(least.ceil()).clamp(1.0, 1e9) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_makes_samples_short_against_a_tick_and_long_against_the_clock() {
        assert_eq!(batch_for(1000.0, 1000.0, 25.0), 100);
        assert_eq!(batch_for(1000.0, 4000.0, 25.0), 25);
        assert_eq!(
            batch_for(100.0, 50_000.0, 25.0),
            25,
            "the fastest is a hundred reads long"
        );
        assert_eq!(batch_for(5e6, 5e6, 25.0), 1);
    }
}
