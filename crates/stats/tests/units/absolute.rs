use pagewise_stats::absolute::absolute;
use pagewise_stats::interval::Undefined;

fn launch(level: f64, rounds: usize) -> Vec<f64> {
    (0..rounds).rev().map(|i| level + i as f64).collect()
}

#[test]
fn quantiles_are_taken_launch_by_launch() {
    let mut launches: Vec<_> = (0..7).map(|i| launch(f64::from(1000 * i), 101)).collect();
    let figures = absolute(&mut launches, 0.95).expect("samples");
    assert_eq!((figures.samples, figures.launches), (707, 7));
    assert_eq!((figures.min, figures.max), (0.0, 6100.0));
    assert_eq!(figures.median.estimate, 3050.0);
    assert_eq!(figures.p99.expect("long launches").estimate, 3099.0);
    let interval = figures.median.interval.expect("seven launches");
    assert_eq!((interval.low, interval.high, interval.n), (50.0, 6050.0, 7));
}

#[test]
fn four_or_five_launches_have_limits_by_students_t() {
    let mut launches = [1.0, 2.0, 4.0, 8.0].map(|v| vec![v]);
    let interval = absolute(&mut launches, 0.95)
        .expect("samples")
        .median
        .interval
        .expect("four launches");
    // By powers of two 1.5 ± 3.1824 · 1.2910 / 2, by hand.
    let (low, high) = ((-0.5543_f64).exp2(), 3.5543_f64.exp2());
    assert!(
        (interval.low / low - 1.0).abs() < 1e-3 && (interval.high / high - 1.0).abs() < 1e-3,
        "{interval:?}"
    );
    assert_eq!((interval.estimate, interval.n), (3.0, 4));
    assert!(
        absolute(&mut [[0.0], [1.0], [1.0], [1.0]], 0.95)
            .expect("samples")
            .median
            .interval
            .is_none()
    );
    assert!(
        absolute(&mut [[1.0], [1.0], [1.0]], 0.95)
            .expect("samples")
            .median
            .interval
            .is_none()
    );
}

#[test]
fn what_the_count_does_not_allow_is_absent() {
    let mut launches = vec![launch(0.0, 9), launch(0.0, 200)];
    let figures = absolute(&mut launches, 0.95).expect("samples");
    assert_eq!(
        (figures.p90, figures.p99, figures.median.interval),
        (None, None, None)
    );
    assert_eq!(
        absolute(&mut [vec![1.0], vec![]], 0.95),
        Err(Undefined::TooFew { got: 0, needed: 1 })
    );
    assert_eq!(
        absolute(&mut [[0.0; 0]; 0], 0.95),
        Err(Undefined::TooFew { got: 0, needed: 1 })
    );
    assert_eq!(
        absolute(&mut [[1.0, f64::NAN]], 0.95),
        Err(Undefined::NotFinite)
    );
}
