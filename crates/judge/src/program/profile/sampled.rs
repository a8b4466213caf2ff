//! The command's time in the kernel by samples, and what it says of prices that were measured in a fresh process.

use super::blocks::{ProfileBlock, half_width, typical};
use super::counts::{Counted, ended};
use record::command::{
    Amount, Consistency, CostLine, EventFamily, KernelPart, KernelWork, LaunchMode, MemoryEvent,
};
use record::command::{CommandCost, CommandLaunch};
use std::collections::BTreeMap;

/// Share of a family's time that a kind without a count may take: then counts and samples name different kinds.
const UNCOUNTED: f64 = 0.1;
/// Samples of a kind from which on it has a factor of its own, instead of its family's.
const OF_KIND: u64 = 20;
/// Time that the kernel's clock, which has some 250 ticks in a second, measures to a tenth or two.
const LEAST_CLOCK_S: f64 = 0.2;
/// Share of the kernel's time by its clock below which samples have missed some.
const UNMET: f64 = 0.7;
/// Factor of a kind relative to its family's from which on its samples are of other faults than its counts.
const FAR: f64 = 10.0;
/// Half-widths of a normal interval at 95 %.
const NORMAL: f64 = 1.96;
/// Share of CPU time below which a part has no line.
const LEAST_SHARE: f64 = 0.002;

/// Samples of the kernel's time over all launches that have some.
pub(super) struct SampledKernel {
    samples: BTreeMap<(MemoryEvent, String), u64>,
    /// CPU time of an unobserved launch that a sample stands for.
    each_s: f64,
    /// CPU time of an unobserved launch.
    cpu_s: f64,
    /// True if no stretch of a process is without samples.
    pub is_whole: bool,
}

impl SampledKernel {
    /// `None` where the kernel's time was not sampled, or too few samples met it.
    pub fn new(launches: &[CommandLaunch], blocks: &[ProfileBlock]) -> Option<SampledKernel> {
        let sampled: Vec<(&CommandCost, &KernelWork)> = ended(launches, LaunchMode::Sampled)
            .filter_map(|cost| Some((cost, cost.kernel_work.as_ref()?)))
            .collect();
        let mut samples: BTreeMap<(MemoryEvent, String), u64> = BTreeMap::new();
        let (mut seen, mut lost) = (0_u64, 0_u64);
        for (_, work) in &sampled {
            lost = lost.saturating_add(work.lost);
            seen = seen.saturating_add(work.seen());
            for part in &work.parts {
                let count = samples.entry((part.event, part.call.clone())).or_default();
                *count = count.saturating_add(part.samples);
            }
        }
        if seen < KernelWork::LEAST || blocks.is_empty() {
            return None;
        }
        let mean = |sum: f64, count: usize| sum / count as f64;
        let plain_s = mean(
            blocks.iter().map(|block| block.plain.cpu_s()).sum(),
            blocks.len(),
        );
        let sampled_s = mean(
            sampled.iter().map(|(cost, _)| cost.cpu_s()).sum(),
            sampled.len(),
        );
        let period_s = sampled.first()?.1.period_ns as f64 * 1e-9;
        // Samples are lost where stacks come faster than they are read, which is everywhere alike.
        let unlost = 1.0 + lost as f64 / seen as f64;
        let slower = (sampled_s / plain_s.max(1e-9)).max(1.0);
        let cpu_s = plain_s.max(1e-9);
        let each_s = period_s * unlost / slower / sampled.len() as f64;
        let mut kernel = SampledKernel {
            samples,
            each_s,
            cpu_s,
            is_whole: sampled.iter().all(|(_, work)| work.whole),
        };
        // Of processes and threads that live no longer than from sample to sample little is met: then the kernel's clock has
        // the sum, and samples divide it.
        let clock_s: f64 = blocks.iter().map(|block| block.plain.kernel_s()).sum();
        let all = kernel.all().max(1) as f64;
        let clock_each_s = clock_s / blocks.len() as f64 / all;
        let is_clock_known = clock_s >= LEAST_CLOCK_S;
        if is_clock_known && each_s < UNMET * clock_each_s {
            kernel.each_s = clock_each_s;
        }
        // The kernel's part is no more than the whole.
        kernel.each_s = kernel.each_s.min(cpu_s / all);
        Some(kernel)
    }

    /// All samples.
    pub fn all(&self) -> u64 {
        self.count(|_, _| true)
    }

    fn count(&self, takes_part: impl Fn(MemoryEvent, &str) -> bool) -> u64 {
        self.samples
            .iter()
            .filter(|((event, call), _)| takes_part(*event, call))
            .fold(0, |sum, (_, samples)| sum.saturating_add(*samples))
    }

