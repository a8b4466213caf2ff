//! Two sets of runs compared: unpaired, the run as the unit of inference. A study's arms are its cells.

use crate::program::{self, Times};
use crate::questions::claims;
use crate::sets::machines::{Facts, facts, unlike};
use crate::sets::{Costs, MeasuredCells, RunCell, SetQuestion, SetQuestions, by_question, pairs};
use crate::summarise::rounded;
use anyhow::Result;
use record::across::{
    COMPARED_SCHEMA, CellHeadline, Compared, ComparedRun, ComparedSide, FactDifference, GateWord,
    Gated,
};
use record::across::{MissingCell, MissingReason};
use record::{
    claim::Answers,
    command::KeptCommand,
    kind::Kind,
    machine::environment::Environment,
    outcome::{Outcome, Status},
    summary::{Summary, WarningKind},
};
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of the field of a worker's SHA-256.
const WORKER: &str = "worker.";

/// A run as it takes part.
pub struct Run {
    run: ComparedRun,
    headline: BTreeMap<String, String>,
    facts: Facts,
    measured: MeasuredCells,
    /// Answers to claims, where it is a run of claims.
    pub answers: Option<Answers>,
    is_program: bool,
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
    let warnings = summary
        .warnings
        .iter()
        .filter(|warning| disturbs(&warning.kind));
    let mut cells: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    warnings.for_each(|w| {
        cells
            .entry(w.kind.code().to_owned())
            .or_default()
            .extend(&w.cells)
    });
    cells
        .into_iter()
        .map(|(code, cells)| (code, cells.len()))
        .collect()
}

/// The arms of a user's program as cells.
fn arms(kind: Kind, costs: Vec<Times>) -> MeasuredCells {
    let mut measured = MeasuredCells {
        questions: Vec::new(),
        cells: Vec::new(),
    };
    for (question, times) in costs.into_iter().enumerate() {
        let headline = CellHeadline {
            cell: format!("{}/{}", kind.word(), times.arm),
            experiment: times.command,
            parameters: BTreeMap::from([("time".to_owned(), times.time.to_owned())]),
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
        });
    }
    measured
}

/// Question about a comparison.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// Differences below this share are called within the margin.
    pub margin: f64,
    /// The share by which nothing may be slower.
    pub gate: Option<f64>,
    /// Fields that are meant to differ, or beginnings of them: `kernel`, `huge_pages.transparent_huge_pages`.
    pub expected: Vec<String>,
}

/// Compares `b` with `a`; each has one run at least.
pub fn compare(a: &[Run], b: &[Run], options: &CompareOptions) -> Compared {
    let mut questions = SetQuestions::default();
    let [cells_a, cells_b] = [a, b].map(|side| {
        side.iter()
            .map(|run| questions.take(&run.measured))
            .collect::<Vec<_>>()
    });
    let [by_a, by_b] = [&cells_a, &cells_b].map(|side| by_question(side.iter()));
    let compared = pairs(
        &questions.all,
        &costs(&by_a),
        &costs(&by_b),
        options.margin,
        options.gate,
    );
    let lacking = (0..questions.all.len()).filter(|question| !compared.contains_key(question));
    let missing_cell = |question| {
        let missing = absent(
            &questions.all[question],
            [&by_a, &by_b].map(|side| side.get(&question).map_or(&[][..], Vec::as_slice)),
        );
        let command = format!(
            "{} of {}",
            missing.cell, questions.all[question].headline.experiment
        );
        MissingCell {
            cell: if a[0].is_program {
                command
            } else {
                missing.cell
            },
            ..missing
        }
    };
    let claims = a[0].answers.as_ref().zip(b[0].answers.as_ref());
    let mut compared = Compared {
        schema: COMPARED_SCHEMA,
        margin: options.margin,
        gate: options.gate,
        a: side(a),
        b: side(b),
        differences: differences(&a[0], &b[0], &options.expected),
        missing: lacking.map(missing_cell).collect(),
        cells: compared.into_values().collect(),
        claims: claims.map_or_else(Vec::new, |(first, second)| claims::changes(first, second)),
        ..Compared::default()
    };
    compared.gated = options.gate.map(|_| gated(&compared));
    rounded(compared)
}

fn costs(side: &BTreeMap<usize, Vec<&RunCell>>) -> Costs {
    let logs = |cells: &Vec<&RunCell>| {
        cells
            .iter()
            .map(|c| c.logs.clone())
            .filter(|logs| !logs.is_empty())
            .collect()
    };
    side.iter()
        .map(|(question, cells)| (*question, logs(cells)))
        .collect()
}

