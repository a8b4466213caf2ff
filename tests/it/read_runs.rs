//! Runs of the `read` experiment: a user's own file, captures in tmpfs, memory bounds, and what a killed one leaves behind.

use crate::support::place::is_measured;
use crate::support::skips::{skip, thorough};
use crate::support::turns;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::reading::{laboratory, run_json, text};
use serde_json::Value;

#[test]
fn a_users_own_file_is_measured_and_stays_as_it_is() {
    let _turn = turns::with_page_cache();
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join("own, with a comma\nand a line break.log");
    fs::write(&own, b"a line that is no packet\n".repeat(8_000)).unwrap();
    let before = (
        fs::read(&own).unwrap(),
        fs::metadata(&own).unwrap().mtime_nsec(),
    );
    let set = format!("file={}", own.display());
    let summary = run_json(
        home.path(),
        &["read/read", "read/mmap", "read/direct", "--set", &set],
    );
    for cell in summary["cells"].as_array().unwrap() {
        assert!(is_measured(cell) || cell["status"] == "skipped", "{cell:#}");
        assert_eq!(
            (
                cell["parameters"]["bytes"].as_str(),
                cell["parameters"]["consume"].as_str()
            ),
            (Some("200000"), Some("sum"))
        );
        assert_eq!(
            cell["parameters"]["file"].as_str(),
            own.canonicalize().unwrap().to_str()
        );
        let names = cell["proofs"]["file_system"].as_array();
        let is_named = names.is_some_and(|names| names.len() == 1);
        assert!(
            is_named || cell["status"] == "skipped" || cell["worker"] != "c-O3",
            "{cell:#}"
        );
    }
    assert_eq!(
        before,
        (
            fs::read(&own).unwrap(),
            fs::metadata(&own).unwrap().mtime_nsec()
        )
    );
}

