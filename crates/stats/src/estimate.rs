//! A ratio from launches: what a judge needs, and what it may say of it.
//!
//! Each launch counts as one number, the [`midmean`] of its rounds' log ratios, and the interval is Student's over the
//! launches. It replaced the signed-rank interval of medians, which is as wide at equal coverage from twelve launches on and
//! needs six to exist. Launches weigh by what their rounds are worth, variances are drawn towards the group's
//! ([`Prior`]), and where neighbouring launches are too much alike blocks of them take the launches' place ([`moved`]).

use super::interval::{CONFIDENCE, Undefined, tail};
use super::moderated::{Prior, weighted_mean};
use super::moved::{
    BLOCKS_AT, LEAST_IN_ORDER, MOVED_AT, alike_by_chance, block_count, inflation, memory,
    neighbours_alike,
};
use super::quantile::{MAD_TO_SD, MIDMEAN_VARIANCE, median, median_absolute_deviation, midmean};
use super::stopping::STOPPED_CONFIDENCE;
use super::t::{t_quantile, t_tail};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// The fewest launches that are judged.
pub const LEAST_POINTS: usize = 4;

/// Result of one launch for a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// ln(method / baseline).
    pub log: f64,
    /// The number of rounds behind it; where the sides ran in processes of their own, that of the side with fewer.
    pub rounds: usize,
    /// The variance of one round's log ratio, robustly; zero where it is not known, as with less than three rounds.
    pub round_variance: f64,
}

impl Point {
    /// The point of a launch whose rounds hold both methods. `TooFew` without rounds, `NotFinite`.
    pub fn of_rounds(logs: &[f64]) -> Result<Point, Undefined> {
        Ok(Point {
            log: midmean(logs)?,
            rounds: logs.len(),
            round_variance: robust_variance(logs),
        })
    }

    /// The point of a block in which each method had a process of its own: logarithms of the costs of either.
    pub fn of_sides(baseline: &[f64], method: &[f64]) -> Result<Point, Undefined> {
        Ok(Point {
            log: midmean(method)? - midmean(baseline)?,
            rounds: baseline.len().min(method.len()),
            round_variance: robust_variance(baseline) + robust_variance(method),
        })
    }
}

fn robust_variance(logs: &[f64]) -> f64 {
    match logs.len() {
        0..3 => 0.0,
        _ => median_absolute_deviation(&mut logs.to_vec())
            .map_or(0.0, |spread| (MAD_TO_SD * spread).powi(2)),
    }
}

/// Drift of a ratio while it was measured. It is recorded as the pair of its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(from = "(f64, f64)", into = "(f64, f64)")]
pub struct Drift {
    /// The lowest ratio among blocks of neighbouring launches: "drifted from `low` to `high`".
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// The probability of an order like this by chance; adjust it where many ratios are asked ([`confirm_drifts`]). Zero
    /// in a record, which holds confirmed ones only.
    pub p: f64,
}

impl From<(f64, f64)> for Drift {
    fn from((low, high): (f64, f64)) -> Drift {
        Drift { low, high, p: 0.0 }
    }
}

impl From<Drift> for (f64, f64) {
    fn from(drift: Drift) -> (f64, f64) {
        (drift.low, drift.high)
    }
}

/// One cost divided by another, without unit, with its interval; below one the first costs less. Everything that is said
/// of two costs rests on this type, and a record holds it whole, so that nobody reckons an error from an interval.
#[skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Ratio {
    /// The first cost by the second.
    pub ratio: f64,
    /// Lower bound of the interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
    /// Confidence of the interval, such as 0.95; 1 where the bounds are the extremes that were seen.
    pub level: f64,
    /// Launches that it rests on; of an unpaired comparison those of the side with fewer.
    pub launches: usize,
    /// Standard error of the logarithm of `ratio`, [`Ratio::widened`] included; 0 where the bounds are extremes.
    pub error: f64,
    /// Degrees of freedom of `error`.
    pub freedom: f64,
    /// Range of a ratio that drifted. No precision is promised then.
    #[serde(rename = "moved")]
    pub drift: Option<Drift>,
}

impl Ratio {
    /// A ratio from its logarithm, the standard error of that and the error's degrees of freedom. `NotAProbability`.
    pub fn of_log(
        log: f64,
        error: f64,
        freedom: f64,
        launches: usize,
        level: f64,
    ) -> Result<Ratio, Undefined> {
        let point = Ratio {
            ratio: log.exp(),
            low: 0.0,
            high: 0.0,
            level,
            launches,
            error,
            freedom,
            drift: None,
        };
        point.at(level)
    }