fn absent(question: &SetQuestion, [a, b]: [&[&RunCell]; 2]) -> MissingCell {
    let both = || a.iter().chain(b);
    let reason = if let Some(cell) = both().find(|cell| cell.outcome.status != Status::Ok) {
        MissingReason::Outcome(cell.outcome.clone())
    } else if a.is_empty() || b.is_empty() {
        MissingReason::OneSide
    } else if both().any(|cell| !cell.logs.is_empty()) {
        MissingReason::NoTime
    } else {
        MissingReason::NoLaunches
    };
    let parameters = question
        .headline
        .parameters
        .iter()
        .map(|(key, value)| format!(" {key}={value}"));
    let cell = question.headline.cell.clone() + &parameters.collect::<String>();
    // The gravest outcome of a side's runs stands for it.
    let status = |side: &[&RunCell]| side.iter().map(|cell| cell.outcome.status).max();
    MissingCell {
        cell,
        a: status(a),
        b: status(b),
        reason,
    }
}

fn side(runs: &[Run]) -> ComparedSide {
    let others = runs[1..]
        .iter()
        .flat_map(|run| differences(&runs[0], run, &[]));
    let unlike: BTreeSet<String> = others
        .filter(|fact| fact.matters)
        .map(|fact| fact.field)
        .collect();
    let named = runs.iter().map(|run| run.run.clone()).collect();
    ComparedSide {
        runs: named,
        environment: runs[0].headline.clone(),
        unlike: unlike.into_iter().collect(),
    }
}

/// The facts that differ between two runs, those that can change a figure first.
fn differences(a: &Run, b: &Run, expected: &[String]) -> Vec<FactDifference> {
    let mut differing = unlike(&a.facts, &b.facts);
    // A worker that only one side used has no cell in common with the other.
    let on_both = |field: &str| a.facts.contains_key(field) && b.facts.contains_key(field);
    differing.retain(|fact| !fact.field.starts_with(WORKER) || on_both(&fact.field));
    differing
        .iter_mut()
        .for_each(|fact| fact.expected = expected.iter().any(|word| names(word, &fact.field)));
    differing.sort_by(|x, y| (!x.matters, &x.field).cmp(&(!y.matters, &y.field)));
    differing
}

/// Tells whether a word is a field or the beginning of one up to a dot.
fn names(word: &str, field: &str) -> bool {
    field
        .strip_prefix(word)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The first of these words that names no field of the runs.
pub fn unknown_fact<'a>(expected: &'a [String], fields: &BTreeSet<&String>) -> Option<&'a String> {
    expected
        .iter()
        .find(|word| !fields.iter().any(|field| names(word, field)))
}

/// Verdict of a gate on all cells and counts together.
pub(crate) fn gated(compared: &Compared) -> Gated {
    let verdicts = || {
        compared
            .cells
            .iter()
            .filter_map(|cell| cell.gate)
            .chain(compared.counts.iter().map(|c| c.gate))
    };
    let word = |wanted: GateWord| verdicts().any(|verdict| verdict == wanted);
    let doubtful = |m: &&MissingCell| {
        [m.a, m.b]
            .iter()
            .flatten()
            .any(|s| matches!(s, Status::Untrusted | Status::Damaged))
    };
    let lost = |m: &&MissingCell| m.a == Some(Status::Ok) && m.b != Some(Status::Ok);
    let differs = compared
        .differences
        .iter()
        .any(|d| d.matters && !d.expected);
    let nothing = compared.cells.is_empty() && compared.counts.is_empty();
    let damaged = [&compared.a, &compared.b]
        .iter()
        .any(|side| side.runs.iter().any(|run| !run.damage.is_empty()));
    if damaged {
        Gated::Damaged
    } else if differs {
        Gated::NotComparable
    } else if word(GateWord::Regression) {
        Gated::Regression
    } else if compared.missing.iter().any(|m| lost(&m) && !doubtful(&m)) || nothing {
        Gated::NotComparable
    } else if word(GateWord::Undecided) || compared.missing.iter().any(|m| doubtful(&m)) {
        Gated::Undecided
    } else {
        Gated::Passes
    }
}

#[cfg(test)]
mod tests {
    use record::outcome::Cause;
    use record::plan::BATCH;
    use record::summary::Verdict;

    use super::*;

    fn recorded() -> Summary {
        serde_json::from_str(include_str!("../../../../tests/fixtures/exports/run.json"))
            .expect("a recorded summary")
    }

    /// The parts of a run.
    struct Parts {
        summary: Summary,
        environment: Environment,
        workers: BTreeMap<String, String>,
    }

    /// A run like the recorded one, in which every launch of every cell takes `factor` times as long.
    fn run(factor: f64) -> Parts {
        let mut summary = recorded();
        for cell in &mut summary.cells {
            for launch in &mut cell.per_launch {
                launch.wall_ns.values_mut().for_each(|ns| *ns *= factor);
            }
        }
        Parts {
            summary,
            environment: Environment::default(),
            workers: BTreeMap::new(),
        }
    }

