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
/// Facts that count work of the kernel, in the order in which they explain a difference.
const KERNEL_FACTS: [(&str, Counter); 5] = [
    ("redirtied_bytes", Counter::Redirtied),
    ("copied_bytes", Counter::Copied),
    ("calls", Counter::Calls),
    ("read_calls", Counter::Calls),
    ("enters", Counter::Calls),
];

/// One side of a comparison with the figures of its phase.
#[derive(Clone, Copy)]
struct CostSide<'a> {
    cell: &'a CellSummary,
    phase_name: &'a str,
    phase: &'a PhaseSummary,
}

/// A counter that explains a difference, with both sides' counts.
struct Explanation {
    counter: Counter,
    dear: f64,
    cheap: f64,
}

/// The cause; `None` where it was not found.
pub(super) fn difference(
    job: &Job,
    method: ClaimSide,
    baseline: ClaimSide,
    word: Word,
) -> Option<Difference> {
    let (method, baseline) = (CostSide::new(method)?, CostSide::new(baseline)?);
    match (&job.fact, job.cost) {
        (Some(fact), _) => return Some(Difference::Counted { fact: fact.clone() }),
        (None, Of::Faults) => {
            return Some(Difference::Faults {
                first: method.phase.minor_faults,
                second: baseline.phase.minor_faults,
            });
        }
        // Counters are of all operations and launches together.
        (None, Of::Spread | Of::P99 | Of::Tail) => return None,
        (None, Of::Wall | Of::Cpu) => {}
    }
    let log = (method.phase.wall_ns.median / baseline.phase.wall_ns.median).ln();
    if word == Word::NoDifferenceHere || (word == Word::Holds && log.abs() < 0.05) {
        return alike(method, baseline);
    }
    if method.cost_ns(job.cost) >= baseline.cost_ns(job.cost) {
        explain(job.cost, method, baseline)
    } else {
        explain(job.cost, baseline, method)
    }
}

impl<'a> CostSide<'a> {
    fn new(side: ClaimSide<'a>) -> Option<CostSide<'a>> {
        Some(CostSide {
            cell: side.cell,
            phase_name: side.phase,
            phase: side.summary()?,
        })
    }

    fn cost_ns(&self, cost: Of) -> f64 {
        if cost == Of::Cpu {
            self.phase.cpu_ns.median
        } else {
            self.phase.wall_ns.median
        }
    }

    fn waiting_ns(&self) -> f64 {
        (self.phase.wall_ns.median - self.phase.cpu_ns.median).max(0.0)
    }

    /// The share of its wall time that it waits.
    fn waiting_share(&self) -> f64 {
        1.0 - self.phase.cpu_ns.median / self.phase.wall_ns.median
    }

    fn sleeps(&self) -> bool {
        self.phase.voluntary_switches >= LEAST && self.waiting_share() > 0.3
    }

    fn number(&self, fact: &str) -> Option<f64> {
        match self.cell.proofs.get(fact)? {
            FactProof::Number { max, .. } => Some(*max as f64),
            FactProof::Words(_) => None,
        }
    }

    fn device_bytes(&self) -> f64 {
        self.number("device_bytes").unwrap_or(0.0)
    }

    /// Difference of this side from the other: its method, or the parameter in which they differ.
    fn label(&self, other: CostSide) -> String {
        let (cell, other) = (self.cell, other.cell);
        if cell.method != other.method {
            return cell.method.clone();
        }
        if cell.worker != other.worker {
            return cell.worker.clone();
        }
        let Some((key, value)) = cell
            .parameters
            .iter()
            .find(|(key, value)| other.parameters.get(*key) != Some(value))
        else {
            return self.phase_name.to_owned();
        };
        let is_size = record::cell::is_size_key(key);
        format!("{key}={}", record::cell::display_value(value, is_size))
    }
}

/// The part that carries the difference between two sides, the dearer of which comes first.
fn explain(cost: Of, dear: CostSide, cheap: CostSide) -> Option<Difference> {
    let difference = dear.cost_ns(cost) - cheap.cost_ns(cost);
    if difference <= 0.0 {
        return None;
    }
    let kernel = (dear.phase.system_ns - cheap.phase.system_ns) / difference;
    let program = (dear.phase.user_ns - cheap.phase.user_ns) / difference;
    let waiting = if cost == Of::Wall {
        (dear.waiting_ns() - cheap.waiting_ns()) / difference
    } else {
        0.0
    };
    if kernel >= SHARE {
        let counter = in_kernel(dear, cheap);
        Some(Difference::Kernel(part(kernel, counter, dear, cheap)))
    } else if waiting >= SHARE {
        let counter = while_waiting(dear, cheap);
        Some(Difference::Waiting(part(waiting, counter, dear, cheap)))
    } else if program >= SHARE {
        let counter = huge_pages(dear, cheap);
        Some(Difference::Program(part(program, counter, dear, cheap)))
    } else {
        None
    }
}

fn part(
    share: f64,
    explanation: Option<Explanation>,
    dear: CostSide,
    cheap: CostSide,
) -> DifferencePart {
    let explanation = explanation.unwrap_or(Explanation {
        counter: Counter::Nothing,
        dear: 0.0,
        cheap: 0.0,
    });
    DifferencePart {
        share: share.min(1.0),
        dear: dear.label(cheap),
        cheap: cheap.label(dear),
        counter: explanation.counter,
        dear_count: explanation.dear,
        cheap_count: explanation.cheap,
    }
}

/// A counter of which the dearer side has so many more that it explains something, and at least so many.
fn more(counter: Counter, dear: f64, cheap: f64, least: f64) -> Option<Explanation> {
    (dear >= TIMES * cheap && dear - cheap >= 1.0 && dear >= least).then_some(Explanation {
        counter,
        dear,
        cheap,
    })
}

/// A counter that is alike on both sides, of which each count took longer.
fn longer(counter: Counter) -> Explanation {
    Explanation {
        counter,
        dear: 0.0,
        cheap: 0.0,
    }
}

/// Kernel counter that differs in the right direction.
fn in_kernel(dear: CostSide, cheap: CostSide) -> Option<Explanation> {
    more(
        Counter::Faults,
        dear.phase.minor_faults,
        cheap.phase.minor_faults,
        LEAST,
    )
    .or_else(|| {
        KERNEL_FACTS.iter().find_map(|&(fact, counter)| {
            more(counter, dear.number(fact)?, cheap.number(fact)?, 0.0)
        })
    })
    .or_else(|| more_sleeps(dear, cheap, LEAST))
    .or_else(|| huge_pages(dear, cheap))
}

fn while_waiting(dear: CostSide, cheap: CostSide) -> Option<Explanation> {
    let (dear_bytes, cheap_bytes) = (dear.device_bytes(), cheap.device_bytes());
    if let Some(device) = more(Counter::Device, dear_bytes, cheap_bytes, 0.0) {
        return Some(device);
    }
    if dear_bytes > 0.0 || dear.phase.major_faults >= 1.0 {
        return Some(longer(Counter::DeviceLonger));
    }
    if let Some(sleeps) = more_sleeps(dear, cheap, 1.0) {
        return Some(sleeps);
    }
    (dear.phase.voluntary_switches >= 1.0).then(|| longer(Counter::SleepsLonger))
}

fn more_sleeps(dear: CostSide, cheap: CostSide, least: f64) -> Option<Explanation> {
    more(
        Counter::Sleeps,
        dear.phase.voluntary_switches,
        cheap.phase.voluntary_switches,
        least,
    )
}

/// Huge pages on the cheaper side only.
fn huge_pages(dear: CostSide, cheap: CostSide) -> Option<Explanation> {
    let dear_bytes = dear.number("huge_bytes").unwrap_or(0.0);
    let cheap_bytes = cheap.number("huge_bytes")?;
    let explanation = more(Counter::HugePages, cheap_bytes, dear_bytes, 0.0)?;
    Some(Explanation {
        dear: dear_bytes,
        cheap: cheap_bytes,
        ..explanation
    })
}

/// Two costs that are the same: what they have in common.
fn alike(method: CostSide, baseline: CostSide) -> Option<Difference> {
    if method.sleeps() && baseline.sleeps() {
        return Some(Difference::BothSleep {
            first: method.phase.voluntary_switches,
            second: baseline.phase.voluntary_switches,
        });
    }
    let both_wait = method.waiting_share() > 0.5 && baseline.waiting_share() > 0.5;
    let device_bytes = method.device_bytes();
    if both_wait && device_bytes > 0.0 && near(device_bytes, baseline.device_bytes()) {
        return Some(Difference::BothWait);
    }
    (near(method.phase.minor_faults, baseline.phase.minor_faults)
        && near(method.phase.system_ns, baseline.phase.system_ns))
    .then_some(Difference::Same)
}

/// Tells whether two figures are within a tenth of the larger one, or of one.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.1 * a.max(b).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::claims::answers;
    use crate::questions::claims::tests::{
        MARGIN, claim, distribution, measured, resolved, summary,
    };

