//! The figure of a claim: a ratio of two cells' costs, or a cost by itself, with its interval.

use crate::contrast::estimate::{LEVEL, logs_by_block, of_series};
use crate::contrast::tails::P999;
use record::claim::{Claim, ClaimKind, Job, Of, Per};
use record::summary::{
    CellSummary, FactProof, GroupSummary, LaunchValues, PhaseSummary, Ratio, Summary,
};
use record::{cell::Cell, outcome::Status, plan::BATCH};
use stats::t::{Welch, two_sided_p, welch};
use stats::{estimate::LEAST_POINTS, looks::price, quantile::median};

/// Degrees of freedom of an error that is known and not estimated.
const MANY: f64 = 1e6;

/// A figure with what tests need of it.
#[derive(Clone, Debug)]
pub(crate) struct ClaimFigure {
    pub estimate: Ratio,
    pub paired: bool,
    pub unit: String,
}

impl ClaimFigure {
    /// The one-sided probability of a figure this far from the truth, times the looks that were taken until now.
    pub fn tail(&self, distance: f64) -> Option<f64> {
        if self.estimate.is_of_extremes() {
            return None;
        }
        let Ratio { error, freedom, .. } = self.estimate;
        if !(error > 0.0 && distance.is_finite()) {
            return Some(0.0);
        }
        let once = two_sided_p(distance / error, freedom) / 2.0;
        Some((once * price(self.estimate.launches)).min(1.0))
    }

    /// The same, were there so many launches of the same spread.
    pub fn tail_after(&self, distance: f64, launches: usize) -> Option<f64> {
        let (have, then) = (self.estimate.launches as f64, launches as f64);
        let estimate = Ratio {
            launches,
            error: self.estimate.error * (have / then).sqrt(),
            freedom: self.estimate.freedom * (then - 1.0) / (have - 1.0).max(1.0),
            ..self.estimate
        };
        ClaimFigure {
            estimate,
            ..self.clone()
        }
        .tail(distance)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ClaimSide<'a> {
    pub cell: &'a CellSummary,
    pub phase: &'a str,
}

impl<'a> ClaimSide<'a> {
    pub fn summary(&self) -> Option<&PhaseSummary> {
        self.cell.phases.get(self.phase)
    }

    /// Cost of each launch that has one, with its block.
    fn costs(self, cost: Of) -> impl Iterator<Item = (i32, f64)> + 'a {
        self.cell
            .per_launch
            .iter()
            .filter_map(move |launch| Some((launch.block, value(cost, launch, self.phase)?)))
    }
}

/// A cell of a summary. Its batch is the pilot's and not the plan's, so it does not tell cells apart.
pub(super) fn cell<'a>(summary: &'a Summary, wanted: &Cell) -> Option<&'a CellSummary> {
    let name = wanted.name();
    let same = |c: &&CellSummary| {
        let parameters = c.parameters.iter().filter(|(key, _)| *key != BATCH);
        !c.hidden
            && c.cell == name
            && parameters.eq(wanted.parameters.iter().filter(|(key, _)| *key != BATCH))
    };
    summary.cells.iter().find(same)
}

/// The figure of a claim from its cells, where they bring one.
pub(super) fn of_claim(
    claim: &Claim,
    job: &Job,
    summary: &Summary,
    way: &CellSummary,
    other: Option<&CellSummary>,
) -> Option<ClaimFigure> {
    if [Some(way), other]
        .into_iter()
        .flatten()
        .any(|c| c.outcome.status != Status::Ok || c.launches < LEAST_POINTS)
    {
        return None;
    }
    let headline = summary.experiment(&job.experiment)?.headline.as_str();
    let phase = job.total.as_deref().unwrap_or(headline);
    let first = ClaimSide { cell: way, phase };
    let figure = match (claim.kind, other) {
        (ClaimKind::Absolute, _) => absolute(job, claim.holds.as_ref()?.per?, first, summary),
        (_, Some(other)) => {
            let second = ClaimSide {
                cell: other,
                phase: job.other_total.as_deref().unwrap_or(phase),
            };
            ratio(job, summary, first, second)
        }
        (_, None) => None,
    }?;
    let estimate = figure.estimate;
    [estimate.low, estimate.ratio, estimate.high]
        .iter()
        .all(|v| v.is_finite() && *v > 0.0)
        .then_some(figure)
}

