//! A report as data: sections of headings, sentences, tables, charts and commands. Products build it; the terminal, the
//! page and Markdown render it, and nothing else writes lines or tags. Texts are plain: a renderer escapes them.

use crate::render::plot::{Curves, Plot};
use crate::sentences::numbers::{self, Work};
use record::sizes::{format_ns, three_digits};
use record::summary::{Contrast, PhaseSummary, Ratio, Verdict};
use serde::Serialize;

/// Colors and marks of lines; no chart has more lines.
const COLORS: usize = 7;

/// A report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Document {
    /// Its subject in a few words: `fault`, `comparison`.
    pub subject: String,
    /// Its circumstances, a few words each: machine, kernel, time.
    pub head: Vec<String>,
    /// The question that it answers, at the top of the page; may be empty.
    pub question: String,
    /// Other pages of the same site, at the top of the page.
    pub pages: Vec<PageLink>,
    /// Its parts, in order; each is an entry of the page's contents.
    pub sections: Vec<Section>,
    /// A terminal explains the words of the glossary that it has below it.
    #[serde(skip)]
    pub is_explained: bool,
}

/// Link to another page of the same site.
#[derive(Clone, Debug, Serialize)]
pub struct PageLink {
    /// Path of the file, relative to the page.
    pub path: String,
    pub text: String,
}

/// The readers of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Place {
    #[default]
    Everywhere,
    Screen,
    /// The page, and the terminal with `--full`.
    Full,
    Page,
}

/// One part.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// The word by which links find it.
    pub id: String,
    /// Its heading; a terminal begins without one where this is empty.
    pub title: String,
    /// Its entry in the contents, a word or two; the title where empty.
    pub short: String,
    pub place: Place,
    pub blocks: Vec<Block>,
}

/// One piece of a part.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", content = "it", rename_all = "lowercase")]
pub enum Block {
    Heading(String),
    Text(String),
    /// A sentence that answers the reader's question.
    Answer(String),
    Code(String),
    Commands(Vec<String>),
    List(List),
    Table(Table),
    Chart(Chart),
    /// Blocks for some readers only; with a title the page folds them.
    Part(Part),
}

/// A list of short texts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct List {
    /// Its heading; may be empty.
    pub title: String,
    pub items: Vec<String>,
    /// Lines that it may take on a terminal, with the command that prints all of it; unlimited where absent.
    pub most: Option<(usize, String)>,
}

/// A chart with its explanation.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    pub caption: String,
    pub plot: Plot,
    /// Its marks, in order.
    pub legend: Vec<Key>,
}

/// Blocks that only some readers get, or that the page folds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Part {
    /// Title of a folded part; not folded where empty.
    pub title: String,
    /// The word by which links find it; may be empty.
    pub id: String,
    /// The finding, shown after its title; may be empty.
    pub note: String,
    pub place: Place,
    pub blocks: Vec<Block>,
}

/// A table: a name for each row, then columns.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// Its content in a sentence, for the page.
    pub caption: String,
    pub legend: Vec<Key>,
    /// The first heads the rows' names.
    pub columns: Vec<Column>,
    /// Rows that belong together, and are sorted by themselves.
    pub bodies: Vec<Body>,
    /// On a terminal each body has columns of its own widths, as many as its rows fill.
    pub apart: bool,
}

/// The meaning of a color.
#[derive(Clone, Debug, Serialize)]
pub struct Key {
    /// The class that the style colors: `c0` to `c7`, `proven`, `possible`.
    pub class: String,
    pub text: String,
}

/// The width that a column needs, and how it gives way where a screen is narrow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A few words, cut where there is no room.
    #[default]
    Text,
    /// Sentences, wrapped where there is no room.
    Words,
    /// Figures, never cut; rows can be sorted by them.
    Number,
    Drawn,
}

/// Outputs that show a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Shown {
    #[default]
    Always,
    /// On a terminal where there is room, smaller numbers first; elsewhere always.
    Room(u8),
    /// On a terminal where there is room, and nowhere else: the page has it in a picture.
    Screen,
    Page,
}

/// A column.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Column {
    pub title: String,
    pub shape: Shape,
    pub shown: Shown,
    pub axis: Option<Plot>,
}

/// Rows that belong together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Body {
    /// Their heading; may be empty.
    pub heading: String,
    /// Floors and lower bounds, which a reader may put away.
    pub aside: bool,
    pub rows: Vec<Entry>,
}

/// The direction of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    #[default]
    Plain,
    Faster,
    Slower,
    Open,
    Baseline,
}

