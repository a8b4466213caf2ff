//! A user's own functions: calls, allocations, faults, switches and memory of one pass, and figures that mislead.

use super::columns::Columns;
use crate::render::document::{Block, Table, TableCell};
use crate::sentences::labels::{LabelledExperiment, LabelledGroup};
use crate::sentences::numbers::range;
use judge::evidence::reused::reused_phases;
use record::sizes::format_ns;
use record::summary::{CellSummary, CountSummary, Role};
use std::collections::{BTreeMap, BTreeSet};

/// Growth of a parameter that the time of any work follows.
const GROWTH: u64 = 8;

/// A cell whose passes were counted.
struct CountedCell<'a> {
    index: usize,
    cell: &'a CellSummary,
}

/// The counts of a cell in one phase.
struct CountedPhase<'a> {
    label: String,
    phase: &'a str,
    counts: &'a BTreeMap<String, CountSummary>,
    /// Mean number of context switches of timed passes.
    switches: Option<f64>,
}

/// The counts of an experiment's cells by phase, and what explains a figure.
pub(crate) fn blocks(experiment: LabelledExperiment) -> Vec<Block> {
    let cells: Vec<CountedCell> = experiment
        .cells()
        .filter(|(_, cell)| cell.role != Role::Null && !cell.counts.is_empty())
        .map(|(index, cell)| CountedCell { index, cell })
        .collect();
    let misleading = removed(experiment, &cells)
        .into_iter()
        .chain(allocating(experiment, &cells))
        .chain(reusing(experiment, &cells));
    let mut blocks = Vec::from_iter(Block::list("not what they seem", misleading));
    let counts = cells.iter().flat_map(|c| c.cell.counts.values().flatten());
    let names: BTreeSet<&str> = counts
        .filter(|(_, count)| count.max > 0)
        .map(|(name, _)| name.as_str())
        .collect();
    if !names.is_empty() {
        blocks.push(Block::Heading("Counts of one pass".to_owned()));
        blocks.push(Block::Table(table(experiment, &cells, &names)));
    }
    blocks
}

fn table(experiment: LabelledExperiment, cells: &[CountedCell], names: &BTreeSet<&str>) -> Table {
    let rows = cells.iter().flat_map(|counted| {
        let label = label(experiment, counted, cells);
        let phases = counted.cell.counts.iter();
        phases.map(move |(phase, counts)| CountedPhase {
            label: label.clone(),
            phase,
            counts,
            switches: switches(counted.cell, phase),
        })
    });
    let mut columns = Columns::new("method", |row: &CountedPhase| row.label.clone())
        .text("phase", |row| row.phase);
    for &name in names {
        columns = columns.number(name.replace('_', " "), move |row| {
            let count = row.counts.get(name);
            TableCell::number(
                count.map_or_else(String::new, range),
                count.map(|count| count.max as f64),
            )
        });
    }
    // A tracer makes switches of its own: these are means of passes that were timed.
    let columns = columns.number("switches", |row| {
        let text = row.switches.map(|mean| format!("{mean:.1}"));
        TableCell::number(text.unwrap_or_default(), row.switches)
    });
    columns.table("Counts of one pass, in launches without a clock", rows)
}

fn switches(cell: &CellSummary, phase: &str) -> Option<f64> {
    let figures = cell.phases.get(phase)?;
    Some(figures.voluntary_switches + figures.involuntary_switches)
}

/// A cell with the parameters that vary among the counted ones.
fn label(experiment: LabelledExperiment, counted: &CountedCell, cells: &[CountedCell]) -> String {
    let mut parameters = counted.cell.parameters.clone();
    parameters.retain(|key, _| {
        let first = cells[0].cell.parameters.get(key);
        cells.iter().any(|c| c.cell.parameters.get(key) != first)
    });
    let name = experiment.run.name(counted.index);
    format!("{name} {}", experiment.settings(&parameters))
        .trim_end()
        .to_owned()
}

