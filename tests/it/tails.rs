//! Tails of single operations: what stalls a worker is in its histogram, and as long as it was. No test asserts that a machine
//! is fast: a worker that was stopped cannot have been faster than its stop.

use crate::support::sides::{Launch, Side, Worker};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

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
    let lengths = [1, 5, 50].into_iter().cycle().map(Duration::from_millis).take(30);
    let pause = || std::thread::sleep(Duration::from_millis(20));
    lengths.map_while(|length| stop(process, length).inspect(|_| pause())).collect()
}

/// Latencies of a slot, the longest first: each by the upper end of its bucket.
fn longest(buckets: &[(u64, u64, u64)]) -> Vec<u64> {
    let mut all: Vec<u64> = buckets.iter().flat_map(|(_, high, count)| (0..(*count).min(50)).map(|_| *high)).collect();
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
        assert!(ended.status.success() && ended.transcript.done, "{:?} {}", ended.status, ended.messages);
        let mut seen = 0;
        for sample in &ended.transcript.samples {
            let (from, to) = (sample.counts.start_ns, sample.counts.start_ns + sample.counts.wall_ns);
            let within = stops.iter().filter(|(stopped, resumed)| from <= *stopped && *resumed <= to);
            let mut lengths: Vec<u64> = within.map(|(stopped, resumed)| resumed - stopped).collect();
            lengths.sort_unstable_by(|a, b| b.cmp(a));
            let found = longest(&ended.transcript.latencies[&sample.slot]);
            for (length, found) in lengths.iter().zip(&found) {
                assert!(found >= length, "load={load}: stopped for {length} ns, and the histogram has {found}: {lengths:?}");
                seen += 1;
            }
        }
        assert!(seen >= 3, "load={load}: {seen} of {} stops were within a phase", stops.len());
    }
}
