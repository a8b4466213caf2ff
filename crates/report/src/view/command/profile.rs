//! A profile as a document: counts, their cost, agreement with the command's time, and settings worth a try.

use super::kernel::WORTH;
use super::{
    advice, bounds, count, digits, kernel, machine, notes, places, reason, seconds, signed,
};
use crate::render::document::{Block, Document, Place, TableCell};
use crate::render::escape::shell;
use crate::sentences::phrases;
use crate::tables::columns::Columns;
use minijinja::{Value, context};
use record::command::{
    Amount, Consistency, CostLine, FollowingCost, MemoryEvent, Price, ProfileSummary,
};
use record::{outcome::Status, sizes::about_size};

/// Rows of the table; what is left out is in --json.
const ROWS: usize = 10;
/// Share of CPU time in the kernel without an explanation from which on nothing is said to cost little.
const UNTOLD: f64 = 0.2;
/// A smaller share of CPU time is not worth a sentence.
const LEAST: f64 = 0.001;
/// Lines of advice on the first screen, and lines of the tree of functions with them: a screen of 24 lines has all.
const LINES: usize = 3;
const TREE: usize = 7;
/// Major page faults of a run from which on they, which wait for a device, may be its cost instead of CPU time.
const MANY_MAJOR: f64 = 100.0;

pub(super) fn document(summary: &ProfileSummary) -> Document {
    let plan = &summary.plan;
    let mut blocks: Vec<Block> = Vec::new();
    if summary.outcome == Status::Failed {
        blocks.push(Block::Answer(format!(
            "It could not be profiled: {}.",
            reason(summary.failure.as_ref())
        )));
    } else {
        blocks.extend(verdict(summary).map(Block::Answer));
        blocks.extend(
            counted(summary)
                .into_iter()
                .chain(kernel::sentence(summary))
                .map(Block::Text),
        );
    }
    if summary.outcome == Status::Untrusted {
        blocks.push(Block::Answer(format!(
            "Not to be trusted, so no costs: {}.",
            reason(summary.failure.as_ref())
        )));
    }
    let mut repeat = vec![format!("pagewise report {}", plan.run)];
    let next = next_command(summary).filter(|_| summary.outcome == Status::Ok);
    if summary.outcome == Status::Ok {
        let mut lines = advice::lines(summary);
        if lines.is_empty() {
            lines.extend(advice::nothing(summary));
        }
        let further = lines.split_off(lines.len().min(LINES));
        let most = TREE.saturating_sub(lines.len());
        blocks.extend(places::blocks(summary, most));
        blocks.extend(Block::list("What to do", lines));
        let further = Block::list("", further).into_iter();
        blocks.extend(Block::part("", Place::Full, further.collect()));
        blocks.extend(Block::part("", Place::Full, behind(summary, most)));
        repeat.splice(0..0, next.clone());
    }
    blocks.extend(notes(&summary.notes));
    if let Some(next) = next {
        let settles = vec![Block::text("What settles it:"), Block::Commands(vec![next])];
        blocks.extend(Block::part("", Place::Screen, settles));
    }
    Document::new(
        "profile",
        [
            plan.arms[0].shown.clone(),
            plan.run.clone(),
            plan.created.clone(),
        ],
    )
    .section("answers", "Answers", Place::Everywhere, blocks)
    .section("machine", "Machine", Place::Page, machine(plan))
    .section(
        "repeat",
        "What settles it",
        Place::Page,
        vec![Block::Commands(repeat)],
    )
}

/// Tables and sentences behind the answer, whose tree has so many lines at most.
fn behind(summary: &ProfileSummary, most: usize) -> Vec<Block> {
    let rest = summary.prices.len().saturating_sub(ROWS);
    let mut blocks: Vec<Block> = places::whole_tree(summary, most);
    blocks.extend(mappings(summary).map(Block::Text));
    blocks.extend(kernel::table(summary));
    blocks.extend(table(&summary.prices));
    blocks.extend((rest > 0).then(|| Block::Text(format!("({rest} smaller kinds: --json)"))));
    blocks.extend(costs(summary).into_iter().map(Block::Text));
    blocks
}

/// What stands first, before more runs make it surer.
pub(super) fn first(summary: &ProfileSummary) -> Vec<Block> {
    let counted = counted(summary).into_iter().map(Block::Text);
    let verdict = verdict(summary).map(Block::Answer);
    verdict.into_iter().chain(counted).collect()
}

