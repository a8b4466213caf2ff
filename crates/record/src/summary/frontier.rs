//! Methods on two axes: their own time, and the harm that they do to others.

use super::tail::TailQuantile;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use stats::estimate::Ratio;

/// A method on both axes.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FrontierPoint {
    /// The cell, as an index into the summary's.
    pub cell: usize,
    /// Wall time of its headline in the median launch, in nanoseconds.
    pub time_ns: TailQuantile,
    /// Quantile of the others' latencies in the median launch, in nanoseconds; the experiment says which one.
    pub harm_ns: TailQuantile,
    /// The harm relative to that of the same launches without a worker; absent where they were not measured.
    pub to_alone: Option<Ratio>,
    /// The harm relative to the usual choice's; absent for that itself, and where it was not measured.
    pub to_baseline: Option<Ratio>,
    /// True if it is shown to harm others less than the usual choice, beyond the margin and among all methods of the group.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub is_gentler: bool,
    /// A method that is shown to be better by one axis and not worse than the margin by the other; absent on the frontier.
    pub dominated_by: Option<usize>,
}
