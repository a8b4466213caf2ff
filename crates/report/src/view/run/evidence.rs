//! Evidence for the figures: laws checked on every sample, facts, the machine, and how to repeat the run.

use crate::render::document::{Block, Column, Entry, Place, Table, TableCell, Tone};
use crate::sentences::labels::{LabelledExperiment, LabelledGroup};
use crate::sentences::wording;
use crate::tables::columns::{Columns, facts};
use record::summary::{CellSummary, FactProof, Role, Settings, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of one fact's words at most: a pass that is recorded second by second is longer.
const LONGEST_FACT: usize = 160;
/// Methods that are named one by one when a run is repeated.
const FEW: usize = 6;

/// A law over all cells of an experiment.
struct LawRow<'a> {
    text: &'a str,
    samples: u64,
    cells: usize,
    /// Samples that broke it, and their cells.
    broken: u64,
    broken_in: Vec<String>,
}

/// Laws and recorded facts of one experiment, folded.
pub(super) fn blocks(experiment: LabelledExperiment) -> Vec<Block> {
    let mut blocks = Vec::new();
    let laws = laws(experiment);
    if !laws.is_empty() {
        let title = match laws.iter().filter(|law| law.broken > 0).count() {
            0 => format!("{} laws held in every sample", laws.len()),
            broken => format!("{broken} of {} laws were broken", laws.len()),
        };
        let table = vec![Block::Table(law_table(&laws))];
        blocks.extend(Block::part(title, Place::Page, table));
    }
    let proofs = proofs(experiment);
    if !proofs.is_empty() {
        let title = format!("What {} cells recorded of themselves", proofs.len());
        let heads = [
            Column::text("cell"),
            Column::sentences("facts: a number, or its smallest and largest value"),
        ];
        let caption = "Facts, by which a method proves that it did what its name says";
        let table = facts(caption, heads, with_shared(proofs));
        blocks.extend(Block::part(title, Place::Page, vec![Block::Table(table)]));
    }
    blocks
}

fn law_table(laws: &[LawRow]) -> Table {
    Columns::new("law", |law: &LawRow| law.text.to_owned())
        .number("cells", |law| TableCell::count(law.cells))
        .number("samples", |law| samples(law.samples))
        .number("broken", |law| match law.broken {
            0 => TableCell::default(),
            broken => samples(broken),
        })
        .sentences("broken in", |law| law.broken_in.join(", "))
        .marked(|law, entry| Entry {
            tone: if law.broken > 0 {
                Tone::Slower
            } else {
                Tone::Plain
            },
            ..entry
        })
        .table(
            "Laws: what must hold in each sample for its cell to be believed",
            laws,
        )
}

fn samples(count: u64) -> TableCell {
    TableCell::number(count.to_string(), Some(count as f64))
}

/// The laws that any sample was checked by, in the order of their texts.
fn laws(experiment: LabelledExperiment<'_>) -> Vec<LawRow<'_>> {
    let mut rows: BTreeMap<&str, LawRow> = BTreeMap::new();
    for (index, cell) in experiment.cells() {
        for (text, checked) in &cell.laws {
            let row = rows.entry(text).or_insert(LawRow {
                text,
                samples: 0,
                cells: 0,
                broken: 0,
                broken_in: Vec::new(),
            });
            row.samples = row.samples.saturating_add(checked.samples);
            row.cells += usize::from(checked.samples > 0);
            row.broken = row.broken.saturating_add(checked.broken);
            if checked.broken > 0 {
                row.broken_in.push(experiment.run.name(index));
            }
        }
    }
    rows.into_values().filter(|row| row.samples > 0).collect()
}

/// Rows of facts, where what is the same in all of several cells is said once, in the first row.
fn with_shared(proofs: Vec<(String, Vec<String>)>) -> Vec<(String, String)> {
    let shared: Vec<String> = match proofs.as_slice() {
        [(_, first), others @ ..] if !others.is_empty() => first
            .iter()
            .filter(|fact| others.iter().all(|(_, facts)| facts.contains(fact)))
            .cloned()
            .collect(),
        _ => Vec::new(),
    };
    let rows = proofs.into_iter().map(|(cell, mut facts)| {
        facts.retain(|fact| !shared.contains(fact));
        (cell, facts.join(" · "))
    });
    let rows: Vec<(String, String)> = rows.collect();
    let shared = (!shared.is_empty()).then(|| ("every cell".to_owned(), shared.join(" · ")));
    shared.into_iter().chain(rows).collect()
}

/// Names of all cells that recorded facts, with the facts.
fn proofs(experiment: LabelledExperiment) -> Vec<(String, Vec<String>)> {
    let mut rows = Vec::new();
    for group in experiment.groups_in_order() {
        for cell in group.group.cells.iter().map(|&cell| group.cell(cell)) {
            if !cell.proofs.is_empty() && !cell.hidden {
                rows.push((name_and_setting(group, cell), recorded(cell)));
            }
        }
    }
    rows
}

fn name_and_setting(group: LabelledGroup, cell: &CellSummary) -> String {
    let parts: Vec<String> = [group.experiment.label(cell), group.setting()]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    parts.join(" ")
}

fn recorded(cell: &CellSummary) -> Vec<String> {
    let facts = cell.proofs.iter();
    facts
        .map(|(name, proof)| format!("{name} {}", fact(proof)))
        .collect()
}

fn fact(proof: &FactProof) -> String {
    match proof {
        FactProof::Number { min, max, .. } if min == max => min.to_string(),
        FactProof::Number { min, max, .. } => format!("{min}–{max}"),
        FactProof::Words(facts) => {
            let text = facts.join(", ");
            match text.char_indices().nth(LONGEST_FACT) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }
        }
    }
}

