//! Published figures beside ours as a section: a table for each article.

use crate::render::document::{Block, Place, Section, Shown, Table, TableCell};
use crate::tables::columns::Columns;
use judge::questions::published::{OwnFigure, RepeatedFigure, repeated};
use record::published::{Figure, Published};
use record::sizes::three_digits;
use record::summary::{CellSummary, Summary};

/// The articles' tables beside our figures. Of several articles, rows without a statement or figure are only counted.
pub fn sections(articles: &[&Published], summary: &Summary) -> Vec<Section> {
    articles
        .iter()
        .map(|article| section(article, articles.len() == 1, summary))
        .collect()
}

fn section(article: &Published, alone: bool, summary: &Summary) -> Section {
    let (rows, left_out): (Vec<_>, Vec<_>) = repeated(article, summary)
        .into_iter()
        .partition(|row| row.cell.is_some() || row.figure.headline || alone);
    let mut blocks = vec![Block::text(format!(
        "{}; {}",
        article.source, article.machine
    ))];
    blocks.push(Block::Table(table(&rows)));
    blocks.extend(article.note.iter().map(Block::text));
    if !left_out.is_empty() {
        let more = format!(
            "{} more rows, of other sizes: pagewise run --published {}",
            left_out.len(),
            article.id
        );
        blocks.push(Block::Text(more));
    }
    let title = format!("{}: {}", article.id, article.title);
    let id = format!("published-{}", article.id);
    Section {
        id,
        title,
        short: article.id.clone(),
        place: Place::Everywhere,
        blocks,
    }
}

fn table(rows: &[RepeatedFigure]) -> Table {
    Columns::new("figure", |row: &RepeatedFigure| row.figure.label.clone())
        .text("job", |row| job(row.figure, row.cell))
        .number("published", |row| {
            let figure = row.figure;
            let text = format!("{} {}", figure.value, figure.unit);
            TableCell::number(text, Some(figure.value))
        })
        .number("here", here)
        .figure("95 %", |row| {
            row.here.as_ref().map_or_else(String::new, interval)
        })
        .number("ratio", |row| {
            let ratio = row.here.as_ref().and_then(|here| here.ratio);
            ratio.map_or_else(TableCell::default, number)
        })
        .text("cell", cell)
        .shown(Shown::Room(0))
        .table(
            "Published figures beside ours: the ratio is ours over theirs",
            rows,
        )
}

/// Our figure; where there is none, the reason.
fn here(row: &RepeatedFigure) -> TableCell {
    match (&row.here, row.cell) {
        (Some(here), _) => number(here.value),
        (None, Some(cell)) => TableCell::text(cell.outcome.status.word()),
        (None, None) => TableCell::text("not in this run"),
    }
}

fn interval(here: &OwnFigure) -> String {
    match here.interval {
        Some((low, high)) => format!("{}–{}", three_digits(low), three_digits(high)),
        None if here.is_count => "counted".to_owned(),
        None => String::new(),
    }
}

fn number(value: f64) -> TableCell {
    TableCell::number(three_digits(value), Some(value))
}

/// The cell that was measured, with the one that it is compared with; the cell that is wanted where none was.
fn cell(row: &RepeatedFigure) -> String {
    let Some(cell) = row.cell else {
        return row.figure.cell.clone();
    };
    let against = row.figure.against.as_ref();
    let against = against.map_or_else(String::new, |against| format!(" / {against}"));
    format!("{}{against}", cell.cell)
}

/// The figure's job, and which of the values that it leaves open the cell had.
fn job(figure: &Figure, cell: Option<&CellSummary>) -> String {
    let mut job = figure.job.clone();
    for (key, value) in &figure.parameters {
        let measured = cell.and_then(|cell| cell.parameters.get(key));
        if let Some(measured) = measured.filter(|_| value.contains('|')) {
            job += &format!(", {key}={measured}");
        }
    }
    job
}
