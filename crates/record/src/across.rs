//! Comparison of two sets of runs: the shape of `compare --json`, which the committed JSON Schema describes.

use crate::claim::AnswerChange;
use crate::outcome::{Outcome, Status};
use crate::parameters::Parameters;
use crate::summary::{Contrast, CountSummary, Doubt};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;

crate::read_from_json!(Compared);
crate::written_to_json!(Compared);

/// Version of [`Compared`].
pub const COMPARED_SCHEMA: u32 = 7;

/// Two sets of runs compared with each other.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Compared {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// Smallest difference that matters, as a share: 0.02 for 2 %.
    pub margin: f64,
    /// The share by which nothing may be slower, where there is a gate.
    pub gate: Option<f64>,
    /// First side, the reference.
    pub a: ComparedSide,
    /// Second side, which is judged.
    pub b: ComparedSide,
    /// In what the machines, workers and versions differ, those that can change a figure first.
    pub differences: Vec<FactDifference>,
    /// Cells that both sides measured, in the order of the first run.
    pub cells: Vec<ComparedCell>,
    /// Counts of functions, where a gate asks for them.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub counts: Vec<ComparedCount>,
    /// Cells that could not be compared.
    pub missing: Vec<MissingCell>,
    /// Claims whose verdict is not the same, where both sides are runs of claims.
    pub claims: Vec<AnswerChange>,
    /// Result of the gate; absent without one.
    pub gated: Option<Gated>,
}

/// One side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ComparedSide {
    /// Runs of this side, in the order of the command line.
    pub runs: Vec<ComparedRun>,
    /// Main facts of the environment of its first run, by label.
    pub environment: BTreeMap<String, String>,
    /// Facts that can change a figure and are not the same in all its runs.
    pub unlike: Vec<String>,
}

/// A run of a side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ComparedRun {
    /// Name of the run, which is its folder's.
    pub run: String,
    /// When it was made, RFC 3339.
    pub created: String,
    /// True if a signal or a kill ended it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub interrupted: bool,
    /// A sentence for each part of its record that is not as it was written and is left out.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub damage: Vec<String>,
    /// Codes of its warnings that may disturb a figure, with the cells that each is about.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub disturbed: BTreeMap<String, usize>,
    /// Its untrusted cells.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub untrusted: usize,
}

/// A fact that differs between the sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FactDifference {
    /// Its field in `environment.json`, `worker.NAME` for a worker's SHA-256, or `version`.
    pub field: String,
    /// Value on the first side.
    pub a: String,
    /// Value on the second side.
    pub b: String,
    /// True if it can change what something costs.
    pub matters: bool,
    /// True if `--expect` names it, so that it is no reason to refuse.
    pub expected: bool,
}

/// A cell that both sides measured, by its experiment's headline.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ComparedCell {
    /// Cell and phase to which the costs belong.
    #[serde(flatten)]
    pub headline: CellHeadline,
    /// Cost on the first side.
    pub a: SideCost,
    /// Cost on the second side.
    pub b: SideCost,
    /// Cost on the second side relative to the first.
    pub quotient: f64,
    /// The same with its interval over runs; absent with fewer than three runs on a side.
    #[serde(flatten)]
    pub contrast: Contrast,
    /// Result of the gate for this cell; absent without one.
    pub gate: Option<GateWord>,
    /// Runs a side that should decide it if they scatter as these do; absent where it is decided or no number would do.
    pub runs_needed: Option<usize>,
    /// The reason why its interval has no verdict, if it is neither its width nor its place.
    pub doubt: Option<Doubt>,
}

/// A cell with the phase that is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CellHeadline {
    /// `fault/touch@c-O3`; of a user's program the arm.
    pub cell: String,
    /// The experiment; the command of a user's program.
    pub experiment: String,
    /// Sizes in plain bytes, without the batch that each run chooses.
    pub parameters: Parameters,
    /// Name of the phase or total.
    pub phase: String,
    /// Unit of work: page, byte …
    pub unit: String,
}

/// A cell on one side.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SideCost {
    /// Wall time of one unit in nanoseconds: the geometric mean over runs.
    pub per_unit_ns: f64,
    /// Number of runs that have the cell.
    pub runs: usize,
    /// Number of launches.
    pub launches: usize,
    /// Scatter from run to run, as a share; absent with one run.
    pub between_runs: Option<f64>,
    /// The same of each run, in their order; absent where runs were gathered without being kept apart.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub per_run_ns: Vec<f64>,
}

/// A count of a phase on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ComparedCount {
    /// The cell with its parameters.
    pub cell: String,
    /// The phase.
    pub phase: String,
    /// `calls`, `allocations` …
    pub count: String,
    /// The first side.
    pub a: CountSummary,
    /// The second side.
    pub b: CountSummary,
    /// Verdict of the gate.
    pub gate: GateWord,
}

/// A cell that could not be compared.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MissingCell {
    /// Name of the cell, `EXPERIMENT/METHOD@WORKER`.
    pub cell: String,
    /// Outcome on the first side; absent where no run has it.
    pub a: Option<Status>,
    /// Status on the second side; absent if the cell is in none of its runs.
    pub b: Option<Status>,
    /// Reason why there is no comparison.
    pub reason: MissingReason,
}

/// The reason why a cell could not be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "word")]
pub enum MissingReason {
    /// The outcome in the first run that lacks it.
    Outcome(Outcome),
    /// The other side did not measure it.
    OneSide,
    /// It took no time that the clock shows.
    NoTime,
    /// Fewer launches than an estimate needs.
    NoLaunches,
}

/// Verdict of a gate on one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateWord {
    /// Shown not to be slower by the gate's share.
    Passes,
    /// Shown to be slower by more than the gate's share, among all cells together.
    Regression,
    /// The interval includes the gate's share, or the cell is not trusted.
    Undecided,
}

/// Verdict of a gate on a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gated {
    /// No cell is slower by more than the gate's share.
    Passes,
    /// At least one cell is slower.
    Regression,
    /// At least one cell is undecided, untrusted or damaged.
    Undecided,
    /// A record is damaged.
    Damaged,
    /// The environments differ in what was not named, or a cell of the first side could not be measured on the second.
    NotComparable,
}

impl Gated {
    /// Exit code of `compare --gate`.
    pub fn exit_code(self) -> u8 {
        match self {
            Gated::Passes => 0,
            Gated::Regression => 2,
            Gated::Undecided | Gated::Damaged => 3,
            Gated::NotComparable => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::summary::schema::{assert_committed, tighten};

    fn made() -> Value {
        let mut schema = serde_json::to_value(schemars::schema_for!(Compared)).unwrap();
        tighten(&mut schema);
        schema["$id"] = json!(format!("urn:pagewise:compare:{COMPARED_SCHEMA}"));
        schema["title"] = json!("Pagewise comparison");
        schema["description"] = json!(
            "Two sets of runs compared with each other: what `pagewise compare --json` prints."
        );
        schema["properties"]["schema"] =
            json!({ "description": "Version of this shape.", "const": COMPARED_SCHEMA });
        schema
    }

    #[test]
    fn the_committed_schema_is_that_of_the_types() {
        assert_committed("schema/compare.schema.json", &made());
    }
}
