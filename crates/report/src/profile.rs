//! A profile on one screen: what was counted, what it costs, whether that agrees with the command's own time, and
//! what is worth a
//! try. Nothing is promised of wall-clock time.

use comfy_table::{CellAlignment, Table, presets};
use record::profile::{Amount, Consistency, CostLine, Counts, Kind, Outcome, Price, ProfileSummary};
use record::sizes::{about_size, format_ns};

/// Rows of the table; what is left out is in --json.
const ROWS: usize = 10;
/// A smaller share of CPU time is not worth a sentence.
const LEAST: f64 = 0.001;

/// The screen: at most 30 lines.
pub fn render(summary: &ProfileSummary) -> String {
    let mut text = format!("Profile of: {}\n", cut(&summary.plan.shown, 100));
    if summary.outcome == Outcome::Failed {
        return text + &format!("It could not be profiled: {}.\n", summary.reason);
    }
    text += &counted(summary);
    if summary.outcome == Outcome::Untrusted {
        text += &format!("Not to be trusted, so no costs: {}.\n", summary.reason);
        return text + &notes(summary);
    }
    text += &table(&summary.prices);
    text += &costs(summary);
    text += &candidates(summary);
    text + &notes(summary) + &next(summary)
}

fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.chars().count() > most {
        true => line.chars().take(most - 1).collect::<String>() + "…",
        false => line,
    }
}

fn seconds(value: f64) -> String {
    match value < 0.0 {
        true => format!("−{}", format_ns(-value * 1e9)),
        false => format_ns(value * 1e9),
    }
}

fn interval(of: &Amount) -> String {
    format!("{} to {}", seconds(of.low), seconds(of.high))
}

pub(crate) fn count(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.1} k", v / 1e3),
        v => format!("{v:.0}"),
    }
}

fn counted(summary: &ProfileSummary) -> String {
    let Some(counts) = &summary.counts else { return String::new() };
    let mut parts = Vec::new();
    if let Some(cpu) = &summary.cpu_s {
        parts.push(format!("CPU {} ({})", seconds(cpu.value), interval(cpu)));
    }
    if let Some(kernel) = &summary.kernel_s {
        parts.push(format!("kernel {} ({})", seconds(kernel.value), interval(kernel)));
    }
    parts.push(format!("{} page faults", count(counts.minor_faults)));
    parts.push(format!("{} switches", count(counts.switches)));
    format!("A run, by {} blocks: {}.\n{}\n", summary.blocks, parts.join(", "), memory(counts))
}

fn memory(counts: &Counts) -> String {
    let mut words = format!("Memory: {} resident at most", about_size(counts.max_rss_bytes));
    if counts.end_rss_bytes > 0.0 {
        words += &format!(
            "; at the end {}, of it {} in base pages and {} in huge pages without a file",
            about_size(counts.end_rss_bytes),
            about_size(counts.end_base_bytes),
            about_size(counts.end_huge_bytes)
        );
    }
    words + "."
}

pub(crate) fn kind_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Heap => "first writes, heap",
        Kind::Anonymous => "first writes, mappings",
        Kind::Stack => "first writes, stack",
        Kind::Shared => "first writes, shared",
        Kind::Again => "given back, touched again",
        Kind::Elsewhere => "first writes, moved memory",
        Kind::ZeroRead => "reads of fresh memory",
        Kind::ZeroWrite => "writes after such reads",
        Kind::Cow => "copies after fork",
        Kind::File => "file pages mapped",
        Kind::FileWrite => "file pages copied",
        Kind::Huge => "huge pages",
        Kind::InCalls => "inside system calls",
        Kind::Unknown => "page faults of any kind",
        Kind::FreeBase => "base pages given back",
        Kind::FreeHuge => "huge pages given back",
        Kind::ReadCalls => "read calls",
        Kind::ReadBytes => "bytes read",
        Kind::WriteCalls => "write calls",
        Kind::WriteBytes => "bytes written",
    }
}

/// A price of less than a nanosecond is told for a KiB.
pub(crate) fn each(price: &Price) -> String {
    let is_bytes = matches!(price.kind, Kind::ReadBytes | Kind::WriteBytes);
    let unit = if is_bytes { " a KiB" } else { "" };
    let factor = if is_bytes { 1024.0 } else { 1.0 };
    let steady = if price.unsteady { ", unsteady" } else { "" };
    let [low, high] = [price.each_s.low, price.each_s.high].map(|s| seconds(s * factor));
    format!("{low} to {high}{unit}{steady}")
}

/// What all events of a kind cost, with its limits.
pub(crate) fn together(price: &Price) -> String {
    format!("{} ({})", seconds(price.together_s.value), interval(&price.together_s))
}

/// Everything that is said of a profile.
pub(crate) fn sentences(summary: &ProfileSummary) -> Vec<String> {
    let text = match summary.outcome {
        Outcome::Failed => format!("It could not be profiled: {}.", summary.reason),
        Outcome::Untrusted => {
            format!("{}Not to be trusted, so no costs: {}.", counted(summary), summary.reason)
        }
        Outcome::Ok => counted(summary) + &costs(summary) + &candidates(summary),
    };
    text.lines().map(str::to_owned).collect()
}

