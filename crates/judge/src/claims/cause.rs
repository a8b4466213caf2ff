//! Cause of a difference, as far as the counters show. Each sentence rests on a share: the part of the difference in wall time
//! that lies in the kernel, in the program or in waiting. Where no part carries half of it, the cause was not found.

use super::figure::ClaimSide;
use record::claim::{Job, Of, Word};
use record::sizes::{about_size, three_digits};
use record::summary::{CellSummary, FactProof, PhaseSummary};

/// Cause where no counter explains the difference.
pub(super) const NOT_FOUND: &str = "the cause was not found";
/// A part explains a difference where it is at least this share of it.
const SHARE: f64 = 0.5;
/// A count explains something where one side has at least so many times the other's.
const TIMES: f64 = 1.5;

/// One sentence on the cause.
pub(super) fn sentence(job: &Job, way: ClaimSide, other: ClaimSide, word: Word) -> String {
    let (Some(a), Some(b)) = (way.summary(), other.summary()) else { return NOT_FOUND.to_owned() };
    if job.fact.is_some() || job.cost == Of::Spread || job.cost == Of::Faults {
        return counted_itself(job, a, b);
    }
    if job.cost == Of::Tail {
        return NOT_FOUND.to_owned(); // Counters are of all operations together.
    }
    if word == Word::NoDifferenceHere || (word == Word::Holds && (a.wall_ns.median / b.wall_ns.median).ln().abs() < 0.05) {
        return alike(way, other, a, b);
    }
    // From here on `dear` is the side that costs more.
    let cost = |p: &PhaseSummary| if job.cost == Of::Cpu { p.cpu_ns.median } else { p.wall_ns.median };
    let (dear, cheap) = if cost(a) >= cost(b) { (way, other) } else { (other, way) };
    let (Some(d), Some(c)) = (dear.summary(), cheap.summary()) else { return NOT_FOUND.to_owned() };
    explain(job.cost, (dear, d), (cheap, c))
}

fn explain(cost: Of, (dear, d): (ClaimSide, &PhaseSummary), (cheap, c): (ClaimSide, &PhaseSummary)) -> String {
    let difference = match cost {
        Of::Cpu => d.cpu_ns.median - c.cpu_ns.median,
        _ => d.wall_ns.median - c.wall_ns.median,
    };
    if difference <= 0.0 {
        return NOT_FOUND.to_owned();
    }
    let kernel = (d.system_ns - c.system_ns) / difference;
    let program = (d.user_ns - c.user_ns) / difference;
    let waits = |p: &PhaseSummary| (p.wall_ns.median - p.cpu_ns.median).max(0.0);
    let waiting = if cost == Of::Wall { (waits(d) - waits(c)) / difference } else { 0.0 };
    let names = (label(dear, cheap), label(cheap, dear));
    if kernel >= SHARE {
        let what = in_kernel((dear, d), (cheap, c), &names);
        return format!("{} % of the difference is the kernel's time: {what}", percent(kernel));
    }
    if waiting >= SHARE {
        let what = while_waiting((dear, d), (cheap, c), &names);
        return format!("{} % of the difference is waiting: {what}", percent(waiting));
    }
    if program >= SHARE {
        let pages = huge_pages(dear.cell, cheap.cell, &names);
        let what = pages.unwrap_or_else(|| "its own instructions and accesses, not the kernel".to_owned());
        return format!("{} % of the difference is the program's own time: {what}", percent(program));
    }
    NOT_FOUND.to_owned()
}

fn percent(share: f64) -> String {
    format!("{:.0}", (share * 100.0).min(100.0))
}

/// Difference of one side from the other: its method, or the parameters in which they differ.
fn label(side: ClaimSide, beside: ClaimSide) -> String {
    if side.cell.method != beside.cell.method {
        return side.cell.method.clone();
    }
    if side.cell.worker != beside.cell.worker {
        return side.cell.worker.clone();
    }
    let differs = side.cell.parameters.iter().find(|(k, v)| beside.cell.parameters.get(*k) != Some(v));
    differs.map_or_else(
        || side.phase.to_owned(),
        |(key, value)| {
            let is_size = value.parse::<u64>().is_ok() && key.ends_with("bytes") || key == "chunk";
            format!("{key}={}", record::cell::display_value(value, is_size))
        },
    )
}

fn number(cell: &CellSummary, fact: &str) -> Option<f64> {
    match cell.proofs.get(fact)? {
        FactProof::Number { max, .. } => Some(*max as f64),
        FactProof::Words(_) => None,
    }
}

fn more(dear: f64, cheap: f64) -> bool {
    dear >= TIMES * cheap && dear - cheap >= 1.0
}

