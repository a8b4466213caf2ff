//! The rows of csv and ndjson: one for each cell, phase and launch; one for each cell without figures, with its reason.

use crate::view::{CellView, ExportedCells, LaunchView, PhaseView};

/// One field. `None` where there is nothing to say: a cell without figures has no launches.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    None,
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
}

pub(super) struct FlatRow<'a> {
    taken: &'a ExportedCells<'a>,
    cell: &'a CellView<'a>,
    phase: Option<&'a PhaseView<'a>>,
    launch: Option<&'a LaunchView>,
}

type Column = (&'static str, fn(&FlatRow<'_>) -> Field);

/// Every column with its name, in which the unit comes last. After these follows one for each parameter.
const COLUMNS: [Column; 20] = [
    ("run", |r| text(&r.taken.run)),
    ("created", |r| text(&r.taken.created)),
    ("machine", |r| known(r.taken.host.get("machine"))),
    ("kernel", |r| known(r.taken.environment.get("kernel"))),
    ("cpu", |r| known(r.taken.environment.get("cpu"))),
    ("cell", |r| text(&r.cell.name)),
    ("experiment", |r| text(&r.cell.experiment)),
    ("method", |r| text(&r.cell.method)),
    ("worker", |r| text(&r.cell.worker)),
    ("status", |r| text(r.cell.status.word())),
    ("reason", |r| known(Some(&r.cell.reason).filter(|reason| !reason.is_empty()))),
    ("phase", |r| known(r.phase.map(|p| &p.name))),
    ("headline", |r| r.phase.map_or(Field::None, |p| Field::Flag(p.headline))),
    ("launch", |r| whole(r.launch.map(|l| l.launch as i64))),
    ("block", |r| whole(r.launch.map(|l| i64::from(l.block)))),
    ("rounds", |r| whole(r.launch.map(|l| l.rounds as i64))),
    ("unit", |r| known(r.phase.map(|p| &p.unit))),
    ("units_per_sample", |r| number(r.phase.map(|p| p.units))),
    ("wall_ns_per_unit", |r| number(r.launch.zip(r.phase).and_then(|(l, p)| Some(l.wall_ns? / p.units)))),
    ("cpu_ns_per_unit", |r| number(r.launch.zip(r.phase).and_then(|(l, p)| Some(l.cpu_ns? / p.units)))),
];

fn text(value: &str) -> Field {
    Field::Text(value.to_owned())
}

fn known(value: Option<&String>) -> Field {
    value.map_or(Field::None, |v| text(v))
}

fn whole(value: Option<i64>) -> Field {
    value.map_or(Field::None, Field::Whole)
}

fn number(value: Option<f64>) -> Field {
    value.map_or(Field::None, Field::Number)
}

pub(super) fn columns(taken: &ExportedCells<'_>) -> Vec<String> {
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    names.chain(taken.parameters.iter().map(|name| format!("parameter_{name}"))).collect()
}

pub(super) fn fields(row: &FlatRow<'_>) -> Vec<Field> {
    let fields = COLUMNS.iter().map(|(_, field)| field(row));
    fields.chain(row.taken.parameters.iter().map(|name| known(row.cell.parameters.get(name)))).collect()
}

/// All rows, one at a time: a run may have very many.
pub(super) fn rows<'a>(taken: &'a ExportedCells<'a>) -> impl Iterator<Item = FlatRow<'a>> {
    taken.cells.iter().flat_map(move |cell| {
        let of_phase = move |phase: &'a PhaseView<'a>| {
            phase.launches.iter().map(move |l| FlatRow { taken, cell, phase: Some(phase), launch: Some(l) })
        };
        let measured = cell.phases.iter().any(|p| !p.launches.is_empty());
        let alone = (!measured).then_some(FlatRow { taken, cell, phase: None, launch: None });
        cell.phases.iter().flat_map(of_phase).chain(alone)
    })
}
