//! A profile's time in the kernel by the work done there.

use super::{bounds, count, places, seconds};
use crate::render::document::{Block, TableCell};
use crate::sentences::phrases;
use crate::tables::columns::Columns;
use minijinja::Value;
use record::command::{Amount, CostLine, EventFamily, KernelPart, MemoryEvent, ProfileSummary};

/// A share of CPU time from which on it is worth acting.
pub(super) const WORTH: f64 = 0.05;
/// Share of the kernel's time below which a part is not named in the sentence, and parts that are named.
const LEAST: f64 = 0.03;
const NAMED: usize = 5;
/// Share of the kernel's time below which all of it counts as explained.
const UNEXPLAINED: f64 = 0.1;

/// The largest part of a command's cost.
pub(super) struct Largest {
    /// True if the share is a lower bound: the first stretch of each process has no sample.
    pub is_least: bool,
    pub share: Amount,
    pub name: String,
    /// False for work of the kernel that no change of memory saves.
    pub is_memory: bool,
}

/// WorkGroup that belongs together in an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WorkGroup {
    Faults,
    Freeing,
    Calls,
    Forking,
    /// Start and end of many processes that do little else.
    Processes,
    Other(MemoryEvent),
}

impl WorkGroup {
    fn new(part: &KernelPart, is_forking: bool, is_of_short: bool) -> WorkGroup {
        match part.event.family() {
            _ if is_of_short && part.event.is_of_short_process(&part.call) => WorkGroup::Processes,
            EventFamily::Faults => WorkGroup::Faults,
            // A program that is executed throws away what the fork had copied.
            EventFamily::Freeing if is_forking && part.call == "execve" => WorkGroup::Forking,
            EventFamily::Freeing => WorkGroup::Freeing,
            EventFamily::Calls => WorkGroup::Calls,
            EventFamily::Kernel if part.event == MemoryEvent::Fork => WorkGroup::Forking,
            EventFamily::Kernel => WorkGroup::Other(part.event),
        }
    }

    fn is_memory(self) -> bool {
        use MemoryEvent::{
            Interrupt, Kernel, PageCache, Signal, Start, Switch, SystemCall, WriteBack,
        };
        !matches!(
            self,
            WorkGroup::Other(
                SystemCall | Kernel | Interrupt | Switch | Start | PageCache | WriteBack | Signal
            )
        )
    }

    /// True if stacks of this event belong to it.
    fn has(self, event: MemoryEvent) -> bool {
        match self {
            WorkGroup::Faults => event.family() == EventFamily::Faults,
            WorkGroup::Freeing => event.family() == EventFamily::Freeing,
            WorkGroup::Calls => event.family() == EventFamily::Calls,
            WorkGroup::Forking => event == MemoryEvent::Fork,
            WorkGroup::Processes => {
                matches!(
                    event,
                    MemoryEvent::Fork | MemoryEvent::Start | MemoryEvent::Exec
                )
            }
            WorkGroup::Other(other) => event == other,
        }
    }

    fn name(self, summary: &ProfileSummary) -> String {
        match self {
            WorkGroup::Faults => fault_words(summary).to_owned(),
            WorkGroup::Freeing => "giving pages back".to_owned(),
            WorkGroup::Calls => "read and write calls".to_owned(),
            WorkGroup::Forking => phrase(MemoryEvent::Fork),
            WorkGroup::Processes => {
                let counts = summary.counts.as_ref();
                let processes = counts.map_or(0.0, |counts| counts.processes);
                format!("starting and ending {} processes", count(processes))
            }
            WorkGroup::Other(MemoryEvent::SystemCall) => {
                let is_named = |part: &&KernelPart| {
                    part.event == MemoryEvent::SystemCall && !part.call.is_empty()
                };
                let dearest = summary.kernel.iter().find(is_named);
                dearest.map_or_else(
                    || phrase(MemoryEvent::SystemCall),
                    |part| format!("system calls such as {}", part.call),
                )
            }
            WorkGroup::Other(event) => phrase(event),
        }
    }
}

fn phrase(event: MemoryEvent) -> String {
    phrases::phrase("event", &event, Value::UNDEFINED)
}

/// Adds a part: counts of samples are independent, so the squares of their half-widths add up.
fn add(sum: &mut CostLine, cost: &CostLine) {
    for (sum, cost) in [
        (&mut sum.seconds, &cost.seconds),
        (&mut sum.share, &cost.share),
    ] {
        let half = (sum.high - sum.value).hypot(cost.high - cost.value);
        sum.value += cost.value;
        sum.low = (sum.value - half).max(0.0);
        sum.high = sum.value + half;
    }
}

/// Costs by work.
#[derive(Default)]
struct WorkCosts(Vec<(WorkGroup, CostLine)>);

impl WorkCosts {
    fn add(&mut self, work: WorkGroup, cost: &CostLine) {
        match self.0.iter_mut().find(|(known, _)| *known == work) {
            Some((_, sum)) => add(sum, cost),
            None => self.0.push((work, *cost)),
        }
    }
}

