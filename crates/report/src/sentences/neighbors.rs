//! The conditions of a group and those next to it: what was measured there, what is open, and their clauses.

use super::labels::LabelledGroup;
use super::wording;
use record::experiment::{Experiment, is_same_value};
use record::outcome::Status;
use record::parameters::Parameters;
use record::sizes::BYTES;
use record::summary::{Recommendation, Sureness};
use std::collections::BTreeMap;

/// Tells whether a ranked method is faster under a group's own condition, or may be: otherwise the usual choice is kept.
pub(crate) fn is_change_possible(group: LabelledGroup) -> bool {
    let margin = group.summary().settings.margin;
    group.comparisons().any(|comparison| {
        let cell = group.cell(comparison.cell);
        let is_rival = cell.is_ranked() && cell.outcome.status == Status::Ok;
        is_rival && comparison.may_be_faster(margin)
    })
}

/// The group that differs from another in this value alone.
fn next_to<'a>(group: LabelledGroup<'a>, neighbor: (&str, &str)) -> Option<LabelledGroup<'a>> {
    let here = &group.group.parameters;
    let mut groups = group.experiment.groups();
    groups.find(|other| Experiment::are_next_to(&other.group.parameters, here, neighbor))
}

/// Usual conditions next to a group under which something was measured.
pub(super) fn measured_neighbors(group: LabelledGroup) -> Vec<Parameters> {
    let neighbors = group.definition().neighbors(&group.group.parameters);
    let measured = neighbors.into_iter().filter_map(|(key, value)| {
        let there = next_to(group, (key, value))?;
        let value = there.group.parameters[key].clone();
        Some(Parameters::from([(key.to_owned(), value)]))
    });
    measured.collect()
}

/// Tells whether no method is shown or thought to be faster under a condition of which a group's own methods leave something open:
/// there the usual choice is kept.
pub(super) fn is_kept(group: LabelledGroup, when: &Parameters) -> bool {
    let Some((key, value)) = when.iter().next().filter(|_| when.len() == 1) else {
        return false;
    };
    next_to(group, (key, value)).is_some_and(|there| {
        there.group.recommendation != Recommendation::Nothing && !is_change_possible(there)
    })
}

/// Usual conditions next to a group under which its answer is not shown to hold.
pub(super) fn open_conditions(group: LabelledGroup<'_>) -> impl Iterator<Item = &Parameters> {
    let group = group.group;
    let lists = [&group.unsettled, &group.unmeasured, &group.absent];
    lists.into_iter().flatten()
}

/// Clauses on the values of each condition of which the answer is shown to hold under several, its own one first, with the degree
/// to which each is sure.
pub(super) fn held(group: LabelledGroup<'_>) -> BTreeMap<&str, Vec<(Option<Sureness>, String)>> {
    let definition = group.definition();
    let here = &group.group.parameters;
    let open: Vec<&Parameters> = open_conditions(group).collect();
    let mut held: BTreeMap<&str, Vec<(Option<Sureness>, String)>> = BTreeMap::new();
    for (key, value) in definition.neighbors(here) {
        let mut differing = open.iter().filter_map(|when| when.get(key));
        if differing.any(|known| is_same_value(known, value)) {
            continue;
        }
        let Some(there) = next_to(group, (key, value)) else {
            continue;
        };
        held.entry(key)
            .or_insert_with(|| vec![(group.group.sureness, clause_on(group, key, &here[key]))])
            .push((there.group.sureness, clause_on(group, key, value)));
    }
    held
}

fn clause_on(group: LabelledGroup, key: &str, value: &str) -> String {
    let when = Parameters::from([(key.to_owned(), value.to_owned())]);
    group.definition().clause(&when)
}

/// The conditions of these names under which a group was measured, and its other parameters that a reader must know: those with
/// a clause, and those of which the experiment usually has several values and this run one.
pub(super) fn fixed(group: LabelledGroup, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let definition = group.definition();
    let mut clauses = Vec::new();
    for (key, value) in &group.group.parameters {
        let Some(parameter) = definition.parameters.get(key) else {
            continue;
        };
        let is_one_of_several = key != BYTES
            && !group.experiment.varies(key)
            && (parameter.default.len() > 1 || parameter.look.len() > 1);
        let is_shown = if parameter.condition {
            is_wanted(key)
        } else {
            is_one_of_several || definition.clause_on(key, value).is_some()
        };
        if is_shown {
            clauses.push(clause_on(group, key, value));
        }
    }
    (!clauses.is_empty()).then(|| format!("if {}", wording::all(&clauses)))
}

/// The condition of a group, by the parameters in which other conditions of its question differ.
pub(crate) fn own_condition(group: LabelledGroup) -> String {
    let definition = group.definition();
    let (conditions, elsewhere) = (&group.group.conditions, &group.group.elsewhere);
    let others = conditions.iter().chain(elsewhere);
    let differing = others.flat_map(|condition| condition.when.keys().map(String::as_str));
    let neighbors = definition.neighbors(&group.group.parameters);
    let mut when = BTreeMap::new();
    for key in differing.chain(neighbors.into_iter().map(|(key, _)| key)) {
        if let Some(value) = group.group.parameters.get(key) {
            when.insert(key.to_owned(), value.clone());
        }
    }
    definition.clause(&when)
}
