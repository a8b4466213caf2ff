//! Further tables of a group: phases, latency, and those that the experiment defines (resources, sides).

use record::experiment::Experiment;
use record::sizes::{about_size, format_ns, three_digits};
use record::summary::{CellSummary, PhaseSummary, Proof, Summary};
use record::table::{Column, Figure, FurtherTable, Per};
use stats::steady::Label;

use super::labels::Labels;
use crate::{numbers, seconds};

/// A table of words.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// What heads the first column.
    pub title: String,
    /// What heads the others.
    pub columns: Vec<String>,
    /// Rows, in order.
    pub rows: Vec<GridRow>,
    /// Sentences below it.
    pub below: Vec<String>,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct GridRow {
    /// The cell.
    pub label: String,
    /// One for each column; empty where there is nothing.
    pub values: Vec<String>,
}

/// All further tables of a group that have anything in them.
pub(crate) fn of_group(summary: &Summary, experiment: &Experiment, cells: &[usize], labels: &Labels) -> Vec<Grid> {
    let cells: Vec<(String, &CellSummary)> =
        cells.iter().map(|&c| (labels.cell(experiment, &summary.cells[c]), &summary.cells[c])).collect();
    let mut grids = vec![phases(experiment, &cells), latency(experiment, &cells)];
    grids.extend(experiment.tables.iter().map(|table| further(experiment, table, &cells)));
    grids.push(worst_seconds(experiment, &cells));
    grids.retain(|g| !g.rows.is_empty() || !g.below.is_empty());
    grids
}

fn grid(title: &str, columns: Vec<String>) -> Grid {
    Grid { title: title.to_owned(), columns, rows: Vec::new(), below: Vec::new() }
}

/// The single phases, where there is more than one.
fn phases(experiment: &Experiment, cells: &[(String, &CellSummary)]) -> Grid {
    let shown: Vec<&String> =
        experiment.phases.iter().filter(|p| cells.iter().any(|(_, c)| c.phases.contains_key(*p))).collect();
    let mut grid = grid("phases, median", shown.iter().map(|p| (*p).clone()).collect());
    if shown.len() > 1 {
        let of = |cell: &CellSummary, p: &String| {
            cell.phases.get(p).map_or_else(String::new, |f| numbers::interval(&f.wall_ns))
        };
        grid.rows = cells
            .iter()
            .map(|(label, cell)| GridRow { label: label.clone(), values: shown.iter().map(|p| of(cell, p)).collect() })
            .collect();
    }
    grid
}

/// Quantiles of single latencies, and what a unit costs each side in CPU time, where methods record them.
fn latency(experiment: &Experiment, cells: &[(String, &CellSummary)]) -> Grid {
    let first = experiment.phases[0].as_str();
    let titles = ["median", "p99", "p99.9", "largest", "CPU of side a", "of side b"];
    let mut grid = grid("latency", titles.map(str::to_owned).to_vec());
    for (label, cell) in cells {
        let Some(latency) = &cell.latency_ns else { continue };
        let cpu = |phase: &str| cell.phases.get(phase).and_then(cpu_per_unit).map_or_else(String::new, format_ns);
        let [median, p99, p999, max] = [latency.median, latency.p99, latency.p999, latency.max].map(format_ns);
        let values = vec![median, p99, p999, max, cpu(first), cpu(&format!("{first}.b"))];
        grid.rows.push(GridRow { label: label.clone(), values });
    }
    // Where no method has a second side, its column says nothing.
    while grid.columns.len() > 4 && grid.rows.iter().all(|r| r.values.last().is_some_and(String::is_empty)) {
        grid.columns.pop();
        grid.rows.iter_mut().for_each(|r| {
            r.values.pop();
        });
    }
    grid
}

fn cpu_per_unit(phase: &PhaseSummary) -> Option<f64> {
    (phase.wall_ns.median > 0.0).then(|| phase.cpu_ns.median * phase.per_unit_ns.median / phase.wall_ns.median)
}

/// A table that the experiment defines.
fn further(experiment: &Experiment, table: &FurtherTable, cells: &[(String, &CellSummary)]) -> Grid {
    let mut grid = grid(&table.title, table.columns.iter().map(|c| c.title.clone()).collect());
    for (label, cell) in cells.iter().filter(|(_, c)| c.proofs.contains_key(&table.needs)) {
        let values = table.columns.iter().map(|c| value(experiment, cell, c).unwrap_or_default()).collect();
        grid.rows.push(GridRow { label: label.clone(), values });
    }
    grid
}

