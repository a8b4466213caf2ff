//! From what is asked to a plan: which cells, which of them share a process, what must be there for them.

pub mod advice;
mod build;
pub mod catalog;
pub mod claims;
mod grid;
mod groups;
pub mod input;
pub mod published;
pub mod select;
mod wish;

pub use build::{Choice, Terms, build};
pub use wish::Wish;
