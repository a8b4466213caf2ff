//! A fleet as a document: the outliers and what to do first, then each kind, then kinds compared, then what was left out.

use super::compared::{by_experiment, side_by_side};
use crate::render::document::{
    Block, Column, Document, Entry, Place, Shown, Table, TableCell, Tone,
};
use crate::render::plot::{Axis, Plot};
use crate::sentences::{phrases, wording, wording::count};
use record::fleet::{
    Finding, Fleet, KindCell, KindMethod, KindsCompared, MachineGroup, OddNode, Unread,
};
use record::{across::FactDifference, cell::parameter_words, summary::Verdict};
use stats::apart::LEAST;
use std::collections::BTreeMap;

/// Facts that are shown of an outlier.
const FACTS: usize = 8;

/// The whole fleet. `again` measures the outliers again, `anew` makes the page anew.
pub fn document(fleet: &Fleet, again: &str, anew: &str) -> Document {
    let counts = [
        (fleet.nodes, "node"),
        (fleet.runs, "run"),
        (fleet.kinds.len(), "kind"),
    ];
    let mut document = Document::new("fleet", counts.map(|(number, noun)| count(number, noun)));
    document = document.section(
        "answers",
        "Outliers",
        Place::Everywhere,
        answers(fleet, again),
    );
    for kind in &fleet.kinds {
        let (id, title) = (format!("kind-{}", kind.name), format!("Kind {}", kind.name));
        document = document.section(&id, title, Place::Everywhere, of_kind(kind, fleet));
    }
    for compared in &fleet.compared {
        let (a, b) = (&compared.a, &compared.b);
        let title = format!("Kind {b} against kind {a}");
        document = document.section(
            &format!("compared-{a}-{b}"),
            title,
            Place::Everywhere,
            kinds(compared),
        );
    }
    let unread = Block::list("", fleet.unread.iter().map(unread))
        .into_iter()
        .collect();
    let left_out = format!("{} left out", count(fleet.unread.len(), "folder"));
    let document = document.section("unread", left_out, Place::Everywhere, unread);
    document.section(
        "repeat",
        "How to repeat it",
        Place::Page,
        vec![Block::Commands(vec![anew.to_owned()])],
    )
}

fn answers(fleet: &Fleet, again: &str) -> Vec<Block> {
    let mut blocks = vec![Block::Answer(odd(fleet)), Block::Text(head(fleet))];
    // A row a finding; what is true of a node as a whole is in its first.
    let rows = fleet.odd.iter().flat_map(|node| {
        node.findings.iter().enumerate().map(move |(at, finding)| {
            let once = |text: String| TableCell::text(if at == 0 { text } else { String::new() });
            let cells = vec![
                TableCell::text(&node.kind),
                TableCell::text(named(finding.cell().0, finding.cell().1)),
                TableCell::text(self::finding(finding)),
                once(sure(node).to_owned()),
                once(why(node, FACTS).unwrap_or_default()),
            ];
            Entry {
                tone: Tone::Slower,
                ..Entry::new(&node.node, cells)
            }
        })
    });
    let columns = vec![
        Column::text("node"),
        Column::text("kind"),
        Column::sentences("cell"),
        Column::sentences("in what it is odd"),
        Column::sentences("how sure"),
        Column::sentences("may be why").shown(Shown::Room(0)),
    ];
    blocks.push(Block::Table(Table::new(
        "Nodes that are unlike their kind, the furthest first",
        columns,
        rows,
    )));
    if !fleet.rerun.is_empty() {
        blocks.push(Block::text(AGAIN));
        blocks.push(Block::Commands(vec![again.to_owned()]));
    }
    blocks
}

fn of_kind(kind: &MachineGroup, fleet: &Fleet) -> Vec<Block> {
    let mut blocks = vec![Block::Answer(self::kind(kind))];
    blocks.extend(
        [unlike(kind), too_few(kind)]
            .into_iter()
            .flatten()
            .map(Block::Text),
    );
    blocks.push(Block::Table(costs(kind)));
    blocks.push(Block::Table(methods(kind, fleet)));
    let facts = kind
        .facts
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    let facts = Block::list("", facts).into_iter().collect();
    blocks.extend(Block::part(
        "What its nodes have in common",
        Place::Page,
        facts,
    ));
    let nodes = Block::list("", kind.nodes.iter().cloned())
        .into_iter()
        .collect();
    blocks.extend(Block::part("Its nodes", Place::Page, nodes));
    blocks
}

fn costs(kind: &MachineGroup) -> Table {
    let row = |cell: &KindCell| {
        let mut cells = vec![TableCell::text(&cell.headline.unit)];
        cells.extend([cell.per_unit_ns, cell.low_ns, cell.high_ns].map(TableCell::ns));
        cells.extend([
            TableCell::share(cell.between_nodes),
            TableCell::share(cell.within_nodes),
            TableCell::count(cell.nodes),
        ]);
        Entry::new(named(&cell.headline.cell, &cell.headline.parameters), cells)
    };
    let mut columns = vec![Column::text("cell"), Column::text("unit")];
    columns.extend(
        [
            "median",
            "5 % of nodes",
            "95 %",
            "between nodes",
            "within",
            "nodes",
        ]
        .map(Column::number),
    );
    let caption = "Cost of a unit on the median node, and how much nodes and launches scatter";
    Table::new(caption, columns, kind.cells.iter().map(row))
}

