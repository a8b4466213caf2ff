//! Labels of cells and groups: what does not vary is said once and left out of the names.

use crate::sentences::numbers::spaced;
use record::cell::display_value;
use record::experiment::{Experiment, ParameterKind};
use record::summary::{CellSummary, GroupSummary, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// Varying parameters of each experiment.
pub(crate) struct Labels<'a> {
    values: BTreeMap<&'a str, BTreeMap<&'a str, BTreeSet<&'a str>>>,
    workers: BTreeMap<&'a str, BTreeSet<String>>,
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

impl<'a> Labels<'a> {
    /// Looks at all cells that are shown.
    pub(crate) fn new(summary: &'a Summary) -> Labels<'a> {
        let mut labels = Labels {
            values: BTreeMap::new(),
            workers: BTreeMap::new(),
        };
        for cell in summary.cells.iter().filter(|c| !c.hidden) {
            let values = labels.values.entry(&cell.experiment).or_default();
            for (key, value) in &cell.parameters {
                values.entry(key).or_default().insert(value);
            }
            labels
                .workers
                .entry(&cell.experiment)
                .or_default()
                .insert(worker(&cell.worker));
        }
        labels
    }

    /// Tells whether a parameter has several values within an experiment.
    pub(crate) fn varies(&self, experiment: &str, key: &str) -> bool {
        self.values
            .get(experiment)
            .and_then(|v| v.get(key))
            .is_some_and(|values| values.len() > 1)
    }

    /// Constant parameters of an experiment: its worker where there is one only, and parameters.
    pub(crate) fn constant(&self, experiment: &Experiment) -> Vec<String> {
        let name = experiment.name.as_str();
        let mut fixed = Vec::new();
        if let Some(workers) = self.workers.get(name).filter(|w| w.len() == 1) {
            fixed.extend(workers.iter().map(|w| format!("@{w}")));
        }
        for (key, values) in self.values.get(name).into_iter().flatten() {
            if let (1, Some(value)) = (values.len(), values.first()) {
                fixed.push(format!("{key}={}", shown(experiment, key, value)));
            }
        }
        fixed
    }

    /// A cell within its group: the method, its worker where several take part, and options that vary.
    pub(crate) fn cell(&self, experiment: &Experiment, cell: &CellSummary) -> String {
        let mut label = cell.method.clone();
        if self
            .workers
            .get(experiment.name.as_str())
            .is_some_and(|workers| workers.len() > 1)
        {
            label += &format!("@{}", worker(&cell.worker));
        }
        for (key, value) in &cell.parameters {
            if !experiment.groups_by(key) && self.varies(&experiment.name, key) {
                label += &format!(" {key}={}", shown(experiment, key, value));
            }
        }
        label
    }

    /// A cell among all cells of a run: `fault/thp`.
    pub(crate) fn with_experiment(&self, summary: &Summary, cell: usize) -> String {
        let cell = &summary.cells[cell];
        let experiment = summary.experiment(&cell.experiment);
        let name =
            experiment.map_or_else(|| cell.method.clone(), |e| self.cell(&e.definition, cell));
        format!("{}/{name}", cell.experiment)
    }

    /// The parameters by which a group differs from the experiment's other groups, as they are set on the command line.
    pub(crate) fn setting(&self, experiment: &Experiment, group: &GroupSummary) -> String {
        let varying = group
            .parameters
            .iter()
            .filter(|(key, _)| self.varies(&experiment.name, key));
        varying
            .map(|(key, value)| format!("{key}={}", shown(experiment, key, value)))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The same in few words: `4 MiB`, `64 B, spin`. Counts keep their names; the size is always said.
    pub(crate) fn setting_briefly(&self, experiment: &Experiment, group: &GroupSummary) -> String {
        let size = group.parameters.get("bytes").map(|bytes| {
            let text = shown(experiment, "bytes", bytes);
            spaced(if text.ends_with(|c: char| c.is_ascii_digit()) {
                bytes
            } else {
                &text
            })
        });
        // The usual condition goes without saying.
        let is_said = |key: &String| {
            !experiment.is_condition(key) || !experiment.is_usual(key, &group.parameters)
        };
        let others = group
            .parameters
            .iter()
            .filter(|(key, _)| *key != "bytes" && self.varies(&experiment.name, key));
        let others = others.filter(|(key, _)| is_said(key));
        let others =
            others.map(
                |(key, value)| match experiment.parameters.get(key).map(|p| p.kind) {
                    Some(ParameterKind::Choice | ParameterKind::Text) => value.clone(),
                    _ => format!("{key} {}", shown(experiment, key, value)),
                },
            );
        size.into_iter()
            .chain(others)
            .collect::<Vec<_>>()
            .join(", ")
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
