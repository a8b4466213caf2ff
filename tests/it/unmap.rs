//! The `unmap` methods, driven by hand and by the laboratory. No test asserts a time.

use crate::support::sides::{Ended, Launch, Worker};
use crate::support::skips::skip;
use crate::support::suite::conforms;
use record::transcript::SideEnding;

fn ended(worker: &Worker, methods: &[&str], running: &str, rounds: u32) -> Ended {
    let parameters = [
        ("bytes", "1048576"),
        ("chunk", "65536"),
        ("running", running),
    ];
    let cells: Vec<_> = methods
        .iter()
        .map(|name| (worker.method("unmap", name), &parameters[..]))
        .collect();
    let ended = Launch::new().alone(worker, &cells, rounds);
    assert!(
        ended.status.success() && ended.transcript.done,
        "{:?} {}",
        ended.status,
        ended.messages
    );
    ended
}

#[test]
fn every_native_method_conforms() {
    conforms(
        "unmap",
        &[
            "unmap/munmap@c-O0",
            "unmap/mremap-dontunmap@c-O3",
            "unmap/exit@c-O3",
        ],
    );
}

#[test]
fn other_threads_run_on_cpus_of_their_own_and_the_process_has_all_of_its_cpus_back_afterwards() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skip("one CPU: no thread can run beside the calling one");
        return;
    }
    let worker = Worker::native("c-O3");
    let ended = ended(
        &worker,
        &["munmap", "dontneed", "mprotect", "mremap-move"],
        "2",
        2,
    );
    // Were a slot's pinning left behind, the next one would find too few CPUs and skip.
    assert_eq!(ended.transcript.endings, Vec::<SideEnding>::new());
    for slot in 0..8 {
        let facts = ended.facts(slot);
        assert_eq!(
            (facts["cpus"], facts["failed_calls"]),
            ("2", "0"),
            "{facts:?}"
        );
        assert!(
            facts["other_passes"].parse::<u64>().unwrap() > 0,
            "{facts:?}"
        );
    }
}

#[test]
fn more_running_threads_than_cpus_are_skipped_with_words_also_by_a_process_that_a_method_forked() {
    let worker = Worker::native("c-O3");
    for method in ["munmap", "exit", "limit"] {
        let ended = ended(&worker, &[method], "200", 2);
        let [SideEnding::Skip { reason, .. }] = ended.transcript.endings.as_slice() else {
            if std::thread::available_parallelism().map_or(1, usize::from) >= 200 {
                skip("this machine has 200 CPUs");
                return;
            }
            panic!("{method}: {:?}", ended.transcript.endings);
        };
        assert!(
            reason.contains("more running threads than CPUs"),
            "{reason}"
        );
    }
}
