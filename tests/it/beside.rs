//! Threads that share a method's work, and threads that only run beside it. No test asserts a time.

use crate::support::sides::{Launch, Worker};
use crate::support::skips::skip;
use record::transcript::SideEnding;
use std::collections::BTreeMap;

/// The facts of two rounds of methods of one experiment; nothing on a machine with one CPU.
fn facts(
    experiment: &str,
    methods: &[&str],
    parameters: &[(&str, &str)],
) -> Vec<BTreeMap<String, String>> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skip("one CPU: no thread can run beside the calling one");
        return Vec::new();
    }
    let worker = Worker::native("c-O3");
    let cells: Vec<_> = methods
        .iter()
        .map(|name| (worker.method(experiment, name), parameters))
        .collect();
    let ended = Launch::new().alone(&worker, &cells, 2);
    assert!(
        ended.status.success() && ended.transcript.done,
        "{:?} {}",
        ended.status,
        ended.messages
    );
    assert_eq!(ended.transcript.endings, Vec::<SideEnding>::new());
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    (0..2 * methods.len() as u32)
        .map(|slot| ended.facts(slot).into_iter().map(own).collect())
        .collect()
}

#[test]
fn two_threads_take_memory_away_together() {
    let parameters = [
        ("bytes", "1048576"),
        ("chunk", "65536"),
        ("others", "running"),
        ("threads", "2"),
    ];
    for facts in facts(
        "unmap",
        &["munmap", "dontneed", "free", "mprotect"],
        &parameters,
    ) {
        assert_eq!(
            (facts["one_thread"].as_str(), facts["failed_calls"].as_str()),
            ("0", "0"),
            "{facts:?}"
        );
        assert!(
            facts["shared_turns"].parse::<u64>().unwrap() >= 1,
            "{facts:?}"
        );
    }
}

#[test]
fn another_thread_runs_beside_faults_and_files() {
    let ran = |facts: &BTreeMap<String, String>| {
        assert_eq!(facts["cpus"], "2", "{facts:?}");
        assert!(
            facts["other_passes"].parse::<u64>().unwrap() >= 1,
            "{facts:?}"
        );
    };
    let common = [
        ("bytes", "1048576"),
        ("running", "2"),
        ("processes", "1"),
        ("release", "dontneed"),
    ];
    facts("fault", &["touch", "populate"], &common)
        .iter()
        .for_each(ran);
    let file = [
        ("bytes", "1048576"),
        ("running", "2"),
        ("order", "sequential"),
        ("place", "tmpfs"),
        ("old", "none"),
    ];
    facts("output", &["write", "mmap"], &file)
        .iter()
        .for_each(ran);
}
