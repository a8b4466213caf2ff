//! The `load` methods, driven by hand and by the laboratory. No test asserts a time.

use crate::support::sides::{Ended, Launch, Worker};
use crate::support::suite::conforms;
use record::transcript::SideEnding;

/// One launch of these methods over 4 MiB in records of 4 KiB.
fn ended(methods: &[&str], cache: &str, order: &str, share: &str) -> Ended {
    let worker = Worker::native("c-O3");
    let known = [
        ("bytes", "4194304"),
        ("cache", cache),
        ("order", order),
        ("record", "4096"),
        ("share", share),
        ("place", "folder"),
        ("advice", "random"),
        ("threads", "2"),
    ];
    let methods: Vec<_> = methods
        .iter()
        .map(|name| worker.method("load", name))
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

#[test]
fn every_native_method_conforms() {
    conforms(
        "load",
        &[
            "load/mmap-lazy@c-O0",
            "load/pread-thp@c-O3",
            "load/io_uring-records@c-O3",
            "load/limit@c-O3",
        ],
    );
}

#[test]
fn every_method_uses_the_same_records() {
    let methods = [
        "mmap-lazy",
        "mmap-announce",
        "pread-malloc",
        "pread-records",
        "populate-read",
        "limit",
    ];
    for (order, share) in [("sequential", "100"), ("random", "100"), ("random", "10")] {
        let ended = ended(&methods, "hot", order, share);
        let digests: Vec<String> = (0..6)
            .map(|slot| ended.facts(slot)["digest"].to_owned())
            .collect();
        assert!(
            digests.iter().all(|digest| *digest == digests[0]),
            "{order} {share}: {digests:?}"
        );
    }
}

#[test]
fn a_buffered_copy_of_a_cached_file_is_held_twice_and_a_direct_one_once() {
    let ended = ended(
        &["mmap-lazy", "pread-malloc", "direct-threads-thp"],
        "cold",
        "sequential",
        "100",
    );
    if let Some(SideEnding::Skip { reason, .. }) = ended.transcript.endings.first() {
        return crate::support::skips::skip(reason);
    }
    let held = |slot| ended.facts(slot)["memory_bytes"].parse::<u64>().unwrap();
    assert_eq!(held(0), 4 << 20);
    assert!(
        held(1) > 7 << 20 && held(2) < 6 << 20,
        "{} {}",
        held(1),
        held(2)
    );
}
