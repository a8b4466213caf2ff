//! Several estimates of one ratio as one: what disagrees becomes wider, never an average that hides it.

use record::{advice::AdvicePoint, summary::Estimate};
use stats::t::t_quantile;
use std::collections::BTreeMap;

const LEVEL: f64 = 0.95;
/// From this spread on, relative to their own errors (as a ratio of variances), estimates are said to disagree.
const DISAGREE: f64 = 4.0;

/// The logarithm of a ratio, its standard error and the degrees of freedom of that.
pub(super) fn standard(cost: &Estimate) -> (f64, f64, f64) {
    let freedom = (cost.launches as f64 - 1.0).max(1.0);
    let half = (cost.high / cost.low).ln() / 2.0;
    (
        cost.ratio.ln(),
        half / t_quantile(f64::midpoint(1.0, cost.level), freedom),
        freedom,
    )
}

/// The estimates of one ratio as one: weighted by their precision, and as much wider as they disagree (Birge's ratio).
fn together(costs: &[Estimate]) -> Option<Estimate> {
    let [first, rest @ ..] = costs else {
        return None;
    };
    if rest.is_empty() {
        return Some(*first);
    }
    let all: Vec<(f64, f64, f64)> = costs.iter().map(standard).collect();
    let weight = |error: f64| 1.0 / error.max(1e-9).powi(2);
    let total: f64 = all.iter().map(|(_, error, _)| weight(*error)).sum();
    let log = all
        .iter()
        .map(|(log, error, _)| log * weight(*error))
        .sum::<f64>()
        / total;
    let spread = all
        .iter()
        .map(|(own, error, _)| (own - log).powi(2) * weight(*error))
        .sum::<f64>()
        / (all.len() - 1) as f64;
    let quantile = |freedom: f64| t_quantile(f64::midpoint(1.0, LEVEL), freedom);
    let freedoms = || all.iter().map(|(_, _, freedom)| *freedom);
    let (half, freedom) = if spread > DISAGREE {
        // So few of them do not show how much they vary; all that any of them says is possible.
        let reach = all
            .iter()
            .map(|(own, error, f)| (own - log).abs() + error * quantile(*f));
        (
            reach.fold(0.0, f64::max),
            freedoms().fold(f64::INFINITY, f64::min),
        )
    } else {
        let freedom: f64 = freedoms().sum();
        (
            (spread.max(1.0) / total).sqrt() * quantile(freedom),
            freedom,
        )
    };
    let launches = freedom as usize + 1;
    let (ratio, low, high) = (log.exp(), (log - half).exp(), (log + half).exp());
    Some(Estimate {
        ratio,
        low,
        high,
        level: LEVEL,
        launches,
        moved: None,
    })
}

/// Points with one for each size and way, ascending.
pub fn pooled(points: Vec<AdvicePoint>) -> Vec<AdvicePoint> {
    let mut all: BTreeMap<(u64, String), Vec<Estimate>> = BTreeMap::new();
    for point in points {
        all.entry((point.bytes, point.way))
            .or_default()
            .push(point.cost);
    }
    all.into_iter()
        .filter_map(|((bytes, way), costs)| {
            Some(AdvicePoint {
                bytes,
                way,
                cost: together(&costs)?,
            })
        })
        .collect()
}
