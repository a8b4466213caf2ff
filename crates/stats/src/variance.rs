//! Where the noise lives, within launches or between them, and what that means for the length of a launch.
//!
//! The model is Kalibera & Jones's (Rigorous Benchmarking in Reasonable Time, 2013; Quantifying Performance Changes with
//! Effect Size Confidence Intervals, arXiv 2007.10899) with two levels. Theirs is for means; a launch here counts as a
//! median, so the inner component is the variance that a median of independent rounds would have for each
//! round, and it is inflated where rounds are correlated.

use super::autocorrelation::correlation_sum;
use super::interval::{Undefined, check};
use super::quantile::{MAD_TO_SD, median, median_absolute_deviation};
use super::t::mean_and_variance;
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_PI_2;

/// The two components of variance, in the square of the samples' unit; for log ratios without unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Components {
    /// What one round adds: a launch of r rounds has a median with variance `between + within / r`.
    pub within: f64,
    /// What differs from process to process however many rounds are run; zero where the launches differ no more than
    /// their rounds explain.
    pub between: f64,
}

impl Components {
    /// The variance of the mean of `launches` launches of `rounds` rounds each.
    pub fn variance_of(&self, launches: usize, rounds: usize) -> f64 {
        (self.between + self.within / rounds as f64) / launches as f64
    }
}

/// Splits the variance, given the log ratios (or other values) of each launch's rounds.
///
/// `within` is the mean over launches of `π/2 · (1.4826 · MAD)²`, the variance of a median per round, which ticks and
/// outliers do not inflate, times the mean correlation time; `between` is the variance of the launches' medians less what
/// `within` explains. `TooFew` below two launches or two rounds in a launch.
pub fn components(launches: &[&[f64]]) -> Result<Components, Undefined> {
    let mut medians = Vec::with_capacity(launches.len());
    let (mut square, mut time, mut inverse_rounds) = (0.0, 0.0, 0.0);
    for rounds in launches {
        check(rounds, 2)?;
        let mut scratch = rounds.to_vec();
        medians.push(median(&mut scratch).ok_or(Undefined::NotFinite)?);
        let spread = MAD_TO_SD * median_absolute_deviation(&mut scratch).ok_or(Undefined::NotFinite)?;
        square += spread * spread;
        time += correlation_sum(rounds);
        inverse_rounds += 1.0 / rounds.len() as f64;
    }
    check(&medians, 2)?;
    let n = medians.len() as f64;
    let within = FRAC_PI_2 * square / n * (time / n).max(1.0);
    let (_, variance) = mean_and_variance(&medians);
    Ok(Components { within, between: (variance - within * inverse_rounds / n).max(0.0) })
}

/// The number of rounds in a launch that gives the narrowest interval for the time spent: Kalibera & Jones's
/// `√(launch cost / round cost · within / between)`, rounded up and kept within `least..=most`.
///
/// `launch_seconds` is what a launch costs beside its rounds (start, warm-up, end), `round_seconds` what one round costs.
/// Where launches do not differ, one long launch would be best, so the answer is `most`.
pub fn optimal_rounds(
    components: &Components,
    launch_seconds: f64,
    round_seconds: f64,
    least: usize,
    most: usize,
) -> usize {
    let best = (launch_seconds / round_seconds * components.within / components.between).sqrt();
    match best.is_nan() {
        true => least,
        false => (best.ceil().min(most as f64) as usize).max(least),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rng::Seeded;
    use super::*;

    fn normal(rng: &mut Seeded) -> f64 {
        (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
    }

    fn simulated(between_sd: f64, within_sd: f64, launches: usize, rounds: usize, seed: u64) -> Components {
        let mut rng = Seeded::new(seed);
        let values: Vec<Vec<f64>> = (0..launches)
            .map(|_| {
                let level = between_sd * normal(&mut rng);
                (0..rounds).map(|_| level + within_sd * normal(&mut rng)).collect()
            })
            .collect();
        components(&values.iter().map(Vec::as_slice).collect::<Vec<_>>()).expect("enough")
    }

    #[test]
    fn both_components_are_found() {
        let found = simulated(0.028, 0.05, 400, 50, 1);
        assert!((found.between.sqrt() / 0.028 - 1.0).abs() < 0.08, "{found:?}");
        assert!((found.within / (FRAC_PI_2 * 0.0025) - 1.0).abs() < 0.08, "{found:?}");
    }

    #[test]
    fn launches_that_do_not_differ_have_no_component() {
        let found = simulated(0.0, 0.05, 400, 50, 2);
        assert!(found.between.sqrt() < 0.003, "{found:?}");
    }

    #[test]
    fn the_optimum_is_the_cheapest_way_to_its_variance() {
        let components = Components { within: 0.04, between: 0.0008 };
        let (launch, round) = (0.08, 0.004);
        let cost = |rounds: usize| components.variance_of(1, rounds) * (launch + rounds as f64 * round);
        let best = optimal_rounds(&components, launch, round, 1, 10_000);
        let searched = (1..500).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).expect("a range");
        assert!(best.abs_diff(searched) <= 1, "{best} {searched}");
    }

    #[test]
    fn the_bounds_hold() {
        let equal = Components { within: 0.04, between: 0.0 };
        assert_eq!(optimal_rounds(&equal, 0.1, 0.01, 5, 300), 300);
        let noiseless = Components { within: 0.0, between: 0.0 };
        assert_eq!(optimal_rounds(&noiseless, 0.1, 0.01, 5, 300), 5);
        let levels = Components { within: 1e-9, between: 1.0 };
        assert_eq!(optimal_rounds(&levels, 0.1, 0.01, 5, 300), 5);
    }

    #[test]
    fn one_launch_says_nothing_of_the_others() {
        assert_eq!(components(&[&[1.0, 2.0]]), Err(Undefined::TooFew { got: 1, needed: 2 }));
        assert_eq!(components(&[&[1.0], &[2.0, 3.0]]), Err(Undefined::TooFew { got: 1, needed: 2 }));
    }
}
