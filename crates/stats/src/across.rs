//! The ratio of a cost between two sets of runs: unpaired, with launches within runs as levels.
//!
//! Comparison of sets of runs. What disturbs one run disturbs all its launches: another boot, another neighbour on the
//! host, another layout of memory. Launches of one run are no repetitions of the run, so the run is the unit of
//! inference. Each run counts as one number, the [`midmean`] of its launches' logarithms, and the sides are compared by
//! Welch's statistic over runs, with as many degrees of freedom as the side with fewer runs has (Hsu 1938; Mickey &
//! Brown 1966 prove that this is never too short). Welch and Satterthwaite's own degrees are up to 8 % wrong where one
//! side has three runs and the other is noisier. What the launches scatter within their runs is the least that the
//! error may be: three runs that agree by chance prove nothing finer than their launches do.

use super::estimate::Ratio;
use super::interval::{Undefined, check};
use super::quantile::{MIDMEAN_VARIANCE, midmean};
use super::t::{mean_and_variance, t_quantile};
use serde::{Deserialize, Serialize};

/// The fewest runs of a side that a verdict rests on.
pub const LEAST_RUNS: usize = 3;
/// The least error, so that runs of exact counts have limits too.
const LEAST_ERROR: f64 = 1e-9;

/// One side: how it lies and how its runs and launches scatter. All in logarithms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeasuredSide {
    /// The mean of its runs.
    pub log: f64,
    /// Number of runs.
    pub runs: usize,
    /// The standard deviation from run to run; absent with one run.
    pub between: Option<f64>,
    /// The standard error that the launches' scatter within their runs alone gives to the mean; zero where no run has two.
    pub within: f64,
}

/// Ratio of a side. Each run is the logarithms of its launches' costs. `TooFew` without runs or launches, `NotFinite`.
pub fn side(runs: &[Vec<f64>]) -> Result<MeasuredSide, Undefined> {
    let means: Vec<f64> = runs
        .iter()
        .map(|run| midmean(run))
        .collect::<Result<_, _>>()?;
    check(&means, 1)?;
    let n = means.len() as f64;
    let (log, variance) = mean_and_variance(&means);
    let of_runs = runs
        .iter()
        .map(|run| MIDMEAN_VARIANCE * mean_and_variance(run).1 / run.len() as f64);
    let within = of_runs.sum::<f64>().sqrt() / n;
    Ok(MeasuredSide {
        log,
        runs: means.len(),
        between: (means.len() > 1).then_some(variance.sqrt()),
        within,
    })
}

impl MeasuredSide {
    /// The squared standard error of the mean; absent with one run.
    fn error_squared(&self) -> Option<f64> {
        let between = self.between?.powi(2) / self.runs as f64;
        Some(between.max(self.within.powi(2)))
    }
}

/// The cost on side `b` divided by that on side `a`, with its interval over runs.
///
/// `TooFew` below [`LEAST_RUNS`] on either side, `NotAProbability`. The `n` of the result is the runs of the side with fewer.
pub fn ratio(a: &MeasuredSide, b: &MeasuredSide, confidence: f64) -> Result<Ratio, Undefined> {
    let fewer = a.runs.min(b.runs);
    let too_few = Undefined::TooFew {
        got: fewer,
        needed: LEAST_RUNS,
    };
    if fewer < LEAST_RUNS {
        return Err(too_few);
    }
    let (part_a, part_b) = a.error_squared().zip(b.error_squared()).ok_or(too_few)?;
    let error = (part_a + part_b).sqrt().max(LEAST_ERROR);
    Ratio::of_log(b.log - a.log, error, (fewer - 1) as f64, fewer, confidence)
}

/// Runs that [`runs_to_decide`] looks ahead at most.
const MOST_RUNS: usize = 100;

/// The least number of runs a side whose interval would leave an edge of the margin behind, if the sides lie and scatter as
/// they do now. `None` with one run a side, and where more than a hundred would be needed.
pub fn runs_to_decide(
    a: &MeasuredSide,
    b: &MeasuredSide,
    margin: f64,
    confidence: f64,
) -> Option<usize> {
    // Each further run adds launches too, so that both kinds of scatter shrink with the number of runs.
    let variance_a = a.error_squared()? * a.runs as f64;
    let variance_b = b.error_squared()? * b.runs as f64;
    let scatter = (variance_a + variance_b).sqrt();
    let log = (b.log - a.log).abs();
    let distance = (log - margin.ln_1p()).abs();
    (LEAST_RUNS..=MOST_RUNS).find(|runs| {
        let n = *runs as f64;
        t_quantile(1.0 - (1.0 - confidence) / 2.0, n - 1.0) * scatter / n.sqrt() < distance
    })
}
