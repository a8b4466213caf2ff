//! Doubts about a run: A/A checks, untrusted cells, warnings.

use super::labels::LabelledRun;
use super::{phrases, wording};
use indexmap::{IndexMap, IndexSet};
use record::outcome::Status;
use record::summary::{AaCheck, CellSummary, Note, NoteKind, Summary, Warning, WarningKind};
use std::collections::BTreeSet;

/// Doubts about a run, the gravest first.
pub(crate) fn doubts(run: &LabelledRun) -> Vec<String> {
    let summary = run.summary;
    let grave = summary.notes.iter().filter(|note| {
        matches!(
            note.kind,
            NoteKind::Interrupted { .. } | NoteKind::Damaged { .. }
        )
    });
    let mut items: Vec<String> = grave.map(|note| phrases::note(&note.kind)).collect();
    let checks: Vec<AaCheck> = summary
        .groups
        .iter()
        .filter_map(|group| group.aa)
        .filter(|check| has_believed_duplicate(summary, check))
        .collect();
    let untrusted = cells_where(summary, |cell| cell.hidden && !is_believed(cell));
    let untrusted: Vec<String> = untrusted.map(|cell| run.name(cell)).collect();
    items.push(wording::aa(&checks, &untrusted, |cell| run.name(cell)));
    if !checks.is_empty() && summary.elapsed_s > 0.0 {
        let time = wording::duration(summary.elapsed_s);
        items.push(format!("95 % CI: of this run only ({time})"));
    }
    if summary.calibration.widened > 1.0 {
        let by = summary.calibration.widened;
        items.push(format!(
            "A/A checks are wider apart than chance: all intervals were widened {by:.2} times"
        ));
    }
    items.extend(not_believed(run, Status::Damaged));
    items.extend(not_believed(run, Status::Untrusted));
    items
}

fn is_believed(cell: &CellSummary) -> bool {
    !matches!(cell.outcome.status, Status::Untrusted | Status::Damaged)
}

fn has_believed_duplicate(summary: &Summary, check: &AaCheck) -> bool {
    let baseline = &summary.cells[check.cell];
    let duplicates = summary.cells.iter().filter(|cell| {
        cell.hidden && (&cell.cell, &cell.parameters) == (&baseline.cell, &baseline.parameters)
    });
    duplicates.into_iter().all(is_believed)
}

fn cells_where(
    summary: &Summary,
    is_wanted: impl Fn(&CellSummary) -> bool,
) -> impl Iterator<Item = usize> {
    (0..summary.cells.len()).filter(move |&cell| is_wanted(&summary.cells[cell]))
}

/// A sentence on the cells of this status.
fn not_believed(run: &LabelledRun, status: Status) -> Option<String> {
    let cells = cells_where(run.summary, |cell| {
        cell.outcome.status == status && !cell.hidden
    });
    let names: Vec<String> = cells.map(|cell| run.name(cell)).collect();
    let word = status.word();
    match names.as_slice() {
        [] => None,
        [name] => Some(format!("{name} is {word}")),
        [first, second] => Some(format!("{first} and {second} are {word}")),
        names => Some(format!("{} cells are {word}", names.len())),
    }
}

/// A note with the experiment that it is on.
pub(crate) fn note(note: &Note) -> String {
    let experiment = if note.experiment.is_empty() {
        String::new()
    } else {
        format!("{}: ", note.experiment)
    };
    format!("{experiment}{}", phrases::note(&note.kind))
}

/// Warnings that are worth a reader's time: a machine without hardware counters is not.
fn worth_reading(summary: &Summary) -> impl Iterator<Item = &Warning> {
    summary
        .warnings
        .iter()
        .filter(|w| !matches!(w.kind, WarningKind::CounterAbsent { .. }))
}

/// Codes of the warnings, each once.
pub(crate) fn warning_codes(summary: &Summary) -> BTreeSet<&'static str> {
    worth_reading(summary).map(|w| w.kind.code()).collect()
}

/// Number of cells with warnings.
pub(crate) fn warned_cells(summary: &Summary) -> usize {
    worth_reading(summary)
        .flat_map(|w| w.cells.iter().copied())
        .collect::<BTreeSet<usize>>()
        .len()
}

/// Sentences of all warnings by code; cells of which the same is true are named together.
pub(crate) fn warnings(summary: &Summary) -> IndexMap<&'static str, Vec<String>> {
    let mut kinds: IndexMap<&'static str, IndexMap<String, IndexSet<&str>>> = IndexMap::new();
    for warning in worth_reading(summary) {
        kinds
            .entry(warning.kind.code())
            .or_default()
            .entry(phrases::warning(&warning.kind))
            .or_default()
            .insert(&warning.at);
    }
    let mut sentences: IndexMap<&'static str, Vec<String>> = IndexMap::new();
    for (code, kinds) in kinds {
        let lines = kinds.into_iter().map(|(sentence, places)| {
            let places: Vec<&str> = places.into_iter().collect();
            format!("{sentence}: {}", places.join(", "))
        });
        sentences.insert(code, lines.collect());
    }
    sentences
}