/// The middle of a recorded number's extremes: what one sample needed.
fn fact(cell: &CellSummary, name: &str) -> Option<f64> {
    match cell.proofs.get(name)? {
        Proof::Number { min, max, .. } => Some((*min as f64 + *max as f64) / 2.0),
        Proof::Words(_) => None,
    }
}

/// What one column says of a cell.
fn value(experiment: &Experiment, cell: &CellSummary, column: &Column) -> Option<String> {
    let phase = cell.phases.get(column.phase.as_deref().unwrap_or(experiment.headline()));
    let number = match (&column.fact, column.figure) {
        (Some(name), _) => fact(cell, name)?,
        (None, Some(figure)) => figure_of(phase?, figure)?,
        (None, None) => return None,
    };
    let divided = number / divisor(cell, column.per)?;
    divided.is_finite().then(|| shown(column, divided))
}

fn figure_of(phase: &PhaseSummary, figure: Figure) -> Option<f64> {
    Some(match figure {
        Figure::WallNs => phase.wall_ns.median,
        Figure::CpuNs => phase.cpu_ns.median,
        Figure::CpuNsPerUnit => cpu_per_unit(phase)?,
        Figure::UserNs => phase.user_ns,
        Figure::SystemNs => phase.system_ns,
        Figure::CpuShare => 100.0 * phase.cpu_ns.median / phase.wall_ns.median,
        Figure::Faults => phase.minor_faults + phase.major_faults,
        Figure::MinorFaults => phase.minor_faults,
        Figure::MajorFaults => phase.major_faults,
        Figure::VoluntarySwitches => phase.voluntary_switches,
        Figure::InvoluntarySwitches => phase.involuntary_switches,
    })
}

fn divisor(cell: &CellSummary, per: Option<Per>) -> Option<f64> {
    let bytes = || cell.parameters.get("bytes")?.parse::<f64>().ok();
    match per {
        None => Some(1.0),
        Some(Per::Byte) => bytes(),
        Some(Per::MiB) => Some(bytes()? / f64::from(1 << 20)),
        Some(Per::Page) => Some(bytes()? / fact(cell, "page_bytes")?),
    }
}

/// A number with the unit that its column's name tells.
fn shown(column: &Column, value: f64) -> String {
    let ends = |end: &str| column.fact.as_ref().is_some_and(|f| f.ends_with(end));
    let is_time = ends("_ns")
        || matches!(
            column.figure,
            Some(Figure::WallNs | Figure::CpuNs | Figure::CpuNsPerUnit | Figure::UserNs | Figure::SystemNs)
        );
    match column.per {
        _ if is_time => format_ns(value),
        _ if column.figure == Some(Figure::CpuShare) => format!("{value:.0} %"),
        None if ends("_bytes") => about_size(value),
        Some(Per::Byte) => format!("{value:.2}"),
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        _ => three_digits(value).trim_end_matches(".00").to_owned(),
    }
}

/// The worst second of each cell that was recorded second by second.
fn worst_seconds(experiment: &Experiment, cells: &[(String, &CellSummary)]) -> Grid {
    let mut grid = grid("", Vec::new());
    let Some(name) = &experiment.seconds else { return grid };
    for (label, cell) in cells {
        if let Some(Proof::Words(series)) = cell.proofs.get(name) {
            grid.below.push(seconds::slowest(label, series));
        }
    }
    grid
}

/// Which cells had not settled within their launches, and of which nothing can be said.
pub(crate) fn settled(summary: &Summary, cells: &[usize], name: impl Fn(usize) -> String) -> Vec<String> {
    let judged: Vec<(usize, Label)> = cells
        .iter()
        .filter(|&&c| summary.cells[c].role != "null")
        .filter_map(|&c| Some((c, summary.cells[c].steady.as_ref()?.label)))
        .collect();
    let mut words = Vec::new();
    for wanted in [Label::Steady, Label::Drifting, Label::TwoLevel, Label::Short] {
        let names: Vec<String> = judged.iter().filter(|(_, l)| *l == wanted).map(|&(c, _)| name(c)).collect();
        let word = if wanted == Label::Short { "too few rounds to tell" } else { wanted.word() };
        match names.len() {
            0 => {}
            count if wanted == Label::Steady => words.push(format!("{count} {word}")),
            count if count == judged.len() => words.push(format!("all {word}")),
            _ => words.push(format!("{word}: {}", names.join(", "))),
        }
    }
    if words.is_empty() { Vec::new() } else { vec![format!("from round to round: {}", words.join("; "))] }
}
