//! The neighbor of the `prefault` methods: it runs where it was asked for and nowhere else, and no wait of its is left out.

use std::time::Duration;

use crate::prefault::ended;
use crate::support::place::{Place, cell};
use crate::support::sides::{Launch, Worker};
use crate::support::skips::skip;
use record::transcript::SideEnding;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn has_two_cpus() -> bool {
    let has = std::thread::available_parallelism().map_or(1, usize::from) >= 2;
    if !has {
        skip("a neighbor needs a CPU of its own");
    }
    has
}

/// Counts of a slot's latencies together.
fn count(buckets: Option<&Vec<(u64, u64, u64)>>) -> u64 {
    buckets
        .into_iter()
        .flatten()
        .map(|(_, _, count)| count)
        .sum()
}

#[test]
fn nobody_operates_beside_the_work_unless_asked_for() {
    let ended = ended(&["touch"], &[]);
    assert_eq!(ended.facts(0)["neighbor_ops"], "0");
    assert!(ended.transcript.latencies.is_empty() && ended.transcript.idle.is_empty());
}

#[test]
fn a_neighbor_has_an_idle_tail_and_one_beside_the_work() {
    if !has_two_cpus() {
        return;
    }
    for neighbor in ["same-process", "other-process"] {
        let ended = ended(
            &["populate-write", "collapse"],
            &[("neighbor", neighbor), ("bytes", "67108864")],
        );
        for slot in 0..2 {
            let facts = ended.facts(slot);
            let Some(beside) = facts.get("neighbor_ops") else {
                skip("a method does not run here");
                continue;
            };
            let number = |name: &str| facts[name].parse::<u64>().unwrap();
            let transcript = &ended.transcript;
            assert_eq!(count(transcript.latencies.get(&slot)).to_string(), *beside);
            assert_eq!(count(transcript.idle.get(&slot)), number("idle_ops"));
            let faults = match neighbor {
                "same-process" => 0,
                _ => number("idle_ops") + number("neighbor_ops"),
            };
            assert_eq!(number("neighbor_faults"), faults, "{neighbor}: {facts:?}");
        }
    }
}

const STOP: Duration = Duration::from_millis(5);

/// Stops the children of a worker again and again until it has ended; how often.
fn stop_children(worker: u32) -> u32 {
    let mut stops = 0;
    while std::fs::read_link(format!("/proc/{worker}/exe")).is_ok() {
        let children = format!("/proc/{worker}/task/{worker}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        for child in children.split_whitespace() {
            let child = Pid::from_raw(child.parse().unwrap()).unwrap();
            if kill_process(child, Signal::STOP).is_ok() {
                std::thread::sleep(STOP);
                stops += u32::from(kill_process(child, Signal::CONT).is_ok());
            }
        }
        std::thread::sleep(4 * STOP);
    }
    stops
}

/// A stop of so many milliseconds is in the histogram, and all that was due meanwhile waited for a part of it.
#[test]
fn a_neighbor_that_is_stopped_counts_every_operation_that_was_due() {
    if !has_two_cpus() {
        return;
    }
    let worker = Worker::native("c-O3");
    let parameters = [
        ("bytes", "268435456"),
        ("sharing", "private"),
        ("pinned", "no"),
        ("neighbor", "other-process"),
    ];
    let cells = [(worker.method("prefault", "touch"), &parameters[..])];
    let launch = Launch::new();
    let side = launch.start(&worker, &launch.request(&cells, None, 4));
    let process = side.child.id();
    let stopping = std::thread::spawn(move || stop_children(process));
    let ended = side.end();
    let stops = stopping.join().unwrap();
    assert!(ended.transcript.done, "{}", ended.messages);
    let slots = 0..4;
    let buckets = slots.flat_map(|slot| {
        let [a, b] =
            [&ended.transcript.latencies, &ended.transcript.idle].map(|all| all.get(&slot));
        a.into_iter().chain(b).flatten()
    });
    let half = STOP.as_nanos() as u64 / 2;
    let waited: u64 = buckets
        .filter(|(low, _, _)| *low >= half)
        .map(|(_, _, count)| count)
        .sum();
    // 5 ms hold a hundred operations: a loop that begins the next when the last has ended would count one for each stop.
    assert!(
        waited >= 2 * u64::from(stops),
        "{stops} stops, and {waited} operations waited for {half} ns or longer"
    );
}

#[test]
fn a_neighbor_without_a_cpu_of_its_own_is_refused_in_words() {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let bytes = (cpus * (4 << 20)).to_string();
    let ended = ended(
        &["touch"],
        &[
            ("neighbor", "same-process"),
            ("threads", &cpus.to_string()),
            ("bytes", &bytes),
        ],
    );
    let [SideEnding::Skip { reason, .. }] = &ended.transcript.endings[..] else {
        panic!("{:?}", ended.transcript.endings);
    };
    let expected = format!("threads={cpus} and a neighbor need {} CPUs", cpus + 1);
    assert!(reason.starts_with(&expected), "{reason}");
}

#[test]
fn the_summary_the_screen_and_the_page_have_the_neighbors_tail() {
    if !has_two_cpus() {
        return;
    }
    let place = Place::new();
    let run = [
        "run",
        "prefault/touch@c-O3",
        "prefault/populate-write@c-O3",
        "--set",
        "bytes=16MiB",
        "--set",
        "threads=1",
        "--set",
        "neighbor=same-process",
        "--launches",
        "2",
        "--budget",
        "10s",
    ];
    let result = place.run(&[&run[..], &["--json"]].concat());
    assert_eq!(result.code, 0, "{}", result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    for name in ["prefault/touch@c-O3", "prefault/populate-write@c-O3"] {
        let latency = &cell(&summary, name, &[])["latency_ns"];
        let number = |value: &Value| value.as_f64().unwrap();
        assert!(number(&latency["idle"]["trips"]) >= 400.0, "{latency:#}");
        assert!(number(&latency["p99"]) > 0.0 && number(&latency["idle"]["p99"]) > 0.0);
    }
    let run = summary["run"].as_str().unwrap();
    let screen = place.run(&["report", run, "--full"]).out;
    assert!(screen.contains("neighbor's p99: "), "{screen}");
    assert!(screen.contains("worst before it"), "{screen}");
    let path = place.file("page.html");
    let page = place.run(&["report", run, "--html", path.to_str().unwrap()]);
    assert_eq!(page.code, 0, "{}", page.err);
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("Rate of the work against the neighbor"));
}
