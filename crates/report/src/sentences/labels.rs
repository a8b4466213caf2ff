//! A run, its experiments and its groups with the words for their cells. What does not vary is said once and left out of the
//! names.

use super::numbers::{Work, spaced};
use record::cell::display_value;
use record::experiment::{Experiment, ParameterKind};
use record::parameters::Parameters;
use record::sizes::BYTES;
use record::summary::{
    CellSummary, Comparison, ExperimentSummary, GroupSummary, PhaseSummary, Role, Summary,
};
use std::collections::{BTreeMap, BTreeSet};

/// A run with the varying parameters of each experiment.
pub(crate) struct LabelledRun<'a> {
    pub summary: &'a Summary,
    values: BTreeMap<&'a str, BTreeMap<&'a str, BTreeSet<&'a str>>>,
    workers: BTreeMap<&'a str, BTreeSet<String>>,
}

/// An experiment of a run with the words for its cells.
#[derive(Clone, Copy)]
pub(crate) struct LabelledExperiment<'a> {
    pub run: &'a LabelledRun<'a>,
    pub experiment: &'a ExperimentSummary,
}

/// A group of a run with the words for its cells.
#[derive(Clone, Copy)]
pub(crate) struct LabelledGroup<'a> {
    pub experiment: LabelledExperiment<'a>,
    pub group: &'a GroupSummary,
}

impl<'a> LabelledRun<'a> {
    /// Looks at all cells that are shown.
    pub(crate) fn new(summary: &'a Summary) -> LabelledRun<'a> {
        let mut run = LabelledRun {
            summary,
            values: BTreeMap::new(),
            workers: BTreeMap::new(),
        };
        for cell in summary.cells.iter().filter(|c| !c.hidden) {
            let values = run.values.entry(&cell.experiment).or_default();
            for (key, value) in &cell.parameters {
                values.entry(key).or_default().insert(value);
            }
            run.workers
                .entry(&cell.experiment)
                .or_default()
                .insert(worker(&cell.worker));
        }
        run
    }

    pub(crate) fn experiments(&'a self) -> impl Iterator<Item = LabelledExperiment<'a>> {
        self.summary
            .experiments
            .iter()
            .map(|experiment| LabelledExperiment {
                run: self,
                experiment,
            })
    }

    /// Tells whether a parameter has several values within an experiment.
    pub(crate) fn varies(&self, experiment: &str, key: &str) -> bool {
        self.values
            .get(experiment)
            .and_then(|v| v.get(key))
            .is_some_and(|values| values.len() > 1)
    }

    /// A cell among all cells of the run: `fault/thp`.
    pub(crate) fn name(&self, cell: usize) -> String {
        let cell = &self.summary.cells[cell];
        let experiment = self.experiments().find(|e| e.name() == cell.experiment);
        let name = experiment.map_or_else(|| cell.method.clone(), |e| e.label(cell));
        format!("{}/{name}", cell.experiment)
    }
}

impl<'a> LabelledExperiment<'a> {
    pub(crate) fn summary(self) -> &'a Summary {
        self.run.summary
    }

    pub(crate) fn definition(self) -> &'a Experiment {
        &self.experiment.definition
    }

    pub(crate) fn name(self) -> &'a str {
        &self.experiment.definition.name
    }

    /// The phase or total that is compared first.
    pub(crate) fn headline(self) -> &'a str {
        &self.experiment.headline
    }

    pub(crate) fn work(self) -> Work<'a> {
        Work::new(&self.experiment.definition)
    }

    /// Its cells with their indices, without the hidden ones.
    pub(crate) fn cells(self) -> impl Iterator<Item = (usize, &'a CellSummary)> {
        self.summary()
            .cells
            .iter()
            .enumerate()
            .filter(move |(_, cell)| cell.experiment == self.name() && !cell.hidden)
    }

    /// Its groups as the summary has them.
    pub(crate) fn groups(self) -> impl Iterator<Item = LabelledGroup<'a>> {
        self.summary()
            .groups_of(self.name())
            .map(move |group| LabelledGroup {
                experiment: self,
                group,
            })
    }

    /// Its groups, smaller sizes first.
    pub(crate) fn groups_in_order(self) -> Vec<LabelledGroup<'a>> {
        let mut groups: Vec<LabelledGroup> = self.groups().collect();
        groups.sort_by_cached_key(|group| {
            let parameters = &group.group.parameters;
            parameters
                .iter()
                .map(|(key, text)| (key, parameters.number(key).unwrap_or(u64::MAX), text))
                .collect::<Vec<_>>()
        });
        groups
    }

    pub(crate) fn varies(self, key: &str) -> bool {
        self.run.varies(self.name(), key)
    }

    /// Parameters as they are set on the command line.
    pub(crate) fn settings(self, parameters: &BTreeMap<String, String>) -> String {
        let settings = parameters
            .iter()
            .map(|(key, value)| format!("{key}={}", shown(self.definition(), key, value)));
        settings.collect::<Vec<_>>().join(" ")
    }

    /// Constant parameters: its worker where there is one only, and parameters.
    pub(crate) fn constant(self) -> Vec<String> {
        let mut fixed = Vec::new();
        if let Some(workers) = self.run.workers.get(self.name()).filter(|w| w.len() == 1) {
            fixed.extend(workers.iter().map(|w| format!("@{w}")));
        }
        for (key, values) in self.run.values.get(self.name()).into_iter().flatten() {
            if let (1, Some(value)) = (values.len(), values.first()) {
                fixed.push(format!("{key}={}", shown(self.definition(), key, value)));
            }
        }
        fixed
    }

    /// A cell within its group: the method, its worker where several take part, and options that vary.
    pub(crate) fn label(self, cell: &CellSummary) -> String {
        let mut label = cell.method.clone();
        if self
            .run
            .workers
            .get(self.name())
            .is_some_and(|workers| workers.len() > 1)
        {
            label += &format!("@{}", worker(&cell.worker));
        }
        for (key, value) in &cell.parameters {
            if !self.definition().groups_by(key) && self.varies(key) {
                label += &format!(" {key}={}", shown(self.definition(), key, value));
            }
        }
        label
    }
}

