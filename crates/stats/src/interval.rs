//! The shape of an estimate with its uncertainty, and the reasons why there may be none.

use serde::{Deserialize, Serialize};

/// The nominal confidence of every interval unless the caller asks for another.
pub const CONFIDENCE: f64 = 0.95;
/// The fewest launches for which the signed-rank interval reaches [`CONFIDENCE`]; nothing is judged with fewer.
pub const LEAST_LAUNCHES: usize = 6;
/// The fewest launches of something that takes long: Student's interval over three is two and a half standard deviations to
/// either side, over two it is nine.
pub const FEWEST_LAUNCHES: usize = 3;

/// An estimate between two limits, all three in the unit of the values they were computed from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Ratio, between the bounds.
    pub estimate: f64,
    /// Lower bound of the interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
    /// The probability that such an interval contains the truth: the achieved one where the method is discrete, which is
    /// at least the nominal one, and the nominal one elsewhere.
    pub coverage: f64,
    /// The number of independent values behind it.
    pub n: usize,
}

/// Why a statistic has no value. It is a result to be shown, not a failure of the program.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Undefined {
    /// There are too few values for the confidence asked for.
    #[error("{got} values are too few: {needed} are needed")]
    TooFew {
        /// Number of values.
        got: usize,
        /// The smallest number that would do.
        needed: usize,
    },
    /// A value is infinite or no number.
    #[error("a value is not finite")]
    NotFinite,
    /// A value is below zero where costs are needed.
    #[error("a value is negative")]
    Negative,
    /// A value is zero where a logarithm is needed.
    #[error("a value is zero and has no logarithm")]
    Zero,
    /// A confidence or probability is not strictly between zero and one.
    #[error("{0} is not strictly between 0 and 1")]
    NotAProbability(f64),
}

/// Passes where every value is finite and there are at least `needed` of them.
pub(crate) fn check(values: &[f64], needed: usize) -> Result<(), Undefined> {
    if values.len() < needed {
        return Err(Undefined::TooFew {
            got: values.len(),
            needed,
        });
    }
    if values.iter().all(|value| value.is_finite()) {
        Ok(())
    } else {
        Err(Undefined::NotFinite)
    }
}

/// The probability left in one tail of a two-sided interval of this confidence.
pub(crate) fn tail(confidence: f64) -> Result<f64, Undefined> {
    check_probability(confidence)?;
    Ok((1.0 - confidence) / 2.0)
}

/// Passes where `p` is strictly between zero and one.
pub(crate) fn check_probability(p: f64) -> Result<(), Undefined> {
    if p > 0.0 && p < 1.0 {
        Ok(())
    } else {
        Err(Undefined::NotAProbability(p))
    }
}
