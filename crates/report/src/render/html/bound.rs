//! The part of a document that a page shows.

use crate::render::document::{Block, Document, Entry, List, Place, Table};

/// Rows of a table, entries of a list and blocks of a part that a page shows at most. No run of ours has more; a page that
/// carried all that a record can hold would open in no browser.
const MOST: usize = 1000;

fn shorten<T>(all: &mut Vec<T>) -> usize {
    let left_out = all.len().saturating_sub(MOST);
    all.truncate(MOST);
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
                drop_empty(table);
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

/// Drops columns in which no row has anything.
fn drop_empty(table: &mut Table) {
    for at in (0..table.columns.len().saturating_sub(1)).rev() {
        let mut rows = table.bodies.iter().flat_map(|body| &body.rows);
        if rows.all(|row| is_empty(row, at)) {
            table.columns.remove(at + 1);
            for row in table.bodies.iter_mut().flat_map(|body| &mut body.rows) {
                row.cells.remove(at);
            }
        }
    }
}

fn is_empty(row: &Entry, at: usize) -> bool {
    let cell = row.cells.get(at);
    cell.is_some_and(|cell| cell.text.is_empty() && cell.plot.is_none())
}
