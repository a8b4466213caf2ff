//! Published figures beside ours: each figure of an article with the cells that repeat it.

use crate::contrast::estimate::logs_by_block;
use record::published::{Figure, Published};
use record::sizes::parse_size;
use record::summary::{CellSummary, Distribution, FactProof, LaunchValues, PhaseSummary, Summary};
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

/// Every figure of an article, in its order, with the cells of a run that repeat it.
pub fn repeated<'a>(article: &'a Published, summary: &'a Summary) -> Vec<RepeatedFigure<'a>> {
    let mut rows = Vec::new();
    for figure in &article.figures {
        let cells = matching(figure, &figure.cell, summary);
        rows.extend(cells.is_empty().then_some(RepeatedFigure {
            figure,
            cell: None,
            here: None,
        }));
        rows.extend(cells.into_iter().map(|cell| RepeatedFigure {
            figure,
            cell: Some(cell),
            here: here(figure, cell, summary),
        }));
    }
    rows
}

fn here(figure: &Figure, cell: &CellSummary, summary: &Summary) -> Option<OwnFigure> {
    let (value, interval) = match &figure.against {
        Some(selector) => divided(
            figure,
            (cell, matching(figure, selector, summary).first().copied()?),
        )?,
        None => ours(figure, cell)?,
    };
    let times = ["wall_ns", "cpu_ns", "user_ns", "system_ns", "cpu_percent"];
    let is_count = interval.is_none() && !times.contains(&figure.column.as_str());
    Some(OwnFigure {
        value,
        interval,
        is_count,
        ratio: (figure.value != 0.0).then(|| value / figure.value),
    })
}

/// Our cells of a selector and a figure's parameters: one, or one of each worker of a family.
fn matching<'a>(figure: &Figure, selector: &str, summary: &'a Summary) -> Vec<&'a CellSummary> {
    let sized = |text: &str| parse_size(text).map_or_else(|_| text.to_owned(), |b| b.to_string());
    let named = |cell: &str| match (selector.strip_suffix('*'), selector.contains('@')) {
        (Some(start), _) => cell.starts_with(start),
        // Where an experiment has two sides and a figure names one worker, it does both.
        (None, true) => cell
            .strip_prefix(selector)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('+')),
        (None, false) => cell.split('@').next() == Some(selector),
    };
    let fits = |c: &&CellSummary| {
        let one_of =
            |value: &String, v: &str| v.split('|').any(|v| value == v || *value == sized(v));
        figure
            .parameters
            .iter()
            .all(|(k, v)| c.parameters.get(k).is_none_or(|value| one_of(value, v)))
    };
    let mut cells: Vec<_> = summary
        .cells
        .iter()
        .filter(|c| named(&c.cell))
        .filter(fits)
        .collect();
    if !selector.ends_with('*') {
        cells.truncate(1);
    }
    cells
}

/// Our figure in the published unit: value, and its interval where there is one.
fn ours(figure: &Figure, cell: &CellSummary) -> Option<Value> {
    let phase = cell.phases.get(&figure.phase)?;
    let counted = |v: f64| Some((v, None));
    let scale = match figure.unit.as_str() {
        "s" => 1e-9,
        "ms" => 1e-6,
        "us" | "µs" => 1e-3,
        _ => 1.0,
    };
    let timed = |d: &Distribution, scale: f64| {
        Some((
            d.median * scale,
            d.low.zip(d.high).map(|(l, h)| (l * scale, h * scale)),
        ))
    };
    match figure.column.as_str() {
        "wall_ns" if figure.ops > 0 => timed(&phase.per_unit_ns, scale * figure.ops as f64),
        "wall_ns" => timed(&phase.wall_ns, scale),
        "cpu_ns" if figure.ops > 0 && phase.wall_ns.median > 0.0 => {
            let per_unit = phase.per_unit_ns.median / phase.wall_ns.median;
            timed(&phase.cpu_ns, scale * figure.ops as f64 * per_unit)
        }
        "cpu_ns" => timed(&phase.cpu_ns, scale),
        "user_ns" => counted(phase.user_ns * scale * per_unit(figure, phase)),
        "system_ns" => counted(phase.system_ns * scale * per_unit(figure, phase)),
        "cpu_percent" => counted(100.0 * phase.cpu_ns.median / phase.wall_ns.median),
        "minor_faults" => counted(phase.minor_faults),
        "major_faults" => counted(phase.major_faults),
        "voluntary_switches" => counted(phase.voluntary_switches),
        "involuntary_switches" => counted(phase.involuntary_switches),
        fact => match cell.proofs.get(fact)? {
            FactProof::Number { max, .. } if figure.unit == "KiB" => counted(*max as f64 / 1024.0),
            FactProof::Number { max, .. } if figure.unit == "sectors" => {
                counted(*max as f64 / 512.0)
            }
            FactProof::Number { max, .. } => counted(*max as f64),
            FactProof::Words(_) => None,
        },
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

type Value = (f64, Option<(f64, f64)>);

/// The ratio of two cells' times, launch by launch: Student's t on the logarithms of what both took in the same block, as
/// ratios are judged everywhere. Where there are too few of these, and of what is counted, the ratio of the two figures.
fn divided(figure: &Figure, (cell, other): (&CellSummary, &CellSummary)) -> Option<Value> {
    let (mine, theirs) = (ours(figure, cell)?.0, ours(figure, other)?.0);
    let cost = |launch: &LaunchValues| {
        let costs = match figure.column.as_str() {
            "wall_ns" => &launch.wall_ns,
            "cpu_ns" => &launch.cpu_ns,
            _ => return None,
        };
        Some((launch.block, *costs.get(&figure.phase)?))
    };
    let logs = logs_by_block(
        other.per_launch.iter().filter_map(cost),
        cell.per_launch.iter().filter_map(cost),
    );
    let judged = if logs.len() < LEAST_POINTS {
        None
    } else {
        t_interval(&logs, CONFIDENCE).ok()
    };
    let Some(judged) = judged else {
        return Some((mine / theirs, None));
    };
    // What the figures are multiplied by, as for the units of a job, the ratio is too.
    let median = |cell: &CellSummary| {
        let phase = cell.phases.get(&figure.phase)?;
        Some(if figure.column == "wall_ns" {
            phase.wall_ns.median
        } else {
            phase.cpu_ns.median
        })
    };
    let scale = mine / median(cell)? / (theirs / median(other)?);
    let [ratio, low, high] =
        [judged.estimate, judged.low, judged.high].map(|log| log.exp() * scale);
    Some((ratio, Some((low, high))))
}
