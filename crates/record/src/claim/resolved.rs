//! A claim with the very cells that answer it here: what a run of kind `claims` keeps beside its plan.

use super::Claim;
use crate::cell::Cell;
use serde::{Deserialize, Serialize};

/// A claim with its cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResolvedClaim {
    pub claim: Claim,
    pub jobs: Vec<ResolvedJob>,
}

/// One comparison with its cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResolvedJob {
    /// `corrected` or `as published`.
    pub job: String,
    /// The cells of `way`: one, or of a crossover one for each of its points. Empty where there are none here.
    pub way: Vec<Cell>,
    /// The cells of `other`, likewise; empty of an absolute claim.
    pub other: Vec<Cell>,
    /// Of a crossover: the value of its parameter for each cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<u64>,
    /// Why it is not measured: there is no such worker here, or the budget did not reach it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub left_out: String,
    /// True if time was too short, not the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_lack_of_time: bool,
}

impl ResolvedJob {
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.way.iter().chain(&self.other)
    }
}
