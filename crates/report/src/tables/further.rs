//! Further tables of a group: phases, latency, and those that the experiment defines (resources, sides).

use crate::render::document::{Block, Column, Entry, Table, TableCell};
use crate::sentences::labels::Labels;
use crate::sentences::numbers::{self, Work};
use crate::sentences::wording;
use record::experiment::Experiment;
use record::sizes::{about_size, format_ns, three_digits};
use record::summary::{CellSummary, FactProof, PhaseSummary, Role, Summary, TailQuantile};
use record::table::{Divisor, FurtherTable, PhaseFigure, PublishedColumn};
use stats::steady::Label;

/// All further tables of a group that have anything in them.
pub(crate) fn of_group(
    summary: &Summary,
    experiment: &Experiment,
    cells: &[usize],
    labels: &Labels,
) -> Vec<Block> {
    let cells: Vec<(String, &CellSummary)> = cells
        .iter()
        .map(|&c| {
            (
                labels.cell(experiment, &summary.cells[c]),
                &summary.cells[c],
            )
        })
        .collect();
    let mut tables: Vec<Table> = phases(experiment, &cells).into_iter().collect();
    tables.extend(tail(&cells).or_else(|| latency(experiment, &cells)));
    tables.extend(
        experiment
            .tables
            .iter()
            .filter_map(|table| further(experiment, table, &cells)),
    );
    let worst_second = |(label, cell): &(String, &CellSummary)| match cell
        .proofs
        .get(experiment.seconds.as_ref()?)?
    {
        FactProof::Words(series) => Some(Block::Text(slowest(label, series))),
        FactProof::Number { .. } => None,
    };
    tables
        .into_iter()
        .map(Block::Table)
        .chain(cells.iter().filter_map(worst_second))
        .collect()
}

/// A table whose first column is headed by its title; `None` where it has no rows.
fn titled(title: &str, columns: Vec<Column>, rows: Vec<Entry>) -> Option<Table> {
    let columns = std::iter::once(Column::text(title))
        .chain(columns)
        .collect();
    (!rows.is_empty()).then(|| Table::new(title, columns, rows))
}

/// The single phases, where there is more than one.
fn phases(experiment: &Experiment, cells: &[(String, &CellSummary)]) -> Option<Table> {
    let shown: Vec<&String> = experiment
        .phases
        .iter()
        .filter(|p| cells.iter().any(|(_, c)| c.phases.contains_key(*p)))
        .collect();
    let work = Work::new(experiment);
    let time = |cell: &CellSummary, p: &String| {
        let pair = cell
            .phases
            .get(p)
            .zip(cell.phases.get(experiment.headline()));
        let cost = pair.map(|(phase, headline)| phase.wall_ns.map(|ns| ns * work.scale(headline)));
        cost.map_or_else(TableCell::default, |cost| {
            TableCell::number(numbers::interval(&cost), Some(cost.median))
        })
    };
    let row = |(label, cell): &(String, &CellSummary)| {
        Entry::new(label, shown.iter().map(|p| time(cell, p)).collect())
    };
    let rows = if shown.len() > 1 {
        cells.iter().map(row).collect()
    } else {
        Vec::new()
    };
    let title = format!("phases, median per {}", work.noun());
    titled(
        &title,
        shown.iter().map(|p| Column::number(p.as_str())).collect(),
        rows,
    )
}

/// Quantiles of single latencies, and the CPU time of a unit on each side, where methods record them.
fn latency(experiment: &Experiment, cells: &[(String, &CellSummary)]) -> Option<Table> {
    let first = experiment.phases[0].as_str();
    let row = |(label, cell): &(String, &CellSummary)| {
        let latency = cell.latency_ns.as_ref()?;
        let cpu = |phase: &str| {
            cell.phases
                .get(phase)
                .and_then(cpu_per_unit)
                .map_or_else(TableCell::default, TableCell::ns)
        };
        let quantiles = [latency.median, latency.p99, latency.p999, latency.max].map(TableCell::ns);
        Some(Entry::new(
            label,
            quantiles
                .into_iter()
                .chain([cpu(first), cpu(&format!("{first}.b"))])
                .collect(),
        ))
    };
    let columns = [
        "median",
        "p99",
        "p99.9",
        "largest",
        "CPU of side a",
        "of side b",
    ]
    .map(Column::number);
    titled(
        "latency",
        columns.into(),
        cells.iter().filter_map(row).collect(),
    )
}

