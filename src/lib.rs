//! Pagewise: a laboratory that measures what memory costs on this machine.
#![forbid(unsafe_code)]

pub mod machine;
pub mod report;
pub mod stats;
