//! Results as documents, and documents as lines, pages and Markdown: pure functions of what was recorded and judged.
#![forbid(unsafe_code)]

pub mod advise;
mod answer;
pub mod claims;
pub mod command;
pub mod doctor;
pub mod document;
pub mod ending;
pub mod escape;
pub mod explain;
pub mod export;
pub mod fleet;
pub mod gate;
pub mod html;
pub mod markdown;
mod numbers;
pub mod phrases;
mod plot;
pub mod published;
pub mod selftest;
pub mod show;
pub mod styled;
pub mod terminal;
pub mod verdict;
pub mod view;
pub mod wording;
