//! A document as one self-contained page: no network, readable without scripts, light and dark, on paper and on a telephone.
//! The template lies beside this file; charts are static SVG (`chart/`). Nothing here computes a figure or sorts.

mod bound;
mod chart;
mod data;
pub(crate) mod template;

pub use data::{of_run, rounded};
pub use template::page;
