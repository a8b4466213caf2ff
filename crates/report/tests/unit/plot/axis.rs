use super::*;

fn estimate(low: f64, high: f64) -> Estimate {
    Estimate {
        ratio: (low * high).sqrt(),
        low,
        high,
        level: 0.95,
        launches: 10,
        moved: None,
    }
}

#[test]
fn an_axis_holds_all_intervals_and_the_baseline_between_whole_ticks() {
    let axis = Axis::over([estimate(0.3, 0.4), estimate(1.1, 1.7)].iter()).unwrap();
    assert_eq!((axis.low, axis.high), (0.25, 2.0));
    assert!(axis.ticks.contains(&1.0));
    assert!((axis.place(1.0) - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(Axis::over([].iter()), None);
}

#[test]
fn hopeless_ratios_do_not_squeeze_the_others() {
    let axis = Axis::over([estimate(1e-6, 1e-5), estimate(0.9, 1.1)].iter()).unwrap();
    assert!(axis.low >= 1.0 / 64.0 && axis.place(1e-6) < 0.0);
    assert_eq!(Axis::over([estimate(0.0, f64::INFINITY)].iter()), None);
}

#[test]
fn factors_run_to_sixteen_at_least() {
    assert_eq!(Axis::factors(3.0).ticks, [1.0, 2.0, 4.0, 8.0, 16.0]);
    let wide = Axis::factors(100.0);
    assert_eq!(
        (wide.high, wide.ticks.as_slice()),
        (128.0, [1.0, 4.0, 16.0, 64.0].as_slice())
    );
}
