//! Several estimates of one ratio as one: what disagrees becomes wider, never an average that hides it.

use record::{advice::AdvicePoint, summary::Ratio};
use stats::t::t_quantile;
use std::collections::BTreeMap;

const LEVEL: f64 = 0.95;
/// Spread of estimates from which on they disagree, relative to their own errors (as a ratio of variances).
const DISAGREE: f64 = 4.0;

/// Points with one for each size and method, ascending.
pub fn pooled(points: Vec<AdvicePoint>) -> Vec<AdvicePoint> {
    let mut costs: BTreeMap<(u64, String), Vec<Ratio>> = BTreeMap::new();
    for point in points {
        costs
            .entry((point.bytes, point.way))
            .or_default()
            .push(point.cost);
    }
    costs
        .into_iter()
        .filter_map(|((bytes, way), costs)| {
            Some(AdvicePoint {
                bytes,
                way,
                cost: together(&costs)?,
            })
        })
        .collect()
}

/// The estimates of one ratio as one: weighted by their precision, and as much wider as they disagree (Birge's ratio).
fn together(costs: &[Ratio]) -> Option<Ratio> {
    let [first, rest @ ..] = costs else {
        return None;
    };
    if rest.is_empty() {
        return Some(*first);
    }
    let total: f64 = costs.iter().map(weight).sum();
    let log = costs.iter().map(|c| c.log() * weight(c)).sum::<f64>() / total;
    let spread = costs
        .iter()
        .map(|c| (c.log() - log).powi(2) * weight(c))
        .sum::<f64>()
        / (costs.len() - 1) as f64;
    let freedoms = costs.iter().map(|cost| cost.freedom);
    let (error, freedom) = if spread > DISAGREE {
        // So few of them do not show how much they vary; all that any of them says is possible.
        let reach = costs
            .iter()
            .map(|c| (c.log() - log).abs() + c.error * quantile(c.freedom))
            .fold(0.0, f64::max);
        let least = freedoms.fold(f64::INFINITY, f64::min);
        (reach / quantile(least), least)
    } else {
        ((spread.max(1.0) / total).sqrt(), freedoms.sum())
    };
    Ratio::of_log(log, error, freedom, freedom as usize + 1, LEVEL).ok()
}

fn weight(cost: &Ratio) -> f64 {
    1.0 / cost.error.max(1e-9).powi(2)
}

fn quantile(freedom: f64) -> f64 {
    t_quantile(f64::midpoint(1.0, LEVEL), freedom)
}
