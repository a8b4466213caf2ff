use super::*;

fn cell(launch: usize, rounds: &[i32], wall_ns: &[f64]) -> CellEvidence {
    let figures = Figures {
        wall_ns: wall_ns.to_vec(),
        ..Figures::default()
    };
    let launch = CellLaunch {
        launch,
        block: 0,
        measures: vec![figures],
        rounds: rounds.to_vec(),
        latencies: BTreeMap::new(),
        interrupted: 0.0,
        noise: None,
        wall_s: 1.0,
        laboratory_cpu_s: 0.0,
    };
    CellEvidence {
        launches: vec![launch],
        ..CellEvidence::default()
    }
}

fn ratio(a: &CellEvidence, b: &CellEvidence) -> Option<(f64, usize)> {
    let found = points(a, b, 0, PairedCost::Wall)?;
    Some((found.first()?.log.exp(), found[0].rounds))
}

#[test]
fn who_comes_in_fewer_rounds_is_held_against_these() {
    let base = cell(0, &[0, 1, 2, 3], &[10.0, 100.0, 10.0, 100.0]);
    let (ratio, rounds) = ratio(&base, &cell(0, &[1, 3], &[200.0, 200.0])).unwrap();
    assert!((ratio - 2.0).abs() < 1e-12 && rounds == 2);
}

#[test]
fn processes_of_their_own_are_compared_side_by_side() {
    let base = cell(0, &[0, 1], &[10.0, 10.0]);
    let (found, rounds) = ratio(&base, &cell(1, &[0, 1, 2], &[30.0, 30.0, 30.0])).unwrap();
    assert!((found - 3.0).abs() < 1e-12 && rounds == 2);
}

#[test]
fn zeros_turn_to_means_and_nothing_has_no_ratio() {
    let base = cell(0, &[0, 1], &[0.0, 10.0]);
    assert!((ratio(&base, &cell(0, &[0, 1], &[10.0, 10.0])).unwrap().0 - 2.0).abs() < 1e-12);
    assert_eq!(ratio(&base, &cell(0, &[0, 1], &[0.0, 0.0])), None);
}
