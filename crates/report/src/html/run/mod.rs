//! The page of a run, from its view: answers first, then each experiment, then what backs them.

use super::chart;
use super::document::{Block, Body, Cell, Column, Document, Entry, Key, Section, Table};
use crate::view::{ExperimentView, View};
use crate::words;

mod evidence;
mod group;

pub(super) fn document(view: &View) -> Document {
    let mut sections = vec![answers(view)];
    sections.extend(view.experiments.iter().map(experiment));
    sections.extend(evidence::sections(view));
    let what = view.head.first().cloned().unwrap_or_default();
    Document { title: format!("Pagewise: {what}"), head: view.head.iter().skip(1).cloned().collect(), sections }
}

fn entry(name: String, mark: &'static str, cells: Vec<Cell>) -> Entry {
    Entry { name, cell: None, mark, cells }
}

fn with_time(figure: &crate::view::Figure) -> Cell {
    Cell::text(format!("{} {}", figure.name, figure.time).trim_end())
}

fn answers(view: &View) -> Section {
    let mut blocks = Vec::new();
    let look = &view.look;
    if !look.worth.is_empty() {
        let columns = vec![
            Column::text("question"),
            Column::text("obvious way"),
            Column::text("measured best"),
            Column::text("times faster"),
            Column::plot("", chart::factors(&look.axis)),
        ];
        let row = |row: &crate::view::WorthRow| {
            let bar = chart::bar(&look.axis, row.factors, &format!("{} times faster", row.faster));
            let cells =
                vec![with_time(&row.obvious), with_time(&row.best), Cell::text(&row.faster), Cell::drawing(Some(bar))];
            entry(format!("{} {}", row.experiment, row.setting), "faster", cells)
        };
        blocks.push(Block::Table(Table {
            caption: "Worth changing: another way to do the same is shown to be faster".into(),
            legend: [("proven", "proven: at least so much"), ("possible", "possible: within the 95 % interval")]
                .map(|(class, text)| Key { class: class.into(), text: text.into() })
                .into(),
            columns,
            bodies: vec![Body { rows: look.worth.iter().map(row).collect(), ..Body::default() }],
        }));
    }
    if !look.keep.is_empty() {
        blocks.push(Block::Table(keep(view)));
    }
    if look.worth.is_empty() && look.keep.is_empty() {
        blocks.push(Block::Answer { text: "Nothing was measured long enough to say anything.".into() });
    }
    if look.left_out > 0 {
        blocks.push(Block::text(format!("And {} more questions, below.", look.left_out)));
    }
    let lists = [("No answer", &look.unanswered), ("How sure", &view.sure), ("Missing", &look.missing)];
    for (title, items) in lists.into_iter().filter(|(_, items)| !items.is_empty()) {
        blocks.push(Block::List { title: title.into(), items: items.clone() });
    }
    if !look.next.is_empty() {
        blocks.push(Block::Heading { text: "Next".into() });
        blocks.push(Block::Commands { lines: look.next.clone() });
    }
    Section { id: "answers".into(), title: "Answers".into(), short: String::new(), blocks }
}

fn keep(view: &View) -> Table {
    type Words = fn(&crate::view::KeepRow) -> String;
    let slower: Words = |row| {
        let each = row.slower.iter().map(|(name, factors)| format!("{name} {factors}×"));
        each.collect::<Vec<_>>().join(", ")
    };
    let all: [(&str, Words); 3] = [
        ("shown to be slower", slower),
        ("within the margin", |row| row.within.join(", ")),
        ("not settled", |row| row.unsettled.join(", ")),
    ];
    // A column that says nothing of any question is left out.
    let shown: Vec<_> = all.iter().filter(|(_, of)| view.look.keep.iter().any(|row| !of(row).is_empty())).collect();
    let row = |row: &crate::view::KeepRow| {
        let mut cells = vec![with_time(&row.obvious)];
        cells.extend(shown.iter().map(|(_, of)| Cell::text(of(row))));
        entry(format!("{} {}", row.experiment, row.setting), "", cells)
    };
    Table {
        caption: "Keep: no other way to do the same is shown to be faster".into(),
        legend: Vec::new(),
        columns: ["question", "obvious way"]
            .iter()
            .chain(shown.iter().map(|(name, _)| name))
            .copied()
            .map(Column::words)
            .collect(),
        bodies: vec![Body { rows: view.look.keep.iter().map(row).collect(), ..Body::default() }],
    }
}

fn experiment(experiment: &ExperimentView) -> Section {
    let mut blocks = vec![Block::text(&experiment.question)];
    blocks.push(Block::text(format!("Compared is {}.", experiment.compared)));
    if !experiment.constant.is_empty() {
        blocks.push(Block::text(format!("Throughout: {}.", experiment.constant.join(" "))));
    }
    blocks.extend(experiment.curves.iter().map(|c| group::curves(&experiment.unit, c)));
    for one in &experiment.groups {
        blocks.extend(group::blocks(experiment, one));
    }
    let marked = |r: &crate::view::Row| r.verdict.contains('¹');
    if experiment.groups.iter().flat_map(|g| &g.kinds).flat_map(|k| &k.rows).any(marked) {
        blocks.push(Block::text(words::AMONG_ALL));
    }
    let absent = |a: &crate::view::Absent| format!("{}: {}: {}", a.status.word(), a.names.join(", "), a.reason);
    if !experiment.absent.is_empty() {
        let items = experiment.absent.iter().map(absent).collect();
        blocks.push(Block::List { title: "Without figures, or not to be believed".into(), items });
    }
    if !experiment.reading.is_empty() {
        let blocks_of = vec![Block::text(experiment.reading.clone())];
        blocks.push(Block::Fold { title: "How to read these figures".into(), blocks: blocks_of });
    }
    blocks.extend(evidence::of_experiment(experiment));
    let title = format!("{}: {}", experiment.name, experiment.title);
    Section { id: format!("experiment-{}", experiment.name), title, short: experiment.name.clone(), blocks }
}
