//! The same question under several conditions and machine states: an answer that another contradicts depends on it.

use crate::contrast::estimate::{LEVEL, alone};
use crate::contrast::verdicts::hold_among_all;
use crate::{contrast::estimate::PairedCost, evidence::Evidence, evidence::flags::distrust};
use record::machine_state::{PLAIN, STATE};
use record::summary::{
    AnswerCondition, CellSummary, Contrast, GroupSummary, Recommendation, StateAnswer, StateEffect,
    StateRatio, Verdict,
};
use record::{experiment::Experiment, method::Role, state::State};
use std::collections::BTreeMap;

type Parameters = BTreeMap<String, String>;

/// Gives each group its conditions, and turns answers that one of them contradicts into [`Recommendation::Depends`].
pub(crate) fn compare(
    experiments: &[Experiment],
    cells: &[CellSummary],
    groups: &mut [GroupSummary],
) {
    for experiment in experiments
        .iter()
        .filter(|e| e.parameters.values().any(|p| p.condition))
    {
        let mut questions: BTreeMap<Parameters, Vec<usize>> = BTreeMap::new();
        for (at, group) in groups
            .iter()
            .enumerate()
            .filter(|(_, g)| g.experiment == experiment.name)
        {
            questions
                .entry(experiment.question(&group.parameters))
                .or_default()
                .push(at);
        }
        for question in questions
            .into_values()
            .filter(|question| question.len() > 1)
        {
            let flips: Vec<_> = question
                .iter()
                .map(|&at| depends(experiment, cells, groups, &question, at))
                .collect();
            for (&at, found) in question.iter().zip(flips) {
                if let Some((recommendation, conditions)) = found {
                    (groups[at].recommendation, groups[at].conditions) =
                        (recommendation, conditions);
                }
            }
        }
    }
}

