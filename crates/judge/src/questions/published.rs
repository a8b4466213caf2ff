//! Published figures next to ours: each figure of an article with the cells that repeat it.

use crate::contrast::estimate::logs_by_block;
use crate::questions::claims::{self, figure::ClaimSide};
use crate::sureness;
use record::claim::{Claim, Word};
use record::published::{Figure, FigureCell, FigureColumn, Published};
use record::sizes::parse_size;
use record::summary::{CellSummary, Distribution, FactProof, PhaseSummary, Ratio, Summary};
use stats::estimate::LEAST_POINTS;
use stats::interval::CONFIDENCE;
use stats::moderated::Prior;
use stats::t::{mean_and_deviation, t_interval};
use std::collections::BTreeSet;

/// One published figure and one cell that repeats it.
#[derive(Clone, Copy, Debug)]
pub struct RepeatedFigure<'a> {
    pub figure: &'a Figure,
    pub cell: Option<&'a CellSummary>,
    /// The cell that it is divided by.
    pub divisor: Option<&'a CellSummary>,
    pub here: Option<OwnFigure>,
    /// True where it is a time, and other work disturbed its launches: it decides nothing.
    pub is_noisy: bool,
}

/// Our figure in the published unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnFigure {
    pub value: f64,
    /// Its interval at 95 %; absent with too few launches, and of a count.
    pub interval: Option<(f64, f64)>,
    pub is_count: bool,
    /// The value over the published one; absent where that is zero, or not there.
    pub ratio: Option<f64>,
}

/// The verdict on a claim by the figure that decides it; undecided without an interval, and where it is noisy.
pub fn verdict(claim: &Claim, repeated: &RepeatedFigure, margin: f64) -> Word {
    let figure = repeated.here.filter(|_| !repeated.is_noisy);
    let interval = figure.and_then(|figure| {
        let exact = figure.is_count.then_some((figure.value, figure.value));
        figure.interval.or(exact)
    });
    interval.map_or(Word::Undecided, |(low, high)| {
        claims::word(claim, margin, low, high)
    })
}

/// A figure of ours in the published unit, and its interval where there is one.
#[derive(Clone, Copy)]
struct OwnValue {
    value: f64,
    interval: Option<(f64, f64)>,
}

/// The article with its series at the sizes that a run has measured and that no figure of the article has.
pub fn at_measured_sizes(article: &Published, summary: &Summary) -> Published {
    let sizes = summary
        .cells
        .iter()
        .filter_map(|cell| cell.parameters.bytes());
    let sizes: BTreeSet<u64> = sizes.collect();
    let known: BTreeSet<u64> = article.figures.iter().filter_map(Figure::bytes).collect();
    let every_size = article.at_sizes(&sizes.difference(&known).copied().collect());
    // A size counts where the article's own job was measured at it; the corrected one is of other runs, too.
    let sizes = every_size.figures.iter().filter(|figure| {
        figure.value.is_none()
            && figure.is_as_published()
            && !matching(&figure.repeating(), summary).is_empty()
    });
    let mut more = article.at_sizes(&sizes.filter_map(Figure::bytes).collect());
    more.figures.retain(|figure| {
        figure.value.is_some() || !matching(&figure.repeating(), summary).is_empty()
    });
    more
}

/// The quotient of two figures, and its interval where both have one.
pub fn quotient(figure: &OwnFigure, base: &OwnFigure) -> (f64, Option<(f64, f64)>) {
    let value = figure.value / base.value;
    let half_width = |measured: &OwnFigure| {
        let (low, high) = measured.interval?;
        Some((high / low).ln() / 2.0).filter(|width| width.is_finite())
    };
    let widths = half_width(figure).zip(half_width(base));
    let interval = widths.map(|(a, b)| {
        let width = a.hypot(b).exp();
        (value / width, value * width)
    });
    (value, interval)
}

/// Every figure of an article, in its order, with the cells of a run that repeat it.
pub fn repeated<'a>(article: &'a Published, summary: &'a Summary) -> Vec<RepeatedFigure<'a>> {
    let prior = prior(article, summary);
    let disturbed = sureness::disturbed(summary);
    let is_disturbed = |cell: &CellSummary| {
        let place = claims::figure::index_of(summary, cell);
        place.is_some_and(|place| disturbed.contains(&place))
    };
    let mut rows = Vec::new();
    for figure in &article.figures {
        let cells = matching(&figure.repeating(), summary);
        if cells.is_empty() {
            rows.push(RepeatedFigure {
                figure,
                cell: None,
                divisor: None,
                here: None,
                is_noisy: false,
            });
        }
        let divisor = figure.divisor();
        let divisor = divisor.and_then(|wanted| matching(&wanted, summary).first().copied());
        rows.extend(cells.into_iter().map(|cell| RepeatedFigure {
            figure,
            cell: Some(cell),
            divisor,
            here: here(figure, cell, divisor, &prior),
            is_noisy: figure.column.is_time()
                && (is_disturbed(cell) || divisor.is_some_and(is_disturbed)),
        }));
    }
    rows
}

