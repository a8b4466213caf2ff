//! The ratios of the ways to the obvious one, from whichever summaries have them.

use super::merge::pooled;
use super::request::{AdviceRequest, by_size};
use crate::claims::figure::{ClaimSide, timed};
use record::summary::{CellSummary, Estimate, Summary, Verdict};
use record::{advice::AdvicePoint, claim::Of, outcome::Status};
use stats::interval::LEAST_LAUNCHES;
use std::collections::BTreeMap;

/// One way's cost relative to another's in a summary.
pub(super) fn ratio(
    summary: &Summary,
    (way, other): (&CellSummary, &CellSummary),
    measure: &str,
    cost: Of,
) -> Option<Estimate> {
    let measured = |c: &CellSummary| c.status == Status::Ok && c.launches >= LEAST_LAUNCHES;
    if !measured(way) || !measured(other) {
        return None;
    }
    let side = |cell| ClaimSide { cell, phase: measure };
    let figure = timed(cost, summary, side(way), side(other))?;
    let sound = |e: &Estimate| [e.low, e.ratio, e.high].iter().all(|v| v.is_finite() && *v > 0.0);
    Some(figure.estimate).filter(|e| figure.paired && sound(e))
}

fn of_one(request: &AdviceRequest, settings: &BTreeMap<String, String>, summary: &Summary) -> Vec<AdvicePoint> {
    let obvious = by_size(summary, &request.obvious, settings);
    let mut points = Vec::new();
    for (name, cell) in &request.ways {
        for (bytes, way) in by_size(summary, cell, settings) {
            let Some(base) = obvious.get(&bytes) else { continue };
            if let Some(cost) = ratio(summary, (way, base), &request.measure, Of::Wall) {
                points.push(AdvicePoint { bytes, way: name.clone(), cost });
            }
        }
    }
    points
}

/// Points of all summaries, ascending by size, with the runs that said anything. Several runs of one size are pooled.
pub fn points(request: &AdviceRequest, summaries: &[&Summary]) -> (Vec<AdvicePoint>, Vec<String>) {
    let mut all = Vec::new();
    let mut runs = Vec::new();
    for summary in summaries {
        let mine = of_one(request, &request.settings, summary);
        if !mine.is_empty() && !runs.contains(&summary.run) {
            runs.push(summary.run.clone());
        }
        all.extend(mine);
    }
    (pooled(all), runs)
}

/// Tells whether a summary already answers the question at this size: every way that can be measured is shown to be
/// better, worse or the same as the obvious one.
pub fn has(request: &AdviceRequest, settings: &BTreeMap<String, String>, bytes: u64, summary: &Summary, margin: f64) -> bool {
    let cell = |wanted| by_size(summary, wanted, settings).get(&bytes).copied();
    let Some(base) = cell(&request.obvious) else { return false };
    request.ways.iter().all(|(_, wanted)| {
        cell(wanted).is_some_and(|way| {
            let settled = |e: Estimate| Verdict::from_interval(e.low, e.high, margin) != Verdict::NotSettled;
            let cost = || ratio(summary, (way, base), &request.measure, Of::Wall);
            way.status == Status::Skipped || cost().is_some_and(settled)
        })
    })
}
