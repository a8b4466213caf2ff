//! The same question under several conditions and machine states: an answer that another contradicts depends on it.

use crate::estimate::{LEVEL, alone, shown};
use crate::{estimate::PairedCost, evidence::Evidence, flags::distrust};
use record::machine_state::{PLAIN, STATE};
use record::summary::{
    AnswerCondition, CellSummary, GroupSummary, Recommendation, StateAnswer, StateEffect,
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
    let verdict = |group: usize, cell: usize| {
        let comparison = groups[group].comparison(cell, experiment.headline());
        (
            comparison.and_then(|c| c.ratio),
            comparison.map_or(Verdict::NotSettled, |c| c.overall()),
        )
    };
    let condition = |group: usize| {
        let cell = same(group)?;
        let (ratio, verdict) = verdict(group, cell);
        let theirs = groups[group].parameters.iter();
        let when = theirs.filter(|(key, value)| {
            experiment.is_condition(key) && mine.parameters.get(*key) != Some(*value)
        });
        Some(AnswerCondition {
            when: when.map(|(k, v)| (k.clone(), v.clone())).collect(),
            group,
            cell,
            ratio,
            verdict,
        })
    };
    let conditions: Vec<AnswerCondition> = others().filter_map(condition).collect();
    let contradicts = |c: &AnswerCondition| match mine.recommendation {
        Recommendation::Use { .. } => {
            matches!(c.verdict, Verdict::Slower { .. } | Verdict::Within { .. })
        }
        Recommendation::Keep { .. } => matches!(c.verdict, Verdict::Faster { .. }),
        _ => false,
    };
    let recommendation = if conditions.iter().any(contradicts) {
        let cell = same(at)?;
        Recommendation::Depends {
            cell,
            ratio: verdict(at, cell).0,
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
        let ratio = estimate.map(|estimate| shown(&estimate.widened(widened)));
        let verdict = ratio.map_or(Verdict::NotSettled, |r| {
            Verdict::from_interval(r.low, r.high, state.plan.margin)
        });
        Some(StateRatio {
            cell,
            plain: other,
            ratio,
            verdict,
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
            .map(|comparison| comparison.overall())
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
#[path = "../tests/unit/conditions.rs"]
mod tests;
