//! A fleet in lines no wider than the terminal: the odd nodes and what to do first, then each kind, then kinds compared.

use std::collections::BTreeMap;

use record::across::FactDifference;
use record::cell::parameter_words;
use record::fleet::{Checked, Finding, Fleet, Kind, KindCell, KindMethod, KindsCompared, Missed, OddNode};
use record::sizes::format_ns;
use record::summary::{Comparison, Estimate, Verdict};
use stats::apart::LEAST;

use super::Screen;
use super::layout::{Side, table, wrap};
use crate::inert::inert;
use crate::words;

/// Odd nodes, and folders that take no part, that are shown; all of them are in the JSON.
const SHOWN: usize = 40;

/// Facts that are shown of an odd node.
const FACTS: usize = 4;

/// Everything that is said of a fleet. `command` measures the odd nodes again.
pub fn fleet(fleet: &Fleet, command: &str, screen: &Screen) -> String {
    let (nodes, runs) = (count(fleet.nodes, "node"), count(fleet.runs, "run"));
    let head = format!(
        "{nodes}, {runs}, {}; a node is odd where it lies apart from its kind by more than {} and by more than chance",
        count(fleet.kinds.len(), "kind"),
        words::percent(fleet.margin)
    );
    let mut lines = wrap(&head, 0, screen);
    lines.extend(odd(fleet, screen));
    if !fleet.rerun.is_empty() {
        let told = "one run may be wrong: measure these again beside their other runs, and ask again";
        lines.extend(wrap(told, 0, screen));
        // A command is copied whole, so it is not wrapped.
        lines.push(format!("  {}", inert(command)));
    }
    for kind in &fleet.kinds {
        lines.extend(of_kind(kind, fleet, screen));
    }
    for compared in &fleet.compared {
        lines.extend(kinds(compared, screen));
    }
    lines.extend(unread(fleet, screen));
    lines.join("\n") + "\n"
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn odd(fleet: &Fleet, screen: &Screen) -> Vec<String> {
    let mut lines = vec![String::new()];
    let judged: usize = fleet.kinds.iter().filter(|k| !k.too_few).map(|k| k.nodes.len()).sum();
    let told = match (judged, fleet.odd.len()) {
        (0, _) => format!("odd nodes: cannot be told; a kind needs {LEAST} nodes, and none has as many"),
        (_, 0) => format!("odd nodes: none of {judged}"),
        (_, odd) => format!("odd nodes: {odd} of {judged}"),
    };
    lines.extend(wrap(&told, 0, screen));
    for node in fleet.odd.iter().take(SHOWN) {
        lines.extend(odd_node(node, screen));
    }
    if fleet.odd.len() > SHOWN {
        lines.extend(wrap(&format!("and {} more, which --json lists", fleet.odd.len() - SHOWN), 2, screen));
    }
    lines
}

fn odd_node(node: &OddNode, screen: &Screen) -> Vec<String> {
    let sure = match node.confirmed {
        None => "one run",
        Some(true) => "confirmed by each of its runs",
        Some(false) => "not confirmed: its runs disagree",
    };
    let mut lines = wrap(&format!("{} (kind {}; {sure})", inert(&node.node), node.kind), 2, screen);
    for finding in &node.findings {
        let told = match finding {
            Finding::Cost { cell, parameters, ratio, spread, p } => format!(
                "{}: {:.2} times the cost on its kind, whose nodes scatter by {} (p {})",
                named(cell, parameters),
                ratio,
                words::percent(*spread),
                probability(*p)
            ),
            Finding::Outcome { cell, parameters, status, reason, others, nodes } => format!(
                "{}: {} here ({}), {} on {nodes} others",
                named(cell, parameters),
                status.word(),
                inert(reason),
                others.word()
            ),
        };
        lines.extend(wrap(&told, 4, screen));
    }
    let facts: Vec<String> = node.facts.iter().take(FACTS).map(|f| difference(f, "elsewhere")).collect();
    if !facts.is_empty() {
        let more = node.facts.len().saturating_sub(FACTS);
        let more = if more > 0 { format!("; {more} more") } else { String::new() };
        lines.extend(wrap(&format!("may be why: {}{more}", facts.join("; ")), 4, screen));
    }
    lines
}

fn difference(fact: &FactDifference, where_a: &str) -> String {
    format!("{} is {}, {where_a} {}", inert(&fact.field), inert(&fact.b), inert(&fact.a))
}

fn probability(p: f64) -> String {
    if p < 1e-4 { "below 0.0001".to_owned() } else { format!("{p:.4}") }
}

fn named(cell: &str, parameters: &BTreeMap<String, String>) -> String {
    inert(format!("{cell} {}", parameter_words(parameters, None)).trim_end())
}

fn of_kind(kind: &Kind, fleet: &Fleet, screen: &Screen) -> Vec<String> {
    let mut lines = vec![String::new()];
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
    let head = format!("kind {}: {}: {}", kind.name, count(kind.nodes.len(), "node"), facts.join(", "));
    lines.extend(wrap(&head, 0, screen));
    if !kind.differences.is_empty() {
        let told: Vec<String> = kind.differences.iter().map(|d| difference(d, "on kind A")).collect();
        lines.extend(wrap(&told.join("; "), 2, screen));
    }
    if kind.too_few {
        let names: Vec<String> = kind.nodes.iter().map(|n| inert(n)).collect();
        lines.extend(wrap(&format!("{}: too few to call one of them odd", names.join(" ")), 2, screen));
    }
    let names = ["what a unit costs", "median", "5 % of nodes", "95 %", "between", "within", "nodes"];
    let mut rows = vec![names.map(str::to_owned).to_vec()];
    rows.extend(kind.cells.iter().map(row));
    let sides = [Side::Left, Side::Right, Side::Right, Side::Right, Side::Right, Side::Right, Side::Right];
    lines.extend(table(&rows, &sides, 2, screen));
    for method in &kind.methods {
        let told = format!(
            "{} against {}: {}",
            named(&method.cell, &method.parameters),
            inert(&method.baseline),
            said(method, fleet)
        );
        lines.extend(wrap(&told, 2, screen));
    }
    lines
}

fn row(cell: &KindCell) -> Vec<String> {
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), words::percent);
    vec![
        format!("{}, {}", named(&cell.cell, &cell.parameters), inert(&cell.unit)),
        format_ns(cell.per_unit_ns),
        format_ns(cell.low_ns),
        format_ns(cell.high_ns),
        share(cell.between_nodes),
        share(cell.within_nodes),
        cell.nodes.to_string(),
    ]
}

