//! Answers to claims as a document: a row each, by verdict on a screen and by question on the page, and a full form.

use crate::render::document::{
    Block, Body, Column, Document, Entry, Place, Section, Shown, Table, TableCell,
};
use crate::render::plot::{Axis, Plot};
use crate::sentences::{numbers, phrases, wording::count};
use minijinja::Value;
use record::claim::{AS_PUBLISHED, Answer, Answers, Claim, ClaimKind, JobAnswer, NoVerdict, Word};
use record::{sizes::format_size, summary::Ratio, word};
use std::{cmp::Reverse, collections::BTreeMap};

/// With so many answers or fewer a screen says everything about each.
const FEW: usize = 3;
/// Claims at the head of the page.
const MOST_SURPRISING: usize = 8;

/// The answers; with `full`, or where there are few, a screen has everything about each.
pub fn document(answers: &Answers, full: bool) -> Document {
    let all = &answers.answers;
    let whole = full || all.len() <= FEW;
    let mut document = Document::new("claims", answers.run.iter().map(|run| format!("run {run}")));
    let ratios: Vec<Ratio> = all.iter().filter_map(ratio).collect();
    let axis = Axis::over(ratios.iter());
    if !whole {
        document = document.section(
            "answers",
            "Answers",
            Place::Screen,
            vec![table(all.iter(), None)],
        );
        let mut reversed: Vec<&Answer> = all
            .iter()
            .filter(|answer| answer.word == Word::Reversed)
            .collect();
        let distance = |answer: &&Answer| ratio(answer).map_or(0.0, |ratio| ratio.ratio.ln().abs());
        reversed.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
        let first = (!reversed.is_empty())
            .then(|| table(reversed.into_iter().take(MOST_SURPRISING), axis.as_ref()));
        document = document.section(
            "surprising",
            "Most surprising",
            Place::Page,
            first.into_iter().collect(),
        );
    }
    let reversed = |question: &str| {
        all.iter()
            .filter(|a| a.question == question && a.word == Word::Reversed)
            .count()
    };
    let mut questions: Vec<&str> = all.iter().map(|answer| answer.question.as_str()).collect();
    questions.sort_by_key(|question| (question.is_empty(), Reverse(reversed(question)), *question));
    questions.dedup();
    for question in questions {
        let answers = all.iter().filter(|a| a.question == question);
        let short = if question.is_empty() {
            "no experiment"
        } else {
            question
        }
        .to_owned();
        let (id, title) = (
            format!("question-{question}"),
            format!("{short} ({})", answers.clone().count()),
        );
        let mut by_surprise: Vec<&Answer> = answers.clone().collect();
        by_surprise.sort_by_key(|answer| answer.word);
        let rows = (!whole).then(|| table(answers.clone(), axis.as_ref()));
        let blocks = rows
            .into_iter()
            .chain(
                by_surprise
                    .into_iter()
                    .flat_map(|answer| about(answer, whole)),
            )
            .collect();
        let place = if whole {
            Place::Everywhere
        } else {
            Place::Page
        };
        document.sections.push(Section {
            id,
            title,
            short,
            place,
            blocks,
        });
    }
    let facts = answers
        .environment
        .iter()
        .map(|(name, value)| Entry::new(name, vec![TableCell::text(value)]));
    let facts = Table::new(
        "The machine",
        vec![Column::text("fact"), Column::text("value")],
        facts,
    );
    let document = document.section(
        "sum",
        "In short",
        Place::Everywhere,
        summing_up(answers, whole),
    );
    document.section(
        "environment",
        "Environment",
        Place::Page,
        vec![Block::Table(facts)],
    )
}

/// The number of claims that are decided, and what would decide more.
fn summing_up(answers: &Answers, whole: bool) -> Vec<Block> {
    let decided = answers
        .answers
        .iter()
        .filter(|a| a.word.is_decided())
        .count();
    let mut text = format!(
        "{decided} of {} claims are decided here",
        answers.answers.len()
    );
    let late = |a: &&Answer| a.jobs.iter().any(|j| j.late);
    let waiting = answers
        .answers
        .iter()
        .filter(|a| a.word == Word::Undecided)
        .filter(late)
        .count();
    if waiting > 0 {
        text += &format!("; {waiting} were not reached: they need a longer --budget");
    }
    let mut blocks = vec![Block::Answer(text + ".")];
    let title = "Answered in part by kept runs of this machine (--fresh measures anew)";
    blocks.extend(Block::list(title, answers.reused.iter().cloned()));
    let reading = "Ratios are the first way's cost divided by the other's, with 95 % limits; below 1 it costs less. \
                   pagewise claims ID says everything about one.";
    blocks.extend((!whole).then(|| Block::text(reading)));
    blocks
}

