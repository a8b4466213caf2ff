//! The page of a fleet: the odd nodes and what to do first, then each kind, then kinds compared, then what was left out.

use record::fleet::{Fleet, Kind, KindCell, KindsCompared};
use record::sizes::format_ns;

use super::document::{Block, Body, Cell, Column, Document, Entry, Section, Table};
use super::{chart, data, template};
use crate::fleet as said;
use crate::view::Axis;
use crate::{numbers, words};

/// Facts that are shown of an odd node.
const FACTS: usize = 12;

/// The page. `again` measures the odd nodes again, `anew` makes the page anew.
pub fn page(fleet: &Fleet, again: &str, anew: &str) -> String {
    let mut sections = vec![answers(fleet, again)];
    sections.extend(fleet.kinds.iter().map(|kind| of_kind(kind, fleet)));
    sections.extend(fleet.compared.iter().map(kinds));
    if !fleet.unread.is_empty() {
        let items = fleet.unread.iter().map(said::unread).collect();
        sections.push(section("unread", "Folders left out", vec![Block::List { title: String::new(), items }]));
    }
    sections.push(section("repeat", "How to repeat it", vec![Block::Commands { lines: vec![anew.to_owned()] }]));
    let counts = [(fleet.nodes, "node"), (fleet.runs, "run"), (fleet.kinds.len(), "kind")];
    let head = counts.into_iter().map(|(number, noun)| said::count(number, noun)).collect();
    let document = Document { title: "Pagewise: fleet".into(), head, sections };
    template::html(&document, Some(&data::rounded(serde_json::to_value(fleet).unwrap_or_default())))
}

fn section(id: &str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id: id.to_owned(), title: title.to_owned(), short: String::new(), blocks }
}

fn answers(fleet: &Fleet, again: &str) -> Section {
    let mut blocks = vec![Block::Answer { text: said::odd(fleet) }, Block::text(said::head(fleet))];
    if !fleet.odd.is_empty() {
        blocks.push(odd(fleet));
    }
    if !fleet.rerun.is_empty() {
        blocks.push(Block::text(said::AGAIN));
        blocks.push(Block::Commands { lines: vec![again.to_owned()] });
    }
    section("answers", "Odd nodes", blocks)
}

/// A row a finding; what is said of a node as a whole stands in its first.
fn odd(fleet: &Fleet) -> Block {
    let rows = fleet.odd.iter().flat_map(|node| {
        node.findings.iter().enumerate().map(move |(at, finding)| {
            let once = |words: String| Cell::text(if at == 0 { words } else { String::new() });
            let cells = vec![
                Cell::text(&node.kind),
                Cell::text(said::place(finding)),
                Cell::text(said::finding(finding)),
                once(said::sure(node).to_owned()),
                once(said::why(node, FACTS).unwrap_or_default()),
            ];
            Entry { name: node.node.clone(), mark: "slower", cells, ..Entry::default() }
        })
    });
    Block::Table(Table {
        caption: "Nodes that are unlike their kind, the furthest first".into(),
        legend: Vec::new(),
        columns: vec![
            Column::text("node"),
            Column::text("kind"),
            Column::text("cell"),
            Column::words("in what it is odd"),
            Column::text("how sure"),
            Column::words("may be why"),
        ],
        bodies: vec![Body { rows: rows.collect(), ..Body::default() }],
    })
}

fn of_kind(kind: &Kind, fleet: &Fleet) -> Section {
    let mut blocks = vec![Block::Answer { text: said::kind(kind) }];
    blocks.extend([said::unlike(kind), said::too_few(kind)].into_iter().flatten().map(Block::text));
    if !kind.cells.is_empty() {
        blocks.push(costs(kind));
    }
    if !kind.methods.is_empty() {
        blocks.push(methods(kind, fleet));
    }
    let facts = kind.facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let items = vec![Block::List { title: String::new(), items: facts }];
    blocks.push(Block::Fold { title: "What its nodes have in common".into(), blocks: items });
    blocks.push(Block::Fold {
        title: "Its nodes".into(),
        blocks: vec![Block::List { title: String::new(), items: kind.nodes.clone() }],
    });
    section(&format!("kind-{}", kind.name), &format!("Kind {}", kind.name), blocks)
}

