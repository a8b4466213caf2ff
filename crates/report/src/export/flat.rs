//! The rows of csv and ndjson: one for each cell, phase and launch; one for each cell without figures, with its reason.

use super::{CellView, ExportedCells, LaunchView, PhaseView};
use serde_json::Value;

pub(super) struct FlatRow<'a> {
    taken: &'a ExportedCells<'a>,
    cell: &'a CellView<'a>,
    phase: Option<&'a PhaseView<'a>>,
    launch: Option<&'a LaunchView>,
}

type Column = (&'static str, fn(&FlatRow<'_>) -> Value);

/// Every column with its name, in which the unit comes last. After these follows one for each parameter. A field is null where
/// there is nothing to say: a cell without figures has no launches.
const COLUMNS: &[Column] = &[
    ("run", |r| r.taken.run.as_str().into()),
    ("created", |r| r.taken.created.as_str().into()),
    ("machine", |r| r.taken.host.get("machine").cloned().into()),
    ("kernel", |r| {
        r.taken.environment.get("kernel").cloned().into()
    }),
    ("cpu", |r| r.taken.environment.get("cpu").cloned().into()),
    ("cell", |r| r.cell.name.as_str().into()),
    ("experiment", |r| r.cell.experiment.as_str().into()),
    ("method", |r| r.cell.method.as_str().into()),
    ("worker", |r| r.cell.worker.as_str().into()),
    ("status", |r| r.cell.status.word().into()),
    ("reason", |r| {
        Some(r.cell.reason.as_str())
            .filter(|reason| !reason.is_empty())
            .into()
    }),
    ("phase", |r| r.phase.map(|p| p.name.as_str()).into()),
    ("headline", |r| r.phase.map(|p| p.headline).into()),
    ("launch", |r| r.launch.map(|l| l.launch).into()),
    ("block", |r| r.launch.map(|l| l.block).into()),
    ("rounds", |r| r.launch.map(|l| l.rounds).into()),
    ("unit", |r| r.phase.map(|p| p.unit.as_str()).into()),
    ("units_per_sample", |r| r.phase.map(|p| p.units).into()),
    ("wall_ns_per_unit", |r| {
        r.launch
            .zip(r.phase)
            .and_then(|(l, p)| Some(l.wall_ns? / p.units))
            .into()
    }),
    ("cpu_ns_per_unit", |r| {
        r.launch
            .zip(r.phase)
            .and_then(|(l, p)| Some(l.cpu_ns? / p.units))
            .into()
    }),
];

pub(super) fn columns(taken: &ExportedCells<'_>) -> Vec<String> {
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    names
        .chain(
            taken
                .parameters
                .iter()
                .map(|name| format!("parameter_{name}")),
        )
        .collect()
}

pub(super) fn fields(row: &FlatRow<'_>) -> Vec<Value> {
    let fields = COLUMNS.iter().map(|(_, field)| field(row));
    fields
        .chain(
            row.taken
                .parameters
                .iter()
                .map(|name| row.cell.parameters.get(name).cloned().into()),
        )
        .collect()
}

/// All rows, one at a time: a run may have very many.
pub(super) fn rows<'a>(taken: &'a ExportedCells<'a>) -> impl Iterator<Item = FlatRow<'a>> {
    taken.cells.iter().flat_map(move |cell| {
        let measured = cell.phases.iter().flat_map(move |phase| {
            phase.launches.iter().map(move |launch| FlatRow {
                taken,
                cell,
                phase: Some(phase),
                launch: Some(launch),
            })
        });
        let is_measured = cell.phases.iter().any(|p| !p.launches.is_empty());
        let alone = (!is_measured).then_some(FlatRow {
            taken,
            cell,
            phase: None,
            launch: None,
        });
        measured.chain(alone)
    })
}
