use super::*;

#[test]
fn three_minutes_make_more_than_a_hundred_comparisons() {
    let (runs, run_s) = share_out(180.0);
    assert!(runs * PAIRS >= 100);
    assert!(run_s * runs as f64 <= 180.0 * RUNS_SHARE + 1e-9);
    const { assert!(RUNS_SHARE + REAL_SHARE + NAIVE_SHARE <= 1.0) };
    assert_eq!(share_out(3.0).0, 2);
}

#[test]
fn both_kinds_of_work_and_all_effects_are_tried() {
    assert!(WORKS[..2].contains(&WorkKind::Pages) && WORKS[..2].contains(&WorkKind::Steps));
    assert!(PAIRS.is_multiple_of(EXTRAS.len()));
}
