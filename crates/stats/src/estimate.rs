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

/// The ratio moved while it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// The lowest ratio among blocks of neighbouring launches: "moved between `low` and `high`".
    pub low: f64,
    /// Highest ratio among the blocks.
    pub high: f64,
    /// Number of blocks.
    pub blocks: usize,
    /// The probability of an order like this by chance; adjust it where many ratios are asked ([`confirm_moves`]).
    pub p: f64,
}

/// The cost of a method divided by the baseline's, without unit; below one the method is faster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatioEstimate {
    /// Geometric mean over launches.
    pub ratio: f64,
    /// Lower bound of the interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
    /// Confidence of the interval, 0 to 1.
    pub confidence: f64,
    /// Number of launches.
    pub n: usize,
    /// ln `ratio`.
    pub log: f64,
    /// The standard error of `log`, [`RatioEstimate::widened`] included.
    pub error: f64,
    /// The degrees of freedom of `error`.
    pub freedom: f64,
    /// The factor by which a calibration widened it; one where none did.
    pub widening: f64,
    /// Range of a ratio that drifted. No precision is promised then.
    pub moved: Option<Moved>,
}

impl RatioEstimate {
    /// A ratio from its logarithm, the standard error of that and the error's degrees of freedom. `NotAProbability`.
    pub fn of_log(
        log: f64,
        error: f64,
        freedom: f64,
        n: usize,
        confidence: f64,
    ) -> Result<RatioEstimate, Undefined> {
        let mut new = RatioEstimate {
            ratio: log.exp(),
            low: 0.0,
            high: 0.0,
            confidence,
            n,
            log,
            error,
            freedom,
            widening: 1.0,
            moved: None,
        };
        (new.low, new.high) = new.limits(confidence)?;
        Ok(new)
    }

    /// The limits at another confidence, as ratios. `NotAProbability`.
    pub fn limits(&self, confidence: f64) -> Result<(f64, f64), Undefined> {
        let half = if self.error == 0.0 {
            0.0
        } else {
            t_quantile(1.0 - tail(confidence)?, self.freedom) * self.error
        };
        Ok(((self.log - half).exp(), (self.log + half).exp()))
    }

    /// The same with limits at another confidence. `NotAProbability`.
    pub fn at(&self, confidence: f64) -> Result<RatioEstimate, Undefined> {
        let (low, high) = self.limits(confidence)?;
        Ok(RatioEstimate {
            low,
            high,
            confidence,
            ..*self
        })
    }

    /// Half the interval's width as a fraction: 0.01 says that the limits lie 1 % either way from their middle.
    pub fn half_width(&self) -> f64 {
        (self.high / self.low).sqrt() - 1.0
    }

    /// The probability of an estimate this low where the true ratio is `edge`.
    pub fn p_below(&self, edge: f64) -> f64 {
        t_tail((self.log - edge.ln()) / self.error, self.freedom)
    }

    /// The probability of an estimate this high where the true ratio is `edge`.
    pub fn p_above(&self, edge: f64) -> f64 {
        t_tail((edge.ln() - self.log) / self.error, self.freedom)
    }

    /// The ratio the other way round.
    pub fn inverse(&self) -> RatioEstimate {
        let (ratio, low, high, log) =
            (1.0 / self.ratio, 1.0 / self.high, 1.0 / self.low, -self.log);
        let moved = self.moved.map(|moved| Moved {
            low: 1.0 / moved.high,
            high: 1.0 / moved.low,
            ..moved
        });
        RatioEstimate {
            ratio,
            low,
            high,
            log,
            moved,
            ..*self
        }
    }

    /// The same with a standard error `factor` times as large, at least itself.
    pub fn widened(&self, factor: f64) -> RatioEstimate {
        let factor = factor.max(1.0);
        let mut wider = RatioEstimate {
            error: self.error * factor,
            widening: self.widening * factor,
            ..*self
        };
        if let Ok((low, high)) = wider.limits(self.confidence) {
            (wider.low, wider.high) = (low, high);
        }
        wider
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
pub fn estimates(group: &[Vec<Point>], confidence: f64) -> Vec<Result<RatioEstimate, Undefined>> {
    let prior = prior(group);
    group
        .iter()
        .map(|points| estimate(points, &prior, confidence))
        .collect()
}

/// Common part of the variances of a group's comparisons; comparisons that have too few launches are left out.
pub fn prior(group: &[Vec<Point>]) -> Prior {
    let enough = group.iter().filter(|points| points.len() >= LEAST_POINTS);
    let spread = |points: &Vec<Point>| Some((mean_of(points).ok()?.1, (points.len() - 1) as f64));
    let pooled = Prior::fit(&enough.clone().filter_map(spread).collect::<Vec<_>>());
    let memories: Vec<f64> = enough.map(|points| memory(&logs_of(points))).collect();
    Prior {
        memory: memories.iter().sum::<f64>() / memories.len().max(1) as f64,
        ..pooled
    }
}

/// The ratio of one method to the baseline from its launches in the order in which they ran.
///
/// `TooFew` below [`LEAST_POINTS`], `NotFinite`, `NotAProbability`.
pub fn estimate(
    points: &[Point],
    prior: &Prior,
    confidence: f64,
) -> Result<RatioEstimate, Undefined> {
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
    let plain = RatioEstimate::of_log(
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
fn in_order(
    plain: RatioEstimate,
    points: &[Point],
    by_rank: f64,
    p: f64,
) -> Result<RatioEstimate, Undefined> {
    if by_rank > BLOCKS_AT && p > MOVED_AT {
        return Ok(plain);
    }
    let count = block_count(points.len());
    let bounds = |block: usize| block * points.len() / count;
    let within = round_part(points);
    let between = between(points, within);
    let blocks: Vec<(f64, f64)> = (0..count)
        .map(|block| {
            let inside = &points[bounds(block)..bounds(block + 1)];
            let weights = weights(inside, within, between);
            let all: f64 = weights.iter().sum();
            let sum: f64 = inside
                .iter()
                .zip(&weights)
                .map(|(point, weight)| weight * point.log)
                .sum();
            (sum / all, all)
        })
        .collect();
    let (means, weights): (Vec<f64>, Vec<f64>) = blocks.into_iter().unzip();
    let (log, variance) = weighted_mean(&means, &weights)?;
    let error = (variance / count as f64).sqrt().max(plain.error);
    let mut wider =
        RatioEstimate::of_log(log, error, (count - 1) as f64, plain.n, plain.confidence)?;
    let least = means.iter().copied().fold(f64::INFINITY, f64::min).exp();
    let most = means
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max)
        .exp();
    wider.moved = (p <= MOVED_AT).then_some(Moved {
        low: least,
        high: most,
        blocks: count,
        p,
    });
    Ok(wider)
}

/// Keeps the word "moved" only where it holds for all ratios of a run at once: Holm's adjustment over all of them.
pub fn confirm_moves(estimates: &mut [RatioEstimate], most_wrong: f64) {
    let p: Vec<f64> = estimates
        .iter()
        .map(|estimate| estimate.moved.map_or(1.0, |moved| moved.p))
        .collect();
    let adjusted = super::multiplicity::holm(&p);
    for (estimate, p) in estimates.iter_mut().zip(adjusted) {
        estimate.moved = estimate.moved.filter(|_| p <= most_wrong);
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
    let variance = |point: &Point| between + within / point.rounds.max(1) as f64;
    if equal || within == 0.0 {
        vec![1.0; points.len()]
    } else {
        points.iter().map(|point| 1.0 / variance(point)).collect()
    }
}
