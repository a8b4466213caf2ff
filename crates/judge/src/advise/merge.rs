//! Several files as one, and several estimates of one ratio as one: what disagrees becomes wider, never an average that hides
//! it.

use super::choice::segments;
use anyhow::{Result, bail};
use record::advice::{Advice, AdvicePoint, Question};
use record::summary::Estimate;
use stats::t::t_quantile;
use std::collections::BTreeMap;

/// The advice of several runs of one kind of machine as one; what they disagree about becomes wider.
pub fn merge(all: &[Advice]) -> Result<Advice> {
    let [first, rest @ ..] = all else { bail!("there is no advice to merge") };
    for other in rest {
        let differences = other.machine.differences(&first.machine);
        if !differences.is_empty() {
            bail!("advice of different machines is not merged: {}", differences.join(", "));
        }
    }
    let mut whole = first.clone();
    whole.margin = all.iter().map(|a| a.margin).fold(first.margin, f64::max);
    whole.created = all.iter().map(|a| a.created.clone()).max().unwrap_or_default();
    for (name, other) in rest.iter().flat_map(|advice| &advice.questions) {
        let Some(mine) = whole.questions.get_mut(name) else {
            whole.questions.insert(name.clone(), other.clone());
            continue;
        };
        if mine.settings != other.settings || mine.obvious != other.obvious {
            bail!("the question {name} was asked of different cases, so its answers are not merged");
        }
        // A run that both rest on counts once.
        if other.runs.iter().any(|run| mine.runs.contains(run)) {
            if other.runs.len() > mine.runs.len() {
                mine.clone_from(other);
            }
            continue;
        }
        for (condition, segments) in &other.conditions {
            mine.conditions.entry(condition.clone()).or_insert_with(|| segments.clone());
        }
        mine.points.extend(other.points.iter().cloned());
        mine.runs.extend(other.runs.iter().cloned());
    }
    for question in whole.questions.values_mut() {
        settle(question, whole.margin);
    }
    Ok(whole)
}

fn settle(question: &mut Question, margin: f64) {
    question.points = pooled(std::mem::take(&mut question.points));
    question.runs.sort();
    question.segments = segments(&question.points, &question.obvious, margin);
}

const LEVEL: f64 = 0.95;
/// From this spread on, relative to their own errors (as a ratio of variances), estimates are said to disagree.
const DISAGREE: f64 = 4.0;

/// The logarithm of a ratio, its standard error and the degrees of freedom of that.
pub(super) fn standard(cost: &Estimate) -> (f64, f64, f64) {
    let freedom = (cost.launches as f64 - 1.0).max(1.0);
    let half = (cost.high / cost.low).ln() / 2.0;
    (cost.ratio.ln(), half / t_quantile(f64::midpoint(1.0, cost.level), freedom), freedom)
}

/// The estimates of one ratio as one: weighted by their precision, and as much wider as they disagree (Birge's ratio).
fn together(costs: &[Estimate]) -> Option<Estimate> {
    let [first, rest @ ..] = costs else { return None };
    if rest.is_empty() {
        return Some(*first);
    }
    let all: Vec<(f64, f64, f64)> = costs.iter().map(standard).collect();
    let weight = |error: f64| 1.0 / error.max(1e-9).powi(2);
    let total: f64 = all.iter().map(|(_, error, _)| weight(*error)).sum();
    let log = all.iter().map(|(log, error, _)| log * weight(*error)).sum::<f64>() / total;
    let spread = all.iter().map(|(own, error, _)| (own - log).powi(2) * weight(*error)).sum::<f64>() / (all.len() - 1) as f64;
    let quantile = |freedom: f64| t_quantile(f64::midpoint(1.0, LEVEL), freedom);
    let freedoms = || all.iter().map(|(_, _, freedom)| *freedom);
    let (half, freedom) = if spread > DISAGREE {
        // So few of them do not show how much they vary; all that any of them says is possible.
        let reach = all.iter().map(|(own, error, f)| (own - log).abs() + error * quantile(*f));
        (reach.fold(0.0, f64::max), freedoms().fold(f64::INFINITY, f64::min))
    } else {
        let freedom: f64 = freedoms().sum();
        ((spread.max(1.0) / total).sqrt() * quantile(freedom), freedom)
    };
    let launches = freedom as usize + 1;
    let (ratio, low, high) = (log.exp(), (log - half).exp(), (log + half).exp());
    Some(Estimate { ratio, low, high, level: LEVEL, launches, moved: None })
}

/// Points with one for each size and way, ascending.
pub fn pooled(points: Vec<AdvicePoint>) -> Vec<AdvicePoint> {
    let mut all: BTreeMap<(u64, String), Vec<Estimate>> = BTreeMap::new();
    for point in points {
        all.entry((point.bytes, point.way)).or_default().push(point.cost);
    }
    all.into_iter().filter_map(|((bytes, way), costs)| Some(AdvicePoint { bytes, way, cost: together(&costs)? })).collect()
}
