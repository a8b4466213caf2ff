//! Pagewise: a laboratory that measures what memory costs on this machine, proves how it measured, and says which way to
//! use. The laboratory plans, launches, verifies, judges, stores and reports; only workers touch measured memory.
#![forbid(unsafe_code)]

pub mod bound;
pub mod carried;
pub mod catalog;
pub mod cell;
pub mod check;
pub mod cli;
pub mod content;
pub mod evidence;
pub mod expression;
pub mod flags;
pub mod folder;
pub mod guard;
pub mod input;
pub mod judge;
pub mod launch;
pub mod machine;
pub mod method;
pub mod outcome;
pub mod plan;
pub mod progress;
pub mod report;
pub mod runner;
pub mod selftest;
pub mod signals;
pub mod sizes;
pub use pagewise_stats as stats;
pub mod summary;
pub mod system;
pub mod transcript;
pub mod verify;
pub mod warnings;
pub mod workers;
