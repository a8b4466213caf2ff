//! From the logarithms of launches to an estimate with its interval: the one place where a ratio's statistics are chosen.

use record::summary::{Estimate, Verdict};
use stats::interval::LEAST_LAUNCHES;
use stats::t::{t_interval, two_sided_p};

use crate::evidence::CellEvidence;
use crate::pairs::{Column, logs};

/// Confidence of every interval that is shown.
pub(crate) const LEVEL: f64 = 0.95;

/// One estimate with what further tests need of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimated {
    /// What is shown.
    pub estimate: Estimate,
    /// Standard error of the logarithm.
    pub error: f64,
    /// Degrees of freedom of that error.
    pub freedom: f64,
}

impl Estimated {
    /// The logarithm of the ratio in standard errors.
    pub fn z(&self) -> f64 {
        if self.error > 0.0 { self.estimate.ratio.ln() / self.error } else { 0.0 }
    }

    /// The probability of the logarithm lying this far from zero where there is no difference, two-sided.
    pub fn p(&self) -> f64 {
        two_sided_p(self.z(), self.freedom)
    }

    /// The one-sided probability of what a verdict says, where the truth lies at the edge of the margin.
    pub fn p_of(&self, verdict: Verdict, margin: f64) -> Option<f64> {
        let (log, edge) = (self.estimate.ratio.ln(), (1.0 + margin).ln());
        let tail = |distance: f64| match self.error > 0.0 {
            true => two_sided_p(distance / self.error, self.freedom) / 2.0,
            false => 0.0,
        };
        match verdict {
            Verdict::Faster { .. } => Some(tail(-edge - log)),
            Verdict::Slower { .. } => Some(tail(log - edge)),
            Verdict::Within { .. } => Some(tail((edge - log).min(log + edge))),
            Verdict::NotSettled => None,
        }
    }
}

/// The estimate from one logarithm a launch, at a confidence; `None` below [`LEAST_LAUNCHES`] launches.
pub(crate) fn of_logs(logs: &[f64], level: f64) -> Option<Estimated> {
    if logs.len() < LEAST_LAUNCHES {
        return None;
    }
    let interval = t_interval(logs, level).ok()?;
    let n = logs.len() as f64;
    let variance = logs.iter().map(|x| (x - interval.estimate).powi(2)).sum::<f64>() / (n - 1.0);
    let estimate = Estimate {
        ratio: interval.estimate.exp(),
        low: interval.low.exp(),
        high: interval.high.exp(),
        level,
        launches: logs.len(),
        moved: None,
    };
    Some(Estimated { estimate, error: (variance / n).sqrt(), freedom: n - 1.0 })
}

/// One cell's cost relative to another's in a phase or total.
pub(crate) fn between(base: &CellEvidence, other: &CellEvidence, measure: usize, which: Column) -> Option<Estimated> {
    between_at(base, other, measure, which, LEVEL)
}

/// The same at another confidence.
pub(crate) fn between_at(
    base: &CellEvidence,
    other: &CellEvidence,
    measure: usize,
    which: Column,
    level: f64,
) -> Option<Estimated> {
    let (logs, _, _) = logs(base, other, measure, which)?;
    of_logs(&logs, level)
}
