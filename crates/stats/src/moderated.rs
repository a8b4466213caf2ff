//! The variances of comparisons that were launched together, each drawn towards what they have in common.
//!
//! With six launches a variance has five degrees of freedom and Student's factor is 2.57; with the group's twenty it is
//! 2.09. How far each is drawn is not chosen but estimated from how much the variances differ among themselves: Smyth's
//! moderated t (Linear Models and Empirical Bayes Methods, 2004, sections 4 and 6.2).

use super::{interval::Undefined, t::mean_and_variance};
use statrs::function::gamma::digamma;

/// Fewer variances than this say too little of how much they differ: then each stands alone.
pub const LEAST_POOLED: usize = 4;
/// The correlation of the squares of two contrasts that share their baseline. Their noise correlates by one half, their
/// squares by its square. Pooled variances are worth fewer degrees of freedom for it.
const SHARED_BASELINE: f64 = 0.25;

/// Common part of a group's variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The variance that each is drawn to, in the square of the values' unit.
    pub variance: f64,
    /// The number of degrees of freedom that it counts as; zero where nothing is pooled.
    pub freedom: f64,
    /// The most degrees of freedom that a moderated variance may claim.
    pub most: f64,
    /// The correlation of neighbouring launches that the group has on average; zero where it is not known.
    pub memory: f64,
}

impl Prior {
    /// Nothing in common: every variance stands alone.
    pub const NONE: Prior = Prior {
        variance: 0.0,
        freedom: 0.0,
        most: f64::INFINITY,
        memory: 0.0,
    };

    /// The prior of a group, from each variance and its degrees of freedom. `NONE` where there are fewer than
    /// [`LEAST_POOLED`] or one is zero, as counts have that are exact.
    pub fn fit(variances: &[(f64, f64)]) -> Prior {
        let usable = variances
            .iter()
            .all(|(variance, freedom)| *variance > 0.0 && *freedom > 0.0);
        if variances.len() < LEAST_POOLED || !usable {
            return Prior::NONE;
        }
        let k = variances.len() as f64;
        let centred: Vec<f64> = variances
            .iter()
            .map(|(variance, d)| variance.ln() - digamma(d / 2.0) + (d / 2.0).ln())
            .collect();
        let (mean, spread) = mean_and_variance(&centred);
        let chance = variances
            .iter()
            .map(|(_, d)| trigamma(d / 2.0))
            .sum::<f64>()
            / k;
        let freedom_in_all: f64 = variances.iter().map(|(_, d)| d).sum();
        let most = freedom_in_all / (1.0 + (k - 1.0) * SHARED_BASELINE);
        // Variances of a few launches seem alike by chance: the spread counts at what it may be, one standard error more.
        let beyond = spread * (1.0 + (2.0 / (k - 1.0)).sqrt()) - chance;
        if beyond <= 0.0 {
            return Prior {
                variance: mean.exp(),
                freedom: most,
                most,
                memory: 0.0,
            };
        }
        let half = inverse_trigamma(beyond);
        Prior {
            variance: (mean + digamma(half) - half.ln()).exp(),
            freedom: 2.0 * half,
            most,
            memory: 0.0,
        }
    }

    /// A variance of this many degrees of freedom, drawn to the prior, and the degrees of freedom that it then has.
    pub fn moderate(&self, variance: f64, freedom: f64) -> (f64, f64) {
        let total_freedom = freedom + self.freedom;
        (
            (freedom * variance + self.freedom * self.variance) / total_freedom,
            total_freedom.min(self.most).max(freedom),
        )
    }
}

/// ψ'(x) for x > 0: the recurrence up to 6, then the asymptotic series (Abramowitz & Stegun 6.4.12).
pub fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 6.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let tail =
        y * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * 5.0 / 66.0))));
    sum + 1.0 / x + y / 2.0 + tail / x
}

/// The x with ψ'(x) = y for y > 0, by bisection of ln x: ψ' falls from infinity to zero.
pub fn inverse_trigamma(y: f64) -> f64 {
    let (mut low, mut high) = (-25.0_f64, 25.0_f64);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if trigamma(middle.exp()) > y {
            low = middle
        } else {
            high = middle
        }
    }
    ((low + high) / 2.0).exp()
}

/// The mean of values that weigh differently, with the variance of one of average weight.
///
/// The variance is that of the weighted residuals, so weights that are wrong cost width and not coverage (Hartung & Knapp
/// 2001). Equal weights give the ordinary mean and variance. `TooFew` below two values.
pub fn weighted_mean(values: &[f64], weights: &[f64]) -> Result<(f64, f64), Undefined> {
    super::interval::check(values, 2)?;
    super::interval::check(weights, values.len())?;
    let n = values.len() as f64;
    let total: f64 = weights.iter().sum();
    let mean = values
        .iter()
        .zip(weights)
        .map(|(value, weight)| weight * value)
        .sum::<f64>()
        / total;
    let squares: f64 = values
        .iter()
        .zip(weights)
        .map(|(value, weight)| weight * (value - mean).powi(2))
        .sum();
    Ok((mean, squares * n / total / (n - 1.0)))
}
