//! The `transfer` methods, driven by hand and by the laboratory. No test asserts a time.

use crate::support::sides::{Launch, Worker, pagewise, spoiled_cell};
use crate::support::skips::{skip, thorough};
use crate::support::suite::conforms;
use crate::support::waiting::wait_until_at_work;
use record::transcript::SideEnding;
use std::process::Command;

const OPTIONS: [(&str, &str); 8] = [
    ("sndbuf", "65536"),
    ("chunk", "4096"),
    ("ring_chunks", "3"),
    ("pipe_bytes", "65536"),
    ("segment", "touched"),
    ("block", "resident"),
    ("pages", "base"),
    ("pin", "none"),
];

fn parameters(bytes: &str) -> Vec<(&str, &str)> {
    let mut all = vec![("bytes", bytes)];
    all.extend(OPTIONS);
    all
}

#[test]
fn every_method_conforms() {
    conforms(
        "transfer",
        &[
            "transfer/shm-memcpy-published@c-O0+c-O0",
            "transfer/vmsplice-gift@c-O3+c-O3",
        ],
    );
}

#[test]
fn every_byte_arrives_at_odd_sizes_between_different_workers() {
    let (a, b) = (Worker::native("c-O0"), Worker::native("c-O3"));
    for bytes in ["1", "4097", "1000001"] {
        let parameters = parameters(bytes);
        for method in a.of("transfer").filter(|m| m.name != "null") {
            let launch = Launch::new();
            let (first, second) = launch.pair(&a, &b, &[(method, &parameters)], 2);
            if let Some(SideEnding::Skip { reason, .. }) = first.transcript.endings.first() {
                assert!(
                    reason.contains("whole pages") || reason.contains("no right"),
                    "{}: {reason}",
                    method.name
                );
                assert!(matches!(
                    second.transcript.endings.first(),
                    Some(SideEnding::Skip { .. })
                ));
                continue;
            }
            let receiver = if method.name == "limit" {
                &first
            } else {
                &second
            };
            for slot in [0, 1] {
                assert_eq!(receiver.facts(slot)["wrong_at"], bytes, "{}", method.name);
            }
            if method.name != "limit" && method.name != "vmsplice-gift" {
                // What is handed over stays the sender's, too, unless it is sealed.
                let sees = if method.group == "handover" && method.name != "memfd-sealed" {
                    "1"
                } else {
                    "0"
                };
                assert_eq!(
                    second.facts(1)["sees_later_change"],
                    sees,
                    "{}",
                    method.name
                );
                assert_eq!(first.facts(1)["source_wrong_at"], bytes);
            }
            assert_eq!(launch.leftovers(), Vec::<std::path::PathBuf>::new());
        }
    }
}

#[test]
fn shared_memory_needs_three_blocks_and_vmsplice_two() {
    let worker = Worker::native("c-O3");
    let blocks = |name: &str| {
        let launch = Launch::new();
        let parameters = parameters("1048576");
        let (_, b) = launch.pair(
            &worker,
            &worker,
            &[(worker.method("transfer", name), &parameters)],
            1,
        );
        b.facts(0)["memory_bytes"].parse::<u64>().unwrap() as f64 / 1_048_576.0
    };
    // malloc's header takes a page more of each block; the ring holds three pages and its head.
    assert!((3.0..3.1).contains(&blocks("shm-memcpy-published")));
    assert!((2.0..2.1).contains(&blocks("vmsplice-published")));
    assert!((2.0..2.1).contains(&blocks("shm-ring")));
    assert_eq!(blocks("memfd-handover"), 1.0);
}

#[test]
fn what_one_side_cannot_do_both_skip_and_the_launch_goes_on() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    let odd = [
        ("bytes", "65536"),
        ("chunk", "4096"),
        ("pipe_bytes", "100000"),
        ("pages", "base"),
        ("pin", "none"),
    ];
    let good = parameters("65536");
    let cells: [(_, &[_]); 2] = [
        (worker.method("transfer", "pipe-wide"), &odd),
        (worker.method("transfer", "pipe"), &good),
    ];
    let (a, b) = launch.pair(&worker, &worker, &cells, 2);
    for side in [&a, &b] {
        let [SideEnding::Skip { cell: 0, reason }] = &side.transcript.endings[..] else {
            panic!("not one skip")
        };
        assert!(reason.contains("131072"), "{reason}");
        assert!(
            side.transcript.samples.iter().all(|s| s.cell == 1)
                && !side.transcript.samples.is_empty()
        );
    }
}

