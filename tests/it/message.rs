//! The `message` methods, driven by hand and by the laboratory. No test asserts a time.

use std::path::PathBuf;

use crate::support::sides::{Launch, Worker, pagewise};
use crate::support::skips::thorough;
use crate::support::victims::disturb_all;
use crate::support::waiting::wait_until_at_work;
use record::method::Method;
use record::transcript::SideEnding;

fn parameters<'a>(
    bytes: &'a str,
    wait: &'a str,
    pin: &'a str,
    ops: &'a str,
) -> Vec<(&'a str, &'a str)> {
    vec![
        ("bytes", bytes),
        ("ops", ops),
        ("wait", wait),
        ("pin", pin),
        ("threads", "2"),
    ]
}

fn methods(worker: &Worker) -> impl Iterator<Item = &Method> {
    worker
        .of("message")
        .filter(|m| !["null", "limit"].contains(&m.name.as_str()))
}

/// Two sides to their end, whatever that is.
fn both(
    launch: &Launch,
    a: &Worker,
    b: &Worker,
    cells: &[(&Method, &[(&str, &str)])],
    rounds: u32,
) -> [crate::support::sides::Ended; 2] {
    let first = launch.start(a, &launch.request(cells, Some('a'), rounds));
    let second = launch.start(b, &launch.request(cells, Some('b'), rounds));
    [first.end(), second.end()]
}

#[test]
fn every_message_comes_back_whole_between_different_builds() {
    let (a, b) = (Worker::native("c-O0"), Worker::native("c-O3"));
    let mut digests = std::collections::BTreeMap::new();
    for bytes in ["1", "7", "8", "4097", "65536"] {
        // One way nothing comes back; the laws of those methods hold what arrives.
        for method in methods(&a).filter(|m| m.group != "one-way") {
            let spins = ["spin-ring", "mailbox"].contains(&method.name.as_str());
            let wait = if spins { "spin" } else { "block" };
            let launch = Launch::new();
            let parameters = parameters(bytes, wait, "none", "40");
            let [first, second] = both(&launch, &a, &b, &[(method, &parameters)], 2);
            if let Some(SideEnding::Skip { reason, .. }) = first.transcript.endings.first() {
                let carries = [
                    ("udp", "65507"),
                    ("posix-mq", "sysctl fs.mqueue.msgsize_max=65536"),
                ];
                assert!(
                    carries
                        .iter()
                        .any(|(m, words)| *m == method.name && reason.contains(words)),
                    "{reason}"
                );
                assert_eq!(bytes, "65536", "{}: {reason}", method.name);
            } else {
                assert!(
                    first.transcript.done && second.transcript.done,
                    "{} {}",
                    method.name,
                    first.messages
                );
                let (mine, theirs) = (first.facts(1), second.facts(1));
                assert_eq!(
                    (mine["wrong_messages"], theirs["b.wrong_messages"]),
                    ("0", "0"),
                    "{}",
                    method.name
                );
                assert_eq!(mine["sequence_sum"], mine["expected_sequence_sum"]);
                assert_eq!(theirs["b.sequence_sum"], mine["expected_sequence_sum"]);
                let digest = digests
                    .entry(bytes)
                    .or_insert_with(|| mine["digest"].to_owned());
                assert_eq!(
                    [mine["digest"], theirs["digest"]],
                    [digest.as_str(); 2],
                    "{}",
                    method.name
                );
            }
            assert_eq!(launch.leftovers(), Vec::<PathBuf>::new(), "{}", method.name);
        }
    }
}

#[test]
fn every_single_trip_is_counted_once() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    let parameters = parameters("64", "block", "none", "300");
    let (a, b) = launch.pair(
        &worker,
        &worker,
        &[(worker.method("message", "pipe"), &parameters)],
        2,
    );
    for slot in [0, 1] {
        let buckets = &a.transcript.latencies[&slot];
        assert_eq!(buckets.iter().map(|(_, _, count)| count).sum::<u64>(), 300);
        assert!(
            buckets
                .iter()
                .all(|(low, high, _)| low <= high && high - low <= low / 32),
            "{buckets:?}"
        );
        assert!(buckets.windows(2).all(|w| w[0].1 < w[1].0), "{buckets:?}");
    }
    assert!(b.transcript.latencies.is_empty());
}

