mod axis;

use super::*;

#[test]
fn times_get_round_ticks_between_their_ends() {
    let words = |values: &[f64]| -> Vec<String> {
        Scale::times(values.iter().copied())
            .unwrap()
            .ticks
            .into_iter()
            .map(|(_, words)| words)
            .collect()
    };
    assert_eq!(
        words(&[1.0e6, 1.3e6]),
        ["1.00 ms", "1.10 ms", "1.20 ms", "1.30 ms"]
    );
    assert_eq!(
        words(&[900.0, 12_000.0]),
        ["1.00 µs", "2.00 µs", "5.00 µs", "10.0 µs"]
    );
    assert_eq!(
        words(&[900.0, 2e6]),
        ["1.00 µs", "10.0 µs", "100 µs", "1.00 ms"]
    );
    assert_eq!(
        Scale::times([0.0, f64::NAN, f64::INFINITY].into_iter()),
        None
    );
}

#[test]
fn lengths_begin_at_zero() {
    let scale = Scale::lengths([300.0, 900.0].into_iter()).unwrap();
    assert_eq!((scale.low, scale.place(450.0)), (0.0, 0.5));
    assert_eq!(
        scale.ticks.iter().map(|(t, _)| *t).collect::<Vec<_>>(),
        [0.0, 500.0]
    );
}

#[test]
fn hopelessly_small_values_do_not_squeeze_the_others() {
    let scale = Scale::times([1e-300, 1e3, 2e3].into_iter()).unwrap();
    assert!(scale.place(1e-300) < 0.0 && scale.place(2e3) > 0.9);
    assert_eq!(
        Scale::values(&[4096, 1 << 20], true).unwrap().ticks[1].1,
        "1 MiB"
    );
}
