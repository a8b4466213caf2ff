//! What is said of a fleet, in words that the terminal and the page share.

use std::collections::BTreeMap;

use record::across::{ComparedCell, FactDifference};
use record::cell::parameter_words;
use record::fleet::{Finding, Fleet, Kind, KindMethod, OddNode, Unread};
use record::summary::{Comparison, Estimate, Verdict};
use stats::apart::LEAST;

use crate::inert::inert;
use crate::words;

pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// What was read, and what odd means.
pub(crate) fn head(fleet: &Fleet) -> String {
    format!(
        "{}, {}, {}; a node is odd where it lies apart from its kind by more than {} and by more than chance",
        count(fleet.nodes, "node"),
        count(fleet.runs, "run"),
        count(fleet.kinds.len(), "kind"),
        words::percent(fleet.margin)
    )
}

/// How many nodes are odd.
pub(crate) fn odd(fleet: &Fleet) -> String {
    let judged: usize = fleet.kinds.iter().filter(|k| !k.too_few).map(|k| k.nodes.len()).sum();
    match (judged, fleet.odd.len()) {
        (0, _) => format!("odd nodes: cannot be told; a kind needs {LEAST} nodes, and none has as many"),
        (_, 0) => format!("odd nodes: none of {judged}"),
        (_, odd) => format!("odd nodes: {odd} of {judged}"),
    }
}

/// What is to be done with odd nodes first.
pub(crate) const AGAIN: &str = "one run may be wrong: measure these again beside their other runs, and ask again";

/// How sure it is that a node is odd.
pub(crate) fn sure(node: &OddNode) -> &'static str {
    match node.confirmed {
        None => "one run",
        Some(true) => "confirmed by each of its runs",
        Some(false) => "not confirmed: its runs disagree",
    }
}

/// The cell that a node is odd in.
pub(crate) fn place(finding: &Finding) -> String {
    let (cell, parameters) = finding.cell();
    named(cell, parameters)
}

/// In what a node is odd.
pub(crate) fn finding(finding: &Finding) -> String {
    match finding {
        Finding::Cost { ratio, spread, p, .. } => format!(
            "{ratio:.2} times the cost on its kind, whose nodes scatter by {} (p {})",
            words::percent(*spread),
            probability(*p)
        ),
        Finding::Outcome { status, reason, others, nodes, .. } => {
            format!("{} here ({}), {} on {nodes} others", status.word(), inert(reason), others.word())
        }
        Finding::Throttled { seen, nodes, .. } => format!("{}; none did on {nodes} others", inert(seen)),
    }
}

/// A fact that differs.
pub(crate) fn difference(fact: &FactDifference, where_a: &str) -> String {
    format!("{} is {}, {where_a} {}", inert(&fact.field), inert(&fact.b), inert(&fact.a))
}

/// At most so many facts of an odd node that may be why; none where there are none.
pub(crate) fn why(node: &OddNode, most: usize) -> Option<String> {
    let mut facts: Vec<String> = node.facts.iter().take(most).map(|f| difference(f, "elsewhere")).collect();
    let more = node.facts.len().saturating_sub(most);
    facts.extend((more > 0).then(|| format!("{more} more")));
    (!facts.is_empty()).then(|| facts.join("; "))
}

fn probability(p: f64) -> String {
    if p < 1e-4 { "below 0.0001".to_owned() } else { format!("{p:.4}") }
}

/// A cell with its parameters.
pub(crate) fn named(cell: &str, parameters: &BTreeMap<String, String>) -> String {
    inert(format!("{cell} {}", parameter_words(parameters, None)).trim_end())
}

/// How many nodes a kind has, and what they are.
pub(crate) fn kind(kind: &Kind) -> String {
    let fact = |name: &str| kind.facts.get(name).filter(|f| *f != "unknown").map(|f| inert(f));
    let facts = [
        fact("cpu"),
        fact("cpus").map(|n| format!("{n} CPUs")),
        fact("memory"),
        fact("kernel").map(|k| format!("Linux {k}")),
        fact("microcode").map(|m| format!("microcode {m}")),
        fact("thp").map(|t| format!("THP {t}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    format!("kind {}: {}: {}", kind.name, count(kind.nodes.len(), "node"), facts.join(", "))
}

/// In which facts a kind differs from the first.
pub(crate) fn unlike(kind: &Kind) -> Option<String> {
    let told: Vec<String> = kind.differences.iter().map(|d| difference(d, "on kind A")).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The names of nodes that are too few to be judged.
pub(crate) fn too_few(kind: &Kind) -> Option<String> {
    let names: Vec<String> = kind.nodes.iter().map(|n| inert(n)).collect();
    kind.too_few.then(|| format!("{}: too few to call one of them odd", names.join(" ")))
}

/// What the nodes of a kind say of a method against its baseline.
pub(crate) fn method(method: &KindMethod, fleet: &Fleet) -> String {
    let word = match method.verdict {
        Verdict::Within { .. } => format!("within {}", words::percent(fleet.margin)),
        _ => verdict(&method.cell, Some(method.ratio), method.verdict, method.holds_among_all),
    };
    format!("{word}, over {}", count(method.ratio.launches, "node"))
}

/// What a cell says of the second of two kinds.
pub(crate) fn compared(cell: &ComparedCell) -> String {
    verdict(&cell.phase, cell.estimate, cell.verdict, cell.holds_among_all)
}

fn verdict(phase: &str, ratio: Option<Estimate>, verdict: Verdict, holds_among_all: bool) -> String {
    words::verdict_briefly(&Comparison {
        cell: 0,
        phase: phase.to_owned(),
        ratio,
        cpu_ratio: None,
        faults_ratio: None,
        verdict,
        holds_among_all,
    })
}

/// A folder that takes no part, and why.
pub(crate) fn unread(folder: &Unread) -> String {
    format!("{}: {}: {}", inert(&folder.folder), folder.what.word(), inert(&folder.reason))
}
