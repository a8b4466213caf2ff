//! Number of uses until another way costs less: mapped once and read many times.

use std::collections::BTreeMap;

use record::advice::{Repeated, Uses};
use record::summary::{CellSummary, LaunchValues, Summary};
use stats::interval::LEAST_LAUNCHES;

use super::asked::{AdviceRequest, by_size};
use crate::estimate::{LEVEL, of_logs};

/// Cost of a method the first time and each time after, in nanoseconds, in each block of launches.
type Costs = BTreeMap<i32, (f64, f64)>;

fn first(launch: &LaunchValues, uses: &Uses) -> f64 {
    uses.first.iter().filter_map(|phase| launch.wall_ns.get(phase)).sum()
}

fn costs(uses: &Uses, way: &CellSummary, again: &CellSummary) -> Costs {
    let one = |launch: &LaunchValues| {
        let later = again.per_launch.iter().find(|other| other.block == launch.block)?;
        Some((launch.block, (first(launch, uses), *later.wall_ns.get(&uses.again)?)))
    };
    way.per_launch.iter().filter_map(one).collect()
}

/// The number of uses from which one way costs less than another, where there is one: each block of launches says its own.
fn crossing(few: &Costs, many: &Costs) -> Option<(Vec<f64>, bool)> {
    let one = |(block, (first, again)): (&i32, &(f64, f64))| {
        let (other_first, other_again) = many.get(block)?;
        Some(1.0 + (other_first - first) / (again - other_again))
    };
    let all: Vec<f64> = few.iter().filter_map(one).collect();
    let shared = few.keys().filter(|block| many.contains_key(block));
    // Each block must say that it costs more at first and less later; otherwise there is no such number, or it is not settled.
    let agree = shared.clone().all(|b| many[b].0 > few[b].0 && many[b].1 < few[b].1);
    Some((all, agree)).filter(|(all, _)| all.len() >= LEAST_LAUNCHES)
}

/// For each way and the obvious one, the number of uses at which the cheaper of the two changes.
pub(super) fn repeated(asked: &AdviceRequest, summary: &Summary) -> Vec<Repeated> {
    let Some(uses) = &asked.topic.uses else { return Vec::new() };
    let cell = |wanted| by_size(summary, wanted, &asked.settings).get(&asked.bytes).copied();
    let named = |name: &str| {
        if name == asked.topic.obvious {
            cell(&asked.obvious)
        } else {
            asked.ways.iter().find(|(own, _)| own == name).and_then(|(_, wanted)| cell(wanted))
        }
    };
    let of = |name: &str| {
        let again = asked.topic.way(name).and_then(|w| w.again_as.as_deref()).unwrap_or(name);
        Some(costs(uses, named(name)?, named(again)?))
    };
    let Some(obvious) = of(&asked.topic.obvious) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, _) in &asked.ways {
        let Some(way) = of(name) else { continue };
        let pairs = [(&obvious, &way, name, &asked.topic.obvious), (&way, &obvious, &asked.topic.obvious, name)];
        for (few, many, way, than) in pairs {
            let Some((counts, true)) = crossing(few, many) else { continue };
            let logs: Vec<f64> = counts.iter().map(|n| n.ln()).collect();
            if let Some(count) = of_logs(&logs, LEVEL) {
                let (way, than, words) = (way.clone(), than.clone(), uses.words.clone());
                found.push(Repeated { way, than, words, count: count.estimate });
            }
        }
    }
    found.sort_by(|a, b| a.count.ratio.total_cmp(&b.count.ratio));
    found
}