fn said(method: &KindMethod, fleet: &Fleet) -> String {
    let word = match method.verdict {
        Verdict::Within { .. } => format!("within {}", words::percent(fleet.margin)),
        _ => verdict(&method.cell, Some(method.ratio), method.verdict, method.holds_among_all),
    };
    format!("{word}, over {}", count(method.ratio.launches, "node"))
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

fn kinds(compared: &KindsCompared, screen: &Screen) -> Vec<String> {
    let mut lines = vec![String::new()];
    let head =
        format!("kind {} against kind {}: unpaired, the node as the unit, odd nodes left out", compared.b, compared.a);
    lines.extend(wrap(&head, 0, screen));
    let names = ["what a unit costs", &compared.a, &compared.b, &format!("what that says of {}", compared.b)];
    let mut rows = vec![names.map(str::to_owned).to_vec()];
    for cell in &compared.cells {
        rows.push(vec![
            named(&cell.cell, &cell.parameters),
            format_ns(cell.a.per_unit_ns),
            format_ns(cell.b.per_unit_ns),
            verdict(&cell.phase, cell.estimate, cell.verdict, cell.holds_among_all),
        ]);
    }
    lines.extend(table(&rows, &[Side::Left, Side::Right, Side::Right, Side::Left], 2, screen));
    lines
}

fn unread(fleet: &Fleet, screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    if !fleet.unread.is_empty() {
        lines.push(String::new());
        lines.extend(wrap(&format!("{} left out", count(fleet.unread.len(), "folder")), 0, screen));
    }
    for folder in fleet.unread.iter().take(SHOWN) {
        let told = format!("{}: {}: {}", inert(&folder.folder), folder.what.word(), inert(&folder.reason));
        lines.extend(wrap(&told, 2, screen));
    }
    if fleet.unread.len() > SHOWN {
        lines.extend(wrap(&format!("and {} more, which --json lists", fleet.unread.len() - SHOWN), 2, screen));
    }
    lines
}

/// What a check of one node found, in one line.
pub fn checked(node: &str, checked: &Checked) -> String {
    let Some(nodes) = checked.nodes else {
        return format!("pagewise: UNKNOWN: {}: the criteria know no node of its kind\n", inert(node));
    };
    if checked.missed.is_empty() {
        let cells = count(checked.cells, "cell");
        return format!("pagewise: OK: {}: {cells} as on the {nodes} nodes that were learnt from\n", inert(node));
    }
    let told: Vec<String> = checked.missed.iter().map(missed).collect();
    format!("pagewise: ODD: {}: {}\n", inert(node), told.join("; "))
}

fn missed(missed: &Missed) -> String {
    match missed {
        Missed::Cost { cell, ratio, limit } => {
            format!("{} costs {ratio:.2} times what it costs on its kind (limit {limit:.2})", inert(cell))
        }
        Missed::Outcome { cell, status, reason } => {
            format!("{} is {} ({})", inert(cell), status.map_or("missing", |s| s.word()), inert(reason))
        }
    }
}
