//! Advice from summaries: which way costs less at which size, between which sizes that changes, and what is not settled.
//! Pure: the same summaries give the same advice.

mod answer;
mod choice;
mod merge;
mod points;
mod pool;

pub use answer::{answer, question};
pub use choice::{choices, flips, segments};
pub use merge::merge;
pub use points::{AdviceRequest, has, points};
pub use pool::pooled;

#[cfg(test)]
#[path = "../../tests/unit/advise/tests.rs"]
mod tests;