#[test]
fn a_side_whose_peer_dies_ends_without_a_figure_for_what_was_cut() {
    if !thorough() {
        return;
    }
    let worker = Worker::native("c-O3");
    let by_memory = [
        "shm-ring",
        "shm-ring-cached",
        "shm-ring-streaming",
        "shm-memcpy-published",
        "memfd-handover",
    ];
    let by_calls = [
        "pipe",
        "vmsplice-published",
        "unix-stream",
        "tcp",
        "process-vm-readv",
        "process-vm-writev",
    ];
    for method in by_memory.into_iter().chain(by_calls) {
        for victim in ['a', 'b'] {
            let launch = Launch::new();
            let parameters = parameters("33554432");
            let cells: [(_, &[_]); 1] = [(worker.method("transfer", method), &parameters)];
            let a = launch.start(&worker, &launch.request(&cells, Some('a'), 100_000));
            launch.wait_for_meeting_place(true);
            let b = launch.start(&worker, &launch.request(&cells, Some('b'), 100_000));
            launch.wait_for_meeting_place(false);
            wait_until_at_work(a.child.id());
            wait_until_at_work(b.child.id());
            let (mut killed, survivor) = if victim == 'a' { (a, b) } else { (b, a) };
            killed.child.kill().unwrap();
            killed.child.wait().unwrap();
            let ended = survivor.end();
            assert!(
                !ended.status.success() && !ended.transcript.done,
                "{method}, {victim} killed"
            );
            for ending in &ended.transcript.endings {
                let SideEnding::Fail { error: reason, .. } = ending else {
                    panic!("{ending:?}")
                };
                assert!(
                    reason.contains("the other side ended after")
                        && reason.contains("of 33554432 bytes"),
                    "{reason}"
                );
            }
            assert!(
                !ended.transcript.endings.is_empty() || ended.messages.contains("rendezvous"),
                "{}",
                ended.messages
            );
            assert_eq!(launch.leftovers(), Vec::<std::path::PathBuf>::new());
        }
    }
}

#[test]
fn a_wrong_byte_at_the_receiver_is_found_where_it_is() {
    let place = tempfile::tempdir().unwrap();
    for offset in [0, 70_000, 262_143] {
        let cell = spoiled_cell(&place, "transfer/pipe", &["bytes=256KiB"], offset);
        assert_eq!(cell["status"], "untrusted");
        let reason = crate::support::place::reason(&cell);
        assert!(
            reason.contains(&format!("{offset} against 262144")),
            "{reason}"
        );
    }
}

#[test]
fn the_overlap_of_both_sides_is_what_stands_first() {
    let place = tempfile::tempdir().unwrap();
    let kept = place.path().join("run").display().to_string();
    let what = [
        "run",
        "transfer/shm-ring",
        "--set",
        "bytes=256KiB",
        "--out",
        &kept,
    ];
    let output = pagewise(&place, &what)
        .args(["--launches", "1", "--budget", "5s", "--json"])
        .output()
        .unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let cell = &summary["cells"][0];
    // Other guests of a busy host may disturb a launch; that is said of it, and no fault of the overlap.
    let disturbed = crate::support::place::reason(cell).contains("disturbed");
    assert!(cell["status"] == "ok" || disturbed, "{cell:#}");
    let median =
        |name: &str, column: &str| cell["phases"][name][column]["median"].as_f64().unwrap();
    for side in ["send", "receive"] {
        assert!(
            median("overall", "wall_ns") >= median(side, "wall_ns"),
            "{cell:#}"
        );
    }
    assert_eq!(
        cell["phases"]["overall"]["samples"],
        cell["phases"]["send"]["samples"]
    );
    let report = pagewise(&place, &["report", &kept, "--full"])
        .output()
        .unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(
        report.contains("send beside receive") && report.contains("send calls/MiB"),
        "{report}"
    );
}

