//! Cells that are compared with each other.

use record::plan::{compatible, group_of};
use record::{experiment::Experiment, kind::OWN_WORKER, parameters::Parameters, state::State};
use std::collections::BTreeMap;

/// A group of an experiment: cells that differ in method and worker only.
pub(crate) struct Group<'a> {
    pub experiment: &'a Experiment,
    pub parameters: Parameters,
    pub cells: Vec<usize>,
    pub baseline: Option<usize>,
    pub twin: Option<usize>,
}

impl Group<'_> {
    /// Cells that are compared with one of the group, the hidden duplicate among them.
    pub fn compared_with(&self, base: usize) -> impl Iterator<Item = usize> {
        self.cells
            .iter()
            .copied()
            .chain(self.twin)
            .filter(move |cell| *cell != base)
    }

    /// Place of the headline among the measures of the experiment.
    pub fn headline_measure(&self) -> Option<usize> {
        let headline = self.experiment.headline();
        self.experiment.measures().position(|m| m == headline)
    }
}

pub(crate) fn groups<'a>(state: &'a State, only: Option<&str>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for experiment in state
        .plan
        .experiments
        .iter()
        .filter(|e| only.is_none_or(|name| e.name == name))
    {
        let name = state.plan.baselines.get(&experiment.name);
        for (parameters, cells) in compared(state, experiment) {
            let (twins, cells): (Vec<usize>, Vec<usize>) =
                cells.into_iter().partition(|&c| state.cells[c].twin);
            // A user's function may have the name of the built-in method that it is compared with.
            let baseline = cells
                .iter()
                .copied()
                .filter(|&c| Some(&state.cells[c].cell.method) == name)
                .min_by_key(|&c| state.cells[c].cell.worker == OWN_WORKER);
            let twin = baseline.and_then(|baseline| {
                let cell = &state.cells[baseline].cell;
                twins.into_iter().find(|&c| state.cells[c].cell == *cell)
            });
            groups.push(Group {
                experiment,
                parameters,
                cells,
                baseline,
                twin,
            });
        }
    }
    groups
}

/// The cells of an experiment that are compared, in the order of the plan, with the parameters that they have in common. A cell
/// whose method lacks a parameter belongs to every group that has more of them and none that differs.
fn compared(state: &State, experiment: &Experiment) -> Vec<(Parameters, Vec<usize>)> {
    let mut alike: BTreeMap<Parameters, Vec<usize>> = BTreeMap::new();
    for (index, planned) in state
        .cells
        .iter()
        .enumerate()
        .filter(|(_, c)| c.cell.experiment == experiment.name)
    {
        alike
            .entry(group_of(experiment, &planned.cell))
            .or_default()
            .push(index);
    }
    families(&alike)
}

/// The groups, each with the cells of those that contradict it nowhere.
fn families(alike: &BTreeMap<Parameters, Vec<usize>>) -> Vec<(Parameters, Vec<usize>)> {
    let mut by_keys: BTreeMap<Vec<&String>, Vec<&Parameters>> = BTreeMap::new();
    for parameters in alike.keys() {
        by_keys
            .entry(parameters.keys().collect())
            .or_default()
            .push(parameters);
    }
    let mut families = Vec::new();
    for (parameters, indices) in alike {
        let near = near(parameters, &by_keys);
        // Its cells belong to each of the groups that contradict each other, and bring none of them together.
        let is_shared = is_divided(&near)
            && near
                .iter()
                .any(|other| !is_divided(&self::near(other, &by_keys)));
        if is_shared || near.iter().any(|other| other.len() > parameters.len()) {
            continue;
        }
        let mut cells: Vec<usize> = indices
            .iter()
            .chain(near.iter().flat_map(|other| &alike[*other]))
            .copied()
            .collect();
        cells.sort_unstable();
        families.push((parameters.clone(), cells));
    }
    families
}

/// Parameters that contradict these nowhere. Those with the same keys differ in a value: they are never compared.
fn near<'a>(
    parameters: &Parameters,
    by_keys: &BTreeMap<Vec<&String>, Vec<&'a Parameters>>,
) -> Vec<&'a Parameters> {
    let keys: Vec<&String> = parameters.keys().collect();
    by_keys
        .iter()
        .filter(|(other_keys, _)| **other_keys != keys)
        .flat_map(|(_, parameters)| parameters)
        .filter(|other| compatible(parameters, other))
        .copied()
        .collect()
}

fn is_divided(near: &[&Parameters]) -> bool {
    near.iter().any(|a| near.iter().any(|b| !compatible(a, b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(text: &str) -> Parameters {
        text.split(' ')
            .filter_map(|word| word.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    fn grouped(cells: &[&str]) -> Vec<(Parameters, Vec<usize>)> {
        let mut alike: BTreeMap<Parameters, Vec<usize>> = BTreeMap::new();
        cells
            .iter()
            .enumerate()
            .for_each(|(index, text)| alike.entry(parameters(text)).or_default().push(index));
        families(&alike)
    }

    #[test]
    fn a_cell_without_a_parameter_belongs_to_every_value_of_it() {
        let groups = grouped(&[
            "bytes=1 threads=1",
            "bytes=1 threads=2",
            "bytes=1",
            "bytes=2 threads=1",
        ]);
        let expected = [
            ("bytes=1 threads=1", vec![0, 2]),
            ("bytes=1 threads=2", vec![1, 2]),
            ("bytes=2 threads=1", vec![3]),
        ];
        assert_eq!(
            groups,
            expected.map(|(text, cells)| (parameters(text), cells))
        );
    }

    #[test]
    fn a_cell_with_a_parameter_of_its_own_brings_no_values_together_that_contradict_each_other() {
        // As fork has it: `cow` lacks the child's program, and writes to every page.
        let groups = grouped(&[
            "bytes=1 program=tiny",
            "bytes=1 program=large",
            "bytes=1 every=page",
        ]);
        let expected = [
            ("bytes=1 program=large", vec![1, 2]),
            ("bytes=1 program=tiny", vec![0, 2]),
        ];
        assert_eq!(
            groups,
            expected.map(|(text, cells)| (parameters(text), cells))
        );
        // Nothing is left without a group where each side is divided.
        let grouped: std::collections::BTreeSet<usize> =
            grouped(&["a=1 b=1", "a=2 b=1", "b=1 c=1", "b=1 c=2"])
                .into_iter()
                .flat_map(|(_, cells)| cells)
                .collect();
        assert_eq!(grouped.len(), 4);
    }
}
