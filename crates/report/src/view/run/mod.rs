//! A run as a document: the overview, the tables of experiments, and what backs them.

mod evidence;
mod overview;
mod trend;

use indexmap::{IndexMap, IndexSet};
use record::outcome::Status;
use record::summary::{
    AaCheck, CellSummary, ExperimentSummary, Note, NoteKind, Summary, Warning, WarningKind,
};
use std::collections::{BTreeMap, BTreeSet};

pub use overview::{ADVISED, briefly};
pub use trend::{RunTrend, trend};

use crate::render::document::{Block, Document, List, Place, Section};
use crate::sentences::{labels::Labels, missing};
use crate::sentences::{phrases, wording};
use crate::tables::{curves, group, passes, states};

/// The part of a run that a terminal shows.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Tables of these experiments only; all where empty.
    pub experiments: Vec<String>,
    /// With phases, resources, latency, lower bound and floor.
    pub full: bool,
    pub warnings: bool,
    /// The name of the run on the command line, where its id alone would not find it.
    pub run: Option<String>,
    pub page: Option<String>,
}

/// The report of a run on a terminal: its warnings, its overview, or its tables.
pub fn screen(summary: &Summary, wanted: &Wanted) -> Document {
    let run = wanted.run.as_deref();
    let document = Document::new("", head(summary));
    if wanted.warnings {
        let blocks = warnings(summary);
        let none = || vec![Block::text("no warnings")];
        document.section(
            "warnings",
            "Warnings",
            Place::Screen,
            if blocks.is_empty() { none() } else { blocks },
        )
    } else if summary.settings.first_look && !wanted.full && wanted.experiments.is_empty() {
        let labels = Labels::new(summary);
        let overview = overview::Overview::new(summary, &labels, run.unwrap_or(&summary.run));
        let mut blocks = overview.blocks(wanted.page.as_deref());
        blocks.extend(
            summary
                .experiments
                .iter()
                .flat_map(|experiment| states::blocks(summary, experiment, &labels)),
        );
        document.section("answers", "", Place::Screen, blocks)
    } else {
        tables(summary, &wanted.experiments, run)
    }
}

/// The whole run as a page: its question, host and date come first.
pub fn page(summary: &Summary, run: Option<&str>) -> Document {
    let mut document = tables(summary, &[], run);
    let fact = |facts: &BTreeMap<String, String>, key: &str| {
        facts.get(key).filter(|v| *v != "unknown").cloned()
    };
    let made = summary
        .created
        .get(..16)
        .unwrap_or(&summary.created)
        .replace('T', " ");
    let host = fact(&summary.host, "name").map(|name| format!("on {name}"));
    let cpu = fact(&summary.environment, "cpu");
    document.head.extend(
        [host, cpu, Some(format!("{made} UTC"))]
            .into_iter()
            .flatten(),
    );
    document.question = match summary.experiments.as_slice() {
        [one] => one.definition.question.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => "Which method is faster here than the usual choice, by how much, and under which condition?".to_owned(),
    };
    document
}

/// The whole run; `experiments` limits its tables unless it is empty. `run` is its name on the command line.
pub fn tables(summary: &Summary, experiments: &[String], run: Option<&str>) -> Document {
    let labels = Labels::new(summary);
    let is_wanted =
        |name: &str| experiments.is_empty() || experiments.iter().any(|wanted| wanted == name);
    let mut head = head(summary).into_iter();
    let mut document = Document::new(head.next().unwrap_or_default(), head);
    let run = run.unwrap_or(&summary.run);
    let overview = overview::Overview::new(summary, &labels, run);
    document = document.section("answers", "Answers", Place::Page, overview.blocks(None));
    let wanted = summary
        .experiments
        .iter()
        .filter(|e| is_wanted(&e.definition.name));
    document
        .sections
        .extend(wanted.filter_map(|experiment| section(summary, experiment, &labels)));
    let closing = closing(summary, &labels, run, is_wanted);
    let mut seen = warnings(summary);
    if seen.is_empty() {
        seen.push(Block::text("None."));
    }
    seen.extend(Block::list(
        "How the run went",
        summary.notes.iter().map(note),
    ));
    document
        .section("sure", "How sure", Place::Screen, closing)
        .section("warnings", "Warnings", Place::Page, seen)
        .section(
            "environment",
            "Environment",
            Place::Page,
            vec![evidence::circumstances(summary)],
        )
        .section(
            "repeat",
            "How to repeat it",
            Place::Page,
            evidence::repeat(summary, run),
        )
}

