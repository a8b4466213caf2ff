use pagewise_stats::interval::Undefined;
use pagewise_stats::ratio::{Basis, Paired, log_ratios};

const BASELINE: [f64; 5] = [10.0, 11.0, 9.0, 30.0, 10.0];

fn launches(method: &[[f64; 5]]) -> Vec<Paired<'_>> {
    method.iter().map(|method| Paired { baseline: &BASELINE, method }).collect()
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
    assert_eq!(log_ratios(&launches(&method)), Err(Undefined::OneSideZero));
    let nothing = Paired { baseline: &[0.0; 5], method: &[0.0; 5] };
    assert_eq!(log_ratios(&[nothing; 6]), Err(Undefined::BothZero));
    method[2][1] = -1.0;
    assert_eq!(log_ratios(&launches(&method)), Err(Undefined::Negative));
    method[2][1] = f64::NAN;
    assert_eq!(log_ratios(&launches(&method)), Err(Undefined::NotFinite));
}

#[test]
fn exchanging_the_sides_inverts_the_ratio() {
    let method = [[8.0, 12.0, 9.5, 21.0, 11.0], [9.0; 5], [12.0; 5], [10.0; 5]];
    let forth = launches(&method);
    let back: Vec<_> = forth.iter().map(|l| Paired { baseline: l.method, method: l.baseline }).collect();
    let (forth, back) = (log_ratios(&forth).expect("positive").0, log_ratios(&back).expect("positive").0);
    assert!(forth.iter().zip(&back).all(|(a, b)| (a + b).abs() < 1e-12), "{forth:?} {back:?}");
}
