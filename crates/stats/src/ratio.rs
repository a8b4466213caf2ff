//! Logarithms of the ratio method / baseline, one for each launch.
//!
//! Logarithms make faster and slower symmetrical, and pairing round by round removes what both methods suffer together
//! (Kalibera & Jones, Quantifying Performance Changes with Effect Size Confidence Intervals, 2013/2020).

use super::interval::{Undefined, check};
use super::quantile::median;

/// The statistic that makes one number of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The median over rounds. It is the rule for times.
    Median,
    /// The mean over rounds, because some round cost nothing: fault counts, CPU time finer than its clock. A median of
    /// such numbers is blind to what the rarer rounds cost.
    Mean,
}

/// The samples of one launch, paired: index `i` of both slices is the same round. Any unit, the same on both sides.
#[derive(Debug, Clone, Copy)]
pub struct Paired<'a> {
    pub baseline: &'a [f64],
    pub method: &'a [f64],
}

/// One logarithm of the ratio method / baseline for each launch, and how it was made.
///
/// The rule for zeros is one for all launches: while every sample is above zero, a launch counts as the median over
/// rounds of `ln(method / baseline)`; where any sample is zero, every launch counts as `ln(mean method / mean baseline)`.
///
/// `LengthsDiffer`, `TooFew` (a launch without rounds), `NotFinite` and `Negative` name bad input; `OneSideZero` and
/// `BothZero` a launch that has no finite ratio. A launch is never left out, so one of these makes the whole undefined.
pub fn log_ratios(launches: &[Paired<'_>]) -> Result<(Vec<f64>, Basis), Undefined> {
    let mut any_zero = false;
    for launch in launches {
        let (left, right) = (launch.baseline.len(), launch.method.len());
        if left != right {
            return Err(Undefined::LengthsDiffer { left, right });
        }
        any_zero |= has_zero(launch.baseline)? | has_zero(launch.method)?;
    }
    if any_zero {
        let logs = launches.iter().map(|launch| ln_ratio(mean(launch.method), mean(launch.baseline)));
        return Ok((logs.collect::<Result<_, _>>()?, Basis::Mean));
    }
    let mut scratch = Vec::new();
    let mut logs = Vec::with_capacity(launches.len());
    for launch in launches {
        // The logarithm is monotonic, but a median of an even count averages two values: they are averaged as logarithms,
        // so that exchanging the sides gives exactly the inverse ratio.
        scratch.clear();
        scratch.extend(launch.method.iter().zip(launch.baseline).map(|(m, b)| (m / b).ln()));
        logs.push(median(&mut scratch).ok_or(Undefined::NotFinite)?);
    }
    Ok((logs, Basis::Median))
}

/// True if a sample is zero. An error where one is negative, not finite, or there are none.
fn has_zero(samples: &[f64]) -> Result<bool, Undefined> {
    check(samples, 1)?;
    let smallest = samples.iter().copied().fold(f64::INFINITY, f64::min);
    if smallest < 0.0 { Err(Undefined::Negative) } else { Ok(smallest == 0.0) }
}

fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

fn ln_ratio(method: f64, baseline: f64) -> Result<f64, Undefined> {
    match (method == 0.0, baseline == 0.0) {
        (false, false) => Ok((method / baseline).ln()),
        (true, true) => Err(Undefined::BothZero),
        _ => Err(Undefined::OneSideZero),
    }
}
