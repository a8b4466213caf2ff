//! Figures of one cell by itself: median, p90, p99 and extremes, each quantile with an interval across launches.

use super::interval::{Interval, Undefined, check};
use super::quantile::{order_interval, quantile};
use super::{estimate::LEAST_POINTS, t::t_interval};
use serde::{Deserialize, Serialize};

/// Cost of one cell, in the unit of its samples.
///
/// Rounds of one process are correlated, so an interval computed from the pooled samples would be many times too narrow.
/// Each quantile is therefore taken launch by launch, and the interval is that of the median launch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Absolute {
    /// Number of samples, over all launches.
    pub samples: usize,
    /// Number of launches.
    pub launches: usize,
    /// Smallest sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// Median with its interval.
    pub median: Quantile,
    /// The 90th percentile; absent below ten samples in the shortest launch.
    pub p90: Option<Quantile>,
    /// The 99th percentile; absent below a hundred samples in the shortest launch.
    pub p99: Option<Quantile>,
}

/// A quantile of one launch, as the median over launches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// The median over launches of each launch's quantile.
    pub estimate: f64,
    /// The order-statistic interval across launches. Where there are too few of them for it, which at 95 % is below six,
    /// Student's t on their logarithms, as ratios have it; absent below [`LEAST_POINTS`] and where one is not above zero.
    pub interval: Option<Interval>,
}

/// The figures of a cell from its samples, one slice for each launch.
///
/// Reorders the samples within each launch. `TooFew` where there is no launch or one has no samples, `NotFinite` where
/// a sample is not finite.
pub fn absolute(
    launches: &mut [impl AsMut<[f64]>],
    confidence: f64,
) -> Result<Absolute, Undefined> {
    let (mut samples, mut min, mut max) = (0, f64::INFINITY, f64::NEG_INFINITY);
    let [mut medians, mut p90s, mut p99s] = [const { Vec::new() }; 3];
    for launch in launches.iter_mut().map(AsMut::as_mut) {
        check(launch, 1)?;
        samples += launch.len();
        min = launch.iter().copied().fold(min, f64::min);
        max = launch.iter().copied().fold(max, f64::max);
        let [Some(median), Some(p90), Some(p99)] = [0.5, 0.9, 0.99].map(|p| quantile(launch, p))
        else {
            return Err(Undefined::NotFinite);
        };
        medians.push(median);
        // A launch of fewer than 1 / (1 - p) samples shows nothing beyond the quantile at p: it is only its maximum.
        p90s.extend((launch.len() >= 10).then_some(p90));
        p99s.extend((launch.len() >= 100).then_some(p99));
    }
    check(&medians, 1)?;
    let launches = medians.len();
    Ok(Absolute {
        samples,
        launches,
        min,
        max,
        median: across(&mut medians, confidence)?,
        p90: resolved(&mut p90s, launches, confidence)?,
        p99: resolved(&mut p99s, launches, confidence)?,
    })
}

/// The quantile where every launch was long enough to show it.
fn resolved(
    values: &mut [f64],
    launches: usize,
    confidence: f64,
) -> Result<Option<Quantile>, Undefined> {
    if values.len() == launches {
        across(values, confidence).map(Some)
    } else {
        Ok(None)
    }
}

fn across(values: &mut [f64], confidence: f64) -> Result<Quantile, Undefined> {
    let estimate = quantile(values, 0.5).ok_or(Undefined::NotFinite)?;
    let interval = match order_interval(values, 0.5, confidence) {
        Ok(interval) => Some(interval),
        Err(Undefined::TooFew { .. }) => of_few(values, estimate, confidence)?,
        Err(other) => return Err(other),
    };
    Ok(Quantile { estimate, interval })
}

/// The limits of t on logarithms: with fewer than six values even the smallest and the largest do not enclose a median in 95 %.
/// They always enclose the middle of four or five values.
fn of_few(values: &[f64], estimate: f64, confidence: f64) -> Result<Option<Interval>, Undefined> {
    if values.len() < LEAST_POINTS || values.iter().any(|value| *value <= 0.0) {
        return Ok(None);
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let of_logs = t_interval(&logs, confidence)?;
    Ok(Some(Interval {
        estimate,
        low: of_logs.low.exp(),
        high: of_logs.high.exp(),
        ..of_logs
    }))
}
