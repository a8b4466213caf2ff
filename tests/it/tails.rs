//! Tails of single operations: what stalls a worker is in its histogram, and as long as it was. No test asserts that a machine
//! is fast: a worker that was stopped cannot have been faster than its stop.

use crate::support::place::Place;
use crate::support::sides::{Launch, Side, Worker};
use crate::support::skips::thorough;
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};
use std::process::{Child, Command, Stdio};
use std::{fs, time::Duration};

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The letter of a process's state, as /proc shows it.
fn state(process: Pid) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    text.rsplit_once(") ")?.1.chars().next()
}

/// Stops a worker for so long: from when to when it surely did nothing. `None` where it has ended.
fn stop(process: Pid, length: Duration) -> Option<(u64, u64)> {
    kill_process(process, Signal::STOP).ok()?;
    while state(process)? != 'T' {
        if state(process)? == 'Z' {
            return None;
        }
    }
    let stopped = now_ns();
    std::thread::sleep(length);
    let resumed = now_ns();
    kill_process(process, Signal::CONT).ok()?;
    Some((stopped, resumed))
}

fn stops(side: &Side) -> Vec<(u64, u64)> {
    let process = Pid::from_child(&side.child);
    let lengths = [1, 5, 50]
        .into_iter()
        .cycle()
        .map(Duration::from_millis)
        .take(30);
    let pause = || std::thread::sleep(Duration::from_millis(20));
    lengths
        .map_while(|length| stop(process, length).inspect(|_| pause()))
        .collect()
}

/// Latencies of a slot, the longest first: each by the upper end of its bucket.
fn longest(buckets: &[(u64, u64, u64)]) -> Vec<u64> {
    let mut all: Vec<u64> = buckets
        .iter()
        .flat_map(|(_, high, count)| (0..(*count).min(50)).map(|_| *high))
        .collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    all
}

#[test]
fn each_stop_of_a_worker_is_in_its_histogram_and_as_long_as_it_was() {
    let worker = Worker::native("c-O3");
    for load in ["closed", "open"] {
        let parameters = [("ops", "100000"), ("load", load)];
        let cells = [(worker.method("tail", "message"), &parameters[..])];
        let launch = Launch::new();
        let side = launch.start(&worker, &launch.request(&cells, None, 6));
        let stops = stops(&side);
        let ended = side.end();
        assert!(
            ended.status.success() && ended.transcript.done,
            "{:?} {}",
            ended.status,
            ended.messages
        );
        let mut seen = 0;
        for sample in &ended.transcript.samples {
            let (from, to) = (
                sample.counts.start_ns,
                sample.counts.start_ns + sample.counts.wall_ns,
            );
            let within = stops
                .iter()
                .filter(|(stopped, resumed)| from <= *stopped && *resumed <= to);
            let mut lengths: Vec<u64> =
                within.map(|(stopped, resumed)| resumed - stopped).collect();
            lengths.sort_unstable_by(|a, b| b.cmp(a));
            let found = longest(&ended.transcript.latencies[&sample.slot]);
            for (length, found) in lengths.iter().zip(&found) {
                assert!(
                    found >= length,
                    "load={load}: stopped for {length} ns, and the histogram has {found}: {lengths:?}"
                );
                seen += 1;
            }
        }
        assert!(
            seen >= 3,
            "load={load}: {seen} of {} stops were within a phase",
            stops.len()
        );
    }
}

/// Stops the workers of a laboratory one after the other, so that a worker has some 100 operations between two stops: of a
/// thousand some ten are stopped, ten times what the p99.9 needs. Stops that follow each other at once leave no time to
/// measure in.
fn stop_again_and_again(laboratory: &mut Child) {
    while laboratory.try_wait().unwrap().is_none() {
        let children = format!("/proc/{0}/task/{0}/children", laboratory.id());
        let children = fs::read_to_string(children).unwrap_or_default();
        for child in children.split_whitespace() {
            let program = fs::read_link(format!("/proc/{child}/exe")).unwrap_or_default();
            let is_worker = program
                .file_name()
                .is_some_and(|name| name.to_string_lossy().contains("worker-c-"));
            if is_worker && let Some(process) = Pid::from_raw(child.parse().unwrap()) {
                stop(process, Duration::from_millis(5));
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A recording of messages, and two copies of it: a side of three runs that do not scatter. Which verdict ends with which code
/// is tested, and not the noise of a machine.
fn recorded(place: &Place, is_slowed: bool) -> Vec<String> {
    let names =
        ["first", "second", "third"].map(|name| place.file(&format!("home/{name}-{is_slowed}")));
    let limits = [
        "--launches",
        "4",
        "--budget",
        "40s",
        "--out",
        names[0].to_str().unwrap(),
    ];
    let mut run = place.command(&[&["run", "tail/message@c-O3"], &limits[..]].concat());
    let mut run = run
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if is_slowed {
        stop_again_and_again(&mut run);
    }
    let ended = run.wait_with_output().unwrap();
    let all = format!(
        "{}{}",
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr)
    );
    assert!(ended.status.success(), "{}: {all}", ended.status);
    for name in &names[1..] {
        assert!(
            Command::new("cp")
                .arg("-r")
                .args([&names[0], name])
                .status()
                .unwrap()
                .success()
        );
    }
    names.map(|name| name.display().to_string()).to_vec()
}

#[test]
fn a_gate_on_tails_fails_where_workers_were_stopped_and_passes_the_other_way_round() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let [plain, slowed] = [false, true].map(|is_slowed| recorded(&place, is_slowed));
    let gate = |a: &[String], b: &[String]| {
        let words = [
            "compare",
            "--gate",
            "p99.9:90%",
            "--expect",
            "huge_pages",
            "--expect",
            "memory",
            "--expect",
            "reclaim",
        ]
        .map(str::to_owned);
        let words: Vec<String> = words
            .iter()
            .chain(a)
            .chain(&["--".to_owned()])
            .chain(b)
            .cloned()
            .collect();
        place.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let slower = gate(&plain, &slowed);
    assert!(
        slower.code == 2 && slower.out.contains("p99.9 per operation"),
        "{}{}",
        slower.out,
        slower.err
    );
    let faster = gate(&slowed, &plain);
    assert_eq!(faster.code, 0, "{}{}", faster.out, faster.err);
}
