//! How many times the baseline's cost a method costs: one logarithm per launch, an interval across launches.
//!
//! Logarithms make faster and slower symmetrical, and pairing round by round removes what both methods suffer together
//! (Kalibera & Jones, Quantifying Performance Changes with Effect Size Confidence Intervals, 2013/2020, argue for the
//! ratio; the interval here is distribution-free instead of Fieller's).

use super::interval::{Undefined, check};
use super::quantile::median;
use super::rank_sum::shift_interval;
use super::signed_rank::signed_rank_interval;
use super::t::{t_interval, welch};
use serde::{Deserialize, Serialize};

/// How the cost of one launch became one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The median over rounds. It is the rule for times.
    Median,
    /// The mean over rounds, because some round cost nothing: fault counts, CPU time finer than its clock. A median of
    /// such numbers is blind to what the rarer rounds cost.
    Mean,
}

/// The cost of a method divided by the baseline's, without unit; below one the method is faster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The Hodges–Lehmann estimate across launches.
    pub estimate: f64,
    /// The lower limit of the distribution-free interval.
    pub low: f64,
    /// The upper limit of the distribution-free interval.
    pub high: f64,
    /// The achieved probability that an interval of this kind contains the truth.
    pub coverage: f64,
    /// The number of launches; for unpaired runs that of the side with fewer.
    pub n: usize,
    /// The lower limit of Student's interval at the nominal confidence, shown beside it.
    pub t_low: f64,
    /// The upper limit of Student's interval at the nominal confidence.
    pub t_high: f64,
    /// How each launch became one number.
    pub basis: Basis,
}

impl Ratio {
    /// Half the interval's width as a fraction: 0.01 says that the limits lie 1 % either way from their middle.
    pub fn half_width(&self) -> f64 {
        (self.high / self.low).sqrt() - 1.0
    }
}

/// The samples of one launch, paired: index `i` of both slices is the same round. Any unit, the same on both sides.
#[derive(Debug, Clone, Copy)]
pub struct Paired<'a> {
    /// What the baseline cost in each round.
    pub baseline: &'a [f64],
    /// What the method cost in each round.
    pub method: &'a [f64],
}

