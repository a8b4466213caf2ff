//! Cells that are compared with each other.

use std::collections::{BTreeMap, BTreeSet};

use record::experiment::Experiment;
use record::plan::{compatible, group_of};
use record::state::State;

/// A group of an experiment: cells that differ in method and worker only.
pub(crate) struct Group<'a> {
    pub experiment: &'a Experiment,
    pub parameters: BTreeMap<String, String>,
    pub cells: Vec<usize>,
    pub baseline: Option<usize>,
    pub twin: Option<usize>,
}

pub(crate) fn groups<'a>(state: &'a State, only: Option<&str>) -> Vec<Group<'a>> {
    let mut found: Vec<Group> = Vec::new();
    for experiment in state.plan.experiments.iter().filter(|e| only.is_none_or(|name| e.name == name)) {
        let mine: Vec<usize> =
            (0..state.cells.len()).filter(|&c| state.cells[c].cell.experiment == experiment.name).collect();
        let all: BTreeSet<_> = mine.iter().map(|&c| group_of(experiment, &state.cells[c].cell)).collect();
        let most = |g: &&BTreeMap<String, String>| !all.iter().any(|h| h.len() > g.len() && compatible(g, h));
        for parameters in all.iter().filter(most) {
            let inside = |c: &&usize| compatible(parameters, &group_of(experiment, &state.cells[**c].cell));
            let cells: Vec<usize> = mine.iter().filter(inside).copied().collect();
            let name = state.plan.baselines.get(&experiment.name);
            let is_baseline = |c: &&usize| Some(&state.cells[**c].cell.method) == name;
            let baseline = cells.iter().filter(is_baseline).find(|&&c| !state.cells[c].twin).copied();
            let same = |c: &usize| baseline.is_some_and(|b| state.cells[b].cell == state.cells[*c].cell);
            let twin = cells.iter().copied().find(|c| state.cells[*c].twin && same(c));
            let cells = cells.into_iter().filter(|&c| !state.cells[c].twin).collect();
            found.push(Group { experiment, parameters: parameters.clone(), cells, baseline, twin });
        }
    }
    found
}