/// Quantiles of single operations over launches, where each launch has enough of them, and the ratio of p99.9.
fn tail(cells: &[(String, &CellSummary)]) -> Option<Table> {
    let quantile = |&TailQuantile { median, low, high }: &TailQuantile| {
        let bounds = low.zip(high).filter(|(low, high)| low < high);
        let bounds = bounds.map_or_else(String::new, |(low, high)| {
            format!(" ({}–{})", format_ns(low), format_ns(high))
        });
        TableCell::number(format!("{}{bounds}", format_ns(median)), Some(median))
    };
    let row = |(label, cell): &(String, &CellSummary)| {
        let latency = cell
            .latency_ns
            .as_ref()
            .filter(|latency| !latency.over_launches.is_empty())?;
        let compared = match latency.p999_ratio {
            Some(tail) if tail.machine => "the machine's: within twice the idle tail".to_owned(),
            Some(tail) => wording::finding(Some(&tail.ratio), tail.verdict, true),
            None => String::new(),
        };
        let quantiles = latency.over_launches.values().map(quantile);
        let share = latency
            .stalled_share
            .map_or_else(TableCell::default, |share| {
                TableCell::number(format!("{:.1} %", share * 100.0), Some(share))
            });
        let further = [TableCell::ns(latency.max), share, TableCell::text(compared)];
        Some(Entry::new(label, quantiles.chain(further).collect()))
    };
    let columns = ["p50", "p99", "p99.9", "worst", "time in ops > 20 µs"]
        .map(Column::number)
        .into_iter();
    let columns = columns
        .chain([Column::sentences("p99.9 against the baseline")])
        .collect();
    titled(
        "tail, median launch",
        columns,
        cells.iter().filter_map(row).collect(),
    )
}

fn cpu_per_unit(phase: &PhaseSummary) -> Option<f64> {
    (phase.wall_ns.median > 0.0)
        .then(|| phase.cpu_ns.median * phase.per_unit_ns.median / phase.wall_ns.median)
}

fn further(
    experiment: &Experiment,
    table: &FurtherTable,
    cells: &[(String, &CellSummary)],
) -> Option<Table> {
    let row = |(label, cell): &(String, &CellSummary)| {
        Entry::new(
            label,
            table
                .columns
                .iter()
                .map(|c| value(experiment, cell, c).unwrap_or_default())
                .collect(),
        )
    };
    let rows = cells
        .iter()
        .filter(|(_, c)| c.proofs.contains_key(&table.needs))
        .map(row)
        .collect();
    titled(
        &table.title,
        table
            .columns
            .iter()
            .map(|c| Column::number(&c.title))
            .collect(),
        rows,
    )
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
    let bytes = || cell.parameters.get("bytes")?.parse::<f64>().ok();
    match per {
        None => Some(1.0),
        Some(Divisor::Byte) => bytes(),
        Some(Divisor::MiB) => Some(bytes()? / f64::from(1 << 20)),
        Some(Divisor::Page) => Some(bytes()? / fact(cell, "page_bytes")?),
    }
}

/// A number with the unit that its column's name tells.
fn shown(column: &PublishedColumn, value: f64) -> String {
    use PhaseFigure::{CpuNs, CpuNsPerUnit, SystemNs, UserNs, WallNs};
    let ends = |end: &str| column.fact.as_ref().is_some_and(|f| f.ends_with(end));
    let is_time = ends("_ns")
        || matches!(
            column.figure,
            Some(WallNs | CpuNs | CpuNsPerUnit | UserNs | SystemNs)
        );
    match column.per {
        _ if is_time => format_ns(value),
        _ if column.figure == Some(PhaseFigure::CpuShare) => format!("{value:.0} %"),
        None if ends("_bytes") => about_size(value),
        Some(Divisor::Byte) => format!("{value:.2}"),
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        _ => three_digits(value).trim_end_matches(".00").to_owned(),
    }
}

