use super::*;

#[test]
fn a_batch_makes_samples_short_against_a_tick_and_long_against_the_clock() {
    assert_eq!(batch_for(1000.0, 1000.0, 25.0), 100);
    assert_eq!(batch_for(1000.0, 4000.0, 25.0), 25);
    assert_eq!(
        batch_for(100.0, 50_000.0, 25.0),
        25,
        "the fastest is a hundred reads long"
    );
    assert_eq!(batch_for(5e6, 5e6, 25.0), 1);
}