/// A row. Its last cell spans the columns that are left.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Entry {
    pub name: String,
    /// The section that its name leads to, on the page.
    pub link: Option<String>,
    /// The file that its name leads to, relative to the page: another page of the same site.
    pub file: Option<String>,
    /// The word by which links find the row.
    pub id: Option<String>,
    /// The index of the summary's cell that it shows.
    pub cell: Option<usize>,
    pub tone: Tone,
    /// One for each column but the first.
    pub cells: Vec<TableCell>,
}

/// A field of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TableCell {
    pub text: String,
    /// Its number with six digits: rows are sorted by it, and programs read it.
    pub value: Option<String>,
    pub plot: Option<Plot>,
    /// Color of a field of a heat map, from -4 (takes much less) to 4.
    pub heat: Option<i8>,
    /// The direction of its own finding, in a table whose rows have none.
    pub tone: Tone,
    /// Its text without the count at its end, for a terminal on whose line that has no room.
    #[serde(skip)]
    pub uncounted: Option<String>,
}

impl Document {
    pub fn new(subject: impl Into<String>, head: impl IntoIterator<Item = String>) -> Document {
        Document {
            subject: subject.into(),
            head: head.into_iter().collect(),
            ..Document::default()
        }
    }

    /// The same, with the words of the glossary explained below it on a terminal.
    pub(crate) fn explained(mut self) -> Document {
        self.is_explained = true;
        self
    }

    /// Its first line; none where it has neither a subject nor circumstances.
    pub(crate) fn heading(&self) -> Option<String> {
        let parts = std::iter::once(&self.subject)
            .chain(&self.head)
            .filter(|part| !part.is_empty());
        let parts: Vec<&str> = std::iter::once("pagewise")
            .chain(parts.map(String::as_str))
            .collect();
        (parts.len() > 1).then(|| parts.join(" · "))
    }

    /// Adds a section that has any content.
    pub fn section(
        mut self,
        id: &str,
        title: impl Into<String>,
        place: Place,
        blocks: Vec<Block>,
    ) -> Document {
        self.sections.extend(Section::new(id, title, place, blocks));
        self
    }
}

impl Section {
    /// A section; nothing where it has no content.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        place: Place,
        blocks: Vec<Block>,
    ) -> Option<Section> {
        (!blocks.is_empty()).then(|| Section {
            id: id.into(),
            title: title.into(),
            short: String::new(),
            place,
            blocks,
        })
    }
}

impl Block {
    pub fn text(text: impl Into<String>) -> Block {
        Block::Text(text.into())
    }

    /// A list; nothing where it has no items.
    pub fn list(
        title: impl Into<String>,
        items: impl IntoIterator<Item = String>,
    ) -> Option<Block> {
        let items: Vec<String> = items.into_iter().collect();
        (!items.is_empty()).then(|| {
            Block::List(List {
                title: title.into(),
                items,
                most: None,
            })
        })
    }

    /// Blocks for some readers; nothing where there are none.
    pub fn part(title: impl Into<String>, place: Place, blocks: Vec<Block>) -> Option<Block> {
        (!blocks.is_empty()).then(|| {
            Block::Part(Part {
                title: title.into(),
                place,
                blocks,
                ..Part::default()
            })
        })
    }
}

impl Chart {
    /// Curves below which stand their caption and a key. A label keeps its color in all charts that share `known`.
    pub fn of_curves(caption: String, mut curves: Curves, known: &mut Vec<String>) -> Block {
        let mut free: Vec<usize> = (0..COLORS).collect();
        for line in &mut curves.lines {
            let number = known
                .iter()
                .position(|label| *label == line.label)
                .unwrap_or(known.len());
            if number == known.len() {
                known.push(line.label.clone());
            }
            let at = free
                .iter()
                .position(|&color| color == number % COLORS)
                .unwrap_or(0);
            line.color = free.remove(at);
        }
        let lines = curves.lines.iter();
        let legend = lines
            .map(|line| Key::new(format!("c{}", line.color), &line.label))
            .collect();
        let plot = Plot::Curves {
            curves: Box::new(curves),
            label: caption.clone(),
        };
        Block::Chart(Chart {
            caption: caption + ".",
            plot,
            legend,
        })
    }
}

impl Table {
    pub fn new(
        caption: impl Into<String>,
        columns: Vec<Column>,
        rows: impl IntoIterator<Item = Entry>,
    ) -> Table {
        let bodies = vec![Body {
            rows: rows.into_iter().collect(),
            ..Body::default()
        }];
        Table {
            caption: caption.into(),
            columns,
            bodies,
            ..Table::default()
        }
    }
}

impl Key {
    pub fn new(class: impl Into<String>, text: impl Into<String>) -> Key {
        Key {
            class: class.into(),
            text: text.into(),
        }
    }

