//! The four places of an interval, and the usual margin.

use serde::{Deserialize, Serialize};

/// The margin within which two costs count as the same, unless the user names another.
pub const MARGIN: f64 = 0.02;

/// The place of an interval against the margin: the verdict without its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Region {
    /// The whole interval lies below the margin: the method costs less by more than the margin.
    Faster,
    /// The whole interval lies above the margin.
    Slower,
    /// The whole interval lies within the margin.
    Equivalent,
    /// The interval reaches across an edge of the margin: more launches are needed, or the truth lies at the edge.
    Undecided,
}