#[test]
fn a_file_that_cannot_be_read_twice_alike_is_wrong_use() {
    let home = tempfile::tempdir().unwrap();
    for (file, words) in [
        ("/dev/null", "is a device"),
        ("/", "is a directory"),
        ("/nowhere/at/all", "No such file"),
    ] {
        let output = laboratory(
            home.path(),
            &["run", "read", "--set", &format!("file={file}")],
        );
        assert_eq!(output.status.code(), Some(1));
        assert!(
            text(&output.stderr).contains(words),
            "{}",
            text(&output.stderr)
        );
    }
    let output = laboratory(home.path(), &["run", "fault", "--set", "file=/etc/passwd"]);
    assert!(
        text(&output.stderr).contains("name an experiment that reads a file"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn tmpfs_cannot_be_cold_and_nothing_is_left_in_it() {
    let _turn = turns::with_page_cache();
    let home = tempfile::tempdir().unwrap();
    let set = [
        "--set",
        "place=tmpfs",
        "--set",
        "bytes=1MiB",
        "--set",
        "cache=cold,hot",
    ];
    let summary = run_json(
        home.path(),
        &[&["read/read", "read/mmap"][..], &set].concat(),
    );
    for cell in summary["cells"].as_array().unwrap() {
        match cell["parameters"]["cache"].as_str().unwrap() {
            "cold" => {
                assert_eq!(cell["status"], "refused");
                assert!(crate::support::place::reason(cell).contains("tmpfs cannot be cold"));
            }
            _ => assert_eq!(cell["status"], "ok", "{cell:#}"),
        }
    }
    let run = summary["run"].as_str().unwrap();
    let left = fs::read_dir("/dev/shm")
        .unwrap()
        .flatten()
        .any(|e| e.file_name().to_string_lossy().contains(run));
    assert!(!left, "the capture in tmpfs is gone");
}

#[test]
fn a_memory_bound_needs_permission_and_leaves_no_cgroup() {
    let _turn = turns::with_page_cache();
    let home = tempfile::tempdir().unwrap();
    let set = [
        "read/read",
        "--set",
        "bytes=48MiB",
        "--set",
        "memory=32MiB",
        "--set",
        "cache=cold",
        "--set",
        "place=disk",
    ];
    let summary = run_json(home.path(), &set);
    assert_eq!(summary["cells"][0]["status"], "refused");
    assert!(crate::support::place::reason(&summary["cells"][0]).contains("--allow-system-changes"));
    let allowed = run_json(
        home.path(),
        &[&set[..], &["--allow-system-changes"]].concat(),
    );
    let cell = &allowed["cells"][0];
    match cell["status"].as_str().unwrap() {
        "skipped" => assert!(
            crate::support::place::reason(cell).contains("no memory cgroup"),
            "{cell:#}"
        ),
        "ok" => {
            assert!(
                cell["proofs"]["resident_after_bytes"]["max"]
                    .as_u64()
                    .unwrap()
                    <= 32 << 20,
                "{cell:#}"
            );
            assert!(!cell["proofs"]["series"].as_array().unwrap().is_empty());
        }
        // Other tests read from the same disk.
        "untrusted"
            if ["foreign_bytes", "switched out"]
                .iter()
                .any(|w| crate::support::place::reason(cell).contains(w)) => {}
        other => panic!("{other}: {cell:#}"),
    }
    let readers = ["read/bufio@go", "read/mapped-buffer@java*"];
    let unbound = [&["run", "--launches", "1"][..], &readers[..], &set[1..]].concat();
    let other = laboratory(home.path(), &unbound);
    assert_eq!(
        other.status.code(),
        Some(1),
        "a reader without a bound is not measured in place of one"
    );
    assert!(text(&other.stderr).contains("memory has no effect on the selected methods"));
    let small = run_json(
        home.path(),
        &[
            "read/read",
            "--set",
            "bytes=48MiB",
            "--set",
            "memory=1MiB",
            "--set",
            "cache=cold",
            "--set",
            "place=disk",
            "--allow-system-changes",
        ],
    );
    assert_eq!(
        small["cells"][0]["status"], "refused",
        "the worker itself would not fit"
    );
    assert_eq!(
        cgroups_of(allowed["run"].as_str().unwrap()),
        Vec::<PathBuf>::new()
    );
}

/// Which files version 2 wants written is tested on a tree of plain files (src/bound.rs); joining is tested on the real one.
#[test]
fn a_process_joins_a_cgroup_of_version_2() {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let unified = mounts
        .lines()
        .find(|l| l.contains(" - cgroup2 "))
        .and_then(|l| l.split(' ').nth(4));
    let group = unified
        .map(|at| Path::new(at).join(format!("pagewise-test-joined-{}", std::process::id())));
    let Some(group) = group.filter(|group| fs::create_dir(group).is_ok()) else {
        skip("no cgroup of version 2 can be made here");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    crate::support::reading::worker(place.path());
    let mut command = Command::new(crate::support::native::helper(place.path()));
    command
        .args(["exec", "--cgroup"])
        .arg(&group)
        .args(["--", "/bin/cat", "/proc/self/cgroup"]);
    let said = command.output().unwrap();
    fs::remove_dir(&group).unwrap();
    let name = group.file_name().unwrap().to_str().unwrap();
    let joined = text(&said.stdout)
        .lines()
        .any(|l| l.starts_with("0::") && l.ends_with(name));
    assert!(joined, "{}{}", text(&said.stdout), text(&said.stderr));
}

/// Root may read everything, so it gives the right up first.
fn without_rights_over_files(arguments: &[&str]) -> Option<Command> {
    let laboratory = assert_cmd::cargo::cargo_bin("pagewise");
    let mut command = Command::new(&laboratory);
    if rustix::process::geteuid().is_root() {
        Command::new("setpriv").arg("--version").output().ok()?;
        command = Command::new("setpriv");
        command
            .args(["--bounding-set", "-dac_override,-dac_read_search"])
            .arg(laboratory);
    }
    command.args(arguments);
    Some(command)
}

#[test]
fn a_file_that_may_not_be_read_and_a_fifo_are_wrong_use() {
    let home = tempfile::tempdir().unwrap();
    let (closed, fifo) = (home.path().join("closed"), home.path().join("fifo"));
    fs::write(&closed, "secret").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    for (file, words) in [
        (closed, "Permission denied"),
        (fifo, "it is a pipe, not a regular file"),
    ] {
        let set = format!("file={}", file.display());
        let Some(mut command) = without_rights_over_files(&["run", "read", "--set", &set]) else {
            return;
        };
        command
            .env("XDG_CACHE_HOME", home.path().join("cache"))
            .env("XDG_DATA_HOME", home.path().join("data"));
        command.env("PAGEWISE_LOCK", home.path());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            text(&output.stderr).contains(words),
            "{}",
            text(&output.stderr)
        );
    }
}

/// The laboratory's word for readers of every language, whichever are installed, when a file is cut while it measures.
#[test]
fn a_file_that_shrinks_during_a_run_fails_every_reader_and_the_run_ends() {
    if !thorough() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join("shrinks");
    let out = home.path().join("run");
    fs::write(&own, "").unwrap();
    let file = fs::File::options().write(true).open(&own).unwrap();
    file.set_len(64 << 20).unwrap();
    let set = format!("file={}", own.display());
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("pagewise"));
    command
        .env(
            "XDG_CACHE_HOME",
            crate::support::cache::below(&home.path().join("cache")),
        )
        .env("PAGEWISE_LOCK", home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.args([
        "run",
        "--json",
        "--launches",
        "6",
        "--budget",
        "30s",
        "--set",
        &set,
        "--set",
        "cache=hot",
    ]);
    command
        .args([
            "read/read",
            "read/mmap",
            "read/mmap@go",
            "read/bufio@go",
            "read/mapped-buffer@java*",
            "--out",
        ])
        .arg(&out);
    let child = command.spawn().unwrap();
    let patience = std::time::Instant::now();
    while !out.join("decisions.jsonl").exists() && patience.elapsed().as_secs() < 50 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    file.set_len(4096).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        [Some(0), Some(4)].contains(&output.status.code()),
        "{} {}",
        output.status,
        text(&output.stderr)
    );
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    for cell in summary["cells"].as_array().unwrap() {
        let reason = crate::support::place::reason(cell);
        match cell["status"].as_str().unwrap() {
            "skipped" => assert!(
                reason.contains("no Java") || reason.contains("Go"),
                "{reason}"
            ),
            "failed" => assert!(
                [
                    "it has become shorter",
                    "has 4096 bytes and the cell asks for",
                    "SIGBUS"
                ]
                .iter()
                .any(|w| reason.contains(w)),
                "{reason}"
            ),
            other => panic!("{other}: {cell:#}"),
        }
    }
}

fn cgroups_of(run: &str) -> Vec<PathBuf> {
    fn below(folder: &Path, run: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                if entry.file_name().to_string_lossy().contains(run) {
                    found.push(entry.path());
                }
                below(&entry.path(), run, found);
            }
        }
    }
    let mut found = Vec::new();
    below(Path::new("/sys/fs/cgroup"), run, &mut found);
    found
}