pub(crate) fn verdict(word: Word) -> String {
    phrases::phrase("verdict", &word, Value::UNDEFINED)
}

fn why(why: &Option<NoVerdict>) -> Option<String> {
    why.as_ref().map(|why| phrases::sentence("why", why))
}

fn deciding(answer: &Answer) -> Option<&JobAnswer> {
    answer.jobs.iter().find(|job| job.word == answer.word)
}

/// A ratio that can be drawn: not of a claim on a cost by itself, which has a unit.
fn ratio(answer: &Answer) -> Option<Ratio> {
    deciding(answer)?
        .ratio
        .filter(|_| answer.kind == ClaimKind::Ratio)
}

/// A row a claim, the most surprising first, drawn along the axis.
fn table<'a>(answers: impl Iterator<Item = &'a Answer> + Clone, axis: Option<&Axis>) -> Block {
    let mut columns = vec![Column::text("claim")];
    columns.extend(axis.map(|axis| Column::plot(Plot::Ratios(axis.clone())).shown(Shown::Page)));
    columns.extend([
        Column::number("here"),
        Column::text("as published"),
        Column::text("claimed"),
    ]);
    let row = |answer: &Answer| {
        let figure = deciding(answer).map_or_else(String::new, figure);
        let other = answer
            .jobs
            .iter()
            .find(|j| j.job == AS_PUBLISHED && j.word != answer.word && j.word.is_decided());
        let value = deciding(answer)
            .and_then(|job| job.ratio)
            .map(|ratio| ratio.ratio);
        let drawn =
            |axis| TableCell::plot(ratio(answer).map(|ratio| Plot::interval(axis, ratio, &figure)));
        let mut cells: Vec<TableCell> = axis.map(drawn).into_iter().collect();
        let published = TableCell::text(other.map_or_else(String::new, |job| verdict(job.word)));
        cells.extend([
            TableCell::number(figure, value),
            published,
            TableCell::text(&answer.statement),
        ]);
        Entry::new(&answer.id, cells)
    };
    let mut by_verdict: BTreeMap<Word, Vec<Entry>> = BTreeMap::new();
    answers.for_each(|answer| by_verdict.entry(answer.word).or_default().push(row(answer)));
    let bodies = by_verdict.into_iter().map(|(word, rows)| Body {
        heading: format!("{} ({})", verdict(word), rows.len()),
        aside: false,
        rows,
    });
    let caption =
        "The first way's cost over the other's, with 95 % limits; left of 1 it costs less"
            .to_owned();
    Block::Table(Table {
        caption,
        columns,
        bodies: bodies.collect(),
        ..Table::default()
    })
}

/// The figure of a comparison in a few characters.
fn figure(job: &JobAnswer) -> String {
    match (&job.band, &job.ratio) {
        (Some(band), _) => match (band.above, band.up_to) {
            (Some(above), Some(up_to)) => format!("{}–{}", format_size(above), format_size(up_to)),
            (Some(above), None) => format!("above {}", format_size(above)),
            (None, Some(up_to)) => format!("below {}", format_size(up_to)),
            (None, None) => String::new(),
        },
        (None, Some(ratio)) => numbers::with_limits(ratio),
        (None, None) => String::new(),
    }
}

