//! Further tables of a group: phases, latency, and those that the experiment defines (resources, sides).

use super::columns::Columns;
use super::neighbors::{self, NeighborRow};
use crate::render::document::{Block, Column, Table, TableCell};
use crate::sentences::labels::LabelledGroup;
use crate::sentences::{numbers, seconds, wording};
use record::experiment::Experiment;
use record::sizes::{about_size, format_ns, three_digits};
use record::summary::{CellSummary, FactProof, LatencySummary, PhaseSummary, TailQuantile};
use record::table::{Divisor, FurtherTable, PhaseFigure, PublishedColumn};

/// A row of these tables.
struct LabelledCell<'a> {
    label: String,
    cell: &'a CellSummary,
}

/// A cell that recorded single operations.
struct LatencyRow<'a> {
    label: &'a str,
    cell: &'a CellSummary,
    latency: &'a LatencySummary,
}

/// All further tables of a group that have anything in them.
pub(crate) fn blocks(group: LabelledGroup, cells: &[usize]) -> Vec<Block> {
    let rows: Vec<LabelledCell> = cells
        .iter()
        .map(|&cell| LabelledCell {
            label: group.name(cell),
            cell: group.cell(cell),
        })
        .collect();
    let recorded: Vec<LatencyRow> = rows.iter().filter_map(LatencyRow::new).collect();
    let mut tables: Vec<Table> = Vec::from_iter(phases(group, &rows));
    let beside: Vec<NeighborRow> = recorded.iter().filter_map(LatencyRow::neighbor).collect();
    let neighbors = neighbors::table(&beside);
    let is_alone = neighbors.is_none();
    tables.extend(neighbors);
    tables.extend(tail(&recorded).or_else(|| latency(group, &recorded).filter(|_| is_alone)));
    let defined = group.definition().tables.iter();
    tables.extend(defined.filter_map(|table| further(group, table, &rows)));
    let worst = rows.iter().filter_map(|row| worst_second(group, row));
    let tables = tables.into_iter().map(Block::Table);
    tables.chain(worst.map(Block::Text)).collect()
}

impl<'a> LatencyRow<'a> {
    fn new(row: &'a LabelledCell) -> Option<LatencyRow<'a>> {
        Some(LatencyRow {
            label: &row.label,
            cell: row.cell,
            latency: row.cell.latency_ns.as_ref()?,
        })
    }

    /// The same where the operations were a neighbor's.
    fn neighbor(&self) -> Option<NeighborRow<'a>> {
        Some(NeighborRow {
            label: self.label,
            latency: self.latency,
            idle: self.latency.idle?,
        })
    }
}

fn worst_second(group: LabelledGroup, row: &LabelledCell) -> Option<String> {
    let name = group.definition().seconds.as_ref()?;
    match row.cell.proofs.get(name)? {
        FactProof::Words(series) => Some(seconds::slowest(&row.label, series)),
        FactProof::Number { .. } => None,
    }
}

/// The single phases, where there is more than one.
fn phases(group: LabelledGroup, rows: &[LabelledCell]) -> Option<Table> {
    let definition = group.definition();
    let phases: Vec<&String> = definition
        .phases
        .iter()
        .filter(|phase| rows.iter().any(|row| row.cell.phases.contains_key(*phase)))
        .collect();
    if phases.len() < 2 || rows.is_empty() {
        return None;
    }
    let title = format!("phases, median per {}", group.work().noun());
    let mut columns = Columns::new(&title, |row: &LabelledCell| row.label.clone());
    for phase in phases {
        columns = columns.number(phase, move |row| phase_cost(group, row.cell, phase));
    }
    Some(columns.table(title, rows))
}

fn phase_cost(group: LabelledGroup, cell: &CellSummary, phase: &str) -> TableCell {
    let headline = cell.phases.get(group.definition().headline());
    let Some((phase, headline)) = cell.phases.get(phase).zip(headline) else {
        return TableCell::default();
    };
    let scale = group.work().scale(headline);
    let cost = phase.wall_ns.map(|ns| ns * scale);
    TableCell::number(numbers::interval(&cost), Some(cost.median))
}

/// Quantiles of single latencies, and the CPU time of a unit on each side, where methods record them.
fn latency(group: LabelledGroup, rows: &[LatencyRow]) -> Option<Table> {
    let side_a = group.definition().phases[0].as_str();
    let side_b = format!("{side_a}.b");
    let has_sides = rows.iter().any(|row| row.cell.phases.contains_key(&side_b));
    let title = if has_sides { "side a" } else { side_a };
    let table = Columns::new("latency", |row: &LatencyRow| row.label.to_owned())
        .number("median", |row| TableCell::ns(row.latency.median))
        .number("p99", |row| TableCell::ns(row.latency.p99))
        .number("p99.9", |row| TableCell::ns(row.latency.p999))
        .number("largest", |row| TableCell::ns(row.latency.max))
        .number(format!("CPU of {title}"), |row| cpu(row.cell, side_a))
        .number("of side b", |row| cpu(row.cell, &side_b))
        .table("latency", rows);
    (!rows.is_empty()).then_some(table)
}

fn cpu(cell: &CellSummary, phase: &str) -> TableCell {
    let cpu = cell.phases.get(phase).and_then(cpu_per_unit);
    cpu.map_or_else(TableCell::default, TableCell::ns)
}

fn cpu_per_unit(phase: &PhaseSummary) -> Option<f64> {
    (phase.wall_ns.median > 0.0)
        .then(|| phase.cpu_ns.median * phase.per_unit_ns.median / phase.wall_ns.median)
}

