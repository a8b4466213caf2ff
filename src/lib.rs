//! Pagewise: a laboratory that measures what memory costs on this machine, proves how it measured, and says which way to
//! use. The laboratory plans, launches, verifies, judges, stores and reports; only workers touch measured memory.
#![forbid(unsafe_code)]

/// Prints a note on standard error.
macro_rules! remark {
    ($($text:tt)*) => {
        $crate::run::lines::remark(&format!($($text)*))
    };
}

pub mod check;
pub mod cli;
pub mod machine;
pub mod plan;
pub mod run;
mod threads;
pub mod worker;
