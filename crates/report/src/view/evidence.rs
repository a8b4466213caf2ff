//! What backs the figures: laws that were held against every sample, facts that were recorded, where the run was made, and
//! how to repeat it.

use std::collections::{BTreeMap, BTreeSet};

use record::summary::{Proof, Summary};

use super::group;
use super::labels::Labels;
use crate::words;

/// Characters of one fact's words at most: a pass that is recorded second by second is longer.
const LONGEST_FACT: usize = 160;
/// Methods that are named one by one when a run is repeated.
const FEW: usize = 6;

/// One law over all samples of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct LawRow {
    /// As it is written.
    pub law: String,
    /// Samples that it was held against.
    pub asked: u64,
    /// Cells that it was held against.
    pub cells: usize,
    /// Samples that broke it.
    pub broken: u64,
    /// Cells that broke it.
    pub broken_in: Vec<String>,
}

/// What one cell recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct ProofRow {
    /// The cell within the experiment, with the parameters by which its group differs.
    pub label: String,
    /// Names with what was recorded: a number, its extremes, or all words.
    pub facts: Vec<(String, String)>,
}

/// Laws in the order of their text.
pub(crate) fn laws(summary: &Summary, experiment: &str, labels: &Labels) -> Vec<LawRow> {
    let mut rows: BTreeMap<&str, LawRow> = BTreeMap::new();
    for (index, cell) in summary.cells.iter().enumerate().filter(|(_, c)| c.experiment == experiment && !c.hidden) {
        for (law, found) in &cell.laws {
            let row = rows.entry(law).or_insert_with(|| LawRow {
                law: law.clone(),
                asked: 0,
                cells: 0,
                broken: 0,
                broken_in: Vec::new(),
            });
            row.asked = row.asked.saturating_add(found.asked);
            row.cells += usize::from(found.asked > 0);
            row.broken = row.broken.saturating_add(found.broken);
            if found.broken > 0 {
                row.broken_in.push(labels.with_experiment(summary, index));
            }
        }
    }
    rows.into_values().filter(|row| row.asked > 0).collect()
}

/// Facts of all cells that recorded any.
pub(crate) fn proofs(summary: &Summary, experiment: &str, labels: &Labels) -> Vec<ProofRow> {
    let Some(definition) = summary.experiment(experiment).map(|e| &e.definition) else { return Vec::new() };
    let mut rows = Vec::new();
    for group in group::in_order(summary, experiment) {
        let setting = labels.setting(definition, group);
        for cell in group.cells.iter().map(|&c| &summary.cells[c]).filter(|c| !c.proofs.is_empty() && !c.hidden) {
            let label = [labels.cell(definition, cell), setting.clone()];
            let label = label.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
            rows.push(ProofRow { label, facts: cell.proofs.iter().map(|(k, v)| (k.clone(), fact(v))).collect() });
        }
    }
    rows
}

fn fact(proof: &Proof) -> String {
    match proof {
        Proof::Number { min, max, .. } if min == max => min.to_string(),
        Proof::Number { min, max, .. } => format!("{min}–{max}"),
        Proof::Words(all) => {
            let text = all.join(", ");
            match text.char_indices().nth(LONGEST_FACT) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }
        }
    }
}

/// What is known of the machine and of how the run was asked for, name and words.
pub(crate) fn circumstances(summary: &Summary) -> Vec<(String, String)> {
    let settings = &summary.settings;
    let own = [
        ("run", summary.run.clone()),
        ("made", summary.created.clone()),
        ("Pagewise", summary.version.clone()),
        ("time in launches", words::duration(summary.elapsed_s)),
        ("budget", words::duration(settings.budget_s)),
        (
            "precision asked for",
            if settings.precision > 0.0 { words::percent(settings.precision) } else { "none".into() },
        ),
        ("margin", words::percent(settings.margin)),
        ("seed", settings.seed.to_string()),
    ];
    let own = own.into_iter().map(|(name, words)| (name.to_owned(), words));
    let seen: BTreeMap<&String, &String> = summary.host.iter().chain(&summary.environment).collect();
    own.chain(seen.into_iter().map(|(name, words)| (name.clone(), words.clone()))).collect()
}

/// Commands that ask the same questions again, and that show what was measured.
pub(crate) fn repeat(summary: &Summary) -> Vec<String> {
    let settings = &summary.settings;
    let methods: BTreeSet<String> = summary
        .cells
        .iter()
        .filter(|c| !c.hidden && c.role == "method")
        .map(|c| format!("{}/{}", c.experiment, c.method))
        .collect();
    let names: Vec<&str> = summary.experiments.iter().map(|e| e.definition.name.as_str()).collect();
    let what = match settings.first_look {
        true => String::new(),
        false if methods.len() <= FEW => format!(" {}", methods.iter().cloned().collect::<Vec<_>>().join(" ")),
        false => format!(" {}", names.join(" ")),
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
        .map(|(key, all)| format!(" --set {key}={}", all.iter().copied().collect::<Vec<_>>().join(",")))
        .collect();
    let budget = settings.budget_s.round().max(1.0);
    let mut commands = vec![
        format!("pagewise run{what}{} --budget {budget:.0}s --seed {}", sets.concat(), settings.seed),
        format!("pagewise report {} --full", summary.run),
    ];
    if let Some(cell) = summary.cells.iter().find(|c| !c.hidden && c.role == "method") {
        commands.push(format!("pagewise show {}/{}", cell.experiment, cell.method));
    }
    commands
}
