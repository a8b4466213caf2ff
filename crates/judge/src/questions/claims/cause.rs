//! Cause of a difference, as far as the counters show. It rests on a share: the part of the difference in wall time that lies
//! in the kernel, in the program or in waiting. Where no part carries half of it, the cause was not found.

use super::figure::ClaimSide;
use record::claim::{Counter, Difference, DifferencePart, Job, Of, Word};
use record::summary::{CellSummary, FactProof, PhaseSummary};

/// A part explains a difference where it is at least this share of it.
const SHARE: f64 = 0.5;
/// A count explains something where one side has at least so many times the other's.
const TIMES: f64 = 1.5;
/// Fewer faults or sleeps than this explain nothing.
const LEAST: f64 = 8.0;

type Side<'a> = (ClaimSide<'a>, &'a PhaseSummary);
/// A counter with the dearer and the cheaper side's count.
type Counted = Option<(Counter, f64, f64)>;

/// The cause; `None` where it was not found.
pub(super) fn difference(
    job: &Job,
    way: ClaimSide,
    other: ClaimSide,
    word: Word,
) -> Option<Difference> {
    let (a, b) = (way.summary()?, other.summary()?);
    match (&job.fact, job.cost) {
        (Some(fact), _) => return Some(Difference::Counted { fact: fact.clone() }),
        (None, Of::Faults) => {
            return Some(Difference::Faults {
                first: a.minor_faults,
                second: b.minor_faults,
            });
        }
        // Counters are of all operations and launches together.
        (None, Of::Spread | Of::Tail) => return None,
        (None, Of::Wall | Of::Cpu) => {}
    }
    if word == Word::NoDifferenceHere
        || (word == Word::Holds && (a.wall_ns.median / b.wall_ns.median).ln().abs() < 0.05)
    {
        return alike((way, a), (other, b));
    }
    let cost = |p: &PhaseSummary| {
        if job.cost == Of::Cpu {
            p.cpu_ns.median
        } else {
            p.wall_ns.median
        }
    };
    let (dear, cheap) = if cost(a) >= cost(b) {
        ((way, a), (other, b))
    } else {
        ((other, b), (way, a))
    };
    explain(job.cost, cost(dear.1) - cost(cheap.1), dear, cheap)
}

fn explain(cost: Of, difference: f64, dear: Side, cheap: Side) -> Option<Difference> {
    if difference <= 0.0 {
        return None;
    }
    let (d, c) = (dear.1, cheap.1);
    let waits = |p: &PhaseSummary| (p.wall_ns.median - p.cpu_ns.median).max(0.0);
    let waiting = if cost == Of::Wall {
        waits(d) - waits(c)
    } else {
        0.0
    };
    let part = |ns: f64, counted: Counted| {
        let (counter, dear_count, cheap_count) = counted.unwrap_or((Counter::Nothing, 0.0, 0.0));
        let share = (ns / difference).min(1.0);
        let (dear, cheap) = (label(dear.0, cheap.0), label(cheap.0, dear.0));
        DifferencePart {
            share,
            dear,
            cheap,
            counter,
            dear_count,
            cheap_count,
        }
    };
    let (kernel, program) = (d.system_ns - c.system_ns, d.user_ns - c.user_ns);
    let carries = |ns: f64| ns / difference >= SHARE;
    if carries(kernel) {
        Some(Difference::Kernel(part(kernel, in_kernel(dear, cheap))))
    } else if carries(waiting) {
        Some(Difference::Waiting(part(
            waiting,
            while_waiting(dear, cheap),
        )))
    } else if carries(program) {
        Some(Difference::Program(part(
            program,
            huge_pages(dear.0.cell, cheap.0.cell),
        )))
    } else {
        None
    }
}

/// Difference of one side from the other: its method, or the parameters in which they differ.
fn label(side: ClaimSide, beside: ClaimSide) -> String {
    if side.cell.method != beside.cell.method {
        return side.cell.method.clone();
    }
    if side.cell.worker != beside.cell.worker {
        return side.cell.worker.clone();
    }
    let differs = side
        .cell
        .parameters
        .iter()
        .find(|(k, v)| beside.cell.parameters.get(*k) != Some(v));
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

/// A counter of which the dearer side has so many more that it explains something, and at least so many.
fn more(counter: Counter, dear: f64, cheap: f64, least: f64) -> Counted {
    (dear >= TIMES * cheap && dear - cheap >= 1.0 && dear >= least)
        .then_some((counter, dear, cheap))
}

/// Kernel counter that differs in the right direction.
fn in_kernel((dear, d): Side, (cheap, c): Side) -> Counted {
    let fact = |(name, counter): (&str, Counter)| {
        more(
            counter,
            number(dear.cell, name)?,
            number(cheap.cell, name)?,
            0.0,
        )
    };
    let facts = [
        ("redirtied_bytes", Counter::Redirtied),
        ("copied_bytes", Counter::Copied),
        ("calls", Counter::Calls),
        ("read_calls", Counter::Calls),
        ("enters", Counter::Calls),
    ];
    more(Counter::Faults, d.minor_faults, c.minor_faults, LEAST)
        .or_else(|| facts.into_iter().find_map(fact))
        .or_else(|| {
            more(
                Counter::Sleeps,
                d.voluntary_switches,
                c.voluntary_switches,
                LEAST,
            )
        })
        .or_else(|| huge_pages(dear.cell, cheap.cell))
}

fn while_waiting((dear, d): Side, (cheap, c): Side) -> Counted {
    let device = |side: ClaimSide| number(side.cell, "device_bytes").unwrap_or(0.0);
    let (n, m) = (device(dear), device(cheap));
    let switches = (d.voluntary_switches, c.voluntary_switches);
    let longer = |counter| Some((counter, 0.0, 0.0));
    more(Counter::Device, n, m, 0.0)
        .or_else(|| longer(Counter::DeviceLonger).filter(|_| n > 0.0 || d.major_faults >= 1.0))
        .or_else(|| more(Counter::Sleeps, switches.0, switches.1, 1.0))
        .or_else(|| longer(Counter::SleepsLonger).filter(|_| switches.0 >= 1.0))
}

/// Huge pages on the cheaper side only.
fn huge_pages(dear: &CellSummary, cheap: &CellSummary) -> Counted {
    let (n, m) = (
        number(dear, "huge_bytes").unwrap_or(0.0),
        number(cheap, "huge_bytes")?,
    );
    more(Counter::HugePages, m, n, 0.0).map(|(counter, ..)| (counter, n, m))
}

/// Two costs that are the same: what they have in common.
fn alike((way, a): Side, (other, b): Side) -> Option<Difference> {
    let waits = |p: &PhaseSummary| 1.0 - p.cpu_ns.median / p.wall_ns.median;
    let sleeps = |p: &PhaseSummary| p.voluntary_switches >= LEAST && waits(p) > 0.3;
    if sleeps(a) && sleeps(b) {
        return Some(Difference::BothSleep {
            first: a.voluntary_switches,
            second: b.voluntary_switches,
        });
    }
    let near = |x: f64, y: f64| (x - y).abs() <= 0.1 * x.max(y).max(1.0);
    let device = |s: ClaimSide| number(s.cell, "device_bytes").unwrap_or(0.0);
    if waits(a) > 0.5 && waits(b) > 0.5 && device(way) > 0.0 && near(device(way), device(other)) {
        return Some(Difference::BothWait);
    }
    (near(a.minor_faults, b.minor_faults) && near(a.system_ns, b.system_ns))
        .then_some(Difference::Same)
}