/// Everything about one claim; folded where a table has its answer.
fn about(answer: &Answer, whole: bool) -> Vec<Block> {
    let mut rows: Vec<(&str, String)> = vec![
        ("statement", answer.statement.clone()),
        ("why", why(&answer.why).unwrap_or_default()),
    ];
    let mut points = Vec::new();
    for job in &answer.jobs {
        let against = job
            .other
            .as_ref()
            .map_or_else(String::new, |other| format!(" / {other}"));
        rows.push((&job.job, verdict(job.word)));
        rows.push(("", format!("{}: {}{against}", job.figure, job.way)));
        rows.push(("", here(answer.kind, job)));
        let cause = job
            .cause
            .as_ref()
            .map(|cause| phrases::sentence("difference", cause));
        rows.extend(
            [cause, why(&job.why)]
                .into_iter()
                .flatten()
                .map(|sentence| ("", format!("{sentence}."))),
        );
        points.extend(job.points.iter().map(|point| {
            let ratio = point
                .ratio
                .as_ref()
                .map_or_else(|| "no figure".to_owned(), numbers::with_limits);
            Entry::new(
                format_size(point.value),
                vec![TableCell::number(ratio, point.ratio.map(|r| r.ratio))],
            )
        }));
    }
    rows.push(("beware", answer.confuses.clone().unwrap_or_default()));
    let source = &answer.source;
    let year = source
        .year
        .map_or_else(String::new, |year| format!(", {year}"));
    rows.push((
        "source",
        format!("{}: {}{year}", source.author, source.title),
    ));
    rows.push(("figure", source.figure.clone()));
    let machine: Vec<&str> = [&source.machine, &source.kernel]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    rows.push(("there on", machine.join(", kernel ")));
    rows.push(("said of", source.condition.clone().unwrap_or_default()));
    let address = source
        .address
        .as_ref()
        .map(|address| format!("{address} (read {})", source.read));
    rows.push((
        "at",
        address.or(source.unlocated.clone()).unwrap_or_default(),
    ));
    let rows = rows.into_iter().filter(|(_, text)| !text.is_empty());
    let rows = rows.map(|(name, text)| Entry::new(name, vec![TableCell::text(text)]));
    let mut blocks = vec![Block::Table(Table::new(
        "",
        vec![Column::text(""), Column::sentences("")],
        rows,
    ))];
    let columns = vec![Column::text("value"), Column::number("ratio")];
    blocks.extend(
        (!points.is_empty())
            .then(|| Block::Table(Table::new("The ratio at each value", columns, points))),
    );
    if whole {
        blocks.insert(
            0,
            Block::Heading(format!("{}: {}", answer.id, verdict(answer.word))),
        );
        return blocks;
    }
    Block::part(
        format!("{}: {}", answer.id, answer.statement),
        Place::Page,
        blocks,
    )
    .into_iter()
    .collect()
}

/// Our figure against the range with which the claim holds; empty without a figure.
fn here(kind: ClaimKind, job: &JobAnswer) -> String {
    let edge = |value: f64| {
        if kind == ClaimKind::Crossover {
            format_size(value as u64)
        } else {
            numbers::digits(value)
        }
    };
    let range = match job.holds {
        (Some(low), Some(high)) => format!("{} to {}", edge(low), edge(high)),
        (Some(low), None) => format!("at least {}", edge(low)),
        (None, Some(high)) => format!("at most {}", edge(high)),
        (None, None) => String::new(),
    };
    let unit = if job.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", job.unit)
    };
    let unpaired = if job.paired {
        ""
    } else {
        "; the sides were not launched in turns"
    };
    let figure = figure(job);
    if figure.is_empty() {
        figure
    } else {
        format!("here {figure}{unit}; it holds for {range}{unpaired}")
    }
}

/// All claims, without measuring.
pub fn list(claims: &[&Claim]) -> Document {
    let row = |claim: &&Claim| {
        let kind = if claim.missing.is_some() {
            "-".to_owned()
        } else {
            word(&claim.kind)
        };
        Entry::new(
            &claim.id,
            vec![TableCell::text(kind), TableCell::text(&claim.statement)],
        )
    };
    let columns = vec![
        Column::text("claim"),
        Column::text("kind"),
        Column::sentences("statement"),
    ];
    let crossovers = claims
        .iter()
        .filter(|c| c.kind == ClaimKind::Crossover)
        .count();
    let absent = claims.iter().filter(|c| c.missing.is_some()).count();
    let total = format!(
        "{}; {crossovers} of a crossover; {absent} that need what Pagewise has not (-)",
        count(claims.len(), "claim")
    );
    let blocks = vec![
        Block::Table(Table::new("", columns, claims.iter().map(row))),
        Block::Text(total),
    ];
    Document::new("claims", []).section("claims", "", Place::Everywhere, blocks)
}
