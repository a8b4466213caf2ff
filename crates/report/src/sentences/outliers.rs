//! Runs of many machines in sentences: outliers, kinds of machines, methods over the nodes of a kind.

use super::{phrases, wording, wording::count};
use record::machine::environment::known;
use record::outliers::{Finding, KindMethod, MachineGroup, OddNode, OutlierSearch, Unread};
use record::{across::FactDifference, summary::Verdict};
use stats::apart::LEAST;

pub(crate) fn head(search: &OutlierSearch) -> String {
    format!(
        "{}, {}, {}; a node is odd where it lies apart from its kind by more than {} and by more than chance",
        count(search.nodes, "node"),
        count(search.runs, "run"),
        count(search.kinds.len(), "kind"),
        wording::percent(search.margin)
    )
}

pub(crate) fn odd(search: &OutlierSearch) -> String {
    let judged: usize = search
        .kinds
        .iter()
        .filter(|k| !k.too_few)
        .map(|k| k.nodes.len())
        .sum();
    match (judged, search.odd.len()) {
        (0, _) => {
            format!("outliers: cannot be told; a kind needs {LEAST} nodes, and none has as many")
        }
        (_, 0) => format!("outliers: none of {judged}"),
        (_, odd) => format!("outliers: {odd} of {judged}"),
    }
}

pub(crate) fn sure(node: &OddNode) -> &'static str {
    match node.confirmed {
        None => "one run",
        Some(true) => "confirmed by each of its runs",
        Some(false) => "not confirmed: its runs disagree",
    }
}

pub(crate) fn finding(finding: &Finding) -> String {
    phrases::sentence("finding", finding)
}

/// At most so many facts of an outlier that may be why; none where there are none.
pub(crate) fn why(node: &OddNode, most: usize) -> Option<String> {
    let mut facts: Vec<String> = node
        .facts
        .iter()
        .take(most)
        .map(|f| difference(f, "elsewhere"))
        .collect();
    let more = node.facts.len().saturating_sub(most);
    facts.extend((more > 0).then(|| format!("{more} more")));
    (!facts.is_empty()).then(|| facts.join("; "))
}

fn difference(fact: &FactDifference, where_a: &str) -> String {
    format!("{} is {}, {where_a} {}", fact.field, fact.b, fact.a)
}

pub(crate) fn kind(kind: &MachineGroup) -> String {
    let facts = [
        ("host", "", ""),
        ("cpu", "", ""),
        ("cpus", "", " CPUs"),
        ("memory", "", ""),
        ("kernel", "Linux ", ""),
        ("microcode", "microcode ", ""),
        ("thp", "THP ", ""),
    ];
    let mut parts = Vec::new();
    for (name, before, after) in facts {
        if let Some(fact) = known(&kind.facts, name) {
            parts.push(format!("{before}{fact}{after}"));
        }
    }
    format!(
        "kind {}: {}: {}",
        kind.name,
        count(kind.nodes.len(), "node"),
        parts.join(", ")
    )
}

/// Facts in which a kind differs from the first.
pub(crate) fn unlike(kind: &MachineGroup) -> Option<String> {
    let differences: Vec<String> = kind
        .differences
        .iter()
        .map(|d| difference(d, "on kind A"))
        .collect();
    (!differences.is_empty()).then(|| differences.join("; "))
}

/// The names of nodes that are too few to be judged.
pub(crate) fn too_few(kind: &MachineGroup) -> Option<String> {
    kind.too_few
        .then(|| format!("{}: too few to call one of them odd", kind.nodes.join(" ")))
}

/// The finding on a method over the nodes of a kind.
pub(crate) fn method(method: &KindMethod, search: &OutlierSearch) -> String {
    let finding = match method.contrast.verdict {
        Verdict::Within { .. } => format!("within {}", wording::percent(search.margin)),
        _ => wording::finding(&method.contrast),
    };
    let nodes = method.contrast.ratio.map_or(0, |ratio| ratio.launches);
    format!("{finding}, over {}", count(nodes, "node"))
}

/// A folder that takes no part, with the reason.
pub fn unread(folder: &Unread) -> String {
    format!(
        "{}: {}",
        folder.folder,
        phrases::sentence("fault", &folder.fault)
    )
}