fn ratio(job: &Job, summary: &Summary, way: ClaimSide, other: ClaimSide) -> Option<ClaimFigure> {
    if let Some(fact) = &job.fact {
        let (a, b) = (extremes(way.cell, fact)?, extremes(other.cell, fact)?);
        let ratio = ((a.0 * a.1) / (b.0 * b.1)).sqrt();
        let launches = way.cell.launches.min(other.cell.launches);
        return Some(ClaimFigure {
            estimate: Ratio::of_extremes(ratio, a.0 / b.1, a.1 / b.0, launches),
            paired: true,
            unit: String::new(),
        });
    }
    match job.cost {
        Of::Faults => {
            let (a, b) = (counted(way)?, counted(other)?);
            let per_sample = (a.0 / a.1, b.0 / b.1);
            let error = (1.0 / a.0 + 1.0 / b.0).sqrt();
            counts(
                per_sample.0 / per_sample.1,
                error,
                way.cell.launches.min(other.cell.launches),
            )
        }
        Of::Spread => Some(ClaimFigure {
            estimate: unpaired(&distances(way)?, &distances(other)?)?,
            paired: false,
            unit: String::new(),
        }),
        Of::Wall | Of::Cpu | Of::Tail => timed(job.cost, summary, way, other),
    }
}

/// Launches of both, paired where they are of the same blocks: a comparison group launches its cells together.
pub(crate) fn timed(
    cost: Of,
    summary: &Summary,
    way: ClaimSide,
    other: ClaimSide,
) -> Option<ClaimFigure> {
    let together = summary.groups.iter().any(|g| {
        let has = |cell: &CellSummary| {
            g.cells
                .iter()
                .any(|&c| std::ptr::eq(&summary.cells[c], cell))
        };
        has(way.cell) && has(other.cell)
    });
    let logs_by_block = by_block(cost, way, other);
    if let Some(figure) = compared(cost, summary, way, other) {
        return Some(figure);
    }
    // Launches of two groups take turns too, block by block; what the machine did meanwhile falls on both.
    if logs_by_block.len() >= LEAST_POINTS {
        let paired = together || std::ptr::eq(way.cell, other.cell);
        return Some(widened(of_series(&logs_by_block, LEVEL)?, summary, paired));
    }
    let (a, b) = (logs(cost, way), logs(cost, other));
    if a.len().min(b.len()) < LEAST_POINTS {
        return None;
    }
    Some(widened(unpaired(&a, &b)?, summary, false))
}

/// Verdict of the run itself, where one side is the baseline of a group: its ratios are paired round by round.
fn compared(cost: Of, summary: &Summary, way: ClaimSide, other: ClaimSide) -> Option<ClaimFigure> {
    if way.phase != other.phase || cost == Of::Tail {
        return None;
    }
    let index = |cell: &CellSummary| summary.cells.iter().position(|c| std::ptr::eq(c, cell));
    let (way, other, phase) = (index(way.cell)?, index(other.cell)?, way.phase);
    let ratio = |group: &GroupSummary, cell: usize| {
        let comparison = group.comparison(cell, phase)?;
        if cost == Of::Cpu {
            comparison.cpu_ratio
        } else {
            comparison.contrast.ratio
        }
    };
    let straight = || {
        summary
            .groups
            .iter()
            .filter(|g| g.baseline == Some(other))
            .find_map(|g| ratio(g, way))
    };
    let turned = || {
        summary
            .groups
            .iter()
            .filter(|g| g.baseline == Some(way))
            .find_map(|g| ratio(g, other))
    };
    let estimate = straight().or_else(|| turned().map(|ratio| ratio.inverse()))?;
    Some(ClaimFigure {
        estimate,
        paired: true,
        unit: String::new(),
    })
}

fn value(cost: Of, launch: &LaunchValues, phase: &str) -> Option<f64> {
    let (values, name) = match cost {
        Of::Tail => (&launch.tail_ns, P999),
        Of::Cpu => (&launch.cpu_ns, phase),
        _ => (&launch.wall_ns, phase),
    };
    values.get(name).copied().filter(|v| *v > 0.0)
}

/// The logarithms of the ratios of both sides' launches of the same block, in their order.
fn by_block(cost: Of, way: ClaimSide, other: ClaimSide) -> Vec<f64> {
    logs_by_block(other.costs(cost), way.costs(cost))
}

