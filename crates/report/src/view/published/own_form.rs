//! The tables of an article in their own form: its rows and columns, and in each field the published figure and ours.

use super::{ArticleRow, has_figure, here, published, ratio, ratio_interval};
use crate::render::document::{Block, Body, Column, Entry, Place, Table, TableCell};
use record::published::ArticleTable;

/// The lines that each row of an article's table has.
#[derive(Clone, Copy)]
enum FieldLine {
    Published,
    Here,
    Ratio,
    Corrected,
}

const LINES: [FieldLine; 4] = [
    FieldLine::Published,
    FieldLine::Here,
    FieldLine::Ratio,
    FieldLine::Corrected,
];

impl FieldLine {
    fn word(self) -> &'static str {
        match self {
            FieldLine::Published => "published",
            FieldLine::Here => "here",
            FieldLine::Ratio => "ratio",
            FieldLine::Corrected => "corrected",
        }
    }

    fn field(self, row: &ArticleRow) -> TableCell {
        match self {
            FieldLine::Published => TableCell::number(published(row.figure), row.figure.value),
            FieldLine::Here => here(row.as_published),
            FieldLine::Corrected => here(row.corrected),
            FieldLine::Ratio => {
                let (mut field, interval) = (ratio(row.as_published), ratio_interval(row));
                if !interval.is_empty() {
                    field.text += &format!(" ({interval})");
                }
                field
            }
        }
    }
}

/// The tables of which any field was measured, for the page and Markdown.
pub(super) fn blocks(tables: &[ArticleTable], rows: &[ArticleRow]) -> Option<Block> {
    let tables = tables.iter().filter_map(|form| {
        let heading = Block::Heading(form.title.clone());
        Some([heading, Block::Table(table(form, rows)?)])
    });
    Block::part("", Place::Full, tables.flatten().collect())
}

fn table(form: &ArticleTable, rows: &[ArticleRow]) -> Option<Table> {
    let of_row = |name: &String| -> Vec<Option<&ArticleRow>> {
        let columns = form.columns.iter();
        columns
            .map(|column| rows.iter().find(|row| form.has(row.figure, name, column)))
            .collect()
    };
    let fields: Vec<(&String, Vec<Option<&ArticleRow>>)> =
        form.rows.iter().map(|name| (name, of_row(name))).collect();
    let mut measured = fields.iter().flat_map(|(_, row)| row.iter().flatten());
    if !measured.any(|row| has_figure(row)) {
        return None;
    }
    let mut columns = vec![Column::text("figure")];
    columns.extend(form.columns.iter().map(Column::number));
    let bodies = fields.iter().map(|(name, row)| body(name, row)).collect();
    Some(Table {
        columns,
        bodies,
        ..Table::default()
    })
}

/// A row of the article: a line for each kind of figure that any of its fields has.
fn body(name: &str, row: &[Option<&ArticleRow>]) -> Body {
    let lines = LINES.iter().filter_map(|line| {
        let fields: Vec<TableCell> = row
            .iter()
            .map(|field| field.map_or_else(TableCell::default, |row| line.field(row)))
            .collect();
        let is_empty = fields.iter().all(|field| field.text.is_empty());
        (!is_empty).then(|| Entry::new(line.word(), fields))
    });
    Body {
        heading: name.to_owned(),
        rows: lines.collect(),
        ..Body::default()
    }
}
