//! Facts of workers, cells and launches by which a run is conducted.

use super::{bound::memory_needed, captures};
use crate::worker::Worker;
use record::plan::PlannedCell;
use record::{launches::LaunchRecord, state::State, transcript::Read};
use schedule::Facts;
use stats::quantile::median;
use std::collections::{BTreeMap, BTreeSet};

/// The cells without an outcome of which a worker measures a side.
pub(super) fn measured_by(state: &State, worker: &str) -> Vec<usize> {
    let is_its = |cell: &usize| {
        let planned = &state.cells[*cell];
        planned.outcome.is_none() && planned.cell.sides().any(|side| side == worker)
    };
    (0..state.cells.len()).filter(is_its).collect()
}

/// Facts of a run's workers and cells that its plan does not have.
pub(super) fn facts(state: &State, workers: &[Worker]) -> Facts {
    let compiling = workers
        .iter()
        .filter(|worker| worker.compiles())
        .map(|worker| worker.name.clone());
    let memory = |planned| memory_needed(planned, 1).map_or(0.0, |bytes| bytes as f64);
    let input = |planned: &PlannedCell| captures::made_for(&state.plan, &planned.cell);
    Facts {
        compiling: compiling.collect::<BTreeSet<_>>(),
        memory: state.cells.iter().map(memory).collect(),
        inputs: state.cells.iter().map(input).collect(),
    }
}

/// The median over rounds of each cell's measured phases together, in nanoseconds.
pub(super) fn samples_ns(record: &LaunchRecord, transcripts: &Read) -> BTreeMap<usize, f64> {
    let mut by_slot: BTreeMap<(usize, u32), f64> = BTreeMap::new();
    let samples = transcripts
        .iter()
        .take(1)
        .flatten()
        .flat_map(|transcript| &transcript.samples);
    for sample in samples.filter(|sample| sample.round >= 0) {
        if let Some(&cell) = record.cells.get(sample.cell as usize) {
            *by_slot.entry((cell, sample.slot)).or_insert(0.0) += sample.counts.wall_ns as f64;
        }
    }
    let mut by_cell: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for ((cell, _), length) in by_slot {
        by_cell.entry(cell).or_default().push(length);
    }
    by_cell
        .into_iter()
        .filter_map(|(cell, mut all)| Some((cell, median(&mut all)?)))
        .collect()
}
