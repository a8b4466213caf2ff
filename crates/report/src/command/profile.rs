//! A profile as a document: the counts, what they cost, whether that agrees with the command's own time, and what is worth a
//! try. Nothing is promised of wall-clock time.

use record::command::{Amount, Consistency, CostLine, EventCounts, MemoryEvent, Price, ProfileOutcome, ProfileSummary};
use record::sizes::about_size;

use super::{bounds, count, digits, machine, notes, seconds, signed};

use crate::document::{Block, Cell, Column, Document, Entry, Place, Table};

/// Rows of the table; what is left out is in --json.
const ROWS: usize = 10;
/// A smaller share of CPU time is not worth a sentence.
const LEAST: f64 = 0.001;

/// The document of a profile.
pub(super) fn document(summary: &ProfileSummary) -> Document {
    let plan = &summary.plan;
    let mut blocks: Vec<Block> = Vec::new();
    if summary.outcome == ProfileOutcome::Failed {
        blocks.push(Block::Answer(format!("It could not be profiled: {}.", summary.reason)));
    } else {
        blocks.extend(counted(summary).into_iter().map(Block::Text));
    }
    if summary.outcome == ProfileOutcome::Untrusted {
        blocks.push(Block::Answer(format!("Not to be trusted, so no costs: {}.", summary.reason)));
    }
    let mut repeat = vec![format!("pagewise report {}", plan.run)];
    if summary.outcome == ProfileOutcome::Ok {
        let rest = summary.prices.len().saturating_sub(ROWS);
        blocks.extend(table(&summary.prices));
        blocks.extend((rest > 0).then(|| Block::Text(format!("({rest} smaller kinds: --json)"))));
        blocks.extend(costs(summary).into_iter().chain(candidates(summary)).map(Block::Answer));
        repeat.insert(0, next_command(summary));
    }
    blocks.extend(notes(&summary.notes));
    if summary.outcome == ProfileOutcome::Ok {
        let settles = vec![Block::text("What settles it:"), Block::Commands(vec![next_command(summary)])];
        blocks.extend(Block::part("", Place::Screen, settles));
    }
    Document::new("profile", [plan.arms[0].shown.clone(), plan.run.clone(), plan.created.clone()])
        .section("answers", "Answers", Place::Everywhere, blocks)
        .section("machine", "Machine", Place::Page, machine(plan))
        .section("repeat", "What settles it", Place::Page, vec![Block::Commands(repeat)])
}

fn counted(summary: &ProfileSummary) -> Vec<String> {
    let Some(counts) = &summary.counts else { return Vec::new() };
    let mut parts = Vec::new();
    if let Some(cpu) = &summary.cpu_s {
        parts.push(format!("CPU {} ({})", seconds(cpu.value), bounds(cpu)));
    }
    if let Some(kernel) = &summary.kernel_s {
        parts.push(format!("kernel {} ({})", seconds(kernel.value), bounds(kernel)));
    }
    parts.push(format!("{} page faults", count(counts.minor_faults)));
    parts.push(format!("{} switches", count(counts.switches)));
    vec![format!("A run, by {} blocks: {}.", summary.blocks, parts.join(", ")), memory(counts)]
}

fn memory(counts: &EventCounts) -> String {
    let mut sentence = format!("Memory: {} resident at most", about_size(counts.max_rss_bytes));
    if counts.end_rss_bytes > 0.0 {
        sentence += &format!(
            "; at the end {}, of it {} in base pages and {} in huge pages without a file",
            about_size(counts.end_rss_bytes),
            about_size(counts.end_base_bytes),
            about_size(counts.end_huge_bytes)
        );
    }
    sentence + "."
}

fn kind_words(kind: MemoryEvent) -> &'static str {
    match kind {
        MemoryEvent::Heap => "first writes, heap",
        MemoryEvent::Anonymous => "first writes, mappings",
        MemoryEvent::Stack => "first writes, stack",
        MemoryEvent::Shared => "first writes, shared",
        MemoryEvent::Again => "given back, touched again",
        MemoryEvent::Elsewhere => "first writes, moved memory",
        MemoryEvent::ZeroRead => "reads of fresh memory",
        MemoryEvent::ZeroWrite => "writes after such reads",
        MemoryEvent::Cow => "copies after fork",
        MemoryEvent::File => "file pages mapped",
        MemoryEvent::FileWrite => "file pages copied",
        MemoryEvent::Huge => "huge pages",
        MemoryEvent::InCalls => "inside system calls",
        MemoryEvent::Unknown => "page faults of any kind",
        MemoryEvent::FreeBase => "base pages given back",
        MemoryEvent::FreeHuge => "huge pages given back",
        MemoryEvent::ReadCalls => "read calls",
        MemoryEvent::ReadBytes => "bytes read",
        MemoryEvent::WriteCalls => "write calls",
        MemoryEvent::WriteBytes => "bytes written",
    }
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
    format!("{} ({})", seconds(price.together_s.value), bounds(&price.together_s))
}

