//! From what is asked to a plan: which cells, which of them share a process, what must be there for them.

pub mod advice;
mod build;
pub mod catalog;
pub mod claims;
mod covering;
mod groups;
pub mod input;
pub mod kept;
mod laboratory;
pub mod published;
pub mod request;
pub mod select;
mod start;
pub mod states;
mod wish;

pub use build::{Choice, Terms, build};
pub use laboratory::Laboratory;
pub use request::Request;
pub use start::Start;
pub use wish::Wish;

/// Largest file of a user that is read whole: claims, settings, advice, experiments; in bytes. A reader of TOML takes up to 50
/// times as much memory.
const LARGEST: u64 = 1 << 20;

/// Text of a file that the user named.
pub fn text_of(path: &std::path::Path) -> anyhow::Result<String> {
    Ok(files::read_input_text(path, LARGEST)?)
}