#[test]
fn the_published_jobs_have_the_faults_of_a_block_that_nobody_touched() {
    let worker = Worker::native("c-O0");
    let (size, pages) = ("16777216", 16_777_216 / rustix::param::page_size() as u64);
    for (method, segment_pages) in [("shm-memcpy-published", pages), ("vmsplice-published", 0)] {
        for (block, segment) in [("untouched", "fresh"), ("resident", "touched")] {
            let launch = Launch::new();
            let parameters = [
                ("bytes", size),
                ("pin", "none"),
                ("block", block),
                ("segment", segment),
            ];
            let (a, b) = launch.pair(
                &worker,
                &worker,
                &[(worker.method("transfer", method), &parameters)],
                2,
            );
            let faults = |side: &crate::support::sides::Ended, phase: &str| {
                let mut of = side
                    .transcript
                    .samples
                    .iter()
                    .filter(|s| side.transcript.phases[usize::from(s.phase)] == phase);
                of.next_back().unwrap().counts.minor_faults
            };
            let huge: u64 = b.facts(1)["b.huge_bytes"].parse().unwrap();
            let own = pages - huge / rustix::param::page_size() as u64;
            let untouched = block == "untouched";
            assert_eq!(faults(&b, "fault-block") > 0, !untouched, "{method}");
            assert!(
                !untouched || faults(&b, "receive") >= own,
                "{method}: {}",
                faults(&b, "receive")
            );
            assert_eq!(
                faults(&a, "fault-channel"),
                if untouched { 0 } else { segment_pages },
                "{method}"
            );
            assert!(faults(&a, "send") >= if untouched { segment_pages } else { 0 });
            assert_eq!(b.facts(1)["wrong_at"], size);
        }
    }
}

#[test]
fn a_gift_is_new_pages_each_time_and_huge_blocks_are_huge() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    let mut parameters = parameters("4194304");
    parameters
        .iter_mut()
        .filter(|(key, _)| *key == "pages")
        .for_each(|p| p.1 = "huge");
    for name in ["vmsplice-gift", "pipe"] {
        let (a, b) = launch.pair(
            &worker,
            &worker,
            &[(worker.method("transfer", name), &parameters)],
            3,
        );
        if let Some(SideEnding::Skip { reason, .. }) = a.transcript.endings.first() {
            assert!(reason.contains("pages=huge"), "{reason}");
            continue;
        }
        assert_eq!(
            (a.facts(2)["huge_bytes"], b.facts(2)["b.huge_bytes"]),
            ("4194304", "4194304"),
            "{name}"
        );
        assert_eq!(b.facts(2)["wrong_at"], "4194304");
    }
}

#[test]
fn each_way_has_processes_of_its_own_so_that_none_finds_what_another_left_in_the_caches() {
    let place = tempfile::tempdir().unwrap();
    let planned = |cells: [&str; 2]| {
        let arguments = [
            "run",
            cells[0],
            cells[1],
            "--set",
            "bytes=64KiB",
            "--dry-run",
        ];
        let output = pagewise(&place, &arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let apart = planned(["transfer/pipe", "transfer/shm-ring"]);
    assert!(
        apart.contains("2 cells in 3 processes"),
        "two ways and the baseline's duplicate: {apart}"
    );
    let shared = planned(["copy/memcpy", "copy/streaming"]);
    assert!(shared.contains(" in 1 process"), "{shared}");
}

/// A channel that is closed just before a sample makes the next one's sides wake each other sooner.
#[test]
fn a_channel_is_opened_once_a_launch() {
    const OPENING: [&str; 4] = ["pipe2", "socketpair", "accept4", "memfd_create"];
    if Command::new("strace").arg("-V").output().is_err() {
        return skip("strace is not installed");
    }
    let worker = Worker::native("c-O3");
    let mut usual = parameters("262144");
    usual.extend([("cache", "hot"), ("place", "disk"), ("sink", "memory")]);
    let channels = [
        ("transfer", "pipe"),
        ("transfer", "tcp"),
        ("transfer", "shm-ring"),
        ("relay", "splice"),
        ("relay", "sendfile"),
    ];
    let opened = |cells: &[_], rounds: u32| {
        let (launch, trace) = (Launch::new(), tempfile::NamedTempFile::new().unwrap());
        let mut strace = Command::new("strace");
        strace.args([
            "-f",
            "-qq",
            "-e",
            "signal=none",
            "-e",
            &format!("trace={}", OPENING.join(",")),
            "-o",
        ]);
        strace.arg(trace.path()).arg(&worker.path);
        let first = launch.start_command(strace, &launch.request(cells, Some('a'), rounds));
        let second = launch.start(&worker, &launch.request(cells, Some('b'), rounds));
        for side in [first.end(), second.end()] {
            assert!(
                side.status.success() && side.transcript.done,
                "{:?} {}",
                side.status,
                side.messages
            );
        }
        // A strace that does not know a call shows it whatever is asked for.
        let text = std::fs::read_to_string(trace.path()).unwrap();
        text.lines()
            .filter(|line| OPENING.iter().any(|call| line.contains(call)))
            .count()
    };
    for (experiment, name) in channels {
        let cells = [(worker.method(experiment, name), &usual[..])];
        let once = opened(&cells, 1);
        assert_eq!((once > 1, opened(&cells, 4)), (true, once), "{name}");
    }
}
