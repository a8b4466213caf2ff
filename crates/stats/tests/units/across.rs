use pagewise_stats::across::{ratio, side};
use pagewise_stats::interval::Undefined;

#[test]
fn two_runs_are_too_few_and_three_are_not() {
    let [two, three, nine] =
        [2, 3, 9].map(|runs| side(&vec![vec![0.0, 0.01, -0.01, 0.02]; runs]).unwrap());
    assert_eq!(
        ratio(&two, &nine, 0.95).unwrap_err(),
        Undefined::TooFew { got: 2, needed: 3 }
    );
    assert!(ratio(&three, &three, 0.95).is_ok());
    assert!(side(&[]).is_err() && side(&[vec![]]).is_err() && side(&[vec![f64::NAN]]).is_err());
}

#[test]
fn runs_that_agree_by_chance_prove_nothing_finer_than_their_launches() {
    let alike = side(&vec![vec![-0.1, 0.1, -0.1, 0.1, -0.1, 0.1]; 3]).unwrap();
    assert_eq!(alike.between, Some(0.0));
    let same = ratio(&alike, &alike, 0.95).unwrap();
    assert!(same.low < 0.95 && same.high > 1.05, "{same:?}");
    let counts = side(&vec![vec![2.0; 4]; 3]).unwrap();
    let exact = ratio(&counts, &counts, 0.95).unwrap();
    assert!((exact.low - 1.0).abs() < 1e-6 && (exact.high - 1.0).abs() < 1e-6);
}
