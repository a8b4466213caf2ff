//! Evidence for the figures: laws checked on every sample, facts, the machine, and how to repeat the run.

use crate::render::document::{Block, Column, Entry, Place, Table, TableCell, Tone};
use crate::sentences::labels::Labels;
use crate::sentences::wording;
use crate::tables::group;
use record::summary::{FactProof, Role, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of one fact's words at most: a pass that is recorded second by second is longer.
const LONGEST_FACT: usize = 160;
/// Methods that are named one by one when a run is repeated.
const FEW: usize = 6;

#[derive(Default)]
struct LawRow {
    samples: u64,
    cells: usize,
    /// Samples that broke it, and their cells.
    broken: u64,
    broken_in: Vec<String>,
}

/// Laws and recorded facts of one experiment, folded.
pub(super) fn of_experiment(summary: &Summary, experiment: &str, labels: &Labels) -> Vec<Block> {
    let mut blocks = Vec::new();
    let laws = laws(summary, experiment, labels);
    let broken = laws.values().filter(|law| law.broken > 0).count();
    if !laws.is_empty() {
        let title = match broken {
            0 => format!("{} laws held in every sample", laws.len()),
            n => format!("{n} of {} laws were broken", laws.len()),
        };
        let mut columns = vec![Column::text("law")];
        columns.extend(["cells", "samples", "broken"].map(Column::number));
        columns.push(Column::sentences("broken in"));
        let rows = laws.iter().map(|(text, law)| {
            let count = |n: u64| TableCell::number(n.to_string(), Some(n as f64));
            let cells = vec![
                TableCell::count(law.cells),
                count(law.samples),
                count(law.broken),
                TableCell::text(law.broken_in.join(", ")),
            ];
            Entry {
                tone: if law.broken > 0 {
                    Tone::Slower
                } else {
                    Tone::Plain
                },
                ..Entry::new(*text, cells)
            }
        });
        let table = Table::new(
            "Laws: what must hold in each sample for its cell to be believed",
            columns,
            rows,
        );
        blocks.extend(Block::part(title, Place::Page, vec![Block::Table(table)]));
    }
    let rows = proofs(summary, experiment, labels);
    if !rows.is_empty() {
        let title = format!("What {} cells recorded of themselves", rows.len());
        let columns = vec![
            Column::text("cell"),
            Column::sentences("facts: a number, or its smallest and largest value"),
        ];
        let table = Table::new(
            "Facts, by which a method proves that it did what its name says",
            columns,
            rows,
        );
        blocks.extend(Block::part(title, Place::Page, vec![Block::Table(table)]));
    }
    blocks
}

fn laws<'a>(summary: &'a Summary, experiment: &str, labels: &Labels) -> BTreeMap<&'a str, LawRow> {
    let mut rows: BTreeMap<&str, LawRow> = BTreeMap::new();
    for (index, cell) in summary
        .cells
        .iter()
        .enumerate()
        .filter(|(_, c)| c.experiment == experiment && !c.hidden)
    {
        for (law, found) in &cell.laws {
            let row = rows.entry(law).or_default();
            row.samples = row.samples.saturating_add(found.samples);
            row.cells += usize::from(found.samples > 0);
            row.broken = row.broken.saturating_add(found.broken);
            if found.broken > 0 {
                row.broken_in.push(labels.with_experiment(summary, index));
            }
        }
    }
    rows.retain(|_, row| row.samples > 0);
    rows
}

/// Facts of all cells that recorded any.
fn proofs(summary: &Summary, experiment: &str, labels: &Labels) -> Vec<Entry> {
    let Some(definition) = summary.experiment(experiment).map(|e| &e.definition) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for group in group::in_order(summary, experiment) {
        let setting = labels.setting(definition, group);
        for cell in group
            .cells
            .iter()
            .map(|&c| &summary.cells[c])
            .filter(|c| !c.proofs.is_empty() && !c.hidden)
        {
            let label = [labels.cell(definition, cell), setting.clone()];
            let label = label
                .into_iter()
                .filter(|w| !w.is_empty())
                .collect::<Vec<_>>()
                .join(" ");
            let facts: Vec<String> = cell
                .proofs
                .iter()
                .map(|(k, v)| format!("{k} {}", fact(v)))
                .collect();
            rows.push(Entry::new(label, vec![TableCell::text(facts.join(" · "))]));
        }
    }
    rows
}

fn fact(proof: &FactProof) -> String {
    match proof {
        FactProof::Number { min, max, .. } if min == max => min.to_string(),
        FactProof::Number { min, max, .. } => format!("{min}–{max}"),
        FactProof::Words(all) => {
            let text = all.join(", ");
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
    let settings = [
        ("run", summary.run.clone()),
        ("made", summary.created.clone()),
        ("Pagewise", summary.version.clone()),
        ("time in launches", wording::duration(summary.elapsed_s)),
        ("budget", wording::duration(settings.budget_s)),
        (
            "precision asked for",
            if settings.precision > 0.0 {
                wording::percent(settings.precision)
            } else {
                "none".into()
            },
        ),
        ("margin", wording::percent(settings.margin)),
        ("seed", settings.seed.to_string()),
    ];
    let settings = settings
        .into_iter()
        .map(|(name, words)| (name.to_owned(), words));
    let seen: BTreeMap<&String, &String> =
        summary.host.iter().chain(&summary.environment).collect();
    let facts = settings.chain(
        seen.into_iter()
            .map(|(name, words)| (name.clone(), words.clone())),
    );
    let rows = facts.map(|(name, words)| Entry::new(name, vec![TableCell::text(words)]));
    Block::Table(Table::new(
        "The machine and the run",
        vec![Column::text("fact"), Column::text("value")],
        rows,
    ))
}

/// Commands that ask the same questions again, and that show what was measured.
pub(super) fn repeat(summary: &Summary, run: &str) -> Vec<Block> {
    let settings = &summary.settings;
    let methods: BTreeSet<String> = summary
        .cells
        .iter()
        .filter(|c| !c.hidden && c.role == Role::Method)
        .map(|c| format!("{}/{}", c.experiment, c.method))
        .collect();
    let names: Vec<&str> = summary
        .experiments
        .iter()
        .map(|e| e.definition.name.as_str())
        .collect();
    let what = if settings.first_look {
        String::new()
    } else if methods.len() <= FEW {
        format!(" {}", methods.iter().cloned().collect::<Vec<_>>().join(" "))
    } else {
        format!(" {}", names.join(" "))
    };
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    if let ([only], false) = (&names[..], settings.first_look) {
        for group in summary.groups_of(only) {
            group.parameters.iter().for_each(|(key, value)| {
                values.entry(key).or_default().insert(value);
            });
        }
    }
    let sets: Vec<String> = values
        .iter()
        .map(|(key, all)| {
            format!(
                " --set {key}={}",
                all.iter().copied().collect::<Vec<_>>().join(",")
            )
        })
        .collect();
    let budget = settings.budget_s.round().max(1.0);
    let mut commands = vec![
        format!(
            "pagewise run{what}{} --budget {budget:.0}s --seed {}",
            sets.concat(),
            settings.seed
        ),
        format!("pagewise report {run} --full"),
    ];
    if let Some(cell) = summary
        .cells
        .iter()
        .find(|c| !c.hidden && c.role == Role::Method)
    {
        commands.push(format!("pagewise show {}/{}", cell.experiment, cell.method));
    }
    let text = "The first command asks the same again, the second prints this run's tables, the third the source \
                that was measured. Times will differ; verdicts should not.";
    vec![Block::Commands(commands), Block::text(text)]
}
