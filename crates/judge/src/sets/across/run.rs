//! A run as it takes part in a comparison.

use crate::program::{self, Times};
use crate::sets::machines::{Facts, facts, flatten};
use crate::sets::shared::measured;
use crate::sets::{MeasuredCells, RunCell, SetQuestion};
use anyhow::Result;
use record::across::{CellHeadline, ComparedRun};
use record::claim::Answers;
use record::command::KeptCommand;
use record::kind::Kind;
use record::machine::environment::Environment;
use record::outcome::{Outcome, Status};
use record::shared::SharedRun;
use record::summary::{Summary, WarningKind};
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of the field of a worker's SHA-256.
pub(super) const WORKER: &str = "worker.";

/// A run as it takes part.
pub struct Run {
    pub(super) run: ComparedRun,
    pub(super) headline: BTreeMap<String, String>,
    pub(super) facts: Facts,
    pub(super) measured: MeasuredCells,
    /// Answers to claims, where it is a run of claims.
    pub answers: Option<Answers>,
    pub(super) is_program: bool,
}

impl Run {
    /// A run of methods, on this machine when it began, with the SHA-256 of each worker, and its answers to claims.
    pub fn read(
        summary: &Summary,
        environment: &Environment,
        workers: &BTreeMap<String, String>,
        answers: Option<Answers>,
    ) -> Result<Run> {
        let workers = workers
            .iter()
            .map(|(name, hash)| (format!("{WORKER}{name}"), hash.clone()));
        let version = ("version".to_owned(), summary.version.clone());
        Ok(Run {
            run: compared_run(summary),
            headline: summary.environment.clone(),
            facts: facts(environment)
                .into_iter()
                .chain(workers)
                .chain([version])
                .collect(),
            measured: MeasuredCells::read(summary)?,
            answers,
            is_program: false,
        })
    }

    /// The same by the p99.9 of single operations; cells without them take no part.
    pub fn by_tails(self, summary: &Summary) -> Result<Run> {
        Ok(Run {
            measured: MeasuredCells::tails(summary)?,
            ..self
        })
    }

    /// A shared run, under the name of its file. Its facts are those that a shared run has.
    pub fn of_shared(shared: &SharedRun, name: &str) -> Run {
        let mut facts = Facts::new();
        let value = serde_json::to_value(&shared.machine).unwrap_or_default();
        flatten(&value, "", &mut facts);
        facts.insert("version".to_owned(), shared.version.clone());
        let headline = [
            ("cpu", shared.machine.cpu.clone()),
            ("cpus", shared.machine.cpus[1].to_string()),
            ("kernel", shared.machine.kernel.clone()),
        ];
        Run {
            run: ComparedRun {
                run: name.to_owned(),
                created: shared.day.clone(),
                interrupted: false,
                damage: Vec::new(),
                disturbed: BTreeMap::new(),
                untrusted: 0,
            },
            headline: headline.map(|(key, value)| (key.to_owned(), value)).into(),
            facts,
            measured: measured(shared),
            answers: None,
            is_program: false,
        }
    }

    pub fn of_command(kept: &KeptCommand) -> Run {
        let plan = &kept.plan;
        let (run, created) = (plan.run.clone(), plan.created.clone());
        let version = ("version".to_owned(), plan.version.clone());
        Run {
            run: ComparedRun {
                run,
                created,
                interrupted: kept.interrupted,
                damage: kept.damage.clone(),
                disturbed: BTreeMap::new(),
                untrusted: 0,
            },
            headline: plan.environment.clone(),
            facts: plan
                .environment
                .clone()
                .into_iter()
                .chain([version])
                .collect(),
            measured: arms(plan.kind, program::costs(plan, &kept.launches)),
            answers: None,
            is_program: true,
        }
    }

    /// True for a try or profile, which is compared with its like only.
    pub fn is_program(&self) -> bool {
        self.is_program
    }

    /// Names of the facts in which another run may differ, parts joined by dots.
    pub fn fields(&self) -> impl Iterator<Item = &String> {
        self.facts.keys()
    }
}

/// A run as it takes part in a comparison.
pub(crate) fn compared_run(summary: &Summary) -> ComparedRun {
    ComparedRun {
        run: summary.run.clone(),
        created: summary.created.clone(),
        interrupted: summary.is_interrupted(),
        damage: summary.damage().map(str::to_owned).collect(),
        disturbed: disturbed(summary),
        untrusted: summary
            .cells
            .iter()
            .filter(|c| c.outcome.status == Status::Untrusted && !c.hidden)
            .count(),
    }
}

fn disturbs(kind: &WarningKind) -> bool {
    use WarningKind::{
        AnotherRun, BusyProcesses, CpuTaken, Interrupted, MemoryPressure, Throttled,
    };
    matches!(
        kind,
        AnotherRun
            | BusyProcesses { .. }
            | CpuTaken { .. }
            | Interrupted { .. }
            | MemoryPressure(_)
            | Throttled { .. }
    )
}

/// Warnings of a run that may disturb a figure, with the cells that each is about; none of them says so of a machine as it is.
fn disturbed(summary: &Summary) -> BTreeMap<String, usize> {
    let mut cells: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for warning in &summary.warnings {
        if disturbs(&warning.kind) {
            let code = warning.kind.code().to_owned();
            cells.entry(code).or_default().extend(&warning.cells);
        }
    }
    cells
        .into_iter()
        .map(|(code, cells)| (code, cells.len()))
        .collect()
}

/// The arms of a user's program as cells.
pub(super) fn arms(kind: Kind, costs: Vec<Times>) -> MeasuredCells {
    let mut measured = MeasuredCells {
        questions: Vec::new(),
        cells: Vec::new(),
    };
    for (question, times) in costs.into_iter().enumerate() {
        let headline = CellHeadline {
            cell: format!("{}/{}", kind.word(), times.arm),
            experiment: times.command,
            parameters: [("time", times.time)].into(),
            phase: "time".to_owned(),
            unit: "run".to_owned(),
        };
        measured.questions.push(SetQuestion {
            headline,
            advised: false,
            baseline: None,
        });
        let logs = times
            .seconds
            .iter()
            .map(|seconds| (1e9 * seconds).ln())
            .collect();
        measured.cells.push(RunCell {
            question,
            outcome: Outcome::OK,
            logs,
            throttled: None,
            is_disturbed: times.is_disturbed,
        });
    }
    measured
}
