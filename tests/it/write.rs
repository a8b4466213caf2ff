//! The `write` methods, driven by hand and by the laboratory. No test asserts a time.

use std::process::Command;

use crate::support::place::{Place, cell, said};
use crate::support::sides::{Launch, Worker, spoiled_cell};
use crate::support::skips::skip;
use crate::support::suite::conforms;
use record::transcript::SideEnding;
use serde_json::Value;

const PARAMETERS: [(&str, &str); 4] = [
    ("bytes", "4096"),
    ("ops", "3"),
    ("order", "append"),
    ("file_bytes", "1048576"),
];

/// Why nothing can be made durable where this machine's temporary files lie.
fn obstacle(worker: &Worker) -> Option<String> {
    let cells = [(worker.method("write", "pwrite-fdatasync"), &PARAMETERS[..])];
    match Launch::new()
        .alone(worker, &cells, 1)
        .transcript
        .endings
        .into_iter()
        .next()
    {
        Some(SideEnding::Skip { reason, .. }) => Some(reason),
        _ => None,
    }
}

#[test]
fn every_native_method_conforms() {
    if let Some(reason) = obstacle(&Worker::native("c-O3")) {
        skip(&reason);
        return;
    }
    conforms(
        "write",
        &[
            "write/dsync@c-O0",
            "write/mmap-msync@c-O3",
            "write/rename-over@c-O3",
        ],
    );
}

#[test]
fn a_byte_that_is_not_what_was_acknowledged_is_found() {
    if let Some(reason) = obstacle(&Worker::native("c-O3")) {
        skip(&reason);
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let settings = ["bytes=4KiB", "ops=2", "order=append"];
    let cell = spoiled_cell(&place, "write/pwrite-fdatasync@c-O3", &settings, 5000);
    let reason = crate::support::place::reason(&cell);
    assert!(
        reason.contains("wrong_at == stored_bytes: 5000 against"),
        "{reason}"
    );
}

#[test]
fn a_folder_in_memory_makes_nothing_durable_and_is_skipped() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        skip("there is no /dev/shm");
        return;
    };
    let worker = Worker::native("c-O3");
    let launch = Launch {
        folder,
        environment: Vec::new(),
    };
    let ended = launch.alone(
        &worker,
        &[(worker.method("write", "dsync"), &PARAMETERS[..])],
        1,
    );
    let [SideEnding::Skip { reason, .. }] = ended.transcript.endings.as_slice() else {
        panic!("not skipped")
    };
    assert!(reason.contains("lies in memory"), "{reason}");
    assert_eq!(launch.leftovers(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn every_method_says_what_the_device_is_and_leaves_only_the_file_that_the_next_slot_needs() {
    let worker = Worker::native("c-O3");
    if let Some(reason) = obstacle(&worker) {
        skip(&reason);
        return;
    }
    let launch = Launch::new();
    let methods = worker.of("write").filter(|m| m.name != "null");
    let cells: Vec<_> = methods.map(|m| (m, &PARAMETERS[..])).collect();
    let ended = launch.alone(&worker, &cells, 1);
    assert!(ended.transcript.done, "{}", ended.messages);
    for (slot, facts) in &ended.transcript.facts {
        let word = facts
            .iter()
            .find(|(name, _)| name == "device")
            .map(|(_, word)| word.as_str());
        assert!(
            word.is_some_and(|w| w.contains("cache") || w == "cannot-be-seen"),
            "slot {slot}: {word:?}"
        );
    }
    let left: Vec<_> = launch
        .leftovers()
        .into_iter()
        .map(|p| p.file_name().unwrap().to_owned())
        .collect();
    assert_eq!(
        left,
        vec![std::ffi::OsString::from(format!(
            "{}-records",
            launch.name()
        ))]
    );
}

/// The pages of a file on overlayfs are those of the file below, so that cachestat(2) says that none is dirty.
#[test]
fn what_is_dirty_on_overlayfs_is_seen_and_what_was_synced_is_not() {
    let place = Place::new();
    for folder in ["lower", "upper", "work", "over"] {
        std::fs::create_dir(place.file(folder)).unwrap();
    }
    let script = "[ \"$(stat -f -c %T upper)\" != tmpfs ] || exit 99; mount -t overlay overlay \
        -o lowerdir=lower,upperdir=upper,workdir=work over || exit 99; exec \"$@\"";
    for (method, setting, dirty) in [
        ("output/write@c-O3", "order=sequential", 4 << 20),
        ("write/pwrite-fdatasync@c-O3", "order=append", 0),
    ] {
        let mut command = Command::new("unshare");
        place.settle(&mut command);
        let bytes = format!("bytes={}", if dirty > 0 { "4MiB" } else { "4KiB" });
        let options = ["--launches", "1", "--json", "--out", "over/run"];
        command
            .args(["--mount", "sh", "-c", script, "sh"])
            .arg(env!("CARGO_BIN_EXE_pagewise"))
            .args(["run", method, "--set", &bytes, "--set", setting])
            .args(options)
            .current_dir(place.path());
        let result = said(&mut command);
        if result.code == 99 || result.err.starts_with("unshare:") {
            return skip(&format!(
                "no overlayfs can be mounted here: {}",
                result.err.trim()
            ));
        }
        let summary: Value = serde_json::from_str(&result.out)
            .unwrap_or_else(|error| panic!("{error}: {}", result.err));
        let proofs = &cell(&summary, method, &[])["proofs"];
        assert_eq!(proofs["file_system"][0], "overlay", "{proofs:#}");
        let seen = ["min", "max"].map(|end| proofs["dirty_bytes"][end].as_u64());
        assert_eq!(seen, [Some(dirty); 2], "{method}: {proofs:#}");
        std::fs::remove_dir_all(place.file("upper/run")).unwrap();
    }
}
