//! The page of a comparison: what differs between the sides first, then what a gate says, then every cell, then claims whose
//! verdict is not the same.

use record::across::Compared;
use record::claim::Change;

use super::document::{Block, Body, Cell, Column, Document, Entry, Key, Section, Table};
use super::{chart, data, template};
use crate::view::{Axis, ComparedTable, ComparedView, FactRow, TurnedView};

/// The page of two sets of runs; `claims` where both are runs of claims, `again` the command that makes the page anew.
pub fn page(compared: &Compared, claims: bool, again: &str) -> String {
    let view = ComparedView::of(compared, claims);
    let mut sections = vec![answers(&view)];
    sections.push(environment(&view));
    sections.extend(view.turned.as_deref().map(verdicts));
    sections.extend(view.tables.iter().map(cells));
    if !view.missing.is_empty() {
        let items = view.missing.clone();
        let blocks = vec![Block::List { title: String::new(), items }];
        sections.push(section("missing", "Not compared", blocks));
    }
    sections.push(repeat(&view, again));
    let head = view.sides.iter().map(|side| format!("{}: {}", side.name, side.what));
    let document = Document { title: "Pagewise: comparison".into(), head: head.collect(), sections };
    template::html(&document, Some(&data::rounded(serde_json::to_value(compared).unwrap_or_default())))
}

/// The page of claims alone whose verdicts are not the same in two runs of these names.
pub fn changes(changes: &[Change], names: [&str; 2], again: &str) -> String {
    let turned: Vec<TurnedView> = changes.iter().map(TurnedView::of).collect();
    let mut sections = vec![verdicts(&turned)];
    sections.push(section("repeat", "How to repeat it", vec![Block::Commands { lines: vec![again.to_owned()] }]));
    let head = names.iter().zip(["A", "B"]).map(|(run, name)| format!("{name}: {run}"));
    let document = Document { title: "Pagewise: claims compared".into(), head: head.collect(), sections };
    template::html(&document, Some(&data::rounded(serde_json::to_value(changes).unwrap_or_default())))
}

fn section(id: &str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id: id.to_owned(), title: title.to_owned(), short: String::new(), blocks }
}

/// A sentence as a paragraph begins.
fn sentence(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect::<String>() + ".")
}

fn answers(view: &ComparedView) -> Section {
    let mut blocks = Vec::new();
    if let Some(gate) = &view.gate {
        blocks.push(Block::Answer { text: sentence(gate) });
    }
    blocks.push(Block::Answer { text: view.count.clone() });
    blocks.push(Block::text(sentence(&view.environment)));
    blocks.push(Block::List { title: "How sure".into(), items: view.sure.clone() });
    section("answers", "Answers", blocks)
}

fn environment(view: &ComparedView) -> Section {
    let row = |fact: &FactRow| {
        let asked = if fact.expected { "as asked" } else { "" };
        let cells = vec![Cell::text(&fact.a), Cell::text(&fact.b), Cell::text(asked)];
        Entry { name: fact.field.clone(), cells, ..Entry::default() }
    };
    let kinds = [("can change every figure", &view.gravely), ("should change none", &view.harmless)];
    let bodies = kinds.into_iter().filter(|(_, facts)| !facts.is_empty()).map(|(heading, facts)| Body {
        heading: heading.to_owned(),
        aside: false,
        rows: facts.iter().map(row).collect(),
    });
    let bodies: Vec<Body> = bodies.collect();
    let mut blocks = Vec::new();
    if bodies.is_empty() {
        blocks.push(Block::text("Nothing differs."));
    }
    if !bodies.is_empty() {
        blocks.push(Block::Table(Table {
            caption: "In what the sides differ besides what they measured".into(),
            legend: Vec::new(),
            columns: vec![Column::text("fact"), Column::words("A"), Column::words("B"), Column::text("")],
            bodies,
        }));
    }
    for side in view.sides.iter().filter(|side| !side.unlike.is_empty()) {
        blocks.push(Block::text(format!("Beware: of {} {}.", side.name, side.unlike)));
    }
    section("environment", "Environment", blocks)
}

