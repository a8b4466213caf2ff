//! The `interference` methods, driven by the laboratory. No test asserts a time: counts show who evicts what.

use serde_json::Value;

use crate::support::place::{Place, cell, reason};
use crate::support::sides::{Launch, Worker};
use crate::support::skips::skip;
use crate::support::suite::conforms;
use crate::support::turns;
use record::transcript::SideEnding;

#[test]
fn every_native_method_conforms() {
    let _turn = turns::with_page_cache();
    conforms(
        "interference",
        &[
            "interference/buffered@c-O0",
            "interference/direct@c-O3",
            "interference/mmap-pageout@c-O3",
            "interference/fill@c-O3",
        ],
    );
}

/// A short run of these methods in a bound of 48 MiB beside a victim that reads by `victim`.
fn run(place: &Place, methods: &[&str], victim: &str, further: &[&str]) -> Value {
    let victim = format!("victim={victim}");
    let mut arguments = vec!["run"];
    arguments.extend(methods);
    for setting in [
        "bytes=96MiB",
        "hot=16MiB",
        "bound=48MiB",
        "work=read",
        &victim,
    ] {
        arguments.extend(["--set", setting]);
    }
    arguments.extend(["--launches", "2", "--budget", "60s", "--json"]);
    arguments.extend(further);
    let result = place.run(&arguments);
    assert!([0, 3, 4].contains(&result.code), "{}", result.err);
    serde_json::from_str(&result.out).unwrap()
}

const METHODS: [&str; 4] = [
    "interference/buffered@c-O3",
    "interference/direct@c-O3",
    "interference/mmap@c-O3",
    "interference/alone@c-O3",
];

#[test]
fn without_permission_one_sentence_says_what_is_missing() {
    let place = Place::new();
    let summary = run(&place, &METHODS, "pread", &[]);
    for cell in summary["cells"].as_array().unwrap() {
        assert_eq!(cell["status"], "refused", "{cell:#}");
        assert_eq!(
            reason(cell),
            "bound= needs a memory cgroup; --allow-system-changes permits making one"
        );
    }
}

/// The largest number that a fact had.
fn most(cell: &Value, fact: &str) -> u64 {
    cell["proofs"][fact]["max"]
        .as_u64()
        .unwrap_or_else(|| panic!("{fact} of {cell:#}"))
}

#[test]
fn the_bound_is_kept_and_what_is_evicted_is_counted() {
    let _turn = turns::with_page_cache();
    let place = Place::new();
    let summary = run(&place, &METHODS, "mmap-random", &["--allow-system-changes"]);
    let [buffered, direct, mapped, alone] =
        METHODS.map(|name| cell(&summary, name, &[("victim", "mmap-random")]));
    if reason(buffered).contains("no memory cgroup") {
        skip("no memory cgroup can be made here");
        return;
    }
    for cell in [buffered, direct, mapped, alone] {
        assert_eq!(most(cell, "limit_bytes"), 48 << 20, "{cell:#}");
        assert!(most(cell, "peak_bytes") <= 48 << 20, "{cell:#}");
        assert_eq!(most(cell, "hot_before_bytes"), 16 << 20, "{cell:#}");
        assert!(cell["latency_ns"]["over_launches"]["p99"].is_object());
    }
    // Nobody but the scans through the page cache takes the victim's pages, and what it misses it reads again.
    assert_eq!(most(alone, "victim_major_faults"), 0, "{alone:#}");
    assert_eq!(most(direct, "left_bytes"), 0, "{direct:#}");
    for cell in [buffered, mapped] {
        assert!(most(cell, "bound_hits") > 0, "{cell:#}");
        assert!(most(cell, "victim_major_faults") > 0, "{cell:#}");
        assert!(most(cell, "refault_pages") > 0, "{cell:#}");
    }
    let group = &summary["groups"][0];
    let points = group["frontier"].as_array().unwrap();
    assert_eq!(points.len(), 3, "{group:#}");
    assert!(
        points
            .iter()
            .all(|point| point["harm_ns"]["median"].as_f64() > Some(0.0))
    );
}

/// Driven by hand there is no cgroup: the worker says so in place of measuring something else.
#[test]
fn a_worker_outside_of_its_bound_measures_nothing() {
    let worker = Worker::native("c-O3");
    let parameters = [
        ("bytes", "4194304"),
        ("hot", "2097152"),
        ("bound", "67108864"),
        ("work", "read"),
        ("victim", "pread"),
        ("rate", "50000"),
        ("ops", "2000"),
    ];
    let cells = [(worker.method("interference", "buffered"), &parameters[..])];
    let ended = Launch::new().alone(&worker, &cells, 1);
    let [SideEnding::Skip { reason, .. }] = &ended.transcript.endings[..] else {
        panic!("{:?}", ended.transcript.endings);
    };
    assert!(reason.contains("--allow-system-changes"), "{reason}");
}