/// One logarithm of the ratio method / baseline for each launch, and how it was made.
///
/// The rule for zeros is one for all launches: while every sample is above zero, a launch counts as the median over
/// rounds of `ln(method / baseline)`; where any sample is zero, every launch counts as `ln(mean method / mean baseline)`.
///
/// `LengthsDiffer`, `TooFew` (a launch without rounds), `NotFinite` and `Negative` name bad input; `OneSideZero` and
/// `BothZero` a launch that has no finite ratio. A launch is never left out, so one of these makes the whole undefined.
pub fn log_ratios(launches: &[Paired<'_>]) -> Result<(Vec<f64>, Basis), Undefined> {
    let mut any_zero = false;
    for launch in launches {
        let (left, right) = (launch.baseline.len(), launch.method.len());
        if left != right {
            return Err(Undefined::LengthsDiffer { left, right });
        }
        any_zero |= has_zero(launch.baseline)? | has_zero(launch.method)?;
    }
    if any_zero {
        let logs = launches.iter().map(|launch| ln_ratio(mean(launch.method), mean(launch.baseline)));
        return Ok((logs.collect::<Result<_, _>>()?, Basis::Mean));
    }
    let mut scratch = Vec::new();
    let mut logs = Vec::with_capacity(launches.len());
    for launch in launches {
        // The logarithm is monotonic, but a median of an even count averages two values: they are averaged as logarithms,
        // so that exchanging the sides gives exactly the inverse ratio.
        scratch.clear();
        scratch.extend(launch.method.iter().zip(launch.baseline).map(|(m, b)| (m / b).ln()));
        logs.push(median(&mut scratch).ok_or(Undefined::NotFinite)?);
    }
    Ok((logs, Basis::Median))
}

/// The ratio and its interval from launches whose rounds are paired.
///
/// The errors are those of [`log_ratios`] and [`ratio_of_logs`].
pub fn paired_ratio(launches: &[Paired<'_>], confidence: f64) -> Result<Ratio, Undefined> {
    let (logs, basis) = log_ratios(launches)?;
    ratio_of_logs(&logs, basis, confidence)
}

/// The ratio and its interval from one logarithm for each launch: the signed-rank interval, taken back by `exp`.
///
/// `TooFew` below six launches at 95 %.
pub fn ratio_of_logs(logs: &[f64], basis: Basis, confidence: f64) -> Result<Ratio, Undefined> {
    let exact = signed_rank_interval(logs, confidence)?;
    let student = t_interval(logs, confidence)?;
    Ok(Ratio {
        estimate: exact.estimate.exp(),
        low: exact.low.exp(),
        high: exact.high.exp(),
        coverage: exact.coverage,
        n: exact.n,
        t_low: student.low.exp(),
        t_high: student.high.exp(),
        basis,
    })
}

/// The ratio of two runs that were not interleaved: one slice of samples for each launch on either side, nothing paired.
///
/// Each launch counts as the logarithm of its median sample, or of its mean where any launch's median is zero. The
/// interval is Mann & Whitney's for the shift of these logarithms, with Welch's beside it. What differs between the runs
/// as a whole (time of day, kernel, neighbours) is not in this interval and cannot be. `TooFew` below four launches a
/// side at 95 %; `OneSideZero` where a launch cost nothing at all.
pub fn unpaired_ratio(baseline: &[&[f64]], method: &[&[f64]], confidence: f64) -> Result<Ratio, Undefined> {
    let (baseline, method, basis) = launch_logs(baseline, method)?;
    let exact = shift_interval(&baseline, &method, confidence)?;
    let welch = welch(&baseline, &method)?;
    let (t_low, t_high) = welch.limits(confidence)?;
    Ok(Ratio {
        estimate: exact.estimate.exp(),
        low: exact.low.exp(),
        high: exact.high.exp(),
        coverage: exact.coverage,
        n: exact.n,
        t_low: t_low.exp(),
        t_high: t_high.exp(),
        basis,
    })
}

/// The logarithms of what each launch cost, by the same basis on both sides.
fn launch_logs(baseline: &[&[f64]], method: &[&[f64]]) -> Result<(Vec<f64>, Vec<f64>, Basis), Undefined> {
    let mut scratch = Vec::new();
    let mut medians = |launches: &[&[f64]]| -> Result<Vec<f64>, Undefined> {
        let median_of = |launch: &&[f64]| {
            has_zero(launch)?;
            scratch.clear();
            scratch.extend_from_slice(launch);
            median(&mut scratch).ok_or(Undefined::NotFinite)
        };
        launches.iter().map(median_of).collect()
    };
    let (mut left, mut right) = (medians(baseline)?, medians(method)?);
    let basis = match left.iter().chain(&right).all(|cost| *cost > 0.0) {
        true => Basis::Median,
        false => Basis::Mean,
    };
    if basis == Basis::Mean {
        left = baseline.iter().map(|launch| mean(launch)).collect();
        right = method.iter().map(|launch| mean(launch)).collect();
    }
    let logs = |costs: Vec<f64>| costs.into_iter().map(|cost| ln_ratio(cost, 1.0)).collect::<Result<Vec<_>, _>>();
    Ok((logs(left)?, logs(right)?, basis))
}

/// Whether a sample is zero; an error where one is negative, not finite, or there are none.
fn has_zero(samples: &[f64]) -> Result<bool, Undefined> {
    check(samples, 1)?;
    let smallest = samples.iter().copied().fold(f64::INFINITY, f64::min);
    match smallest < 0.0 {
        true => Err(Undefined::Negative),
        false => Ok(smallest == 0.0),
    }
}

fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

fn ln_ratio(method: f64, baseline: f64) -> Result<f64, Undefined> {
    match (method == 0.0, baseline == 0.0) {
        (false, false) => Ok((method / baseline).ln()),
        (true, true) => Err(Undefined::BothZero),
        _ => Err(Undefined::OneSideZero),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASELINE: [f64; 5] = [10.0, 11.0, 9.0, 30.0, 10.0];

    fn launches(method: &[[f64; 5]]) -> Vec<Paired<'_>> {
        method.iter().map(|method| Paired { baseline: &BASELINE, method }).collect()
    }

    #[test]
    fn a_constant_factor_is_found_exactly() {
        let method = [BASELINE.map(|b| 1.25 * b); 6];
        let ratio = paired_ratio(&launches(&method), 0.95).expect("six launches");
        for value in [ratio.estimate, ratio.low, ratio.high, ratio.t_low, ratio.t_high] {
            assert!((value - 1.25).abs() < 1e-12, "{ratio:?}");
        }
        assert_eq!((ratio.n, ratio.basis), (6, Basis::Median));
        assert!(ratio.half_width() < 1e-12);
    }

    #[test]
    fn zeros_turn_every_launch_to_means() {
        let mut method = [BASELINE; 6];
        method[3][0] = 0.0;
        let (logs, basis) = log_ratios(&launches(&method)).expect("means are above zero");
        assert_eq!(basis, Basis::Mean);
        assert_eq!(logs[0], 0.0);
        assert!((logs[3] - (60.0_f64 / 70.0).ln()).abs() < 1e-12);
    }

    #[test]
    fn a_launch_without_a_finite_ratio_makes_the_whole_undefined() {
        let mut method = [BASELINE; 6];
        method[2] = [0.0; 5];
        assert_eq!(paired_ratio(&launches(&method), 0.95), Err(Undefined::OneSideZero));
        let nothing = Paired { baseline: &[0.0; 5], method: &[0.0; 5] };
        assert_eq!(paired_ratio(&[nothing; 6], 0.95), Err(Undefined::BothZero));
        method[2][1] = -1.0;
        assert_eq!(paired_ratio(&launches(&method), 0.95), Err(Undefined::Negative));
        method[2][1] = f64::NAN;
        assert_eq!(paired_ratio(&launches(&method), 0.95), Err(Undefined::NotFinite));
    }

    #[test]
    fn exchanging_the_sides_inverts_the_ratio() {
        let method = [[8.0, 12.0, 9.5, 21.0, 11.0], [9.0; 5], [12.0; 5], [10.0; 5], [8.5; 5], [11.5; 5]];
        let forth = launches(&method);
        let back: Vec<_> = forth.iter().map(|l| Paired { baseline: l.method, method: l.baseline }).collect();
        let forth = paired_ratio(&forth, 0.95).expect("six launches");
        let back = paired_ratio(&back, 0.95).expect("six launches");
        assert!((forth.estimate * back.estimate - 1.0).abs() < 1e-12);
        assert!((forth.low * back.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn unpaired_runs_compare_by_their_launches() {
        let baseline = [[1.0, 2.0, 2.0], [2.0, 3.0, 2.0], [2.0; 3], [2.0; 3]];
        let method = baseline.map(|launch| launch.map(|cost| 3.0 * cost));
        let baseline: Vec<&[f64]> = baseline.iter().map(|l| l.as_slice()).collect();
        let method: Vec<&[f64]> = method.iter().map(|l| l.as_slice()).collect();
        let ratio = unpaired_ratio(&baseline, &method, 0.95).expect("four against four");
        assert!((ratio.estimate - 3.0).abs() < 1e-12);
        assert_eq!(unpaired_ratio(&baseline[..3], &method[..3], 0.95), Err(Undefined::TooFew { got: 3, needed: 4 }));
        let nothing: [&[f64]; 4] = [&[0.0]; 4];
        assert_eq!(unpaired_ratio(&nothing, &method, 0.95), Err(Undefined::OneSideZero));
    }
}
