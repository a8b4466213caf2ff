//! Answers to claims as a document: a row each, by verdict on a screen and by question on the page, and a full form.

use crate::render::document::{Block, Column, Document, Place, Section, Shown, TableCell};
use crate::render::plot::{Axis, Plot};
use crate::sentences::wording::{count, duration};
use crate::sentences::{numbers, phrases};
use crate::tables::columns::{Columns, facts};
use minijinja::Value;
use record::claim::{
    AS_PUBLISHED, Answer, Answers, Claim, ClaimKind, ClaimPoint, JobAnswer, NoVerdict, Source, Word,
};
use record::{sizes::format_size, summary::Ratio};
use std::{cmp::Reverse, collections::BTreeMap};

/// With so many answers or fewer a screen says everything about each.
const FEW: usize = 3;
/// Claims at the head of the page.
const MOST_SURPRISING: usize = 8;

/// The answers; with `full`, or where there are few, a screen has everything about each.
pub fn document(answers: &Answers, full: bool) -> Document {
    let whole = full || answers.answers.len() <= FEW;
    let ratios: Vec<Ratio> = answers.answers.iter().filter_map(ratio).collect();
    let axis = Axis::over(ratios.iter());
    let mut document =
        Document::new("claims", answers.run.iter().map(|run| format!("run {run}"))).explained();
    if !whole {
        let surprising = most_surprising(answers, axis.as_ref());
        document = document
            .section(
                "answers",
                "Answers",
                Place::Screen,
                vec![table(&answers.answers, None)],
            )
            .section(
                "surprising",
                "Most surprising",
                Place::Page,
                surprising.into_iter().collect(),
            );
    }
    for question in questions(answers) {
        let section = section(answers, question, whole, axis.as_ref());
        document.sections.push(section);
    }
    let machine = facts(
        "The machine",
        [Column::text("fact"), Column::text("value")],
        &answers.environment,
    );
    document
        .section(
            "sum",
            "In short",
            Place::Everywhere,
            summing_up(answers, whole),
        )
        .section(
            "environment",
            "Environment",
            Place::Page,
            vec![Block::Table(machine)],
        )
}

/// The reversed claims, the furthest from one first.
fn most_surprising(answers: &Answers, axis: Option<&Axis>) -> Option<Block> {
    let mut reversed: Vec<&Answer> = answers
        .answers
        .iter()
        .filter(|answer| answer.word == Word::Reversed)
        .collect();
    reversed.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    reversed.truncate(MOST_SURPRISING);
    (!reversed.is_empty()).then(|| table(reversed, axis))
}

/// Distance of a ratio from one, as a logarithm.
fn distance(answer: &Answer) -> f64 {
    ratio(answer).map_or(0.0, |ratio| ratio.ratio.ln().abs())
}

/// The questions, those with most reversed claims first.
fn questions(answers: &Answers) -> Vec<&str> {
    let answers = &answers.answers;
    let mut reversed: BTreeMap<&str, usize> = BTreeMap::new();
    for answer in answers.iter().filter(|a| a.word == Word::Reversed) {
        *reversed.entry(&answer.question).or_default() += 1;
    }
    let mut questions: Vec<&str> = answers.iter().map(|a| a.question.as_str()).collect();
    questions.sort_by_key(|question| {
        let reversed = reversed.get(question).copied().unwrap_or_default();
        (question.is_empty(), Reverse(reversed), *question)
    });
    questions.dedup();
    questions
}