fn methods(kind: &MachineGroup, fleet: &Fleet) -> Table {
    let axis = Axis::over(kind.methods.iter().map(|method| &method.ratio));
    let mut columns = vec![Column::text("method"), Column::text("against")];
    columns.extend(
        axis.as_ref()
            .map(|axis| Column::plot(Plot::Ratios(axis.clone())).shown(Shown::Room(1))),
    );
    columns.extend([
        Column::number("ratio").shown(Shown::Room(0)),
        Column::sentences("finding"),
    ]);
    let rows = kind.methods.iter().map(|method| {
        let ratio = TableCell::ratio(Some(&method.ratio));
        let mut cells = vec![TableCell::text(&method.baseline)];
        cells
            .extend(axis.as_ref().map(|axis| {
                TableCell::plot(Some(Plot::interval(axis, method.ratio, &ratio.text)))
            }));
        cells.extend([ratio, TableCell::text(self::method(method, fleet))]);
        Entry::new(named(&method.cell, &method.parameters), cells)
    });
    let caption = "Each method's cost over its baseline's, with 95 % limits over nodes; left of 1 it costs less";
    Table::new(caption, columns, rows)
}

fn kinds(compared: &KindsCompared) -> Vec<Block> {
    let (a, b) = (&compared.a, &compared.b);
    let mut blocks = vec![Block::text(
        "unpaired, the node as the unit, outliers left out",
    )];
    for (experiment, cells) in by_experiment(&compared.cells) {
        blocks.push(Block::Heading(experiment.to_owned()));
        blocks.extend(side_by_side(
            &cells,
            [&format!("kind {a}"), &format!("kind {b}")],
            "node",
        ));
    }
    blocks
}

fn head(fleet: &Fleet) -> String {
    format!(
        "{}, {}, {}; a node is odd where it lies apart from its kind by more than {} and by more than chance",
        count(fleet.nodes, "node"),
        count(fleet.runs, "run"),
        count(fleet.kinds.len(), "kind"),
        wording::percent(fleet.margin)
    )
}

fn odd(fleet: &Fleet) -> String {
    let judged: usize = fleet
        .kinds
        .iter()
        .filter(|k| !k.too_few)
        .map(|k| k.nodes.len())
        .sum();
    match (judged, fleet.odd.len()) {
        (0, _) => {
            format!("outliers: cannot be told; a kind needs {LEAST} nodes, and none has as many")
        }
        (_, 0) => format!("outliers: none of {judged}"),
        (_, odd) => format!("outliers: {odd} of {judged}"),
    }
}

/// First step for an outlier.
const AGAIN: &str =
    "one run may be wrong: measure these again beside their other runs, and ask again";

fn sure(node: &OddNode) -> &'static str {
    match node.confirmed {
        None => "one run",
        Some(true) => "confirmed by each of its runs",
        Some(false) => "not confirmed: its runs disagree",
    }
}

fn finding(finding: &Finding) -> String {
    phrases::sentence("finding", finding)
}

fn difference(fact: &FactDifference, where_a: &str) -> String {
    format!("{} is {}, {where_a} {}", fact.field, fact.b, fact.a)
}

/// At most so many facts of an outlier that may be why; none where there are none.
fn why(node: &OddNode, most: usize) -> Option<String> {
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

fn named(cell: &str, parameters: &BTreeMap<String, String>) -> String {
    format!("{cell} {}", parameter_words(parameters, None))
        .trim_end()
        .to_owned()
}

fn kind(kind: &MachineGroup) -> String {
    let fact = |name: &str| kind.facts.get(name).filter(|f| *f != "unknown").cloned();
    let facts = [
        fact("cpu"),
        fact("cpus").map(|n| format!("{n} CPUs")),
        fact("memory"),
        fact("kernel").map(|k| format!("Linux {k}")),
        fact("microcode").map(|m| format!("microcode {m}")),
        fact("thp").map(|t| format!("THP {t}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    format!(
        "kind {}: {}: {}",
        kind.name,
        count(kind.nodes.len(), "node"),
        facts.join(", ")
    )
}

/// In which facts a kind differs from the first.
fn unlike(kind: &MachineGroup) -> Option<String> {
    let differences: Vec<String> = kind
        .differences
        .iter()
        .map(|d| difference(d, "on kind A"))
        .collect();
    (!differences.is_empty()).then(|| differences.join("; "))
}

/// The names of nodes that are too few to be judged.
fn too_few(kind: &MachineGroup) -> Option<String> {
    kind.too_few
        .then(|| format!("{}: too few to call one of them odd", kind.nodes.join(" ")))
}

/// The finding on a method over the nodes of a kind.
fn method(method: &KindMethod, fleet: &Fleet) -> String {
    let finding = match method.verdict {
        Verdict::Within { .. } => format!("within {}", wording::percent(fleet.margin)),
        _ => wording::finding(Some(&method.ratio), method.verdict, method.holds_among_all),
    };
    format!("{finding}, over {}", count(method.ratio.launches, "node"))
}

/// A folder that takes no part, with the reason.
pub fn unread(folder: &Unread) -> String {
    format!(
        "{}: {}",
        folder.folder,
        phrases::sentence("fault", &folder.fault)
    )
}