fn table(prices: &[Price]) -> Option<Block> {
    let row = |price: &Price| {
        let cells = vec![
            Cell::number(count(price.count), Some(price.count)),
            Cell::number(each(price), Some(price.each_s.value)),
            Cell::number(together(price), Some(price.together_s.value)),
        ];
        Entry::new(kind_words(price.kind), cells)
    };
    let mut columns = vec![Column::text("event")];
    columns.extend(["count", "each", "together"].map(Column::number));
    let caption = "Memory events of a run, the cost of each in a fresh process, and of all together";
    (!prices.is_empty()).then(|| Block::Table(Table::new(caption, columns, prices.iter().take(ROWS).map(row))))
}

fn line(what: &str, line: &CostLine, summary: &ProfileSummary) -> String {
    let cpu = summary.cpu_s.map_or_else(String::new, |cpu| format!(" of {} CPU", seconds(cpu.value)));
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
            cost.as_ref().filter(|cost| cost.share.high >= LEAST).map(|cost| line(what, cost, summary))
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
    let kernel = summary.kernel_s.map_or_else(String::new, |k| format!(" of {}", seconds(k.value)));
    let limits = format!("{} %, {}–{}", percent(value), percent(low), percent(high));
    if consistency.holds {
        format!("Consistent: together they explain {limits} of its own kernel time{kernel}.")
    } else {
        format!(
            "Not consistent: they would explain {limits} of its own kernel time{kernel}, so the prices are not this program's and nothing is predicted from them."
        )
    }
}

fn gained(value: f64) -> String {
    if value > 0.0 { format!("+{}", seconds(value)) } else { seconds(value) }
}

fn candidates(summary: &ProfileSummary) -> Vec<String> {
    let mut sentences = Vec::new();
    for candidate in &summary.candidates {
        let Amount { value, low, high } = candidate.kernel_s;
        let pages = if candidate.huge_pages >= 1.0 {
            format!(", {} huge pages instead", count(candidate.huge_pages))
        } else {
            String::new()
        };
        let what = if low < 0.0 && high > 0.0 {
            format!("change kernel time, by how much is not settled ({} to {})", gained(-high), gained(-low))
        } else if value >= 0.0 {
            format!("save about {} of kernel time ({} to {})", seconds(value), seconds(low), seconds(high))
        } else {
            format!("cost about {} of kernel time ({} to {})", seconds(-value), seconds(-high), seconds(-low))
        };
        sentences.push(format!(
            "{} would {what}: {} faults fewer{pages}.",
            candidate.setting,
            count(candidate.faults_saved)
        ));
    }
    if summary.by_kind && summary.candidates.is_empty() && summary.faults.is_some() {
        sentences.push("No setting is predicted to move its kernel time by 0.3 % of its CPU time.".to_owned());
    }
    sentences.push(
        "Not predicted: address translation, caches, locks, waiting, and so neither user nor wall-clock time."
            .to_owned(),
    );
    sentences
}

/// The command that settles it.
fn next_command(summary: &ProfileSummary) -> String {
    let named: Vec<&str> =
        summary.candidates.iter().filter(|c| c.kernel_s.value > 0.0).map(|c| c.setting.as_str()).collect();
    let with = if named.is_empty() { "thp,keep".to_owned() } else { named.join(",") };
    let input =
        summary.plan.input.as_ref().map_or_else(String::new, |p| format!(" --input {}", quoted(&p.to_string_lossy())));
    let arm = &summary.plan.arms[0];
    let command = match arm.command.first().map(String::as_str) {
        Some("/bin/sh") if arm.shown != arm.command.join(" ") => quoted(&arm.shown),
        _ => arm.command.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(" "),
    };
    format!("pagewise try --with {with}{input} -- {command}")
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
