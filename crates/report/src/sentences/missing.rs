//! Cells without figures, and figures that are not to be believed: by outcome and reason.

use super::labels::Labels;
use crate::sentences::{phrases, wording::together};
use indexmap::IndexSet;
use record::outcome::{Cause, Status};
use record::summary::{CellSummary, Summary};
use std::collections::BTreeSet;

/// Cells of one outcome and reason.
pub(crate) struct Absent<'a> {
    /// The first of them.
    pub cell: &'a CellSummary,
    /// Their names within the experiment, each once.
    pub names: Vec<String>,
    methods: BTreeSet<&'a str>,
    cells: usize,
}

/// Those of one experiment.
pub(crate) fn absent<'a>(
    summary: &'a Summary,
    experiment: &str,
    labels: &Labels,
) -> Vec<Absent<'a>> {
    let definition = summary.experiment(experiment);
    let name = |cell: &&CellSummary| {
        definition.map_or_else(|| cell.method.clone(), |e| labels.cell(&e.definition, cell))
    };
    let is_absent = |c: &&CellSummary| {
        c.experiment == experiment && !c.hidden && c.outcome.status != Status::Ok
    };
    let mut groups = together(
        summary
            .cells
            .iter()
            .filter(is_absent)
            .map(|cell| (cell, &cell.outcome)),
    );
    groups.sort_by_key(|(outcome, _)| outcome.status);
    let absent = |(_, cells): (_, Vec<&'a CellSummary>)| Absent {
        cell: cells[0],
        names: cells
            .iter()
            .map(name)
            .collect::<IndexSet<_>>()
            .into_iter()
            .collect(),
        methods: cells.iter().map(|cell| cell.method.as_str()).collect(),
        cells: cells.len(),
    };
    groups.into_iter().map(absent).collect()
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
        let mut all = summary
            .cells
            .iter()
            .filter(|c| c.experiment == absent.cell.experiment && c.method == method);
        all.any(|c| c.outcome.status == Status::Ok)
    };
    match absent.cell.outcome.status {
        Status::Ok | Status::Untrusted | Status::Damaged => false,
        Status::Refused | Status::Failed => true,
        Status::Skipped => {
            !matches!(Remedy::new(absent.cell), Remedy::Unknown(_))
                || !absent.methods.iter().all(|method| has_figures(method))
        }
    }
}

/// Missing cells on the first screen, by remedy, over all experiments.
pub(crate) fn missing(summary: &Summary, labels: &Labels) -> Vec<String> {
    let mut missing: Vec<MissingCells> = Vec::new();
    for name in summary.experiments.iter().map(|e| &e.definition.name) {
        for absent in absent(summary, name, labels)
            .into_iter()
            .filter(|absent| is_missing(summary, absent))
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
            missing[known]
                .names
                .extend(absent.names.iter().map(|n| format!("{name}/{n}")));
            missing[known].cells += absent.cells;
        }
    }
    missing.sort_by_key(|missing| std::cmp::Reverse(missing.cells));
    let sentence = |MissingCells {
                        remedy,
                        names,
                        cells,
                    }: MissingCells| match names.len() {
        1 | 2 => format!(
            "{}: {}",
            names.into_iter().collect::<Vec<_>>().join(", "),
            remedy.text()
        ),
        _ => format!("{cells} cells: {}", remedy.text()),
    };
    missing.into_iter().map(sentence).collect()
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
            "needs 8.0 MiB of memory, but only 1.0 MiB are available (RLIMIT_AS)"
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
