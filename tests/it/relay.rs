//! The `relay` methods, driven by hand and by the laboratory. No test asserts a time.

use crate::support::sides::{Launch, Worker, spoiled_cell};
use crate::support::suite::conforms;
use crate::support::turns;
use record::method::Method;
use record::transcript::SideEnding;

fn parameters<'a>(bytes: &'a str, cache: &'a str, place: &'a str) -> Vec<(&'a str, &'a str)> {
    let options = [
        ("chunk", "4097"),
        ("ring_chunks", "2"),
        ("pipe_bytes", "65536"),
    ];
    let mut all = vec![
        ("bytes", bytes),
        ("cache", cache),
        ("place", place),
        ("sink", "memory"),
        ("pin", "none"),
    ];
    all.extend(options);
    all
}

/// Whether the machine keeps temporary files in memory, where no file can be cold.
fn skipped_for_tmpfs(endings: &[SideEnding]) -> bool {
    endings
        .iter()
        .any(|e| matches!(e, SideEnding::Skip { reason, .. } if reason.contains("tmpfs")))
}

#[test]
fn every_method_conforms() {
    let _turn = turns::with_page_cache();
    conforms(
        "relay",
        &[
            "relay/splice@c-O0+c-O0",
            "relay/mmap-vmsplice@c-O3+c-O3",
            "relay/splice-discard@c-O3+c-O3",
        ],
    );
}

#[test]
fn every_byte_arrives_from_the_cache_and_from_the_disk() {
    let _turn = turns::with_page_cache();
    let (a, b) = (Worker::native("c-O3"), Worker::native("c-O0"));
    for cache in ["hot", "cold"] {
        for bytes in ["1", "1000001"] {
            let launch = Launch::new();
            let parameters = parameters(bytes, cache, "disk");
            let to_memory = |m: &&Method| {
                m.keys
                    .iter()
                    .any(|(key, kind)| key == "sink" && kind.normalise(key, "memory", 1).is_ok())
            };
            let methods: Vec<_> = a
                .of("relay")
                .filter(|m| m.name != "null")
                .filter(to_memory)
                .collect();
            let cells: Vec<(_, &[_])> = methods.iter().map(|m| (*m, &parameters[..])).collect();
            let (first, second) = launch.pair(&a, &b, &cells, 2);
            if skipped_for_tmpfs(&first.transcript.endings) {
                continue;
            }
            let pages = bytes
                .parse::<u64>()
                .unwrap()
                .div_ceil(rustix::param::page_size() as u64);
            for slot in 0..2 * cells.len() as u32 {
                let name = &methods[slot as usize % methods.len()].name;
                let receiver = if name == "splice-discard" {
                    &first
                } else {
                    &second
                };
                assert_eq!(receiver.facts(slot)["wrong_at"], bytes, "{name} {cache}");
                let cached = if cache == "hot" { pages } else { 0 };
                assert_eq!(
                    first.facts(slot)["cached_pages_before"],
                    cached.to_string(),
                    "{name} {cache}"
                );
            }
            assert_eq!(launch.leftovers(), Vec::<std::path::PathBuf>::new());
        }
    }
}

#[test]
fn tmpfs_is_never_called_cold() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    let parameters = parameters("65536", "cold", "tmpfs");
    let (a, b) = launch.pair(
        &worker,
        &worker,
        &[(worker.method("relay", "splice"), &parameters)],
        1,
    );
    assert!(skipped_for_tmpfs(&a.transcript.endings) && skipped_for_tmpfs(&b.transcript.endings));
}

#[test]
fn a_wrong_byte_at_the_receiver_is_found_where_it_is() {
    let place = tempfile::tempdir().unwrap();
    let cell = spoiled_cell(
        &place,
        "relay/sendfile",
        &["bytes=100001", "cache=hot", "place=tmpfs"],
        100_000,
    );
    assert_eq!(cell["status"], "untrusted");
    let reason = crate::support::place::reason(&cell);
    assert!(reason.contains("100000 against 100001"), "{reason}");
}

#[test]
fn a_new_file_is_the_old_one_and_leaves_nothing_behind() {
    let worker = Worker::native("c-O3");
    for (sink, cache) in [("file", "hot"), ("synced-file", "cold")] {
        let launch = Launch::new();
        let mut parameters = parameters("1000001", cache, "disk");
        parameters
            .iter_mut()
            .filter(|(key, _)| *key == "sink")
            .for_each(|p| p.1 = sink);
        let to_file = |m: &&Method| {
            m.keys
                .iter()
                .any(|(k, kind)| k == "sink" && kind.normalise(k, sink, 1).is_ok())
        };
        let methods: Vec<_> = worker.of("relay").filter(to_file).collect();
        assert!(methods.len() >= 8, "{}", methods.len());
        let cells: Vec<(_, &[_])> = methods.iter().map(|m| (*m, &parameters[..])).collect();
        let (a, b) = launch.pair(&worker, &worker, &cells, 1);
        if skipped_for_tmpfs(&a.transcript.endings) {
            continue;
        }
        for (slot, method) in methods.iter().enumerate() {
            let facts = b.facts(slot as u32);
            assert_eq!(
                (facts["wrong_at"], facts["new_file_bytes"]),
                ("1000001", "1000001"),
                "{}",
                method.name
            );
            assert_eq!(facts["dirty_bytes_after"], "0", "{}", method.name);
        }
        assert_eq!(launch.leftovers(), Vec::<std::path::PathBuf>::new());
    }
}
