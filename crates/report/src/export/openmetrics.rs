//! OpenMetrics text, of the part that node_exporter's textfile collector reads as well: gauges in base units.

use super::S_PER_NS;
use super::{CellView, ExportedCells, PhaseView};
use crate::render::escape;
use anyhow::Result;
use std::io::Write;

type Of = fn(&CellView<'_>, &PhaseView<'_>) -> Option<f64>;

/// Metrics of each phase of each cell that may be believed: name, unit, what it is.
const METRICS: &[(&str, &str, &str, Of)] = &[
    (
        "wall",
        "seconds",
        "Wall time of one operation: median launch.",
        |_, p| Some(p.figures.per_unit_ns.median * S_PER_NS),
    ),
    ("wall_low", "seconds", "Its lower limit at 95 %.", |_, p| {
        Some(p.figures.per_unit_ns.low? * S_PER_NS)
    }),
    (
        "wall_high",
        "seconds",
        "Its upper limit at 95 %.",
        |_, p| Some(p.figures.per_unit_ns.high? * S_PER_NS),
    ),
    (
        "cpu",
        "seconds",
        "CPU time of one operation: median launch.",
        |_, p| Some(p.figures.cpu_ns.median / p.units * S_PER_NS),
    ),
    (
        "minor_faults",
        "",
        "Minor faults of one sample, mean.",
        |_, p| Some(p.figures.minor_faults),
    ),
    (
        "ratio",
        "",
        "Wall time relative to the baseline.",
        |_, p| Some(p.ratio?.ratio),
    ),
    ("ratio_low", "", "Its lower limit.", |_, p| {
        Some(p.ratio?.low)
    }),
    ("ratio_high", "", "Its upper limit.", |_, p| {
        Some(p.ratio?.high)
    }),
    ("launches", "", "Launches judged.", |c, p| {
        p.headline.then_some(c.summary.launches as f64)
    }),
];

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    let facts = [
        ("run", &taken.run),
        ("created", &taken.created),
        ("version", &taken.version),
    ];
    let known = ["cpu", "kernel"]
        .into_iter()
        .filter_map(|key| Some((key, taken.environment.get(key)?)));
    let labels: Vec<(String, &str)> = facts
        .into_iter()
        .chain(known)
        .map(|(name, value)| (name.to_owned(), value.as_str()))
        .collect();
    head(
        out,
        "pagewise_run_info",
        "",
        "The run that everything else is of.",
    )?;
    sample(out, "pagewise_run_info", &labels, 1.0)?;
    head(
        out,
        "pagewise_cell_status",
        "",
        "What became of a cell, by the word in its label.",
    )?;
    for cell in &taken.cells {
        let (mut labels, word) = (of_cell(cell), cell.status.word());
        labels.push(("status".to_owned(), word));
        sample(out, "pagewise_cell_status", &labels, 1.0)?;
    }
    for &(name, unit, help, value) in METRICS {
        let name = if unit.is_empty() {
            format!("pagewise_{name}")
        } else {
            format!("pagewise_{name}_{unit}")
        };
        head(out, &name, unit, help)?;
        for cell in taken.believed() {
            for phase in &cell.phases {
                let mut labels = of_cell(cell);
                labels.push(("phase".to_owned(), &phase.name));
                if let Some(value) = value(cell, phase).filter(|v| v.is_finite()) {
                    sample(out, &name, &labels, value)?;
                }
            }
        }
    }
    Ok(writeln!(out, "# EOF")?)
}

pub(super) fn head(out: &mut dyn Write, name: &str, unit: &str, help: &str) -> Result<()> {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge")?;
    if !unit.is_empty() {
        writeln!(out, "# UNIT {name} {unit}")?;
    }
    Ok(())
}

fn of_cell<'a>(cell: &'a CellView<'_>) -> Vec<(String, &'a str)> {
    let labels = [
        ("experiment", &cell.experiment),
        ("method", &cell.method),
        ("worker", &cell.worker),
    ];
    let labels = labels
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.as_str()));
    labels
        .chain(
            cell.parameters
                .iter()
                .map(|(key, value)| (format!("parameter_{}", escape::name(key)), value.as_str())),
        )
        .collect()
}

pub(super) fn sample<T: AsRef<str>>(
    out: &mut dyn Write,
    name: &str,
    labels: &[(String, T)],
    value: f64,
) -> Result<()> {
    let labels: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escape::label(value.as_ref())))
        .collect();
    Ok(writeln!(out, "{name}{{{}}} {value}", labels.join(","))?)
}
