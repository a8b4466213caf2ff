//! What backs the figures: laws and proofs, warnings, the machine, how to repeat it.

use crate::html::document::{Block, Body, Cell, Column, Entry, Section, Table};
use crate::view::{ExperimentView, LawRow, View};

fn plain(caption: String, columns: Vec<Column>, rows: Vec<Entry>) -> Block {
    Block::Table(Table { caption, legend: Vec::new(), columns, bodies: vec![Body { rows, ..Body::default() }] })
}

fn row(name: &str, mark: &'static str, cells: Vec<Cell>) -> Entry {
    Entry { name: name.to_owned(), cell: None, mark, cells }
}

/// Laws and proofs of one experiment, folded.
pub(super) fn of_experiment(experiment: &ExperimentView) -> Vec<Block> {
    let mut blocks = Vec::new();
    let broken = experiment.laws.iter().filter(|law| law.broken > 0).count();
    if !experiment.laws.is_empty() {
        let title = match broken {
            0 => format!("{} laws held in every sample", experiment.laws.len()),
            n => format!("{n} of {} laws were broken", experiment.laws.len()),
        };
        blocks.push(Block::Fold { title, blocks: vec![laws(&experiment.laws)] });
    }
    if !experiment.proofs.is_empty() {
        let title = format!("What {} cells recorded of themselves", experiment.proofs.len());
        let said = |(name, words): &(String, String)| format!("{name} {words}");
        let rows = experiment.proofs.iter().map(|proof| {
            let facts: Vec<String> = proof.facts.iter().map(said).collect();
            row(&proof.label, "", vec![Cell::text(facts.join(" · "))])
        });
        let columns = vec![Column::text("cell"), Column::words("facts: a number, or its smallest and largest value")];
        let caption = "Facts, by which a method proves that it did what its name says".to_owned();
        blocks.push(Block::Fold { title, blocks: vec![plain(caption, columns, rows.collect())] });
    }
    blocks
}

fn laws(laws: &[LawRow]) -> Block {
    let columns = vec![
        Column::text("law"),
        Column::number("cells"),
        Column::number("samples"),
        Column::number("broken"),
        Column::words("broken in"),
    ];
    let count = |n: u64| Cell::number(n.to_string(), Some(n as f64));
    let rows = laws.iter().map(|law| {
        let mark = if law.broken > 0 { "slower" } else { "" };
        let cells =
            vec![count(law.cells as u64), count(law.asked), count(law.broken), Cell::text(law.broken_in.join(", "))];
        row(&law.law, mark, cells)
    });
    plain("Laws: what must hold in each sample for its cell to be believed".into(), columns, rows.collect())
}

/// The parts below the experiments.
pub(super) fn sections(view: &View) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut seen = Vec::new();
    for kind in &view.warnings {
        let items = kind.said.iter().map(|(said, places)| format!("{said}: {}", places.join(", ")));
        seen.push(Block::List { title: kind.code.clone(), items: items.collect() });
    }
    if seen.is_empty() {
        seen.push(Block::text("None."));
    }
    if !view.notes.is_empty() {
        seen.push(Block::List { title: "How the run went".into(), items: view.notes.clone() });
    }
    sections.push(Section { id: "warnings".into(), title: "Warnings".into(), short: String::new(), blocks: seen });
    let facts = view.circumstances.iter().map(|(name, words)| row(name, "", vec![Cell::text(words)]));
    let table = plain("The machine and the run".into(), vec![Column::text("what"), Column::text("")], facts.collect());
    sections.push(Section {
        id: "environment".into(),
        title: "Environment".into(),
        short: String::new(),
        blocks: vec![table],
    });
    let text = "The first command asks the same again, the second prints this run's tables, the third the very source \
                that was measured. Times will differ; verdicts should not.";
    let blocks = vec![Block::Commands { lines: view.repeat.clone() }, Block::text(text)];
    sections.push(Section { id: "repeat".into(), title: "How to repeat it".into(), short: String::new(), blocks });
    sections
}
