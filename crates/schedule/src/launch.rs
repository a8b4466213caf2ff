//! One launch, and the blocks that are not judged.

/// The block of launches that are kept but only show the cost of a launch.
pub const PILOT: i32 = -1;
/// The block of launches that show the length of a batched sample.
pub(crate) const CALIBRATION: i32 = -2;

/// One launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Index of the launch group in the plan.
    pub launch_group: usize,
    /// The block; negative ones are not judged.
    pub block: i32,
    /// Measured rounds of a launch.
    pub rounds: u32,
    /// Rounds of a launch that are recorded and not judged.
    pub warmup_rounds: u32,
    /// Seconds after which its group is left out, if its cost is unknown and the budget may not hold it.
    pub at_most_s: Option<f64>,
    /// Indices of the cells that take part, as far as they have no outcome by then.
    pub cells: Vec<usize>,
}
