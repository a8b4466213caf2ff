//! The page of answers to claims: grouped by verdict, the most surprising first.

use record::claim::{Answer, Answers, JobAnswer, Kind};
use record::summary::Estimate;

use super::document::{Block, Body, Cell, Column, Document, Entry, Section, Table};
use super::{chart, data, template};
use crate::claims::{WORDS, figure, summing_up};
use crate::view::Axis;

/// The page.
pub fn page(answers: &Answers) -> String {
    let found = |word| answers.answers.iter().filter(move |a| a.word == word);
    let mut sections = vec![first(answers)];
    sections.extend(WORDS.into_iter().filter(|word| found(*word).next().is_some()).map(|word| Section {
        id: format!("verdict-{}", word.words()),
        title: format!("{} ({})", word.words(), found(word).count()),
        short: word.words().to_owned(),
        blocks: found(word).map(whole).collect(),
    }));
    let facts = answers.environment.iter().map(|(name, words)| Entry {
        name: name.clone(),
        cells: vec![Cell::text(words)],
        ..Entry::default()
    });
    sections.push(Section {
        id: "environment".into(),
        title: "Environment".into(),
        short: String::new(),
        blocks: vec![Block::Table(Table {
            caption: "The machine".into(),
            columns: vec![Column::text("what"), Column::text("")],
            bodies: vec![Body { rows: facts.collect(), ..Body::default() }],
            ..Table::default()
        })],
    });
    let head = answers.run.iter().map(|run| format!("run {run}"));
    let document = Document { title: "Pagewise: claims".into(), head: head.collect(), sections };
    template::html(&document, Some(&data::rounded(serde_json::to_value(answers).unwrap_or_default())))
}

/// The job by which an answer has its word.
fn deciding(answer: &Answer) -> Option<&JobAnswer> {
    answer.jobs.iter().find(|job| job.word == answer.word)
}

/// A ratio that can be drawn: not of a claim on a cost by itself, which has a unit.
fn ratio(answer: &Answer) -> Option<&Estimate> {
    deciding(answer)?.ratio.as_ref().filter(|_| answer.kind == Kind::Ratio)
}

fn first(answers: &Answers) -> Section {
    let axis = Axis::over(answers.answers.iter().filter_map(ratio));
    let mut columns = vec![Column::text("claim")];
    columns.extend(axis.as_ref().map(|axis| Column::plot("", chart::head(axis))));
    columns.extend([Column::number("here"), Column::words("what was said")]);
    let row = |answer: &Answer| {
        let words = deciding(answer).map_or_else(String::new, figure);
        let mut cells = Vec::new();
        if let Some(axis) = &axis {
            let drawn = ratio(answer).map(|ratio| chart::interval(axis, Some(ratio), &[], &words));
            cells.push(Cell::drawing(drawn));
        }
        let value = deciding(answer).and_then(|job| job.ratio).map(|ratio| ratio.ratio);
        cells.extend([Cell::number(words, value), Cell::text(&answer.statement)]);
        Entry { name: answer.id.clone(), cells, ..Entry::default() }
    };
    let bodies = WORDS.into_iter().map(|word| Body {
        heading: word.words().to_owned(),
        aside: false,
        rows: answers.answers.iter().filter(|a| a.word == word).map(row).collect(),
    });
    let table = Table {
        caption: "The first way's cost over the other's, with 95 % limits; left of 1 it costs less".into(),
        legend: Vec::new(),
        columns,
        bodies: bodies.filter(|body| !body.rows.is_empty()).collect(),
    };
    let mut blocks = vec![Block::Answer { text: summing_up(answers) }, Block::Table(table)];
    if !answers.reused.is_empty() {
        blocks.push(Block::List {
            title: "Answered in part by kept runs of this machine".into(),
            items: answers.reused.clone(),
        });
    }
    Section { id: "answers".into(), title: "Answers".into(), short: String::new(), blocks }
}

/// Everything about one claim, folded.
fn whole(answer: &Answer) -> Block {
    let mut items = Vec::new();
    let mut say = |name: &str, words: &str| {
        if !words.is_empty() {
            items.push(format!("{name}: {words}"));
        }
    };
    say("why", &answer.why);
    for job in &answer.jobs {
        let against = job.other.as_ref().map_or_else(String::new, |other| format!(" / {other}"));
        say(&job.job, &format!("{}; {}, {}{against}: {}", job.word.words(), job.figure, job.way, figure(job)));
        say("cause", &job.cause);
        say("why", &job.why);
    }
    say("beware", answer.confuses.as_deref().unwrap_or_default());
    let source = &answer.source;
    let year = source.year.map_or_else(String::new, |year| format!(", {year}"));
    say("said by", &format!("{}: {}{year}", source.author, source.title));
    say("figure", &source.figure);
    say("at", source.address.as_deref().or(source.unlocated.as_deref()).unwrap_or_default());
    let blocks = vec![Block::List { title: String::new(), items }];
    Block::Fold { title: format!("{}: {}", answer.id, answer.statement), blocks }
}
