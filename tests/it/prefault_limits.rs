//! Limits that `prefault` meets, each with its sentence before anything is touched; and the pool of pages of 1 GiB.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::prefault::{BYTES, ended};
use crate::support::place::{Place, cell, reason, said};
use crate::support::sides::{Launch, Worker};
use crate::support::skips::skip;
use record::transcript::SideEnding;
use serde_json::Value;

/// The reason why one cell was skipped by a worker that was started behind `sh -c SETUP` with mounts of its own; none where no
/// file system can be mounted.
fn skipped_behind(setup: &str, sharing: &str, bytes: &str) -> Option<String> {
    let can = Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
        .output();
    if !can.is_ok_and(|output| output.status.success()) {
        skip("no file system can be mounted here");
        return None;
    }
    let worker = Worker::native("c-O3");
    let parameters = [("bytes", bytes), ("sharing", sharing), ("pinned", "no")];
    let cells = [(worker.method("prefault", "touch"), &parameters[..])];
    let launch = Launch::new();
    let mut command = Command::new("unshare");
    command
        .env("PLACE", launch.folder.path())
        .args(["--mount", "sh", "-c"])
        .arg(format!("{setup}; exec \"$@\""))
        .arg("sh")
        .arg(&worker.path);
    let request = launch.request(&cells, None, 1);
    let ended = launch.start_command(command, &request).end();
    let [SideEnding::Skip { reason, .. }] = &ended.transcript.endings[..] else {
        panic!("{:?} {}", ended.transcript.endings, ended.messages);
    };
    Some(reason.clone())
}

#[test]
fn a_small_shared_memory_is_told_before_it_ends_the_program() {
    let setup = "mount -t tmpfs -o size=4m none /dev/shm";
    if let Some(reason) = skipped_behind(setup, "shm", BYTES) {
        let expected = "/dev/shm has room for 4 MiB and 8 MiB are asked for";
        assert!(reason.starts_with(expected), "{reason}");
        assert!(reason.contains("--shm-size"), "{reason}");
    }
}

/// More than all memory is refused by the kernel in any mode; the file that says which mode it is is another one here.
#[test]
fn a_kernel_that_overcommits_nothing_is_told_with_its_setting() {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let number = |row: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(row));
        let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0)
    };
    let bytes = 2 * (number("MemTotal:") + number("SwapTotal:")) / 1024 * (1 << 20);
    let setup =
        "echo 2 > \"$PLACE/mode\" && mount --bind \"$PLACE/mode\" /proc/sys/vm/overcommit_memory";
    if let Some(reason) = skipped_behind(setup, "private", &bytes.to_string()) {
        assert!(
            reason.ends_with("sudo sysctl vm.overcommit_memory=0"),
            "{reason}"
        );
    }
}

/// A memory cgroup of this test.
struct Limited(PathBuf);

impl Limited {
    fn new(bytes: u64) -> Option<Limited> {
        let name = format!("pagewise-test-prefault-{}", std::process::id());
        let levels = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        levels.iter().find_map(|(level, limit)| {
            let made = Limited(Path::new(level).join(&name));
            std::fs::create_dir(&made.0).ok()?;
            std::fs::write(made.0.join(limit), bytes.to_string()).ok()?;
            Some(made)
        })
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_size_beyond_the_control_groups_memory_is_refused_beforehand() {
    let Some(limited) = Limited::new(512 << 20) else {
        skip("no memory cgroup can be made here");
        return;
    };
    let place = Place::new();
    let mut command = Command::new("sh");
    place.settle(&mut command);
    command
        .args(["-c", "echo $$ > \"$GROUP/cgroup.procs\"; exec \"$@\"", "sh"])
        .env("GROUP", &limited.0)
        .arg(env!("CARGO_BIN_EXE_pagewise"))
        .args(["run", "prefault/touch@c-O3", "prefault/null@c-O3"])
        .args(["--set", "bytes=1MiB,1GiB", "--set", "threads=1"])
        .args(["--budget", "4s", "--json"]);
    let result = said(&mut command);
    assert_eq!(result.code, 0, "{}", result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    let large = cell(&summary, "prefault/touch@c-O3", &[("bytes", "1073741824")]);
    assert_eq!(large["status"], "refused", "{large:#}");
    assert!(reason(large).contains("cgroup"), "{}", reason(large));
    let small = cell(&summary, "prefault/touch@c-O3", &[("bytes", "1048576")]);
    assert_eq!(small["status"], "ok", "{small:#}");
}

const GIANT_POOL: &str = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages";

#[test]
fn pages_of_a_gibibyte_that_are_not_there_are_told() {
    for (bytes, part) in [(BYTES, "not a multiple of 1 GiB"), ("1073741824", "1 GiB")] {
        let pool = std::fs::read_to_string(GIANT_POOL).unwrap_or_default();
        if !["", "0"].contains(&pool.trim()) {
            skip("there is a pool of pages of 1 GiB");
            return;
        }
        let ended = ended(&["hugetlb-1gib"], &[("bytes", bytes)]);
        let [SideEnding::Skip { reason, .. }] = &ended.transcript.endings[..] else {
            panic!("{bytes}: {:?}", ended.transcript.endings);
        };
        assert!(reason.contains(part), "{bytes}: {reason}");
    }
}

/// The kernel may not have a whole gibibyte in one piece: then the cell is skipped in words. Either way the pool is put back.
#[test]
fn a_pool_of_a_gibibyte_is_reserved_where_that_is_allowed_and_put_back() {
    let Ok(before) = std::fs::read_to_string(GIANT_POOL) else {
        skip("this machine has no pages of 1 GiB");
        return;
    };
    if !rustix::process::geteuid().is_root() {
        skip("only root can change a pool");
        return;
    }
    let place = Place::new();
    let result = place.run(&[
        "run",
        "prefault/hugetlb-1gib@c-O3",
        "prefault/null@c-O3",
        "--set",
        "bytes=1GiB",
        "--set",
        "threads=1",
        "--launches",
        "1",
        "--budget",
        "10s",
        "--allow-system-changes",
        "--json",
    ]);
    assert!([0, 4].contains(&result.code), "{}", result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    let giant = cell(&summary, "prefault/hugetlb-1gib@c-O3", &[]);
    match giant["status"].as_str().unwrap() {
        "ok" => {}
        "skipped" => assert!(reason(giant).contains("1 GiB"), "{}", reason(giant)),
        "refused" => assert!(!reason(giant).is_empty(), "{giant:#}"),
        other => panic!("{other}: {giant:#}"),
    }
    crate::support::waiting::wait_until("the pool is as it was", || {
        std::fs::read_to_string(GIANT_POOL).is_ok_and(|now| now == before)
    });
}