/// Functions whose body costs no more than an empty one.
fn removed(experiment: LabelledExperiment, counted_cells: &[CountedCell]) -> Vec<String> {
    let mut short: BTreeMap<(&str, &str), Vec<&CellSummary>> = BTreeMap::new();
    for CountedCell { cell, .. } in counted_cells {
        let headline = cell.phases.get(experiment.headline());
        if headline.is_some_and(|figures| figures.below_floor) {
            let function = (cell.method.as_str(), cell.worker.as_str());
            short.entry(function).or_default().push(cell);
        }
    }
    let sentences = short.iter().map(|((name, _), cells)| match grown(experiment, cells) {
        Some([low, high]) => format!(
            "{name} takes no longer than an empty body, with {high} as with {low}: the result does not depend on the data: the \
             compiler removed the loop"
        ),
        None => format!(
            "{name} takes no longer than an empty body{}: the compiler removed the loop, because the result does not depend \
             on the data, or the work is too short for a single pass",
            settings(experiment, name, cells, counted_cells)
        ),
    });
    sentences.collect()
}

/// The settings of these cells, where other cells of their function are unlike them.
fn settings(
    experiment: LabelledExperiment,
    name: &str,
    cells: &[&CellSummary],
    counted_cells: &[CountedCell],
) -> String {
    let of_function = counted_cells
        .iter()
        .filter(|counted| counted.cell.method == name);
    if of_function.count() == cells.len() {
        return String::new();
    }
    let settings: BTreeSet<String> = cells
        .iter()
        .map(|cell| experiment.settings(&cell.parameters))
        .collect();
    format!(" at {}", Vec::from_iter(settings).join(", "))
}

/// The least and the largest value of a parameter that grew among these cells.
fn grown(experiment: LabelledExperiment, cells: &[&CellSummary]) -> Option<[String; 2]> {
    let mut keys = cells.first()?.parameters.keys();
    keys.find_map(|key| {
        let values: Vec<u64> = cells
            .iter()
            .filter_map(|cell| cell.parameters.number(key))
            .collect();
        let (low, high) = (*values.iter().min()?, *values.iter().max()?);
        (high / low.max(1) >= GROWTH).then(|| {
            [low, high].map(|value| {
                experiment.settings(&BTreeMap::from([(key.clone(), value.to_string())]))
            })
        })
    })
}

/// Phases that allocate where the baseline's do not.
fn allocating(experiment: LabelledExperiment, cells: &[CountedCell]) -> Vec<String> {
    let groups: Vec<LabelledGroup> = experiment.groups().collect();
    let mut sentences = Vec::new();
    for CountedCell { index, cell } in cells {
        let group = groups.iter().find(|g| g.group.cells.contains(index));
        let baseline = group.and_then(|group| group.group.baseline);
        let Some(baseline) = baseline.filter(|baseline| baseline != index) else {
            continue;
        };
        for phase in cell.counts.keys() {
            let least = least_allocations(cell, phase).unwrap_or(0);
            let of_baseline = least_allocations(&experiment.summary().cells[baseline], phase);
            if least > 0 && of_baseline == Some(0) {
                let [name, baseline] = [*index, baseline].map(|cell| experiment.run.name(cell));
                let sentence = format!(
                    "{name} allocates in its phase {phase} ({least} a pass) and {baseline} does not: its time holds the \
                     allocator's"
                );
                // Once for all values of the parameters.
                if !sentences.contains(&sentence) {
                    sentences.push(sentence);
                }
            }
        }
    }
    sentences
}

/// Phases whose blocks were there already, from an earlier turn of the same process.
fn reusing(experiment: LabelledExperiment, cells: &[CountedCell]) -> Vec<String> {
    let mut sentences = Vec::new();
    for counted in cells {
        for reused in reused_phases(counted.cell) {
            let most = if reused.blocks == 1 { "" } else { "up to " };
            sentences.push(format!(
                "{} in its phase {}: its block was there already; a program that does this once pays {most}{} faults more \
                 (≈ {}): --fresh measures that",
                label(experiment, counted, cells),
                reused.phase,
                reused.pages,
                format_ns(reused.ns)
            ));
        }
    }
    sentences
}

fn least_allocations(cell: &CellSummary, phase: &str) -> Option<u64> {
    Some(cell.counts.get(phase)?.get("allocations")?.min)
}
