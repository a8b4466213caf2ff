//! Plan of a run: its cells, the processes they share, the number of launches and the random order.

use crate::{
    cell::Cell, concern::Concern, experiment::Experiment, kind::Kind, method::Method,
    outcome::Outcome, parameters::Parameters,
};
use anyhow::{Result, bail};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_with::{apply, skip_serializing_none};
use std::collections::BTreeMap;

crate::read_from_json!(Plan);
crate::written_to_json!(Plan);

/// Version of everything in a run folder. Version 2, with reasons as sentences, is read too; others are refused.
pub const SCHEMA: u32 = 3;
/// The fewest and the most launches of a launch group unless the user says otherwise. The budget usually ends a run
/// at about ten; the
/// rounds of a launch are chosen from what varies, and where processes differ, many short launches are better than few long.
pub const LAUNCHES: (u32, u32) = (6, 40);
/// The most launches where only the budget ends a run.
pub const MOST_LAUNCHES: u32 = 400;
/// The most cells of a run: a grid with more of them is a slip of the pen, and a record with more was not written by us.
pub const MOST_CELLS: usize = 20_000;
/// The key of methods that do their work several times in one sample, because once is too short to time.
pub const BATCH: &str = "batch";

/// One cell of a run.
#[skip_serializing_none]
#[apply(bool => #[serde(default, skip_serializing_if = "crate::is_default")])]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedCell {
    /// Cell that is measured.
    pub cell: Cell,
    /// Its method as the worker described it, by which it is judged for as long as the run is kept.
    pub method: Method,
    /// The hidden duplicate of the baseline.
    pub twin: bool,
    /// Its `batch` is not the user's: a decision chooses it.
    pub free_batch: bool,
    /// Every launch of it proves in a round: a figure is of a phase that other rounds lack.
    pub proves: bool,
    /// Set where it was known beforehand that it cannot be measured.
    pub outcome: Option<Outcome>,
}

/// Cells that take turns in one process; a launch is one such process (or pair).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LaunchGroup {
    /// Name of the experiment.
    pub experiment: String,
    /// Indices of its cells in the plan.
    pub cells: Vec<usize>,
    /// True if each sample has a process of its own.
    pub fresh: bool,
}

/// Everything that is decided before measuring. It is written once; see [`crate::decision`] for what follows.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// Purpose of the run.
    #[serde(default)]
    pub kind: Kind,
    /// Name of the run, which is its folder's.
    #[serde(deserialize_with = "crate::plan::deserialize_name")]
    pub run: String,
    /// Time of making, RFC 3339.
    pub created: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// Seed of every order and of all data.
    pub seed: u64,
    /// Time that the run may take, in seconds.
    pub budget_s: f64,
    /// Half-width of a ratio's interval at which an experiment is done, as a share.
    pub precision: f64,
    /// Smallest difference that matters, as a share: 0.02 for 2 %.
    pub margin: f64,
    /// Longest time that one launch may take, in seconds; where left out, it follows from what the pilot took.
    pub time_limit_s: Option<f64>,
    /// Launches after which precision is looked at first.
    pub min_launches: u32,
    /// Launches of each cell at most.
    pub max_launches: u32,
    /// Measured rounds of each launch, where they are not to be chosen.
    pub rounds: Option<u32>,
    /// True if usual conditions come first and neighbouring ones have a small share: the overview, and the usual choice of a
    /// named experiment.
    #[serde(rename = "first_look")]
    pub usual_first: bool,
    /// True if a named experiment is not measured whole, for want of time.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub short: bool,
    /// True if words rest on evidence that holds whatever ends the launches ([`stats::anytime`]): where an experiment is named
    /// without a time or a precision, whose launches end as soon as its words are known, and where the user ends the run.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub ends_on_words: bool,
    /// Ids of the articles whose figures it repeats. Every row of theirs is launched once before any is launched again.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub articles: Vec<String>,
    /// True if settings of the machine may be changed.
    pub allow_system_changes: bool,
    /// True if the user's variables are left to the workers that would change how they allocate, load or compile.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub keep_environment: bool,
    /// Name of the baseline method, by experiment.
    pub baselines: BTreeMap<String, String>,
    /// SHA-256 of each worker used.
    pub workers: BTreeMap<String, String>,
    /// SHA-256 of each file of the user's functions, by the name under which the run may keep it: source, program, libraries.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub files: BTreeMap<String, String>,
    /// The experiments as they were when the run was made.
    pub experiments: Vec<Experiment>,
    /// Cells; records refer to them by index.
    pub cells: Vec<PlannedCell>,
    /// Launch groups; records refer to them by index.
    pub launch_groups: Vec<LaunchGroup>,
}

impl Plan {
    /// Tells whether it is the overview of everything.
    pub fn is_overview(&self) -> bool {
        self.usual_first && !self.short
    }

    /// Tells whether it is measured in sweeps over everything, and nothing is left out for want of launches: the overview, the
    /// usual choice, and articles.
    pub fn sweeps(&self) -> bool {
        self.usual_first || !self.articles.is_empty()
    }

    /// Experiment of this name.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|e| e.name == name)
    }

    /// Value of the parameter of `cell` that concerns `concern`, if it has one.
    pub fn value<'a>(&self, cell: &'a Cell, concern: Concern) -> Option<&'a str> {
        self.experiment(&cell.experiment)?.value(cell, concern)
    }
}

/// The parameters that group comparisons: two cells are compared where none of these differs.
pub fn group_of(experiment: &Experiment, cell: &Cell) -> Parameters {
    let grouping = cell
        .parameters
        .iter()
        .filter(|(key, _)| experiment.groups_by(key));
    grouping.map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// Tells whether two groups contradict each other nowhere; a parameter that one of them lacks does not matter to it.
pub fn compatible(a: &Parameters, b: &Parameters) -> bool {
    a.iter()
        .all(|(key, value)| b.get(key).is_none_or(|other| other == value))
}

const MOST: usize = 64;

/// The name, if it can stand in paths, sockets and records of the guard: 1 to 64 ASCII letters, digits and hyphens.
/// Errors: it has another character, none, or too many.
pub fn run_name(name: &str) -> Result<&str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if name.is_empty() || name.len() > MOST || !name.chars().all(allowed) {
        bail!("{name:?} is no name of a run: 1 to {MOST} letters, digits and hyphens");
    }
    Ok(name)
}

pub(crate) fn deserialize_name<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    run_name(&name).map_err(D::Error::custom)?;
    Ok(name)
}