/// Quantiles of single operations over launches, where each launch has enough of them, and the ratio of p99.9.
fn tail(rows: &[LatencyRow]) -> Option<Table> {
    let rows: Vec<&LatencyRow> = rows
        .iter()
        .filter(|row| !row.latency.over_launches.is_empty())
        .collect();
    let title = "tail, median launch";
    let mut columns = Columns::new(title, |row: &LatencyRow| row.label.to_owned());
    for name in ["p50", "p99", "p99.9"] {
        columns = columns.number(name, move |row| {
            let quantile = row.latency.over_launches.get(name);
            quantile.map_or_else(TableCell::default, over_launches)
        });
    }
    let table = columns
        .number("worst", |row| TableCell::ns(row.latency.max))
        .number("time in ops > 20 µs", |row| {
            let share = row.latency.stalled_share;
            share.map_or_else(TableCell::default, |share| {
                TableCell::number(format!("{:.1} %", share * 100.0), Some(share))
            })
        })
        .sentences("p99.9 against the baseline", |row| {
            tail_finding(row.latency)
        })
        .table(title, rows.iter().copied());
    (!rows.is_empty()).then_some(table)
}

pub(super) fn over_launches(quantile: &TailQuantile) -> TableCell {
    let bounds = quantile.low.zip(quantile.high);
    let bounds = bounds.filter(|(low, high)| low < high);
    let bounds = bounds.map_or_else(String::new, |(low, high)| {
        format!(" ({}–{})", format_ns(low), format_ns(high))
    });
    let median = quantile.median;
    TableCell::number(format!("{}{bounds}", format_ns(median)), Some(median))
}

fn tail_finding(latency: &LatencySummary) -> String {
    match latency.p999_ratio {
        Some(tail) if tail.machine => "the machine's: within twice the idle tail".to_owned(),
        Some(tail) if !tail.contrast.holds_among_all => {
            "open among all tails of the run".to_owned()
        }
        Some(tail) => wording::finding(&tail.contrast),
        None => String::new(),
    }
}

/// A table that the experiment defines.
fn further(group: LabelledGroup, table: &FurtherTable, rows: &[LabelledCell]) -> Option<Table> {
    let definition = group.definition();
    let rows: Vec<&LabelledCell> = rows
        .iter()
        .filter(|row| row.cell.proofs.contains_key(&table.needs))
        .collect();
    let mut columns = Columns::new(&table.title, |row: &LabelledCell| row.label.clone());
    for column in &table.columns {
        columns = columns.column(Column::number(&column.title), |row| {
            Some(value(definition, row.cell, column).unwrap_or_default())
        });
    }
    (!rows.is_empty()).then(|| columns.table(&table.title, rows))
}

/// The middle of a recorded number's extremes: what one sample needed.
fn fact(cell: &CellSummary, name: &str) -> Option<f64> {
    match cell.proofs.get(name)? {
        FactProof::Number { min, max, .. } => Some((*min as f64 + *max as f64) / 2.0),
        FactProof::Words(_) => None,
    }
}

fn value(
    experiment: &Experiment,
    cell: &CellSummary,
    column: &PublishedColumn,
) -> Option<TableCell> {
    let phase = cell
        .phases
        .get(column.phase.as_deref().unwrap_or(experiment.headline()));
    let number = match (&column.fact, column.figure) {
        (Some(name), _) => fact(cell, name)?,
        (None, Some(figure)) => figure_of(phase?, figure)?,
        (None, None) => return None,
    };
    let divided = number / divisor(cell, column.per)?;
    divided
        .is_finite()
        .then(|| TableCell::number(shown(column, divided), Some(divided)))
}

fn figure_of(phase: &PhaseSummary, figure: PhaseFigure) -> Option<f64> {
    Some(match figure {
        PhaseFigure::WallNs => phase.wall_ns.median,
        PhaseFigure::CpuNs => phase.cpu_ns.median,
        PhaseFigure::CpuNsPerUnit => cpu_per_unit(phase)?,
        PhaseFigure::UserNs => phase.user_ns,
        PhaseFigure::SystemNs => phase.system_ns,
        PhaseFigure::CpuShare => 100.0 * phase.cpu_ns.median / phase.wall_ns.median,
        PhaseFigure::Faults => phase.minor_faults + phase.major_faults,
        PhaseFigure::MinorFaults => phase.minor_faults,
        PhaseFigure::MajorFaults => phase.major_faults,
        PhaseFigure::VoluntarySwitches => phase.voluntary_switches,
        PhaseFigure::InvoluntarySwitches => phase.involuntary_switches,
    })
}

fn divisor(cell: &CellSummary, per: Option<Divisor>) -> Option<f64> {
    let Some(per) = per else { return Some(1.0) };
    let bytes = cell.parameters.bytes()? as f64;
    match per {
        Divisor::Byte => Some(bytes),
        Divisor::MiB => Some(bytes / f64::from(1 << 20)),
        Divisor::Page => Some(bytes / fact(cell, "page_bytes")?),
    }
}

/// A number with the unit that its column's name has.
fn shown(column: &PublishedColumn, value: f64) -> String {
    use PhaseFigure::{CpuNs, CpuNsPerUnit, SystemNs, UserNs, WallNs};
    let fact = column.fact.as_deref().unwrap_or_default();
    let is_time = fact.ends_with("_ns")
        || matches!(
            column.figure,
            Some(WallNs | CpuNs | CpuNsPerUnit | UserNs | SystemNs)
        );
    match column.per {
        _ if is_time => format_ns(value),
        _ if column.figure == Some(PhaseFigure::CpuShare) => format!("{value:.0} %"),
        None if fact.ends_with("_bytes") => about_size(value),
        Some(Divisor::Byte) => format!("{value:.2}"),
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        _ => three_digits(value).trim_end_matches(".00").to_owned(),
    }
}