impl<'a> LabelledGroup<'a> {
    pub(crate) fn summary(self) -> &'a Summary {
        self.experiment.summary()
    }

    pub(crate) fn definition(self) -> &'a Experiment {
        self.experiment.definition()
    }

    /// The unit of work of its figures.
    pub(crate) fn work(self) -> Work<'a> {
        let cells = self.group.cells.iter().map(|&index| self.cell(index));
        let cells = cells.filter(|cell| !cell.hidden && cell.role != Role::Null);
        self.experiment
            .work()
            .for_figures(cells.filter_map(move |cell| cell.phases.get(self.experiment.headline())))
    }

    /// Its parameters without the conditions of the program.
    pub(crate) fn question(self) -> Parameters {
        self.definition().question(&self.group.parameters)
    }

    pub(crate) fn cell(self, index: usize) -> &'a CellSummary {
        &self.summary().cells[index]
    }

    /// A cell's words within the group.
    pub(crate) fn name(self, index: usize) -> String {
        self.experiment.label(self.cell(index))
    }

    pub(crate) fn names(self, cells: &[usize]) -> String {
        cells
            .iter()
            .map(|&cell| self.name(cell))
            .collect::<Vec<_>>()
            .join(", ")
    }

    pub(crate) fn baseline_name(self) -> Option<String> {
        self.group.baseline.map(|cell| self.name(cell))
    }

    /// A cell's figures of the phase that is compared first.
    pub(crate) fn headline_phase(self, index: usize) -> Option<&'a PhaseSummary> {
        self.cell(index).phases.get(self.experiment.headline())
    }

    /// A cell against the baseline, in the phase that is compared first.
    pub(crate) fn comparison(self, index: usize) -> Option<&'a Comparison> {
        self.group.comparison(index, self.experiment.headline())
    }

    /// Comparisons in the phase that is compared first.
    pub(crate) fn comparisons(self) -> impl Iterator<Item = &'a Comparison> {
        self.group
            .comparisons
            .iter()
            .filter(move |c| c.phase == self.experiment.headline())
    }

    /// The parameters by which it differs from the experiment's other groups, as they are set on the command line.
    pub(crate) fn setting(self) -> String {
        let mut varying = self.group.parameters.clone();
        varying.retain(|key, _| self.experiment.varies(key));
        self.experiment.settings(&varying)
    }

    /// The setting in few words: `4 MiB`, `64 B, spin`. Counts keep their names; the size is always said.
    pub(crate) fn setting_briefly(self) -> String {
        let parameters = &self.group.parameters;
        let size = parameters.get(BYTES).map(|bytes| {
            let text = shown(self.definition(), BYTES, bytes);
            spaced(if text.ends_with(|c: char| c.is_ascii_digit()) {
                bytes
            } else {
                &text
            })
        });
        let further = parameters
            .iter()
            .filter(|(key, _)| *key != BYTES && self.experiment.varies(key))
            // The usual condition goes without saying.
            .filter(|(key, _)| {
                !self.definition().is_condition(key) || !self.definition().is_usual(key, parameters)
            })
            .map(|(key, value)| brief_value(self.definition(), key, value));
        size.into_iter()
            .chain(further)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The worker's name: two sides of one kind are written once.
pub(crate) fn worker(name: &str) -> String {
    let mut sides = name.split('+');
    let first = sides.next().unwrap_or_default();
    if sides.all(|s| s == first) {
        first.to_owned()
    } else {
        name.to_owned()
    }
}

fn shown(experiment: &Experiment, key: &str, value: &str) -> String {
    let is_size = experiment
        .parameters
        .get(key)
        .is_some_and(|p| p.kind == ParameterKind::Size);
    display_value(value, is_size)
}

fn brief_value(experiment: &Experiment, key: &str, value: &str) -> String {
    match experiment.parameters.get(key).map(|p| p.kind) {
        Some(ParameterKind::Choice | ParameterKind::Text) => value.to_owned(),
        _ => format!("{key} {}", shown(experiment, key, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sides_of_one_kind_are_written_once() {
        assert_eq!(worker("c-O3+c-O3"), "c-O3");
        assert_eq!(worker("c-O3+java-17"), "c-O3+java-17");
        assert_eq!(worker("go"), "go");
    }
}