/// Kernel counter that differs in the right direction.
fn in_kernel(
    (dear, d): (ClaimSide, &PhaseSummary),
    (cheap, c): (ClaimSide, &PhaseSummary),
    names: &(String, String),
) -> String {
    let (a, b) = names;
    if more(d.minor_faults, c.minor_faults) && d.minor_faults >= 8.0 {
        let (n, m) = (three_digits(d.minor_faults), three_digits(c.minor_faults));
        return format!("{n} page faults of {a} against {m} of {b}");
    }
    let pair = |fact: &str| Some((number(dear.cell, fact)?, number(cheap.cell, fact)?));
    for (fact, words) in [("redirtied_bytes", "written back and made dirty again"), ("copied_bytes", "copied")] {
        if let Some((n, m)) = pair(fact).filter(|(n, m)| more(*n, *m)) {
            return format!("{} {words} by {a} against {} by {b}", about_size(n), about_size(m));
        }
    }
    for fact in ["calls", "read_calls", "enters"] {
        if let Some((n, m)) = pair(fact).filter(|(n, m)| more(*n, *m)) {
            return format!("{} calls of {a} against {} of {b}", three_digits(n), three_digits(m));
        }
    }
    let switches = (d.voluntary_switches, c.voluntary_switches);
    if more(switches.0, switches.1) && switches.0 >= 8.0 {
        return format!("{a} sleeps {} times, {b} {}", three_digits(switches.0), three_digits(switches.1));
    }
    if let Some(words) = huge_pages(dear.cell, cheap.cell, names) {
        return words;
    }
    format!("by what was not found ({a} and {b} have as many faults and calls, as far as they are counted)")
}

fn while_waiting(
    (dear, d): (ClaimSide, &PhaseSummary),
    (cheap, c): (ClaimSide, &PhaseSummary),
    names: &(String, String),
) -> String {
    let (a, b) = names;
    let device = |s: ClaimSide| number(s.cell, "device_bytes").unwrap_or(0.0);
    let (n, m) = (device(dear), device(cheap));
    if more(n, m) {
        return format!("the device reads {} for {a} and {} for {b}", about_size(n), about_size(m));
    }
    if n > 0.0 || d.major_faults >= 1.0 {
        return format!("{a} waits longer for the device, which brings both about as much");
    }
    let switches = (d.voluntary_switches, c.voluntary_switches);
    if switches.0 >= 1.0 && more(switches.0, switches.1) {
        return format!("{a} sleeps {} times, {b} {}", three_digits(switches.0), three_digits(switches.1));
    }
    if switches.0 >= 1.0 {
        format!("{a} and {b} sleep alike often, {a} for longer")
    } else {
        "for what was not found".to_owned()
    }
}

/// Huge pages on the cheaper side only.
fn huge_pages(dear: &CellSummary, cheap: &CellSummary, (a, b): &(String, String)) -> Option<String> {
    let (n, m) = (number(dear, "huge_bytes").unwrap_or(0.0), number(cheap, "huge_bytes")?);
    more(m, n).then(|| format!("{b} has {} in huge pages, {a} {}", about_size(m), about_size(n)))
}

/// Two costs that are the same: what they have in common.
fn alike(way: ClaimSide, other: ClaimSide, a: &PhaseSummary, b: &PhaseSummary) -> String {
    let sleeps = |p: &PhaseSummary| p.voluntary_switches;
    let waits = |p: &PhaseSummary| 1.0 - p.cpu_ns.median / p.wall_ns.median;
    if sleeps(a) >= 8.0 && sleeps(b) >= 8.0 && waits(a) > 0.3 && waits(b) > 0.3 {
        let (n, m) = (three_digits(sleeps(a)), three_digits(sleeps(b)));
        return format!("both sleep ({n} and {m} times) and must be woken, which is most of either");
    }
    let near = |x: f64, y: f64| (x - y).abs() <= 0.1 * x.max(y).max(1.0);
    let device = |s: ClaimSide| number(s.cell, "device_bytes").unwrap_or(0.0);
    if waits(a) > 0.5 && waits(b) > 0.5 && device(way) > 0.0 && near(device(way), device(other)) {
        return "both wait for the device, which brings as much to either".to_owned();
    }
    if near(a.minor_faults, b.minor_faults) && near(a.system_ns, b.system_ns) {
        "faults and the kernel's time are the same".to_owned()
    } else {
        NOT_FOUND.to_owned()
    }
}

/// A claim about a count is its own explanation.
fn counted_itself(job: &Job, a: &PhaseSummary, b: &PhaseSummary) -> String {
    match (&job.fact, job.cost) {
        (Some(fact), _) => format!("{fact} is counted in every sample; the limits are the extremes that were seen"),
        (None, Of::Faults) => {
            format!("{} faults against {}, counted by the kernel", three_digits(a.minor_faults), three_digits(b.minor_faults))
        }
        _ => NOT_FOUND.to_owned(),
    }
}