/// Cells without a steady course, and cells too short to judge.
pub(crate) fn settled(
    summary: &Summary,
    cells: &[usize],
    name: impl Fn(usize) -> String,
) -> Vec<String> {
    let judged: Vec<(usize, Label)> = cells
        .iter()
        .filter(|&&c| summary.cells[c].role != Role::Null)
        .filter_map(|&c| Some((c, summary.cells[c].steady.as_ref()?.label)))
        .collect();
    let mut parts = Vec::new();
    for wanted in [
        Label::Steady,
        Label::Drifting,
        Label::TwoLevel,
        Label::Short,
    ] {
        let names: Vec<String> = judged
            .iter()
            .filter(|(_, l)| *l == wanted)
            .map(|&(c, _)| name(c))
            .collect();
        let word = if wanted == Label::Short {
            "too few samples"
        } else {
            wanted.word()
        };
        match names.len() {
            0 => {}
            count if wanted == Label::Steady => parts.push(format!("{count} {word}")),
            count if count == judged.len() => parts.push(format!("all {word}")),
            _ => parts.push(format!("{word}: {}", names.join(", "))),
        }
    }
    if parts.is_empty() {
        Vec::new()
    } else {
        vec![format!("from round to round: {}", parts.join("; "))]
    }
}

/// One second of a pass under a memory bound, as the fact `series` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Second {
    bytes_per_s: f64,
    major_faults: u64,
    memory_stall_us: i64,
    io_stall_us: i64,
}

/// Reads `MS,BYTES,MAJOR_FAULTS,MEMORY_STALL_US,IO_STALL_US;…`. A cut last second is left out unless it is alone.
fn seconds(text: &str) -> Vec<Second> {
    let mut all: Vec<(f64, Second)> = Vec::new();
    for row in text.split(';') {
        let v: Vec<i64> = row.split(',').filter_map(|n| n.parse().ok()).collect();
        let [ms, bytes, major, memory_stall_us, io_stall_us] = v[..] else {
            continue;
        };
        let bytes_per_s = bytes as f64 * 1000.0 / (ms.max(1) as f64);
        all.push((
            ms as f64,
            Second {
                bytes_per_s,
                major_faults: major.unsigned_abs(),
                memory_stall_us,
                io_stall_us,
            },
        ));
    }
    let whole: Vec<Second> = all
        .iter()
        .filter(|(ms, _)| *ms >= 900.0)
        .map(|(_, s)| *s)
        .collect();
    if whole.is_empty() {
        all.into_iter().map(|(_, s)| s).collect()
    } else {
        whole
    }
}

/// The slowest second of a cell, in a sentence.
pub(crate) fn slowest(label: &str, series: &[String]) -> String {
    let mut all: Vec<Second> = series.iter().flat_map(|s| seconds(s)).collect();
    all.sort_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s));
    let Some(worst) = all.first() else {
        return format!("{label}: no second was recorded");
    };
    let middle = all[all.len() / 2].bytes_per_s;
    let stall = |us: i64| {
        if us < 0 {
            "not known".to_owned()
        } else {
            format_ns(us as f64 * 1000.0)
        }
    };
    format!(
        "worst second of {label}: {}/s from the device (median {}/s), {} major faults, waited for memory {}, for I/O {}",
        about_size(worst.bytes_per_s),
        about_size(middle),
        worst.major_faults,
        stall(worst.memory_stall_us),
        stall(worst.io_stall_us),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_whole_second_is_found() {
        let text = "1000,104857600,3,0,5;1000,1048576,40,900000,7;20,10,0,0,0".to_owned();
        let words = slowest("read@c-O3", &[text]);
        assert!(
            words.contains("1.0 MiB/s from the device (median 100 MiB/s), 40 major faults"),
            "{words}"
        );
        assert!(words.contains("waited for memory 900 ms"), "{words}");
    }

    #[test]
    fn a_pass_of_less_than_a_second_is_told_too() {
        let words = slowest("x", &["500,1048576,0,-1,-1".to_owned()]);
        assert!(
            words.contains("2.0 MiB/s") && words.contains("not known"),
            "{words}"
        );
    }
}
