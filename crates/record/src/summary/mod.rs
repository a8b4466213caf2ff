//! Result of a run: the shape of `summary.json` and `run --json`, with a committed schema. A report needs nothing else.

pub mod cell;
mod group;
mod note;
#[cfg(test)]
#[path = "../../tests/unit/summary/schema.rs"]
pub(crate) mod schema;
mod warning;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use cell::{
    CellSummary, CountSummary, Distribution, FactProof, Footprint, LatencySummary, LaunchValues,
    LawSummary, PhaseSummary, SteadySummary, TailQuantile, TailRatio,
};
pub use group::{
    AaCheck, AnswerCondition, BestClaim, Comparison, Doubt, Estimate, GroupSummary, Levels,
    Recommendation, StateAnswer, StateEffect, StateRatio, Unsettled, Verdict,
};
pub use note::{EndedExperiment, LeastPrecise, Note, NoteKind};
pub use warning::{LaunchCount, Warning, WarningKind};

use crate::experiment::Experiment;
pub use crate::method::Role;

/// Version of this shape. Older ones are read too: 4 has warnings and notes as sentences, 5 and 6 reasons.
pub const SUMMARY_SCHEMA: u32 = 7;

/// A whole run, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    pub schema: u32,
    #[serde(deserialize_with = "crate::plan::deserialize_name")]
    pub run: String,
    /// When it was made, RFC 3339.
    pub created: String,
    pub version: String,
    /// The words by which the machine is known: a hash of its id, its kernel, processor and so on.
    pub host: BTreeMap<String, String>,
    /// Main facts of the environment; all of it is in `environment.json`.
    pub environment: BTreeMap<String, String>,
    pub settings: Settings,
    /// Time spent in launches, in seconds.
    pub elapsed_s: f64,
    /// The experiments that took part, in order.
    pub experiments: Vec<ExperimentSummary>,
    /// Comparison groups, in the order in which they are shown.
    pub groups: Vec<GroupSummary>,
    pub cells: Vec<CellSummary>,
    pub calibration: Calibration,
    /// True if no A/A check differs and no cell is untrusted.
    pub trusted: bool,
    pub warnings: Vec<Warning>,
    pub notes: Vec<Note>,
}

impl Summary {
    /// A sentence for each part of the record that is not as it was written.
    pub fn damage(&self) -> impl Iterator<Item = &str> {
        self.warnings
            .iter()
            .filter_map(|warning| match &warning.kind {
                WarningKind::Damaged { seen } => Some(seen.as_str()),
                _ => None,
            })
    }

    /// True if a signal or a kill ended the run.
    pub fn is_interrupted(&self) -> bool {
        self.notes
            .iter()
            .any(|note| note.kind.code() == "interrupted")
    }
}

/// Settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Settings {
    /// Seed of every order and of all data.
    pub seed: u64,
    pub budget_s: f64,
    /// Half-width of a ratio's interval at which an experiment is done, as a share.
    pub precision: f64,
    /// Differences below this share are called within the margin.
    pub margin: f64,
    pub first_look: bool,
}

/// Facts of an experiment that a report needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExperimentSummary {
    /// Its definition as it was when the run was made.
    #[serde(flatten)]
    pub definition: Experiment,
    /// The total or phase that is compared first.
    pub headline: String,
    pub launch_s: f64,
    /// The part of that which went into headline phases of methods, in seconds.
    pub headline_s: f64,
}

/// Calibration of the run's intervals by the baselines' hidden duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Calibration {
    /// A/A checks of this run and of kept runs of this machine that were pooled.
    pub checks: usize,
    /// Spread of their z-scores; 1 where intervals are as wide as they should be.
    pub spread: Option<f64>,
    /// Probability of such a spread where the intervals are right.
    pub p: Option<f64>,
    /// The factor by which all intervals of the run were widened; 1 where they were left as they are.
    pub widened: f64,
}

impl Summary {
    pub fn experiment(&self, name: &str) -> Option<&ExperimentSummary> {
        self.experiments.iter().find(|e| e.definition.name == name)
    }

    pub fn groups_of<'a>(&'a self, experiment: &'a str) -> impl Iterator<Item = &'a GroupSummary> {
        self.groups
            .iter()
            .filter(move |g| g.experiment == experiment)
    }

    pub fn comparisons(&self) -> impl Iterator<Item = (&GroupSummary, &Comparison)> {
        self.groups
            .iter()
            .flat_map(|g| g.comparisons.iter().map(move |c| (g, c)))
    }
}

impl GroupSummary {
    /// All comparisons of a phase or total, by their cells: for whoever asks for many of them.
    pub fn by_cell(&self, phase: &str) -> BTreeMap<usize, &Comparison> {
        self.comparisons
            .iter()
            .rev()
            .filter(|c| c.phase == phase)
            .map(|c| (c.cell, c))
            .collect()
    }

    pub fn comparison(&self, cell: usize, phase: &str) -> Option<&Comparison> {
        self.comparisons
            .iter()
            .find(|c| c.cell == cell && c.phase == phase)
    }
}
