//! The `output` methods, driven by hand and by the laboratory. No test asserts a time.

use crate::support::sides::{Ended, Launch, Worker, spoiled_cell};
use crate::support::suite::conforms;
use record::transcript::SideEnding;

/// One launch of these methods over 1 MiB, and what it left in its folder and in shared memory.
fn ended(methods: &[&str], place: &str, old: &str) -> (Ended, usize) {
    let worker = Worker::native("c-O3");
    let known = [
        ("bytes", "1048576"),
        ("order", "pieces"),
        ("place", place),
        ("old", old),
        ("threads", "2"),
    ];
    let methods: Vec<_> = methods
        .iter()
        .map(|name| worker.method("output", name))
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
    let launch = Launch::new();
    let ended = launch.alone(&worker, &cells, 1);
    assert!(
        ended.status.success() && ended.transcript.done,
        "{:?} {}",
        ended.status,
        ended.messages
    );
    (ended, launch.leftovers().len())
}

#[test]
fn every_native_method_conforms() {
    conforms(
        "output",
        &[
            "output/write@c-O0",
            "output/mmap-huge@c-O3",
            "output/in-place-mmap@c-O3",
        ],
    );
}

#[test]
fn nothing_is_left_in_the_folder_or_in_shared_memory() {
    for place in ["folder", "tmpfs"] {
        let (_, left) = ended(
            &["write", "rename", "tmpfile-link", "mmap", "in-place-pwrite"],
            place,
            "cached",
        );
        assert_eq!(left, 0, "{place}");
    }
}

#[test]
fn only_methods_that_overwrite_keep_the_old_file_and_need_one() {
    let methods = ["in-place-pwrite", "in-place-mmap", "unlink-write", "rename"];
    let (replaced, _) = ended(&methods, "folder", "cached");
    let same: Vec<_> = (0..4)
        .map(|slot| replaced.facts(slot)["same_inode"] == "1")
        .collect();
    assert_eq!(same[..2], [true, true]);
    assert!(
        !same[3],
        "a file that is renamed over another one is another file"
    );
    let (none, _) = ended(&["in-place-pwrite"], "folder", "none");
    assert!(matches!(
        none.transcript.endings[0],
        SideEnding::Skip { .. }
    ));
}

#[test]
fn a_wrong_byte_in_the_file_is_found() {
    let place = tempfile::tempdir().unwrap();
    let cell = spoiled_cell(
        &place,
        "output/mmap",
        &["bytes=4MiB", "order=pieces", "old=none"],
        70_000,
    );
    assert_eq!(cell["status"], "untrusted");
    let reason = crate::support::place::reason(&cell);
    assert!(
        reason.contains("70000 against 4194304") || reason.contains("digest"),
        "{reason}"
    );
}