    /// CPU time of some work in a run, with the interval of a Poisson count.
    pub fn cost(&self, takes_part: impl Fn(MemoryEvent, &str) -> bool) -> CostLine {
        let samples = self.count(takes_part) as f64;
        let half = NORMAL * samples.max(1.0).sqrt();
        let [value, low, high] =
            [samples, (samples - half).max(0.0), samples + half].map(|count| count * self.each_s);
        let share = |seconds: f64| (seconds / self.cpu_s).min(1.0);
        CostLine {
            seconds: Amount { value, low, high },
            share: Amount {
                value: share(value),
                low: share(low),
                high: share(high),
            },
        }
    }

    /// Parts of the kernel's time, the largest first, without those that are hardly any.
    pub fn parts(&self) -> Vec<KernelPart> {
        let mut parts: Vec<KernelPart> = self
            .samples
            .keys()
            .map(|(event, call)| KernelPart {
                event: *event,
                call: call.clone(),
                cost: self.cost(|e, c| e == *event && c == call),
            })
            .filter(|part| part.cost.share.value >= LEAST_SHARE)
            .collect();
        parts.sort_by(|a, b| b.cost.seconds.value.total_cmp(&a.cost.seconds.value));
        parts
    }

    /// The system call that takes most of the time of some events.
    pub fn dearest_call(&self, takes_part: impl Fn(MemoryEvent) -> bool) -> Option<&str> {
        let calls = self.samples.iter();
        let calls = calls.filter(|((event, call), _)| takes_part(*event) && !call.is_empty());
        let mut by_call: BTreeMap<&str, u64> = BTreeMap::new();
        for ((_, call), samples) in calls {
            let count = by_call.entry(call).or_default();
            *count = count.saturating_add(*samples);
        }
        let dearest = by_call.into_iter().max_by_key(|(_, samples)| *samples);
        dearest.map(|(call, _)| call)
    }

    /// The measured cost of each event relative to its price in a fresh process.
    pub fn factors(
        &self,
        blocks: &[ProfileBlock],
        counted: &Counted,
    ) -> BTreeMap<MemoryEvent, f64> {
        let mut factors = BTreeMap::new();
        for family in [
            EventFamily::Faults,
            EventFamily::Freeing,
            EventFamily::Calls,
        ] {
            let priced_s = fresh_cost_s(blocks, counted, |event| event.family() == family);
            if priced_s <= 0.0 {
                continue;
            }
            let events = counted.shown.events.iter();
            let kinds: Vec<MemoryEvent> = events
                .filter(|(event, count)| event.family() == family && **count > 0.0)
                .map(|(event, _)| *event)
                .collect();
            let measured_s = self.seconds(|event| event.family() == family);
            let uncounted_s = self.seconds(|event| {
                event.family() == family && kinds.iter().all(|kind| kind.sampled() != event)
            });
            for &kind in &kinds {
                let kind_s =
                    fresh_cost_s(blocks, counted, |event| event.sampled() == kind.sampled());
                let is_resolved = self.count(|event, _| event == kind.sampled()) >= OF_KIND
                    && uncounted_s <= UNCOUNTED * measured_s;
                let of_family = measured_s / priced_s;
                let of_kind = self.seconds(|event| event == kind.sampled()) / kind_s.max(1e-12);
                let is_of_kind = is_resolved && kind_s > 0.0 && of_kind <= FAR * of_family;
                factors.insert(kind, if is_of_kind { of_kind } else { of_family });
            }
        }
        factors
    }

    fn seconds(&self, takes_part: impl Fn(MemoryEvent) -> bool) -> f64 {
        self.cost(|event, _| takes_part(event)).seconds.value
    }
}

/// Seconds of some events in a run by the prices of a fresh process, as predictions take them: a prediction is then the measured
/// cost of what goes away, whatever these prices are.
fn fresh_cost_s(
    blocks: &[ProfileBlock],
    counted: &Counted,
    takes_part: impl Fn(MemoryEvent) -> bool,
) -> f64 {
    typical(
        blocks
            .iter()
            .map(|block| block.fresh_cost_s(counted, &takes_part)),
    )
}

/// The factor of page faults as it is shown: their measured cost relative to that by the prices of a fresh process.
pub(super) fn shown_factor(
    sampled: &SampledKernel,
    blocks: &[ProfileBlock],
    counted: &Counted,
) -> Option<Amount> {
    let is_fault = |event: MemoryEvent| event.family() == EventFamily::Faults;
    let priced = super::amount(
        blocks
            .iter()
            .map(|block| block.fresh_cost_s(counted, is_fault)),
    )
    .filter(|priced| priced.value > 0.0)?;
    let measured = sampled.cost(|event, _| is_fault(event)).seconds;
    let value = measured.value / priced.value;
    let spread = half_width(priced).hypot(half_width(measured));
    Some(Amount {
        value,
        low: value * (1.0 - spread).max(0.0),
        high: value * (1.0 + spread),
    })
}

/// The factor where the kernel's time was not sampled and prices explain more than all of it: that time bounds their cost.
pub(super) fn bounding_factor(consistency: &Consistency) -> Amount {
    let Amount { value, low, high } = consistency.explained;
    Amount {
        value: 1.0 / value,
        low: 0.0,
        high: (1.0 / low.max(1.0)).max(1.0 / high),
    }
}
