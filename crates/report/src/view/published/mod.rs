//! Articles: which there are, and the figures of one beside ours, with its question, its pictures and its sentences.

mod compared;
mod listing;
mod own_form;
mod pictures;
mod statements;

use super::run::Wanted;
use crate::render::document::{Block, Document, Place, Section, Shown, Table, TableCell};
use crate::sentences::wording::duration;
use crate::tables::columns::Columns;
use judge::questions::published::{OwnFigure, RepeatedFigure, at_measured_sizes, repeated};
use record::claim::Claim;
use record::outcome::{Cause, Outcome, Status};
use record::published::{Figure, Published};
use record::sizes::{about_size, format_ns, three_digits};
use record::summary::{CellSummary, Summary};

pub use compared::compared;
pub use listing::has_lines;

/// Articles, with the claims and the programs among which theirs are.
#[derive(Clone, Copy, Default)]
pub struct Articles<'a> {
    pub articles: &'a [&'a Published],
    pub claims: &'a [Claim],
    /// Files of programs, each with its text.
    pub programs: &'a [(&'a str, &'a str)],
}

/// A row of an article's table: a published figure with the cells that repeat it.
#[derive(Clone, Copy)]
struct ArticleRow<'a> {
    figure: &'a Figure,
    as_published: Option<RepeatedFigure<'a>>,
    corrected: Option<RepeatedFigure<'a>>,
}

impl<'a> ArticleRow<'a> {
    /// Both repetitions that there are.
    fn repetitions(&self) -> impl Iterator<Item = RepeatedFigure<'a>> {
        self.as_published.into_iter().chain(self.corrected)
    }

    fn is_measured(&self) -> bool {
        self.repetitions().any(|repeated| repeated.cell.is_some())
    }

    /// Its label; of a family of workers also the worker's name.
    fn name(&self) -> String {
        let worker = self
            .repetitions()
            .filter_map(|repeated| repeated.cell?.cell.split('@').nth(1));
        let worker = worker.into_iter().next();
        match worker.filter(|_| self.figure.cell.ends_with('*')) {
            Some(worker) => format!("{} ({worker})", self.figure.label),
            None => self.figure.label.clone(),
        }
    }
}

/// The articles, a row each, and their questions.
pub fn list(articles: &[&Published]) -> Document {
    let table = Columns::new("article", |article: &&Published| article.id.clone())
        .sentences("title", |article| article.title.clone())
        .text("author, year", |article| author(article))
        .number("time", |article| {
            TableCell::number(duration(article.budget_s), Some(article.budget_s))
        })
        .table("", articles);
    let questions = articles
        .iter()
        .map(|article| format!("{}: {}", article.id, article.question));
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(Block::list("Their questions", questions));
    let next = [
        "pagewise run --published P5",
        "pagewise show --published P5 > p5_test.go",
        "pagewise run --published P1 --long     # 1e9 stores in 1 GiB, in minutes",
    ];
    blocks.push(Block::Commands(next.map(str::to_owned).into()));
    Document::default().section("articles", "", Place::Everywhere, blocks)
}

/// Author and year, as far as they are known.
fn author(article: &Published) -> String {
    match article.year {
        0 => article.author.clone(),
        year => format!("{}, {year}", article.author),
    }
}

/// A run of articles on a terminal: their tables and sentences.
pub fn screen(articles: Articles, summary: &Summary, wanted: &Wanted) -> Document {
    let mut document = super::run::closed(summary, wanted.run.as_deref());
    let sections = sections(articles, summary);
    document.sections.splice(0..0, sections);
    document
}

/// A run's page with the tables of articles before what they rest on; of one article the page has its title and its question.
pub fn page(mut document: Document, articles: Articles, summary: &Summary) -> Document {
    if let [article] = articles.articles {
        document.subject = format!("{} ({})", article.title, author(article));
        document.question.clone_from(&article.question);
    }
    document.sections.splice(0..0, sections(articles, summary));
    document
}

/// A run of articles under way: their tables, as far as they are filled.
pub fn live(articles: &[&Published], summary: &Summary) -> Document {
    let blocks = articles.iter().map(|article| {
        let article = at_measured_sizes(article, summary);
        let mut rows = rows(&article, summary);
        rows.retain(|row| row.figure.claim.is_none() && has_figure(row));
        Block::Table(table(&rows))
    });
    Document::default().section("live", "", Place::Screen, blocks.collect())
}

