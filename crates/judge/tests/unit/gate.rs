use super::*;

fn count(passes: &[u64]) -> CountSummary {
    let mut count = CountSummary::default();
    passes.iter().for_each(|pass| count.add(*pass));
    count
}

#[test]
fn exact_counts_are_compared_exactly_and_others_by_the_tolerance_they_show() {
    for (before, now, expected) in [
        (&[5, 5, 5][..], &[5, 5, 5][..], GateWord::Passes),
        (&[5, 5, 5], &[6, 6, 6], GateWord::Regression),
        (&[5, 5, 5], &[4, 4, 4], GateWord::Passes),
        (&[100, 103], &[101, 106], GateWord::Passes),
        (&[100, 103], &[107, 109], GateWord::Regression),
        (&[100, 103], &[105, 109], GateWord::Undecided),
        (&[100, 100], &[100, 104], GateWord::Passes),
        (&[100, 100], &[103, 107], GateWord::Undecided),
    ] {
        assert_eq!(
            word(&count(before), &count(now)),
            expected,
            "{before:?} {now:?}"
        );
    }
}
