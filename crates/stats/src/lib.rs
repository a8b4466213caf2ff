//! Pure statistics: nothing here knows of memory, processes or files.
//!
//! The inputs are slices of numbers and seeds, the outputs are plain values, and the same inputs give the same outputs
//! on every machine. The unit of inference is the launch: functions that take `launches` expect one slice, or one number,
//! for each fresh process, because rounds of one process are not independent of each other.
//!
//! Invariants: costs are positive and compared by their logarithms; a statistic without a value is an
//! [`Undefined`](interval::Undefined), never a guess; intervals have the confidence that they name, which
//! `tests/simulation.rs` and `tests/coverage.rs` check.
//!
//! Begin with [`estimate::estimate`], from rounds and launches to a ratio with its interval, and
//! [`verdicts::verdicts`], from ratios to verdicts. METHODOLOGY.md has the rules and their references.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod absolute;
pub mod across;
pub mod anytime;
pub mod apart;
pub mod calibration;
pub mod change_points;
pub mod estimate;
pub mod interval;
pub mod leader;
pub mod looks;
pub mod moderated;
pub mod moved;
pub mod multiplicity;
pub mod orders;
pub mod quantile;
pub mod rng;
pub mod signed_rank;
pub mod steady;
pub mod stopping;
pub mod t;
pub mod verdicts;