fn has_figure(row: &ArticleRow) -> bool {
    row.repetitions().any(|repeated| repeated.here.is_some())
}

/// The articles' tables beside our figures. Of several articles, rows without a statement or figure are only counted.
pub fn sections(articles: Articles, summary: &Summary) -> Vec<Section> {
    articles
        .articles
        .iter()
        .map(|article| section(article, articles, summary))
        .collect()
}

fn section(article: &Published, articles: Articles, summary: &Summary) -> Section {
    let (claims, alone) = (articles.claims, articles.articles.len() == 1);
    let article = &at_measured_sizes(article, summary);
    let rows = rows(article, summary);
    // What decides a sentence of the article is shown with the sentence.
    let (listed, left_out): (Vec<_>, Vec<_>) = rows
        .iter()
        .copied()
        .filter(|row| row.figure.claim.is_none())
        .partition(|row| row.is_measured() || row.figure.headline || alone);
    let question = Block::text(&article.question);
    let mut blocks = Vec::new();
    if alone {
        // A page of one article begins with its question.
        blocks.extend(Block::part("", Place::Screen, vec![question]));
    } else {
        blocks.push(question);
    }
    let source = format!("{}; {}", article.source, article.machine);
    blocks.push(Block::Text(source));
    let mut shown = vec![
        own_form::blocks(&article.tables, &rows),
        Block::part("", Place::Page, pictures::blocks(&article.pictures, &rows)),
    ];
    // Curves say more in less room than the numbers that they are of.
    if article
        .pictures
        .iter()
        .any(|picture| !picture.curves.is_empty())
    {
        shown.reverse();
    }
    blocks.extend(shown.into_iter().flatten());
    blocks.extend(tables(article, &listed));
    blocks.extend(article.note.iter().map(Block::text));
    if !left_out.is_empty() {
        let more = format!(
            "{} more rows, of other sizes: pagewise run --published {}",
            left_out.len(),
            article.id
        );
        blocks.push(Block::Text(more));
    }
    blocks.extend(statements::blocks(article, claims, &rows));
    blocks.extend(listing::blocks(article, articles.programs, &rows));
    // A long form has the id of its article with a word behind it.
    let id = article.id.split('-').next().unwrap_or(&article.id);
    let again = if article.once {
        "--long --launches 4"
    } else {
        "--budget 10min"
    };
    blocks.push(Block::Commands(vec![
        format!("pagewise run --published {id} {again}"),
        format!("pagewise show --published {id}"),
    ]));
    let next = article.next.iter().filter(|_| alone);
    blocks.extend(Block::list(
        "What to ask next",
        next.map(|next| format!("{}: {}", next.question, next.command)),
    ));
    Section {
        id: format!("published-{}", article.id),
        title: format!("{}: {} ({})", article.id, article.title, author(article)),
        short: article.id.clone(),
        place: Place::Everywhere,
        blocks,
    }
}

/// The meaning of the columns of an article's table.
const MEANING: &str = "Published figures beside ours; here: the article's job on this machine, ratio: here over published, \
                       corrected: the job without its flaws";

/// A reason for which rows have no figure.
struct Lack {
    is_of: fn(&ArticleRow) -> bool,
    reason: &'static str,
    /// Options with which they have one.
    options: &'static str,
}

const LACKS: [Lack; 2] = [
    Lack {
        is_of: had_no_time,
        reason: "for which no time was left",
        options: " --budget 10min",
    },
    Lack {
        is_of: |row| !row.is_measured(),
        reason: "which are not in this run",
        options: "",
    },
];

/// Rows without a figure for one reason from which on a terminal counts them.
const MOST_WITHOUT_FIGURE: usize = 6;