    fn runs(factors: &[f64]) -> Vec<Parts> {
        factors.iter().map(|f| run(*f)).collect()
    }

    fn compare(a: &[Parts], b: &[Parts], asked: &CompareOptions) -> Compared {
        let run = |parts: &Parts| {
            Run::read(&parts.summary, &parts.environment, &parts.workers, None).unwrap()
        };
        let [a, b] = [a, b].map(|side| side.iter().map(run).collect::<Vec<Run>>());
        super::compare(&a, &b, asked)
    }

    fn asked(gate: Option<f64>) -> CompareOptions {
        CompareOptions {
            margin: 0.02,
            gate,
            expected: Vec::new(),
        }
    }

    #[test]
    fn fewer_than_three_runs_have_figures_and_no_verdict() {
        let found = compare(
            &runs(&[1.0, 1.01]),
            &runs(&[2.0, 2.02, 1.98]),
            &asked(Some(0.03)),
        );
        assert!(!found.cells.is_empty());
        for cell in &found.cells {
            assert!(
                (cell.quotient - 2.0).abs() < 0.05 && cell.contrast.ratio.is_none(),
                "{cell:?}"
            );
            assert_eq!(
                (cell.contrast.verdict, cell.gate),
                (Verdict::NotSettled, Some(GateWord::Undecided))
            );
        }
        assert_eq!(found.gated, Some(Gated::Undecided));
    }

    #[test]
    fn a_regression_is_found_and_what_is_not_slower_passes() {
        let base = [1.0, 1.004, 0.997, 1.001, 1.002, 0.998];
        let slow = compare(
            &runs(&base),
            &runs(&base.map(|f| f * 1.5)),
            &asked(Some(0.03)),
        );
        assert!(
            slow.cells
                .iter()
                .all(|c| c.gate == Some(GateWord::Regression) && c.contrast.holds_among_all),
            "{:?}",
            slow.cells[0]
        );
        assert!(
            matches!(slow.cells[0].contrast.verdict, Verdict::Slower { at_least } if at_least > 0.3 && at_least < 0.5)
        );
        assert_eq!(slow.gated.map(Gated::exit_code), Some(2));
        let fast = compare(
            &runs(&base),
            &runs(&base.map(|f| f * 0.5)),
            &asked(Some(0.03)),
        );
        assert_eq!(fast.gated, Some(Gated::Passes), "{:?}", fast.cells[0]);
        let hardly = compare(
            &runs(&base),
            &runs(&base.map(|f| f * 1.03)),
            &asked(Some(0.03)),
        );
        assert_eq!(
            hardly.gated.map(Gated::exit_code),
            Some(3),
            "at the very edge nothing is shown"
        );
    }

    #[test]
    fn a_batch_that_another_pilot_chose_changes_nothing() {
        let mut other = runs(&[1.0, 1.001, 0.999]);
        for cell in other.iter_mut().flat_map(|r| &mut r.summary.cells) {
            cell.parameters.insert(BATCH.to_owned(), "7".to_owned());
            cell.per_launch
                .iter_mut()
                .flat_map(|l| l.wall_ns.values_mut())
                .for_each(|ns| *ns *= 7.0);
            cell.phases
                .values_mut()
                .for_each(|p| p.wall_ns.median *= 7.0);
        }
        let found = compare(&runs(&[1.0, 1.001, 0.999]), &other, &asked(None));
        assert!(found.missing.iter().all(|m| m.a != Some(Status::Ok)) && !found.cells.is_empty());
        assert!(
            found.cells.iter().all(|c| (c.quotient - 1.0).abs() < 0.01),
            "{:?}",
            found.cells[0]
        );
    }

    #[test]
    fn another_kernel_closes_the_gate_unless_it_is_what_is_compared() {
        let mut other = runs(&[1.0, 1.001, 0.999]);
        for run in &mut other {
            run.environment.kernel.release = Some("6.99".to_owned());
            run.workers.insert("c-O3".to_owned(), "abc".to_owned());
        }
        let closed = compare(&runs(&[1.0, 1.001, 0.999]), &other, &asked(Some(0.9)));
        assert_eq!(closed.gated.map(Gated::exit_code), Some(4));
        assert_eq!(closed.differences[0].field, "kernel.release");
        let expected = CompareOptions {
            expected: vec!["kernel".to_owned()],
            ..asked(Some(0.9))
        };
        assert_eq!(
            compare(&runs(&[1.0, 1.001, 0.999]), &other, &expected).gated,
            Some(Gated::Passes)
        );
    }

