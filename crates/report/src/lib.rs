//! From findings to what a person or a program reads: screens, pages, Markdown and exports.
//!
//! Every product is a function from a result to a [`document::Document`]: sections of sentences, tables, charts and
//! commands. Three renderers ([`terminal`], [`html`], [`markdown`]) show any document. [`export`] has a file a format.
//!
//! Invariants: pure functions of what was recorded and judged; no figure is computed here that JSON lacks. A sentence is
//! made once, and no code reads it. A figure is shown with its unit and interval or not at all. Foreign text passes
//! [`escape`] before it is shown.
//!
//! Begin with [`view::screen`], from a summary to the screen of a run. Sentences of warnings, notes and causes are
//! templates in `phrases.toml`; those of verdicts are in [`wording`].
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
