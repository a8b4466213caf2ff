//! Ratio axes: logarithmic, the same for all rows of a plot.

use record::summary::Estimate;

/// Ratios beyond these are drawn as arrows at the axis' end.
const WIDEST: (f64, f64) = (1.0 / 64.0, 64.0);

/// A ratio below one costs less than the baseline, which is at one.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    /// Ratios that are written at it, the baseline's 1 among them.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// The narrowest axis of whole ticks that holds these intervals and the baseline.
    pub fn over<'a>(ratios: impl Iterator<Item = &'a Estimate>) -> Option<Axis> {
        let (mut low, mut high, mut any) = (1.0f64, 1.0f64, false);
        for ratio in ratios.filter(|r| r.low > 0.0 && r.high.is_finite()) {
            (low, high, any) = (low.min(ratio.low), high.max(ratio.high), true);
        }
        if !any {
            return None;
        }
        let (low, high) = (low.clamp(WIDEST.0, 1.0), high.clamp(1.0, WIDEST.1));
        let step = step(low, high);
        let steps = |ratio: f64| (ratio.ln() / step.ln() - 1e-9).ceil().max(0.0) as i32;
        let (below, above) = (steps(1.0 / low), steps(high));
        let ticks = (-below..=above).map(|power| step.powi(power)).collect();
        Some(Axis { low: step.powi(-below), high: step.powi(above), ticks })
    }

    /// Factors from one upwards, by doublings: the axis of the first screen.
    pub fn factors(largest: f64) -> Axis {
        let doublings = (largest.clamp(2.0, 256.0).log2() - 1e-9).ceil() as i32;
        let high = 2f64.powi(doublings.max(4));
        let step = if doublings > 4 { 4.0 } else { 2.0 };
        let ticks = (0..=doublings.max(4)).map(|p| 2f64.powi(p)).filter(|t| (t.log2() / f64::log2(step)).fract() == 0.0);
        Axis { low: 1.0, high, ticks: ticks.collect() }
    }

    /// Position of a ratio, from 0 at the left end to 1 at the right; beyond the ends less than 0 and more than 1.
    pub fn place(&self, ratio: f64) -> f64 {
        (ratio / self.low).ln() / (self.high / self.low).ln()
    }
}

/// The distance of ticks at which there are few of them.
fn step(low: f64, high: f64) -> f64 {
    let span = (high / low).ln();
    [1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 4.0].into_iter().find(|s: &f64| span / s.ln() <= 4.0).unwrap_or(8.0)
}

#[cfg(test)]
#[path = "../../tests/unit/plot/axis.rs"]
mod tests;
