use pagewise_stats::interval::Undefined;
use pagewise_stats::quantile::{order_interval, ranks};

#[test]
fn six_values_are_the_fewest_for_a_median() {
    assert_eq!(
        ranks(5, 0.5, 0.95),
        Err(Undefined::TooFew { got: 5, needed: 6 })
    );
    let six = ranks(6, 0.5, 0.95).expect("six will do");
    assert_eq!((six.low, six.high), (1, 6));
    assert!((six.coverage - (1.0 - 2.0 / 64.0)).abs() < 1e-15);
}

#[test]
fn the_count_named_as_needed_is_the_smallest_that_works() {
    for p in [0.01, 0.1, 0.5, 0.9, 0.99, 0.999] {
        let Err(Undefined::TooFew { needed, .. }) = ranks(1, p, 0.95) else {
            panic!("one value cannot do");
        };
        assert!(ranks(needed, p, 0.95).is_ok(), "{p}");
        assert!(ranks(needed - 1, p, 0.95).is_err(), "{p}");
    }
}

#[test]
fn a_million_values_give_a_narrow_interval() {
    let ranks = ranks(1_000_000, 0.99, 0.95).expect("enough");
    let wanted = 1.96 * (1e6_f64 * 0.99 * 0.01).sqrt();
    assert!(
        (ranks.high as f64 - 990_000.0 - wanted).abs() < 3.0,
        "{ranks:?}"
    );
    assert!(
        (990_000.0 - ranks.low as f64 - wanted).abs() < 3.0,
        "{ranks:?}"
    );
    assert!(ranks.coverage >= 0.95 && ranks.coverage < 0.9512);
}

#[test]
fn nonsense_is_refused() {
    assert_eq!(ranks(10, 1.0, 0.95), Err(Undefined::NotAProbability(1.0)));
    assert_eq!(ranks(10, 0.5, 1.0), Err(Undefined::NotAProbability(1.0)));
    assert_eq!(
        order_interval(&mut [f64::NAN; 8], 0.5, 0.95),
        Err(Undefined::NotFinite)
    );
}
