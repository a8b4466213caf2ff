//! Doubts about a run: A/A checks, untrusted cells, warnings.

use super::labels::LabelledRun;
use super::overview::{AnswerKind, AnswerRow};
use super::{phrases, wording};
use indexmap::{IndexMap, IndexSet};
use record::outcome::Status;
use record::summary::{
    AaCheck, CellSummary, Note, NoteKind, Summary, Sureness, Warning, WarningKind,
};

/// Doubts about a run, the gravest first.
pub(crate) fn doubts(run: &LabelledRun) -> Vec<String> {
    let summary = run.summary;
    let mut items = Vec::new();
    let checks: Vec<AaCheck> = summary
        .groups
        .iter()
        .filter_map(|group| group.aa)
        .filter(|check| has_believed_duplicate(summary, check))
        .collect();
    let untrusted = names(run, |cell| cell.hidden && !is_believed(cell));
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

/// Tells whether a note is on a record that is not whole: [`lines`] begin with it.
pub(crate) fn is_grave(note: &Note) -> bool {
    matches!(
        note.kind,
        NoteKind::Interrupted { .. } | NoteKind::Damaged { .. }
    )
}

fn grave(summary: &Summary) -> impl Iterator<Item = String> {
    let grave = summary.notes.iter().filter(|note| is_grave(note));
    grave.map(|note| phrases::note(&note.kind))
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

/// Names of such cells, each once: an article's rows may differ in parameters that its names leave out.
fn names(run: &LabelledRun, is_wanted: impl Fn(&CellSummary) -> bool) -> Vec<String> {
    let cells = &run.summary.cells;
    let numbers = (0..cells.len()).filter(|&cell| is_wanted(&cells[cell]));
    let names: IndexSet<String> = numbers.map(|cell| run.name(cell)).collect();
    names.into_iter().collect()
}

/// A sentence on the cells of this status.
fn not_believed(run: &LabelledRun, status: Status) -> Option<String> {
    let names = names(run, |cell| cell.outcome.status == status && !cell.hidden);
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

/// Tells whether a note is on the environment of the workers, which every run has: it has a place of its own.
pub(crate) fn is_of_environment(note: &Note) -> bool {
    matches!(note.kind, NoteKind::EnvironmentCleared { .. })
}

/// Lines on how sure a run is: faults that break it, then the machine, the controls and these rows, which a screen shows.
pub(crate) fn lines(run: &LabelledRun, rows: &[AnswerRow]) -> Vec<String> {
    let summary = run.summary;
    let mut lines: Vec<String> = grave(summary).collect();
    let damage = summary.warnings.iter().find(|warning| {
        matches!(
            warning.kind,
            WarningKind::Damaged { .. } | WarningKind::LastLaunchLost { .. }
        )
    });
    lines.extend(damage.map(|warning| {
        let fact = phrases::sentence("fact", &warning.kind);
        format!("the record is damaged: {fact}")
    }));
    let differing = summary.groups.iter().filter_map(|group| group.aa);
    lines.extend(
        differing
            .filter(|aa| aa.differs)
            .take(1)
            .map(|aa| wording::aa(&[aa], &[], |cell| run.name(cell))),
    );
    lines.extend(not_believed(run, Status::Damaged));
    lines.extend(not_believed(run, Status::Untrusted));
    let noise = noise(summary);
    lines.push(match noise.as_slice() {
        [] => "quiet enough".to_owned(),
        noise => format!("noisy: {}", noise.join("; ")),
    });
    let is_undisturbed = |row: &AnswerRow| row.sureness == Some(Sureness::Settled);
    let holds = !noise.is_empty() && rows.iter().any(is_undisturbed);
    let answers = if summary.settings.is_overview {
        format!("rows marked {}", wording::sureness(Some(Sureness::Settled)))
    } else {
        "answers marked neither noisy nor early".to_owned()
    };
    lines.extend(match (weak_controls(summary), holds) {
        (Some(weak), true) => Some(format!("{weak}, none behind {answers}")),
        (Some(weak), false) => Some(format!("{weak}: what lies within their noise is open")),
        (None, true) => Some(format!(
            "{answers} hold all the same: little disturbed them"
        )),
        (None, false) => None,
    });
    lines.extend(unsure(summary, rows, !noise.is_empty()));
    lines
}

/// The number of controls that are too noisy; none where all are narrow enough.
fn weak_controls(summary: &Summary) -> Option<String> {
    let checks: Vec<AaCheck> = summary.groups.iter().filter_map(|group| group.aa).collect();
    let weak = checks
        .iter()
        .filter(|aa| AaCheck::is_weak(&aa.ratio))
        .count();
    let controls = wording::count(checks.len(), "control");
    (weak > 0).then(|| format!("{weak} of {controls} too noisy"))
}

/// A line on the questions that are open or early, with what would help; none where there are none.
fn unsure(summary: &Summary, rows: &[AnswerRow], noisy: bool) -> Option<String> {
    let open = rows.iter().filter(|row| row.kind == AnswerKind::Open);
    let early = rows
        .iter()
        .filter(|row| row.sureness == Some(Sureness::Early));
    let (open, early) = (open.count(), early.count());
    if open + early == 0 {
        return None;
    }
    let questions = wording::count(rows.len(), "question");
    let mut parts = Vec::new();
    if open > 0 {
        parts.push(format!("{open} of {questions} open"));
    }
    if early > 0 {
        parts.push(match open {
            0 => format!("{early} of {questions} early"),
            _ => format!("{early} early"),
        });
    }
    // The open rows of an overview have the time that they need.
    let lacks_time = early > 0 || open > 0 && !summary.settings.is_overview;
    let help = match (noisy, lacks_time) {
        (false, false) => "",
        (false, true) => ": more time would help (--budget)",
        (true, false) => ": a quieter machine would help (--wait-for-quiet 10min)",
        (true, true) => ": try --budget, --wait-for-quiet 10min",
    };
    Some(parts.join(", ") + help)
}

/// Causes of noise that one line names at most.
const MOST_CAUSES: usize = 2;

/// Disturbances of a run, the worst of each kind in a few words, with the number of cells that have it.
fn noise(summary: &Summary) -> Vec<String> {
    let launched = summary.cells.iter().filter(|c| !c.hidden && c.launches > 0);
    let launched = launched.count();
    let disturbances = worst(summary)
        .into_values()
        .filter(|(warning, _)| warning.kind.is_disturbance());
    let mut causes: IndexMap<String, usize> = IndexMap::new();
    for (warning, cells) in disturbances {
        *causes
            .entry(phrases::sentence("noise", &warning.kind))
            .or_default() += cells;
    }
    let causes = causes.into_iter().take(MOST_CAUSES);
    let counted = causes.map(|(cause, cells)| match cells {
        0 => cause,
        cells => format!("{cause} in {cells} of {launched} cells"),
    });
    counted.collect()
}

/// The first causes of noise among these warnings, in a few words each.
pub(crate) fn causes<'a>(kinds: impl Iterator<Item = &'a WarningKind>) -> Vec<String> {
    let disturbances = kinds.filter(|kind| kind.is_disturbance());
    let causes: IndexSet<String> = disturbances
        .map(|kind| phrases::sentence("noise", kind))
        .collect();
    causes.into_iter().take(MOST_CAUSES).collect()
}

/// The worst warning of each kind, with the number of cells that have it; the most frequent first.
fn worst(summary: &Summary) -> IndexMap<&'static str, (&Warning, usize)> {
    let mut kinds: IndexMap<&'static str, (&Warning, usize)> = IndexMap::new();
    for warning in &summary.warnings {
        let known = kinds.entry(warning.kind.code()).or_insert((warning, 0));
        known.1 += warning.cells.len();
        if warning.kind.severity() > known.0.kind.severity() {
            known.0 = warning;
        }
    }
    kinds.sort_by(|_, a, _, b| b.1.cmp(&a.1));
    kinds
}

/// Lines on the warnings that a reader can act on, one for each kind: the worst of it, and the number of cells that have it.
pub(crate) fn warning_lines(summary: &Summary) -> Vec<String> {
    let kinds = worst(summary).into_values();
    let mendable = kinds.filter(|(warning, _)| warning.kind.is_mendable());
    mendable
        .map(|(warning, cells)| {
            let sentence = phrases::warning(&warning.kind);
            match cells {
                0 => sentence,
                1 => format!("{}: {sentence}", warning.at),
                cells => format!("{}, the worst of {cells} cells: {sentence}", warning.at),
            }
        })
        .collect()
}

/// Sentences of all warnings by code; cells of which the same is true are named together.
pub(crate) fn warnings(summary: &Summary) -> IndexMap<&'static str, Vec<String>> {
    let mut kinds: IndexMap<&'static str, IndexMap<String, IndexSet<&str>>> = IndexMap::new();
    for warning in summary.warnings.iter().filter(|w| w.kind.is_mendable()) {
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
