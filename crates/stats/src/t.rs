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
    Ok(Interval {
        estimate: mean,
        low: mean - half,
        high: mean + half,
        coverage: confidence,
        n: values.len(),
    })
}

/// The mean and the variance with divisor n − 1; the latter is zero for fewer than two values.
pub(crate) fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, squares / (n - 1.0).max(1.0))
}

/// The mean and the standard deviation with divisor n − 1, in the values' own unit; the latter is zero for one value.
/// `None` where there is no value or one is not finite.
pub fn mean_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    check(values, 1).ok()?;
    let (mean, variance) = mean_and_variance(values);
    Some((mean, variance.sqrt()))
}

/// The difference of two means without the assumption of equal variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// The mean of the second group minus that of the first.
    pub difference: f64,
    /// Standard error of the difference.
    pub error: f64,
    /// The degrees of freedom by Welch and Satterthwaite.
    pub freedom: f64,
}

impl Welch {
    /// The two-sided probability of a difference this large where the means are equal.
    pub fn p(&self) -> f64 {
        if self.error == 0.0 {
            f64::from(self.difference == 0.0)
        } else {
            two_sided_p(self.difference / self.error, self.freedom)
        }
    }

    /// The limits of the interval for the difference.
    pub fn limits(&self, confidence: f64) -> Result<(f64, f64), Undefined> {
        let tail = tail(confidence)?;
        let half = if self.error == 0.0 {
            0.0
        } else {
            t_quantile(1.0 - tail, self.freedom) * self.error
        };
        Ok((self.difference - half, self.difference + half))
    }
}

/// Compares the means of two groups of independent values (Welch 1947). `TooFew` below two values in a group.
pub fn welch(a: &[f64], b: &[f64]) -> Result<Welch, Undefined> {
    check(a, 2)?;
    check(b, 2)?;
    let (mean_a, variance_a) = mean_and_variance(a);
    let (mean_b, variance_b) = mean_and_variance(b);
    let (n, m) = (a.len() as f64, b.len() as f64);
    let (part_a, part_b) = (variance_a / n, variance_b / m);
    let both = part_a + part_b;
    Ok(Welch {
        difference: mean_b - mean_a,
        error: both.sqrt(),
        freedom: both * both / (part_a * part_a / (n - 1.0) + part_b * part_b / (m - 1.0)),
    })
}

/// P(|T| ≥ |t|) for Student's distribution with `freedom` degrees of freedom, which need not be whole.
pub fn two_sided_p(t: f64, freedom: f64) -> f64 {
    match student(freedom) {
        Some(student) if t.is_finite() => 2.0 * student.cdf(-t.abs()),
        Some(_) if t.is_infinite() => 0.0,
        _ => f64::NAN,
    }
}

/// P(T ≤ t) for Student's distribution; 0 or 1 where t is infinite, and one half where it is 0 / 0, as with exact counts
/// that lie on the edge of the margin.
pub(crate) fn t_tail(t: f64, freedom: f64) -> f64 {
    match student(freedom) {
        Some(student) if t.is_finite() => student.cdf(t),
        Some(_) if t.is_infinite() => f64::from(t > 0.0),
        _ => 0.5,
    }
}

/// Student's distribution with `freedom` degrees of freedom; none below [`LEAST_FREEDOM`], where searching a quantile has no end.
fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom)
        .ok()
        .filter(|_| freedom >= LEAST_FREEDOM)
}

/// Degrees of freedom below which no estimate lies: two values have one, and errors are rounded.
pub const LEAST_FREEDOM: f64 = 0.9;

/// The quantile of Student's distribution at `p`; not a number where `freedom` is below [`LEAST_FREEDOM`].
pub fn t_quantile(p: f64, freedom: f64) -> f64 {
    if freedom > EXPANDED_FROM {
        return expanded_quantile(normal_quantile(p), freedom);
    }
    student(freedom).map_or(f64::NAN, |student| student.inverse_cdf(p))
}

/// Degrees of freedom from which the expansion is exact to 12 digits, where a search is not: its error depends on the
/// processor's arithmetic and reached some millionths.
const EXPANDED_FROM: f64 = 1e4;

/// Student's quantile where the normal distribution's is `z`, by its expansion for many degrees of freedom (Abramowitz and
/// Stegun 1964, 26.7.5).
fn expanded_quantile(z: f64, freedom: f64) -> f64 {
    let square = z * z;
    let first = z * (square + 1.0) / 4.0;
    let second = z * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    z + (first + (second + third / freedom) / freedom) / freedom
}

/// The quantile of the standard normal distribution at `p`.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// Result of the usual procedure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Naive {
    /// The mean of B divided by the mean of A.
    pub ratio: f64,
    /// Two-sided p value, 0 to 1.
    pub p: f64,
}

impl Naive {
    /// Tells whether the usual way would announce a difference at this level, for example 0.05.
    pub fn announces(&self, level: f64) -> bool {
        self.p < level
    }
}

/// Welch's t test between two blocks of samples as though every sample were independent of its neighbours.
///
/// On a machine whose speed wanders it calls identical programs different half of the time, which is why nothing else in
/// the laboratory uses it. `TooFew` below two samples a side.
pub fn naive(a: &[f64], b: &[f64]) -> Result<Naive, Undefined> {
    let compared = welch(a, b)?;
    let mean = a.iter().sum::<f64>() / a.len() as f64;
    Ok(Naive {
        ratio: 1.0 + compared.difference / mean,
        p: compared.p(),
    })
}