/// Costs by work, the largest first. Without samples it is what was priced.
fn costs(summary: &ProfileSummary) -> Vec<(WorkGroup, CostLine)> {
    let mut costs = WorkCosts::default();
    let is_forking = summary.kernel.iter().any(|p| p.event == MemoryEvent::Fork);
    let cpu_s = summary.cpu_s.map_or(0.0, |cpu_s| cpu_s.value);
    let counts = summary.counts.as_ref();
    let is_of_short = counts.is_some_and(|counts| counts.is_of_short_processes(cpu_s));
    for part in &summary.kernel {
        let work = WorkGroup::new(part, is_forking, is_of_short);
        costs.add(work, &part.cost);
    }
    if summary.kernel.is_empty() {
        let priced = [
            (WorkGroup::Faults, summary.faults),
            (WorkGroup::Freeing, summary.freeing),
            (WorkGroup::Calls, summary.calls),
        ];
        for (work, cost) in priced {
            if let Some(cost) = &cost {
                costs.add(work, cost);
            }
        }
    }
    let WorkCosts(mut costs) = costs;
    costs.sort_by(|a, b| b.1.seconds.value.total_cmp(&a.1.seconds.value));
    costs
}

/// The part that costs most, with the function that causes it.
pub(super) fn largest(summary: &ProfileSummary) -> Option<Largest> {
    let (work, cost) = costs(summary).into_iter().next()?;
    let at = places::main_place(summary, |event| work.has(event));
    let at = at.map_or_else(String::new, |place| format!(" in {}", place.function));
    Some(Largest {
        is_least: work == WorkGroup::Processes && !summary.kernel_whole,
        share: cost.share,
        name: format!("{}{at}", work.name(summary)),
        is_memory: work.is_memory(),
    })
}

/// The division of the kernel's time, in one sentence.
pub(super) fn sentence(summary: &ProfileSummary) -> Option<String> {
    let costs = costs(summary);
    let total_s: f64 = costs.iter().map(|(_, cost)| cost.seconds.value).sum();
    if summary.kernel.is_empty() || total_s <= 0.0 {
        return None;
    }
    let share = |cost: &CostLine| cost.seconds.value / total_s;
    let mut parts: Vec<String> = costs
        .iter()
        .filter(|(_, cost)| share(cost) >= LEAST)
        .take(NAMED)
        .map(|(work, cost)| format!("{} {:.0} %", work.name(summary), 100.0 * share(cost)))
        .collect();
    let unnamed = costs
        .iter()
        .find(|(work, _)| *work == WorkGroup::Other(MemoryEvent::Kernel))
        .map_or(0.0, |(_, cost)| share(cost));
    if unnamed > UNEXPLAINED {
        parts.push("what no function tells is not explained".to_owned());
    }
    let is_of_short = costs.iter().any(|(work, _)| *work == WorkGroup::Processes);
    let is_least = is_of_short && !summary.kernel_whole;
    let least = if is_least { "at least " } else { "" };
    Some(format!(
        "Kernel time, {least}{} by samples: {}.",
        seconds(total_s),
        parts.join(", ")
    ))
}

/// The parts of the kernel's time with the calls that enter it.
pub(super) fn table(summary: &ProfileSummary) -> Option<Block> {
    let table = Columns::new("work of the kernel", |part: &KernelPart| phrase(part.event))
        .text("call", |part| part.call.clone())
        .number("CPU time", |part| {
            let cost = &part.cost.seconds;
            TableCell::number(
                format!("{} ({})", seconds(cost.value), bounds(cost)),
                Some(cost.value),
            )
        })
        .table(
            "Time in the kernel by the work done there and the system call that enters it, by samples of a run",
            &summary.kernel,
        );
    (!summary.kernel.is_empty()).then_some(Block::Table(table))
}

/// The kind of most page faults' cost.
fn fault_words(summary: &ProfileSummary) -> &'static str {
    use MemoryEvent::{
        Again, Anonymous, Cow, Elsewhere, File, FileWrite, Heap, Huge, InCalls, Raced, Shared,
        Stack, ZeroRead, ZeroWrite,
    };
    let kinds: [(&[MemoryEvent], &str); 9] = [
        (
            &[Heap, Anonymous, Stack, Elsewhere],
            "first-touch page faults",
        ),
        (&[Shared], "page faults on shared memory"),
        (&[Again], "page faults on memory that was given back"),
        (&[Cow], "copies after fork"),
        (
            &[ZeroRead, ZeroWrite],
            "page faults on fresh memory that is read before it is written",
        ),
        (&[Raced], "page faults of two threads on the same page"),
        (&[File, FileWrite], "page faults on mapped files"),
        (&[Huge], "faults for huge pages"),
        (&[InCalls], "page faults inside system calls"),
    ];
    let costs_s = kinds.map(|(kinds, _)| cost_s(summary, kinds));
    let total_s: f64 = costs_s.iter().sum();
    let mut named = kinds.iter().zip(costs_s);
    named
        .find(|(_, cost_s)| *cost_s > 0.5 * total_s)
        .map_or("page faults", |((_, name), _)| name)
}

/// CPU time of the events of these kinds.
fn cost_s(summary: &ProfileSummary, kinds: &[MemoryEvent]) -> f64 {
    let prices = summary.prices.iter();
    prices
        .filter(|price| kinds.contains(&price.kind))
        .map(|price| price.together_s.value)
        .sum()
}
