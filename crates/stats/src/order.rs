//! Distribution-free intervals for quantiles, from order statistics and the binomial distribution.

use super::interval::{Interval, Undefined, check, check_probability, tail};
use super::quantile::quantile;

/// Two order statistics that enclose a quantile, as ranks counted from one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranks {
    /// The rank of the lower limit.
    pub low: usize,
    /// The rank of the upper limit.
    pub high: usize,
    /// The probability that the two enclose the quantile of a continuous distribution; with ties it is higher.
    pub coverage: f64,
}

/// The interval for the quantile at `p`, with the type 7 quantile as its estimate, in the values' own unit.
///
/// No distribution is assumed, only that the values are independent. Each tail keeps at most half of `1 - confidence`
/// (David & Nagaraja, Order Statistics, 2003, section 7.1); for the median this is the interval of the sign test.
/// Reorders the slice. `TooFew` where even the smallest and largest value do not reach the confidence.
pub fn order_interval(values: &mut [f64], p: f64, confidence: f64) -> Result<Interval, Undefined> {
    check(values, 1)?;
    let ranks = ranks(values.len(), p, confidence)?;
    let estimate = quantile(values, p).ok_or(Undefined::NotFinite)?;
    Ok(Interval {
        estimate,
        low: nth(values, ranks.low),
        high: nth(values, ranks.high),
        coverage: ranks.coverage,
        n: values.len(),
    })
}

/// The ranks of that interval among `n` values.
///
/// With B the number of values below the quantile, binomial with `n` and `p`, the lower rank is the largest `l` with
/// P(B < l) at most half of `1 - confidence`, the upper rank the smallest `u` with P(B ≥ u) at most that.
pub fn ranks(n: usize, p: f64, confidence: f64) -> Result<Ranks, Undefined> {
    let tail = tail(confidence)?;
    check_probability(p)?;
    let too_few = Undefined::TooFew { got: n, needed: needed(p, tail) };
    let masses = BinomialMasses::new(n, p);
    let (low, below) = masses.largest_low_rank(tail).ok_or(too_few)?;
    let (high, above) = masses.smallest_high_rank(tail).ok_or(too_few)?;
    Ok(Ranks { low, high, coverage: 1.0 - below - above })
}

/// The smallest count whose extremes leave at most `tail` on the rarer side of the quantile at `p`.
fn needed(p: f64, tail: f64) -> usize {
    (tail.ln() / p.max(1.0 - p).ln()).ceil() as usize
}

/// The value of the given rank, counted from one.
fn nth(values: &mut [f64], rank: usize) -> f64 {
    *values.select_nth_unstable_by(rank - 1, f64::total_cmp).1
}

/// The binomial probabilities that are not negligible.
struct BinomialMasses {
    first: usize,
    masses: Vec<f64>,
    n: usize,
}

impl BinomialMasses {
    /// Grows the masses from the mode outwards by their exact ratios and scales them to sum to one, which needs no gamma
    /// function and neither overflows nor cancels; what is below 1e-30 of the mode is left out.
    fn new(n: usize, p: f64) -> Self {
        let mode = (((n + 1) as f64 * p) as usize).min(n);
        let odds = p / (1.0 - p);
        let negligible = 1e-30;
        let mut down = Vec::new();
        let mut mass = 1.0;
        for k in (0..mode).rev() {
            mass *= (k + 1) as f64 / ((n - k) as f64 * odds);
            if mass < negligible {
                break;
            }
            down.push(mass);
        }
        let first = mode - down.len();
        let mut masses: Vec<f64> = down.into_iter().rev().chain([1.0]).collect();
        mass = 1.0;
        for k in mode..n {
            mass *= (n - k) as f64 * odds / (k + 1) as f64;
            if mass < negligible {
                break;
            }
            masses.push(mass);
        }
        let total: f64 = masses.iter().sum();
        masses.iter_mut().for_each(|m| *m /= total);
        Self { first, masses, n }
    }

    /// The largest rank `l` with P(B < l) ≤ tail, and that probability.
    fn largest_low_rank(&self, tail: f64) -> Option<(usize, f64)> {
        let mut rank = self.first;
        let mut below = 0.0;
        for mass in &self.masses {
            if below + mass > tail {
                break;
            }
            below += mass;
            rank += 1;
        }
        (rank >= 1).then_some((rank, below))
    }

    /// The smallest rank `u` with P(B ≥ u) ≤ tail, and that probability.
    fn smallest_high_rank(&self, tail: f64) -> Option<(usize, f64)> {
        let mut rank = self.first + self.masses.len();
        let mut above = 0.0;
        for mass in self.masses.iter().rev() {
            if above + mass > tail {
                break;
            }
            above += mass;
            rank -= 1;
        }
        (rank <= self.n).then_some((rank, above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_values_are_the_fewest_for_a_median() {
        assert_eq!(ranks(5, 0.5, 0.95), Err(Undefined::TooFew { got: 5, needed: 6 }));
        let six = ranks(6, 0.5, 0.95).expect("six will do");
        assert_eq!((six.low, six.high), (1, 6));
        assert!((six.coverage - (1.0 - 2.0 / 64.0)).abs() < 1e-15);
    }

    #[test]
    fn the_count_named_as_needed_is_the_smallest_that_works() {
        for p in [0.01, 0.1, 0.5, 0.9, 0.99, 0.999] {
            let Err(Undefined::TooFew { needed, .. }) = ranks(1, p, 0.95) else {
                panic!("one value cannot do");
            };
            assert!(ranks(needed, p, 0.95).is_ok(), "{p}");
            assert!(ranks(needed - 1, p, 0.95).is_err(), "{p}");
        }
    }

    #[test]
    fn a_million_values_give_a_narrow_interval() {
        let ranks = ranks(1_000_000, 0.99, 0.95).expect("enough");
        let wanted = 1.96 * (1e6_f64 * 0.99 * 0.01).sqrt();
        assert!((ranks.high as f64 - 990_000.0 - wanted).abs() < 3.0, "{ranks:?}");
        assert!((990_000.0 - ranks.low as f64 - wanted).abs() < 3.0, "{ranks:?}");
        assert!(ranks.coverage >= 0.95 && ranks.coverage < 0.9512);
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(ranks(10, 1.0, 0.95), Err(Undefined::NotAProbability(1.0)));
        assert_eq!(ranks(10, 0.5, 1.0), Err(Undefined::NotAProbability(1.0)));
        assert_eq!(order_interval(&mut [f64::NAN; 8], 0.5, 0.95), Err(Undefined::NotFinite));
    }
}