fn costs(kind: &Kind) -> Block {
    let row = |cell: &KindCell| {
        let ns = |ns: f64| Cell::number(format_ns(ns), Some(ns));
        let share = |share: Option<f64>| Cell::number(share.map_or_else(String::new, words::percent), share);
        let cells = vec![
            Cell::text(&cell.unit),
            ns(cell.per_unit_ns),
            ns(cell.low_ns),
            ns(cell.high_ns),
            share(cell.between_nodes),
            share(cell.within_nodes),
            Cell::number(cell.nodes.to_string(), Some(cell.nodes as f64)),
        ];
        Entry { name: said::named(&cell.cell, &cell.parameters), cells, ..Entry::default() }
    };
    let mut columns = vec![Column::text("cell"), Column::text("unit")];
    columns.extend(["median", "5 % of nodes", "95 %", "between nodes", "within", "nodes"].map(Column::number));
    Block::Table(Table {
        caption: "What a unit costs on the median node, and how much nodes and launches scatter".into(),
        legend: Vec::new(),
        columns,
        bodies: vec![Body { rows: kind.cells.iter().map(row).collect(), ..Body::default() }],
    })
}

fn methods(kind: &Kind, fleet: &Fleet) -> Block {
    let axis = Axis::over(kind.methods.iter().map(|method| &method.ratio));
    let mut columns = vec![Column::text("method"), Column::text("against")];
    columns.extend(axis.as_ref().map(|axis| Column::plot("", chart::head(axis))));
    columns.extend([Column::number("ratio"), Column::words("what that says of it")]);
    let rows = kind.methods.iter().map(|method| {
        let ratio = numbers::ratio_words(&method.ratio);
        let mut cells = vec![Cell::text(&method.baseline)];
        cells.extend(
            axis.as_ref().map(|axis| Cell::drawing(Some(chart::interval(axis, Some(&method.ratio), &[], &ratio)))),
        );
        cells.push(Cell::number(&ratio, Some(method.ratio.ratio)));
        cells.push(Cell::text(said::method(method, fleet)));
        Entry { name: said::named(&method.cell, &method.parameters), cells, ..Entry::default() }
    });
    Block::Table(Table {
        caption: "Each method's cost over its baseline's, with 95 % limits over nodes; left of 1 it costs less".into(),
        legend: Vec::new(),
        columns,
        bodies: vec![Body { rows: rows.collect(), ..Body::default() }],
    })
}

fn kinds(compared: &KindsCompared) -> Section {
    let (a, b) = (&compared.a, &compared.b);
    let axis = Axis::over(compared.cells.iter().filter_map(|cell| cell.estimate.as_ref()));
    let mut columns = vec![Column::text("cell")];
    columns.extend(axis.as_ref().map(|axis| Column::plot("", chart::head(axis))));
    columns.extend([format!("kind {a}"), format!("kind {b}")].map(Column::number));
    columns.push(Column::words(format!("what that says of {b}")));
    let rows = compared.cells.iter().map(|cell| {
        let told = said::compared(cell);
        let drawn = |axis: &Axis| cell.estimate.as_ref().map(|e| chart::interval(axis, Some(e), &[], &told));
        let mut cells: Vec<Cell> = axis.iter().map(|axis| Cell::drawing(drawn(axis))).collect();
        cells.extend([&cell.a, &cell.b].map(|side| Cell::number(format_ns(side.per_unit_ns), Some(side.per_unit_ns))));
        cells.push(Cell::text(told));
        Entry { name: said::named(&cell.cell, &cell.parameters), cells, ..Entry::default() }
    });
    let table = Table {
        caption: format!("What {b} costs over what {a} costs, with 95 % limits over nodes; left of 1 {b} costs less"),
        legend: Vec::new(),
        columns,
        bodies: vec![Body { rows: rows.collect(), ..Body::default() }],
    };
    let told = "Unpaired, the node as the unit, odd nodes left out.";
    let title = format!("Kind {b} against kind {a}");
    section(&format!("compared-{a}-{b}"), &title, vec![Block::text(told), Block::Table(table)])
}
