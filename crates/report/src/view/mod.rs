//! A document for each product: which sections it has, and in which order.

pub mod advise;
pub mod claims;
pub mod command;
mod compared;
pub mod doctor;
pub mod ending;
pub mod explain;
pub mod gallery;
pub mod gate;
pub mod outliers;
pub mod published;
mod run;
pub mod selftest;
pub mod show;
pub mod verdict;

pub use compared::{changes, compared};
pub use run::{ADVISED, RunTrend, Wanted, briefly, live, page, screen, tables, trend};
