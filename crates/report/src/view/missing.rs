//! Cells without figures, and figures that are not to be believed: by outcome and reason.

use super::labels::Labels;
use record::outcome::{Cause, Status};
use record::summary::{CellSummary, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// Cells of one outcome and reason.
pub(super) struct Absent<'a> {
    /// The first of them.
    pub cell: &'a CellSummary,
    /// Their names within the experiment, each once.
    pub names: Vec<String>,
    methods: BTreeSet<&'a str>,
    cells: usize,
}

/// Those of one experiment.
pub(super) fn absent<'a>(summary: &'a Summary, experiment: &str, labels: &Labels) -> Vec<Absent<'a>> {
    let definition = summary.experiment(experiment);
    let mut by_reason: BTreeMap<(Status, &str), Absent> = BTreeMap::new();
    let cells = summary.cells.iter().filter(|c| c.experiment == experiment && !c.hidden && c.status != Status::Ok);
    for cell in cells {
        let name = definition.map_or_else(|| cell.method.clone(), |e| labels.cell(&e.definition, cell));
        let none = || Absent { cell, names: Vec::new(), methods: BTreeSet::new(), cells: 0 };
        let absent = by_reason.entry((cell.status, &cell.reason)).or_insert_with(none);
        absent.cells += 1;
        absent.methods.insert(&cell.method);
        if !absent.names.contains(&name) {
            absent.names.push(name);
        }
    }
    by_reason.into_values().collect()
}

/// Remedy for cells that are missing.
#[derive(Debug, PartialEq)]
enum Remedy<'a> {
    Budget,
    Install(Vec<&'a str>),
    /// A setting of the kernel, and its least value.
    Setting(&'a str, u64),
    /// None that is known: the reason.
    Unknown(&'a str),
}

impl<'a> Remedy<'a> {
    fn new(cell: &'a CellSummary) -> Remedy<'a> {
        match &cell.cause {
            Some(Cause::Budget) => Remedy::Budget,
            Some(Cause::NotInstalled { package }) => Remedy::Install(vec![package]),
            Some(Cause::Setting { name, least }) => Remedy::Setting(name, *least),
            _ => Remedy::Unknown(&cell.reason),
        }
    }

    /// Takes up a further remedy; false if the two are not one.
    fn joins(&mut self, further: &Remedy<'a>) -> bool {
        let without_numbers = |reason: &str| reason.replace(|c: char| c.is_ascii_digit(), "");
        match (self, further) {
            (Remedy::Budget, Remedy::Budget) => true,
            (Remedy::Install(packages), Remedy::Install(more)) => {
                packages.extend(more.iter().filter(|package| !packages.contains(package)).copied().collect::<Vec<_>>());
                true
            }
            (Remedy::Setting(name, value), Remedy::Setting(same, least)) if name == same => {
                *value = (*value).max(*least);
                true
            }
            (Remedy::Unknown(reason), Remedy::Unknown(same)) if without_numbers(reason) == without_numbers(same) => {
                *reason = same;
                true
            }
            _ => false,
        }
    }

    fn text(&self) -> String {
        match self {
            Remedy::Budget => "raise --budget".to_owned(),
            Remedy::Install(packages) => format!("install {}", packages.join(" ")),
            Remedy::Setting(name, value) => format!("sysctl {name}={value}"),
            Remedy::Unknown(reason) => (*reason).to_owned(),
        }
    }
}

/// Cells that one remedy would bring.
struct MissingCells<'a> {
    remedy: Remedy<'a>,
    names: BTreeSet<String>,
    cells: usize,
}

/// Tells whether cells of this outcome are missing. A way that has figures with other parameters is none that the
/// machine lacks: it does not go with these, and nothing would bring it.
fn is_missing(summary: &Summary, absent: &Absent) -> bool {
    let has_figures = |method: &str| {
        let mut all = summary.cells.iter().filter(|c| c.experiment == absent.cell.experiment && c.method == method);
        all.any(|c| c.status == Status::Ok)
    };
    match absent.cell.status {
        Status::Ok | Status::Untrusted | Status::Damaged => false,
        Status::Refused | Status::Failed => true,
        Status::Skipped => absent.cell.cause.is_some() || !absent.methods.iter().all(|method| has_figures(method)),
    }
}

/// Missing cells on the first screen, by remedy, over all experiments.
pub(super) fn missing(summary: &Summary, labels: &Labels) -> Vec<String> {
    let mut missing: Vec<MissingCells> = Vec::new();
    for name in summary.experiments.iter().map(|e| &e.definition.name) {
        for absent in absent(summary, name, labels).into_iter().filter(|absent| is_missing(summary, absent)) {
            let remedy = Remedy::new(absent.cell);
            let known = missing.iter_mut().position(|known| known.remedy.joins(&remedy)).unwrap_or(missing.len());
            if known == missing.len() {
                missing.push(MissingCells { remedy, names: BTreeSet::new(), cells: 0 });
            }
            missing[known].names.extend(absent.names.iter().map(|n| format!("{name}/{n}")));
            missing[known].cells += absent.cells;
        }
    }
    missing.sort_by_key(|missing| std::cmp::Reverse(missing.cells));
    let sentence = |MissingCells { remedy, names, cells }: MissingCells| match names.len() {
        1 | 2 => format!("{}: {}", names.into_iter().collect::<Vec<_>>().join(", "), remedy.text()),
        _ => format!("{cells} cells: {}", remedy.text()),
    };
    missing.into_iter().map(sentence).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/view/missing.rs"]
mod tests;