    /// A color for each text, in order.
    pub fn of_texts(texts: &[String]) -> Vec<Key> {
        let texts = texts.iter().enumerate();
        texts
            .map(|(at, text)| Key::new(format!("c{at}"), text))
            .collect()
    }
}

impl Column {
    fn shaped(title: impl Into<String>, shape: Shape) -> Column {
        Column {
            title: title.into(),
            shape,
            ..Column::default()
        }
    }

    pub fn text(title: impl Into<String>) -> Column {
        Column::shaped(title, Shape::Text)
    }

    pub fn sentences(title: impl Into<String>) -> Column {
        Column::shaped(title, Shape::Words)
    }

    pub fn number(title: impl Into<String>) -> Column {
        Column::shaped(title, Shape::Number)
    }

    /// A column of drawings below an axis.
    pub fn plot(axis: Plot) -> Column {
        Column {
            axis: Some(axis),
            ..Column::shaped("", Shape::Drawn)
        }
    }

    pub fn shown(self, shown: Shown) -> Column {
        Column { shown, ..self }
    }
}

impl Entry {
    pub fn new(name: impl Into<String>, cells: Vec<TableCell>) -> Entry {
        Entry {
            name: name.into(),
            cells,
            ..Entry::default()
        }
    }

    /// Its field in a column; none in the first, which has its name.
    pub(crate) fn cell(&self, column: usize) -> Option<&TableCell> {
        self.cells.get(column.checked_sub(1)?)
    }

    /// Its text in a column.
    pub(crate) fn text(&self, column: usize) -> &str {
        if column == 0 {
            &self.name
        } else {
            self.cell(column).map_or("", |cell| cell.text.as_str())
        }
    }
}

impl TableCell {
    pub fn text(text: impl Into<String>) -> TableCell {
        TableCell {
            text: text.into(),
            ..TableCell::default()
        }
    }

    /// A number as a text writes it.
    pub fn number(text: impl Into<String>, value: Option<f64>) -> TableCell {
        let value = value
            .filter(|v| v.is_finite())
            .map(|v| six_digits(v).to_string());
        TableCell {
            text: text.into(),
            value,
            ..TableCell::default()
        }
    }

    /// A text that names some things of a kind, and counts so many further ones at its end: `read; 2 more`.
    pub fn counted(text: &str, further: usize) -> TableCell {
        if further == 0 {
            return TableCell::text(text);
        }
        TableCell {
            uncounted: Some(text.to_owned()),
            ..TableCell::text(format!("{text}; {further} more"))
        }
    }

    pub fn count(count: usize) -> TableCell {
        TableCell::number(count.to_string(), Some(count as f64))
    }

    /// A mean count, with decimals where it has any.
    pub fn mean(value: f64) -> TableCell {
        TableCell::number(three_digits(value).trim_end_matches(".00"), Some(value))
    }

    pub fn ns(ns: f64) -> TableCell {
        TableCell::number(format_ns(ns), Some(ns))
    }

    /// A phase's cost of one operation.
    pub(crate) fn cost(work: Work, phase: &PhaseSummary) -> TableCell {
        let (text, value) = work.cost(phase);
        TableCell::number(text, Some(value))
    }

    /// A cost by nanoseconds of one operation; rows are sorted by these.
    pub(crate) fn work(work: Work, per_unit_ns: f64) -> TableCell {
        TableCell::number(work.figure(per_unit_ns), Some(per_unit_ns))
    }

    /// A ratio with its interval; empty where there is none.
    pub fn ratio(ratio: Option<&Ratio>) -> TableCell {
        ratio.map_or_else(TableCell::default, |r| {
            TableCell::number(numbers::ratio_words(r), Some(r.ratio))
        })
    }

    /// A share, in percent; empty where there is none.
    pub fn share(share: Option<f64>) -> TableCell {
        share.map_or_else(TableCell::default, |s| {
            TableCell::number(crate::sentences::wording::percent(s), Some(s))
        })
    }

    pub fn plot(plot: Option<Plot>) -> TableCell {
        TableCell {
            plot,
            ..TableCell::default()
        }
    }
}

impl Tone {
    /// The direction of a contrast's verdict, where it holds among all.
    pub fn contrast(contrast: &Contrast) -> Tone {
        match contrast.overall() {
            Verdict::Faster { .. } => Tone::Faster,
            Verdict::Slower { .. } => Tone::Slower,
            Verdict::NotSettled => Tone::Open,
            Verdict::Within { .. } => Tone::Plain,
        }
    }
}

/// A number with six digits: no figure has more, and a page carries thousands of them.
pub(crate) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
