//! Further tables of an experiment, as `experiments/*.toml` define them: what is shown of a cell besides the comparison.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// One further table. It has a row for each cell that recorded what it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FurtherTable {
    /// Title of the first column: `each side, median`.
    pub title: String,
    /// The fact without which a cell has no row in it.
    pub needs: String,
    /// Columns, left to right.
    pub columns: Vec<PublishedColumn>,
}

/// One column: a figure of a phase, or a fact.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedColumn {
    /// Heading of the column.
    pub title: String,
    /// The phase or total of the figure; the headline where none is named.
    pub phase: Option<String>,
    /// Figure of the phase; absent where the column shows a fact.
    pub figure: Option<PhaseFigure>,
    /// The recorded fact that is shown instead. One whose name ends in `_bytes` is a size, one in `_ns` a time.
    pub fact: Option<String>,
    /// Divisor of the figure; absent where the sample's own value is shown.
    pub per: Option<Divisor>,
}

/// Figures of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseFigure {
    /// Wall time of one sample, median.
    WallNs,
    /// CPU time of one sample, median.
    CpuNs,
    /// CPU time of one unit, median.
    CpuNsPerUnit,
    /// CPU time in user mode, mean of one sample.
    UserNs,
    /// CPU time in kernel mode, mean of one sample.
    SystemNs,
    /// CPU time over wall time, in percent.
    CpuShare,
    /// Minor and major faults, mean of one sample.
    Faults,
    /// Minor faults of one sample.
    MinorFaults,
    /// Major faults of one sample.
    MajorFaults,
    /// Voluntary context switches of one sample.
    VoluntarySwitches,
    /// Involuntary context switches of one sample.
    InvoluntarySwitches,
}

/// By what a number is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Divisor {
    /// Bytes of the cell.
    #[serde(rename = "byte")]
    Byte,
    /// 2^20 bytes of the parameter `bytes`.
    #[serde(rename = "MiB")]
    MiB,
    /// A page of the parameter `bytes`, by the fact `page_bytes`.
    #[serde(rename = "page")]
    Page,
}
