//! A fleet in columns, as Parquet: the rows of its NDJSON.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use record::cell::parameter_words;
use record::fleet::{Finding, Fleet};

use super::flat::{Field, Kind};
use crate::inert::inert;

/// The rows of NDJSON in columns: a row a kind and cell, a finding of an odd node, a folder that was left out.
pub fn parquet(fleet: &Fleet, out: &mut dyn Write) -> Result<()> {
    let columns = COLUMNS.map(|(name, kind)| (name.to_owned(), kind));
    let kinds = fleet.kinds.iter().flat_map(|kind| {
        kind.cells.iter().map(|cell| {
            let numbers = [Some(cell.per_unit_ns), Some(cell.low_ns), Some(cell.high_ns)];
            let mut row = row("kind", &kind.name, &cell.cell, &cell.parameters);
            row.extend([text(&cell.phase), text(&cell.unit), Field::Whole(cell.nodes as i64)]);
            row.extend(numbers.into_iter().chain([cell.between_nodes, cell.within_nodes]).map(number));
            filled(row)
        })
    });
    let odd = fleet.odd.iter().flat_map(|node| {
        node.findings.iter().map(|finding| {
            let (cell, parameters) = finding.cell();
            let mut row = row("odd", &node.kind, cell, parameters);
            row.resize(NODE, Field::None);
            row.push(text(&node.node));
            row.push(node.confirmed.map_or(Field::None, Field::Flag));
            row.extend(match finding {
                Finding::Cost { ratio, spread, p, .. } => {
                    [Field::Number(*ratio), Field::Number(*spread), Field::Number(*p), Field::None, Field::None]
                }
                Finding::Outcome { status, reason, .. } => {
                    [Field::None, Field::None, Field::None, text(status.word()), text(reason)]
                }
                Finding::Throttled { seen, .. } => {
                    [Field::None, Field::None, Field::None, text("throttled"), text(seen)]
                }
            });
            filled(row)
        })
    });
    let unread = fleet.unread.iter().map(|folder| {
        let mut row = vec![text("unread")];
        row.resize(COLUMNS.len() - 3, Field::None);
        row.extend([text(folder.what.word()), text(&folder.reason), text(&folder.folder)]);
        row
    });
    super::parquet::table("fleet", &columns, kinds.chain(odd).chain(unread), out)
}

const COLUMNS: [(&str, Kind); 20] = [
    ("row", Kind::Text),
    ("kind", Kind::Text),
    ("cell", Kind::Text),
    ("parameters", Kind::Text),
    ("phase", Kind::Text),
    ("unit", Kind::Text),
    ("nodes", Kind::Whole),
    ("per_unit_ns", Kind::Number),
    ("low_ns", Kind::Number),
    ("high_ns", Kind::Number),
    ("between_nodes", Kind::Number),
    ("within_nodes", Kind::Number),
    ("node", Kind::Text),
    ("confirmed", Kind::Flag),
    ("ratio", Kind::Number),
    ("spread", Kind::Number),
    ("p", Kind::Number),
    ("status", Kind::Text),
    ("reason", Kind::Text),
    ("folder", Kind::Text),
];

/// Where the columns of odd nodes begin.
const NODE: usize = 12;

fn row(what: &str, kind: &str, cell: &str, parameters: &BTreeMap<String, String>) -> Vec<Field> {
    vec![text(what), text(kind), text(cell), text(&parameter_words(parameters, None))]
}

fn filled(mut row: Vec<Field>) -> Vec<Field> {
    row.resize(COLUMNS.len(), Field::None);
    row
}

fn text(value: &str) -> Field {
    Field::Text(inert(value))
}

fn number(value: Option<f64>) -> Field {
    value.map_or(Field::None, Field::Number)
}