    #[test]
    fn a_cell_that_the_second_side_lost_closes_the_gate() {
        let mut other = runs(&[1.0, 1.001, 0.999]);
        for run in &mut other {
            let cell = run
                .summary
                .cells
                .iter_mut()
                .find(|c| c.outcome.status == Status::Ok && !c.hidden)
                .unwrap();
            cell.outcome = Outcome::because(Status::Skipped, Cause::NoZram);
        }
        let found = compare(&runs(&[1.0, 1.001, 0.999]), &other, &asked(Some(0.9)));
        assert_eq!(found.gated.map(Gated::exit_code), Some(4));
        let lost = found
            .missing
            .iter()
            .find(|m| m.a == Some(Status::Ok))
            .unwrap();
        assert!(
            lost.b == Some(Status::Skipped)
                && matches!(&lost.reason, MissingReason::Outcome(of) if of.cause == Some(Cause::NoZram)),
            "{lost:?}"
        );
    }

    #[test]
    fn identical_runs_are_no_regression_however_many_cells_there_are() {
        let mut rng = stats::rng::Seeded::new(7);
        let mut factors = || [(); 3].map(|()| 1.0 + 0.06 * (rng.unit() - 0.5));
        let wrong = (0..60)
            .filter(|_| {
                let found = compare(&runs(&factors()), &runs(&factors()), &asked(Some(0.0)));
                found
                    .cells
                    .iter()
                    .any(|c| c.gate == Some(GateWord::Regression))
            })
            .count();
        assert!(wrong <= 3, "{wrong} of 60");
    }

    fn program(run: &str, kernel: &str, seconds: &[f64]) -> Run {
        let cost = |arm: &str, time, seconds: &[f64]| Times {
            command: "sort a".to_owned(),
            arm: arm.to_owned(),
            time,
            seconds: seconds.to_vec(),
        };
        let facts = [("kernel", kernel), ("version", "1")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        Run {
            run: ComparedRun {
                run: run.to_owned(),
                created: String::new(),
                interrupted: false,
                damage: Vec::new(),
                disturbed: BTreeMap::new(),
                untrusted: 0,
            },
            headline: BTreeMap::new(),
            facts: facts.into(),
            measured: arms(
                Kind::Try,
                vec![
                    cost("as it is", "cpu", seconds),
                    cost("thp", "kernel", &[0.0, 0.01]),
                ],
            ),
            answers: None,
            is_program: true,
        }
    }

    #[test]
    fn three_tries_a_side_have_a_verdict_and_one_has_a_figure() {
        let side = |name: &str, kernel: &str, second: f64| -> Vec<Run> {
            (0..3)
                .map(|i| {
                    program(
                        &format!("{name}{i}"),
                        kernel,
                        &[second, second * (1.001 + 0.001 * i as f64)],
                    )
                })
                .collect()
        };
        let (a, b) = (side("a", "6.1", 1.0), side("b", "6.18", 0.5));
        let asked = CompareOptions {
            margin: 0.02,
            gate: Some(0.03),
            expected: vec!["kernel".to_owned()],
        };
        let found = super::compare(&a, &b, &asked);
        assert_eq!((found.cells.len(), found.missing.len()), (1, 1));
        let cell = &found.cells[0];
        assert!(
            matches!(cell.contrast.verdict, Verdict::Faster { .. })
                && cell.contrast.holds_among_all,
            "{cell:?}"
        );
        assert!(
            (cell.quotient - 0.5).abs() < 1e-9 && (cell.a.per_unit_ns / 1e9 - 1.0).abs() < 0.01
        );
        assert!(found.missing[0].reason == MissingReason::NoTime);
        assert_eq!(
            (found.differences.len(), found.differences[0].expected),
            (1, true)
        );
        let one = super::compare(&a[..1], &b[..1], &asked);
        assert!(
            one.cells[0].contrast.ratio.is_none()
                && one.cells[0].contrast.verdict == Verdict::NotSettled
        );
    }

    #[test]
    fn another_command_is_not_compared() {
        let (a, mut b) = (
            program("a", "6", &[1.0, 1.1]),
            program("b", "6", &[1.0, 1.1]),
        );
        b.measured
            .questions
            .iter_mut()
            .for_each(|asked| asked.headline.experiment = "sort b".to_owned());
        let found = super::compare(&[a], &[b], &CompareOptions::default());
        assert!(found.cells.is_empty());
        let of_b = found
            .missing
            .iter()
            .find(|m| m.cell.ends_with("of sort b") && m.reason == MissingReason::OneSide);
        assert_eq!(of_b.map(|m| (m.a, m.b)), Some((None, Some(Status::Ok))));
    }
}