/// The answers to one question.
fn section(answers: &Answers, question: &str, whole: bool, axis: Option<&Axis>) -> Section {
    let mut answers: Vec<&Answer> = answers
        .answers
        .iter()
        .filter(|answer| answer.question == question)
        .collect();
    let short = if question.is_empty() {
        "no experiment"
    } else {
        question
    };
    let title = format!("{short} ({})", answers.len());
    let mut blocks = Vec::new();
    if !whole {
        blocks.push(table(answers.iter().copied(), axis));
    }
    answers.sort_by_key(|answer| answer.word);
    for answer in answers {
        blocks.extend(about(answer, whole));
    }
    Section {
        id: format!("question-{question}"),
        title,
        short: short.to_owned(),
        place: if whole {
            Place::Everywhere
        } else {
            Place::Page
        },
        blocks,
    }
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
    let undecided = answers.answers.iter().filter(|a| a.word == Word::Undecided);
    let waiting = undecided.filter(|a| a.jobs.iter().any(|j| j.late)).count();
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
fn table<'a>(answers: impl IntoIterator<Item = &'a Answer>, axis: Option<&Axis>) -> Block {
    let columns = Columns::new("claim", |answer: &Answer| answer.id.clone())
        .ratios(axis, Shown::Page, |answer, axis| {
            Some(Plot::interval(
                axis,
                ratio(answer)?,
                &deciding_figure(answer),
            ))
        })
        .number("here", |answer| {
            let ratio = deciding(answer).and_then(|job| job.ratio);
            TableCell::number(deciding_figure(answer), ratio.map(|ratio| ratio.ratio))
        })
        .text("as published", published_verdict)
        .text("claimed", |answer| answer.statement.clone());
    let mut by_verdict: BTreeMap<Word, Vec<&Answer>> = BTreeMap::new();
    for answer in answers {
        by_verdict.entry(answer.word).or_default().push(answer);
    }
    let mut bodies = Vec::new();
    for (word, answers) in by_verdict {
        let heading = format!("{} ({})", verdict(word), answers.len());
        bodies.push(columns.body(heading, answers));
    }
    let caption =
        "The first way's cost over the other's, with 95 % limits; left of 1 it costs less";
    Block::Table(columns.table_of(caption, bodies))
}

/// The figure of the comparison that decides; empty where none does.
fn deciding_figure(answer: &Answer) -> String {
    deciding(answer).map_or_else(String::new, figure)
}

/// The verdict on the job as published, where it is decided and another one.
fn published_verdict(answer: &Answer) -> String {
    let mut jobs = answer.jobs.iter();
    let published =
        jobs.find(|j| j.job == AS_PUBLISHED && j.word != answer.word && j.word.is_decided());
    published.map_or_else(String::new, |job| verdict(job.word))
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
    for job in &answer.jobs {
        rows.extend(about_job(answer.kind, job));
    }
    rows.push(("beware", answer.confuses.clone().unwrap_or_default()));
    rows.extend(about_source(&answer.source));
    rows.retain(|(_, text)| !text.is_empty());
    let heads = [Column::text(""), Column::sentences("")];
    let mut blocks = vec![Block::Table(facts("", heads, rows))];
    let points: Vec<&ClaimPoint> = answer.jobs.iter().flat_map(|job| &job.points).collect();
    if !points.is_empty() {
        let table = Columns::new("value", |point: &ClaimPoint| format_size(point.value))
            .number("ratio", |point| {
                let ratio = point.ratio.as_ref();
                let text = ratio.map_or_else(|| "no figure".to_owned(), numbers::with_limits);
                TableCell::number(text, ratio.map(|ratio| ratio.ratio))
            })
            .table("The ratio at each value", points);
        blocks.push(Block::Table(table));
    }
    if whole {
        blocks.insert(
            0,
            Block::Heading(format!("{}: {}", answer.id, verdict(answer.word))),
        );
        return blocks;
    }
    let title = format!("{}: {}", answer.id, answer.statement);
    Vec::from_iter(Block::part(title, Place::Page, blocks))
}

/// The verdict on one job of a claim, with the figure and its cause.
fn about_job(kind: ClaimKind, job: &JobAnswer) -> Vec<(&str, String)> {
    let against = job.other.as_ref();
    let against = against.map_or_else(String::new, |other| format!(" / {other}"));
    let cause = job.cause.as_ref();
    let cause = cause.map(|cause| phrases::sentence("difference", cause));
    let mut rows = vec![
        (job.job.as_str(), verdict(job.word)),
        ("", format!("{}: {}{against}", job.figure, job.way)),
        ("", here(kind, job)),
    ];
    let reasons = [cause, why(&job.why)].into_iter().flatten();
    rows.extend(reasons.map(|sentence| ("", format!("{sentence}."))));
    rows
}

