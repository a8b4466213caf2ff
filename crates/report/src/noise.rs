//! The disturbances of this machine at the moment: the document of `doctor --noise`.

use crate::document::{Block, Column, Document, Entry, Place, Table, TableCell};
use record::machine::preflight::{Busy, Preflight};
use record::sizes::{about_size, format_ns};

fn names(list: &[Busy]) -> Vec<String> {
    list.iter().map(|b| format!("{} {:.2} (pid {})", b.name, b.cpus, b.pid)).collect()
}

/// The disturbances of a machine, a row a source.
pub fn document(seen: &Preflight) -> Document {
    let mut rows: Vec<(String, String)> = Vec::new();
    for gaps in &seen.gaps {
        let over: Vec<String> = gaps.over.iter().map(|(ns, count)| format!("{count} > {}", format_ns(*ns as f64))).collect();
        let text = format!(
            "{:.2} % of a busy process's time taken, at most {} at a time ({}); one clock read {:.1} ns",
            gaps.lost_share() * 100.0,
            format_ns(gaps.largest_gap_ns as f64),
            over.join(", "),
            gaps.clock_read_ns()
        );
        rows.push((format!("CPU {}", gaps.cpu), text));
    }
    let mut row = |name: &str, parts: Vec<String>, none: &str| {
        rows.push((name.to_owned(), if parts.is_empty() { none.to_owned() } else { parts.join(", ") }));
    };
    let counters = &seen.counters;
    row("steal (as the hypervisor reports it)", vec![format!("{:.2} %", counters.steal_share * 100.0)], "");
    let pressure = counters.pressure_us.iter();
    let waited = pressure.map(|(name, us)| format!("{name} {:.1} %", *us as f64 / 1e4 / seen.seconds.max(1e-3)));
    row("waiting (pressure)", waited.collect(), "nothing");
    let ghz = |khz: u64| khz as f64 / 1e6;
    let frequency = seen.frequency_khz.iter().map(|(a, b)| format!("{:.2} → {:.2} GHz", ghz(*a), ghz(*b)));
    row("frequency", frequency.collect(), "not reported by the kernel (usual on virtual machines)");
    row("kernel threads for memory", names(&seen.memory_threads), "none of them ran");
    let reclaim = counters.vmstat.iter().map(|(name, count)| format!("{name} {count}"));
    row("memory counters that moved", reclaim.collect(), "none");
    let (read, written) = (counters.device_read_bytes as f64, counters.device_written_bytes as f64);
    row("block devices", vec![format!("{} read", about_size(read)), format!("{} written", about_size(written))], "");
    let busy = format!("{:.2} in all; of those still there: {}", seen.busy_cpus, names(&seen.busy).join(", "));
    row("other busy processes, in CPUs", if seen.busy.is_empty() { Vec::new() } else { vec![busy] }, "none");
    let rows = rows.into_iter().map(|(name, text)| Entry::new(name, vec![TableCell::text(text)]));
    let table = Table::new("", vec![Column::text(""), Column::sentences("")], rows);
    let blocks = vec![Block::Table(table), Block::Answer(verdict(seen))];
    Document::new("noise now", [format!("{:.1} s of looking", seen.seconds)]).section("answers", "", Place::Everywhere, blocks)
}

fn verdict(seen: &Preflight) -> String {
    let lost = seen.lost_share();
    let verdict = match lost {
        share if share < 0.002 => "Quiet: medians and tails are the work's own.",
        share if share < 0.02 => "Usual: medians are sound; the highest per cent of samples is partly the machine's.",
        _ => {
            "Noisy: ratios are paired round by round and hold, but need more launches; absolute figures and tails are the machine's too."
        }
    };
    let hidden = lost > 10.0 * seen.counters.steal_share && lost > 0.002 && seen.busy_cpus < 0.5 * lost;
    let unseen = if hidden { " No counter and no process explains it: it is the hypervisor or interrupts." } else { "" };
    format!("{verdict}{unseen}")
}