fn note(note: &Note) -> String {
    let experiment = if note.experiment.is_empty() {
        String::new()
    } else {
        format!("{}: ", note.experiment)
    };
    format!("{experiment}{}", phrases::note(&note.kind))
}

/// The run and its machine in a few words: `overview`, `2-core VM, Linux 6.18, THP madvise`, `2 min 42 s`.
fn head(summary: &Summary) -> Vec<String> {
    let fact = |key: &str| {
        summary
            .environment
            .get(key)
            .map(String::as_str)
            .filter(|v| *v != "unknown")
    };
    let machine = fact("cpus").map(|cpus| {
        let kind = if fact("hypervisor").is_none_or(|kind| kind == "none") {
            "machine"
        } else {
            "VM"
        };
        format!("{cpus}-core {kind}")
    });
    let kernel = fact("kernel").map(|k| {
        format!(
            "Linux {}",
            k.split('.').take(2).collect::<Vec<_>>().join(".")
        )
    });
    let names = || {
        summary
            .experiments
            .iter()
            .map(|e| e.definition.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let subject = if summary.settings.first_look {
        "overview".to_owned()
    } else {
        names()
    };
    let spent = (summary.elapsed_s > 0.0).then(|| wording::duration(summary.elapsed_s));
    let thp = fact("thp").map(|mode| format!("THP {mode}"));
    let machine = [machine, kernel, thp]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ");
    [
        Some(subject),
        Some(machine).filter(|m| !m.is_empty()),
        spent,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn section(summary: &Summary, experiment: &ExperimentSummary, labels: &Labels) -> Option<Section> {
    let definition = &experiment.definition;
    let name = definition.name.as_str();
    if !summary
        .cells
        .iter()
        .any(|c| c.experiment == name && !c.hidden)
    {
        return None;
    }
    let total = definition
        .totals
        .iter()
        .find(|t| t.name == experiment.headline);
    let compared = match total {
        Some(t) if t.phases.len() > 1 => format!("{}: {} ({})", t.name, t.meaning, t.formula()),
        Some(t) => format!("{}: {}", t.name, t.meaning),
        None => experiment.headline.clone(),
    };
    let page = |title: &str, blocks| Block::part(title, Place::Page, blocks);
    let mut blocks: Vec<Block> = page("", vec![Block::text(&definition.question)])
        .into_iter()
        .collect();
    blocks.push(Block::text(format!("metric: {compared}")));
    let constant = labels.constant(definition);
    if !constant.is_empty() {
        blocks.push(Block::text(format!(
            "fixed parameters: {}",
            constant.join(" ")
        )));
    }
    let keys = curves::keys(definition, labels);
    let maps: Vec<Block> = keys
        .into_iter()
        .flat_map(|keys| curves::maps(summary, experiment, labels, keys))
        .collect();
    // A map shows what curves over its second parameter would show, with a chart for each size.
    let mapped = keys.filter(|_| !maps.is_empty()).map(|keys| keys[1]);
    blocks.extend(page(
        "",
        curves::charts(summary, experiment, labels, mapped),
    ));
    blocks.extend(page("", maps));
    let groups = group::in_order(summary, name).into_iter();
    let groups = groups.filter_map(|group| group::of_group(summary, experiment, group, labels));
    let (groups, footnotes): (Vec<_>, Vec<bool>) = groups.unzip();
    blocks.extend(groups.into_iter().flatten());
    if footnotes.contains(&true) {
        blocks.push(Block::text(wording::AMONG_ALL));
    }
    blocks.extend(states::blocks(summary, experiment, labels));
    let absent = missing::absent(summary, name, labels).into_iter();
    let absent = absent.map(|a| {
        format!(
            "{}: {}: {}",
            a.cell.outcome.status.word(),
            a.names.join(", "),
            phrases::reason(&a.cell.outcome)
        )
    });
    blocks.extend(Block::list(
        "without figures, or not to be believed",
        absent,
    ));
    if !definition.reading.is_empty() {
        blocks.extend(page(
            "How to read these figures",
            vec![Block::text(&definition.reading)],
        ));
    }
    blocks.extend(passes::of_experiment(summary, name, labels));
    blocks.extend(evidence::of_experiment(summary, name, labels));
    let title = format!("{name}: {}", definition.title);
    let (id, short) = (format!("experiment-{name}"), name.to_owned());
    Some(Section {
        id,
        title,
        short,
        place: Place::Everywhere,
        blocks,
    })
}

/// The end of a screen: how sure the run is, its warnings counted, how it went.
fn closing(
    summary: &Summary,
    labels: &Labels,
    run: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<Block> {
    let mut items = sure(summary, labels);
    let codes: BTreeSet<String> = worth_telling(summary).map(|w| w.kind.code()).collect();
    if !codes.is_empty() {
        let codes = codes.into_iter().collect::<Vec<_>>().join(", ");
        let cells = match warned(summary) {
            0 => String::new(),
            count => format!(" of {}", wording::count(count, "cell")),
        };
        items.push(format!(
            "warnings{cells} ({codes}): pagewise report {run} --warnings"
        ));
    }
    // Notes on experiments that are not shown are left to a report of all.
    let notes = summary
        .notes
        .iter()
        .filter(|n| n.experiment.is_empty() || is_wanted(&n.experiment));
    items.extend(notes.map(|n| format!("note: {}", note(n))));
    vec![Block::List(List {
        title: String::new(),
        items,
        most: None,
    })]
}

/// Doubts about the run, the gravest first.
fn sure(summary: &Summary, labels: &Labels) -> Vec<String> {
    let is_believed =
        |cell: &CellSummary| !matches!(cell.outcome.status, Status::Untrusted | Status::Damaged);
    let has_duplicate = |aa: &AaCheck| {
        let base = &summary.cells[aa.cell];
        let is_mine = |c: &&CellSummary| {
            c.hidden && (&c.cell, &c.parameters) == (&base.cell, &base.parameters)
        };
        summary.cells.iter().filter(is_mine).all(is_believed)
    };
    let checks: Vec<_> = summary
        .groups
        .iter()
        .filter_map(|g| g.aa)
        .filter(has_duplicate)
        .collect();
    let mut items = Vec::new();
    for note in summary.notes.iter().filter(|n| {
        matches!(
            n.kind,
            NoteKind::Interrupted { .. } | NoteKind::Damaged { .. }
        )
    }) {
        items.push(phrases::note(&note.kind));
    }
    let duplicates = (0..summary.cells.len())
        .filter(|&c| summary.cells[c].hidden && !is_believed(&summary.cells[c]));
    let duplicates: Vec<String> = duplicates
        .map(|c| labels.with_experiment(summary, c))
        .collect();
    items.push(wording::aa(&checks, &duplicates, |cell| {
        labels.with_experiment(summary, cell)
    }));
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
    for status in [Status::Damaged, Status::Untrusted] {
        let word = status.word();
        let cells = (0..summary.cells.len())
            .filter(|&c| summary.cells[c].outcome.status == status && !summary.cells[c].hidden);
        match cells
            .map(|c| labels.with_experiment(summary, c))
            .collect::<Vec<_>>()
            .as_slice()
        {
            [] => {}
            [one] => items.push(format!("{one} is {word}")),
            [one, other] => items.push(format!("{one} and {other} are {word}")),
            many => items.push(format!("{} cells are {word}", many.len())),
        }
    }
    items
}

/// Warnings that are worth a reader's time: a machine without hardware counters is not.
fn worth_telling(summary: &Summary) -> impl Iterator<Item = &Warning> {
    summary
        .warnings
        .iter()
        .filter(|w| !matches!(w.kind, WarningKind::CounterAbsent { .. }))
}

fn warned(summary: &Summary) -> usize {
    worth_telling(summary)
        .flat_map(|w| w.cells.iter().copied())
        .collect::<BTreeSet<usize>>()
        .len()
}

/// All warnings by kind; cells of which the same is true are named together.
fn warnings(summary: &Summary) -> Vec<Block> {
    let mut kinds: IndexMap<String, IndexMap<String, IndexSet<&str>>> = IndexMap::new();
    for warning in worth_telling(summary) {
        let sentence = phrases::warning(&warning.kind);
        kinds
            .entry(warning.kind.code())
            .or_default()
            .entry(sentence)
            .or_default()
            .insert(&warning.at);
    }
    let item = |(sentence, places): (String, IndexSet<&str>)| {
        format!(
            "{sentence}: {}",
            places.into_iter().collect::<Vec<_>>().join(", ")
        )
    };
    kinds
        .into_iter()
        .filter_map(|(code, sentences)| Block::list(&code, sentences.into_iter().map(item)))
        .collect()
}
