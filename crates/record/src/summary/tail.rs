//! Quantiles of single operations over launches.

use serde::{Deserialize, Serialize};

/// A quantile of single trips over launches: the median launch, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TailQuantile {
    /// Median launch.
    pub median: f64,
    /// Lower bound at 95 %; absent below six launches.
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
}
