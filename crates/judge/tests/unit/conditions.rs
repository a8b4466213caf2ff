//! Answers under several conditions, from a recorded summary whose groups are put under conditions.

use record::experiment::{Experiment, Parameter, ParameterKind};
use record::summary::{Comparison, Estimate, Summary};

use super::*;

const VALUES: [&str; 3] = ["read", "mapping", "write"];

fn recorded() -> Summary {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/runs/ordinary/summary.json"
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn ratio(low: f64, high: f64) -> Estimate {
    Estimate {
        ratio: (low * high).sqrt(),
        low,
        high,
        level: 0.95,
        launches: 10,
        moved: None,
    }
}

/// One question under a condition for each interval: the first method other than the baseline has it.
fn question(
    intervals: &[(f64, f64)],
    holds: bool,
) -> (Experiment, Vec<CellSummary>, Vec<GroupSummary>) {
    let summary = recorded();
    let mut experiment = summary.experiments[0].definition.clone();
    let when = VALUES
        .map(|value| (value.to_owned(), format!("{value} cached it")))
        .into();
    let values = VALUES.map(str::to_owned).to_vec();
    let parameter = Parameter {
        kind: ParameterKind::Choice,
        meaning: String::new(),
        values: values.clone(),
        default: values,
        look: Vec::new(),
        check: Vec::new(),
        multiple_of: None,
        option: false,
        condition: true,
        when,
        concerns: None,
        system_changes: Vec::new(),
    };
    experiment.parameters.insert("cached".to_owned(), parameter);
    let group = summary
        .groups
        .iter()
        .find(|g| g.baseline.is_some())
        .unwrap();
    let (mut cells, mut groups) = (Vec::new(), Vec::new());
    for (&(low, high), value) in intervals.iter().zip(VALUES) {
        let (shift, mut mine) = (cells.len(), group.clone());
        let baseline = group.baseline.unwrap();
        let other = *group
            .cells
            .iter()
            .find(|&&c| c != baseline && summary.cells[c].is_ranked())
            .unwrap();
        cells.extend([baseline, other].map(|cell| {
            let mut cell = summary.cells[cell].clone();
            cell.parameters
                .insert("cached".to_owned(), value.to_owned());
            cell
        }));
        mine.parameters
            .insert("cached".to_owned(), value.to_owned());
        (mine.cells, mine.baseline) = (vec![shift, shift + 1], Some(shift));
        let verdict = Verdict::from_interval(low, high, 0.02);
        mine.comparisons = vec![Comparison {
            cell: shift + 1,
            phase: experiment.headline().to_owned(),
            ratio: Some(ratio(low, high)),
            cpu_ratio: None,
            faults_ratio: None,
            verdict,
            holds_among_all: holds,
            doubt: None,
        }];
        mine.recommendation = match verdict {
            Verdict::Faster { .. } if holds => Recommendation::Use {
                cell: shift + 1,
                ratio: ratio(low, high),
            },
            Verdict::NotSettled => Recommendation::Inconclusive { cell: shift },
            _ => Recommendation::Keep { cell: shift },
        };
        groups.push(mine);
    }
    (experiment, cells, groups)
}

fn judged(intervals: &[(f64, f64)], holds: bool) -> Vec<GroupSummary> {
    let (experiment, cells, mut groups) = question(intervals, holds);
    compare(&[experiment], &cells, &mut groups);
    groups
}

#[test]
fn an_answer_that_another_condition_contradicts_depends_on_it() {
    // mmap against read: faster where read(2) cached the file, slower where a mapping did.
    let groups = judged(&[(0.78, 0.84), (1.12, 1.16)], true);
    for (group, other) in [(0, 1), (1, 0)] {
        let Recommendation::Depends { cell, ratio } = groups[group].recommendation else {
            panic!("{group}")
        };
        assert_eq!(cell, 2 * group + 1);
        assert!(ratio.is_some_and(|ratio| ratio == groups[group].comparisons[0].ratio.unwrap()));
        let [condition] = &groups[group].conditions[..] else {
            panic!("{:?}", groups[group].conditions)
        };
        assert_eq!((condition.group, condition.cell), (other, 2 * other + 1));
        assert_eq!(condition.when["cached"], VALUES[other]);
    }
}

#[test]
fn keeping_depends_where_another_condition_recommends_a_change() {
    // eventfd takes .45 of unix-stream where both sides share a CPU, and more where they do not.
    let groups = judged(&[(1.3, 1.5), (0.43, 0.47)], true);
    assert!(matches!(
        groups[0].recommendation,
        Recommendation::Depends { cell: 1, .. }
    ));
    assert!(matches!(
        groups[0].conditions[0].verdict,
        Verdict::Faster { .. }
    ));
}

#[test]
fn no_gain_elsewhere_is_a_contradiction_and_an_open_interval_is_none() {
    let within = judged(&[(0.7, 0.8), (0.99, 1.01)], true);
    assert!(matches!(
        within[0].recommendation,
        Recommendation::Depends { .. }
    ));
    let open = judged(&[(0.7, 0.8), (0.7, 1.4), (0.6, 0.7)], true);
    assert!(matches!(
        open[0].recommendation,
        Recommendation::Use { cell: 1, .. }
    ));
    assert_eq!(
        open[0]
            .conditions
            .iter()
            .map(|c| c.verdict)
            .filter(|v| *v == Verdict::NotSettled)
            .count(),
        1
    );
    // The condition that is not settled itself knows what the others say, and says no more of itself.
    assert!(matches!(
        open[1].recommendation,
        Recommendation::Inconclusive { .. }
    ));
    assert_eq!(open[1].conditions.len(), 2);
}

#[test]
fn a_verdict_that_does_not_hold_among_all_contradicts_nothing() {
    let (experiment, cells, mut groups) = question(&[(0.7, 0.8), (1.2, 1.3)], true);
    groups[1].comparisons[0].holds_among_all = false;
    compare(&[experiment], &cells, &mut groups);
    assert!(matches!(
        groups[0].recommendation,
        Recommendation::Use { .. }
    ));
    assert_eq!(groups[0].conditions[0].verdict, Verdict::NotSettled);
}

#[test]
fn parameters_that_are_no_conditions_are_other_questions() {
    let (mut experiment, cells, mut groups) = question(&[(0.7, 0.8), (1.2, 1.3)], true);
    experiment.parameters.get_mut("cached").unwrap().condition = false;
    compare(&[experiment], &cells, &mut groups);
    assert!(matches!(
        groups[0].recommendation,
        Recommendation::Use { .. }
    ));
    assert!(groups.iter().all(|group| group.conditions.is_empty()));
}
