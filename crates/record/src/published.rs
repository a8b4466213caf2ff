//! Published figures: `published/*.toml`, one file an article.

use crate::claim::AS_PUBLISHED;
use crate::sizes::{BYTES, format_size, parse_size};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// One article.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// `P5`.
    pub id: String,
    /// Title, as lists and headings have it.
    pub title: String,
    /// Author, as far as one is named.
    pub author: String,
    /// Year of publication; 0 where it is not known.
    #[serde(default)]
    pub year: u16,
    /// Its question, in one or two sentences.
    pub question: String,
    /// Reference of the article.
    pub source: String,
    /// Machine of the published figures.
    pub machine: String,
    /// Time in which the whole table is measured, in seconds: the budget where none is given.
    #[serde(default)]
    pub budget_s: f64,
    /// Each of its cells takes minutes, so one pass of each is measured, in a process of its own and with nothing before it.
    #[serde(default)]
    pub once: bool,
    /// Remarks that its table cannot show, in sentences; printed below it.
    #[serde(default)]
    pub note: Option<String>,
    /// Questions that its reader has next: other sizes, one changed assumption.
    #[serde(default)]
    pub next: Vec<NextQuestion>,
    /// Its tables in their own form, in order.
    #[serde(default, rename = "table")]
    pub tables: Vec<ArticleTable>,
    /// Pictures of its page, in order.
    #[serde(default, rename = "picture")]
    pub pictures: Vec<Picture>,
    /// Loops of our program for it that its page lists, in order.
    #[serde(default, rename = "loop")]
    pub loops: Vec<MeasuredLoop>,
    /// Our programs that do what its programs do, as they are compiled and started.
    #[serde(default, rename = "program")]
    pub programs: Vec<RunnableProgram>,
    /// Figures of the table.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
}

/// A question that a reader of an article has next.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextQuestion {
    /// The question in a few words.
    pub question: String,
    /// The command that answers it.
    pub command: String,
}

/// A table in the article's own form. A figure belongs to a row and a column by its label.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArticleTable {
    /// Title, which says what is in its fields.
    pub title: String,
    /// Label of a figure, in which ROW and COLUMN stand for their names.
    pub label: String,
    /// Names of its rows.
    pub rows: Vec<String>,
    /// Names of its columns.
    pub columns: Vec<String>,
}

impl ArticleTable {
    /// Tells whether a figure is that of a row and a column; what follows in brackets is no part of a name.
    pub fn has(&self, figure: &Figure, row: &str, column: &str) -> bool {
        let label = self.label.replace("ROW", row).replace("COLUMN", column);
        let rest = figure.label.strip_prefix(&label);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    }
}

/// One of our programs: how it is compiled and started where a changed copy is compared with it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnableProgram {
    /// File, `P4.c`, whose end names its language.
    pub file: String,
    /// Options of the compiler of C.
    #[serde(default)]
    pub flags: Vec<String>,
    /// File that INPUT stands for among the arguments: `random` bytes, or a `capture` that the program itself makes.
    #[serde(default)]
    pub input: ProgramInput,
    /// Its size, with its unit.
    #[serde(default)]
    pub input_bytes: String,
    /// Ways to start it; the first is the usual one.
    #[serde(rename = "run")]
    pub runs: Vec<ProgramRun>,
}

/// The file that a program reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramInput {
    /// No file.
    #[default]
    Nothing,
    /// Bytes that no way of copying can foretell.
    Random,
    /// A capture, made by the program: `make FILE BYTES`.
    Capture,
}

/// One way to start a program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramRun {
    /// Name: the word that chooses it.
    pub name: String,
    /// Words behind the program's name. INPUT is the file that it reads, OUTPUT one on a disk that it may write.
    pub arguments: String,
    /// Names of the times that it prints, in order; none where only its whole process counts.
    #[serde(default)]
    pub prints: Vec<String>,
}

