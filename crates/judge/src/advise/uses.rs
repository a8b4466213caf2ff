//! Number of uses until another way costs less: mapped once and read many times.

use super::request::{AdviceRequest, by_size};
use crate::estimate::{LEVEL, of_logs};
use record::advice::{Repeated, Uses};
use record::summary::{CellSummary, LaunchValues, Summary};
use stats::interval::LEAST_LAUNCHES;
use std::collections::BTreeMap;

/// Cost of a method the first time and each time after, in nanoseconds, in each block of launches.
type Costs = BTreeMap<i32, (f64, f64)>;

fn first(launch: &LaunchValues, uses: &Uses) -> f64 {
    uses.first.iter().filter_map(|phase| launch.wall_ns.get(phase)).sum()
}

fn costs(uses: &Uses, way: &CellSummary, again: &CellSummary) -> Costs {
    let costs = |launch: &LaunchValues| {
        let later = again.per_launch.iter().find(|other| other.block == launch.block)?;
        Some((launch.block, (first(launch, uses), *later.wall_ns.get(&uses.again)?)))
    };
    way.per_launch.iter().filter_map(costs).collect()
}

/// The number of uses from which one way costs less than another, where there is one: each block of launches says its own.
fn crossing(few: &Costs, many: &Costs) -> Option<(Vec<f64>, bool)> {
    let crossing = |(block, (first, again)): (&i32, &(f64, f64))| {
        let (other_first, other_again) = many.get(block)?;
        Some(1.0 + (other_first - first) / (again - other_again))
    };
    let all: Vec<f64> = few.iter().filter_map(crossing).collect();
    let shared = few.keys().filter(|block| many.contains_key(block));
    // Each block must say that it costs more at first and less later; otherwise there is no such number, or it is not settled.
    let agree = shared.clone().all(|b| many[b].0 > few[b].0 && many[b].1 < few[b].1);
    Some((all, agree)).filter(|(all, _)| all.len() >= LEAST_LAUNCHES)
}

/// For each way and the obvious one, the number of uses at which the cheaper of the two changes.
pub(super) fn repeated(request: &AdviceRequest, summary: &Summary) -> Vec<Repeated> {
    let Some(uses) = &request.topic.uses else { return Vec::new() };
    let cell = |wanted| by_size(summary, wanted, &request.settings).get(&request.bytes).copied();
    let named = |name: &str| {
        if name == request.topic.obvious {
            cell(&request.obvious)
        } else {
            request.ways.iter().find(|(other, _)| other == name).and_then(|(_, wanted)| cell(wanted))
        }
    };
    let costs_of = |name: &str| {
        let again = request.topic.way(name).and_then(|w| w.again_as.as_deref()).unwrap_or(name);
        Some(costs(uses, named(name)?, named(again)?))
    };
    let Some(obvious) = costs_of(&request.topic.obvious) else { return Vec::new() };
    let mut crossings = Vec::new();
    for (name, _) in &request.ways {
        let Some(way) = costs_of(name) else { continue };
        let pairs = [(&obvious, &way, name, &request.topic.obvious), (&way, &obvious, &request.topic.obvious, name)];
        for (few, many, way, than) in pairs {
            let Some((counts, true)) = crossing(few, many) else { continue };
            let logs: Vec<f64> = counts.iter().map(|n| n.ln()).collect();
            if let Some(count) = of_logs(&logs, LEVEL) {
                let (way, than, noun) = (way.clone(), than.clone(), uses.noun.clone());
                crossings.push(Repeated { way, than, noun, count: count.estimate });
            }
        }
    }
    crossings.sort_by(|a, b| a.count.ratio.total_cmp(&b.count.ratio));
    crossings
}
