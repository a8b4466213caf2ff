//! A gate on a user's functions as a document, for a screen and for a comment on a pull request.

use super::compared::{SideNames, by_experiment, noisy, side_by_side};
use crate::render::document::{Block, Document, Entry, Place, Table, TableCell, Tone};
use crate::sentences::{numbers::range, phrases, wording};
use crate::tables::columns::Columns;
use minijinja::context;
use record::across::{Compared, ComparedCount, GateWord, Gated};
use record::summary::CountSummary;

/// The result of a gate on functions of the workers of these names.
pub fn document(compared: &Compared, names: [&str; 2], file: &str) -> Document {
    let sides = SideNames::new(names[0], names[1], "launch");
    let times = by_experiment(&compared.cells)
        .into_iter()
        .flat_map(|(_, cells)| side_by_side(&cells, sides));
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
    let mut names: Vec<String> = compared
        .cells
        .iter()
        .filter(|cell| cell.gate == Some(GateWord::Regression))
        .map(|cell| format!("time of {}", cell.headline.cell))
        .collect();
    let worse = compared
        .counts
        .iter()
        .filter(|count| count.gate == GateWord::Regression);
    names.extend(worse.map(|c| format!("{} of {} in {}", c.count, c.cell, c.phase)));
    phrases::phrase(
        "gate",
        &compared.gated.unwrap_or(Gated::Passes),
        context! { names => names.join(", "), noisy => noisy(&compared.cells, "function") },
    )
}

fn counts(counts: &[ComparedCount], names: [&str; 2]) -> Vec<Block> {
    let (same, differing): (Vec<_>, Vec<_>) = counts.iter().partition(|count| count.a == count.b);
    let mut blocks = Vec::new();
    if !differing.is_empty() {
        blocks.push(Block::Table(differences(&differing, names)));
    }
    if !same.is_empty() {
        blocks.push(Block::text(format!(
            "{} the same",
            wording::count(same.len(), "count")
        )));
    }
    blocks
}

fn differences(counts: &[&ComparedCount], [before, now]: [&str; 2]) -> Table {
    Columns::new("function", |count: &ComparedCount| count.cell.clone())
        .text("phase", |count| count.phase.clone())
        .text("count", |count| count.count.replace('_', " "))
        .number(before, |count| number(&count.a))
        .number(now, |count| number(&count.b))
        .text("gate", |count| gate_word(count).0)
        .marked(|count, entry| Entry {
            tone: gate_word(count).1,
            ..entry
        })
        .table("Counts that differ", counts.iter().copied())
}

fn number(count: &CountSummary) -> TableCell {
    TableCell::number(range(count), Some(count.max as f64))
}

fn gate_word(count: &ComparedCount) -> (&'static str, Tone) {
    match count.gate {
        GateWord::Passes if count.b.max < count.a.min => ("less", Tone::Faster),
        GateWord::Passes => ("within the tolerance", Tone::Plain),
        GateWord::Regression => ("REGRESSION", Tone::Slower),
        GateWord::Undecided => ("undecided", Tone::Open),
    }
}
