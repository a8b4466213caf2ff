//! A profile as a document: counts, their cost, agreement with the command's time, and settings worth a try.

use super::{bounds, count, digits, machine, notes, places, reason, seconds, signed};
use crate::render::document::{Block, Document, Place, TableCell};
use crate::render::escape::shell;
use crate::sentences::phrases;
use crate::tables::columns::Columns;
use minijinja::{Value, context};
use record::command::{
    Agreement, Amount, Consistency, CostLine, MemoryEvent, Price, ProfileSummary,
};
use record::{outcome::Status, sizes::about_size};

/// Rows of the table; what is left out is in --json.
const ROWS: usize = 10;
/// A share of CPU time from which on it is worth acting.
const WORTH: f64 = 0.05;
/// A smaller share of CPU time is not worth a sentence.
const LEAST: f64 = 0.001;
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
                .chain(mappings(summary))
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
    if summary.outcome == Status::Ok {
        let rest = summary.prices.len().saturating_sub(ROWS);
        blocks.extend(places::blocks(summary));
        blocks.extend(table(&summary.prices));
        blocks.extend((rest > 0).then(|| Block::Text(format!("({rest} smaller kinds: --json)"))));
        blocks.extend(
            costs(summary)
                .into_iter()
                .chain(candidates(summary))
                .map(Block::Answer),
        );
        repeat.insert(0, next_command(summary));
    }
    blocks.extend(notes(&summary.notes));
    if summary.outcome == Status::Ok {
        let settles = vec![
            Block::text("What settles it:"),
            Block::Commands(vec![next_command(summary)]),
        ];
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

/// The answer in one sentence: how much there is to gain, from what, and where.
fn verdict(summary: &ProfileSummary) -> Option<String> {
    if summary.outcome != Status::Ok
        || summary
            .consistency
            .is_some_and(|c| c.agreement == Agreement::Exceeds)
    {
        return None;
    }
    let faults = summary.faults.as_ref()?;
    let at = places::main_function(summary).map_or_else(String::new, |name| format!(" in {name}"));
    let lines = [
        (Some(faults), format!("{}{at}", fault_words(summary))),
        (summary.freeing.as_ref(), "giving pages back".to_owned()),
        (summary.calls.as_ref(), "read and write calls".to_owned()),
    ];
    let lines = lines
        .into_iter()
        .filter_map(|(line, name)| Some((line?.share, name)));
    let (share, name) = lines.max_by(|a, b| a.0.value.total_cmp(&b.0.value))?;
    let [whole, low, high] =
        [share.value, share.low, share.high].map(|s| format!("{:.0}", 100.0 * s.max(0.0)));
    Some(if share.low >= WORTH {
        format!("{whole} % of CPU is {name}: worth acting.")
    } else if share.high < WORTH {
        format!("Not memory-bound ({whole} % of CPU is {name}): stop here.")
    } else {
        format!("{low} to {high} % of CPU is {name}: perhaps worth acting.")
    })
}

/// The kind of most page faults' cost.
fn fault_words(summary: &ProfileSummary) -> &'static str {
    use MemoryEvent::{
        Again, Anonymous, Cow, Elsewhere, File, FileWrite, Heap, Huge, InCalls, Shared, Stack,
    };
    let kinds: [(&[MemoryEvent], &str); 6] = [
        (
            &[Heap, Anonymous, Stack, Shared, Elsewhere],
            "first-touch page faults",
        ),
        (&[Again], "page faults on memory that was given back"),
        (&[Cow], "copies after fork"),
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
    let unit = summary.plan.attached.map_or("run".to_owned(), |process| {
        format!("window of {}", seconds(process.window_s))
    });
    vec![format!(
        "A {unit}, by {} blocks: {}.",
        summary.blocks,
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
        "Memory events of a run, the cost of each in a fresh process, and of all together",
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
    }
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

/// Settings worth a try, with the least saving where the interval (docs/validity.md) excludes none.
fn candidates(summary: &ProfileSummary) -> Vec<String> {
    let mut sentences = Vec::new();
    for candidate in summary.worth_a_try() {
        let (setting, faults) = (&candidate.setting, count(candidate.faults_saved));
        let pages = (candidate.huge_pages >= 1.0)
            .then(|| format!(", {} huge pages instead", count(candidate.huge_pages)));
        let least = candidate.is_settled().then(|| {
            format!(
                ", at least {} of CPU saved",
                seconds(candidate.kernel_s.low)
            )
        });
        let [pages, least] = [pages, least].map(Option::unwrap_or_default);
        sentences.push(format!(
            "{setting} is worth a try: {faults} page faults fewer{pages}{least}."
        ));
    }
    let has_thp = summary.candidates.iter().any(|c| c.setting == "thp");
    if summary.by_kind
        && !has_thp
        && summary
            .faults
            .is_some_and(|faults| faults.share.low >= WORTH)
    {
        sentences.push(
            "thp is worth a try all the same: no price of a huge page foretells its saving."
                .to_owned(),
        );
    }
    sentences
}

fn next_command(summary: &ProfileSummary) -> String {
    let mut named: Vec<&str> = summary.worth_a_try().map(|c| c.setting.as_str()).collect();
    if named.is_empty() || summary.candidates.iter().all(|c| c.setting != "thp") {
        named.insert(0, "thp");
    }
    let input = summary.plan.input.as_ref().map_or_else(String::new, |p| {
        format!(" --input {}", shell(&p.to_string_lossy()))
    });
    let arm = &summary.plan.arms[0];
    let command = match arm.command.first().map(String::as_str) {
        Some("/bin/sh") if arm.shown != arm.command.join(" ") => shell(&arm.shown),
        _ => arm
            .command
            .iter()
            .map(|w| shell(w))
            .collect::<Vec<_>>()
            .join(" "),
    };
    format!(
        "pagewise try --with {}{input} -- {command}",
        named.join(",")
    )
}
