//! The pages of a try and of a profile of somebody's own program.

use record::profile::{Price, ProfileSummary};
use record::trial::{ArmSummary, Measure, TrialSummary};
use serde::Serialize;

use super::document::{Block, Body, Cell, Column, Document, Entry, Section, Table};
use super::{chart, data, template};
use crate::view::Axis;
use crate::{profile, trial};

fn section(id: &str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id: id.to_owned(), title: title.to_owned(), short: String::new(), blocks }
}

fn page(title: &str, head: [&str; 3], sections: Vec<Section>, summary: &impl Serialize) -> String {
    let head = head.map(str::to_owned).to_vec();
    let document = Document { title: title.to_owned(), head, sections };
    template::html(&document, Some(&data::rounded(serde_json::to_value(summary).unwrap_or_default())))
}

fn list(items: Vec<String>) -> Block {
    Block::List { title: String::new(), items }
}

fn answers(sentences: Vec<String>) -> Section {
    section("answers", "Answers", sentences.into_iter().map(|text| Block::Answer { text }).collect())
}

fn facts<'a>(environment: impl Iterator<Item = (&'a String, &'a String)>) -> Section {
    section("machine", "Machine", vec![list(environment.map(|(name, value)| format!("{name}: {value}")).collect())])
}

/// The page of a try.
pub fn tried(summary: &TrialSummary) -> String {
    let plan = &summary.plan;
    let mut sections = vec![answers(trial::sentences(summary))];
    if summary.arms.iter().any(|arm| !arm.measured.is_empty()) {
        sections.push(section("costs", "Costs", vec![costs(summary)]));
        sections.push(section("changes", "Changes", Measure::ALL.iter().map(|m| changes(summary, *m)).collect()));
    }
    if !summary.notes.is_empty() {
        let items = summary.notes.iter().map(|note| note.text.clone()).collect();
        sections.push(section("notes", "Notes", vec![list(items)]));
    }
    sections.push(facts(plan.environment.iter()));
    let lines = vec![format!("pagewise report {}", plan.run)];
    sections.push(section("repeat", "How to see it again", vec![Block::Commands { lines }]));
    let shown = plan.arms.first().map_or("", |arm| &arm.shown);
    page("Pagewise: try", [shown, &plan.run, &plan.created], sections, summary)
}

/// A row an arm, a column a measure: medians with their intervals.
fn costs(summary: &TrialSummary) -> Block {
    let mut columns = vec![Column::text("arm"), Column::number("runs")];
    columns.extend(Measure::ALL.map(|measure| Column::number(trial::name(measure))));
    let row = |arm: &ArmSummary| {
        let mut cells = vec![Cell::number(arm.runs.to_string(), Some(arm.runs as f64))];
        cells.extend(Measure::ALL.map(|measure| match arm.measured.get(&measure) {
            Some(of) => Cell::number(trial::amount(measure, of), Some(of.median)),
            None => Cell::text("–"),
        }));
        Entry { name: arm.name.clone(), cells, ..Entry::default() }
    };
    Block::Table(Table {
        caption: "The median of a run, with half the width of its interval".into(),
        legend: Vec::new(),
        columns,
        bodies: vec![Body { rows: summary.arms.iter().map(row).collect(), ..Body::default() }],
    })
}

/// A row an arm: one measure relative to the command as it is.
fn changes(summary: &TrialSummary, measure: Measure) -> Block {
    let of = |arm: &ArmSummary| arm.against.get(&measure).copied();
    let ratios: Vec<_> = summary.arms.iter().filter_map(|arm| of(arm)?.ratio).collect();
    let axis = Axis::over(ratios.iter());
    let mut columns = vec![Column::text("arm")];
    columns.extend(axis.as_ref().map(|axis| Column::plot("", chart::head(axis))));
    columns.push(Column::number("change"));
    let rows = summary.arms.iter().filter_map(|arm| {
        let against = of(arm)?;
        let words = trial::change(measure, &against);
        let drawn = |axis: &Axis| against.ratio.as_ref().map(|r| chart::interval(axis, Some(r), &[], &words));
        let mut cells: Vec<Cell> = axis.iter().map(|axis| Cell::drawing(drawn(axis))).collect();
        cells.push(Cell::number(words, against.ratio.map(|r| r.ratio)));
        Some(Entry { name: arm.name.clone(), cells, ..Entry::default() })
    });
    Block::Table(Table {
        caption: format!("{} relative to the command as it is; left of 1 it is less", trial::name(measure)),
        legend: Vec::new(),
        columns,
        bodies: vec![Body { rows: rows.collect(), ..Body::default() }],
    })
}

/// The page of a profile.
pub fn profiled(summary: &ProfileSummary) -> String {
    let plan = &summary.plan;
    let mut sections = vec![answers(profile::sentences(summary))];
    if !summary.prices.is_empty() {
        sections.push(section("events", "Memory events", vec![events(&summary.prices)]));
    }
    if !summary.notes.is_empty() {
        let items = summary.notes.iter().map(|note| note.text.clone()).collect();
        sections.push(section("notes", "Notes", vec![list(items)]));
    }
    sections.push(facts(plan.environment.iter()));
    let lines = vec![profile::next_command(summary), format!("pagewise report {}", plan.run)];
    sections.push(section("repeat", "What settles it", vec![Block::Commands { lines }]));
    page("Pagewise: profile", [&plan.shown, &plan.run, &plan.created], sections, summary)
}

fn events(prices: &[Price]) -> Block {
    let row = |price: &Price| {
        let cells = vec![
            Cell::number(profile::count(price.count), Some(price.count)),
            Cell::number(profile::each(price), Some(price.each_s.value)),
            Cell::number(profile::together(price), Some(price.together_s.value)),
        ];
        Entry { name: profile::kind_words(price.kind).to_owned(), cells, ..Entry::default() }
    };
    let mut columns = vec![Column::text("event")];
    columns.extend(["count", "each", "together"].map(Column::number));
    Block::Table(Table {
        caption: "What a run does with memory, what each event costs in a fresh process, and what all cost together"
            .into(),
        legend: Vec::new(),
        columns,
        bodies: vec![Body { rows: prices.iter().map(row).collect(), ..Body::default() }],
    })
}
