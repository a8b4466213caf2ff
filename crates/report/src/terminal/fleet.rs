//! A fleet in lines no wider than the terminal: the odd nodes and what to do first, then each kind, then kinds compared.

use record::fleet::{Checked, Fleet, Kind, KindCell, KindsCompared, Missed, OddNode};
use record::sizes::format_ns;

use super::Screen;
use super::layout::{Side, table, wrap};
use crate::fleet::{self as said, count, named};
use crate::inert::inert;
use crate::words;

/// Odd nodes, and folders that take no part, that are shown; all of them are in the JSON.
const SHOWN: usize = 40;

/// Facts that are shown of an odd node.
const FACTS: usize = 4;

/// Everything that is said of a fleet. `command` measures the odd nodes again.
pub fn fleet(fleet: &Fleet, command: &str, screen: &Screen) -> String {
    let mut lines = wrap(&said::head(fleet), 0, screen);
    lines.extend(odd(fleet, screen));
    if !fleet.rerun.is_empty() {
        lines.extend(wrap(said::AGAIN, 0, screen));
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

fn odd(fleet: &Fleet, screen: &Screen) -> Vec<String> {
    let mut lines = vec![String::new()];
    lines.extend(wrap(&said::odd(fleet), 0, screen));
    for node in fleet.odd.iter().take(SHOWN) {
        lines.extend(odd_node(node, screen));
    }
    if fleet.odd.len() > SHOWN {
        lines.extend(wrap(&format!("and {} more, which --json lists", fleet.odd.len() - SHOWN), 2, screen));
    }
    lines
}

fn odd_node(node: &OddNode, screen: &Screen) -> Vec<String> {
    let head = format!("{} (kind {}; {})", inert(&node.node), node.kind, said::sure(node));
    let mut lines = wrap(&head, 2, screen);
    for finding in &node.findings {
        lines.extend(wrap(&format!("{}: {}", said::place(finding), said::finding(finding)), 4, screen));
    }
    if let Some(why) = said::why(node, FACTS) {
        lines.extend(wrap(&format!("may be why: {why}"), 4, screen));
    }
    lines
}

fn of_kind(kind: &Kind, fleet: &Fleet, screen: &Screen) -> Vec<String> {
    let mut lines = vec![String::new()];
    lines.extend(wrap(&said::kind(kind), 0, screen));
    for told in [said::unlike(kind), said::too_few(kind)].into_iter().flatten() {
        lines.extend(wrap(&told, 2, screen));
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
            said::method(method, fleet)
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
            said::compared(cell),
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
        lines.extend(wrap(&said::unread(folder), 2, screen));
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
        Missed::Throttled { cell, seen } => format!("{}: {}", inert(cell), inert(seen)),
    }
}
