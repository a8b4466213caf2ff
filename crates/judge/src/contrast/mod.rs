//! Two subjects under the same conditions: the ratio of their costs over launches, the verdict that it allows, and the
//! conditions under which another answer holds.
//!
//! Begin with [`estimate`], from launches to a ratio, and [`verdicts`], from ratios to what may be said of them.

pub(crate) mod calibration;
pub(crate) mod conditions;
pub(crate) mod estimate;
pub(crate) mod frontier;
pub(crate) mod groups;
pub(crate) mod outlook;
pub(crate) mod rank;
pub(crate) mod states;
pub(crate) mod tails;
pub(crate) mod verdicts;
