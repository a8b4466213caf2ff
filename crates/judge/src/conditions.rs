//! The same question under several conditions: an answer that another condition contradicts depends on it.

use record::experiment::Experiment;
use record::summary::{AnswerCondition, CellSummary, GroupSummary, Recommendation, Verdict};
use std::collections::BTreeMap;

type Parameters = BTreeMap<String, String>;

/// Gives each group its conditions, and turns answers that one of them contradicts into [`Recommendation::Depends`].
pub(crate) fn compare(experiments: &[Experiment], cells: &[CellSummary], groups: &mut [GroupSummary]) {
    for experiment in experiments.iter().filter(|e| e.parameters.values().any(|p| p.condition)) {
        let mut questions: BTreeMap<Parameters, Vec<usize>> = BTreeMap::new();
        for (at, group) in groups.iter().enumerate().filter(|(_, g)| g.experiment == experiment.name) {
            questions.entry(plain(experiment, &group.parameters)).or_default().push(at);
        }
        for question in questions.into_values().filter(|question| question.len() > 1) {
            let flips: Vec<_> = question.iter().map(|&at| depends(experiment, cells, groups, &question, at)).collect();
            for (&at, found) in question.iter().zip(flips) {
                if let Some((recommendation, conditions)) = found {
                    (groups[at].recommendation, groups[at].conditions) = (recommendation, conditions);
                }
            }
        }
    }
}

fn plain(experiment: &Experiment, parameters: &Parameters) -> Parameters {
    parameters.iter().filter(|(key, _)| !experiment.is_condition(key)).map(|(k, v)| (k.clone(), v.clone())).collect()
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
    let elsewhere = || others().filter_map(recommended).min_by(|a, b| a.1.total_cmp(&b.1));
    let (cell, _) = recommended(at).or_else(elsewhere)?;
    let same = |group: usize| {
        let is_same = |other: &usize| {
            let [a, b] = [cell, *other].map(|c| &cells[c]);
            let [key, other_key] = [a, b].map(|c| plain(experiment, &c.parameters));
            a.method == b.method && a.worker == b.worker && key == other_key
        };
        groups[group].cells.iter().copied().find(is_same)
    };
    let verdict = |group: usize, cell: usize| {
        let comparison = groups[group].comparison(cell, experiment.headline());
        (comparison.and_then(|c| c.ratio), comparison.map_or(Verdict::NotSettled, |c| c.overall()))
    };
    let condition = |group: usize| {
        let cell = same(group)?;
        let (ratio, verdict) = verdict(group, cell);
        let theirs = groups[group].parameters.iter();
        let when = theirs.filter(|(key, value)| experiment.is_condition(key) && mine.parameters.get(*key) != Some(*value));
        Some(AnswerCondition { when: when.map(|(k, v)| (k.clone(), v.clone())).collect(), group, cell, ratio, verdict })
    };
    let conditions: Vec<AnswerCondition> = others().filter_map(condition).collect();
    let contradicts = |c: &AnswerCondition| match mine.recommendation {
        Recommendation::Use { .. } => matches!(c.verdict, Verdict::Slower { .. } | Verdict::Within { .. }),
        Recommendation::Keep { .. } => matches!(c.verdict, Verdict::Faster { .. }),
        _ => false,
    };
    let recommendation = if conditions.iter().any(contradicts) {
        let cell = same(at)?;
        Recommendation::Depends { cell, ratio: verdict(at, cell).0 }
    } else {
        mine.recommendation
    };
    Some((recommendation, conditions))
}

#[cfg(test)]
#[path = "../tests/unit/conditions.rs"]
mod tests;
