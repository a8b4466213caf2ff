//! A profile's time in the kernel by the work done there.

use super::{bounds, places, seconds};
use crate::render::document::{Block, TableCell};
use crate::sentences::phrases;
use crate::tables::columns::Columns;
use minijinja::Value;
use record::command::{Amount, CostLine, EventFamily, KernelPart, MemoryEvent, ProfileSummary};

/// Share of the kernel's time below which a part is not named in the sentence, and parts that are named.
const LEAST: f64 = 0.03;
const NAMED: usize = 5;
/// Share of the kernel's time below which all of it counts as explained.
const UNEXPLAINED: f64 = 0.1;

/// The largest part of a command's cost.
pub(super) struct Largest {
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
    Other(MemoryEvent),
}

impl WorkGroup {
    fn new(part: &KernelPart, is_forking: bool) -> WorkGroup {
        match part.event.family() {
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
        use MemoryEvent::{Interrupt, Kernel, Start, Switch, SystemCall};
        !matches!(
            self,
            WorkGroup::Other(SystemCall | Kernel | Interrupt | Switch | Start)
        )
    }

    /// True if stacks of this event belong to it.
    fn has(self, event: MemoryEvent) -> bool {
        match self {
            WorkGroup::Faults => event.family() == EventFamily::Faults,
            WorkGroup::Freeing => event.family() == EventFamily::Freeing,
            WorkGroup::Calls => event.family() == EventFamily::Calls,
            WorkGroup::Forking => event == MemoryEvent::Fork,
            WorkGroup::Other(other) => event == other,
        }
    }

    fn name(self, summary: &ProfileSummary) -> String {
        match self {
            WorkGroup::Faults => fault_words(summary).to_owned(),
            WorkGroup::Freeing => "giving pages back".to_owned(),
            WorkGroup::Calls => "read and write calls".to_owned(),
            WorkGroup::Forking => phrase(MemoryEvent::Fork),
            WorkGroup::Other(event) => phrase(event),
        }
    }
}

fn phrase(event: MemoryEvent) -> String {
    phrases::phrase("event", &event, Value::UNDEFINED)
}

fn add(sum: &mut CostLine, cost: &CostLine) {
    for (sum, cost) in [
        (&mut sum.seconds, &cost.seconds),
        (&mut sum.share, &cost.share),
    ] {
        sum.value += cost.value;
        sum.low += cost.low;
        sum.high += cost.high;
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
    for part in &summary.kernel {
        costs.add(WorkGroup::new(part, is_forking), &part.cost);
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
    Some(format!(
        "Kernel time, {} by samples: {}.",
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
    let kinds: [(&[MemoryEvent], &str); 8] = [
        (
            &[Heap, Anonymous, Stack, Shared, Elsewhere],
            "first-touch page faults",
        ),
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
