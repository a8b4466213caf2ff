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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_cases() {
        assert_eq!(midmean(&[]), Err(Undefined::TooFew { got: 0, needed: 1 }));
        assert_eq!(midmean(&[7.0]), Ok(7.0));
        assert_eq!(midmean(&[7.0, 8.0]), Ok(7.5));
        assert_eq!(midmean(&[7.0, 800.0, 8.0]), Ok(8.0), "one of three may be wrong");
        assert_eq!(midmean(&[9.0, 1.0, 2.0, 3.0]), Ok(2.5));
        assert_eq!(midmean(&[9e9, 1.0, 2.0, 3.0, -9e9]), Ok(2.0));
        assert_eq!(midmean(&[1.0, f64::NAN]), Err(Undefined::NotFinite));
    }

    proptest! {
        #[test]
        fn selection_agrees_with_sorting(values in prop::collection::vec(-1e6..1e6, 4..60)) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let cut = sorted.len() / 4;
            let middle = &sorted[cut..sorted.len() - cut];
            let expected = middle.iter().sum::<f64>() / middle.len() as f64;
            prop_assert!((midmean(&values).expect("values") - expected).abs() <= 1e-6);
        }

        #[test]
        fn a_quarter_of_wrong_values_moves_it_no_further_than_the_right_ones_reach(
            right in prop::collection::vec(-1.0..1.0, 9..40), wrong in prop::collection::vec(-1e9..1e9, 1..3)
        ) {
            let mut all = right.clone();
            all.extend(&wrong);
            prop_assert!(midmean(&all).expect("values").abs() <= 1.0);
        }
    }
}
