//! What disturbs this machine at the moment: the text of `doctor --noise`.

use std::fmt::Write as _;

use record::machine::busy::Busy;
use record::machine::preflight::Preflight;
use record::sizes::{about_size, format_ns};

fn names(list: &[Busy]) -> String {
    let words: Vec<String> = list.iter().map(|b| format!("{} {:.2} (pid {})", b.name, b.cpus, b.pid)).collect();
    words.join(", ")
}

/// The whole text, a pure function of what was seen.
pub fn render(seen: &Preflight) -> String {
    let mut text = format!("What disturbs this machine now: {:.1} s of looking\n", seen.seconds);
    for gaps in &seen.gaps {
        let over: Vec<String> =
            gaps.over.iter().map(|(ns, count)| format!("{count} > {}", format_ns(*ns as f64))).collect();
        let _ = writeln!(
            text,
            "  CPU {}: {:.2} % of a busy process's time taken, at most {} at a time ({}); one clock read {:.1} ns",
            gaps.cpu,
            gaps.lost_share() * 100.0,
            format_ns(gaps.largest_gap_ns as f64),
            over.join(", "),
            gaps.clock_read_ns()
        );
    }
    let mut line = |name: &str, words: String| {
        let _ = writeln!(text, "  {name}: {words}");
    };
    line("steal (what the hypervisor admits to)", format!("{:.2} %", seen.counters.steal_share * 100.0));
    let waited: Vec<String> = seen
        .counters
        .pressure_us
        .iter()
        .map(|(name, us)| format!("{name} {:.1} %", *us as f64 / 1e4 / seen.seconds.max(1e-3)))
        .collect();
    line("waiting (pressure)", if waited.is_empty() { "nothing".to_owned() } else { waited.join(", ") });
    let frequency: Vec<String> = seen
        .frequency_khz
        .iter()
        .map(|(before, after)| format!("{:.2} → {:.2} GHz", *before as f64 / 1e6, *after as f64 / 1e6))
        .collect();
    let unknown = || "the kernel does not say (usual on virtual machines)".to_owned();
    line("frequency", if frequency.is_empty() { unknown() } else { frequency.join(", ") });
    let quiet = || "none of them ran".to_owned();
    line(
        "kernel threads for memory",
        if seen.memory_threads.is_empty() { quiet() } else { names(&seen.memory_threads) },
    );
    let reclaim: Vec<String> = seen.counters.vmstat.iter().map(|(name, count)| format!("{name} {count}")).collect();
    line("memory counters that moved", if reclaim.is_empty() { "none".to_owned() } else { reclaim.join(", ") });
    let (read, written) = (seen.counters.device_read_bytes as f64, seen.counters.device_written_bytes as f64);
    line("block devices", format!("{} read, {} written", about_size(read), about_size(written)));
    let nobody = || "none".to_owned();
    line(
        "other busy processes, in CPUs",
        if seen.busy.is_empty() {
            nobody()
        } else {
            format!("{:.2} in all; of those still there: {}", seen.busy_cpus, names(&seen.busy))
        },
    );
    text.push_str(&verdict(seen));
    text
}

/// What it means for figures.
fn verdict(seen: &Preflight) -> String {
    let lost = seen.lost_share();
    let words = match lost {
        share if share < 0.002 => "Quiet: medians and tails are the work's own.",
        share if share < 0.02 => "Usual: medians are sound; the highest per cent of samples is partly the machine's.",
        _ => {
            "Noisy: ratios are paired round by round and hold, but need more launches; absolute figures and tails are the machine's too."
        }
    };
    let hidden = lost > 10.0 * seen.counters.steal_share && lost > 0.002 && seen.busy_cpus < 0.5 * lost;
    let unseen =
        if hidden { " No counter and no process explains it: it is the hypervisor or interrupts." } else { "" };
    format!("{words}{unseen}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::machine::gaps::Gaps;

    fn seen(lost_ns: u64) -> Preflight {
        let gaps = Gaps {
            cpu: 0,
            elapsed_ns: 1_000_000,
            reads: 40_000,
            clock_read_ps: 24_000,
            lost_ns,
            largest_gap_ns: lost_ns,
            over: vec![(5000, 1)],
        };
        Preflight { seconds: 1.0, gaps: vec![gaps], ..Preflight::default() }
    }

    #[test]
    fn what_no_counter_shows_is_said() {
        assert!(render(&seen(1000)).contains("Quiet"));
        let noisy = render(&seen(100_000));
        assert!(noisy.contains("10.00 % of a busy process's time") && noisy.contains("No counter"), "{noisy}");
        let busy = Preflight { busy_cpus: 1.5, ..seen(100_000) };
        assert!(!render(&busy).contains("No counter"));
    }
}
