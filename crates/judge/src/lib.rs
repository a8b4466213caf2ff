//! From a record to what may be believed of it: evidence, laws, ratios, verdicts, best sets and warnings. Pure: no clock, no
//! environment, nothing is started.
#![forbid(unsafe_code)]

pub mod agreement;
mod best;
pub mod checks;
mod compared;
pub mod content;
pub mod evidence;
mod figures;
pub mod flags;
mod groups;
pub mod machines;
mod pairs;
pub mod selftest;
mod summarise;
mod warnings;

pub use pairs::{components_within, half_widths, twins};
pub use summarise::summarise;
