//! The rows of csv, ndjson and parquet: one for each cell, phase and launch; one for each cell without figures, with
//! its reason.

use crate::view::{CellView, LaunchView, PhaseView, Taken};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Whole,
    Number,
    Flag,
}

/// One field. `None` where there is nothing to say: a cell without figures has no launches.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    None,
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
}

/// What a row is made from.
pub(super) struct Row<'a> {
    taken: &'a Taken<'a>,
    cell: &'a CellView<'a>,
    phase: Option<&'a PhaseView<'a>>,
    launch: Option<&'a LaunchView>,
}

type Column = (&'static str, Kind, fn(&Row<'_>) -> Field);

/// Every column with its name, in which the unit comes last. After these follows one for each parameter.
const COLUMNS: [Column; 18] = [
    ("run", Kind::Text, |r| text(&r.taken.run)),
    ("created", Kind::Text, |r| text(&r.taken.created)),
    ("machine", Kind::Text, |r| known(r.taken.host.get("machine"))),
    ("kernel", Kind::Text, |r| known(r.taken.environment.get("kernel"))),
    ("cpu", Kind::Text, |r| known(r.taken.environment.get("cpu"))),
    ("cell", Kind::Text, |r| text(&r.cell.name)),
    ("experiment", Kind::Text, |r| text(&r.cell.experiment)),
    ("method", Kind::Text, |r| text(&r.cell.method)),
    ("worker", Kind::Text, |r| text(&r.cell.worker)),
    ("status", Kind::Text, |r| text(r.cell.status.word())),
    ("reason", Kind::Text, |r| known(Some(&r.cell.reason).filter(|reason| !reason.is_empty()))),
    ("phase", Kind::Text, |r| known(r.phase.map(|p| &p.name))),
    ("headline", Kind::Flag, |r| r.phase.map_or(Field::None, |p| Field::Flag(p.headline))),
    ("launch", Kind::Whole, |r| whole(r.launch.map(|l| l.launch as i64))),
    ("block", Kind::Whole, |r| whole(r.launch.map(|l| i64::from(l.block)))),
    ("rounds", Kind::Whole, |r| whole(r.launch.map(|l| l.rounds as i64))),
    ("wall_ns", Kind::Number, |r| number(r.launch.and_then(|l| l.wall_ns))),
    ("cpu_ns", Kind::Number, |r| number(r.launch.and_then(|l| l.cpu_ns))),
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

/// Names and kinds of all columns.
pub(super) fn columns(taken: &Taken<'_>) -> Vec<(String, Kind)> {
    let own = COLUMNS.iter().map(|(name, kind, _)| ((*name).to_owned(), *kind));
    own.chain(taken.parameters.iter().map(|name| (format!("parameter_{name}"), Kind::Text))).collect()
}

/// The fields of a row, one a column.
pub(super) fn fields(row: &Row<'_>) -> Vec<Field> {
    let own = COLUMNS.iter().map(|(_, _, field)| field(row));
    own.chain(row.taken.parameters.iter().map(|name| known(row.cell.parameters.get(name)))).collect()
}

/// All rows, one at a time: a run may have very many.
pub(super) fn rows<'a>(taken: &'a Taken<'a>) -> impl Iterator<Item = Row<'a>> {
    taken.cells.iter().flat_map(move |cell| {
        let of_phase = move |phase: &'a PhaseView<'a>| {
            phase.launches.iter().map(move |l| Row { taken, cell, phase: Some(phase), launch: Some(l) })
        };
        let measured = cell.phases.iter().any(|p| !p.launches.is_empty());
        let alone = (!measured).then_some(Row { taken, cell, phase: None, launch: None });
        cell.phases.iter().flat_map(of_phase).chain(alone)
    })
}