/// One picture: curves over a size, or a bar a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// Title, which names the axis.
    pub title: String,
    /// Curves: each has the rows of this label followed by a comma and a size.
    #[serde(default)]
    pub curves: Vec<String>,
    /// Bars: the rows whose labels begin so. Their unit is one of time.
    #[serde(default)]
    pub bars: String,
}

/// A part of one of our programs that does what the article's loop does, and what its lines measure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredLoop {
    /// File of the program, `P4.c`.
    pub program: String,
    /// Heading: a sentence on the loop.
    pub title: String,
    /// Text in its first line.
    pub from: String,
    /// Text in its last line.
    pub to: String,
    /// Lines that decide the figure, in order.
    #[serde(rename = "mark")]
    pub marks: Vec<MarkedLine>,
}

/// A line of a loop that decides a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkedLine {
    /// Text in it; of several such lines the first that is not marked yet.
    pub line: String,
    /// The work behind it, in sentences.
    pub measures: String,
    /// Label of the row whose own job was counted there.
    #[serde(default)]
    pub figure: Option<String>,
}

/// One published figure and the cell of ours that repeats it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its row and column in words.
    pub label: String,
    /// True if a statement of the article rests on it: these are measured first, and alone where all articles are.
    #[serde(default)]
    pub headline: bool,
    /// The claim that it decides, by its id.
    #[serde(default)]
    pub claim: Option<String>,
    /// Published value, in the unit of the table; of several runs the median. Absent at a size that the article has not.
    pub value: Option<f64>,
    /// Each of several published runs, in their order.
    #[serde(default)]
    pub runs: Vec<f64>,
    /// `s`, `ms`, `us`, `KiB`, `count`, `%`, `times`.
    pub unit: String,
    /// Number of units; 0 where it is the time of a whole sample.
    #[serde(default)]
    pub ops: u64,
    /// Name of the cell, `EXPERIMENT/METHOD@WORKER`.
    pub cell: String,
    /// Divisor of a ratio (unit `times`): the cell, with the same parameters.
    #[serde(default)]
    pub against: Option<String>,
    /// Parameters that our cells must have where their methods take them; sizes with their units.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Parameters in which the divisor differs.
    #[serde(default)]
    pub against_parameters: BTreeMap<String, String>,
    /// Name of the phase or total.
    pub phase: String,
    /// Of a ratio: the divisor's phase or total, where that is another one.
    #[serde(default)]
    pub against_phase: Option<String>,
    /// Of a ratio: the phase that does a part of the same work alone, which says how much of it that part is.
    #[serde(default)]
    pub part: Option<String>,
    /// Column of the table.
    #[serde(default)]
    pub column: FigureColumn,
    /// `as published` or `corrected`.
    pub job: String,
}

/// Column of our table that repeats a figure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is a figure of `PhaseSummary`")]
pub enum FigureColumn {
    #[default]
    WallNs,
    CpuNs,
    UserNs,
    SystemNs,
    CpuPercent,
    MinorFaults,
    MajorFaults,
    VoluntarySwitches,
    InvoluntarySwitches,
    /// How far launches' wall times lie from their median, over that of the cell that it is compared with.
    Spread,
    /// A recorded fact, by its name.
    #[serde(untagged)]
    Fact(String),
}

impl FigureColumn {
    /// True for times and shares of them, which are measured rather than counted.
    pub fn is_time(&self) -> bool {
        matches!(
            self,
            FigureColumn::WallNs
                | FigureColumn::CpuNs
                | FigureColumn::UserNs
                | FigureColumn::SystemNs
                | FigureColumn::CpuPercent
                | FigureColumn::Spread
        )
    }
}

/// A cell of ours with the parameters that it must have.
#[derive(Clone, Debug)]
pub struct FigureCell<'a> {
    /// Name, `EXPERIMENT/METHOD@WORKER`.
    pub name: &'a str,
    /// Parameters, sizes with their units.
    pub parameters: BTreeMap<&'a str, &'a str>,
}

