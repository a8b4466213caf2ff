//! A gate on a user's functions as a document, for a screen and for a comment on a pull request.

use super::compared::{by_experiment, side_by_side};
use crate::render::document::{Block, Column, Document, Entry, Place, Table, TableCell, Tone};
use crate::sentences::{numbers::range, phrases, wording};
use minijinja::context;
use record::across::{Compared, ComparedCell, ComparedCount, GateWord, Gated};
use record::summary::CountSummary;

/// The result of a gate on functions of the workers of these names.
pub fn document(compared: &Compared, names: [&str; 2], file: &str) -> Document {
    let times = by_experiment(&compared.cells)
        .into_iter()
        .flat_map(|(_, cells)| side_by_side(&cells, names, "launch"));
    let missing = compared.missing.iter().map(|missing| {
        format!(
            "{}: {}",
            missing.cell,
            phrases::sentence("missing", &missing.reason)
        )
    });
    Document::new(
        "gate",
        [format!("{file}: {} compared with {}", names[1], names[0])],
    )
    .section(
        "gate",
        "",
        Place::Everywhere,
        vec![Block::Answer(answer(compared))],
    )
    .section("times", "Time", Place::Everywhere, times.collect())
    .section(
        "counts",
        "Counts of one pass",
        Place::Everywhere,
        counts(&compared.counts, names),
    )
    .section(
        "missing",
        "Not compared",
        Place::Everywhere,
        Block::list("", missing).into_iter().collect(),
    )
}

fn answer(compared: &Compared) -> String {
    let slower = |cell: &&ComparedCell| cell.gate == Some(GateWord::Regression);
    let worse = |count: &&ComparedCount| count.gate == GateWord::Regression;
    let mut names: Vec<String> = compared
        .cells
        .iter()
        .filter(slower)
        .map(|cell| format!("time of {}", cell.headline.cell))
        .collect();
    names.extend(
        compared
            .counts
            .iter()
            .filter(worse)
            .map(|c| format!("{} of {} in {}", c.count, c.cell, c.phase)),
    );
    phrases::phrase(
        "gate",
        &compared.gated.unwrap_or(Gated::Passes),
        context! { names => names.join(", ") },
    )
}

fn counts(counts: &[ComparedCount], [before, now]: [&str; 2]) -> Vec<Block> {
    let (same, differing): (Vec<_>, Vec<_>) = counts.iter().partition(|count| count.a == count.b);
    let mut blocks = Vec::new();
    if !differing.is_empty() {
        let mut columns = Vec::from(["function", "phase", "count"].map(Column::text));
        columns.extend([
            Column::number(before),
            Column::number(now),
            Column::text("gate"),
        ]);
        let rows = differing.iter().map(|count| {
            let (word, tone) = match count.gate {
                GateWord::Passes if count.b.max < count.a.min => ("less", Tone::Faster),
                GateWord::Passes => ("within the tolerance", Tone::Plain),
                GateWord::Regression => ("REGRESSION", Tone::Slower),
                GateWord::Undecided => ("undecided", Tone::Open),
            };
            let number =
                |side: &CountSummary| TableCell::number(range(side), Some(side.max as f64));
            let cells = vec![
                TableCell::text(&count.phase),
                TableCell::text(count.count.replace('_', " ")),
                number(&count.a),
                number(&count.b),
                TableCell::text(word),
            ];
            Entry {
                tone,
                ..Entry::new(&count.cell, cells)
            }
        });
        blocks.push(Block::Table(Table::new(
            "Counts that differ",
            columns,
            rows,
        )));
    }
    if !same.is_empty() {
        blocks.push(Block::text(format!(
            "{} the same",
            wording::count(same.len(), "count")
        )));
    }
    blocks
}
