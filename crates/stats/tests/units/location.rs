use pagewise_stats::interval::Undefined;
use pagewise_stats::quantile::midmean;
use proptest::prelude::*;

#[test]
fn small_cases() {
    assert_eq!(midmean(&[]), Err(Undefined::TooFew { got: 0, needed: 1 }));
    assert_eq!(midmean(&[7.0]), Ok(7.0));
    assert_eq!(midmean(&[7.0, 8.0]), Ok(7.5));
    assert_eq!(
        midmean(&[7.0, 800.0, 8.0]),
        Ok(8.0),
        "one of three may be wrong"
    );
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
