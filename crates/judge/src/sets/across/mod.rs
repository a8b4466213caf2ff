//! Two sets of runs compared: unpaired, the run as the unit of inference. A study's arms are its cells.

mod differences;
mod gated;
mod run;

use crate::questions::claims;
use crate::sets::{Costs, RunCell, SetQuestion, SetQuestions, by_question, pairs, withhold};
use crate::summarise::rounded;
use differences::differences;
use record::across::{COMPARED_SCHEMA, Compared, ComparedSide, MissingCell, MissingReason};
use record::outcome::Status;
use std::collections::{BTreeMap, BTreeSet};

pub use differences::unknown_fact;
pub(crate) use gated::gated;
pub use run::Run;
pub(crate) use run::compared_run;

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
    let mut cells = pairs(
        &questions.list,
        &costs(&by_a),
        &costs(&by_b),
        options.margin,
        options.gate,
    );
    let is_noisy = |question: &usize| {
        [&by_a, &by_b]
            .iter()
            .any(|side| is_disturbed(&side[question]))
    };
    let noisy = cells.iter_mut().filter(|(question, _)| is_noisy(question));
    withhold(noisy.map(|(_, cell)| cell));
    let mut missing = Vec::new();
    for (index, question) in questions.list.iter().enumerate() {
        if !cells.contains_key(&index) {
            let [a_cells, b_cells] =
                [&by_a, &by_b].map(|side| side.get(&index).map_or(&[][..], Vec::as_slice));
            let mut cell = missing_cell(question, a_cells, b_cells);
            if a[0].is_program {
                cell.cell = format!("{} of {}", cell.cell, question.headline.experiment);
            }
            missing.push(cell);
        }
    }
    let claims = match (&a[0].answers, &b[0].answers) {
        (Some(before), Some(now)) => claims::changes(before, now),
        _ => Vec::new(),
    };
    let mut compared = Compared {
        schema: COMPARED_SCHEMA,
        margin: options.margin,
        gate: options.gate,
        a: side(a),
        b: side(b),
        differences: differences(&a[0], &b[0], &options.expected),
        missing,
        cells: cells.into_values().collect(),
        claims,
        ..Compared::default()
    };
    compared.gated = options.gate.map(|_| gated(&compared));
    rounded(compared)
}

fn costs(side: &BTreeMap<usize, Vec<&RunCell>>) -> Costs {
    let mut costs = Costs::new();
    for (question, cells) in side {
        let logs = cells
            .iter()
            .map(|cell| cell.logs.clone())
            .filter(|logs| !logs.is_empty());
        costs.insert(*question, logs.collect());
    }
    costs
}

/// Tells whether other work disturbed most of a side's runs of a cell; a few runs among many are their scatter.
fn is_disturbed(runs: &[&RunCell]) -> bool {
    let mut measured: Vec<&&RunCell> = runs.iter().collect();
    measured.retain(|run| !run.logs.is_empty());
    let disturbed = measured.iter().filter(|run| run.is_disturbed).count();
    2 * disturbed > measured.len()
}

fn missing_cell(question: &SetQuestion, a: &[&RunCell], b: &[&RunCell]) -> MissingCell {
    let mut both = a.iter().chain(b);
    let reason = if let Some(cell) = both.clone().find(|cell| cell.outcome.status != Status::Ok) {
        MissingReason::Outcome(cell.outcome.clone())
    } else if a.is_empty() || b.is_empty() {
        MissingReason::OneSide
    } else if both.any(|cell| !cell.logs.is_empty()) {
        MissingReason::NoTime
    } else {
        MissingReason::NoLaunches
    };
    let parameters: String = question
        .headline
        .parameters
        .iter()
        .map(|(key, value)| format!(" {key}={value}"))
        .collect();
    MissingCell {
        cell: question.headline.cell.clone() + &parameters,
        a: gravest(a),
        b: gravest(b),
        reason,
    }
}

/// The gravest outcome of a side's runs, which stands for it.
fn gravest(side: &[&RunCell]) -> Option<Status> {
    side.iter().map(|cell| cell.outcome.status).max()
}

