//! Runs of many machines as a document: the outliers and what to do first, then each kind, then kinds compared, then what was
//! left out.

use super::compared::{SideNames, by_experiment, side_by_side};
use crate::render::document::{Block, Document, Entry, Place, Shown, Table, TableCell, Tone};
use crate::render::plot::{Axis, Plot};
use crate::sentences::{outliers as sentences, wording::count};
use crate::tables::columns::Columns;
use record::cell::parameter_words;
use record::outliers::{
    Finding, KindCell, KindMethod, KindsCompared, MachineGroup, OddNode, OutlierSearch,
};
use std::collections::BTreeMap;

pub use crate::sentences::outliers::unread;

/// Facts that are shown of an outlier.
const FACTS: usize = 8;

/// A finding on an outlier; what is true of the node as a whole is shown with its first.
struct OddRow<'a> {
    node: &'a OddNode,
    finding: &'a Finding,
    is_first: bool,
}

/// The whole search. `again` measures the outliers again where that can be done, `anew` makes the page anew.
pub fn document(search: &OutlierSearch, again: &str, anew: &str) -> Document {
    let counts = [
        (search.nodes, "node"),
        (search.runs, "run"),
        (search.kinds.len(), "kind"),
    ];
    let mut document =
        Document::new("machines", counts.map(|(number, noun)| count(number, noun))).explained();
    document = document.section(
        "answers",
        "Outliers",
        Place::Everywhere,
        answers(search, again),
    );
    for kind in &search.kinds {
        let (id, title) = (format!("kind-{}", kind.name), format!("Kind {}", kind.name));
        document = document.section(&id, title, Place::Everywhere, of_kind(kind, search));
    }
    for compared in &search.compared {
        let (a, b) = (&compared.a, &compared.b);
        let title = format!("Kind {b} against kind {a}");
        document = document.section(
            &format!("compared-{a}-{b}"),
            title,
            Place::Everywhere,
            kinds(compared),
        );
    }
    let unread = Block::list("", search.unread.iter().map(sentences::unread))
        .into_iter()
        .collect();
    let left_out = format!("{} left out", count(search.unread.len(), "folder"));
    let document = document.section("unread", left_out, Place::Everywhere, unread);
    document.section(
        "repeat",
        "How to repeat it",
        Place::Page,
        vec![Block::Commands(vec![anew.to_owned()])],
    )
}

fn answers(search: &OutlierSearch, again: &str) -> Vec<Block> {
    let mut blocks = vec![
        Block::Answer(sentences::odd(search)),
        Block::Text(sentences::head(search)),
    ];
    blocks.push(Block::Table(odd_table(search)));
    if !search.rerun.is_empty() && !again.is_empty() {
        blocks.push(Block::text(AGAIN));
        blocks.push(Block::Commands(vec![again.to_owned()]));
    }
    blocks
}

fn odd_table(search: &OutlierSearch) -> Table {
    let rows = search.odd.iter().flat_map(|node| {
        let findings = node.findings.iter().enumerate();
        findings.map(move |(at, finding)| OddRow {
            node,
            finding,
            is_first: at == 0,
        })
    });
    Columns::new("node", |row: &OddRow| row.node.node.clone())
        .text("kind", |row| row.node.kind.clone())
        .sentences("cell", |row| {
            let (cell, parameters) = row.finding.cell();
            named(cell, parameters)
        })
        .sentences("in what it is odd", |row| sentences::finding(row.finding))
        .sentences("how sure", |row| {
            if row.is_first {
                sentences::sure(row.node)
            } else {
                ""
            }
        })
        .sentences("may be why", |row| {
            let facts = sentences::why(row.node, FACTS).filter(|_| row.is_first);
            facts.unwrap_or_default()
        })
        .shown(Shown::Room(0))
        .marked(|_, entry| Entry {
            tone: Tone::Slower,
            ..entry
        })
        .table("Nodes that are unlike their kind, the furthest first", rows)
}

fn of_kind(kind: &MachineGroup, search: &OutlierSearch) -> Vec<Block> {
    let mut blocks = vec![Block::Answer(sentences::kind(kind))];
    blocks.extend(
        [sentences::unlike(kind), sentences::too_few(kind)]
            .into_iter()
            .flatten()
            .map(Block::Text),
    );
    blocks.push(Block::Table(costs(kind)));
    blocks.push(Block::Table(methods(kind, search)));
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
    Columns::new("cell", |cell: &KindCell| {
        named(&cell.headline.cell, &cell.headline.parameters)
    })
    .text("unit", |cell| cell.headline.unit.clone())
    .number("median", |cell| TableCell::ns(cell.per_unit_ns))
    .number("5 % of nodes", |cell| TableCell::ns(cell.low_ns))
    .number("95 %", |cell| TableCell::ns(cell.high_ns))
    .number("between nodes", |cell| TableCell::share(cell.between_nodes))
    .number("within", |cell| TableCell::share(cell.within_nodes))
    .number("nodes", |cell| TableCell::count(cell.nodes))
    .table(
        "Cost of a unit on the median node, and how much nodes and launches scatter",
        &kind.cells,
    )
}

fn methods(kind: &MachineGroup, search: &OutlierSearch) -> Table {
    let axis = Axis::over(
        kind.methods
            .iter()
            .filter_map(|method| method.contrast.ratio.as_ref()),
    );
    Columns::new("method", |method: &KindMethod| {
        named(&method.cell, &method.parameters)
    })
    .text("against", |method| method.baseline.clone())
    .ratios(axis.as_ref(), Shown::Room(1), |method, axis| {
        let ratio = method.contrast.ratio?;
        let label = TableCell::ratio(Some(&ratio)).text;
        Some(Plot::interval(axis, ratio, &label))
    })
    .number("ratio", |method| TableCell::ratio(method.contrast.ratio.as_ref()))
    .shown(Shown::Room(0))
    .sentences("finding", |method| sentences::method(method, search))
    .table(
        "Each method's cost over its baseline's, with 95 % limits over nodes; left of 1 it costs less",
        &kind.methods,
    )
}

fn kinds(compared: &KindsCompared) -> Vec<Block> {
    let [side_a, side_b] = [&compared.a, &compared.b].map(|kind| format!("kind {kind}"));
    let mut blocks = vec![Block::text(
        "unpaired, the node as the unit, outliers left out",
    )];
    for (experiment, cells) in by_experiment(&compared.cells) {
        blocks.push(Block::Heading(experiment.to_owned()));
        blocks.extend(side_by_side(
            &cells,
            SideNames::new(&side_a, &side_b, "node"),
        ));
    }
    blocks
}

/// First step for an outlier.
const AGAIN: &str =
    "one run may be wrong: measure these again beside their other runs, and ask again";

fn named(cell: &str, parameters: &BTreeMap<String, String>) -> String {
    format!("{cell} {}", parameter_words(parameters, None))
        .trim_end()
        .to_owned()
}
