//! Time limit of a launch. It counts time in which it could have run: where the host or other
//! processes take the CPUs, a worker that waits for one does not hang.

use files::kernel;
use record::sizes::LONGEST_S;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest time of a launch.
#[derive(Clone, Copy, Debug)]
pub enum TimeLimit {
    /// By the clock on the wall: the user said so.
    Strict(Duration),
    /// Time in which it could have run.
    Able(Duration),
}

impl TimeLimit {
    pub fn duration(self) -> Duration {
        match self {
            TimeLimit::Strict(limit) | TimeLimit::Able(limit) => limit,
        }
    }
}

/// Seconds of a plan as a duration: at least none, at most [`LONGEST_S`].
pub fn duration(seconds: f64) -> Duration {
    Duration::from_secs_f64(if seconds > 0.0 { seconds.min(LONGEST_S) } else { 0.0 })
}

/// Stolen time at the start of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    at: Instant,
    ticks: Ticks,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    stolen: u64,
    all: u64,
}

impl Begun {
    pub fn now() -> Begun {
        Begun { at: Instant::now(), ticks: ticks(&kernel::read("/proc/stat").unwrap_or_default()) }
    }

    /// When a launch of these processes is to be ended, as far as can be told now.
    pub fn deadline(&self, limit: TimeLimit, pids: impl Iterator<Item = i32>) -> Instant {
        let TimeLimit::Able(limit) = limit else { return self.at + limit.duration() };
        let now = ticks(&kernel::read("/proc/stat").unwrap_or_default());
        let stolen = self.at.elapsed().mul_f64(stolen_share(self.ticks, now));
        let waited = pids.map(|pid| waited(Path::new("/proc"), pid)).max().unwrap_or_default();
        self.at + limit + stolen + waited
    }
}

/// The first line of `/proc/stat` (proc_stat(5)): its eighth number is steal; guest time, after it, is in user time already.
fn ticks(stat: &str) -> Ticks {
    let numbers = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let all: Vec<u64> = numbers.take(8).filter_map(|n| n.parse().ok()).collect();
    Ticks { stolen: all.get(7).copied().unwrap_or(0), all: all.iter().sum() }
}

fn stolen_share(before: Ticks, now: Ticks) -> f64 {
    let all = now.all.saturating_sub(before.all);
    if all == 0 { 0.0 } else { now.stolen.saturating_sub(before.stolen) as f64 / all as f64 }
}

/// The longest that a thread of a process was ready to run and did not: the second number of `schedstat`, in nanoseconds.
fn waited(proc: &Path, pid: i32) -> Duration {
    let tasks = proc.join(pid.to_string()).join("task");
    let waited_ns = |text: String| text.split_whitespace().nth(1).and_then(|n| n.parse().ok());
    let read = |thread: &String| kernel::read(tasks.join(thread).join("schedstat")).ok().and_then(waited_ns);
    let names = kernel::names(&tasks);
    let all = names.iter().filter_map(read);
    Duration::from_nanos(all.max().unwrap_or(0))
}

#[cfg(test)]
#[path = "../../tests/unit/run/patience.rs"]
mod tests;
