//! What to launch next is a value with one method. It sees how far things have come and how wide ratios are, never
//! where they lie.

pub mod crossover;
pub mod deciding;
mod least;
mod precision;

pub use least::Least;
pub use precision::Precision;

/// Cells that are compared with each other, as far as they have come. One step of them is a launch of each of their processes.
#[derive(Clone, Copy, Debug)]
pub struct Cluster {
    /// Whether it may be launched again.
    pub open: bool,
    /// How often it was.
    pub launches: usize,
    /// What its next step should take, in seconds: as long as the last one, before that as the pilots told.
    pub step_s: f64,
    /// The widest half-width among what is ranked; `None` while there is none.
    pub ranked: Option<f64>,
    /// The same of everything else: limits, other jobs, other workers.
    pub others: Option<f64>,
}

/// How an experiment stands.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Seconds since it began.
    pub spent_s: f64,
    /// Its clusters.
    pub clusters: Vec<Cluster>,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Launches this cluster once more: all of it, or only the processes in which something is ranked.
    Launch {
        /// Which.
        cluster: usize,
        /// All of it.
        whole: bool,
    },
    /// Nothing more is launched.
    Done(Ending),
}

/// Why nothing more is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything is as narrow as was asked for.
    Precise,
    /// The next step would not end within the budget.
    BudgetSpent,
    /// Every cluster has had its most launches, or has no cell left.
    NothingOpen,
}

/// Decides what is launched next.
pub trait Strategy {
    /// The next step.
    fn next(&mut self, standing: &Standing) -> Step;
}
