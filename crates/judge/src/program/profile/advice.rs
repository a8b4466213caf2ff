//! Changes of the program's own calls that its costs suggest.

use super::counts::Counted;
use super::sampled::SampledKernel;
use record::command::MemoryEvent::{
    Again, Cow, Exec, File, FileWrite, Fork, FreeBase, FreeHuge, Huge, Lock, Move, PageCache,
    Protect, Raced, Reclaim, Shootdown, Start, Switch, SystemCall, ZeroRead, ZeroWrite,
};
use record::command::{Advice, AdviceKind, Amount, CostLine, MemoryEvent, Price};

/// Share of CPU time from which on a change is worth a line.
const WORTH: f64 = 0.05;
/// Calls of a run from which on they are made in a loop.
const LOOP: u64 = 100;

/// Costs of a profile from which advice follows.
pub(super) struct Costs<'a> {
    pub sampled: Option<&'a SampledKernel>,
    pub prices: &'a [Price],
    pub counted: &'a Counted<'a>,
    pub cpu_s: f64,
}

impl Costs<'_> {
    fn sampled(&self, takes_part: impl Fn(MemoryEvent, &str) -> bool) -> Option<CostLine> {
        Some(self.sampled?.cost(takes_part))
    }

    /// Cost of counted events, which samples do not tell from each other.
    fn counted(&self, events: &[MemoryEvent]) -> Option<CostLine> {
        let mut seconds = Amount {
            value: 0.0,
            low: 0.0,
            high: 0.0,
        };
        for price in self.prices.iter().filter(|p| events.contains(&p.kind)) {
            seconds.value += price.together_s.value;
            seconds.low += price.together_s.low;
            seconds.high += price.together_s.high;
        }
        let share = |s: f64| (s / self.cpu_s.max(1e-9)).min(1.0);
        let [value, low, high] = [seconds.value, seconds.low, seconds.high].map(share);
        (seconds.value > 0.0).then_some(CostLine {
            seconds,
            share: Amount { value, low, high },
        })
    }

    /// Calls of the traced launch by their name.
    fn calls(&self, name: &str) -> u64 {
        let calls = self.counted.traced.map(|faults| &faults.calls);
        calls
            .and_then(|calls| calls.get(name))
            .copied()
            .unwrap_or(0)
    }
}

/// Changes worth a line, the dearest first.
pub(super) fn advice(costs: &Costs<'_>) -> Vec<Advice> {
    let mut advice = Vec::new();
    let mut add = |kind, cost: Option<CostLine>, events: &[MemoryEvent], call: &str| {
        let cost = cost.filter(|cost| cost.share.value >= WORTH && cost.share.low > WORTH / 2.0);
        advice.extend(cost.map(|cost| Advice {
            kind,
            cost,
            events: events.to_vec(),
            call: call.to_owned(),
        }));
    };
    let forked = costs.sampled(|event, _| event == Fork);
    // What a fork copied is thrown away by the program that is executed instead.
    let is_forking = forked.is_some_and(|cost| cost.share.low > WORTH / 2.0);
    let forked =
        costs.sampled(|event, call| event == Fork || (event == FreeBase && call == "execve"));
    if is_forking {
        add(AdviceKind::Spawn, forked, &[Fork], "");
    } else {
        let cost = costs.sampled(|event, call| {
            matches!(event, Exec | Start) || (event == FreeBase && call == "execve")
        });
        add(AdviceKind::FewerPrograms, cost, &[Fork, Exec, Start], "");
    }
    let (advised, unmapped) = (costs.calls("madvise"), costs.calls("munmap"));
    let again_s = costs.counted(&[Again]);
    let freed = costs.sampled(|event, call| event == FreeBase && call == "madvise");
    let is_advised = freed.is_some_and(|cost| cost.share.value >= WORTH / 2.0);
    if advised >= LOOP && (is_advised || (costs.sampled.is_none() && advised > unmapped)) {
        let cost = sum(freed, again_s);
        add(AdviceKind::KeepAdvised, cost, &[FreeBase], "madvise");
    } else if unmapped >= LOOP {
        let freed = costs.sampled(|event, call| {
            (event == FreeBase || event == MemoryEvent::Map)
                && (call == "munmap" || call.starts_with("mmap"))
        });
        add(
            AdviceKind::KeepMapped,
            sum(freed, again_s),
            &[FreeBase],
            "munmap",
        );
    }
    let sampled_kinds: [(AdviceKind, MemoryEvent); 6] = [
        (AdviceKind::Reserve, Move),
        (AdviceKind::ProtectLess, Protect),
        (AdviceKind::UnmapTogether, Shootdown),
        (AdviceKind::WaitLess, Lock),
        (AdviceKind::MoreMemory, Reclaim),
        (AdviceKind::SmallPages, Huge),
    ];
    for (kind, event) in sampled_kinds {
        let cost = match event {
            Huge => costs
                .sampled(|e, _| e == Huge)
                .or_else(|| costs.counted(&[Huge, FreeHuge])),
            _ => costs.sampled(|e, _| e == event),
        };
        add(kind, cost, &[event], "");
    }
    add(
        AdviceKind::OneThread,
        costs.counted(&[Raced]),
        &[MemoryEvent::Unknown],
        "",
    );
    add(
        AdviceKind::ReadFile,
        costs
            .sampled(|event, _| event == File)
            .or_else(|| costs.counted(&[File, FileWrite])),
        &[File],
        "",
    );
    add(
        AdviceKind::WriteFirst,
        costs.counted(&[ZeroRead, ZeroWrite]),
        &[Cow, MemoryEvent::Unknown],
        "",
    );
    let named = costs.sampled.and_then(SampledKernel::dearest_call);
    if let Some(call) = named {
        let is_named = |event: MemoryEvent, c: &str| {
            matches!(event, SystemCall | PageCache | Switch | MemoryEvent::Kernel) && c == call
        };
        let events = [SystemCall, PageCache, Switch];
        add(
            AdviceKind::NotMemory,
            costs.sampled(is_named),
            &events,
            call,
        );
    }
    advice.sort_by(|a, b| b.cost.share.value.total_cmp(&a.cost.share.value));
    advice
}

fn sum(one: Option<CostLine>, other: Option<CostLine>) -> Option<CostLine> {
    let (Some(one), Some(other)) = (one, other) else {
        return one.or(other);
    };
    let add = |a: Amount, b: Amount, most: f64| Amount {
        value: (a.value + b.value).min(most),
        low: (a.low + b.low).min(most),
        high: (a.high + b.high).min(most),
    };
    Some(CostLine {
        seconds: add(one.seconds, other.seconds, f64::INFINITY),
        share: add(one.share, other.share, 1.0),
    })
}
