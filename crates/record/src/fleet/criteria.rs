//! Criteria that a fleet made from its own nodes: the file by which one node is checked.

use crate::hash::sha256_hex;
use crate::outcome::{Outcome, Status};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of this shape; a reader refuses any other.
pub const CRITERIA_SCHEMA: u32 = 1;
/// Possible cost of a unit, in nanoseconds: from a femtosecond to thirty years.
pub const TIMES: std::ops::RangeInclusive<f64> = 1e-6..=1e18;

/// Accepted costs of each machine group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Criteria {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// Methods to measure: EXPERIMENT/METHOD@WORKER.
    pub what: Vec<String>,
    /// Values of their parameters: KEY=VALUE,VALUE.
    pub set: Vec<String>,
    /// Criteria by machine group.
    pub kinds: Vec<CriteriaKind>,
    /// SHA-256 of all other fields as compact JSON; absent in a file that was written by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

impl Criteria {
    /// The same with its seal.
    pub fn sealed(self) -> Result<Criteria> {
        Ok(Criteria {
            seal: Some(self.digest()?),
            ..self
        })
    }

    fn digest(&self) -> Result<String> {
        let unsealed = Criteria {
            seal: None,
            ..self.clone()
        };
        Ok(sha256_hex(&[&serde_json::to_vec(&unsealed)?]))
    }

    /// Reads a file of criteria; anybody may have written it, so its limits must be numbers that a cost can be compared with.
    /// Errors: it is no JSON of this shape, of another version, or not as its seal says.
    pub fn parse(text: &str) -> Result<Criteria> {
        let value: serde_json::Value = serde_json::from_str(text)?;
        if value["schema"] != CRITERIA_SCHEMA {
            bail!(
                "it has schema {}, but this Pagewise reads {CRITERIA_SCHEMA}",
                value["schema"]
            );
        }
        let criteria: Criteria = serde_json::from_value(value)?;
        if let Some(seal) = &criteria.seal
            && *seal != criteria.digest()?
        {
            bail!(
                "it is not as it was written: fleet learn writes it anew; without its field \"seal\" it is used as it is"
            );
        }
        for cell in criteria.kinds.iter().flat_map(|kind| &kind.cells) {
            let limits = [cell.low_ns, cell.per_unit_ns, cell.high_ns];
            let given: Vec<f64> = limits.into_iter().flatten().collect();
            let in_order = given.iter().all(|ns| TIMES.contains(ns)) && given.is_sorted();
            if !in_order || ![0, limits.len()].contains(&given.len()) {
                bail!(
                    "{}: low_ns, per_unit_ns and high_ns are three times in this order, or none",
                    cell.cell
                );
            }
        }
        Ok(criteria)
    }
}

/// Accepted costs of one machine group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CriteriaKind {
    /// Facts by which a node belongs to the group.
    #[serde(flatten)]
    pub known_by: KindFacts,
    /// Nodes that were learnt from; odd ones are left out.
    pub nodes: usize,
    /// Accepted costs, one a cell.
    pub cells: Vec<CellCriterion>,
}

/// By what a kind of node is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KindFacts {
    /// Values by the fact's label.
    pub facts: BTreeMap<String, String>,
    /// All memory of its smallest node, in bytes; a node of the kind has up to 4 % more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// Accepted cost of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CellCriterion {
    /// Name of the cell, `EXPERIMENT/METHOD@WORKER`.
    pub cell: String,
    /// Its parameters, without those that each run chooses.
    pub parameters: BTreeMap<String, String>,
    /// Result of the measurement without its cause.
    pub status: Status,
    /// Wall time of one unit on the median node, in nanoseconds; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_unit_ns: Option<f64>,
    /// Lowest accepted cost of a unit, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_ns: Option<f64>,
    /// Highest accepted cost of a unit, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<f64>,
    /// True if a CPU quota kept it waiting on most nodes, so that it may elsewhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub throttled: bool,
}

/// Result of a check of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Nodes that its kind was learnt from; `None` where the node is of no kind that was learnt.
    pub nodes: Option<usize>,
    /// Number of cells that were checked.
    pub cells: usize,
    /// Criteria that were not met.
    pub missed: Vec<Missed>,
}

/// A cell that is not as on other nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "word")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum Missed {
    /// It costs too much or too little.
    Cost {
        cell: String,
        /// Relative to the median node.
        ratio: f64,
        /// The limit that it broke, relative to the median node.
        limit: f64,
    },
    /// It ended otherwise; without an outcome it was not measured.
    Outcome {
        cell: String,
        outcome: Option<Outcome>,
    },
    /// A CPU quota kept it waiting, which none did on most nodes.
    Throttled { cell: String, share: f64 },
}
