use super::*;

fn program(run: &str, kernel: &str, seconds: &[f64]) -> Program {
    let cost = |arm: &str, time, seconds: &[f64]| Times {
        command: "sort a".to_owned(),
        arm: arm.to_owned(),
        time,
        seconds: seconds.to_vec(),
    };
    Program {
        kind: Kind::Try,
        run: ComparedRun { run: run.to_owned(), created: String::new(), interrupted: false, damage: Vec::new() },
        version: "1".to_owned(),
        environment: BTreeMap::from([("kernel".to_owned(), kernel.to_owned())]),
        costs: vec![cost("as it is", "cpu", seconds), cost("thp", "kernel", &[0.0, 0.01])],
    }
}

#[test]
fn three_tries_a_side_have_a_verdict_and_one_has_a_figure() {
    let side = |name: &str, kernel: &str, second: f64| -> Vec<Program> {
        (0..3).map(|i| program(&format!("{name}{i}"), kernel, &[second, second * (1.001 + 0.001 * i as f64)])).collect()
    };
    let (a, b) = (side("a", "6.1", 1.0), side("b", "6.18", 0.5));
    let asked = CompareOptions { margin: 0.02, gate: Some(0.03), expected: vec!["kernel".to_owned()] };
    let found = compare(&a, &b, &asked);
    assert_eq!((found.cells.len(), found.missing.len()), (1, 1));
    let cell = &found.cells[0];
    assert!(matches!(cell.verdict, Verdict::Faster { .. }) && cell.holds_among_all, "{cell:?}");
    assert!((cell.ratio - 0.5).abs() < 1e-9 && (cell.a.per_unit_ns / 1e9 - 1.0).abs() < 0.01);
    assert!(found.missing[0].reason.contains("zero has no ratio"));
    assert_eq!((found.differences.len(), found.differences[0].expected), (1, true));
    let one = compare(&a[..1], &b[..1], &asked);
    assert!(one.cells[0].estimate.is_none() && one.cells[0].verdict == Verdict::NotSettled);
}

#[test]
fn another_command_is_not_compared() {
    let (a, mut b) = (program("a", "6", &[1.0, 1.1]), program("b", "6", &[1.0, 1.1]));
    b.costs.iter_mut().for_each(|cost| cost.command = "sort b".to_owned());
    let found = compare(&[a], &[b], &CompareOptions::default());
    assert!(found.cells.is_empty());
    let of_b = found.missing.iter().find(|m| m.cell.ends_with("of sort b") && m.reason == "only one side has it");
    assert_eq!(of_b.map(|m| (m.a, m.b)), Some((None, Some(Status::Ok))));
}
