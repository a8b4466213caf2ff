//! Pagewise: a laboratory that measures what memory costs on this machine, proves how it measured, and says which way to
//! use. The laboratory plans, launches, verifies, judges, stores and reports; only workers touch measured memory.
//!
//! Dependencies point one way: [`cli`] → [`check`] → [`run`] → [`plan`] → [`machine`], [`worker`]. What needs no process and no
//! clock is in the crates below: `schedule` decides, `judge` finds, `report` shows, `record` keeps, `stats` computes,
//! `files` opens.
//!
//! Invariants: no unsafe code; a worker's answer is checked before it is believed; what is changed on the machine is
//! undone, however the laboratory ends. The library is the program's own and no interface for others.
//!
//! Begin with `cli/run.rs`, the words of `pagewise run`; then `plan/request.rs` and `plan/build.rs`, from a request to a plan,
//! and `run/runner.rs`, from a plan to a record. ARCHITECTURE.md follows one sample through all of it.
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
pub mod worker;