/// The table of an article. Rows that had no time or are no part of the run, where there are many beside others with figures,
/// are counted on a terminal, and folded on a page.
fn tables(article: &Published, rows: &[ArticleRow]) -> Vec<Block> {
    let id = &article.id;
    let mut listed = rows.to_vec();
    let mut parts = Vec::new();
    for lack in &LACKS {
        let (without, others): (Vec<ArticleRow>, Vec<ArticleRow>) =
            listed.iter().copied().partition(lack.is_of);
        if without.len() < MOST_WITHOUT_FIGURE || others.is_empty() {
            continue;
        }
        let title = format!("{} more rows, {}", without.len(), lack.reason);
        let more = format!("{title}: pagewise run --published {id}{}", lack.options);
        let folded = vec![Block::Table(table(&without))];
        parts.extend(Block::part("", Place::Screen, vec![Block::Text(more)]));
        parts.extend(Block::part(title, Place::Page, folded));
        listed = others;
    }
    // The page has it as the table's caption.
    let meaning = vec![Block::text(MEANING)];
    let mut blocks = Vec::from_iter(Block::part("", Place::Screen, meaning));
    blocks.push(Block::Table(table(&listed)));
    blocks.extend(parts);
    blocks
}

/// Tells whether a row has no figure for want of time alone.
fn had_no_time(row: &ArticleRow) -> bool {
    let is_without = |repeated: RepeatedFigure| {
        let outcome = obstacle(&repeated);
        repeated.here.is_none() && outcome.is_some_and(|o| o.cause == Some(Cause::Budget))
    };
    row.is_measured() && row.repetitions().all(is_without)
}

/// The rows of an article's table, in its order.
fn rows<'a>(article: &'a Published, summary: &'a Summary) -> Vec<ArticleRow<'a>> {
    let mut rows: Vec<ArticleRow> = Vec::new();
    for repeated in repeated(article, summary) {
        let figure = repeated.figure;
        let is_published = figure.is_as_published();
        let row = rows.iter_mut().find(|row| {
            let taken = if is_published {
                row.as_published
            } else {
                row.corrected
            };
            row.figure.label == figure.label && taken.is_none()
        });
        let (as_published, corrected) = if is_published {
            (Some(repeated), None)
        } else {
            (None, Some(repeated))
        };
        match row {
            Some(row) => {
                row.as_published = row.as_published.or(as_published);
                row.corrected = row.corrected.or(corrected);
            }
            None => rows.push(ArticleRow {
                figure,
                as_published,
                corrected,
            }),
        }
    }
    rows
}

fn table(rows: &[ArticleRow]) -> Table {
    Columns::new("figure", ArticleRow::name)
        .number("published", |row: &ArticleRow| {
            TableCell::number(published(row.figure), row.figure.value)
        })
        .number("here", |row| here(row.as_published))
        .figure("95 %", |row| interval(row.as_published))
        .number("ratio", |row| ratio(row.as_published))
        .figure("95 % of ratio", ratio_interval)
        .shown(Shown::Room(3))
        .number("corrected", |row| here(row.corrected))
        .figure("95 % of corrected", |row| interval(row.corrected))
        .shown(Shown::Room(2))
        .figure("per op", per_operation)
        .shown(Shown::Room(1))
        .text("measured", cells)
        .shown(Shown::Page)
        .text("counted", |row| {
            let counted = row.repetitions().find_map(|r| statements::counted(&r));
            counted.unwrap_or_default()
        })
        .shown(Shown::Page)
        .table(MEANING, rows)
}

/// The published value with its unit; of several runs their range, too.
fn published(figure: &Figure) -> String {
    let Some(value) = figure.value else {
        return String::new();
    };
    let mut text = with_unit(value, &value.to_string(), &figure.unit);
    let low = figure.runs.iter().copied().reduce(f64::min);
    let high = figure.runs.iter().copied().reduce(f64::max);
    if let Some((low, high)) = low.zip(high) {
        text += &format!(" ({}–{})", three_digits(low), three_digits(high));
    }
    text
}

/// A figure with its unit, where `text` is its number; of a size about as many bytes.
fn with_unit(value: f64, text: &str, unit: &str) -> String {
    match unit {
        "times" | "count" => text.to_owned(),
        "KiB" => about_size(1024.0 * value),
        "sectors" => about_size(512.0 * value),
        unit => format!("{text} {unit}"),
    }
}