/// The common part of the variances of an article's rows, of the logarithms of what their launches took: most rows have two or
/// three launches, whose own variances say little.
fn prior(article: &Published, summary: &Summary) -> Prior {
    let mut spreads = Vec::new();
    let mut known: Vec<(*const CellSummary, &str, &FigureColumn)> = Vec::new();
    for figure in article.figures.iter().filter(|f| f.against.is_none()) {
        for cell in matching(&figure.repeating(), summary) {
            let key = (
                std::ptr::from_ref(cell),
                figure.phase.as_str(),
                &figure.column,
            );
            let logs: Vec<f64> = launch_costs(figure, cell).map(|(_, ns)| ns.ln()).collect();
            let deviation = mean_and_deviation(&logs).map(|(_, deviation)| deviation);
            if let Some(deviation) = deviation.filter(|d| *d > 0.0)
                && !known.contains(&key)
            {
                known.push(key);
                spreads.push((deviation * deviation, (logs.len() - 1) as f64));
            }
        }
    }
    Prior::fit(&spreads)
}

/// The mean of two or three logarithms with its interval by Student's t, its variance drawn to the prior's.
fn of_few(logs: &[f64], prior: &Prior) -> Option<Ratio> {
    if logs.len() < 2 {
        return None;
    }
    let (mean, deviation) = mean_and_deviation(logs)?;
    let (variance, freedom) = prior.moderate(deviation * deviation, (logs.len() - 1) as f64);
    let error = (variance / logs.len() as f64).sqrt();
    // Equal readings of a coarse clock say nothing of how the next launch differs.
    if error == 0.0 {
        return None;
    }
    Ratio::of_log(mean, error, freedom, logs.len(), CONFIDENCE).ok()
}

fn here(
    figure: &Figure,
    cell: &CellSummary,
    divisor: Option<&CellSummary>,
    prior: &Prior,
) -> Option<OwnFigure> {
    let measured = match &figure.against {
        Some(_) if figure.column == FigureColumn::Spread => spread(figure, cell, divisor?)?,
        Some(_) => divided(figure, cell, divisor?, prior)?,
        None => with_interval(figure, cell, measured(figure, cell)?, prior),
    };
    Some(OwnFigure {
        value: measured.value,
        interval: measured.interval,
        is_count: measured.interval.is_none() && !figure.column.is_time(),
        ratio: figure
            .value
            .filter(|published| *published != 0.0)
            .map(|published| measured.value / published),
    })
}