    /// A ratio whose bounds are the extremes that were seen: no error is known, and no test follows from it.
    pub fn of_extremes(ratio: f64, low: f64, high: f64, launches: usize) -> Ratio {
        Ratio {
            ratio,
            low,
            high,
            level: 1.0,
            launches,
            error: 0.0,
            freedom: 1.0,
            drift: None,
        }
    }

    /// True if the bounds are the extremes that were seen.
    pub fn is_of_extremes(&self) -> bool {
        self.level >= 1.0
    }

    /// ln `ratio`.
    pub fn log(&self) -> f64 {
        self.ratio.ln()
    }

    /// The bounds at another confidence, as ratios. `NotAProbability`.
    pub fn bounds(&self, level: f64) -> Result<(f64, f64), Undefined> {
        let half = if self.error == 0.0 {
            0.0
        } else {
            t_quantile(1.0 - tail(level)?, self.freedom) * self.error
        };
        let log = self.log();
        Ok(((log - half).exp(), (log + half).exp()))
    }

    /// The same ratio with bounds at another confidence. `NotAProbability`.
    pub fn at(&self, level: f64) -> Result<Ratio, Undefined> {
        let (low, high) = self.bounds(level)?;
        Ok(Ratio {
            low,
            high,
            level,
            ..*self
        })
    }

    /// Half the interval's width as a fraction: 0.01 says that the limits lie 1 % either way from their middle.
    pub fn half_width(&self) -> f64 {
        (self.high / self.low).sqrt() - 1.0
    }

    /// The probability of an estimate this low where the true ratio is `edge`.
    pub fn p_below(&self, edge: f64) -> f64 {
        t_tail((self.log() - edge.ln()) / self.error, self.freedom)
    }

    /// The probability of an estimate this high where the true ratio is `edge`.
    pub fn p_above(&self, edge: f64) -> f64 {
        t_tail((edge.ln() - self.log()) / self.error, self.freedom)
    }

    /// The ratio of the second cost to the first.
    pub fn inverse(&self) -> Ratio {
        let drift = self.drift.map(|drift| Drift {
            low: 1.0 / drift.high,
            high: 1.0 / drift.low,
            ..drift
        });
        Ratio {
            ratio: 1.0 / self.ratio,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
            drift,
            ..*self
        }
    }

    /// The same ratio with a standard error `factor` times as large, at least itself.
    pub fn widened(&self, factor: f64) -> Ratio {
        let wider = Ratio {
            error: self.error * factor.max(1.0),
            ..*self
        };
        wider.at(self.level).unwrap_or(wider)
    }

    /// The same ratio without its drift, where nobody asked for one.
    pub fn undrifted(&self) -> Ratio {
        Ratio {
            drift: None,
            ..*self
        }
    }
}

/// The confidence of intervals: [`STOPPED_CONFIDENCE`] only if precision ended the run and so chose short intervals.
pub fn confidence(ended_by_precision: bool) -> f64 {
    if ended_by_precision {
        STOPPED_CONFIDENCE
    } else {
        CONFIDENCE
    }
}

/// The ratios of a comparison group, each from its launches in the order in which they ran; variances are pooled over the
/// group. The errors are those of [`estimate`].
pub fn estimates(group: &[Vec<Point>], confidence: f64) -> Vec<Result<Ratio, Undefined>> {
    let prior = prior(group);
    group
        .iter()
        .map(|points| estimate(points, &prior, confidence))
        .collect()
}

/// Common part of the variances of a group's comparisons; comparisons that have too few launches are left out.
pub fn prior(group: &[Vec<Point>]) -> Prior {
    let enough = group.iter().filter(|points| points.len() >= LEAST_POINTS);
    let mut spreads = Vec::new();
    for points in enough.clone() {
        if let Ok((_, variance)) = mean_of(points) {
            spreads.push((variance, (points.len() - 1) as f64));
        }
    }
    let pooled = Prior::fit(&spreads);
    let memories: Vec<f64> = enough.map(|points| memory(&logs_of(points))).collect();
    Prior {
        memory: memories.iter().sum::<f64>() / memories.len().max(1) as f64,
        ..pooled
    }
}

