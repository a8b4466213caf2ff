//! Cells without figures, and figures that are not to be believed: by outcome and reason.

use super::labels::{LabelledExperiment, LabelledRun};
use super::{phrases, wording::together};
use indexmap::IndexSet;
use record::outcome::{Cause, Status};
use record::summary::{CellSummary, Summary};
use std::collections::BTreeSet;

/// Cells of one outcome and reason.
pub(crate) struct Absent<'a> {
    /// The first of them.
    cell: &'a CellSummary,
    /// Their names within the experiment, each once.
    names: Vec<String>,
    methods: BTreeSet<&'a str>,
    cells: usize,
}

/// Remedy for cells that are missing.
#[derive(Debug, PartialEq)]
enum Remedy<'a> {
    Budget,
    Install(Vec<&'a str>),
    /// A setting of the kernel, and its least value.
    Setting(&'a str, u64),
    /// None that is known.
    Unknown(&'a CellSummary),
}

/// Cells that one remedy would bring.
struct MissingCells<'a> {
    remedy: Remedy<'a>,
    names: BTreeSet<String>,
    cells: usize,
}

/// Those of one experiment.
pub(crate) fn absent(experiment: LabelledExperiment<'_>) -> Vec<Absent<'_>> {
    together_by_outcome(experiment, experiment.cells().map(|(_, cell)| cell))
}

/// Those of one experiment that no row names: for a neighboring condition the row of its question says that time was short.
fn absent_from_rows(experiment: LabelledExperiment<'_>) -> Vec<Absent<'_>> {
    let definition = experiment.definition();
    let is_named = |cell: &CellSummary| {
        matches!(cell.outcome.cause, Some(Cause::Budget))
            && definition.unusual(&cell.parameters).next().is_some()
    };
    let cells = experiment.cells().map(|(_, cell)| cell);
    together_by_outcome(experiment, cells.filter(|cell| !is_named(cell)))
}

fn together_by_outcome<'a>(
    experiment: LabelledExperiment<'a>,
    cells: impl Iterator<Item = &'a CellSummary>,
) -> Vec<Absent<'a>> {
    let mut groups = together(
        cells
            .filter(|cell| cell.outcome.status != Status::Ok)
            .map(|cell| (cell, &cell.outcome)),
    );
    groups.sort_by_key(|(outcome, _)| outcome.status);
    groups
        .into_iter()
        .map(|(_, cells)| Absent::new(experiment, &cells))
        .collect()
}

impl<'a> Absent<'a> {
    fn new(experiment: LabelledExperiment<'a>, cells: &[&'a CellSummary]) -> Absent<'a> {
        let names: IndexSet<String> = cells.iter().map(|cell| experiment.label(cell)).collect();
        Absent {
            cell: cells[0],
            names: names.into_iter().collect(),
            methods: cells.iter().map(|cell| cell.method.as_str()).collect(),
            cells: cells.len(),
        }
    }

    /// A sentence on these cells by their names.
    pub fn sentence(&self) -> String {
        format!(
            "{}: {}: {}",
            self.cell.outcome.status.word(),
            self.names.join(", "),
            phrases::reason(&self.cell.outcome)
        )
    }
}

impl<'a> Remedy<'a> {
    fn new(cell: &'a CellSummary) -> Remedy<'a> {
        match &cell.outcome.cause {
            Some(Cause::Budget) => Remedy::Budget,
            Some(
                Cause::NotInstalled { package, .. }
                | Cause::NoWorker {
                    package: Some(package),
                    ..
                },
            ) => Remedy::Install(vec![package]),
            Some(Cause::Setting { name, least, .. }) => Remedy::Setting(name, *least),
            _ => Remedy::Unknown(cell),
        }
    }

    /// Takes up a further remedy; false if the two are not one.
    fn joins(&mut self, further: &Remedy<'a>) -> bool {
        match (self, further) {
            (Remedy::Budget, Remedy::Budget) => true,
            (Remedy::Install(packages), Remedy::Install(more)) => {
                packages.extend(
                    more.iter()
                        .filter(|package| !packages.contains(package))
                        .copied()
                        .collect::<Vec<_>>(),
                );
                true
            }
            (Remedy::Setting(name, value), Remedy::Setting(same, least)) if name == same => {
                *value = (*value).max(*least);
                true
            }
            (Remedy::Unknown(cell), Remedy::Unknown(other)) => {
                let causes = (&cell.outcome.cause, &other.outcome.cause);
                let is_one = matches!(
                    causes,
                    (Some(Cause::Memory { .. }), Some(Cause::Memory { .. }))
                );
                let joins = is_one || causes.0 == causes.1;
                *cell = if joins { other } else { *cell };
                joins
            }
            _ => false,
        }
    }

    fn text(&self) -> String {
        match self {
            Remedy::Budget => "raise --budget".to_owned(),
            Remedy::Install(packages) => format!("install {}", packages.join(" ")),
            Remedy::Setting(name, value) => format!("sysctl {name}={value}"),
            Remedy::Unknown(cell) => phrases::reason(&cell.outcome),
        }
    }
}

impl MissingCells<'_> {
    fn sentence(self) -> String {
        let remedy = self.remedy.text();
        match self.names.len() {
            1 | 2 => {
                let names: Vec<String> = self.names.into_iter().collect();
                format!("{}: {remedy}", names.join(", "))
            }
            _ => format!("{} cells: {remedy}", self.cells),
        }
    }
}

