//! Changes of the program's own calls that its costs suggest.

use super::counts::Counted;
use super::sampled::SampledKernel;
use record::command::MemoryEvent::{
    Again, Cow, Exec, File, FileWrite, Fork, FreeBase, FreeHuge, Huge, Kernel, Lock, Map, Move,
    PageCache, Protect, Raced, Reclaim, Shootdown, Start, Switch, SystemCall, Unknown, ZeroRead,
    ZeroWrite,
};
use record::command::{Amount, CostLine, MemoryEvent, Price, Suggestion, SuggestionKind};

/// Share of CPU time from which on a change is worth a line.
const WORTH: f64 = 0.05;
/// Calls of a run from which on they are made in a loop.
const LOOP: u64 = 100;

/// KernelCosts of a profile from which advice follows.
pub(super) struct KernelCosts<'a> {
    pub sampled: Option<&'a SampledKernel>,
    pub prices: &'a [Price],
    pub counted: &'a Counted<'a>,
    pub cpu_s: f64,
}

impl KernelCosts<'_> {
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
pub(super) fn advice(costs: &KernelCosts<'_>) -> Vec<Suggestion> {
    let mut list = SuggestionList::default();
    processes(costs, &mut list);
    given_back(costs, &mut list);
    for (kind, event) in [
        (SuggestionKind::Reserve, Move),
        (SuggestionKind::ProtectLess, Protect),
        (SuggestionKind::UnmapTogether, Shootdown),
        (SuggestionKind::WaitLess, Lock),
        (SuggestionKind::MoreMemory, Reclaim),
    ] {
        list.add(kind, costs.sampled(|e, _| e == event), &[event], "");
    }
    page_faults(costs, &mut list);
    if let Some(call) = costs.sampled.and_then(SampledKernel::dearest_call) {
        let cost = costs.sampled(|event, name| {
            matches!(event, SystemCall | PageCache | Switch | Kernel) && name == call
        });
        let events = [SystemCall, PageCache, Switch];
        list.add(SuggestionKind::NotMemory, cost, &events, call);
    }
    let SuggestionList(mut advice) = list;
    advice.sort_by(|a, b| b.cost.share.value.total_cmp(&a.cost.share.value));
    advice
}

#[derive(Default)]
struct SuggestionList(Vec<Suggestion>);

impl SuggestionList {
    /// Adds a change whose cost is worth a line.
    fn add(
        &mut self,
        kind: SuggestionKind,
        cost: Option<CostLine>,
        events: &[MemoryEvent],
        call: &str,
    ) {
        let worth = cost.filter(|cost| cost.share.value >= WORTH && cost.share.low > WORTH / 2.0);
        self.0.extend(worth.map(|cost| Suggestion {
            kind,
            cost,
            events: events.to_vec(),
            call: call.to_owned(),
        }));
    }
}

/// Processes that are forked, and programs that are executed. What a fork copied is thrown away by the program executed instead.
fn processes(costs: &KernelCosts<'_>, list: &mut SuggestionList) {
    let copied = costs.sampled(|event, _| event == Fork);
    if copied.is_some_and(|cost| cost.share.low > WORTH / 2.0) {
        let cost =
            costs.sampled(|event, call| event == Fork || (event == FreeBase && call == "execve"));
        list.add(SuggestionKind::Spawn, cost, &[Fork], "");
    } else {
        let cost = costs.sampled(|event, call| {
            matches!(event, Exec | Start) || (event == FreeBase && call == "execve")
        });
        list.add(
            SuggestionKind::FewerPrograms,
            cost,
            &[Fork, Exec, Start],
            "",
        );
    }
}

/// Memory that is given back in a loop and taken again.
fn given_back(costs: &KernelCosts<'_>, list: &mut SuggestionList) {
    let (advised, unmapped) = (costs.calls("madvise"), costs.calls("munmap"));
    let again = costs.counted(&[Again]);
    let by_madvise = costs.sampled(|event, call| event == FreeBase && call == "madvise");
    let is_advised = by_madvise.is_some_and(|cost| cost.share.value >= WORTH / 2.0);
    if advised >= LOOP && (is_advised || (costs.sampled.is_none() && advised > unmapped)) {
        let cost = sum(by_madvise, again);
        list.add(SuggestionKind::KeepAdvised, cost, &[FreeBase], "madvise");
    } else if unmapped >= LOOP {
        let by_calls = costs.sampled(|event, call| {
            matches!(event, FreeBase | Map) && (call == "munmap" || call.starts_with("mmap"))
        });
        let cost = sum(by_calls, again);
        list.add(SuggestionKind::KeepMapped, cost, &[FreeBase], "munmap");
    }
}

/// Page faults of a kind that the program's own accesses decide.
fn page_faults(costs: &KernelCosts<'_>, list: &mut SuggestionList) {
    let huge = costs.sampled(|event, _| event == Huge);
    let huge = huge.or_else(|| costs.counted(&[Huge, FreeHuge]));
    list.add(SuggestionKind::SmallPages, huge, &[Huge], "");
    let raced = costs.counted(&[Raced]);
    list.add(SuggestionKind::OneThread, raced, &[Unknown], "");
    let file = costs.sampled(|event, _| event == File);
    let file = file.or_else(|| costs.counted(&[File, FileWrite]));
    list.add(SuggestionKind::ReadFile, file, &[File], "");
    let read_first = costs.counted(&[ZeroRead, ZeroWrite]);
    list.add(SuggestionKind::WriteFirst, read_first, &[Cow, Unknown], "");
}

fn sum(first: Option<CostLine>, second: Option<CostLine>) -> Option<CostLine> {
    let (Some(a), Some(b)) = (first, second) else {
        return first.or(second);
    };
    Some(CostLine {
        seconds: added(a.seconds, b.seconds, f64::INFINITY),
        share: added(a.share, b.share, 1.0),
    })
}

fn added(a: Amount, b: Amount, most: f64) -> Amount {
    Amount {
        value: (a.value + b.value).min(most),
        low: (a.low + b.low).min(most),
        high: (a.high + b.high).min(most),
    }
}
