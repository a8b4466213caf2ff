//! What is shown of a run: rows, cells, strings and numbers in the order in which they are shown. The terminal, the page and
//! every export take their rows from here; none of them computes a figure, ranks or sorts.

mod across;
mod axis;
mod cells;
mod curves;
mod evidence;
mod group;
mod labels;
mod launches;
mod look;
mod missing;
mod scale;
mod tables;

use record::outcome::Status;
use record::summary::{ExperimentSummary, Note, Summary};

pub use across::{ComparedRow, ComparedTable, ComparedView, FactRow, SideView, TurnedView};
pub use axis::Axis;
pub use cells::{CellView, LaunchView, PhaseView, Taken};
pub use curves::{Crossover, Curves, Line, Point};
pub use evidence::{LawRow, ProofRow};
pub use group::{FOR_COMPARISON, GroupView, Kind, Numbers, Row};
pub use labels::spaced;
pub use launches::{Stack, StackRow};
pub use look::{Figure, KeepRow, Look, WorthRow};
pub use missing::Absent;
pub use scale::Scale;
pub use tables::{Grid, GridRow};

use crate::words;
use labels::Labels;

/// A whole run as it is shown.
#[derive(Clone, Debug)]
pub struct View {
    /// Name of the run.
    pub run: String,
    /// What stands in the first line: `first look`, `2-core VM, Linux 6.18, THP madvise`, `2 min 42 s`.
    pub head: Vec<String>,
    /// Whether it is a first look at everything, whose answer is one screen.
    pub first_look: bool,
    /// The answer on one screen.
    pub look: Look,
    /// Each experiment with its tables.
    pub experiments: Vec<ExperimentView>,
    /// How sure all this is, in sentences.
    pub sure: Vec<String>,
    /// What was seen that may disturb, by kind.
    pub warnings: Vec<WarningKind>,
    /// Cells with at least one warning.
    pub warned_cells: usize,
    /// How the run went, in sentences.
    pub notes: Vec<String>,
    /// What is known of the machine and of what the run was asked for: name and words.
    pub circumstances: Vec<(String, String)>,
    /// Commands that ask the same again and show what was measured.
    pub repeat: Vec<String>,
}

/// One experiment.
#[derive(Clone, Debug)]
pub struct ExperimentView {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it asks.
    pub question: String,
    /// How its figures are to be read.
    pub reading: String,
    /// What is compared: `ready: from nothing to every page touched once (map + advise + first-touch)`.
    pub compared: String,
    /// What a unit is: page, byte …
    pub unit: String,
    /// What does not vary within it: `c-O3`, `release=dontneed` …
    pub constant: Vec<String>,
    /// Its comparison groups.
    pub groups: Vec<GroupView>,
    /// Costs against sizes, where several were measured.
    pub curves: Vec<Curves>,
    /// Laws that were held against its samples.
    pub laws: Vec<LawRow>,
    /// Facts that its cells recorded.
    pub proofs: Vec<ProofRow>,
    /// Cells without figures, and figures that are not to be believed.
    pub absent: Vec<Absent>,
}

/// Warnings of one kind.
#[derive(Clone, Debug)]
pub struct WarningKind {
    /// Its name.
    pub code: String,
    /// What was seen and what to do, with the places where these very words were said.
    pub said: Vec<(String, Vec<String>)>,
}

impl View {
    /// Calls the run by other words than its name, in all that tells what to do next.
    pub fn called(&mut self, run: &str) {
        for command in self.look.next.iter_mut().chain(&mut self.repeat) {
            *command = command.replace(&self.run, run);
        }
        run.clone_into(&mut self.run);
    }

    /// Arranges a summary.
    pub fn of(summary: &Summary) -> View {
        let labels = Labels::of(summary);
        let experiments: Vec<ExperimentView> =
            summary.experiments.iter().filter_map(|experiment| experiment_view(summary, experiment, &labels)).collect();
        let mut warned: Vec<usize> = told(summary).flat_map(|w| w.cells.iter().copied()).collect();
        warned.sort_unstable();
        warned.dedup();
        View {
            run: summary.run.clone(),
            head: head(summary),
            first_look: summary.settings.first_look,
            look: look::look(summary, &labels),
            experiments,
            sure: sure(summary, &labels),
            warnings: warnings(summary),
            warned_cells: warned.len(),
            notes: summary.notes.iter().map(note).collect(),
            circumstances: evidence::circumstances(summary),
            repeat: evidence::repeat(summary),
        }
    }
}

fn note(note: &Note) -> String {
    let experiment = if note.experiment.is_empty() { String::new() } else { format!("{}: ", note.experiment) };
    format!("{experiment}{}", note.text)
}

