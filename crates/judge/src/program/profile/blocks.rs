//! Blocks of a profile: a plain launch and the prices that were measured next to it.

use super::counts::{Counted, mean};
use super::launches::BlockLaunches;
use super::prices::BlockPrices;
use record::command::{
    Amount, CommandCost, CommandLaunch, CommandPlan, CostLine, EventFamily, MemoryEvent,
};
use stats::interval::{CONFIDENCE, FEWEST_LAUNCHES, LEAST_LAUNCHES};
use stats::signed_rank::signed_rank_interval;
use stats::t::t_interval;
use std::collections::{BTreeMap, BTreeSet};

/// One block: a plain launch and the prices that were measured next to it.
pub(super) struct ProfileBlock<'a> {
    pub plain: &'a CommandCost,
    /// CPU time of that launch in the kernel.
    pub kernel_s: f64,
    pub prices: BlockPrices,
    /// Faults of the plain launch per recorded fault.
    pub scale: f64,
    /// Cost of an event in this program relative to its price; 1 where the program's own time does not tell it.
    pub factors: BTreeMap<MemoryEvent, f64>,
}

impl ProfileBlock<'_> {
    /// Seconds of these events; an event without a price in this block costs nothing that is known.
    pub fn cost_s(&self, counted: &Counted, takes_part: impl Fn(MemoryEvent) -> bool) -> f64 {
        let events = counted.shown.events.iter();
        events
            .filter(|(event, _)| takes_part(**event))
            .map(|(&event, count)| self.fresh_s(event, *count) * self.factor(event))
            .sum()
    }

    /// Seconds of these events by the prices of a fresh process.
    pub fn fresh_cost_s(&self, counted: &Counted, takes_part: impl Fn(MemoryEvent) -> bool) -> f64 {
        let events = counted.shown.events.iter();
        events
            .filter(|(event, _)| takes_part(**event))
            .map(|(&event, count)| self.fresh_s(event, *count))
            .sum()
    }

    fn fresh_s(&self, event: MemoryEvent, count: f64) -> f64 {
        let scale = if event.family() == EventFamily::Calls {
            1.0
        } else {
            self.scale
        };
        count * self.prices.of_kind_or_zero(event) * scale
    }

    fn factor(&self, event: MemoryEvent) -> f64 {
        self.factors.get(&event).copied().unwrap_or(1.0)
    }

    /// Seconds of one event in this program.
    pub fn each_s(&self, event: MemoryEvent) -> Option<f64> {
        Some(self.prices.price(event)? * self.factor(event))
    }

    /// Seconds of one recorded event.
    pub fn price_s(&self, event: MemoryEvent) -> f64 {
        self.prices.of_kind_or_zero(event) * self.scale * self.factor(event)
    }
}

pub(super) fn blocks<'a>(
    plan: &CommandPlan,
    launches: &'a [CommandLaunch],
    counted: &Counted,
) -> Vec<ProfileBlock<'a>> {
    let numbers: BTreeSet<i64> = launches
        .iter()
        .map(|launch| launch.block)
        .filter(|block| *block >= 0)
        .collect();
    let mut blocks = Vec::new();
    for number in numbers {
        let launches = BlockLaunches::new(launches, number);
        let Some(plain) = launches.plain() else {
            continue;
        };
        let Some(prices) = BlockPrices::measured(plan, &launches) else {
            continue;
        };
        let scale = match counted.followed_faults() {
            Some(faults) if faults > 0.0 => plain.minor_faults as f64 / faults,
            _ => 1.0,
        };
        blocks.push(ProfileBlock {
            plain,
            kernel_s: plain.kernel_s(),
            prices,
            scale,
            factors: BTreeMap::new(),
        });
    }
    blocks
}

/// The estimate over blocks: from six on without an assumption on their distribution, with fewer by Student's, which is
/// wider; nothing below three, or where a value is none.
pub(super) fn amount(values: impl Iterator<Item = f64>) -> Option<Amount> {
    let values: Vec<f64> = values.collect();
    let interval = if values.len() < LEAST_LAUNCHES {
        t_interval(&values, CONFIDENCE)
    } else {
        signed_rank_interval(&values, CONFIDENCE)
    };
    let interval = interval
        .ok()
        .filter(|interval| interval.n >= FEWEST_LAUNCHES)?;
    // Of what is never negative Student's interval may begin below zero.
    let least = if values.iter().all(|value| *value >= 0.0) {
        0.0
    } else {
        f64::NEG_INFINITY
    };
    Some(Amount {
        value: interval.estimate,
        low: interval.low.max(least),
        high: interval.high,
    })
}

/// The estimate of what is no figure: where there are too few blocks for an interval, the mean alone.
pub(super) fn rough(values: impl Iterator<Item = f64> + Clone) -> Amount {
    let value = mean(values.clone());
    amount(values).unwrap_or(Amount {
        value,
        low: value,
        high: value,
    })
}

/// The estimate from which predictions are made, of a price or what it makes up: the lower quartile over blocks, which is one of
/// the values. A virtual machine's host that gives memory late makes some launches several times as dear, and none cheaper.
pub(super) fn typical(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let place = values.len().saturating_sub(1) / 4;
    values.get(place).copied().unwrap_or(0.0)
}

/// Half the width of an interval relative to its value.
pub(super) fn half_width(amount: Amount) -> f64 {
    (amount.high - amount.low) / 2.0 / amount.value.max(1e-9)
}

/// The cost of a family of events.
pub(super) fn line(
    blocks: &[ProfileBlock],
    counted: &Counted,
    family: EventFamily,
) -> Option<CostLine> {
    let costs_s: Vec<f64> = blocks
        .iter()
        .map(|block| block.cost_s(counted, |event| event.family() == family))
        .collect();
    let shares = blocks
        .iter()
        .zip(&costs_s)
        .map(|(block, cost_s)| (cost_s / block.plain.cpu_s().max(1e-6)).min(1.0));
    Some(CostLine {
        share: amount(shares)?,
        seconds: amount(costs_s.iter().copied())?,
    })
}
