use super::*;
use record::machine::preflight::NoiseDelta;

fn launch(noise: NoiseDelta, cpu_ns: f64, interrupted: f64) -> CellLaunch {
    // A switched out round is long by the clock, whatever it does.
    let figures = Figures {
        wall_ns: vec![2e7; 10],
        cpu_ns: vec![cpu_ns; 10],
        ..Figures::default()
    };
    CellLaunch {
        launch: 0,
        block: 0,
        measures: vec![figures],
        rounds: (0..10).collect(),
        latencies: Default::default(),
        interrupted,
        noise: Some(noise),
        wall_s: 1.0,
        laboratory_cpu_s: 0.0,
    }
}

fn cell(launches: Vec<CellLaunch>) -> CellEvidence {
    CellEvidence {
        launches,
        ..CellEvidence::default()
    }
}

fn with_steal(steal_share: f64, wall_s: f64) -> CellLaunch {
    CellLaunch {
        wall_s,
        ..launch(
            NoiseDelta {
                steal_share,
                ..NoiseDelta::default()
            },
            1e5,
            0.0,
        )
    }
}

fn reclaimed() -> CellLaunch {
    let vmstat = [("pgscan_direct".to_owned(), 3)].into();
    launch(
        NoiseDelta {
            vmstat,
            ..NoiseDelta::default()
        },
        1e5,
        0.0,
    )
}

fn quiet() -> CellLaunch {
    launch(NoiseDelta::default(), 1e5, 0.0)
}

#[test]
fn a_median_that_must_be_disturbed_costs_the_trust() {
    assert_eq!(distrust(&cell(vec![reclaimed(), quiet()])), None);
    let outcome = distrust(&cell(vec![reclaimed(), reclaimed(), quiet()])).expect("two of three");
    let disturbed = Disturbed {
        launches: 2,
        all: 3,
        by: vec!["reclaim".to_owned()],
    };
    assert_eq!(
        outcome,
        Outcome::because(Status::Untrusted, Cause::Disturbed(disturbed))
    );
}

#[test]
fn steal_costs_absolute_times_and_not_the_trust() {
    let robbed = cell(vec![with_steal(0.2, 1.0), with_steal(0.2, 1.0), quiet()]);
    assert_eq!(distrust(&robbed), None);
    assert!((stolen(&robbed).expect("most of the time") - 0.4 / 3.0).abs() < 1e-12);
    assert_eq!(
        stolen(&cell(vec![with_steal(0.2, 1.0), quiet(), quiet()])),
        None,
        "the median is untouched"
    );
}

#[test]
fn a_quota_is_told_by_the_time_that_it_took_from_all_launches() {
    let held = |throttled_us| {
        launch(
            NoiseDelta {
                throttled_us,
                ..NoiseDelta::default()
            },
            1e5,
            0.0,
        )
    };
    assert_eq!(
        throttled(&cell(vec![held(800_000), held(600_000)])),
        Some(0.7)
    );
    assert_eq!(
        throttled(&cell(vec![held(80_000), held(0), held(0)])),
        None,
        "one accident in three launches"
    );
    assert_eq!(throttled(&cell(Vec::new())), None);
}

#[test]
fn two_ticks_of_steal_are_an_accident_of_counting() {
    assert_eq!(stolen(&cell(vec![with_steal(0.07, 0.28)])), None);
    assert!(
        stolen(&cell(vec![with_steal(0.07, 0.28); 4])).is_some(),
        "in every launch they are none"
    );
}

#[test]
fn being_switched_out_counts_for_short_rounds_only() {
    let often = |cpu_ns| cell(vec![launch(NoiseDelta::default(), cpu_ns, 0.8)]);
    assert!(distrust(&often(1e5)).is_some());
    assert_eq!(
        (distrust(&often(1e8)), interrupted_share(&often(1e8))),
        (None, None)
    );
}

#[test]
fn others_disturb_a_device_only_while_the_cell_uses_it() {
    let noise = |own| NoiseDelta {
        device_read_bytes: 200 << 20,
        own_read_bytes: own,
        ..NoiseDelta::default()
    };
    let one = cell(vec![launch(noise(0), 1e5, 0.0)]);
    assert_eq!(of_launch(&one, &one.launches[0], None), []);
    let one = cell(vec![launch(noise(100 << 20), 1e5, 0.0)]);
    assert_eq!(of_launch(&one, &one.launches[0], None), [Flag::ForeignIo]);
}

#[test]
fn a_fallback_is_told_and_nothing_more() {
    let vmstat = [("thp_fault_fallback".to_owned(), 3)].into();
    let mut one = cell(vec![launch(
        NoiseDelta {
            vmstat,
            ..NoiseDelta::default()
        },
        1e5,
        0.0,
    )]);
    one.checks
        .facts(&[("huge_bytes".to_owned(), "2097152".to_owned())]);
    assert_eq!(
        of_launch(&one, &one.launches[0], Some("huge_bytes")),
        [Flag::ThpFallback]
    );
    assert_eq!(
        of_launch(&one, &one.launches[0], None),
        [],
        "an experiment without huge pages wants none"
    );
    assert_eq!(distrust(&one), None);
}

#[test]
fn counters_that_the_state_moves_itself_disturb_no_launch() {
    let relieved = |counter: &str, launch: CellLaunch| {
        let noise = launch
            .noise
            .map(|noise| noise.without(&[counter.to_owned()]));
        let one = cell(vec![CellLaunch { noise, ..launch }]);
        of_launch(&one, &one.launches[0], None)
    };
    assert_eq!(relieved("pgscan_direct", reclaimed()), []);
    assert_eq!(
        relieved("allocstall_normal", reclaimed()),
        [Flag::Reclaim],
        "another counter moved"
    );
    let others = NoiseDelta {
        device_written_bytes: 200 << 20,
        own_read_bytes: 100 << 20,
        ..NoiseDelta::default()
    };
    assert_eq!(
        relieved("pgscan_direct", launch(others.clone(), 1e5, 0.0)),
        [Flag::ForeignIo]
    );
    assert_eq!(relieved("device_bytes", launch(others, 1e5, 0.0)), []);
}