/// The machine and the request, a fact a row.
pub(super) fn circumstances(summary: &Summary) -> Block {
    let settings = &summary.settings;
    let precision = if settings.precision > 0.0 {
        wording::percent(settings.precision)
    } else {
        "none".to_owned()
    };
    let settings = [
        ("run", summary.run.clone()),
        ("made", summary.created.clone()),
        ("Pagewise", summary.version.clone()),
        ("time in all", wording::duration(summary.elapsed_s)),
        ("budget", wording::duration(settings.budget_s)),
        ("precision asked for", precision),
        ("margin", wording::percent(settings.margin)),
        ("seed", settings.seed.to_string()),
    ];
    let machine: BTreeMap<&String, &String> =
        summary.host.iter().chain(&summary.environment).collect();
    let machine = machine
        .into_iter()
        .map(|(name, value)| (name.as_str(), value.clone()));
    Block::Table(facts(
        "The machine and the run",
        [Column::text("fact"), Column::text("value")],
        settings.into_iter().chain(machine),
    ))
}

/// Commands that ask the same questions again, and that show what was measured; `run` is its name on the command line.
pub(super) fn repeat(summary: &Summary, run: &str) -> Vec<Block> {
    let Settings { budget_s, seed, .. } = &summary.settings;
    let budget = budget_s.round().max(1.0);
    let (subjects, sets) = (subjects(summary), sets(summary));
    let mut commands = vec![
        format!("pagewise run{subjects}{sets} --budget {budget:.0}s --seed {seed}"),
        format!("pagewise report {run} --full"),
    ];
    if let Some(cell) = summary.cells.iter().find(|cell| is_shown_method(cell)) {
        commands.push(format!("pagewise show {}/{}", cell.experiment, cell.method));
    }
    let text = "The first command asks the same again, the second prints this run's tables, the third the source \
                that was measured. Times will differ; verdicts should not.";
    vec![Block::Commands(commands), Block::text(text)]
}

fn is_shown_method(cell: &CellSummary) -> bool {
    !cell.hidden && cell.role == Role::Method
}

/// The methods where they are few, otherwise the experiments; none of an overview, which has all.
fn subjects(summary: &Summary) -> String {
    if summary.settings.is_overview {
        return String::new();
    }
    let methods: BTreeSet<String> = summary
        .cells
        .iter()
        .filter(|cell| is_shown_method(cell))
        .map(|cell| format!("{}/{}", cell.experiment, cell.method))
        .collect();
    let subjects: Vec<String> = if methods.len() <= FEW {
        methods.into_iter().collect()
    } else {
        let experiments = summary.experiments.iter();
        experiments.map(|e| e.definition.name.clone()).collect()
    };
    format!(" {}", subjects.join(" "))
}

/// The values of the parameters, where there is one experiment.
fn sets(summary: &Summary) -> String {
    let [only] = &summary.experiments[..] else {
        return String::new();
    };
    if summary.settings.is_overview {
        return String::new();
    }
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for group in summary.groups_of(&only.definition.name) {
        for (key, value) in &group.parameters {
            values.entry(key).or_default().insert(value);
        }
    }
    let sets = values.iter().map(|(key, values)| {
        let values: Vec<&str> = values.iter().copied().collect();
        format!(" --set {key}={}", values.join(","))
    });
    sets.collect()
}
