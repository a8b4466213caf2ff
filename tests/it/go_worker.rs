//! The Go worker against the native one: the same protocol, the same refusals, the same content. Nothing here asserts a
//! time. Where there is no Go toolchain there is nothing to test, and the tests say so.

use crate::support::place::{Place, cell, is_measured, said};
use crate::support::skips::skip;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use pagewise::worker::carried;
use record::transcript::{SideEnding, Transcript};

struct Workers {
    _place: tempfile::TempDir,
    go: PathBuf,
    native: PathBuf,
}

/// Both workers, the Go one built from the sources in this repository; none where there is no toolchain.
fn workers() -> Option<&'static Workers> {
    static WORKERS: OnceLock<Option<Workers>> = OnceLock::new();
    let workers = WORKERS
        .get_or_init(|| {
            Command::new("go").arg("version").output().ok()?;
            let place = tempfile::tempdir().unwrap();
            let go = place.path().join("worker-go");
            assert!(
                go_tool(&["build", "-trimpath", "-o", go.to_str().unwrap(), "."])
                    .status
                    .success()
            );
            let native = crate::support::native::worker("c-O0", place.path());
            Some(Workers {
                _place: place,
                go,
                native,
            })
        })
        .as_ref();
    if workers.is_none() {
        skip("there is no Go toolchain here");
    }
    workers
}

fn go_tool(arguments: &[&str]) -> Output {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workers/go");
    let mut go = Command::new("go");
    go.current_dir(folder)
        .args(arguments)
        .env("GOTOOLCHAIN", "local")
        .env("GOPROXY", "off")
        .env("GOFLAGS", "-mod=mod");
    go.output().unwrap()
}

fn run(worker: &Path, request: &str) -> Output {
    let mut command = Command::new(worker);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A worker that refuses the beginning may end before it has read the rest.
    let _ = child.stdin.take().unwrap().write_all(request.as_bytes());
    child.wait_with_output().unwrap()
}

fn request(method: &str, keys: &str, rounds: &str) -> String {
    format!("protocol=1\nexperiment=fault\nseed=41\ncell=0\nmethod={method}\n{keys}{rounds}")
}

fn transcript(worker: &Path, request: &str) -> Transcript {
    let output = run(worker, request);
    assert!(
        output.status.success(),
        "{request}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let transcript = Transcript::read(output.stdout.as_slice()).unwrap();
    assert!(transcript.done);
    transcript
}

fn words<'a>(transcript: &'a Transcript, name: &str) -> Vec<&'a str> {
    let facts = transcript.facts.values().flatten();
    facts
        .filter(|(fact, _)| fact == name)
        .map(|(_, value)| value.as_str())
        .collect()
}

