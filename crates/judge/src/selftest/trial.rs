//! Plan and results of one run of the self-test.

use record::summary::{Estimate, Verdict};
use std::collections::BTreeMap;

/// The half-width at which a run is done: the default of `pagewise run`.
pub const PRECISION: f64 = 0.01;
/// Thousandths of extra work in successive groups.
pub const EXTRAS: [u64; 4] = [10, 20, 50, 100];
pub const LEVEL: f64 = 0.05;

/// Work of the cells of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    Steps,
    Pages,
}

impl WorkKind {
    pub fn method(self) -> &'static str {
        match self {
            WorkKind::Steps => "steps",
            WorkKind::Pages => "pages",
        }
    }

    pub fn extra_method(self) -> &'static str {
        match self {
            WorkKind::Steps => "steps-extra",
            WorkKind::Pages => "pages-extra",
        }
    }
}

/// A cell with extra work, judged.
#[derive(Clone, Debug)]
pub struct Effect {
    pub extra_permille: u64,
    /// `None` where the judge withheld it.
    pub ratio: Option<Estimate>,
    pub verdict: Verdict,
}

/// Results of one run.
#[derive(Clone, Debug)]
pub struct Done {
    pub work: WorkKind,
    /// Every baseline against its twin: the ratio, and the logarithm of each launch.
    pub twins: Vec<(Estimate, Vec<f64>)>,
    pub planned: usize,
    pub effects: Vec<Effect>,
    pub launches: usize,
    pub rounds: u32,
    pub samples_each: usize,
    pub sample_ns: f64,
    /// The median sample of the null cell: what the stopwatch itself takes, in nanoseconds.
    pub floor_ns: f64,
    pub clock_read_ns: f64,
    /// Time of one slot, its preparation and proofs included, in seconds.
    pub slot_s: f64,
    pub batch: Option<u64>,
    pub cells: usize,
    /// From the first to the last launch, in seconds.
    pub seconds: f64,
    pub warnings: BTreeMap<String, usize>,
}