impl Figure {
    /// The cell of ours that repeats it.
    pub fn repeating(&self) -> FigureCell<'_> {
        FigureCell {
            name: &self.cell,
            parameters: texts(&self.parameters).collect(),
        }
    }

    /// The cell that it is divided by.
    pub fn divisor(&self) -> Option<FigureCell<'_>> {
        let name = self.against.as_deref()?;
        let parameters = texts(&self.parameters).chain(texts(&self.against_parameters));
        Some(FigureCell {
            name,
            parameters: parameters.collect(),
        })
    }

    /// Both.
    pub fn cells(&self) -> impl Iterator<Item = FigureCell<'_>> {
        std::iter::once(self.repeating()).chain(self.divisor())
    }

    /// Phase or total of the divisor.
    pub fn divisor_phase(&self) -> &str {
        self.against_phase.as_deref().unwrap_or(&self.phase)
    }

    /// Nanoseconds of its unit; none where that is no unit of time.
    pub fn unit_ns(&self) -> Option<f64> {
        match self.unit.as_str() {
            "s" => Some(1e9),
            "ms" => Some(1e6),
            "us" | "µs" => Some(1e3),
            _ => None,
        }
    }

    /// Size that its parameters name, in bytes.
    pub fn bytes(&self) -> Option<u64> {
        parse_size(self.parameters.get(BYTES)?).ok()
    }

    /// Its label without a size that it begins or ends with: `prefetch` of `prefetch, 2 MiB (±77 %)`.
    fn stem(&self) -> &str {
        let is_own = |part: &str| {
            if !part.starts_with(|first: char| first.is_ascii_digit()) {
                return false;
            }
            let size: String = part.split(" (").take(1).collect();
            let size = parse_size(&size.replace(' ', "")).ok();
            size.is_some() && size == self.bytes()
        };
        let label = self.label.as_str();
        match (label.split_once(", "), label.rsplit_once(", ")) {
            (Some((size, stem)), _) if is_own(size) => stem,
            (_, Some((stem, size))) if is_own(size) => stem,
            _ => label,
        }
    }

    /// True for two figures of one series: the same job at other sizes.
    fn is_of_series(&self, other: &Figure) -> bool {
        let fixed = |figure: &Figure| {
            let mut parameters = figure.parameters.clone();
            parameters.remove(BYTES);
            parameters
        };
        self.job == other.job
            && self.cell == other.cell
            && self.column == other.column
            && self.stem() == other.stem()
            && fixed(self) == fixed(other)
    }

    /// The same figure at a size that the article has not; what it covers grows with the size where `grows`.
    fn at_size(&self, bytes: u64, grows: bool) -> Figure {
        let size = format_size(bytes);
        let digits = size.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let (number, unit) = size.split_at(digits);
        let mut figure = self.clone();
        figure.label = format!("{}, {number} {unit}", self.stem());
        figure.value = None;
        figure.runs.clear();
        if let Some(own) = self.bytes().filter(|_| grows) {
            let scaled = u128::from(self.ops) * u128::from(bytes) / u128::from(own);
            figure.ops = u64::try_from(scaled).unwrap_or(u64::MAX);
        }
        figure.parameters.insert(BYTES.to_owned(), size);
        figure
    }

    /// True if it is measured as the article did.
    pub fn is_as_published(&self) -> bool {
        self.job == AS_PUBLISHED
    }
}

fn texts(parameters: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    parameters
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
}

impl Published {
    /// Reads a file of `published/`. Errors: it is not of this shape; `path` is for the message.
    pub fn parse(path: &str, text: &str) -> Result<Published> {
        toml::from_str(text).with_context(|| path.to_owned())
    }

