//! A user's own functions: calls, allocations, faults, switches and memory of one pass, and figures that mislead.

use crate::render::document::{Block, Column, Entry, Table, TableCell};
use crate::sentences::labels::Labels;
use crate::sentences::numbers::range;
use record::cell::parameter_words;
use record::summary::{CellSummary, Role, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// Growth of a parameter that the time of any work follows.
const GROWTH: u64 = 8;

/// The counts of an experiment's cells by phase, and what explains a figure.
pub(crate) fn of_experiment(summary: &Summary, experiment: &str, labels: &Labels) -> Vec<Block> {
    let is_counted = |cell: &CellSummary| {
        cell.experiment == experiment
            && !cell.hidden
            && cell.role != Role::Null
            && !cell.counts.is_empty()
    };
    let cells: Vec<(usize, &CellSummary)> = summary
        .cells
        .iter()
        .enumerate()
        .filter(|(_, c)| is_counted(c))
        .collect();
    let counts = cells
        .iter()
        .flat_map(|(_, cell)| cell.counts.values().flatten());
    let names: BTreeSet<&str> = counts
        .filter(|(_, count)| count.max > 0)
        .map(|(name, _)| name.as_str())
        .collect();
    let items = removed(summary, experiment, &cells)
        .into_iter()
        .chain(allocating(summary, &cells, labels));
    let mut blocks: Vec<Block> = Block::list("not what they seem", items)
        .into_iter()
        .collect();
    if names.is_empty() {
        return blocks;
    }
    let varying = |key: &String| {
        cells
            .iter()
            .any(|(_, cell)| cell.parameters.get(key) != cells[0].1.parameters.get(key))
    };
    let label = |index: usize| {
        let parameters = summary.cells[index]
            .parameters
            .clone()
            .into_iter()
            .filter(|(key, _)| varying(key))
            .collect();
        format!(
            "{} {}",
            labels.with_experiment(summary, index),
            parameter_words(&parameters, None)
        )
        .trim_end()
        .to_owned()
    };
    let columns = ["method", "phase"].map(Column::text).into_iter();
    let columns = columns.chain(
        names
            .iter()
            .map(|name| Column::number(name.replace('_', " "))),
    );
    // A tracer makes switches of its own: these are means of passes that were timed.
    let columns = columns.chain([Column::number("switches")]);
    let rows = cells.iter().flat_map(|(index, cell)| {
        cell.counts
            .iter()
            .map(|(phase, counts)| (*index, phase, counts))
    });
    let rows = rows.map(|(index, phase, counts)| {
        let number = |name: &&str| {
            let count = counts.get(*name);
            TableCell::number(
                count.map_or_else(String::new, range),
                count.map(|count| count.max as f64),
            )
        };
        let switches = summary.cells[index]
            .phases
            .get(phase)
            .map(|p| p.voluntary_switches + p.involuntary_switches);
        let switches = TableCell::number(
            switches.map_or_else(String::new, |mean| format!("{mean:.1}")),
            switches,
        );
        let cells = std::iter::once(TableCell::text(phase))
            .chain(names.iter().map(number))
            .chain([switches]);
        Entry::new(label(index), cells.collect())
    });
    blocks.push(Block::Heading("Counts of one pass".to_owned()));
    blocks.push(Block::Table(Table::new(
        "Counts of one pass, in launches without a clock",
        columns.collect(),
        rows,
    )));
    blocks
}

/// Functions whose body costs no more than an empty one.
fn removed(summary: &Summary, experiment: &str, cells: &[(usize, &CellSummary)]) -> Vec<String> {
    let headline = summary
        .experiment(experiment)
        .map_or("", |experiment| &experiment.headline);
    let mut short: BTreeMap<(&str, &str), Vec<&CellSummary>> = BTreeMap::new();
    for (_, cell) in cells
        .iter()
        .filter(|(_, cell)| cell.phases.get(headline).is_some_and(|p| p.below_floor))
    {
        short
            .entry((&cell.method, &cell.worker))
            .or_default()
            .push(cell);
    }
    let sentence = |((name, _), cells): (&(&str, &str), &Vec<&CellSummary>)| match grown(cells) {
        Some([low, high]) => format!(
            "{name} takes no longer than an empty body, with {high} as with {low}: the result does not depend on the data: the \
             compiler removed the loop"
        ),
        None => format!(
            "{name} takes no longer than an empty body: the compiler removed the loop, because the result does not depend on \
             the data, or the work is too short for a single pass"
        ),
    };
    short.iter().map(sentence).collect()
}

/// The least and the largest value of a parameter that grew among these cells.
fn grown(cells: &[&CellSummary]) -> Option<[String; 2]> {
    let keys = cells.first()?.parameters.keys();
    keys.into_iter().find_map(|key| {
        let values = || {
            cells
                .iter()
                .filter_map(|cell| cell.parameters.get(key)?.parse::<u64>().ok())
        };
        let (low, high) = (values().min()?, values().max()?);
        let word =
            |value: u64| parameter_words(&BTreeMap::from([(key.clone(), value.to_string())]), None);
        (high / low.max(1) >= GROWTH).then(|| [low, high].map(word))
    })
}

/// Phases that allocate where the baseline's do not.
fn allocating(summary: &Summary, cells: &[(usize, &CellSummary)], labels: &Labels) -> Vec<String> {
    let least =
        |cell: &CellSummary, phase: &str| Some(cell.counts.get(phase)?.get("allocations")?.min);
    let mut sentences = Vec::new();
    for (index, cell) in cells {
        let group = summary
            .groups
            .iter()
            .find(|group| group.cells.contains(index));
        let Some(baseline) = group
            .and_then(|group| group.baseline)
            .filter(|baseline| baseline != index)
        else {
            continue;
        };
        for (phase, count) in cell
            .counts
            .keys()
            .filter_map(|phase| Some((phase, least(cell, phase)?)))
        {
            if count > 0 && least(&summary.cells[baseline], phase) == Some(0) {
                sentences.push(format!(
                    "{} allocates in its phase {phase} ({count} a pass) and {} does not: its time holds the allocator's",
                    labels.with_experiment(summary, *index),
                    labels.with_experiment(summary, baseline)
                ));
            }
        }
    }
    sentences
}