#[test]
fn its_sources_are_formatted_and_vetted() {
    if workers().is_none() {
        return;
    }
    let vet = go_tool(&["vet", "."]);
    assert!(
        vet.status.success(),
        "{}",
        String::from_utf8_lossy(&vet.stderr)
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workers/go");
    if let Ok(format) = Command::new("gofmt")
        .args(["-l", "."])
        .current_dir(folder)
        .output()
    {
        assert!(
            format.status.success() && format.stdout.is_empty(),
            "{}",
            String::from_utf8_lossy(&format.stdout)
        );
    }
}

#[test]
fn it_lists_what_the_laboratory_reads_unbuilt() {
    let Some(workers) = workers() else { return };
    let list = Command::new(&workers.go).arg("--list").output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(list.starts_with("pagewise\t1\tgo\n"), "{list}");
    let methods: String = list
        .lines()
        .filter(|l| l.starts_with("method\t"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert_eq!(methods, carried::source("workers/go/methods.tsv").unwrap());
}

#[test]
fn it_leaves_the_same_content_as_the_native_worker() {
    let Some(workers) = workers() else { return };
    for method in ["touch", "thp", "touch-published", "thp-published"] {
        for (bytes, release) in [(4096, "dontneed"), (5 << 20, "dontneed"), (4 << 20, "free")] {
            let common = format!(
                "bytes={bytes}\nrelease={release}\nbacking=recycled\nidle_ms=1\nframes=cached\n"
            );
            let (go, native) = match method {
                "touch" | "thp" => (
                    format!("{common}threads=1\n"),
                    format!("{common}threads=1\nprocesses=1\nrunning=1\n"),
                ),
                _ => {
                    let series = "piled=no\npile=67108864\nbenchtime_ms=1\n";
                    let keys = format!("bytes={bytes}\nrelease={release}\n{series}");
                    (keys.clone(), keys)
                }
            };
            let rounds = "warmup=1 0\nround=0 0\nround=1 0\n";
            let ours = transcript(&workers.go, &request(method, &go, rounds));
            let theirs = transcript(&workers.native, &request(method, &native, rounds));
            assert_eq!(ours.worker, "go");
            assert_eq!(ours.phases, theirs.phases, "{method}");
            assert_eq!(
                words(&ours, "digest"),
                words(&theirs, "digest"),
                "{method} {bytes} {release}"
            );
            assert_eq!(ours.samples.len(), theirs.samples.len());
            assert_eq!(ours.endings, theirs.endings, "{method} {bytes}");
            let rounds = |t: &Transcript| {
                t.samples
                    .iter()
                    .map(|s| (s.slot, s.round, s.cell))
                    .collect::<Vec<_>>()
            };
            assert_eq!(rounds(&ours), rounds(&theirs));
            assert!(
                words(&ours, "gc_cycles")
                    .iter()
                    .all(|cycles| *cycles == "0")
            );
        }
    }
}

#[test]
fn threads_share_the_touching_and_leave_nothing_out() {
    let Some(workers) = workers() else { return };
    let keys = |threads| {
        format!(
            "bytes=5242880\nrelease=dontneed\nbacking=recycled\nidle_ms=1\nframes=cached\nthreads={threads}\n"
        )
    };
    let digests: Vec<_> = [1, 2, 3]
        .map(|threads| {
            let transcript = transcript(
                &workers.go,
                &request("touch", &keys(threads), "round=0 0\n"),
            );
            words(&transcript, "digest")[0].to_owned()
        })
        .into();
    assert!(
        digests.iter().all(|digest| *digest == digests[0]),
        "{digests:?}"
    );
}

#[test]
fn it_refuses_what_the_native_worker_refuses_with_the_same_sentence() {
    let Some(workers) = workers() else { return };
    for request in &crate::support::refusals::wrong() {
        let (ours, theirs) = (run(&workers.go, request), run(&workers.native, request));
        assert_eq!(ours.status.code(), Some(2), "{request}");
        assert_eq!(theirs.status.code(), Some(2), "{request}");
        assert_eq!(
            String::from_utf8_lossy(&ours.stderr),
            String::from_utf8_lossy(&theirs.stderr),
            "{request}"
        );
        assert!(ours.stdout.is_empty());
    }
}

#[test]
fn what_the_machine_refuses_fails_its_cell_only() {
    let Some(workers) = workers() else { return };
    let keys = |bytes: u64| {
        format!(
            "bytes={bytes}\nrelease=dontneed\nbacking=recycled\nidle_ms=1\nframes=cached\nthreads=1\n"
        )
    };
    let two = format!(
        "{}cell=1\nmethod=null\nbytes=4096\nround=0 0,1\n",
        request("touch", &keys(1 << 60), "")
    );
    let transcript = transcript(&workers.go, &two);
    let [SideEnding::Fail { cell: 0, call, .. }] = transcript.endings.as_slice() else {
        panic!("{:?}", transcript.endings)
    };
    assert_eq!(call, "mmap");
    assert_eq!(transcript.samples.len(), 7);
}

#[test]
fn a_signal_that_ends_it_is_named_with_the_cell() {
    let Some(workers) = workers() else { return };
    crate::support::ended::a_signal_is_named_with_the_cell(Command::new(&workers.go), "touch");
}

#[test]
fn its_methods_conform() {
    if workers().is_none() {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let methods = ["touch", "thp", "null", "touch-published", "thp-published"]
        .map(|m| format!("fault/{m}@go"));
    let mut command = assert_cmd::Command::cargo_bin("pagewise").unwrap();
    let output = command
        .env("XDG_CACHE_HOME", crate::support::cache::below(cache.path()))
        .env("PAGEWISE_LOCK", cache.path())
        .arg("check")
        .args(methods)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("ok       fault/touch@go"), "{text}");
}

/// A toolchain that takes longer than the whole budget: what was asked is measured all the same.
#[test]
fn building_it_costs_no_budget() {
    let cached = Command::new("go").args(["env", "GOCACHE"]).output();
    let Some(cached) = cached.ok().filter(|o| o.status.success()) else {
        skip("there is no Go toolchain here");
        return;
    };
    let place = Place::new();
    let path = std::env::var("PATH").unwrap();
    let slow = place.file("bin/go");
    std::fs::create_dir_all(place.file("bin")).unwrap();
    // What is compiled is kept where the user keeps it; only the worker itself is new.
    let script =
        format!("#!/bin/sh\nPATH={path:?}\n[ \"$1\" = build ] && sleep 4\nexec go \"$@\"\n");
    std::fs::write(&slow, script).unwrap();
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cells = [
        "run",
        "fault/touch@go",
        "fault/null@go",
        "--set",
        "bytes=64KiB",
        "--launches",
        "1",
        "--budget",
        "3s",
    ];
    let mut command = place.command(&[&cells[..], &["--json"]].concat());
    command.env("PATH", format!("{}:{path}", place.file("bin").display()));
    command
        .env("XDG_CACHE_HOME", place.file("empty"))
        .env("GOCACHE", String::from_utf8(cached.stdout).unwrap().trim());
    let result = said(&mut command);
    assert!(
        place.file("empty/pagewise/workers").exists(),
        "it was built there: {}",
        result.err
    );
    let summary: serde_json::Value = serde_json::from_str(&result.out).unwrap();
    assert!(
        is_measured(cell(&summary, "fault/touch@go", &[])),
        "{}: {}",
        result.err,
        result.out
    );
}