/// The answer in one sentence: how much there is to gain, from what, and where.
pub(super) fn verdict(summary: &ProfileSummary) -> Option<String> {
    if summary.outcome != Status::Ok {
        return None;
    }
    let Some(largest) = kernel::largest(summary) else {
        // Without an interval there is the count.
        let faults = count(summary.counts.as_ref()?.minor_faults);
        return Some(format!(
            "A run has {faults} page faults; too few runs tell what they cost."
        ));
    };
    let Amount { value, low, high } = largest.share;
    let [whole, low_percent, high_percent] =
        [value, low, high].map(|s| format!("{:.0}", 100.0 * s.clamp(0.0, 1.0)));
    let name = &largest.name;
    let may_translate = summary.worth_a_try().any(|c| c.huge_pages > 0.0);
    let counts = summary.counts.as_ref();
    let major = counts.map_or(0.0, |counts| counts.major_faults);
    Some(
        if let Some(untold) = untold(summary).filter(|_| high < WORTH) {
            format!(
                "At least {:.0} % of CPU is the kernel's, hardly page faults, and too few samples tell what it is.",
                100.0 * untold.min(1.0)
            )
        } else if high < WORTH && major >= MANY_MAJOR {
            format!(
                "The kernel costs little CPU ({whole} % is {name}), but {} page faults wait for a device: of files that are not cached, or of swapped memory.",
                count(major)
            )
        } else if high < WORTH && may_translate {
            format!(
                "The kernel costs little ({whole} % of CPU is {name}); huge pages may still save address translation."
            )
        } else if high < WORTH {
            format!("Not memory-bound ({whole} % of CPU is {name}): stop here.")
        } else if !largest.is_memory {
            format!("{whole} % of CPU is {name}: the kernel's work, but not memory.")
        } else if low >= WORTH && largest.is_least {
            format!("At least {low_percent} % of CPU is {name}: worth acting.")
        } else if low >= WORTH {
            format!("{whole} % of CPU is {name}: worth acting.")
        } else {
            format!("{low_percent} to {high_percent} % of CPU is {name}: perhaps worth acting.")
        },
    )
}

/// Share of CPU time that the kernel's clock has and neither samples nor prices explain, where it is much: threads that live
/// shortly meet no sample.
fn untold(summary: &ProfileSummary) -> Option<f64> {
    let (kernel, cpu) = (summary.kernel_s?, summary.cpu_s?);
    let priced = [summary.faults, summary.freeing, summary.calls];
    let priced_s: f64 = priced.iter().flatten().map(|cost| cost.seconds.high).sum();
    let untold = (kernel.low - priced_s) / cpu.value.max(1e-9);
    (summary.kernel.is_empty() && untold >= UNTOLD).then_some(untold)
}

fn counted(summary: &ProfileSummary) -> Vec<String> {
    let Some(counts) = &summary.counts else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    if let Some(cpu) = &summary.cpu_s {
        parts.push(format!("CPU {} ({})", seconds(cpu.value), bounds(cpu)));
    }
    if let Some(kernel) = &summary.kernel_s {
        parts.push(format!(
            "kernel {} ({})",
            seconds(kernel.value),
            bounds(kernel)
        ));
    }
    parts.push(format!("{} page faults", count(counts.minor_faults)));
    parts.push(format!("{} switches", count(counts.switches)));
    parts.push(format!(
        "{} resident at most",
        about_size(counts.max_rss_bytes)
    ));
    let unit = summary
        .window_s()
        .map_or("run".to_owned(), |[followed_s, _]| {
            format!("window of {}", seconds(followed_s))
        });
    vec![format!(
        "A {unit}, by {} {}: {}.",
        summary.blocks,
        if summary.blocks == 1 {
            "block"
        } else {
            "blocks"
        },
        parts.join(", ")
    )]
}

/// A price of less than a nanosecond is told for a KiB.
fn each(price: &Price) -> String {
    let is_bytes = matches!(price.kind, MemoryEvent::ReadBytes | MemoryEvent::WriteBytes);
    let unit = if is_bytes { " a KiB" } else { "" };
    let factor = if is_bytes { 1024.0 } else { 1.0 };
    let steady = if price.unsteady { ", unsteady" } else { "" };
    let [low, high] = [price.each_s.low, price.each_s.high].map(|s| seconds(s * factor));
    format!("{low} to {high}{unit}{steady}")
}

/// Cost of all events of a kind, with its interval.
fn together(price: &Price) -> String {
    format!(
        "{} ({})",
        seconds(price.together_s.value),
        bounds(&price.together_s)
    )
}

fn table(prices: &[Price]) -> Option<Block> {
    let table = Columns::new("event", |price: &Price| {
        phrases::phrase("event", &price.kind, Value::UNDEFINED)
    })
    .number("count", |price| {
        TableCell::number(count(price.count), Some(price.count))
    })
    .number("each", |price| {
        TableCell::number(each(price), Some(price.each_s.value))
    })
    .number("together", |price| {
        TableCell::number(together(price), Some(price.together_s.value))
    })
    .table(
        "Memory events of a run, the cost of each, and of all together",
        prices.iter().take(ROWS),
    );
    (!prices.is_empty()).then_some(Block::Table(table))
}

fn line(what: &str, line: &CostLine, summary: &ProfileSummary) -> String {
    let cpu = summary
        .cpu_s
        .map_or_else(String::new, |cpu| format!(" of {} CPU", seconds(cpu.value)));
    format!(
        "{what} cost this program about {}{cpu} ({} %, {}–{}).",
        seconds(line.seconds.value),
        percent(line.share.value),
        percent(line.share.low),
        percent(line.share.high)
    )
}

