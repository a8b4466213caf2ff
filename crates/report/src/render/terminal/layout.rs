//! The columns of a table that a screen has room for, and the width of each: names give way, and a table that is too wide
//! becomes several.

use super::drawing::is_drawn;
use super::screen::{GAP, Screen, width};
use crate::render::document::{Column, Entry, Shape, Shown, Table};

/// Widths of a drawing: as wide as there is room for between these.
const LEAST_DRAWING: usize = 13;
const WIDEST_DRAWING: usize = 25;
/// Names keep so much width when further columns are added.
const NAME: usize = 32;
/// Sentences keep so much width when further columns are added, and before names give way.
const WORDS: usize = 40;
/// Sentences are wrapped to so much width before a name is divided.
const WRAPPED: usize = 24;
/// Words and sentences keep so much width.
const LEAST: usize = 14;

/// A column that is shown.
#[derive(Clone, Copy)]
pub(super) struct ShownColumn<'a> {
    pub index: usize,
    pub column: &'a Column,
    /// The width that it would like; in the end the width that it has.
    pub width: usize,
    /// The width of its widest word, if it holds names: none of them is divided while there is another way.
    word: usize,
}

/// The columns of each table that a table becomes.
pub(super) fn layouts<'a>(
    table: &'a Table,
    rows: &[&Entry],
    room: usize,
    screen: &Screen,
) -> Vec<Vec<ShownColumn<'a>>> {
    let mut columns = Vec::new();
    for (index, column) in table.columns.iter().enumerate() {
        let width = natural_width(table, index, rows, screen);
        if index == 0 || width > 0 {
            columns.push(ShownColumn {
                index,
                column,
                width,
                word: widest_word(table, index, rows, screen),
            });
        }
    }
    let further = columns[1..].iter().map(ShownColumn::least).max();
    if columns[0].word + GAP + further.unwrap_or(0) > room {
        // No figure has room beside the longest name.
        columns[0].word = 0;
    }
    let mut parts = divided(&columns, room);
    if let [part] = &mut parts[..] {
        add_further(part, &columns, room);
    }
    for part in &mut parts {
        fit(part, room);
    }
    parts
}

/// The width that a column would like: none where no row has anything in it.
fn natural_width(table: &Table, index: usize, rows: &[&Entry], screen: &Screen) -> usize {
    let column = &table.columns[index];
    if column.shape == Shape::Drawn {
        let cells = rows.iter().filter_map(|row| row.cell(index));
        let mut plots = cells.filter_map(|cell| cell.plot.as_ref());
        return if plots.any(is_drawn) {
            LEAST_DRAWING
        } else {
            0
        };
    }
    let widest = rows
        .iter()
        .filter(|row| !spans(row, index, table.columns.len()))
        .map(|row| width(&screen.text(row.text(index))))
        .max()
        .unwrap_or(0);
    if widest == 0 && index > 0 {
        return 0;
    }
    widest.max(width(&screen.text(&column.title)))
}

/// The width of the widest word in a column of names; none in one of sentences or figures.
fn widest_word(table: &Table, index: usize, rows: &[&Entry], screen: &Screen) -> usize {
    let (column, columns) = (&table.columns[index], table.columns.len());
    if column.shape != Shape::Text {
        return 0;
    }
    let texts = rows
        .iter()
        .filter(|row| !spans(row, index, columns))
        .map(|row| row.text(index));
    texts
        .flat_map(|text| text.split(' '))
        .map(|word| width(&screen.text(word)))
        .max()
        .unwrap_or(0)
}

/// Tells whether a row's cell spans this column and those after it: it takes the width that is there.
pub(super) fn spans(row: &Entry, index: usize, columns: usize) -> bool {
    index > 0 && index == row.cells.len() && index + 1 < columns
}

