//! From a record to evidence, laws, ratios, verdicts, best sets and warnings. Pure: no clock, no environment.
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
