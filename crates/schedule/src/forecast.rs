//! The part of a run's results that a scheduler may see: no ratio is in it.

use anyhow::Result;
use record::{cell::Cell, ending::Width, state::State};

/// A comparison without a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Undecided {
    pub cells: Vec<Cell>,
    /// The launches after which it should be decided, those included that it has.
    pub launches: usize,
    /// True if the verdict on a claim rests on it.
    pub decides: bool,
    /// True if those launches should decide it; otherwise its estimate lies near an edge.
    pub likely: bool,
}

/// The results of launches, as far as the scheduler may see them.
pub trait Forecast {
    /// Tells whether a launch of this group in this block was kept.
    fn has_launch(&self, launch_group: usize, block: u32) -> bool;
    fn launches(&self, cell: usize) -> usize;
    /// The widths of an experiment's headline ratios.
    fn widths(&self, state: &State, experiment: &str) -> Vec<Width>;
    /// The median sample of a cell in the last launch that is not judged, in nanoseconds.
    fn sample_ns(&self, cell: usize) -> Option<f64>;
    /// The cost of reading the clock in a worker, in nanoseconds.
    fn clock_read_ns(&self, worker: &str) -> Option<f64>;
    /// The undecided comparisons of a run of claims at an interim analysis.
    fn undecided(&self, state: &State) -> Result<Vec<Undecided>>;
}
