//! Published figures: `published/*.toml`, one file an article.

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
    /// Reference of the article.
    pub source: String,
    /// Machine of the published figures.
    pub machine: String,
    /// Each of its cells takes minutes, so one pass of each is measured, in a process of its own and with nothing before it.
    #[serde(default)]
    pub once: bool,
    /// Remarks that its table cannot show, in sentences; printed below it.
    #[serde(default)]
    pub note: Option<String>,
    /// Figures of the table.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
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
    /// Published value, in the unit of the table.
    pub value: f64,
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

impl Figure {
    /// The cell of ours that repeats it, and the one that it is divided by.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.cell.as_str()).chain(self.against.as_deref())
    }
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
            .map(str::to_owned)
            .collect();
        cells.sort();
        cells.dedup();
        cells
    }
}
