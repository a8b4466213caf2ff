//! One number for a launch: a location of its rounds that ticks and preemptions cannot move far, and that uses more of the
//! rounds than their median does.

use super::interval::{Undefined, check};

/// The mean of the middle half of the values, in their own unit: ⌊n/4⌋ are left out at either end.
///
/// Tukey's midmean. A quarter of the values may be arbitrarily wrong at either end and it stays where it is. For normal
/// values its variance is 1.2 times that of the mean, where the median's is 1.57 times (Rosenberger & Gasko 1983); up to
/// two values it is the mean, with three and four the median. `TooFew` without values, `NotFinite` where one is not finite.
pub fn midmean(values: &[f64]) -> Result<f64, Undefined> {
    check(values, 1)?;
    let mut sorted = values.to_vec();
    let (n, cut) = (sorted.len(), sorted.len() / 4);
    if n == 3 {
        sorted.sort_unstable_by(f64::total_cmp);
        return Ok(sorted[1]);
    }
    if cut > 0 {
        sorted.select_nth_unstable_by(cut, f64::total_cmp);
        let (_, _, above) = sorted.select_nth_unstable_by(n - cut - 1, f64::total_cmp);
        debug_assert_eq!(above.len(), cut);
        sorted[..n - cut].select_nth_unstable_by(cut, f64::total_cmp);
    }
    let middle = &sorted[cut..n - cut];
    Ok(middle.iter().sum::<f64>() / middle.len() as f64)
}

/// By how much the midmean's variance exceeds that of a mean of as many normal values.
pub const MIDMEAN_VARIANCE: f64 = 1.2;
