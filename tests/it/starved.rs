//! Machines that lack something: space where workers are unpacked, shared memory, files, address space, processors, other
//! languages. Every cell has an outcome in words, or the run says in one sentence why there is none; nothing is left behind.
//! Full output folders are in `bad_input`, full shared memory and missing rights in `ipc_limits`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::place::{Place, Said, cell, entries, install, said};
use crate::support::skips::skip;

const CELLS: [&str; 3] = [
    "share/posix-shm@c-O3+c-O3",
    "share/memfd@c-O3+c-O3",
    "share/null@c-O3",
];

/// A run of three cells that `sh -c SETUP` wraps: its last word must be `exec "$@"` or the like.
fn starved(place: &Place, by: &[&str], setup: &str) -> Said {
    let mut command = Command::new(by.first().unwrap_or(&"sh"));
    place.settle(&mut command);
    command.args(by.iter().skip(1));
    if !by.is_empty() {
        command.arg("sh");
    }
    command
        .env("PLACE", place.path())
        .args(["-c", setup, "sh", env!("CARGO_BIN_EXE_pagewise"), "run"])
        .args(CELLS);
    command.args([
        "--set",
        "bytes=64KiB",
        "--set",
        "load=0",
        "--set",
        "pin=none",
    ]);
    let result = said(command.args(["--launches", "1", "--budget", "5s", "--json"]));
    let left = entries(&place.file("tmp"));
    assert!(left.is_empty(), "{setup}: {left:?}");
    result
}

/// Every cell has an outcome, and words where it was not measured; those of the measured cells are returned.
fn outcomes(what: &str, result: &Said) -> Value {
    assert!(
        [0, 4].contains(&result.code),
        "{what}: {} {}",
        result.code,
        result.err
    );
    let summary: Value =
        serde_json::from_str(&result.out).unwrap_or_else(|e| panic!("{what}: {e}: {}", result.err));
    for cell in summary["cells"].as_array().unwrap() {
        let reasoned = cell["status"] == "ok" || !crate::support::place::reason(cell).is_empty();
        assert!(reasoned, "{what}: {cell:#}");
    }
    summary
}

fn is_one_sentence(what: &str, result: &Said, part: &str) {
    assert_eq!(result.code, 1, "{what}: {}{}", result.out, result.err);
    let said = result.err.starts_with("pagewise: ")
        && result.err.lines().count() == 1
        && result.err.contains(part);
    assert!(said, "{what}: {}", result.err);
}

/// Mounts of its own, seen by nobody else.
const ALONE: [&str; 2] = ["unshare", "--mount"];

fn can_mount() -> bool {
    let made = Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
        .output();
    let can = made.is_ok_and(|o| o.status.success());
    if !can {
        skip("no file system can be mounted here");
    }
    can
}

#[test]
fn without_shared_memory_its_methods_fail_and_the_others_are_measured() {
    if !can_mount() {
        return;
    }
    // Read-only, absent, and full.
    for (setup, words) in [
        ("mount -t tmpfs -o ro none /dev/shm", "shm_open"),
        (
            "mount -t tmpfs none /dev && mknod /dev/null c 1 3 && mknod /dev/urandom c 1 9",
            "shm_open",
        ),
        ("mount -t tmpfs -o size=4k none /dev/shm", "ftruncate"),
    ] {
        let place = Place::new();
        let summary = outcomes(
            setup,
            &starved(&place, &ALONE, &format!("{setup}; exec \"$@\"")),
        );
        let shm = cell(&summary, CELLS[0], &[]);
        let reason = crate::support::place::reason(shm);
        assert!(
            ["failed", "skipped"].contains(&shm["status"].as_str().unwrap()),
            "{setup}: {shm:#}"
        );
        assert!(reason.contains(words), "{setup}: {reason}");
        assert!(
            shm["phases"].as_object().is_none_or(|p| p.is_empty()),
            "{setup}: no figure: {shm:#}"
        );
    }
}

/// Another user with a limit of one process: nothing can be started, not even a thread.
#[test]
fn who_may_start_no_thread_gets_the_same_answer_or_one_sentence() {
    let place = Place::new();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/runs/ordinary");
    let store = place.file("data/pagewise/runs");
    std::fs::create_dir_all(&store).unwrap();
    let [first, second] = ["one", "two"].map(|name| store.join(name));
    for run in [&first, &second] {
        let copied = Command::new("cp").arg("-r").arg(fixture).arg(run).status();
        assert!(copied.unwrap().success());
    }
    let as_another = |limit: &str, line: &str| {
        let mut command = Command::new("setpriv");
        place.settle(&mut command);
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let setup = format!("cd /; exec {limit} \"$@\"");
        let words = line.split(' ').map(|word| {
            word.replace("{0}", first.to_str().unwrap())
                .replace("{1}", second.to_str().unwrap())
        });
        command
            .args(user)
            .args(["sh", "-c", &setup, "sh", env!("CARGO_BIN_EXE_pagewise")])
            .args(words)
            .env("XDG_CACHE_HOME", place.file("home/cache"));
        said(&mut command)
    };
    let owned = Command::new("chown")
        .args(["-R", "65534"])
        .arg(place.path())
        .status();
    if !owned.is_ok_and(|status| status.success()) || as_another("", "list fault").code != 0 {
        skip("there is no second user who may run this program");
        return;
    }
    for line in [
        "report {0} --json",
        "report {0}",
        "compare {0} {1} --json",
        "compare --outliers {0} --outliers {1}",
        "compare {0} {1} --by kernel",
        "runs show {0}",
        "runs",
        "report {0} --format csv",
    ] {
        let free = as_another("", line);
        let limited = as_another("prlimit --nproc=1", line);
        assert_eq!(
            (free.code, &free.out, &free.err),
            (limited.code, &limited.out, &limited.err),
            "{line}"
        );
        assert_ne!(free.code, 1, "{line}: {}", free.err);
    }
    for line in [
        "run fault/touch@c-O3 --budget 3s",
        "advise fault --budget 1s",
        "try --pairs 1 -- true",
        "doctor --noise",
    ] {
        let limited = as_another("prlimit --nproc=1", line);
        let sentence = limited.err.trim().lines().count() == 1 && !limited.err.contains("panic");
        assert!(
            limited.code == 0 || limited.code == 1 && sentence,
            "{line}: {} {}",
            limited.code,
            limited.err
        );
    }
}

