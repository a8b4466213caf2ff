//! Published figures: `published/*.toml`, one file an article.

use crate::claim::AS_PUBLISHED;
use crate::sizes::{self, BYTES};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

/// One article.
#[derive(Clone, Debug, Deserialize)]
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
    /// Pictures of its page, in order.
    #[serde(default, rename = "picture")]
    pub pictures: Vec<Picture>,
    /// Figures of the table.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
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
    /// Published value, in the unit of the table; of several runs the median.
    pub value: f64,
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
    /// Column of the table.
    #[serde(default = "wall_ns")]
    pub column: String,
    /// `as published` or `corrected`.
    pub job: String,
}

fn wall_ns() -> String {
    "wall_ns".to_owned()
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

    /// Size of its job in bytes; none where it has none.
    pub fn bytes(&self) -> Option<u64> {
        sizes::parse_size(self.parameters.get(BYTES)?).ok()
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
