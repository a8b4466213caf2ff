//! The facts of how an experiment or a run of claims ended.

/// The width of one headline ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width {
    pub base: usize,
    pub cell: usize,
    /// Half of the interval's width, as a share.
    pub half_width: f64,
    /// True if the cell is ranked: an ordinary method of the baseline's worker. Lower bounds, other jobs, other workers and the
    /// hidden duplicate are not.
    pub ranked: bool,
}

/// The reason why nothing more is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Every ranked ratio is as narrow as requested.
    Precise,
    /// The next launch would not end within the budget.
    BudgetSpent,
    /// Every comparison set has had its most launches, or has no cell left.
    NothingOpen,
}

/// One end.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    Experiment {
        experiment: String,
        reason: Reason,
        /// Launches of its least launched comparison set.
        launches: usize,
        /// Its widest ranked ratio, if any could be measured.
        widest: Option<Width>,
    },
    Claims {
        /// Undecided comparisons that more launches should decide.
        likely: usize,
        /// Undecided comparisons whose estimate lies near an edge.
        near_edge: usize,
        launches: usize,
    },
}