/// The ratio of one method to the baseline from its launches in the order in which they ran.
///
/// `TooFew` below [`LEAST_POINTS`], `NotFinite`, `NotAProbability`.
pub fn estimate(points: &[Point], prior: &Prior, confidence: f64) -> Result<Ratio, Undefined> {
    if points.len() < LEAST_POINTS {
        return Err(Undefined::TooFew {
            got: points.len(),
            needed: LEAST_POINTS,
        });
    }
    let n = points.len();
    let (log, own) = mean_of(points)?;
    let (variance, freedom) = prior.moderate(own, (n - 1) as f64);
    let logs = logs_of(points);
    // Half its own and half the group's: one short series says little of its memory.
    let (more, left) = inflation((memory(&logs) + prior.memory) / 2.0, n);
    let plain = Ratio::of_log(
        log,
        (variance / n as f64 * more).sqrt(),
        (freedom * left).max(1.0),
        n,
        confidence,
    )?;
    if n >= LEAST_IN_ORDER {
        in_order(
            plain,
            points,
            neighbours_alike(&logs)?,
            alike_by_chance(&logs)?,
        )
    } else {
        Ok(plain)
    }
}

/// The estimate with the order of the launches taken into account: how alike neighbours are by rank, and by either measure.
fn in_order(plain: Ratio, points: &[Point], by_rank: f64, p: f64) -> Result<Ratio, Undefined> {
    if by_rank > BLOCKS_AT && p > MOVED_AT {
        return Ok(plain);
    }
    let count = block_count(points.len());
    let within = round_part(points);
    let between = between(points, within);
    let blocks: Vec<(f64, f64)> = (0..count)
        .map(|block| {
            let inside = &points[block * points.len() / count..(block + 1) * points.len() / count];
            let weights = weights(inside, within, between);
            let weight: f64 = weights.iter().sum();
            let sum: f64 = inside
                .iter()
                .zip(&weights)
                .map(|(point, weight)| weight * point.log)
                .sum();
            (sum / weight, weight)
        })
        .collect();
    let (means, weights): (Vec<f64>, Vec<f64>) = blocks.into_iter().unzip();
    let (log, variance) = weighted_mean(&means, &weights)?;
    let error = (variance / count as f64).sqrt().max(plain.error);
    let mut wider = Ratio::of_log(log, error, (count - 1) as f64, plain.launches, plain.level)?;
    let least = means.iter().copied().fold(f64::INFINITY, f64::min).exp();
    let most = means
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max)
        .exp();
    wider.drift = (p <= MOVED_AT).then_some(Drift {
        low: least,
        high: most,
        p,
    });
    Ok(wider)
}

/// Keeps a drift only where it holds for all ratios of a run at once: Holm's adjustment over all of them.
pub fn confirm_drifts(estimates: &mut [Ratio], most_wrong: f64) {
    let p: Vec<f64> = estimates
        .iter()
        .map(|estimate| estimate.drift.map_or(1.0, |drift| drift.p))
        .collect();
    let adjusted = super::multiplicity::holm(&p);
    for (estimate, p) in estimates.iter_mut().zip(adjusted) {
        estimate.drift = estimate.drift.filter(|_| p <= most_wrong);
    }
}

fn logs_of(points: &[Point]) -> Vec<f64> {
    points.iter().map(|point| point.log).collect()
}

/// The weighted mean of the points and the variance of one of average weight.
fn mean_of(points: &[Point]) -> Result<(f64, f64), Undefined> {
    let within = round_part(points);
    weighted_mean(
        &logs_of(points),
        &weights(points, within, between(points, within)),
    )
}

/// The variance that one round adds to a launch, the median over launches.
fn round_part(points: &[Point]) -> f64 {
    MIDMEAN_VARIANCE
        * median(
            &mut points
                .iter()
                .map(|point| point.round_variance)
                .collect::<Vec<_>>(),
        )
        .unwrap_or(0.0)
}

/// The variance between launches that their rounds, each of which adds `within`, do not explain.
fn between(points: &[Point], within: f64) -> f64 {
    let (_, variance) = super::t::mean_and_variance(&logs_of(points));
    let n = points.len() as f64;
    (variance
        - points
            .iter()
            .map(|point| within / point.rounds.max(1) as f64)
            .sum::<f64>()
            / n)
        .max(0.0)
}

/// 1 / (between + within / rounds); all the same where neither is known or the rounds are.
fn weights(points: &[Point], within: f64, between: f64) -> Vec<f64> {
    let equal = points.iter().all(|point| point.rounds == points[0].rounds);
    if equal || within == 0.0 {
        return vec![1.0; points.len()];
    }
    points
        .iter()
        .map(|point| 1.0 / (between + within / point.rounds.max(1) as f64))
        .collect()
}
