//! One self-contained page: no network, readable without scripts, light and dark, on paper and on a telephone. A
//! [`Document`] is what any page is made of; [`page`] makes that of a run. The template and what it carries lie beside this
//! file; charts are static SVG (`chart/`). Nothing here computes a figure or sorts.

mod across;
mod chart;
mod claims;
mod data;
mod document;
mod fleet;
mod inert;
mod own;
mod run;
mod template;

use record::summary::Summary;

use crate::view::View;
pub use across::{changes as claims_changed, page as compared};
pub use chart::{Drawing, head as ratio_axis, interval as ratio_interval};
pub use claims::page as claims;
pub use document::{Block, Body, Cell, Column, Document, Entry, Key, Section, Table};
pub use fleet::page as fleet;
pub use own::{profiled, tried};
pub use template::html;

/// The page of a run: everything that the terminal can say of it, with charts, and its summary as JSON for programs.
pub fn page(view: &View, summary: &Summary) -> String {
    html(&run::document(view), Some(&data::of(summary)))
}
