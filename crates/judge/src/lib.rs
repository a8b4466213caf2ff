//! From a record to findings: laws, ratios, verdicts, conditions, claims, advice, sets of runs, tries and profiles.
//!
//! Transcripts become evidence: every law is compared with every sample, every digest with the content. Evidence becomes
//! ratios over launches, ratios become verdicts, and all of it becomes a summary.
//!
//! Invariants: pure functions of the record, so that a kept run judged again gives the same summary, byte for byte, on
//! any machine by the same version. A cell that breaks a law has no figure and a cause. Decisions rest on enums and numbers, never on a
//! sentence; there are no sentences here.
//!
//! The rooms: [`evidence`] verifies launches, [`contrast`] compares two subjects, [`questions`] answers what people ask,
//! [`sets`] compares runs and machines, [`program`] judges studies of a user's program.
//!
//! Begin with [`summarise()`], from evidence to a summary, and [`replay`], from a kept folder to one. Numbers are the
//! crate `stats`, shapes the crate `record`.
#![forbid(unsafe_code)]

mod cells;
pub mod contrast;
pub mod evidence;
pub mod explained;
mod known;
pub mod program;
pub mod questions;
pub mod selftest;
pub mod sets;
mod summarise;
mod sureness;
mod warnings;

pub use cells::LastCache;
pub use contrast::estimate::{half_widths, launch_logs, twins};
pub use known::KnownMethods;
pub use summarise::{Circumstances, judged, kept_scores, replay, replay_by, summarise};
pub use warnings::{ending_notes, notes};