fn about_source(source: &Source) -> Vec<(&'static str, String)> {
    let year = source.year.map(|year| format!(", {year}"));
    let machine: Vec<&str> = [&source.machine, &source.kernel]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let address = source.address.as_ref();
    let address = address.map(|address| format!("{address} (read {})", source.read));
    vec![
        (
            "source",
            format!(
                "{}: {}{}",
                source.author,
                source.title,
                year.unwrap_or_default()
            ),
        ),
        ("figure", source.figure.clone()),
        ("there on", machine.join(", kernel ")),
        ("said of", source.condition.clone().unwrap_or_default()),
        (
            "at",
            address
                .or_else(|| source.unlocated.clone())
                .unwrap_or_default(),
        ),
    ]
}

/// Our figure against the range with which the claim holds; empty without a figure.
fn here(kind: ClaimKind, job: &JobAnswer) -> String {
    let figure = figure(job);
    if figure.is_empty() {
        return figure;
    }
    let range = match job.holds {
        (Some(low), Some(high)) => format!("{} to {}", edge(kind, low), edge(kind, high)),
        (Some(low), None) => format!("at least {}", edge(kind, low)),
        (None, Some(high)) => format!("at most {}", edge(kind, high)),
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
    format!("here {figure}{unit}; it holds for {range}{unpaired}")
}

fn edge(kind: ClaimKind, value: f64) -> String {
    if kind == ClaimKind::Crossover {
        format_size(value as u64)
    } else {
        numbers::digits(value)
    }
}

/// A sentence on what comes, before anything is looked for or measured.
pub fn begins(claims: usize, budget_s: f64, is_kept_asked: bool) -> String {
    let (claims, time) = (count(claims, "claim"), duration(budget_s));
    let kept = if is_kept_asked {
        "what kept runs of this machine answer is shown, the rest is measured"
    } else {
        "everything is measured"
    };
    format!("{claims}: {kept}, in {time} at most (--budget)")
}

/// A sentence on what is measured, before the first launch.
pub fn measures(cells: usize, experiments: &[&str], budget_s: f64) -> String {
    format!(
        "measuring {} of {}: {} at most, less where all is decided sooner",
        count(cells, "cell"),
        experiments.join(", "),
        duration(budget_s)
    )
}

/// All claims, without measuring; `here` are the verdicts of kept runs of this machine.
pub fn list(claims: &[&Claim], here: &BTreeMap<String, Word>) -> Document {
    let table = Columns::new("claim", |claim: &Claim| claim.id.clone())
        .text("kind", |claim| {
            if claim.missing.is_some() {
                "-".to_owned()
            } else {
                <&str>::from(claim.kind).to_owned()
            }
        })
        .text("here", |claim| {
            here.get(&claim.id)
                .map_or_else(String::new, |&word| verdict(word))
        })
        .sentences("statement", |claim| claim.statement.clone())
        .table("", claims.iter().copied());
    let crossovers = claims
        .iter()
        .filter(|c| c.kind == ClaimKind::Crossover)
        .count();
    let absent = claims.iter().filter(|c| c.missing.is_some()).count();
    let total = format!(
        "{}; {crossovers} of a crossover; {absent} that need what Pagewise has not (-). pagewise claims ID measures one.",
        count(claims.len(), "claim")
    );
    let search = "pagewise claims list --about WORD shows those about a call, an experiment or an author (fsync, mmap); \
                  without list they are measured.";
    let head = (claims.len() > FEW).then(|| Block::text(search));
    let blocks = head
        .into_iter()
        .chain([Block::Table(table), Block::Text(total)]);
    Document::new("claims", []).section("claims", "", Place::Everywhere, blocks.collect())
}