fn percent(share: f64) -> String {
    digits(100.0 * share)
}

fn costs(summary: &ProfileSummary) -> Vec<String> {
    let lines = [
        ("Page faults", &summary.faults),
        ("Giving pages back", &summary.freeing),
        ("Read and write calls", &summary.calls),
    ];
    let mut sentences: Vec<String> = lines
        .iter()
        .filter_map(|(what, cost)| {
            cost.as_ref()
                .filter(|cost| cost.share.high >= LEAST)
                .map(|cost| line(what, cost, summary))
        })
        .collect();
    if let Some(cost) = &summary.consistency {
        sentences.push(agreement(cost, summary));
        sentences.extend(cost.factor.map(factor));
    }
    sentences.extend(summary.following.as_ref().map(following));
    sentences.extend(shortened(summary));
    if let Some(over) = &summary.overhead {
        sentences.push(format!(
            "Following each fault changed CPU time by {} % ({} to {}); the costs are of runs without it.",
            signed(over.value),
            signed(over.low),
            signed(over.high)
        ));
    }
    sentences
}

/// Windows that were shorter than planned, for the sake of the process.
fn shortened(summary: &ProfileSummary) -> Option<String> {
    let [followed_s, planned_s] = summary.window_s()?;
    (followed_s < 0.9 * planned_s).then(|| {
        format!(
            "Page faults were followed for {} of each {}, as following takes the process time at each context switch.",
            seconds(followed_s),
            seconds(planned_s)
        )
    })
}

/// What it took to follow a process that ran already.
fn following(cost: &FollowingCost) -> String {
    let share = cost.observer_cpu_s / cost.followed_s.max(1e-9);
    format!(
        "Following it for {} recorded {} page faults, {} of their stacks and {} samples of the kernel's time; that took {} of another processor ({} %).",
        seconds(cost.followed_s),
        count(cost.records as f64),
        count(cost.stacks as f64),
        count(cost.samples as f64),
        seconds(cost.observer_cpu_s),
        percent(share)
    )
}

fn agreement(consistency: &Consistency, summary: &ProfileSummary) -> String {
    let Amount { value, low, high } = consistency.explained;
    let kernel = summary
        .kernel_s
        .map_or_else(String::new, |k| format!(" of {}", seconds(k.value)));
    let limits = format!(
        "{} %, {}–{}, of its own kernel time{kernel}",
        percent(value),
        percent(low),
        percent(high)
    );
    phrases::phrase("agreement", &consistency.agreement, context! { limits })
}

/// Scaling of the prices by what the program's own time tells.
fn factor(factor: Amount) -> String {
    format!(
        "By its own time in the kernel page faults cost {:.2} times as much here as in a fresh process ({:.2}–{:.2}); all costs and predictions are scaled by that.",
        factor.value, factor.low, factor.high
    )
}

/// Calls that change mappings, in one sentence.
fn mappings(summary: &ProfileSummary) -> Option<String> {
    let mut parts = Vec::new();
    for (name, number) in &summary.mappings {
        let value = *number as f64;
        match name.strip_suffix("_bytes") {
            _ if *number == 0 => {}
            Some(what) => parts.push(format!("{} {what}", about_size(value))),
            None => parts.push(format!("{} {name}", count(value))),
        }
    }
    let library = &summary.allocator;
    let allocator = if library.is_empty() {
        String::new()
    } else {
        format!(" Its allocator is {library}.")
    };
    (!parts.is_empty()).then(|| format!("Mappings: {}.{allocator}", parts.join(", ")))
}

/// The command that tries what the answer names; `None` where it names nothing.
fn next_command(summary: &ProfileSummary) -> Option<String> {
    let named = summary.named_settings();
    if named.is_empty() {
        return None;
    }
    let plan = &summary.plan;
    let input = plan.input.as_ref().map_or_else(String::new, |p| {
        format!(" --input {}", shell(&p.to_string_lossy()))
    });
    let arm = &plan.arms[0];
    let command = match arm.command.first().map(String::as_str) {
        // A process that runs already may have written over its own command line.
        _ if plan.attached.is_some() && is_rewritten(&arm.command) => "COMMAND".to_owned(),
        Some("/bin/sh") if arm.shown != arm.command.join(" ") => shell(&arm.shown),
        _ => arm
            .command
            .iter()
            .map(|w| shell(w))
            .collect::<Vec<_>>()
            .join(" "),
    };
    Some(format!(
        "pagewise try --with {}{input} -- {command}",
        named.join(",")
    ))
}

/// True if the words of a process are a title that it gave itself: one word with spaces, or empty ones at the end.
fn is_rewritten(command: &[String]) -> bool {
    command.first().is_some_and(|word| word.contains(' '))
        || command.last().is_some_and(String::is_empty)
}
