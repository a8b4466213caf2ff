//! A recorded overview compared with itself, and against runs that say something else.

extern crate pagewise_judge as judge;

#[allow(dead_code, reason = "the bench prints what this only compares")]
#[path = "../../../benches/support/statements.rs"]
mod statements;

use record::summary::{Summary, Verdict};
use statements::{Statement, StatementKind, StatementOutcome, held_against};

fn look() -> Summary {
    let text = include_str!("../../report/tests/fixtures/look.json");
    serde_json::from_str(text).expect("as it was written")
}

fn count(all: &[Statement], kind: StatementKind, outcome: StatementOutcome) -> usize {
    all.iter()
        .filter(|s| s.kind == kind && s.outcome == outcome)
        .count()
}

/// Turns every ratio of a kind of cells into another, in the comparisons and in what the launches brought.
fn changed(mut summary: Summary, which: impl Fn(&Verdict) -> bool, factor: f64) -> Summary {
    for group in &mut summary.groups {
        for comparison in group
            .comparisons
            .iter_mut()
            .filter(|c| which(&c.contrast.verdict))
        {
            if let Some(ratio) = &mut comparison.contrast.ratio {
                (ratio.ratio, ratio.low, ratio.high) = (
                    ratio.ratio * factor,
                    ratio.low * factor,
                    ratio.high * factor,
                );
            }
        }
    }
    summary
}

#[test]
fn a_run_agrees_with_itself() {
    let all = held_against(&look(), &look());
    for kind in [StatementKind::Faster, StatementKind::Slower] {
        let of_kind = all.iter().filter(|s| s.kind == kind).count();
        assert!(
            of_kind > 0 && count(&all, kind, StatementOutcome::Confirmed) == of_kind,
            "{kind:?}: {all:#?}"
        );
    }
    assert!(
        all.iter()
            .all(|s| s.outcome != StatementOutcome::Contradicted),
        "{all:#?}"
    );
}

#[test]
fn nothing_that_was_not_settled_is_a_statement() {
    let mut unsettled = look();
    let said = held_against(&unsettled, &look())
        .iter()
        .filter(|s| s.kind != StatementKind::BestSet)
        .count();
    let mut silenced = 0;
    let names: Vec<String> = unsettled
        .groups
        .iter()
        .map(|group| {
            let experiment = unsettled.experiment(&group.experiment);
            experiment.expect("its experiment").headline.clone()
        })
        .collect();
    for (group, phase) in unsettled.groups.iter_mut().zip(names) {
        for comparison in group.comparisons.iter_mut().filter(|c| c.phase == phase) {
            let decided = comparison.contrast.verdict != Verdict::NotSettled
                && comparison.contrast.holds_among_all;
            silenced += usize::from(decided);
            comparison.contrast.holds_among_all &= !decided;
        }
    }
    assert!(said > 0 && silenced >= said);
    assert!(
        held_against(&unsettled, &look())
            .iter()
            .all(|s| s.kind == StatementKind::BestSet)
    );
}

fn faster(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Faster { .. })
}

#[test]
fn a_longer_run_that_says_otherwise_contradicts_the_word_or_the_amount() {
    let slower = changed(look(), faster, 100.0);
    let all = held_against(&look(), &slower);
    assert!(count(&all, StatementKind::Faster, StatementOutcome::Contradicted) > 0);
    assert_eq!(
        count(&all, StatementKind::Faster, StatementOutcome::Confirmed),
        0
    );
    assert_eq!(
        count(&all, StatementKind::Slower, StatementOutcome::Contradicted),
        0,
        "the others are as they were"
    );
    // Less than "at least so much", and faster all the same.
    let long = {
        let mut long = look();
        for group in &mut long.groups {
            for comparison in group
                .comparisons
                .iter_mut()
                .filter(|c| faster(&c.contrast.verdict))
            {
                let Some(ratio) = &mut comparison.contrast.ratio else {
                    continue;
                };
                let above = (ratio.high / (1.0 / 1.02)).sqrt();
                (ratio.low, ratio.high) = (ratio.high / above.sqrt(), ratio.high / above);
            }
        }
        long
    };
    let all = held_against(&look(), &long);
    let amounts = count(
        &all,
        StatementKind::Faster,
        StatementOutcome::AmountContradicted,
    );
    assert!(
        amounts > 0
            && amounts
                == all
                    .iter()
                    .filter(|s| s.kind == StatementKind::Faster)
                    .count(),
        "{all:#?}"
    );
}

/// A recorded run of two methods, one of which is beaten, with what its launches brought.
fn two() -> Summary {
    let text = include_str!("../../../tests/fixtures/runs/ordinary/summary.json");
    serde_json::from_str(text).expect("as it was written")
}

/// What a longer run says of the best sets of a shorter one.
fn sets(short: &Summary, long: &Summary) -> Vec<StatementOutcome> {
    held_against(short, long)
        .into_iter()
        .filter(|statement| statement.kind == StatementKind::BestSet)
        .map(|statement| statement.outcome)
        .collect()
}

#[test]
fn a_set_is_contradicted_by_whom_it_left_out() {
    let best = two().groups[0].best[0].clone();
    assert!(
        best.ranked == 2 && best.within.is_empty() && best.unsettled.is_empty(),
        "{best:?}"
    );
    assert_eq!(sets(&two(), &two()), [StatementOutcome::Confirmed]);
    // In the longer run the other one costs what the leader does.
    let mut long = two();
    let leader = long.cells[best.leader].per_launch.clone();
    let other = two().groups[0].baseline.expect("a baseline");
    assert_ne!(other, best.leader);
    long.cells[other].per_launch = leader;
    assert_eq!(sets(&two(), &long), [StatementOutcome::Contradicted]);
    // And here it was within the margin of the leader, which the longer run denies.
    let mut look = two();
    look.groups[0].best[0].within.push(other);
    assert_eq!(sets(&look, &two()), [StatementOutcome::Contradicted]);
}

#[test]
fn what_a_longer_run_did_not_measure_is_not_asked() {
    let mut long = look();
    long.groups.clear();
    long.cells.clear();
    let all = held_against(&look(), &long);
    assert!(
        all.len() > 5
            && all
                .iter()
                .all(|s| s.outcome == StatementOutcome::NotAsked && s.interval.is_none())
    );
}
