//! The axis of ratios.

use record::summary::Ratio;

/// Ratios beyond these are drawn as arrows at the axis' end.
const WIDEST_RATIOS: (f64, f64) = (1.0 / 64.0, 64.0);

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
    pub fn over<'a>(ratios: impl Iterator<Item = &'a Ratio>) -> Option<Axis> {
        let (mut low, mut high, mut any) = (1.0f64, 1.0f64, false);
        for ratio in ratios.filter(|r| r.low > 0.0 && r.high.is_finite()) {
            (low, high, any) = (low.min(ratio.low), high.max(ratio.high), true);
        }
        if !any {
            return None;
        }
        let (low, high) = (
            low.clamp(WIDEST_RATIOS.0, 1.0),
            high.clamp(1.0, WIDEST_RATIOS.1),
        );
        let step = step(low, high);
        let [below, above] =
            [1.0 / low, high].map(|ratio| (ratio.ln() / step.ln() - 1e-9).ceil().max(0.0) as i32);
        let ticks = (-below..=above).map(|power| step.powi(power)).collect();
        Some(Axis {
            low: step.powi(-below),
            high: step.powi(above),
            ticks,
        })
    }

    /// Its ticks in the order in which they get room: the baseline's own place, the ends, the others.
    pub fn ranked_ticks(&self) -> Vec<f64> {
        let mut ticks = self.ticks.clone();
        ticks.sort_by_key(|&t| (t != 1.0, t != self.low && t != self.high));
        ticks
    }

    /// Factors from one upwards, by doublings: the axis of the first screen.
    pub fn factors(largest: f64) -> Axis {
        let doublings = (largest.clamp(2.0, 256.0).log2() - 1e-9).ceil() as i32;
        let high = 2f64.powi(doublings.max(4));
        let step = if doublings > 4 { 4.0 } else { 2.0 };
        let ticks = (0..=doublings.max(4))
            .map(|p| 2f64.powi(p))
            .filter(|t| (t.log2() / f64::log2(step)).fract() == 0.0);
        Axis {
            low: 1.0,
            high,
            ticks: ticks.collect(),
        }
    }

    /// Position of a ratio, from 0 at the left end to 1 at the right; beyond the ends less than 0 and more than 1.
    pub fn place(&self, ratio: f64) -> f64 {
        (ratio / self.low).ln() / (self.high / self.low).ln()
    }
}

/// The distance of ticks at which there are few of them.
fn step(low: f64, high: f64) -> f64 {
    let span = (high / low).ln();
    [1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 4.0]
        .into_iter()
        .find(|s: &f64| span / s.ln() <= 4.0)
        .unwrap_or(8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, high: f64) -> Ratio {
        Ratio {
            ratio: (low * high).sqrt(),
            low,
            high,
            level: 0.95,
            launches: 10,
            error: 0.05,
            freedom: 9.0,
            drift: None,
        }
    }

    #[test]
    fn an_axis_holds_all_intervals_and_the_baseline_between_whole_ticks() {
        let axis = Axis::over([estimate(0.3, 0.4), estimate(1.1, 1.7)].iter()).unwrap();
        assert_eq!((axis.low, axis.high), (0.25, 2.0));
        assert!(axis.ticks.contains(&1.0));
        assert!((axis.place(1.0) - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(Axis::over([].iter()), None);
    }

    #[test]
    fn hopeless_ratios_do_not_squeeze_the_others() {
        let axis = Axis::over([estimate(1e-6, 1e-5), estimate(0.9, 1.1)].iter()).unwrap();
        assert!(axis.low >= 1.0 / 64.0 && axis.place(1e-6) < 0.0);
        assert_eq!(Axis::over([estimate(0.0, f64::INFINITY)].iter()), None);
    }

    #[test]
    fn factors_run_to_sixteen_at_least() {
        assert_eq!(Axis::factors(3.0).ticks, [1.0, 2.0, 4.0, 8.0, 16.0]);
        let wide = Axis::factors(100.0);
        assert_eq!(
            (wide.high, wide.ticks.as_slice()),
            (128.0, [1.0, 4.0, 16.0, 64.0].as_slice())
        );
    }
}