fn side(runs: &[Run]) -> ComparedSide {
    let unlike: BTreeSet<String> = runs[1..]
        .iter()
        .flat_map(|run| differences(&runs[0], run, &[]))
        .filter(|fact| fact.matters)
        .map(|fact| fact.field)
        .collect();
    ComparedSide {
        runs: runs.iter().map(|run| run.run.clone()).collect(),
        environment: runs[0].headline.clone(),
        unlike: unlike.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use record::across::{ComparedCell, ComparedRun, GateWord, Gated};
    use record::kind::Kind;
    use record::machine::environment::Environment;
    use record::outcome::{Cause, Outcome};
    use record::plan::BATCH;
    use record::summary::{Doubt, Summary, Verdict, Warning, WarningKind};

    use super::run::arms;
    use super::*;
    use crate::program::Times;

    fn recorded() -> Summary {
        serde_json::from_str(include_str!(
            "../../../../../tests/fixtures/exports/run.json"
        ))
        .expect("a recorded summary")
    }

    /// The parts of a run.
    struct Parts {
        summary: Summary,
        environment: Environment,
        workers: BTreeMap<String, String>,
    }

    impl Parts {
        fn run(&self) -> Run {
            Run::read(&self.summary, &self.environment, &self.workers, None).unwrap()
        }
    }

    /// A run like the recorded one, in which every launch of every cell takes `factor` times as long.
    fn run(factor: f64) -> Parts {
        let mut summary = recorded();
        summary.warnings.clear();
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

    fn compare(a: &[Parts], b: &[Parts], options: &CompareOptions) -> Compared {
        let [a, b] = [a, b].map(|side| side.iter().map(Parts::run).collect::<Vec<Run>>());
        super::compare(&a, &b, options)
    }

    fn options(gate: Option<f64>) -> CompareOptions {
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
            &options(Some(0.03)),
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
            &options(Some(0.03)),
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
            &options(Some(0.03)),
        );
        assert_eq!(fast.gated, Some(Gated::Passes), "{:?}", fast.cells[0]);
        let hardly = compare(
            &runs(&base),
            &runs(&base.map(|f| f * 1.03)),
            &options(Some(0.03)),
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
        let found = compare(&runs(&[1.0, 1.001, 0.999]), &other, &options(None));
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
        let closed = compare(&runs(&[1.0, 1.001, 0.999]), &other, &options(Some(0.9)));
        assert_eq!(closed.gated.map(Gated::exit_code), Some(4));
        assert_eq!(closed.differences[0].field, "kernel.release");
        let expected = CompareOptions {
            expected: vec!["kernel".to_owned()],
            ..options(Some(0.9))
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
        let found = compare(&runs(&[1.0, 1.001, 0.999]), &other, &options(Some(0.9)));
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
        let mut wrong = 0;
        for _ in 0..60 {
            let [a, b] = [(); 2].map(|()| [(); 3].map(|()| 1.0 + 0.06 * (rng.unit() - 0.5)));
            let compared = compare(&runs(&a), &runs(&b), &options(Some(0.0)));
            wrong += usize::from(
                compared
                    .cells
                    .iter()
                    .any(|c| c.gate == Some(GateWord::Regression)),
            );
        }
        assert!(wrong <= 3, "{wrong} of 60");
    }

    fn times(arm: &str, time: &'static str, seconds: &[f64]) -> Times {
        Times {
            command: "sort a".to_owned(),
            arm: arm.to_owned(),
            time,
            seconds: seconds.to_vec(),
            is_disturbed: false,
        }
    }

    fn program(run: &str, kernel: &str, seconds: &[f64]) -> Run {
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
                    times("unchanged", "cpu", seconds),
                    times("thp", "kernel", &[0.0, 0.01]),
                ],
            ),
            answers: None,
            is_program: true,
        }
    }

    fn three_programs(name: &str, kernel: &str, second: f64) -> Vec<Run> {
        (0..3)
            .map(|i| {
                let slower = second * (1.001 + 0.001 * f64::from(i));
                program(&format!("{name}{i}"), kernel, &[second, slower])
            })
            .collect()
    }

    #[test]
    fn three_tries_a_side_have_a_verdict_and_one_has_a_figure() {
        let a = three_programs("a", "6.1", 1.0);
        let b = three_programs("b", "6.18", 0.5);
        let options = CompareOptions {
            margin: 0.02,
            gate: Some(0.03),
            expected: vec!["kernel".to_owned()],
        };
        let found = super::compare(&a, &b, &options);
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
        let one = super::compare(&a[..1], &b[..1], &options);
        assert!(
            one.cells[0].contrast.ratio.is_none()
                && one.cells[0].contrast.verdict == Verdict::NotSettled
        );
    }

    proptest! {
        /// The law: a cell whose launches were disturbed in most runs of a side is neither faster nor slower, and neither passes a
        /// gate nor fails it; every other cell is judged as without.
        #[test]
        fn what_is_noisy_in_most_runs_is_open(
            factor in 0.3f64..3.0,
            noisy in prop::collection::vec(any::<bool>(), 8),
            cell in 0usize..10,
        ) {
            let base = [1.0, 1.004, 0.997, 1.001];
            let (mut a, mut b) = (runs(&base), runs(&base.map(|f| f * factor)));
            let quiet = compare(&a, &b, &options(Some(0.03)));
            for (run, _) in a.iter_mut().chain(&mut b).zip(&noisy).filter(|(_, noisy)| **noisy) {
                run.summary.warnings.push(Warning {
                    kind: WarningKind::Steal { share: 0.2 },
                    at: String::new(),
                    cells: vec![cell],
                });
            }
            let judged = compare(&a, &b, &options(Some(0.03)));
            let most = noisy.chunks(4).any(|side| side.iter().filter(|noisy| **noisy).count() > 2);
            let hit = quiet.cells.iter().zip(&judged.cells).filter(|(before, after)| before != after);
            let hit: Vec<&ComparedCell> = hit.map(|(_, after)| after).collect();
            prop_assert!(hit.len() <= usize::from(most), "{hit:?}");
            for cell in hit {
                prop_assert_eq!(cell.doubt, Some(Doubt::Disturbed));
                prop_assert_eq!(cell.contrast.overall(), Verdict::NotSettled);
                prop_assert_eq!(cell.gate, Some(GateWord::Undecided));
            }
            let noisy_cell = &a[0].summary.cells[cell];
            let is_shown = most && !noisy_cell.hidden && noisy_cell.outcome.status == Status::Ok;
            prop_assert!(!is_shown || judged.gated != Some(Gated::Passes));
        }
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
            .for_each(|question| question.headline.experiment = "sort b".to_owned());
        let found = super::compare(&[a], &[b], &CompareOptions::default());
        assert!(found.cells.is_empty());
        let of_b = found
            .missing
            .iter()
            .find(|m| m.cell.ends_with("of sort b") && m.reason == MissingReason::OneSide);
        assert_eq!(of_b.map(|m| (m.a, m.b)), Some((None, Some(Status::Ok))));
    }
}
