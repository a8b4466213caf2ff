use super::*;
use std::collections::BTreeMap;

#[test]
fn fractions_have_ten_digits_and_whole_numbers_all_of_theirs() {
    let rounded: (f64, Vec<f64>, u64, Option<f64>) = rounded((
        2.0 / 3.0,
        vec![1e300 / 7.0, -1.0 / 3e-20, 60.0],
        u64::MAX,
        None,
    ));
    let expected = (
        0.6666666667,
        vec![1.428571429e299, -3.333333333e19, 60.0],
        u64::MAX,
        None,
    );
    assert_eq!(rounded, expected);
}

#[test]
fn what_differs_in_the_last_digit_is_the_same_afterwards() {
    let sum = 0.1 + 0.2;
    assert_ne!(sum, 0.3);
    let all = BTreeMap::from([("a", sum)])
        .into_iter()
        .map(|(k, v)| (k.to_owned(), v))
        .collect();
    assert_eq!(rounded::<BTreeMap<String, f64>>(all)["a"], 0.3);
    assert_eq!(rounded(rounded(1.0 / 3.0)), rounded(1.0 / 3.0));
}

#[test]
fn figures_of_ten_digits_are_as_they_were() {
    for v in [
        0.0_f64,
        -0.0,
        0.5,
        -1.5,
        123_456_789.5,
        999_999_999.5,
        -999_999_999.5,
        5e-324,
    ] {
        let by_digits: f64 = format!("{v:.FURTHER_DIGITS$e}").parse().unwrap();
        assert_eq!(rounded(v).to_bits(), by_digits.to_bits(), "{v}");
    }
}

#[test]
fn an_infinite_figure_is_not_lost() {
    assert_eq!(
        rounded((f64::INFINITY, 0.1 + 0.2)),
        (f64::INFINITY, 0.1 + 0.2)
    );
}
