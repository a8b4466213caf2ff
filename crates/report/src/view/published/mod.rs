//! Articles: which there are, and the figures of one beside ours, with its question, its pictures and its sentences.

mod compared;
mod listing;
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
use record::sizes::{format_ns, three_digits};
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
    blocks.extend(Block::part(
        "",
        Place::Page,
        pictures::blocks(&article.pictures, &rows),
    ));
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
    blocks.extend(statements::blocks(article, claims, &rows, summary));
    blocks.extend(listing::blocks(article, articles.programs, &rows));
    blocks.push(Block::Commands(vec![
        format!("pagewise run --published {} --budget 10min", article.id),
        format!("pagewise show --published {}", article.id),
    ]));
    Section {
        id: format!("published-{}", article.id),
        title: format!("{}: {} ({})", article.id, article.title, author(article)),
        short: article.id.clone(),
        place: Place::Everywhere,
        blocks,
    }
}

/// Rows without time for a figure from which on a terminal counts them.
const MOST_WITHOUT_TIME: usize = 6;

/// The table of an article. Rows that had no time, where there are many beside others with figures, are counted on a terminal, and
/// folded on a page.
fn tables(article: &Published, rows: &[ArticleRow]) -> Vec<Block> {
    let (without_time, others): (Vec<ArticleRow>, Vec<ArticleRow>) =
        rows.iter().copied().partition(had_no_time);
    if without_time.len() < MOST_WITHOUT_TIME || others.is_empty() {
        return vec![Block::Table(table(rows))];
    }
    let (count, id) = (without_time.len(), &article.id);
    let more = format!(
        "no time was left for {count} more rows: pagewise run --published {id} --budget 10min"
    );
    let folded = vec![Block::Table(table(&without_time))];
    let title = format!("{count} more rows, for which no time was left");
    let parts = [
        Block::part("", Place::Screen, vec![Block::Text(more)]),
        Block::part(title, Place::Page, folded),
    ];
    let mut blocks = vec![Block::Table(table(&others))];
    blocks.extend(parts.into_iter().flatten());
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
        .number("here : published", |row| ratio(row.as_published))
        .number("corrected", |row| here(row.corrected))
        .figure("95 % of it", |row| interval(row.corrected))
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
        .table(
            "Published figures beside ours; here: the same job, corrected: without its flaws",
            rows,
        )
}

/// The published value with its unit; of several runs their range, too.
fn published(figure: &Figure) -> String {
    let Some(value) = figure.value else {
        return String::new();
    };
    let mut text = with_unit(&value.to_string(), &figure.unit);
    let low = figure.runs.iter().copied().reduce(f64::min);
    let high = figure.runs.iter().copied().reduce(f64::max);
    if let Some((low, high)) = low.zip(high) {
        text += &format!(" ({}–{})", three_digits(low), three_digits(high));
    }
    text
}

fn with_unit(value: &str, unit: &str) -> String {
    match unit {
        "times" => value.to_owned(),
        "count" => value.to_owned(),
        unit => format!("{value} {unit}"),
    }
}

/// Our figure with its unit; where there is none, the reason.
fn here(repeated: Option<RepeatedFigure>) -> TableCell {
    let Some(repeated) = repeated else {
        return TableCell::default();
    };
    match (&repeated.here, obstacle(&repeated)) {
        (Some(here), _) => {
            let text = with_unit(&three_digits(here.value), &repeated.figure.unit);
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
