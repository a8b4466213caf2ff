use record::outcome::Cause;
use record::plan::BATCH;
use record::summary::Verdict;

use super::*;

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
            (cell.ratio - 2.0).abs() < 0.05 && cell.estimate.is_none(),
            "{cell:?}"
        );
        assert_eq!(
            (cell.verdict, cell.gate),
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
            .all(|c| c.gate == Some(GateWord::Regression) && c.holds_among_all),
        "{:?}",
        slow.cells[0]
    );
    assert!(
        matches!(slow.cells[0].verdict, Verdict::Slower { at_least } if at_least > 0.3 && at_least < 0.5)
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
        found.cells.iter().all(|c| (c.ratio - 1.0).abs() < 0.01),
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
        matches!(cell.verdict, Verdict::Faster { .. }) && cell.holds_among_all,
        "{cell:?}"
    );
    assert!((cell.ratio - 0.5).abs() < 1e-9 && (cell.a.per_unit_ns / 1e9 - 1.0).abs() < 0.01);
    assert!(found.missing[0].reason == MissingReason::NoTime);
    assert_eq!(
        (found.differences.len(), found.differences[0].expected),
        (1, true)
    );
    let one = super::compare(&a[..1], &b[..1], &asked);
    assert!(one.cells[0].estimate.is_none() && one.cells[0].verdict == Verdict::NotSettled);
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
