use super::*;

/// The method that is named, of methods with a ratio, a cost and whether it is shown to be faster than the baseline.
fn named(rivals: &[(f64, usize, bool)]) -> Option<usize> {
    let verdict = |shown| {
        if shown {
            Verdict::Faster { at_least: 0.1 }
        } else {
            Verdict::NotSettled
        }
    };
    let ratio = |ratio| Estimate {
        ratio,
        low: ratio * 0.9,
        high: ratio * 1.1,
        level: 0.95,
        launches: 10,
        moved: None,
    };
    let rival = |(cell, &(r, calls, shown)): (usize, &(f64, usize, bool))| Rival {
        cell,
        ratio: ratio(r),
        verdict: verdict(shown),
        cost: (calls, 0),
    };
    let rivals: Vec<Rival> = rivals.iter().enumerate().map(rival).collect();
    simplest(&rivals).map(|rival| rival.cell)
}

#[test]
fn the_simplest_near_the_fastest_is_named_if_both_are_shown_to_be_faster() {
    assert_eq!(
        named(&[(0.50, 3, true), (0.52, 1, true), (0.80, 0, true)]),
        Some(1)
    );
    assert_eq!(
        named(&[(0.50, 3, true), (0.60, 1, true)]),
        None,
        "may be near: 0.54 is within 5 % of 0.55"
    );
    assert_eq!(named(&[(0.50, 3, true), (0.80, 1, true)]), Some(0));
    // Which of two simple ones it is must not depend on how exactly the one was measured.
    assert_eq!(named(&[(0.50, 3, true), (0.52, 1, false)]), None);
    assert_eq!(named(&[(0.40, 3, false), (0.50, 1, true)]), None);
    assert_eq!(named(&[]), None);
}
