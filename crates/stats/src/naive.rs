//! The way it is usually done, kept for comparison only: all of A, then all of B, and a t test between them.

use super::{interval::Undefined, t::welch};

/// Result of the usual procedure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Naive {
    /// The mean of B divided by the mean of A.
    pub ratio: f64,
    pub p: f64,
}

impl Naive {
    /// Tells whether the usual way would announce a difference at this level, for example 0.05.
    pub fn announces(&self, level: f64) -> bool {
        self.p < level
    }
}

/// Welch's t test between two blocks of samples as though every sample were independent of its neighbours.
///
/// On a machine whose speed wanders it calls identical programs different half of the time, which is why nothing else in
/// the laboratory uses it. `TooFew` below two samples a side.
pub fn naive(a: &[f64], b: &[f64]) -> Result<Naive, Undefined> {
    let compared = welch(a, b)?;
    let mean = a.iter().sum::<f64>() / a.len() as f64;
    Ok(Naive { ratio: 1.0 + compared.difference / mean, p: compared.p() })
}
