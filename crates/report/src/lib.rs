//! From findings to what a person or a program reads: screens, pages, Markdown and exports.
//!
//! Every product is a function from a result to a [`document::Document`]: sections of sentences, tables, charts and
//! commands. Three renderers ([`terminal`], [`html`], [`markdown`]) show any document. The rooms, each of which uses only
//! those above it:
//!
//! - `sentences`: the words. Warnings, notes and causes are templates in `phrases.toml`; verdicts are in [`wording`].
//! - `render`: documents, the three renderers, and [`escape`] for foreign text.
//! - `tables`: the tables and charts of a run.
//! - [`view`]: a document for each product.
//! - [`export`]: a file a format.
//!
//! Invariants: pure functions of what was recorded and judged; no figure is computed here that JSON lacks. A sentence is
//! made once, and no code reads it. A figure is shown with its unit and interval or not at all.
//!
//! Begin with [`view::screen`], from a summary to the screen of a run.
#![forbid(unsafe_code)]

pub mod export;
mod render;
mod sentences;
mod tables;
pub mod view;

pub use render::{document, escape, html, markdown, styled, terminal};
pub use sentences::{phrases, wording};
pub use view::{
    advise, claims, command, doctor, ending, explain, gallery, gate, outliers, published, selftest,
    show, verdict,
};
