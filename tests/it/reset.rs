//! The `reset` methods, driven by hand and by the laboratory. No test asserts a time.

use crate::support::sides::{Ended, Launch, Worker};
use crate::support::suite::conforms;
use record::transcript::SideEnding;

/// One launch of these methods: 4 MiB, every tenth page dirty.
fn ended(methods: &[&str], image: &str, history: &str) -> Ended {
    ended_beside("1", methods, image, history)
}

/// The same beside other threads.
fn ended_beside(running: &str, methods: &[&str], image: &str, history: &str) -> Ended {
    let worker = Worker::native("c-O3");
    let known = [
        ("bytes", "4194304"),
        ("dirty", "10"),
        ("scatter", "spread"),
        ("image", image),
        ("read", "same"),
        ("history", history),
        ("pages", "small"),
        ("running", running),
        ("regions", "32"),
        ("keep", "262144"),
    ];
    let methods: Vec<_> = methods
        .iter()
        .map(|name| worker.method("reset", name))
        .collect();
    let parameters: Vec<Vec<_>> = methods
        .iter()
        .map(|method| {
            known
                .iter()
                .filter(|(key, _)| method.keys.iter().any(|(k, _)| k == key))
                .copied()
                .collect()
        })
        .collect();
    let cells: Vec<_> = methods
        .iter()
        .zip(&parameters)
        .map(|(method, p)| (*method, &p[..]))
        .collect();
    let ended = Launch::new().alone(&worker, &cells, 1);
    assert!(
        ended.status.success() && ended.transcript.done,
        "{:?} {}",
        ended.status,
        ended.messages
    );
    ended
}

/// They leave the caches in another state: what is compared comes first.
#[test]
fn single_cycles_are_timed_in_the_last_round_of_a_launch() {
    let worker = Worker::native("c-O3");
    let known = [
        ("bytes", "1048576"),
        ("dirty", "10"),
        ("scatter", "spread"),
        ("image", "zero"),
        ("read", "none"),
    ];
    let parameters = [&known[..], &[("history", "same"), ("pages", "small")]].concat();
    let ended = Launch::new().alone(
        &worker,
        &[(worker.method("reset", "memset"), &parameters[..])],
        3,
    );
    let counted =
        |buckets: &Vec<(u64, u64, u64)>| buckets.iter().map(|(_, _, count)| count).sum::<u64>();
    let timed: Vec<_> = ended
        .transcript
        .latencies
        .iter()
        .map(|(slot, buckets)| (*slot, counted(buckets)))
        .collect();
    assert_eq!(timed, [(2, 256)]);
}

#[test]
fn every_native_method_conforms() {
    conforms(
        "reset",
        &[
            "reset/memset@c-O0",
            "reset/dontneed@c-O3",
            "reset/fork-server@c-O3",
        ],
    );
}

/// Where the kernel tracks writes by soft-dirty bits, nothing is skipped beside the threads.
#[test]
fn a_slot_that_is_skipped_beside_threads_leaves_the_next_one_its_processors() {
    let ended = ended_beside("2", &["soft-dirty", "dontneed"], "zero", "same");
    let skips: Vec<_> = ended
        .transcript
        .endings
        .iter()
        .filter(|e| matches!(e, SideEnding::Skip { .. }))
        .collect();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(
        skips.len() <= if processors > 1 { 1 } else { 2 },
        "{skips:?}"
    );
}

#[test]
fn a_scan_without_write_protection_puts_back_for_ever_what_was_written_once() {
    let scanned = |history| {
        let ended = ended(&["scan-reset"], "zero", history);
        match ended.transcript.endings.first() {
            Some(SideEnding::Skip { reason, .. }) => {
                crate::support::skips::skip(reason);
                None
            }
            _ => Some(ended.facts(0)["scanned_bytes"].parse::<u64>().unwrap()),
        }
    };
    if let (Some(usual), Some(aged)) = (scanned("same"), scanned("whole")) {
        assert_eq!(aged, 4 << 20);
        assert!(8 * usual < aged, "{usual}");
    }
}

#[test]
fn every_method_leaves_the_same_content() {
    let methods = [
        "memset",
        "copy-image",
        "compare",
        "dontneed",
        "remap",
        "map-over",
        "memfd-cow",
        "keep",
        "fork-server",
    ];
    for image in ["zero", "pattern"] {
        let ended = ended(&methods, image, "same");
        let digests: Vec<String> = (0..9)
            .map(|slot| ended.facts(slot)["digest"].to_owned())
            .collect();
        assert!(
            digests.iter().all(|digest| *digest == digests[0]),
            "{image}: {digests:?}"
        );
    }
}