fn table(prices: &[Price]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "count", "each", "together"]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for price in prices.iter().take(ROWS) {
        table.add_row([kind_words(price.kind).to_owned(), count(price.count), each(price), together(price)]);
    }
    let lines: Vec<String> = table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
    let rest = prices.len().saturating_sub(ROWS);
    let more = if rest > 0 { format!("({rest} smaller kinds: --json)\n") } else { String::new() };
    if prices.is_empty() { String::new() } else { lines.join("\n") + "\n" + &more }
}

fn line(what: &str, of: &CostLine, summary: &ProfileSummary) -> String {
    let cpu = summary.cpu_s.map_or_else(String::new, |cpu| format!(" of {} CPU", seconds(cpu.value)));
    format!(
        "{what} cost this program about {}{cpu} ({} %, {}–{}).\n",
        seconds(of.seconds.value),
        percent(of.share.value),
        percent(of.share.low),
        percent(of.share.high)
    )
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let text = if percent >= 99.5 { format!("{percent:.0}") } else { format!("{percent:.1}") };
    text.replace('-', "−")
}

fn costs(summary: &ProfileSummary) -> String {
    let lines = [
        ("Page faults", &summary.faults),
        ("Giving pages back", &summary.freeing),
        ("Read and write calls", &summary.calls),
    ];
    let mut text: String = lines
        .iter()
        .filter_map(|(what, of)| of.as_ref().filter(|of| of.share.high >= LEAST).map(|of| line(what, of, summary)))
        .collect();
    if let Some(of) = &summary.consistency {
        text += &agreement(of, summary);
    }
    if let Some(over) = &summary.overhead {
        text += &format!(
            "Following each fault changed CPU time by {} % ({} to {}); the costs are of runs without it.\n",
            signed(over.value),
            signed(over.low),
            signed(over.high)
        );
    }
    text
}

fn signed(ratio: f64) -> String {
    format!("{:+.1}", 100.0 * (ratio - 1.0)).replace('-', "−")
}

fn agreement(of: &Consistency, summary: &ProfileSummary) -> String {
    let Amount { value, low, high } = of.explained;
    let kernel = summary.kernel_s.map_or_else(String::new, |k| format!(" of {}", seconds(k.value)));
    let limits = format!("{} %, {}–{}", percent(value), percent(low), percent(high));
    match of.holds {
        true => format!("Consistent: together they explain {limits} of its own kernel time{kernel}.\n"),
        false => format!(
            "Not consistent: they would explain {limits} of its own kernel time{kernel}, so the prices are not this program's and nothing is predicted from them.\n"
        ),
    }
}

fn gained(value: f64) -> String {
    if value > 0.0 { format!("+{}", seconds(value)) } else { seconds(value) }
}

fn candidates(summary: &ProfileSummary) -> String {
    let mut text = String::new();
    for one in &summary.candidates {
        let Amount { value, low, high } = one.kernel_s;
        let pages = match one.huge_pages >= 1.0 {
            true => format!(", {} huge pages instead", count(one.huge_pages)),
            false => String::new(),
        };
        let what = match value >= 0.0 {
            _ if low < 0.0 && high > 0.0 => {
                format!("change kernel time, by how much is not settled ({} to {})", gained(-high), gained(-low))
            }
            true => format!("save about {} of kernel time ({} to {})", seconds(value), seconds(low), seconds(high)),
            false => format!("cost about {} of kernel time ({} to {})", seconds(-value), seconds(-high), seconds(-low)),
        };
        text += &format!("{} would {what}: {} faults fewer{pages}.\n", one.setting, count(one.faults_saved));
    }
    if summary.by_kind && summary.candidates.is_empty() && summary.faults.is_some() {
        text += "No setting is predicted to move its kernel time by 0.3 % of its CPU time.\n";
    }
    text += "Not predicted: address translation, caches, locks, waiting, and so neither user nor wall-clock time.\n";
    text
}

fn notes(summary: &ProfileSummary) -> String {
    summary.notes.iter().map(|note| format!("Note: {}.\n", note.text)).collect()
}

fn next(summary: &ProfileSummary) -> String {
    format!("What settles it: {}\n", next_command(summary))
}

/// The command that settles it.
pub(crate) fn next_command(summary: &ProfileSummary) -> String {
    let named: Vec<&str> =
        summary.candidates.iter().filter(|c| c.kernel_s.value > 0.0).map(|c| c.setting.as_str()).collect();
    let with = if named.is_empty() { "thp,keep".to_owned() } else { named.join(",") };
    let input =
        summary.plan.input.as_ref().map_or_else(String::new, |p| format!(" --input {}", quoted(&p.to_string_lossy())));
    let command = match summary.plan.command.first().map(String::as_str) {
        Some("/bin/sh") if summary.plan.shown != summary.plan.command.join(" ") => quoted(&summary.plan.shown),
        _ => summary.plan.command.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(" "),
    };
    format!("pagewise try --with {with}{input} -- {command}")
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