/// What the run was and where it was made, in a few words.
fn head(summary: &Summary) -> Vec<String> {
    let of = |key: &str| summary.environment.get(key).map(String::as_str).filter(|v| *v != "unknown");
    let machine = of("cpus").map(|cpus| {
        let kind = match of("hypervisor") {
            None | Some("none") => "machine",
            Some(_) => "VM",
        };
        format!("{cpus}-core {kind}")
    });
    let kernel = of("kernel").map(|k| format!("Linux {}", k.split('.').take(2).collect::<Vec<_>>().join(".")));
    let what = match summary.settings.first_look {
        true => "first look".to_owned(),
        false => summary.experiments.iter().map(|e| e.definition.name.as_str()).collect::<Vec<_>>().join(", "),
    };
    let spent = (summary.elapsed_s > 0.0).then(|| words::duration(summary.elapsed_s));
    let thp = of("thp").map(|word| format!("THP {word}"));
    let machine = [machine, kernel, thp].into_iter().flatten().collect::<Vec<_>>().join(", ");
    [Some(what), Some(machine).filter(|m| !m.is_empty()), spent].into_iter().flatten().collect()
}

fn experiment_view(summary: &Summary, experiment: &ExperimentSummary, labels: &Labels) -> Option<ExperimentView> {
    let definition = &experiment.definition;
    if !summary.cells.iter().any(|c| c.experiment == definition.name && !c.hidden) {
        return None;
    }
    let total = definition.totals.iter().find(|t| t.name == experiment.headline);
    let compared = match total {
        Some(t) if t.phases.len() > 1 => format!("{}: {} ({})", t.name, t.meaning, t.formula()),
        Some(t) => format!("{}: {}", t.name, t.meaning),
        None => experiment.headline.clone(),
    };
    Some(ExperimentView {
        name: definition.name.clone(),
        title: definition.title.clone(),
        question: definition.question.clone(),
        reading: definition.reading.clone(),
        compared,
        unit: definition.unit.clone(),
        constant: labels.constant(definition),
        groups: group::in_order(summary, &definition.name)
            .into_iter()
            .filter_map(|g| group::view(summary, experiment, g, labels))
            .collect(),
        curves: curves::curves(summary, experiment, labels),
        laws: evidence::laws(summary, &definition.name, labels),
        proofs: evidence::proofs(summary, &definition.name, labels),
        absent: missing::absent(summary, &definition.name, labels),
    })
}

/// How sure the run is, the gravest first.
fn sure(summary: &Summary, labels: &Labels) -> Vec<String> {
    let checks: Vec<_> = summary.groups.iter().filter_map(|g| g.aa).collect();
    let mut said = Vec::new();
    for note in summary.notes.iter().filter(|n| ["interrupted", "damaged"].contains(&n.code.as_str())) {
        said.push(note.text.clone());
    }
    said.push(words::aa(&checks, |cell| labels.with_experiment(summary, cell)));
    if !checks.is_empty() && summary.elapsed_s > 0.0 {
        let time = words::duration(summary.elapsed_s);
        said.push(format!("limits (95 %) are of these {time}; another hour may differ"));
    }
    if summary.calibration.widened > 1.0 {
        let by = summary.calibration.widened;
        said.push(format!("A/A checks are wider apart than chance: all intervals were widened {by:.2} times"));
    }
    for (status, word) in [(Status::Damaged, "damaged"), (Status::Untrusted, "untrusted")] {
        let cells = (0..summary.cells.len()).filter(|&c| summary.cells[c].status == status && !summary.cells[c].hidden);
        match cells.map(|c| labels.with_experiment(summary, c)).collect::<Vec<_>>().as_slice() {
            [] => {}
            [one] => said.push(format!("{one} is {word}")),
            [one, other] => said.push(format!("{one} and {other} are {word}")),
            many => said.push(format!("{} cells are {word}", many.len())),
        }
    }
    said
}

/// Warnings that are worth a reader's time: that a machine has no hardware counters is not.
fn told(summary: &Summary) -> impl Iterator<Item = &record::summary::Warning> {
    summary.warnings.iter().filter(|w| w.code != "counter-absent")
}

fn warnings(summary: &Summary) -> Vec<WarningKind> {
    let mut kinds: Vec<WarningKind> = Vec::new();
    for warning in told(summary) {
        let hint = if warning.hint.is_empty() { String::new() } else { format!("; {}", warning.hint) };
        let words = format!("{}{hint}", warning.seen);
        let kind = match kinds.iter_mut().position(|k| k.code == warning.code) {
            Some(at) => &mut kinds[at],
            None => {
                kinds.push(WarningKind { code: warning.code.clone(), said: Vec::new() });
                kinds.last_mut().expect("pushed just now")
            }
        };
        match kind.said.iter_mut().find(|(said, _)| *said == words) {
            Some((_, places)) if places.contains(&warning.at) => {}
            Some((_, places)) => places.push(warning.at.clone()),
            None => kind.said.push((words, vec![warning.at.clone()])),
        }
    }
    kinds
}