#[test]
fn a_killed_laboratory_leaves_no_capture_in_tmpfs_and_no_cgroup() {
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("run");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("pagewise"));
    command
        .env(
            "XDG_CACHE_HOME",
            crate::support::cache::below(&home.path().join("cache")),
        )
        .env("PAGEWISE_LOCK", home.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
        .args([
            "run",
            "read/read",
            "read/mmap",
            "--budget",
            "60s",
            "--allow-system-changes",
            "--out",
        ])
        .arg(&out);
    command.args([
        "--set",
        "bytes=32MiB",
        "--set",
        "memory=unbounded,24MiB",
        "--set",
        "place=disk,tmpfs",
    ]);
    let mut child = command.spawn().unwrap();
    let measuring = || out.join("launches.jsonl").exists();
    let patience = std::time::Instant::now();
    while !measuring() && patience.elapsed().as_secs() < 100 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(measuring(), "the run has begun to measure");
    child.kill().unwrap();
    child.wait().unwrap();
    let plan: Value = serde_json::from_slice(&fs::read(out.join("plan.json")).unwrap()).unwrap();
    let run = plan["run"].as_str().unwrap();
    let left = || {
        let shm = fs::read_dir("/dev/shm")
            .unwrap()
            .flatten()
            .filter(|e| e.file_name().to_string_lossy().contains(run));
        shm.map(|e| e.path())
            .chain(cgroups_of(run))
            .collect::<Vec<_>>()
    };
    let patience = std::time::Instant::now();
    while !left().is_empty() && patience.elapsed().as_secs() < 10 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(left(), Vec::<PathBuf>::new());
}