fn logs(cost: Of, side: ClaimSide) -> Vec<f64> {
    side.cell
        .per_launch
        .iter()
        .filter_map(|l| value(cost, l, side.phase))
        .map(f64::ln)
        .collect()
}

/// A figure whose interval is as much wider as the run's A/A checks ask for.
fn widened(ratio: Ratio, summary: &Summary, paired: bool) -> ClaimFigure {
    ClaimFigure {
        estimate: ratio.widened(summary.calibration.widened),
        paired,
        unit: String::new(),
    }
}

/// The ratio of two sides whose launches are of different blocks.
fn unpaired(a: &[f64], b: &[f64]) -> Option<Ratio> {
    let Welch {
        difference,
        error,
        freedom,
        ..
    } = welch(b, a).ok()?;
    Ratio::of_log(difference, error, freedom, a.len().min(b.len()), LEVEL).ok()
}

/// Distance of each launch from the median launch, as logarithms of those distances; Levene's way to compare spreads.
/// A launch at the median itself has no logarithm and is left out, on both sides alike.
fn distances(side: ClaimSide) -> Option<Vec<f64>> {
    let all = logs(Of::Wall, side);
    let middle = median(&mut all.clone())?;
    let logs: Vec<f64> = all
        .iter()
        .map(|log| (log - middle).abs())
        .filter(|d| *d > 0.0)
        .map(f64::ln)
        .collect();
    (logs.len() + 1 >= LEAST_POINTS).then_some(logs)
}

/// Events of all samples together, with half an event more so that none has a logarithm too, and the samples.
fn counted(side: ClaimSide) -> Option<(f64, f64)> {
    let phase = side.summary()?;
    let samples = phase.samples as f64;
    (samples > 0.0).then_some((phase.minor_faults * samples + 0.5, samples))
}

/// An interval of counted events as if each came by chance (Poisson): wider than what is counted exactly alike each time needs.
fn counts(ratio: f64, error: f64, launches: usize) -> Option<ClaimFigure> {
    Some(ClaimFigure {
        estimate: Ratio::of_log(ratio.ln(), error, MANY, launches, LEVEL).ok()?,
        paired: true,
        unit: String::new(),
    })
}

fn extremes(cell: &CellSummary, fact: &str) -> Option<(f64, f64)> {
    match cell.proofs.get(fact)? {
        FactProof::Number { min, max, .. } => Some((*min as f64, *max as f64)),
        FactProof::Words(_) => None,
    }
}

fn absolute(job: &Job, per: Per, way: ClaimSide, summary: &Summary) -> Option<ClaimFigure> {
    let phase = way.summary()?;
    let bytes = way
        .cell
        .parameters
        .get("bytes")
        .and_then(|b| b.parse::<f64>().ok());
    let divisor = match per {
        Per::Sample => 1.0,
        Per::Unit => phase.wall_ns.median / phase.per_unit_ns.median,
        Per::Byte => bytes?,
        Per::Page => bytes? / page_bytes(summary),
        Per::Gib => bytes? / f64::from(1 << 30),
    };
    let unit = |what: &str| format!("{what} {}", per.label());
    if let Some(fact) = &job.fact {
        let (low, high) = extremes(way.cell, fact)?;
        let launches = way.cell.launches;
        let (ratio, low, high) = ((low * high).sqrt() / divisor, low / divisor, high / divisor);
        return Some(ClaimFigure {
            estimate: Ratio::of_extremes(ratio, low, high, launches),
            paired: true,
            unit: unit(fact),
        });
    }
    if job.cost == Of::Faults {
        let (events, samples) = counted(way)?;
        let figure = counts(
            events / samples / divisor,
            1.0 / events.sqrt(),
            way.cell.launches,
        )?;
        return Some(ClaimFigure {
            unit: unit("faults"),
            ..figure
        });
    }
    let logs: Vec<f64> = logs(job.cost, way)
        .iter()
        .map(|log| log - divisor.ln())
        .collect();
    Some(ClaimFigure {
        unit: unit("ns"),
        ..widened(of_series(&logs, LEVEL)?, summary, true)
    })
}

/// The size of a base page of the machine, 4096 where the summary does not tell.
fn page_bytes(summary: &Summary) -> f64 {
    let bytes = summary
        .environment
        .get("page")
        .and_then(|text| record::sizes::parse_size(&text.replace(' ', "")).ok());
    bytes.unwrap_or(4096) as f64
}
