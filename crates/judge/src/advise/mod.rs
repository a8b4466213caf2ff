//! Advice from summaries: which way costs less at which size, between which sizes that changes, and what is not settled.
//! Pure: the same summaries give the same advice.

mod answer;
mod choice;
mod merge;
mod points;

pub use answer::{answer, question};
pub use choice::{choices, flips, segments};
pub use merge::{merge, pooled};
pub use points::{AdviceRequest, has, points};

#[cfg(test)]
#[path = "../../tests/unit/advise/tests.rs"]
mod tests;
