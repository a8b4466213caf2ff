//! Units of the crate by their public functions.

mod absolute;
mod across;
mod autocorrelation;
mod calibration;
mod change_points;
mod estimate;
mod location;
mod moderated;
mod multiplicity;
mod naive;
mod order;
mod orders;
mod quantile;
mod rng;
mod steady;
mod stopping;
mod t;
mod verdicts;