fn cells(own: &ComparedTable) -> Section {
    let gate = own.rows.iter().any(|row| !row.gate.is_empty());
    let mut columns = vec![Column::text("cell")];
    columns.extend(own.axis.as_ref().map(|axis| Column::plot("", chart::head(axis))));
    columns.extend(["what that says of B"].map(Column::words));
    columns.extend(gate.then(|| Column::text("gate")));
    columns.extend(["A", "B", "ratio B / A"].map(Column::number));
    columns.extend(["A from run to run", "B from run to run"].map(|t| Column { class: "number", ..Column::text(t) }));
    let row = |row: &crate::view::ComparedRow| {
        let mut cells = Vec::new();
        if let Some(axis) = &own.axis {
            let drawn = row.ratio.as_ref().map(|ratio| chart::sides(axis, ratio, &row.runs, &row.ratio_words));
            cells.push(Cell::drawing(drawn));
        }
        cells.push(Cell::text(&row.said));
        cells.extend(gate.then(|| Cell::text(row.gate)));
        cells.extend(row.cost.iter().map(|(ns, words)| Cell::number(words, Some(*ns))));
        cells.push(Cell::number(&row.ratio_words, row.ratio.map(|r| r.ratio)));
        cells.extend(row.scatter.iter().map(Cell::text));
        Entry { name: row.label.clone(), cell: None, mark: row.mark, cells }
    };
    let legend = [("launch-a", "A's runs, above"), ("launch-b", "B's runs, below")];
    let legend = legend.map(|(class, text)| Key { class: class.into(), text: text.into() });
    let table = Table {
        caption: format!(
            "{}: what B costs over what A costs, with 95 % limits over runs; left of 1 B costs less. Each dot is a run over the middle of A's runs",
            own.measure
        ),
        legend: if own.axis.is_some() { legend.into() } else { Vec::new() },
        columns,
        bodies: vec![Body { rows: own.rows.iter().map(row).collect(), ..Body::default() }],
    };
    let id = format!("experiment-{}", own.experiment);
    let title = own.experiment.clone();
    let mut blocks = Vec::new();
    if !own.constant.is_empty() {
        blocks.push(Block::text(format!("Throughout: {}.", own.constant.join(" "))));
    }
    blocks.push(Block::Table(table));
    Section { id, short: title.clone(), title, blocks }
}

fn verdicts(turned: &[TurnedView]) -> Section {
    let title = "Claims whose verdict is not the same";
    if turned.is_empty() {
        let blocks = vec![Block::Answer { text: "Every verdict of A is the same in B.".into() }];
        return Section { short: "claims".into(), ..section("claims", title, blocks) };
    }
    let axis = Axis::over(turned.iter().flat_map(|one| one.ratios.iter().flatten()));
    let mut columns = vec![Column::text("claim")];
    for side in ["A", "B"] {
        columns.push(Column::text(format!("verdict in {side}")));
        columns.extend(axis.as_ref().map(|axis| Column::plot("", chart::head(axis))));
        columns.push(Column { class: "number", ..Column::text(format!("figure in {side}")) });
    }
    columns.push(Column::words("what was said"));
    let row = |one: &TurnedView| {
        let mut cells = Vec::new();
        for at in [0, 1] {
            cells.push(Cell::text(&one.words[at]));
            if let Some(axis) = &axis {
                let ratio = one.ratios[at].as_ref();
                let drawn = ratio.map(|ratio| chart::interval(axis, Some(ratio), &[], &one.figures[at]));
                cells.push(Cell::drawing(drawn));
            }
            cells.push(Cell::text(&one.figures[at]));
        }
        cells.push(Cell::text(&one.statement));
        Entry { name: format!("{} ({})", one.id, one.job), cells, ..Entry::default() }
    };
    let count = if turned.len() == 1 { "1 verdict".to_owned() } else { format!("{} verdicts", turned.len()) };
    let table = Table {
        caption: "The first way's cost over the other's, with 95 % limits; left of 1 it costs less".into(),
        legend: Vec::new(),
        columns,
        bodies: vec![Body { rows: turned.iter().map(row).collect(), ..Body::default() }],
    };
    let blocks = vec![Block::Answer { text: format!("{count} of A and B are not the same.") }, Block::Table(table)];
    Section { short: "claims".into(), ..section("claims", title, blocks) }
}

fn repeat(view: &ComparedView, again: &str) -> Section {
    let mut blocks = vec![Block::Commands { lines: vec![again.to_owned()] }];
    for side in &view.sides {
        let items = side.runs.iter().map(|run| format!("pagewise report {run}")).collect();
        blocks.push(Block::List { title: format!("The runs of {}", side.name), items });
    }
    section("repeat", "How to repeat it", blocks)
}