    /// A cell of which one launch costs that much in the kernel and in the program, in nanoseconds, with so many faults.
    fn cost(method: &str, wall: f64, system: f64, user: f64, faults: f64) -> CellSummary {
        let mut cell = measured(method, "64", wall, 5);
        let phase = cell.phases.get_mut("copy").unwrap();
        (phase.system_ns, phase.user_ns, phase.minor_faults) = (system, user, faults);
        phase.cpu_ns = distribution(system + user);
        cell
    }

    fn cause(a: CellSummary, b: CellSummary) -> Option<Difference> {
        let made = summary("r", vec![a, b]);
        let answers = answers(&[resolved(claim("ratio", "high = 0.9"))], &[&made], MARGIN);
        answers[0].jobs[0].cause.clone()
    }

    #[test]
    fn the_cause_is_said_where_a_part_carries_the_difference_and_not_otherwise() {
        let faults = cause(
            cost("a", 1000.0, 100.0, 900.0, 10.0),
            cost("b", 3000.0, 2000.0, 1000.0, 5120.0),
        );
        let Some(Difference::Kernel(part)) = faults else {
            panic!("{faults:?}")
        };
        assert_eq!(
            (part.counter, part.dear.as_str(), part.cheap.as_str()),
            (Counter::Faults, "b", "a")
        );
        assert_eq!((part.dear_count, part.cheap_count), (5120.0, 10.0));
        let waiting = cause(
            cost("a", 1000.0, 100.0, 900.0, 0.0),
            cost("b", 9000.0, 100.0, 900.0, 0.0),
        );
        assert!(
            matches!(waiting, Some(Difference::Waiting(_))),
            "{waiting:?}"
        );
        let program = cause(
            cost("a", 1000.0, 0.0, 1000.0, 0.0),
            cost("b", 3000.0, 0.0, 3000.0, 0.0),
        );
        assert!(
            matches!(program, Some(Difference::Program(_))),
            "{program:?}"
        );
        let unknown = cause(
            cost("a", 1000.0, 300.0, 700.0, 0.0),
            cost("b", 3000.0, 1100.0, 1500.0, 0.0),
        );
        assert_eq!(unknown, Some(Difference::NotFound));
    }
}