/// Our figure with its unit; where there is none, the reason.
fn here(repeated: Option<RepeatedFigure>) -> TableCell {
    let Some(repeated) = repeated else {
        return TableCell::default();
    };
    match (&repeated.here, obstacle(&repeated)) {
        (Some(here), obstacle) => {
            let digits = three_digits(here.value);
            let mut text = with_unit(here.value, &digits, &repeated.figure.unit);
            if let Some(outcome) = obstacle {
                text += &format!(", {}", outcome.status.word());
            }
            TableCell::number(text, Some(here.value))
        }
        (None, Some(outcome)) => TableCell::text(absent(outcome)),
        (None, None) => TableCell::text("not in this run"),
    }
}

/// The outcome for which a figure is absent: of its cell, or of the one that it is divided by.
fn obstacle<'a>(repeated: &RepeatedFigure<'a>) -> Option<&'a Outcome> {
    let cells = repeated.cell.into_iter().chain(repeated.divisor);
    let mut outcomes = cells.map(|cell| &cell.outcome);
    outcomes.find(|outcome| outcome.status != Status::Ok)
}

/// The reason why a row has no figure, in a few words.
fn absent(outcome: &Outcome) -> &'static str {
    match outcome.cause {
        Some(Cause::Budget) => "no time left",
        _ => outcome.status.word(),
    }
}

fn interval(repeated: Option<RepeatedFigure>) -> String {
    let here = repeated.and_then(|repeated| repeated.here);
    here.as_ref().map_or_else(String::new, interval_of)
}

fn interval_of(here: &OwnFigure) -> String {
    match here.interval {
        Some((low, high)) => format!("{}–{}", three_digits(low), three_digits(high)),
        None if here.is_count => "counted".to_owned(),
        None => String::new(),
    }
}

fn ratio(repeated: Option<RepeatedFigure>) -> TableCell {
    let undivided = repeated.filter(|repeated| repeated.figure.against.is_none());
    let ratio = undivided.and_then(|repeated| repeated.here?.ratio);
    ratio.map_or_else(TableCell::default, |ratio| {
        TableCell::number(three_digits(ratio), Some(ratio))
    })
}

/// The interval of that ratio: the published figure has none of its own.
fn ratio_interval(row: &ArticleRow) -> String {
    let undivided = row
        .as_published
        .filter(|repeated| repeated.figure.against.is_none());
    let here = undivided.and_then(|repeated| repeated.here);
    let published = row.figure.value.filter(|value| *value != 0.0);
    let interval = here.and_then(|here| here.interval).zip(published);
    interval.map_or_else(String::new, |((low, high), value)| {
        format!(
            "{}–{}",
            three_digits(low / value),
            three_digits(high / value)
        )
    })
}

/// The time of one operation here, as published where that was measured.
fn per_operation(row: &ArticleRow) -> String {
    let here = row.repetitions().find_map(|repeated| repeated.here);
    let unit = row.figure.unit_ns().filter(|_| row.figure.ops > 0);
    here.zip(unit).map_or_else(String::new, |(here, unit)| {
        format_ns(here.value * unit / row.figure.ops as f64)
    })
}

/// The cells that were measured, with what they are compared with and which of the values that a figure leaves open they had.
fn cells(row: &ArticleRow) -> String {
    let cells = row.repetitions().map(|repeated| cell(&repeated));
    cells.collect::<Vec<_>>().join("; ")
}

fn cell(repeated: &RepeatedFigure) -> String {
    let figure = repeated.figure;
    let mut text = match repeated.cell {
        Some(cell) => cell.cell.clone(),
        None => figure.cell.clone(),
    };
    if let Some(against) = &figure.against {
        text += &format!(" / {against}");
    }
    for (key, value) in open_values(figure, repeated.cell) {
        text += &format!(", {key}={value}");
    }
    text
}

/// Parameters that a figure leaves open, with the values that the cell had.
fn open_values<'a>(
    figure: &'a Figure,
    cell: Option<&'a CellSummary>,
) -> impl Iterator<Item = (&'a String, &'a String)> {
    figure
        .parameters
        .iter()
        .filter(|(_, value)| value.contains('|'))
        .filter_map(move |(key, _)| Some((key, cell?.parameters.get(key)?)))
}
