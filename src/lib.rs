//! Pagewise: a laboratory that measures what memory costs on this machine, proves how it measured, and says which way to
//! use. The laboratory plans, launches, verifies, judges, stores and reports; only workers touch measured memory.
#![forbid(unsafe_code)]

/// Prints a line on standard error; no text from outside steers a terminal, and one that is gone is no reason to stop.
macro_rules! remark {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "{}", report::escape::terminal(&format!($($text)*)));
    }};
}

pub mod check;
pub mod cli;
pub mod machine;
pub mod plan;
pub mod run;
pub mod worker;