/// The method of a group's answer under the other conditions of its question, and the answer that all of them allow.
fn depends(
    experiment: &Experiment,
    cells: &[CellSummary],
    groups: &[GroupSummary],
    question: &[usize],
    at: usize,
) -> Option<(Recommendation, Vec<AnswerCondition>)> {
    let mine = &groups[at];
    let others = || question.iter().copied().filter(move |&other| other != at);
    let recommended = |group: usize| match groups[group].recommendation {
        Recommendation::Use { cell, ratio } => Some((cell, ratio.high)),
        _ => None,
    };
    // The method of the answer, or the one that another condition recommends most clearly.
    let elsewhere = || {
        others()
            .filter_map(recommended)
            .min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let (cell, _) = recommended(at).or_else(elsewhere)?;
    let same = |group: usize| {
        let is_same = |other: &usize| {
            let [a, b] = [cell, *other].map(|c| &cells[c]);
            let [key, other_key] = [a, b].map(|c| experiment.question(&c.parameters));
            a.method == b.method && a.worker == b.worker && key == other_key
        };
        groups[group].cells.iter().copied().find(is_same)
    };
    let contrast = |group: usize, cell: usize| {
        groups[group]
            .comparison(cell, experiment.headline())
            .map_or(Contrast::alone(None, 0.0), |comparison| comparison.contrast)
    };
    let condition = |group: usize| {
        let cell = same(group)?;
        let theirs = groups[group].parameters.iter();
        let when = theirs.filter(|(key, value)| {
            experiment.is_condition(key) && mine.parameters.get(*key) != Some(*value)
        });
        Some(AnswerCondition {
            when: when.map(|(k, v)| (k.clone(), v.clone())).collect(),
            group,
            cell,
            contrast: contrast(group, cell),
        })
    };
    let conditions: Vec<AnswerCondition> = others().filter_map(condition).collect();
    let contradicts = |condition: &AnswerCondition| {
        let verdict = condition.contrast.overall();
        match mine.recommendation {
            Recommendation::Use { .. } => {
                matches!(verdict, Verdict::Slower { .. } | Verdict::Within { .. })
            }
            Recommendation::Keep { .. } => matches!(verdict, Verdict::Faster { .. }),
            _ => false,
        }
    };
    let recommendation = if conditions.iter().any(contradicts) {
        let cell = same(at)?;
        Recommendation::Depends {
            cell,
            ratio: contrast(at, cell).ratio,
        }
    } else {
        mine.recommendation
    };
    Some((recommendation, conditions))
}

// The same methods on the plain machine and in a state of it: ratios within a block, and the effect on the answer.

/// Gives each group of a state its comparison with the group of the plain machine.
pub(crate) fn compare_states(
    state: &State,
    evidence: &Evidence,
    groups: &mut [GroupSummary],
    widened: f64,
) {
    let plain = |group: &GroupSummary| {
        let mut parameters = group.parameters.clone();
        let name = parameters.insert(STATE.to_owned(), PLAIN.to_owned());
        let other = || {
            groups
                .iter()
                .position(|g| g.experiment == group.experiment && g.parameters == parameters)
        };
        name.filter(|name| name != PLAIN).and_then(|_| other())
    };
    let answer = |group: &GroupSummary| {
        let plain = plain(group)?;
        let ratios = ratios(state, evidence, group, &groups[plain], widened);
        let best = effect(state, &groups[plain], group, &ratios);
        Some(StateAnswer {
            plain,
            ratios,
            best,
        })
    };
    let answers: Vec<Option<StateAnswer>> = groups.iter().map(answer).collect();
    groups
        .iter_mut()
        .zip(answers)
        .for_each(|(group, answer)| group.state = answer);
    hold_among_all(
        groups
            .iter_mut()
            .filter_map(|group| group.state.as_mut())
            .flat_map(|answer| &mut answer.ratios)
            .map(|ratio| &mut ratio.contrast),
        state.plan.margin,
    );
}

fn ratios(
    state: &State,
    evidence: &Evidence,
    group: &GroupSummary,
    plain: &GroupSummary,
    widened: f64,
) -> Vec<StateRatio> {
    let Some(experiment) = state.plan.experiment(&group.experiment) else {
        return Vec::new();
    };
    let Some(measure) = experiment
        .measures()
        .position(|m| m == experiment.headline())
    else {
        return Vec::new();
    };
    let name = |cell: usize| {
        let planned = &state.cells[cell].cell;
        let mut parameters: BTreeMap<_, _> = planned.parameters.iter().collect();
        parameters.remove(&STATE.to_owned());
        (&planned.method, &planned.worker, parameters)
    };
    let ratio = |cell: usize| {
        let other = plain
            .cells
            .iter()
            .copied()
            .find(|&other| name(other) == name(cell))?;
        let [mine, theirs] = [cell, other].map(|cell| evidence.cells.get(&cell));
        let sound = |cell: &&_| distrust(cell).is_none();
        let pair = theirs.filter(sound).zip(mine.filter(sound));
        let estimate = pair.and_then(|(a, b)| alone(a, b, measure, PairedCost::Wall, LEVEL));
        let ratio = estimate.map(|estimate| estimate.widened(widened));
        Some(StateRatio {
            cell,
            plain: other,
            contrast: Contrast::alone(ratio, state.plan.margin),
        })
    };
    let is_method = |cell: &usize| state.cells[*cell].method.role != Role::Null;
    group
        .cells
        .iter()
        .copied()
        .filter(is_method)
        .filter_map(ratio)
        .collect()
}

/// The effect on the recommendation. It changes only where a verdict in the state contradicts that of the plain machine.
fn effect(
    state: &State,
    plain: &GroupSummary,
    group: &GroupSummary,
    ratios: &[StateRatio],
) -> StateEffect {
    let recommended = |group: &GroupSummary| match group.recommendation {
        Recommendation::Use { cell, .. } | Recommendation::Keep { cell } => Some(cell),
        _ => None,
    };
    let here = |cell: usize| {
        ratios
            .iter()
            .find(|ratio| ratio.plain == cell)
            .map(|ratio| ratio.cell)
    };
    let (Some(from), Some(to)) = (recommended(plain).and_then(here), recommended(group)) else {
        return StateEffect::Inconclusive;
    };
    if from == to {
        return StateEffect::Same { cell: to };
    }
    let headline = state
        .plan
        .experiment(&group.experiment)
        .map_or("", |experiment| experiment.headline());
    let verdict = |cell: usize| {
        group
            .comparison(cell, headline)
            .map(|comparison| comparison.contrast.overall())
    };
    let loses = matches!(
        verdict(from),
        Some(Verdict::Slower { .. } | Verdict::Within { .. })
    );
    let wins = Some(from) == group.baseline && matches!(verdict(to), Some(Verdict::Faster { .. }));
    if loses || wins {
        StateEffect::Changes { from, to }
    } else {
        StateEffect::Inconclusive
    }
}

#[cfg(test)]
mod tests {
    //! Answers under several conditions, from a recorded summary whose groups are put under conditions.

    use record::experiment::{Experiment, Parameter, ParameterKind};
    use record::summary::{Comparison, Ratio, Summary};

    use super::*;

    const VALUES: [&str; 3] = ["read", "mapping", "write"];

    fn recorded() -> Summary {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/runs/ordinary/summary.json"
        );
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn ratio(low: f64, high: f64) -> Ratio {
        Ratio {
            ratio: (low * high).sqrt(),
            low,
            high,
            level: 0.95,
            launches: 10,
            error: (high / low).ln() / 4.52,
            freedom: 9.0,
            drift: None,
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
                contrast: Contrast {
                    holds_among_all: holds,
                    ..Contrast::alone(Some(ratio(low, high)), 0.02)
                },
                cpu_ratio: None,
                faults_ratio: None,
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
            assert!(
                ratio.is_some_and(
                    |ratio| ratio == groups[group].comparisons[0].contrast.ratio.unwrap()
                )
            );
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
            groups[0].conditions[0].contrast.verdict,
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
                .map(|c| c.contrast.verdict)
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
        groups[1].comparisons[0].contrast.holds_among_all = false;
        compare(&[experiment], &cells, &mut groups);
        assert!(matches!(
            groups[0].recommendation,
            Recommendation::Use { .. }
        ));
        assert_eq!(
            groups[0].conditions[0].contrast.overall(),
            Verdict::NotSettled
        );
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
}