impl ShownColumn<'_> {
    /// The width below which the column is not made.
    fn least(&self) -> usize {
        match self.column.shape {
            Shape::Text if self.index == 0 => self.width.min(NAME.max(self.word)),
            Shape::Text | Shape::Words => self.width.min(self.narrowest()),
            Shape::Number | Shape::Drawn => self.width,
        }
    }

    /// The width down to which the column gives way.
    fn narrowest(&self) -> usize {
        LEAST.max(self.word)
    }

    /// The width that the column keeps when further ones are added.
    fn kept(&self) -> usize {
        if self.column.shape == Shape::Words {
            self.width.min(WORDS)
        } else {
            self.width
        }
    }

    /// Precedence among the columns that give way; `None` where this one does not.
    fn gives_way(&self) -> Option<(bool, bool, usize)> {
        let is_sentences = self.column.shape == Shape::Words;
        let is_text = self.column.shape == Shape::Text;
        // Sentences wrap, so they give way first.
        ((is_text || is_sentences) && self.width > self.narrowest()).then_some((
            is_sentences && self.width > WRAPPED,
            is_text,
            self.width,
        ))
    }
}

/// The columns that must be shown, over several tables if needed; each begins with the names.
fn divided<'a>(columns: &[ShownColumn<'a>], room: usize) -> Vec<Vec<ShownColumn<'a>>> {
    let name = columns[0];
    let mut parts = vec![vec![name]];
    let mut used = name.least();
    for column in &columns[1..] {
        if column.column.shown != Shown::Always {
            continue;
        }
        let size = GAP + column.least();
        // Names give way before a table is divided.
        let has_room = used + size <= room + name.least().saturating_sub(name.narrowest());
        match parts.last_mut() {
            Some(part) if has_room || part.len() == 1 => {
                part.push(*column);
                used += size;
            }
            _ => {
                parts.push(vec![name, *column]);
                used = name.least() + size;
            }
        }
    }
    parts
}

/// Adds the columns that are shown where there is room.
fn add_further<'a>(part: &mut Vec<ShownColumn<'a>>, columns: &[ShownColumn<'a>], room: usize) {
    let mut further: Vec<ShownColumn> = columns[1..]
        .iter()
        .copied()
        .filter(|column| matches!(column.column.shown, Shown::Room(_) | Shown::Screen))
        .collect();
    further.sort_by_key(|column| match column.column.shown {
        Shown::Room(order) => order,
        _ => 0,
    });
    let widths = part[1..].iter().map(|column| GAP + column.kept());
    let mut used = part[0].least() + widths.sum::<usize>();
    for column in further {
        if used + GAP + column.width <= room {
            used += GAP + column.width;
            part.push(column);
        }
    }
    part.sort_unstable_by_key(|column| column.index);
}

/// Gives each column its width: what is too wide is taken from the widest text, what is left goes to drawings.
fn fit(columns: &mut [ShownColumn], room: usize) {
    while line_width(columns) > room {
        let widest = (0..columns.len())
            .filter(|&at| columns[at].gives_way().is_some())
            .max_by_key(|&at| columns[at].gives_way());
        // Nothing gives way any more: the longest names do, and the line is cut at last.
        let longest = (0..columns.len())
            .filter(|&at| matches!(columns[at].column.shape, Shape::Text | Shape::Words))
            .max_by_key(|&at| columns[at].width);
        let column = &mut columns[widest.or(longest).unwrap_or(0)];
        if column.width <= 1 {
            break;
        }
        column.width -= 1;
    }
    let left = room.saturating_sub(line_width(columns));
    let mut drawings = columns.iter_mut();
    if let Some(drawing) = drawings.find(|c| c.column.shape == Shape::Drawn) {
        drawing.width = (drawing.width + left).min(WIDEST_DRAWING);
    }
}

fn line_width(columns: &[ShownColumn]) -> usize {
    columns
        .iter()
        .map(|column| column.width + GAP)
        .sum::<usize>()
        - GAP
}