/// Our cells of a selector with these parameters: one, or one of each worker of a family.
fn matching<'a>(wanted: &FigureCell, summary: &'a Summary) -> Vec<&'a CellSummary> {
    let mut cells: Vec<&CellSummary> = summary
        .cells
        .iter()
        .filter(|cell| is_selected(&cell.cell, wanted.name) && has_parameters(cell, wanted))
        .collect();
    if !wanted.name.ends_with('*') {
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

/// Tells whether each wanted parameter that a cell has is one of the wanted values.
fn has_parameters(cell: &CellSummary, wanted: &FigureCell) -> bool {
    wanted.parameters.iter().all(|(key, values)| {
        cell.parameters
            .get(*key)
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
    let scale = figure.unit_ns().map_or(1.0, |ns| 1.0 / ns);
    Some(match &figure.column {
        FigureColumn::WallNs if figure.ops > 0 => {
            OwnValue::time(&phase.per_unit_ns, scale * figure.ops as f64)
        }
        FigureColumn::WallNs => OwnValue::time(&phase.wall_ns, scale),
        FigureColumn::CpuNs if figure.ops > 0 && phase.wall_ns.median > 0.0 => {
            let per_unit = phase.per_unit_ns.median / phase.wall_ns.median;
            OwnValue::time(&phase.cpu_ns, scale * figure.ops as f64 * per_unit)
        }
        FigureColumn::CpuNs => OwnValue::time(&phase.cpu_ns, scale),
        FigureColumn::UserNs => OwnValue::count(phase.user_ns * scale * per_unit(figure, phase)),
        FigureColumn::SystemNs => {
            OwnValue::count(phase.system_ns * scale * per_unit(figure, phase))
        }
        FigureColumn::CpuPercent => {
            OwnValue::count(100.0 * phase.cpu_ns.median / phase.wall_ns.median)
        }
        FigureColumn::MinorFaults => OwnValue::count(phase.minor_faults),
        FigureColumn::MajorFaults => OwnValue::count(phase.major_faults),
        FigureColumn::VoluntarySwitches => OwnValue::count(phase.voluntary_switches),
        FigureColumn::InvoluntarySwitches => OwnValue::count(phase.involuntary_switches),
        // One cell alone has none.
        FigureColumn::Spread => return None,
        FigureColumn::Fact(fact) => match cell.proofs.get(fact)? {
            FactProof::Number { max, .. } => OwnValue::count(*max as f64 / unit_size(figure)),
            FactProof::Words(_) => return None,
        },
    })
}

/// A time with an interval from two or three launches, where it has none yet.
fn with_interval(
    figure: &Figure,
    cell: &CellSummary,
    measured: OwnValue,
    prior: &Prior,
) -> OwnValue {
    let logs: Vec<f64> = launch_costs(figure, cell).map(|(_, ns)| ns.ln()).collect();
    let estimate = of_few(&logs, prior).filter(|_| measured.interval.is_none());
    let Some((estimate, median_ns)) = estimate.zip(median_ns(figure, cell)) else {
        return measured;
    };
    let scale = measured.value / median_ns;
    OwnValue {
        value: estimate.ratio * scale,
        interval: Some((estimate.low * scale, estimate.high * scale)),
    }
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
fn divided(
    figure: &Figure,
    cell: &CellSummary,
    baseline: &CellSummary,
    prior: &Prior,
) -> Option<OwnValue> {
    let base = &Figure {
        phase: figure.divisor_phase().to_owned(),
        ..figure.clone()
    };
    let value = measured(figure, cell)?.value;
    let baseline_value = measured(base, baseline)?.value;
    let logs = logs_by_block(launch_costs(base, baseline), launch_costs(figure, cell));
    let judged = if logs.len() < LEAST_POINTS {
        // Two cells' variances, as if nothing fell on both.
        let both = Prior {
            variance: 2.0 * prior.variance,
            ..*prior
        };
        of_few(&logs, &both).map(|ratio| (ratio.ratio, ratio.low, ratio.high))
    } else {
        let judged = t_interval(&logs, CONFIDENCE).ok();
        judged.map(|log| (log.estimate.exp(), log.low.exp(), log.high.exp()))
    };
    let Some((ratio, low, high)) = judged else {
        return Some(OwnValue::count(value / baseline_value));
    };
    // What the figures are multiplied by, as for the units of a job, the ratio is too.
    let scale = value / median_ns(figure, cell)? / (baseline_value / median_ns(base, baseline)?);
    Some(OwnValue {
        value: ratio * scale,
        interval: Some((low * scale, high * scale)),
    })
}

/// The ratio of two cells' spreads, as a claim has it.
fn spread(figure: &Figure, cell: &CellSummary, divisor: &CellSummary) -> Option<OwnValue> {
    let side = |cell, phase| ClaimSide { cell, phase };
    let ratio = claims::figure::spread(
        side(cell, &figure.phase),
        side(divisor, figure.divisor_phase()),
    )?;
    Some(OwnValue {
        value: ratio.ratio,
        interval: Some((ratio.low, ratio.high)),
    })
}

/// The time of each launch that has one, with its block; none of what is counted.
fn launch_costs(figure: &Figure, cell: &CellSummary) -> impl Iterator<Item = (i32, f64)> {
    cell.per_launch.iter().filter_map(|launch| {
        let costs = match figure.column {
            FigureColumn::WallNs => &launch.wall_ns,
            FigureColumn::CpuNs => &launch.cpu_ns,
            _ => return None,
        };
        Some((launch.block, *costs.get(&figure.phase)?))
    })
}

fn median_ns(figure: &Figure, cell: &CellSummary) -> Option<f64> {
    let phase = cell.phases.get(&figure.phase)?;
    Some(if figure.column == FigureColumn::WallNs {
        phase.wall_ns.median
    } else {
        phase.cpu_ns.median
    })
}