/// Tells whether cells of this outcome are missing. A method that has figures with other parameters is none that the
/// machine lacks: it does not go with these, and nothing would bring it.
fn is_missing(summary: &Summary, absent: &Absent) -> bool {
    match absent.cell.outcome.status {
        Status::Ok | Status::Untrusted | Status::Damaged => false,
        Status::Refused | Status::Failed => true,
        Status::Skipped => {
            !matches!(Remedy::new(absent.cell), Remedy::Unknown(_))
                || !absent
                    .methods
                    .iter()
                    .all(|method| has_figures(summary, &absent.cell.experiment, method))
        }
    }
}

fn has_figures(summary: &Summary, experiment: &str, method: &str) -> bool {
    summary
        .cells
        .iter()
        .filter(|c| c.experiment == experiment && c.method == method)
        .any(|c| c.outcome.status == Status::Ok)
}

/// Missing cells on the first screen, by remedy, over all experiments.
pub(crate) fn missing(run: &LabelledRun) -> Vec<String> {
    let mut missing: Vec<MissingCells> = Vec::new();
    for experiment in run.experiments() {
        for absent in absent_from_rows(experiment)
            .into_iter()
            .filter(|absent| is_missing(run.summary, absent))
        {
            let remedy = Remedy::new(absent.cell);
            let known = missing
                .iter_mut()
                .position(|known| known.remedy.joins(&remedy))
                .unwrap_or(missing.len());
            if known == missing.len() {
                missing.push(MissingCells {
                    remedy,
                    names: BTreeSet::new(),
                    cells: 0,
                });
            }
            missing[known].names.extend(
                absent
                    .names
                    .iter()
                    .map(|n| format!("{}/{n}", experiment.name())),
            );
            missing[known].cells += absent.cells;
        }
    }
    missing.sort_by_key(|missing| std::cmp::Reverse(missing.cells));
    missing.into_iter().map(MissingCells::sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::outcome::Outcome;

    fn cell(summary: &Summary, status: Status, cause: Cause) -> CellSummary {
        let pipe = summary
            .cells
            .iter()
            .find(|c| c.method == "pipe" && !c.hidden)
            .expect("the fixture measures pipes");
        CellSummary {
            outcome: Outcome::because(status, cause),
            ..pipe.clone()
        }
    }

    fn look() -> Summary {
        serde_json::from_str(include_str!("../../tests/fixtures/look.json")).unwrap()
    }

    #[test]
    fn remedies_of_one_kind_are_one() {
        let summary = look();
        let of = |cause: Cause| cell(&summary, Status::Skipped, cause);
        let pool = |least| {
            of(Cause::Setting {
                name: "vm.nr_hugepages".to_owned(),
                least,
                text: None,
            })
        };
        let (few, many, more) = (pool(2), pool(32), pool(4));
        let mut remedy = Remedy::new(&few);
        assert!(remedy.joins(&Remedy::new(&many)) && remedy.joins(&Remedy::new(&more)));
        assert_eq!(remedy.text(), "sysctl vm.nr_hugepages=32");
        let package = |name: &str| {
            of(Cause::NotInstalled {
                package: name.to_owned(),
                library: None,
            })
        };
        let packages = ["b", "a", "b"].map(package);
        let mut install = Remedy::new(&packages[0]);
        assert!(
            packages[1..]
                .iter()
                .all(|other| install.joins(&Remedy::new(other)))
        );
        assert_eq!(install.text(), "install b a");
        assert!(!install.joins(&remedy));
        let memory = |needed_bytes| Cause::Memory {
            needed_bytes,
            available_bytes: 1 << 20,
            limited_by: "RLIMIT_AS".to_owned(),
        };
        let refused =
            [4 << 20, 8 << 20].map(|bytes| cell(&summary, Status::Refused, memory(bytes)));
        let failed = ["mmap", "munmap"].map(|text| {
            cell(
                &summary,
                Status::Failed,
                Cause::Lacks {
                    text: text.to_owned(),
                },
            )
        });
        let mut unknown = Remedy::new(&refused[0]);
        assert!(
            unknown.joins(&Remedy::new(&refused[1])) && !unknown.joins(&Remedy::new(&failed[0]))
        );
        assert_eq!(
            unknown.text(),
            "needs 8.0 MiB of memory, but only 1.0 MiB are available (RLIMIT_AS, of which a quarter stays free)"
        );
        assert!(!Remedy::new(&failed[0]).joins(&Remedy::new(&failed[1])));
    }

    #[test]
    fn a_way_that_has_figures_with_other_parameters_is_not_missing() {
        let mut summary = look();
        let of = |cell| Absent {
            cell,
            names: Vec::new(),
            methods: BTreeSet::from(["pipe"]),
            cells: 1,
        };
        let futex = || Cause::Lacks {
            text: "a futex is there to sleep".to_owned(),
        };
        let skipped = cell(&summary, Status::Skipped, futex());
        let refused = cell(&summary, Status::Refused, futex());
        let pool = Cause::Setting {
            name: "vm.nr_hugepages".to_owned(),
            least: 32,
            text: Some("the pool is empty".to_owned()),
        };
        let helped = cell(&summary, Status::Skipped, pool);
        assert!(!is_missing(&summary, &of(&skipped)));
        assert!(is_missing(&summary, &of(&refused)));
        assert!(is_missing(&summary, &of(&helped)));
        summary.cells.retain(|c| c.method != "pipe");
        assert!(is_missing(&summary, &of(&skipped)));
    }
}