#[test]
fn pinned_sides_run_where_they_were_pinned() {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let worker = Worker::native("c-O3");
    for (pin, expected) in [("same", "1"), ("l3", "2")] {
        let launch = Launch::new();
        let parameters = parameters("64", "block", pin, "100");
        let [a, b] = both(
            &launch,
            &worker,
            &worker,
            &[(worker.method("message", "futex-ring"), &parameters)],
            2,
        );
        if pin == "l3" && cpus < 2 {
            assert!(matches!(
                a.transcript.endings[..],
                [SideEnding::Skip { .. }]
            ));
            continue;
        }
        assert_eq!(a.facts(1)["cpus"], expected);
        assert!(a.facts(1).contains_key("cpu") && b.facts(1).contains_key("b.cpu"));
    }
}

#[test]
fn what_makes_no_sense_is_skipped_by_both_sides() {
    let worker = Worker::native("c-O3");
    for (name, wait, pin, words) in [
        ("spin-ring", "block", "none", "never sleeps"),
        ("futex-ring", "spin", "none", "is there to sleep"),
        ("pipe", "spin", "same", "wait for the scheduler"),
    ] {
        let launch = Launch::new();
        let parameters = parameters("64", wait, pin, "10");
        for side in both(
            &launch,
            &worker,
            &worker,
            &[(worker.method("message", name), &parameters)],
            1,
        ) {
            let [SideEnding::Skip { reason, .. }] = &side.transcript.endings[..] else {
                panic!("{name}: no skip")
            };
            assert!(reason.contains(words), "{reason}");
        }
    }
}

#[test]
fn a_side_whose_peer_dies_ends_where_it_can_notice() {
    let worker = Worker::native("c-O3");
    // Datagrams, queues and futexes say nothing of a peer that is gone: there the laboratory ends the other side.
    for (name, wait) in [
        ("pipe", "block"),
        ("unix-stream", "block"),
        ("tcp", "block"),
        ("tcp", "spin"),
        ("spin-ring", "spin"),
        ("eventfd", "spin"),
        ("unix-dgram", "spin"),
    ] {
        for victim in ['a', 'b'] {
            let launch = Launch::new();
            let parameters = parameters("64", wait, "none", "2000000");
            let cells: [(_, &[_]); 1] = [(worker.method("message", name), &parameters)];
            let a = launch.start(&worker, &launch.request(&cells, Some('a'), 100));
            launch.wait_for_meeting_place(true);
            let b = launch.start(&worker, &launch.request(&cells, Some('b'), 100));
            launch.wait_for_meeting_place(false);
            wait_until_at_work(a.child.id());
            wait_until_at_work(b.child.id());
            let (mut killed, survivor) = if victim == 'a' { (a, b) } else { (b, a) };
            killed.child.kill().unwrap();
            killed.child.wait().unwrap();
            let ended = survivor.end();
            assert!(
                !ended.status.success() && !ended.transcript.done,
                "{name}, {victim} killed"
            );
            let told = ended
                .transcript
                .endings
                .iter()
                .any(|e| matches!(e, SideEnding::Fail { .. }));
            assert!(
                told || ended.messages.contains("rendezvous"),
                "{name}: {}",
                ended.messages
            );
            assert_eq!(
                launch.leftovers(),
                Vec::<PathBuf>::new(),
                "{name}, {victim} killed"
            );
        }
    }
}

#[test]
fn the_laboratory_ends_the_other_side_and_names_the_cause() {
    if !thorough() {
        return;
    }
    for victim in [0, 1] {
        let place = tempfile::tempdir().unwrap();
        let run = place.path().join("run");
        let folder = run.to_str().unwrap();
        let mut command = pagewise(
            &place,
            &[
                "run",
                "message/udp@c-O3+c-O3",
                "--set",
                "wait=block",
                "--set",
                "bytes=64",
                "--set",
                "ops=100000",
                // One condition: a pause before each of so many trips would last until the limit.
                "--set",
                "idle=no",
                "--set",
                "pin=l3",
                "--launches",
                "1",
                "--budget",
                "30s",
                "--time-limit",
                "10s",
                "--json",
                "--out",
                folder,
            ],
        );
        let told = place.path().join("told");
        command
            .stdout(std::fs::File::create(&told).unwrap())
            .stderr(std::process::Stdio::null());
        disturb_all(
            &mut command.spawn().unwrap(),
            "udp",
            victim,
            rustix::process::Signal::KILL,
        );
        let summary: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&told).unwrap()).unwrap();
        let cell = &summary["cells"][0];
        assert_eq!(cell["status"], "failed", "{cell:#}");
        let reason = crate::support::place::reason(cell);
        assert!(
            reason.contains("killed by signal 9") || reason.contains("SIGKILL"),
            "{reason}"
        );
        let left = std::fs::read_dir("/dev/shm")
            .unwrap()
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned());
        let id = summary["run"].as_str().unwrap_or("nothing").to_owned();
        assert!(left.filter(|name| name.contains(&id)).count() == 0);
    }
}
