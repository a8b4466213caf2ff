//! The part of a document that a page shows.

use crate::render::document::{Block, Document, Entry, List, Place, Shown, Table};

/// Rows of a table, entries of a list and blocks of a part that a page shows at most. No run of ours has more; a page that
/// carried all that a record can hold would open in no browser.
const MOST: usize = 1000;

fn shorten<T>(items: &mut Vec<T>) -> usize {
    let left_out = items.len().saturating_sub(MOST);
    items.truncate(MOST);
    left_out
}

fn more(left_out: usize) -> String {
    format!("and {left_out} more, which pagewise report --format writes")
}

/// The document of a page: its sections, with no more than a browser opens. A note replaces the rest.
pub(super) fn bounded(document: &Document) -> Document {
    let mut document = document.clone();
    document
        .sections
        .retain(|section| section.place != Place::Screen);
    let left_out = shorten(&mut document.sections);
    document
        .sections
        .iter_mut()
        .for_each(|section| bound(&mut section.blocks));
    let blocks = if left_out > 0 {
        vec![Block::Text(more(left_out))]
    } else {
        Vec::new()
    };
    document.section("more", "More", Place::Page, blocks)
}

fn bound(blocks: &mut Vec<Block>) {
    let left_out = shorten(blocks);
    for block in blocks.iter_mut() {
        match block {
            Block::List(List { items, .. }) | Block::Commands(items) => {
                let left_out = shorten(items);
                items.extend((left_out > 0).then(|| more(left_out)));
            }
            Block::Table(table) => {
                drop_values(table);
                drop_columns(table);
                let mut left_out = shorten(&mut table.bodies);
                left_out += table
                    .bodies
                    .iter_mut()
                    .map(|body| shorten(&mut body.rows))
                    .sum::<usize>();
                if left_out > 0 {
                    table.caption += &format!("; {}", more(left_out));
                }
            }
            Block::Part(part) => bound(&mut part.blocks),
            Block::Heading(_)
            | Block::Text(_)
            | Block::Answer(_)
            | Block::Code(_)
            | Block::Chart(_) => {}
        }
    }
    if left_out > 0 {
        blocks.push(Block::Text(more(left_out)));
    }
}

/// Drops values that the text itself is.
fn drop_values(table: &mut Table) {
    let rows = table.bodies.iter_mut().flat_map(|body| &mut body.rows);
    for cell in rows.flat_map(|row| &mut row.cells) {
        let number = cell
            .value
            .as_ref()
            .and_then(|value| value.parse::<f64>().ok());
        if number.is_some() && cell.text.parse().ok() == number {
            cell.value = None;
        }
    }
}

/// Drops columns in which no row has anything, and those that are for terminals alone.
fn drop_columns(table: &mut Table) {
    for at in (0..table.columns.len().saturating_sub(1)).rev() {
        let mut rows = table.bodies.iter().flat_map(|body| &body.rows);
        if table.columns[at + 1].shown == Shown::Screen || rows.all(|row| is_empty(row, at)) {
            table.columns.remove(at + 1);
            for row in table.bodies.iter_mut().flat_map(|body| &mut body.rows) {
                if at < row.cells.len() {
                    row.cells.remove(at);
                }
            }
        }
    }
}

fn is_empty(row: &Entry, at: usize) -> bool {
    let cell = row.cells.get(at);
    cell.is_some_and(|cell| cell.text.is_empty() && cell.plot.is_none())
}
