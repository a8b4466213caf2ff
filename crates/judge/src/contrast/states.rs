//! The same methods on the plain machine and in a state of it: ratios within a block, and the effect on the answer.

use crate::contrast::estimate::{LEVEL, alone};
use crate::contrast::verdicts::{hold_among_all, trusted};
use crate::evidence::Evidence;
use crate::evidence::pairs::Metric;
use record::machine_state::{PLAIN, STATE};
use record::summary::{
    Contrast, GroupSummary, Recommendation, StateAnswer, StateEffect, StateRatio, Verdict,
};
use record::{method::Role, parameters::Parameters, state::State};

/// Gives each group of a state its comparison with the group of the plain machine.
pub(crate) fn compare(
    state: &State,
    evidence: &Evidence,
    groups: &mut [GroupSummary],
    widened: f64,
) {
    let answers: Vec<Option<StateAnswer>> = groups
        .iter()
        .map(|group| {
            let plain = on_the_plain_machine(group, groups)?;
            let ratios = ratios(state, evidence, group, &groups[plain], widened);
            let best = effect(state, &groups[plain], group, &ratios);
            Some(StateAnswer {
                plain,
                ratios,
                best,
            })
        })
        .collect();
    for (group, answer) in groups.iter_mut().zip(answers) {
        group.state = answer;
    }
    hold_among_all(
        groups
            .iter_mut()
            .filter_map(|group| group.state.as_mut())
            .flat_map(|answer| &mut answer.ratios)
            .map(|ratio| &mut ratio.contrast),
        state.plan.margin,
    );
}

/// The group that differs from a group of a state in nothing but that state.
fn on_the_plain_machine(group: &GroupSummary, groups: &[GroupSummary]) -> Option<usize> {
    let mut parameters = group.parameters.clone();
    if parameters.insert(STATE.to_owned(), PLAIN.to_owned())? == PLAIN {
        return None;
    }
    groups
        .iter()
        .position(|other| other.experiment == group.experiment && other.parameters == parameters)
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
    let mut ratios = Vec::new();
    for &cell in &group.cells {
        if state.cells[cell].method.role == Role::Null {
            continue;
        }
        let Some(&plain_cell) = plain
            .cells
            .iter()
            .find(|&&other| is_same_but_for_state(state, cell, other))
        else {
            continue;
        };
        let ratio = trusted(evidence, plain_cell)
            .zip(trusted(evidence, cell))
            .and_then(|_| alone(evidence, plain_cell, cell, Metric::wall(measure), LEVEL))
            .map(|ratio| ratio.widened(widened));
        ratios.push(StateRatio {
            cell,
            plain: plain_cell,
            contrast: Contrast::alone(ratio, state.plan.margin),
        });
    }
    ratios
}

fn is_same_but_for_state(state: &State, a: usize, b: usize) -> bool {
    let (a, b) = (&state.cells[a].cell, &state.cells[b].cell);
    a.method == b.method
        && a.worker == b.worker
        && stateless(&a.parameters).eq(stateless(&b.parameters))
}

fn stateless(parameters: &Parameters) -> impl Iterator<Item = (&String, &String)> {
    parameters.iter().filter(|(key, _)| *key != STATE)
}

/// The effect on the recommendation. It changes only where a verdict in the state contradicts that of the plain machine.
fn effect(
    state: &State,
    plain: &GroupSummary,
    group: &GroupSummary,
    ratios: &[StateRatio],
) -> StateEffect {
    let from = named(plain)
        .and_then(|cell| ratios.iter().find(|ratio| ratio.plain == cell))
        .map(|ratio| ratio.cell);
    let (Some(from), Some(to)) = (from, named(group)) else {
        return StateEffect::Inconclusive;
    };
    if from == to {
        return StateEffect::Same { cell: to };
    }
    let headline = state
        .plan
        .experiment(&group.experiment)
        .map_or("", |experiment| experiment.headline());
    let [verdict_of_from, verdict_of_to] = [from, to].map(|cell| {
        group
            .comparison(cell, headline)
            .map(|comparison| comparison.contrast.overall())
    });
    let loses = matches!(
        verdict_of_from,
        Some(Verdict::Slower { .. } | Verdict::Within { .. })
    );
    let wins =
        Some(from) == group.baseline && matches!(verdict_of_to, Some(Verdict::Faster { .. }));
    if loses || wins {
        StateEffect::Changes { from, to }
    } else {
        StateEffect::Inconclusive
    }
}

/// The cell that a group's answer names.
fn named(group: &GroupSummary) -> Option<usize> {
    match group.recommendation {
        Recommendation::Use { cell, .. } | Recommendation::Keep { cell } => Some(cell),
        _ => None,
    }
}
