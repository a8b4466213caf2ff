use super::*;

/// A launch of so many operations at 100 ns, and these stalls.
fn launch(block: i32, ops: u64, stalls: &[(u64, u64)]) -> CellLaunch {
    let latencies = std::iter::once((100, ops))
        .chain(stalls.iter().copied())
        .map(|(ns, count)| ((ns, ns), count));
    CellLaunch {
        launch: block as usize + 1,
        block,
        measures: Vec::new(),
        rounds: vec![0],
        latencies: latencies.collect(),
        interrupted: 0.0,
        noise: None,
        wall_s: 1.0,
        laboratory_cpu_s: 0.0,
    }
}

#[test]
fn each_launch_has_its_own_quantiles() {
    let launches: Vec<CellLaunch> = (0..6)
        .map(|block| launch(block, 9_980, &[(50_000 + 100 * block as u64, 20)]))
        .collect();
    let latency = latency(&launches).expect("a tail");
    assert_eq!(
        (latency.median, latency.max, latency.trips),
        (100.0, 50_500.0, 60_000)
    );
    let tail = latency.over_launches["p99.9"];
    assert_eq!((tail.low, tail.high), (Some(50_000.0), Some(50_500.0)));
    assert_eq!(latency.over_launches["p50"].median, 100.0);
}

#[test]
fn a_launch_of_few_operations_has_no_p999() {
    let few = latency(&[launch(0, 3_000, &[(9_000, 1)])]).expect("a latency");
    assert_eq!((few.over_launches.len(), few.max), (0, 9_000.0));
}

#[test]
fn the_worst_operation_does_not_move_the_ratio() {
    let calm: Vec<CellLaunch> = (0..6)
        .map(|block| launch(block, 9_980, &[(1_000, 20)]))
        .collect();
    let one_stall: Vec<CellLaunch> = (0..6)
        .map(|block| launch(block, 9_980, &[(1_000, 19), (500_000_000, 1)]))
        .collect();
    let of = |launches: Vec<CellLaunch>| CellEvidence {
        launches,
        ..CellEvidence::default()
    };
    assert!(
        logs(&of(calm), &of(one_stall))
            .iter()
            .all(|log| *log == 0.0)
    );
}
