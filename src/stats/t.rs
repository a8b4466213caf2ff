//! Student's t: the interval on a mean, shown beside the distribution-free one, and the tail probabilities behind it.

use super::interval::{Interval, Undefined, check, tail};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The mean and its interval `mean ± t · sd / √n` with n − 1 degrees of freedom, in the values' own unit.
///
/// It assumes independent values of a normal distribution (Student 1908). `TooFew` below two values.
pub fn t_interval(values: &[f64], confidence: f64) -> Result<Interval, Undefined> {
    let tail = tail(confidence)?;
    check(values, 2)?;
    let n = values.len() as f64;
    let (mean, variance) = mean_and_variance(values);
    let half = t_quantile(1.0 - tail, n - 1.0) * (variance / n).sqrt();
    Ok(Interval { estimate: mean, low: mean - half, high: mean + half, coverage: confidence, n: values.len() })
}

/// The mean and the variance with divisor n − 1; the latter is zero for fewer than two values.
pub(crate) fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, squares / (n - 1.0).max(1.0))
}

/// P(|T| ≥ |t|) for Student's distribution with `freedom` degrees of freedom, which need not be whole.
pub fn two_sided_p(t: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(student) if t.is_finite() => 2.0 * student.cdf(-t.abs()),
        Ok(_) if t.is_infinite() => 0.0,
        _ => f64::NAN,
    }
}

/// The quantile of Student's distribution at `p`; not a number where `freedom` is not positive.
pub(crate) fn t_quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |student| student.inverse_cdf(p))
}

/// The quantile of the standard normal distribution at `p`.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_an_interval_of_no_width() {
        let interval = t_interval(&[2.0; 5], 0.95).expect("five values");
        assert_eq!((interval.low, interval.estimate, interval.high), (2.0, 2.0, 2.0));
    }

    #[test]
    fn one_value_says_nothing_of_its_spread() {
        assert_eq!(t_interval(&[2.0], 0.95), Err(Undefined::TooFew { got: 1, needed: 2 }));
    }

    #[test]
    fn extreme_statistics_have_probabilities() {
        assert_eq!(two_sided_p(0.0, 3.0), 1.0);
        assert_eq!(two_sided_p(f64::INFINITY, 3.0), 0.0);
        assert!(two_sided_p(f64::NAN, 3.0).is_nan());
        assert!(two_sided_p(1.0, 0.0).is_nan());
    }
}
