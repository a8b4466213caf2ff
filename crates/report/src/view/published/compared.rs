//! Two runs of an article beside its figures.

use super::{ArticleRow, author, has_figure, here, interval, published, rows};
use crate::render::document::{Block, Place, Section, TableCell};
use crate::tables::columns::Columns;
use judge::questions::published::{RepeatedFigure, at_measured_sizes, quotient};
use record::published::Published;
use record::sizes::three_digits;
use record::summary::Summary;

/// A figure of an article by two runs.
struct ComparedRow<'a> {
    name: String,
    is_corrected: bool,
    row: ArticleRow<'a>,
    by_run: [Option<RepeatedFigure<'a>>; 2],
}

impl ComparedRow<'_> {
    /// Its name, and the job where that is not the article's: in every part of a table that is too wide for a screen.
    fn label(&self) -> String {
        let job = if self.is_corrected { "; corrected" } else { "" };
        format!("{}{job}", self.name)
    }

    /// What the second run took over the first, with its interval.
    fn quotient(&self) -> TableCell {
        let [first, second] = self.by_run.map(|repeated| repeated?.here);
        let Some((first, second)) = first.zip(second).filter(|(first, _)| first.value != 0.0)
        else {
            return TableCell::default();
        };
        let (value, interval) = quotient(&second, &first);
        let limits = interval.map_or_else(String::new, |(low, high)| {
            format!(" ({}–{})", three_digits(low), three_digits(high))
        });
        TableCell::number(three_digits(value) + &limits, Some(value))
    }
}

/// Figures of articles by two runs, beside the published ones.
pub fn compared(articles: &[&Published], runs: [&Summary; 2]) -> Vec<Section> {
    articles
        .iter()
        .map(|article| section(article, runs))
        .collect()
}

fn section(article: &Published, runs: [&Summary; 2]) -> Section {
    let by_run = runs.map(|summary| at_measured_sizes(article, summary));
    let [first, second] = [0, 1].map(|run| rows(&by_run[run], runs[run]));
    let compared = compared_rows(&first, &second);
    let table = Columns::new("figure", ComparedRow::label)
        .number("published", |row| {
            TableCell::number(published(row.row.figure), row.row.figure.value)
        })
        .number("A", |row| here(row.by_run[0]))
        .figure("95 % of A", |row| interval(row.by_run[0]))
        .number("B", |row| here(row.by_run[1]))
        .figure("95 % of B", |row| interval(row.by_run[1]))
        .number("B : A (95 %)", ComparedRow::quotient)
        .table("Published figures beside those of both runs", compared);
    Section {
        id: format!("compared-{}", article.id),
        title: format!("{}: {} ({})", article.id, article.title, author(article)),
        short: article.id.clone(),
        place: Place::Everywhere,
        blocks: vec![Block::text(&article.question), Block::Table(table)],
    }
}

/// The rows that one of two runs has a figure of: of the article's own job, then of the corrected one.
fn compared_rows<'a>(first: &[ArticleRow<'a>], second: &[ArticleRow<'a>]) -> Vec<ComparedRow<'a>> {
    let lacks = |rows: &[ArticleRow], name: &str| rows.iter().all(|row| row.name() != name);
    let of_second = second.iter().filter(|row| lacks(first, &row.name()));
    let rows = first.iter().chain(of_second).filter(|row| {
        let other = second.iter().find(|other| other.name() == row.name());
        has_figure(row) || other.is_some_and(has_figure)
    });
    let mut compared = Vec::new();
    for row in rows {
        let name = row.name();
        let by_name = |rows: &[ArticleRow<'a>]| rows.iter().find(|row| row.name() == name).copied();
        let both = [by_name(first), by_name(second)];
        let jobs = [
            (false, both.map(|row| row?.as_published)),
            (true, both.map(|row| row?.corrected)),
        ];
        for (is_corrected, by_run) in jobs {
            if by_run
                .iter()
                .flatten()
                .any(|repeated| repeated.here.is_some())
            {
                compared.push(ComparedRow {
                    name: name.clone(),
                    is_corrected,
                    row: *row,
                    by_run,
                });
            }
        }
    }
    compared
}