#[test]
fn a_home_that_cannot_be_written_is_one_sentence() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let setup =
        "mount --bind \"$PLACE\" \"$PLACE\" && mount -o remount,ro,bind \"$PLACE\"; exec \"$@\"";
    is_one_sentence(
        setup,
        &starved(&place, &ALONE, setup),
        "Read-only file system",
    );
    assert!(entries(&place.file("home")).is_empty() && entries(&place.file("data")).is_empty());
}

#[test]
fn where_workers_cannot_be_unpacked_they_run_from_memory() {
    if !can_mount() {
        return;
    }
    let full = "mount -t tmpfs -o size=64k none \"$HOME\"; export XDG_CACHE_HOME=\"$HOME\"";
    let place = Place::new();
    outcomes(
        full,
        &starved(&place, &ALONE, &format!("{full}; exec \"$@\"")),
    );
    let place = Place::new();
    let both = format!("{full}; export TMPDIR=\"$HOME\"; exec \"$@\"");
    outcomes(&both, &starved(&place, &ALONE, &both));
}

#[test]
fn few_files_are_one_sentence_or_outcomes() {
    for files in [8, 10, 12, 16, 20, 24, 32] {
        let place = Place::new();
        let what = format!("ulimit -n {files}");
        let result = starved(&place, &[], &format!("{what}; exec \"$@\""));
        match result.code {
            1 => is_one_sentence(&what, &result, "Too many open files"),
            _ => drop(outcomes(&what, &result)),
        }
    }
}

#[test]
fn little_address_space_refuses_what_does_not_fit() {
    let place = Place::new();
    let summary = outcomes(
        "64 MiB",
        &starved(&place, &[], "ulimit -v 65536; exec \"$@\""),
    );
    for name in &CELLS[..2] {
        let reason = crate::support::place::reason(cell(&summary, name, &[]));
        assert!(reason.contains("RLIMIT_AS"), "{name}: {reason}");
    }
}

#[test]
fn one_processor_is_enough_where_no_place_is_asked_for() {
    let place = Place::new();
    let result = starved(&place, &[], "exec taskset -c 0 \"$@\"");
    if result.code == 127 {
        skip("taskset is not installed");
        return;
    }
    let summary = outcomes("one processor", &result);
    assert!(
        summary["cells"]
            .as_array()
            .unwrap()
            .iter()
            .all(|c| c["status"] != "failed"),
        "{summary:#}"
    );
}

#[test]
fn without_java_and_go_the_native_workers_are_measured_and_the_others_skipped() {
    let place = Place::new();
    let tools = place.file("home/tools");
    std::fs::create_dir(&tools).unwrap();
    for tool in ["sh", "cc", "ldconfig"] {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output()
            .unwrap();
        let path = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        if Path::new(&path).is_absolute() {
            std::os::unix::fs::symlink(path, tools.join(tool)).unwrap();
        }
    }
    install(
        Path::new(env!("CARGO_BIN_EXE_pagewise")),
        &place.file("home/pagewise"),
    );
    let mut command = Command::new(place.file("home/pagewise"));
    place.settle(&mut command);
    // Nothing that was built before is found either.
    command
        .env("XDG_CACHE_HOME", place.file("home/cache"))
        .env("PATH", &tools)
        .env_remove("JAVA_HOME");
    let words = [
        "run",
        "share/null",
        "--set",
        "bytes=64KiB",
        "--launches",
        "1",
        "--budget",
        "5s",
        "--json",
    ];
    let summary = outcomes("no Java, no Go", &said(command.args(words)));
    let cells = summary["cells"].as_array().unwrap();
    assert!(
        cells
            .iter()
            .any(|c| c["cell"] == "share/null@c-O3" && c["status"] != "skipped"),
        "{summary:#}"
    );
    assert!(
        cells
            .iter()
            .all(|c| !c["cell"].as_str().unwrap().contains("@go") || c["status"] == "skipped"),
        "{summary:#}"
    );
}
