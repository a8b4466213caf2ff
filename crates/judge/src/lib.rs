//! From a record to findings: laws, ratios, verdicts, conditions, claims, advice, sets of runs, tries and profiles.
//!
//! Transcripts become evidence: every law is compared with every sample, every digest with the content. Evidence becomes
//! ratios over launches, ratios become verdicts, and all of it becomes a summary.
//!
//! Invariants: pure functions of the record, so that a kept run judged again gives the same summary, byte for byte, on
//! any machine. A cell that breaks a law has no figure and a cause. Decisions rest on enums and numbers, never on a
//! sentence; there are no sentences here.
//!
//! Begin with [`summarise()`], from evidence to a summary, and [`replay`], from a kept folder to one. Numbers are the
//! crate `stats`, shapes the crate `record`.
#![forbid(unsafe_code)]

pub mod across;
pub mod advise;
pub mod agreement;
mod best;
pub mod brought;
mod calibration;
mod cells;
pub mod checks;
pub mod claims;
pub mod command;
mod compared;
mod conditions;
pub mod content;
mod estimate;
pub mod evidence;
pub mod explained;
pub mod flags;
pub mod fleet;
pub mod gate;
mod groups;
mod laws;
pub mod machines;
pub mod published;
pub mod selftest;
pub mod sets;
mod slots;
mod summarise;
mod tails;
mod warnings;

pub use cells::LastCache;
pub use estimate::{half_widths, launch_logs, twins};
pub use summarise::{
    Circumstances, KEPT, KeptScores, judged, kept_scores, replay, replay_by, summarise,
};
pub use warnings::{ending_notes, notes};
