//! The same methods on the plain machine and in a state of it: ratios of launches of the same block, and the effect on the
//! answer.

use crate::estimate::{LEVEL, alone, shown};
use crate::{evidence::Evidence, flags::distrust, pairs::PairedCost};
use record::machine_state::{PLAIN, STATE};
use record::summary::{GroupSummary, Recommendation, StateAnswer, StateEffect, StateRatio, Verdict};
use record::{method::Role, state::State};
use std::collections::BTreeMap;

/// Gives each group of a state its comparison with the group of the plain machine.
pub(crate) fn compare(state: &State, evidence: &Evidence, groups: &mut [GroupSummary], widened: f64) {
    let plain = |group: &GroupSummary| {
        let mut parameters = group.parameters.clone();
        let name = parameters.insert(STATE.to_owned(), PLAIN.to_owned());
        let other = || groups.iter().position(|g| g.experiment == group.experiment && g.parameters == parameters);
        name.filter(|name| name != PLAIN).and_then(|_| other())
    };
    let plains: Vec<Option<usize>> = groups.iter().map(plain).collect();
    let answers: Vec<Option<StateAnswer>> = plains
        .iter()
        .zip(groups.iter())
        .map(|(plain, group)| {
            let ratios = ratios(state, evidence, group, &groups[(*plain)?], widened);
            let best = effect(state, &groups[(*plain)?], group, &ratios);
            Some(StateAnswer { plain: (*plain)?, ratios, best })
        })
        .collect();
    groups.iter_mut().zip(answers).for_each(|(group, answer)| group.state = answer);
}

fn ratios(state: &State, evidence: &Evidence, group: &GroupSummary, plain: &GroupSummary, widened: f64) -> Vec<StateRatio> {
    let Some(experiment) = state.plan.experiment(&group.experiment) else { return Vec::new() };
    let Some(measure) = experiment.measures().position(|m| m == experiment.headline()) else { return Vec::new() };
    let name = |cell: usize| {
        let planned = &state.cells[cell].cell;
        let mut parameters: BTreeMap<_, _> = planned.parameters.iter().collect();
        parameters.remove(&STATE.to_owned());
        (&planned.method, &planned.worker, parameters)
    };
    let ratio = |cell: usize| {
        let other = plain.cells.iter().copied().find(|&other| name(other) == name(cell))?;
        let [mine, theirs] = [cell, other].map(|cell| evidence.cells.get(&cell));
        let sound = |cell: &&_| distrust(cell).is_none();
        let pair = theirs.filter(sound).zip(mine.filter(sound));
        let estimate = pair.and_then(|(a, b)| alone(a, b, measure, PairedCost::Wall, LEVEL));
        let ratio = estimate.map(|estimate| shown(&estimate.widened(widened)));
        let verdict = ratio.map_or(Verdict::NotSettled, |r| Verdict::from_interval(r.low, r.high, state.plan.margin));
        Some(StateRatio { cell, plain: other, ratio, verdict })
    };
    let is_method = |cell: &usize| state.cells[*cell].method.role != Role::Null;
    group.cells.iter().copied().filter(is_method).filter_map(ratio).collect()
}

/// The effect on the recommendation. It changes only where a verdict in the state contradicts that of the plain machine.
fn effect(state: &State, plain: &GroupSummary, group: &GroupSummary, ratios: &[StateRatio]) -> StateEffect {
    let recommended = |group: &GroupSummary| match group.recommendation {
        Recommendation::Use { cell, .. } | Recommendation::Keep { cell } => Some(cell),
        _ => None,
    };
    let here = |cell: usize| ratios.iter().find(|ratio| ratio.plain == cell).map(|ratio| ratio.cell);
    let (Some(from), Some(to)) = (recommended(plain).and_then(here), recommended(group)) else {
        return StateEffect::Inconclusive;
    };
    if from == to {
        return StateEffect::Same { cell: to };
    }
    let headline = state.plan.experiment(&group.experiment).map_or("", |experiment| experiment.headline());
    let verdict = |cell: usize| group.comparison(cell, headline).map(|comparison| comparison.overall());
    let loses = matches!(verdict(from), Some(Verdict::Slower { .. } | Verdict::Within { .. }));
    let wins = Some(from) == group.baseline && matches!(verdict(to), Some(Verdict::Faster { .. }));
    if loses || wins { StateEffect::Changes { from, to } } else { StateEffect::Inconclusive }
}
