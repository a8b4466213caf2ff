//! Published figures next to ours: each figure of an article with the cells that repeat it.

use crate::contrast::estimate::logs_by_block;
use record::published::{Figure, Published};
use record::sizes::parse_size;
use record::summary::{CellSummary, Distribution, FactProof, PhaseSummary, Summary};
use stats::{estimate::LEAST_POINTS, interval::CONFIDENCE, t::t_interval};

/// One published figure and one cell that repeats it.
#[derive(Clone, Copy, Debug)]
pub struct RepeatedFigure<'a> {
    pub figure: &'a Figure,
    pub cell: Option<&'a CellSummary>,
    pub here: Option<OwnFigure>,
}

/// Our figure in the published unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnFigure {
    pub value: f64,
    /// Its interval at 95 %; absent with too few launches, and of a count.
    pub interval: Option<(f64, f64)>,
    pub is_count: bool,
    /// The value over the published one; absent where that is zero.
    pub ratio: Option<f64>,
}

/// A figure of ours in the published unit, and its interval where there is one.
#[derive(Clone, Copy)]
struct OwnValue {
    value: f64,
    interval: Option<(f64, f64)>,
}

/// Every figure of an article, in its order, with the cells of a run that repeat it.
pub fn repeated<'a>(article: &'a Published, summary: &'a Summary) -> Vec<RepeatedFigure<'a>> {
    let mut rows = Vec::new();
    for figure in &article.figures {
        let cells = matching(figure, &figure.cell, summary);
        if cells.is_empty() {
            rows.push(RepeatedFigure {
                figure,
                cell: None,
                here: None,
            });
        }
        rows.extend(cells.into_iter().map(|cell| RepeatedFigure {
            figure,
            cell: Some(cell),
            here: here(figure, cell, summary),
        }));
    }
    rows
}

fn here(figure: &Figure, cell: &CellSummary, summary: &Summary) -> Option<OwnFigure> {
    let measured = match &figure.against {
        Some(selector) => {
            let baseline = matching(figure, selector, summary).first().copied()?;
            divided(figure, cell, baseline)?
        }
        None => measured(figure, cell)?,
    };
    let times = ["wall_ns", "cpu_ns", "user_ns", "system_ns", "cpu_percent"];
    Some(OwnFigure {
        value: measured.value,
        interval: measured.interval,
        is_count: measured.interval.is_none() && !times.contains(&figure.column.as_str()),
        ratio: (figure.value != 0.0).then(|| measured.value / figure.value),
    })
}

/// Our cells of a selector and a figure's parameters: one, or one of each worker of a family.
fn matching<'a>(figure: &Figure, selector: &str, summary: &'a Summary) -> Vec<&'a CellSummary> {
    let mut cells: Vec<&CellSummary> = summary
        .cells
        .iter()
        .filter(|cell| is_selected(&cell.cell, selector) && has_parameters(cell, figure))
        .collect();
    if !selector.ends_with('*') {
        cells.truncate(1);
    }
    cells
}

fn is_selected(cell: &str, selector: &str) -> bool {
    if let Some(start) = selector.strip_suffix('*') {
        return cell.starts_with(start);
    }
    if !selector.contains('@') {
        return cell.split('@').next() == Some(selector);
    }
    // Where an experiment has two sides and a figure names one worker, it does both.
    cell.strip_prefix(selector)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('+'))
}

/// Tells whether each parameter of a figure that a cell has is one of those that the figure names.
fn has_parameters(cell: &CellSummary, figure: &Figure) -> bool {
    figure.parameters.iter().all(|(key, values)| {
        cell.parameters
            .get(key)
            .is_none_or(|value| values.split('|').any(|text| is_value(value, text)))
    })
}

/// Tells whether a text is this value, or the size that it is.
fn is_value(value: &str, text: &str) -> bool {
    value == text || parse_size(text).is_ok_and(|bytes| value == bytes.to_string())
}

impl OwnValue {
    fn count(value: f64) -> OwnValue {
        OwnValue {
            value,
            interval: None,
        }
    }

    fn time(times: &Distribution, scale: f64) -> OwnValue {
        OwnValue {
            value: times.median * scale,
            interval: times
                .low
                .zip(times.high)
                .map(|(low, high)| (low * scale, high * scale)),
        }
    }
}

