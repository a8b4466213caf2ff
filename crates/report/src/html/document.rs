//! What a page is made of. Texts are plain: whatever they hold is shown as it stands, and steers nothing.

use serde::Serialize;

use super::chart::Drawing;

/// A page.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Document {
    /// What stands in the window's title and as the first heading.
    pub title: String,
    /// What the page is about, in a few words each.
    pub head: Vec<String>,
    /// Its parts, in order; each is an entry of the contents.
    pub sections: Vec<Section>,
}

/// One part.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// The word by which links find it: small letters, digits and hyphens; anything else is replaced.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// How the contents call it, in a word or two.
    pub short: String,
    /// What stands in it.
    pub blocks: Vec<Block>,
}

/// One piece of a part.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Block {
    /// A heading below the part's.
    Heading {
        /// Its words.
        text: String,
    },
    /// A paragraph.
    Text {
        /// Its words.
        text: String,
    },
    /// A sentence that a reader came for.
    Answer {
        /// Its words.
        text: String,
    },
    /// A list.
    List {
        /// What heads it; may be empty.
        title: String,
        /// Its entries.
        items: Vec<String>,
    },
    /// Commands, one a line.
    Commands {
        /// Each as it is typed.
        lines: Vec<String>,
    },
    /// A table.
    Table(Table),
    /// A drawing of its own.
    Chart {
        /// What it shows, in a sentence.
        caption: String,
        /// The drawing.
        drawing: Drawing,
        /// What its marks stand for, in their order.
        legend: Vec<Key>,
    },
    /// Something that is shown when it is asked for.
    Fold {
        /// What it is.
        title: String,
        /// What stands in it.
        blocks: Vec<Block>,
    },
}

impl Block {
    /// A paragraph.
    pub fn text(text: impl Into<String>) -> Block {
        Block::Text { text: text.into() }
    }
}

/// A table: a name for each row, then columns.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// What it shows, in a sentence.
    pub caption: String,
    /// What its colours stand for.
    pub legend: Vec<Key>,
    /// The first heads the rows' names.
    pub columns: Vec<Column>,
    /// Rows that belong together, and are sorted by themselves.
    pub bodies: Vec<Body>,
}

/// What a colour stands for.
#[derive(Clone, Debug, Serialize)]
pub struct Key {
    /// The class that the style gives the colour to: `c0` to `c7`, `proven`, `possible`.
    pub class: String,
    /// What it stands for.
    pub text: String,
}

impl Key {
    /// The colours in their order.
    pub fn all<'a>(words: impl IntoIterator<Item = &'a String>) -> Vec<Key> {
        let key = |(at, text): (usize, &String)| Key { class: format!("c{at}"), text: text.clone() };
        words.into_iter().enumerate().map(key).collect()
    }
}

/// A column.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Column {
    /// What heads it; empty where a drawing does.
    pub title: String,
    /// Nothing, `words` where they need room, `number` or `drawn`.
    pub class: &'static str,
    /// Whether its rows can be sorted by it.
    pub sorts: bool,
    /// An axis that heads it.
    pub axis: Option<Drawing>,
}

impl Column {
    /// A column of words.
    pub fn text(title: impl Into<String>) -> Column {
        Column { title: title.into(), class: "", ..Column::default() }
    }

    /// A column of sentences.
    pub fn words(title: impl Into<String>) -> Column {
        Column { title: title.into(), class: "words", ..Column::default() }
    }

    /// A column of figures, by which rows can be sorted.
    pub fn number(title: impl Into<String>) -> Column {
        Column { title: title.into(), class: "number", sorts: true, axis: None }
    }

    /// A column of drawings below an axis.
    pub fn plot(title: impl Into<String>, axis: Drawing) -> Column {
        Column { title: title.into(), class: "drawn", sorts: false, axis: Some(axis) }
    }
}

/// Rows that belong together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Body {
    /// What they are; empty where that is plain.
    pub heading: String,
    /// Whether a reader may put them away: floors and best possibles.
    pub aside: bool,
    /// The rows.
    pub rows: Vec<Entry>,
}

/// A row.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The cell of the summary that it shows, as an index.
    pub cell: Option<usize>,
    /// `faster`, `slower`, `open` or nothing: what is shown of it.
    pub mark: &'static str,
    /// One for each column but the first.
    pub cells: Vec<Cell>,
}

/// A field of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    /// Its words.
    pub text: String,
    /// The number that they stand for, with six digits: rows are sorted by it, and programs read it.
    pub value: Option<String>,
    /// What is drawn in it.
    pub drawing: Option<Drawing>,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// Words for a number.
    pub fn number(text: impl Into<String>, value: Option<f64>) -> Cell {
        let value = value.filter(|v| v.is_finite()).map(|v| six_digits(v).to_string());
        Cell { text: text.into(), value, drawing: None }
    }

    /// A drawing.
    pub fn drawing(drawing: Option<Drawing>) -> Cell {
        Cell { drawing, ..Cell::default() }
    }
}

/// Rows of a table, entries of a list and blocks of a part that a page shows at most. No run of ours has more; a page that
/// carried all that a record can hold would open in no browser.
const MOST: usize = 1000;

/// Keeps the first of a list; how many were left out.
fn shorten<T>(all: &mut Vec<T>) -> usize {
    let left_out = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    left_out
}

fn more(left_out: usize) -> String {
    format!("and {left_out} more, which pagewise export writes")
}

impl Document {
    /// The same with no more than a browser opens. What is left out is said where it would stand.
    pub(super) fn bounded(mut self) -> Document {
        let left_out = shorten(&mut self.sections);
        self.sections.iter_mut().for_each(|section| bound(&mut section.blocks));
        if left_out > 0 {
            let blocks = vec![Block::text(more(left_out))];
            self.sections.push(Section { id: "more".into(), title: "More".into(), short: String::new(), blocks });
        }
        self
    }
}

fn bound(blocks: &mut Vec<Block>) {
    let left_out = shorten(blocks);
    for block in blocks.iter_mut() {
        match block {
            Block::List { items, .. } | Block::Commands { lines: items } => {
                let left_out = shorten(items);
                items.extend((left_out > 0).then(|| more(left_out)));
            }
            Block::Table(table) => {
                let mut left_out = shorten(&mut table.bodies);
                left_out += table.bodies.iter_mut().map(|body| shorten(&mut body.rows)).sum::<usize>();
                if left_out > 0 {
                    table.caption += &format!("; {}", more(left_out));
                }
            }
            Block::Fold { blocks, .. } => bound(blocks),
            Block::Heading { .. } | Block::Text { .. } | Block::Answer { .. } | Block::Chart { .. } => {}
        }
    }
    if left_out > 0 {
        blocks.push(Block::text(more(left_out)));
    }
}

/// A number with six digits: no figure has more, and a page carries thousands of them.
pub(super) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