    /// The article with its series at these sizes, too, as far as it has them not. Ratios and what decides a claim keep their
    /// sizes.
    pub fn at_sizes(&self, sizes: &BTreeSet<u64>) -> Published {
        let mut article = self.clone();
        if sizes.is_empty() {
            return article;
        }
        article.figures.clear();
        for (at, figure) in self.figures.iter().enumerate() {
            article.figures.push(figure.clone());
            let is_of_series = |other: &&Figure| figure.is_of_series(other);
            let is_last = !self.figures[at + 1..].iter().any(|f| is_of_series(&f));
            let varies = figure.against.is_none() && figure.claim.is_none();
            if !(is_last && varies && figure.bytes().is_some()) {
                continue;
            }
            let series = || self.figures.iter().filter(is_of_series);
            let known: BTreeSet<u64> = series().filter_map(Figure::bytes).collect();
            let grows = series().any(|other| other.ops != figure.ops);
            let further = sizes.difference(&known);
            let further = further.map(|bytes| figure.at_size(*bytes, grows));
            article.figures.extend(further);
        }
        article
    }

    /// The cells of ours that repeat its figures, each once.
    pub fn selectors(&self) -> Vec<String> {
        let mut cells: Vec<String> = self
            .figures
            .iter()
            .flat_map(Figure::cells)
            .map(|cell| cell.name.to_owned())
            .collect();
        cells.sort();
        cells.dedup();
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARTICLE: &str = r#"
id = "P"
title = ""
author = ""
question = ""
source = ""
machine = ""
[[figure]]
label = "prefetch, 1 MiB"
value = 156
unit = "us"
ops = 256
cell = "fault/thp@go"
parameters = { bytes = "1MiB", release = "free" }
phase = "first-touch"
job = "as published"
[[figure]]
label = "prefetch, 2 MiB (±77 %)"
value = 315
unit = "us"
ops = 512
cell = "fault/thp@go"
parameters = { bytes = "2MiB", release = "free" }
phase = "first-touch"
job = "as published"
[[figure]]
label = "64 KiB, 1e9 writes"
value = 20
unit = "s"
ops = 1000000000
cell = "share/mmap@c-O0"
parameters = { bytes = "64KiB" }
phase = "write"
job = "corrected"
[[figure]]
label = "prefetch over page fault, 1 MiB"
value = 1.0
unit = "times"
cell = "fault/thp@go"
against = "fault/touch@go"
parameters = { bytes = "1MiB" }
phase = "first-touch"
job = "as published"
"#;

    #[test]
    fn a_series_goes_on_at_sizes_that_the_article_has_not() {
        let article = Published::parse("p.toml", ARTICLE).unwrap();
        let more = article.at_sizes(&BTreeSet::from([1 << 20, 3 << 20]));
        let rows: Vec<(&str, u64, Option<f64>)> = more
            .figures
            .iter()
            .map(|figure| (figure.label.as_str(), figure.ops, figure.value))
            .collect();
        assert_eq!(
            rows,
            [
                ("prefetch, 1 MiB", 256, Some(156.0)),
                ("prefetch, 2 MiB (±77 %)", 512, Some(315.0)),
                // What a touch covers grows with the size; a count of stores does not.
                ("prefetch, 3 MiB", 768, None),
                ("64 KiB, 1e9 writes", 1_000_000_000, Some(20.0)),
                ("1e9 writes, 1 MiB", 1_000_000_000, None),
                ("1e9 writes, 3 MiB", 1_000_000_000, None),
                ("prefetch over page fault, 1 MiB", 0, Some(1.0)),
            ]
        );
        let table = ArticleTable {
            title: String::new(),
            label: "COLUMN, ROW".to_owned(),
            rows: Vec::new(),
            columns: Vec::new(),
        };
        // What stands in brackets is no part of a name.
        assert!(table.has(&article.figures[1], "2 MiB", "prefetch"));
        assert!(!table.has(&article.figures[1], "2 MiB (±77", "prefetch"));
        assert!(!table.has(&article.figures[1], "2", "prefetch"));
        assert_eq!(more.figures[2].parameters["bytes"], "3MiB");
        assert_eq!(more.figures[2].bytes(), Some(3 << 20));
    }
}
