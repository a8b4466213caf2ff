//! Waiting for something to become so, instead of for a time after which it should be.

use std::path::Path;
use std::time::{Duration, Instant};

/// Longest wait for something that takes a moment on an idle machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until it is so; panics, naming it, where it takes longer than the longest wait.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until nothing is left; a failure says what is.
pub fn wait_until_none<T: std::fmt::Debug>(what: &str, left: impl Fn() -> Vec<T>) {
    let start = Instant::now();
    while !left().is_empty() {
        assert!(start.elapsed() < PATIENCE, "{what} are left: {:?}", left());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until a process is in the middle of its work.
pub fn wait_until_at_work(process: u32) {
    wait_until(&format!("process {process} is at work"), || {
        is_at_work(process)
    });
}

/// Whether a process has used 200 ms of processors' time, far more than it needs to start, and than a side uses while it waits
/// for the other.
pub fn is_at_work(process: u32) -> bool {
    used_ticks(process) >= 20
}

/// Processor time of a process and its threads, in ticks of 10 ms; 0 where it is no more.
fn used_ticks(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the name in brackets, user time is the twelfth field and system time the thirteenth.
    let fields = text
        .rsplit_once(')')
        .map(|(_, after)| after.split_whitespace().skip(11).take(2));
    fields
        .into_iter()
        .flatten()
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum()
}

/// Waits until every thread of a process sleeps, in each of ten looks, so that it does nothing any more but wait.
pub fn wait_until_asleep(process: u32) {
    let mut looks = 0;
    wait_until(&format!("process {process} sleeps"), || {
        looks = if is_asleep(process) { looks + 1 } else { 0 };
        looks == 10
    });
}

fn is_asleep(process: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let state = |task: &Path| {
        std::fs::read_to_string(task.join("stat"))
            .ok()?
            .rsplit_once(") ")?
            .1
            .chars()
            .next()
    };
    let states: Vec<_> = tasks.map(|task| state(&task.path())).collect();
    !states.is_empty() && states.iter().all(|state| *state == Some('S'))
}