/// Our figure in the published unit.
fn measured(figure: &Figure, cell: &CellSummary) -> Option<OwnValue> {
    let phase = cell.phases.get(&figure.phase)?;
    let scale = match figure.unit.as_str() {
        "s" => 1e-9,
        "ms" => 1e-6,
        "us" | "µs" => 1e-3,
        _ => 1.0,
    };
    Some(match figure.column.as_str() {
        "wall_ns" if figure.ops > 0 => {
            OwnValue::time(&phase.per_unit_ns, scale * figure.ops as f64)
        }
        "wall_ns" => OwnValue::time(&phase.wall_ns, scale),
        "cpu_ns" if figure.ops > 0 && phase.wall_ns.median > 0.0 => {
            let per_unit = phase.per_unit_ns.median / phase.wall_ns.median;
            OwnValue::time(&phase.cpu_ns, scale * figure.ops as f64 * per_unit)
        }
        "cpu_ns" => OwnValue::time(&phase.cpu_ns, scale),
        "user_ns" => OwnValue::count(phase.user_ns * scale * per_unit(figure, phase)),
        "system_ns" => OwnValue::count(phase.system_ns * scale * per_unit(figure, phase)),
        "cpu_percent" => OwnValue::count(100.0 * phase.cpu_ns.median / phase.wall_ns.median),
        "minor_faults" => OwnValue::count(phase.minor_faults),
        "major_faults" => OwnValue::count(phase.major_faults),
        "voluntary_switches" => OwnValue::count(phase.voluntary_switches),
        "involuntary_switches" => OwnValue::count(phase.involuntary_switches),
        fact => match cell.proofs.get(fact)? {
            FactProof::Number { max, .. } => OwnValue::count(*max as f64 / unit_size(figure)),
            FactProof::Words(_) => return None,
        },
    })
}

/// The size of a recorded fact's published unit, in what is recorded.
fn unit_size(figure: &Figure) -> f64 {
    match figure.unit.as_str() {
        "KiB" => 1024.0,
        "sectors" => 512.0,
        _ => 1.0,
    }
}

/// The factor from the time of one of our samples to that of as many units as the figure covers.
fn per_unit(figure: &Figure, phase: &PhaseSummary) -> f64 {
    let units = phase.wall_ns.median / phase.per_unit_ns.median;
    if figure.ops > 0 && units.is_finite() && units > 0.0 {
        figure.ops as f64 / units
    } else {
        1.0
    }
}

/// The ratio of two cells' times, launch by launch: Student's t on the logarithms of what both took in the same block, as
/// ratios are judged everywhere. Where there are too few of these, and of what is counted, the ratio of the two figures.
fn divided(figure: &Figure, cell: &CellSummary, baseline: &CellSummary) -> Option<OwnValue> {
    let value = measured(figure, cell)?.value;
    let baseline_value = measured(figure, baseline)?.value;
    let logs = logs_by_block(launch_costs(figure, baseline), launch_costs(figure, cell));
    let judged = if logs.len() < LEAST_POINTS {
        None
    } else {
        t_interval(&logs, CONFIDENCE).ok()
    };
    let Some(judged) = judged else {
        return Some(OwnValue::count(value / baseline_value));
    };
    // What the figures are multiplied by, as for the units of a job, the ratio is too.
    let scale = value / median_ns(figure, cell)? / (baseline_value / median_ns(figure, baseline)?);
    let [ratio, low, high] =
        [judged.estimate, judged.low, judged.high].map(|log| log.exp() * scale);
    Some(OwnValue {
        value: ratio,
        interval: Some((low, high)),
    })
}

/// The time of each launch that has one, with its block; none of what is counted.
fn launch_costs(figure: &Figure, cell: &CellSummary) -> impl Iterator<Item = (i32, f64)> {
    cell.per_launch.iter().filter_map(|launch| {
        let costs = match figure.column.as_str() {
            "wall_ns" => &launch.wall_ns,
            "cpu_ns" => &launch.cpu_ns,
            _ => return None,
        };
        Some((launch.block, *costs.get(&figure.phase)?))
    })
}

fn median_ns(figure: &Figure, cell: &CellSummary) -> Option<f64> {
    let phase = cell.phases.get(&figure.phase)?;
    Some(if figure.column == "wall_ns" {
        phase.wall_ns.median
    } else {
        phase.cpu_ns.median
    })
}
