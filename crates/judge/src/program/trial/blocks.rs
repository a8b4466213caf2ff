//! Costs of a try's launches by block and arm, and what they say of two arms.

use crate::contrast::estimate::of_series;
use record::command::{Amount, CommandCost, CommandLaunch, Measure, WatchedMoment};
use stats::estimate::Ratio;
use stats::interval::LEAST_LAUNCHES;
use stats::t::{mean_and_deviation, t_interval};
use std::collections::BTreeMap;

/// The judged costs: for each block the cost of every arm that took part in it.
pub(super) struct Blocks<'a> {
    pub costs: BTreeMap<i64, BTreeMap<usize, &'a CommandCost>>,
    /// Confidence of the intervals: higher where precision ends the try, which prefers blocks that lie close together, and
    /// where an interim analysis does.
    level: f64,
}

impl<'a> Blocks<'a> {
    pub fn new(launches: &'a [CommandLaunch], level: f64) -> Blocks<'a> {
        let mut costs: BTreeMap<i64, BTreeMap<usize, &CommandCost>> = BTreeMap::new();
        for launch in launches.iter().filter(|launch| launch.block >= 0) {
            costs
                .entry(launch.block)
                .or_default()
                .extend(launch.cost.as_ref().map(|cost| (launch.arm, cost)));
        }
        Blocks { costs, level }
    }

    /// Costs of an arm in the order of its blocks.
    pub fn series(&self, arm: usize, measure: Measure) -> Vec<f64> {
        self.costs
            .values()
            .filter_map(|block| Some(measured_cost(block.get(&arm)?, measure)))
            .collect()
    }

    /// Baseline and arm, a pair for each block that has both.
    fn pairs(&self, arm: usize, measure: Measure) -> Vec<(f64, f64)> {
        let mut pairs = Vec::new();
        for block in self.costs.values() {
            if let (Some(base), Some(cost)) = (block.get(&0), block.get(&arm)) {
                pairs.push((measured_cost(base, measure), measured_cost(cost, measure)));
            }
        }
        pairs
    }

    pub fn ratio_at(&self, arm: usize, measure: Measure, level: f64) -> Option<Ratio> {
        let logs: Vec<f64> = self
            .pairs(arm, measure)
            .iter()
            .map(|(base, cost)| (cost / base).ln())
            .collect();
        // A cost below the clock's resolution is recorded as zero and has no ratio; its difference is known all the same.
        if logs.len() >= LEAST_LAUNCHES && logs.iter().all(|log| log.is_finite()) {
            of_series(&logs, level)
        } else {
            None
        }
    }

    pub fn ratio(&self, arm: usize, measure: Measure) -> Option<Ratio> {
        self.ratio_at(arm, measure, self.level)
    }

    pub fn change(&self, arm: usize, measure: Measure) -> Option<Amount> {
        let differences: Vec<f64> = self
            .pairs(arm, measure)
            .iter()
            .map(|(base, cost)| cost - base)
            .collect();
        let interval = t_interval(&differences, self.level)
            .ok()
            .filter(|i| i.n >= LEAST_LAUNCHES)?;
        Some(Amount {
            value: interval.estimate,
            low: interval.low,
            high: interval.high,
        })
    }

    /// The ratio of the arm's mean to the baseline's. The split of a change into user and kernel is of the same means.
    pub fn mean_ratio(&self, arm: usize, measure: Measure) -> Option<Amount> {
        let change = self.change(arm, measure)?;
        let bases: Vec<f64> = self
            .pairs(arm, measure)
            .iter()
            .map(|(base, _)| *base)
            .collect();
        let (base, _) = mean_and_deviation(&bases)?;
        (base > 0.0).then(|| Amount {
            value: 1.0 + change.value / base,
            low: 1.0 + change.low / base,
            high: 1.0 + change.high / base,
        })
    }

    /// Blocks with the first and the last arm; an interrupted block is not whole.
    pub fn whole(&self, arms: usize) -> usize {
        self.costs
            .values()
            .filter(|block| block.contains_key(&0) && block.contains_key(&(arms - 1)))
            .count()
    }
}

/// A launch's cost in the measure's unit: seconds, bytes or faults.
fn measured_cost(cost: &CommandCost, measure: Measure) -> f64 {
    match measure {
        Measure::Cpu => cost.cpu_s(),
        Measure::User => cost.user_us as f64 * 1e-6,
        Measure::Kernel => cost.kernel_s(),
        Measure::Wall => cost.wall_ns as f64 * 1e-9,
        Measure::MaxRss => cost.max_rss_kib as f64 * 1024.0,
        Measure::Faults => cost.minor_faults as f64,
        Measure::Rss => watched_bytes(cost, |moment| moment.rss_kib),
        Measure::Pss => watched_bytes(cost, |moment| moment.pss_kib),
        Measure::Huge => watched_bytes(cost, |moment| moment.huge_kib),
        Measure::Refaults => {
            let last = cost.watched.as_ref().and_then(|seen| seen.moments.last());
            last.map_or(0.0, |moment| moment.refaults as f64)
        }
    }
}

/// Mean over the time of a launch, in bytes.
fn watched_bytes(cost: &CommandCost, kib: fn(&WatchedMoment) -> u64) -> f64 {
    let watched = cost.watched.as_ref();
    watched.map_or(0.0, |seen| seen.mean(kib) * 1024.0)
}
