//! Starts one worker, or the two sides of a pair, sleeps until they have ended, and says how they did.

use super::signals::Signals;
use crate::worker;
use anyhow::{Context, Result};
use files::{Folder, kernel};
use record::{launches::End, sizes::LONGEST_S};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, kill_process_group, pidfd_open,
    set_child_subreaper, waitpid,
};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{collections::BTreeSet, ffi::OsString};

/// Time for the other side, or a worker that was asked to end.
const GRACE: Duration = Duration::from_secs(2);

/// One process to start.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// Program and arguments of the worker.
    pub command: &'a [OsString],
    /// Options for the helper's `exec` verb, such as `--preload PATH`.
    pub options: Vec<OsString>,
    pub without: &'a [String],
    pub request: &'a Path,
    pub transcript: &'a Path,
    pub messages: &'a Path,
}

impl<'a> Side<'a> {
    /// A process without options, with its files: request, transcript and messages.
    pub fn new(
        command: &'a [OsString],
        [request, transcript, messages]: [&'a Path; 3],
    ) -> Side<'a> {
        Side {
            command,
            options: Vec::new(),
            without: &[],
            request,
            transcript,
            messages,
        }
    }
}

/// The end of one process, as far as it is known yet.
struct Watched {
    child: Child,
    pid: Pid,
    pidfd: OwnedFd,
    ended: Option<ExitStatus>,
    cause: Option<End>,
}

impl Watched {
    fn start(side: &Side) -> Result<Watched> {
        let mut command = worker::helper_command()?;
        command
            .env("PAGEWISE_HELPER", worker::helper()?)
            .arg("exec")
            .arg("--parent")
            .arg(std::process::id().to_string());
        command.args(&side.options).arg("--").args(side.command);
        for name in side.without {
            command.env_remove(name);
        }
        // The helper's captures need no request.
        let request = if side.request == Path::new("/dev/null") {
            Stdio::null()
        } else {
            files::open_input(side.request)?.into()
        };
        command
            .stdin(request)
            .stdout(created(side.transcript)?)
            .stderr(created(side.messages)?);
        // A process group of its own: Ctrl-C at the terminal reaches the laboratory only, which then ends the whole group.
        command.process_group(0);
        let mut child = command.spawn().context("cannot start a worker")?;
        let pid = Pid::from_child(&child);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Ok(Watched {
                child,
                pid,
                pidfd,
                ended: None,
                cause: None,
            }),
            Err(error) => {
                // Nobody would watch it: it must not make anything after the guard has removed what is left.
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = child.wait();
                Err(error).context("pidfd_open (Linux 5.3 or newer is needed)")
            }
        }
    }

    /// Ends it for a reason; the first reason stays.
    fn end(&mut self, cause: End, signal: Signal) {
        if self.ended.is_none() {
            self.cause.get_or_insert(cause);
            let _ = kill_process_group(self.pid, signal);
        }
    }

    fn result(&self) -> End {
        let status = self.ended.expect("asked only after it has ended");
        match (&self.cause, status.signal()) {
            (Some(cause), _) => cause.clone(),
            (None, Some(signal)) => End::Signal(signal),
            (None, None) => End::Exit(status.code().unwrap_or(-1)),
        }
    }
}

/// A new file in the place of what is there.
fn created(path: &Path) -> files::Result<files::File> {
    let folder = Folder::open(path.parent().unwrap_or(path))?;
    folder.replace(path.file_name().unwrap_or_default())
}

/// Facts of an ended launch.
#[derive(Clone, Debug)]
pub struct Ended {
    pub ends: Vec<End>,
    /// From the first start to the last end.
    pub wall: Duration,
}

/// Starts the sides and waits for all of them. Whatever happens, no process of the launch is left when this returns.
pub fn launch(sides: &[Side], time_limit: TimeLimit, signals: &Signals) -> Result<Ended> {
    let begun = Begun::now();
    let started = Instant::now();
    let mut watched = Vec::with_capacity(sides.len());
    let mut trouble = None;
    for side in sides {
        match Watched::start(side) {
            Ok(side) => watched.push(side),
            Err(error) => {
                trouble = Some(error);
                break;
            }
        }
    }
    if trouble.is_some() {
        watched
            .iter_mut()
            .for_each(|side| side.end(End::Stopped, Signal::KILL));
    }
    if let Err(error) = wait(&mut watched, begun, time_limit, signals) {
        watched
            .iter_mut()
            .for_each(|side| side.end(End::Stopped, Signal::KILL));
        return Err(error);
    }
    match trouble {
        Some(error) => Err(error),
        None => Ok(Ended {
            ends: watched.iter().map(Watched::result).collect(),
            wall: started.elapsed(),
        }),
    }
}

/// Waits for all processes; past a deadline it asks them to end (so that they can say where they are), then kills them.
/// An error is that one cannot be waited for.
fn wait(watched: &mut [Watched], begun: Begun, limit: TimeLimit, signals: &Signals) -> Result<()> {
    let time_limit = limit.duration();
    let mut deadline = begun.deadline(TimeLimit::Strict(time_limit), std::iter::empty());
    let mut has_asked = false;
    loop {
        for side in watched.iter_mut().filter(|w| w.ended.is_none()) {
            if let Some(status) = side.child.try_wait().context("cannot wait for a worker")? {
                side.ended = Some(status);
                // Helpers that the worker forked die with it; the group is ended once more in case one was being born.
                let _ = kill_process_group(side.pid, Signal::KILL);
            }
        }
        if watched.iter().all(|w| w.ended.is_some()) {
            return Ok(());
        }
        let one_failed = watched
            .iter()
            .any(|w| w.ended.is_some_and(|status| !status.success()));
        let now = Instant::now();
        if now >= deadline && !has_asked && !one_failed {
            let running = watched.iter().filter(|w| w.ended.is_none());
            deadline =
                deadline.max(begun.deadline(limit, running.map(|w| w.pid.as_raw_nonzero().get())));
        }
        if signals.arrived().is_some() {
            watched
                .iter_mut()
                .for_each(|side| side.end(End::Stopped, Signal::KILL));
        } else if now >= deadline {
            for side in watched
                .iter_mut()
                .filter(|w| has_asked && w.ended.is_none())
            {
                if let Some(End::TimeLimit(seconds)) = side.cause {
                    side.cause = Some(End::Deaf(seconds));
                }
            }
            let cause = || {
                if one_failed {
                    End::OtherSide
                } else {
                    End::TimeLimit(time_limit.as_secs())
                }
            };
            let signal = if has_asked {
                Signal::KILL
            } else {
                Signal::TERM
            };
            watched
                .iter_mut()
                .for_each(|side| side.end(cause(), signal));
            has_asked = true;
            deadline = now + GRACE;
        } else if one_failed && watched.len() > 1 {
            deadline = deadline.min(now + GRACE);
        }
        sleep_until(watched, deadline, signals)?;
    }
}

/// Waits for a time, or for a signal.
pub fn pause(time: Duration, signals: &Signals) -> Result<()> {
    let deadline = Instant::now() + time;
    while signals.arrived().is_none() && Instant::now() < deadline {
        sleep_until(&[], deadline, signals)?;
    }
    Ok(())
}

fn sleep_until(watched: &[Watched], deadline: Instant, signals: &Signals) -> Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    let timeout = Timespec {
        tv_sec: left.as_secs() as i64,
        tv_nsec: i64::from(left.subsec_nanos()),
    };
    let running = watched.iter().filter(|w| w.ended.is_none());
    let mut descriptors: Vec<PollFd> = running
        .map(|w| PollFd::from_borrowed_fd(w.pidfd.as_fd(), PollFlags::IN))
        .collect();
    if signals.arrived().is_none() {
        descriptors.push(PollFd::from_borrowed_fd(
            signals.descriptor(),
            PollFlags::IN,
        ));
    }
    // An interrupted poll is as good as a finished one: the caller looks at everything again.
    match poll(&mut descriptors, Some(&timeout)) {
        Err(error) if error != Errno::INTR => Err(error).context("cannot wait for a worker"),
        _ => Ok(()),
    }
}

/// Adopts the orphans of one launch for as long as it lives.
pub struct Adopting {
    before: BTreeSet<i32>,
}

impl Adopting {
    /// Begins; children that are there already are none of the helper's.
    pub fn begin() -> Adopting {
        let _ = set_child_subreaper(Some(Pid::INIT));
        Adopting { before: children() }
    }
}

impl Drop for Adopting {
    /// Ends every orphan. The children of an orphan that ends are orphans themselves.
    fn drop(&mut self) {
        loop {
            let orphans: Vec<Pid> = children()
                .difference(&self.before)
                .filter_map(|&pid| Pid::from_raw(pid))
                .collect();
            if orphans.is_empty() {
                break;
            }
            for pid in orphans {
                let _ = kill_process(pid, Signal::KILL);
                let _ = waitpid(Some(pid), WaitOptions::empty());
            }
        }
        let _ = set_child_subreaper(None);
    }
}

/// The children of all threads of this process (proc_tid_children(5)).
fn children() -> BTreeSet<i32> {
    let threads = kernel::names("/proc/self/task").into_iter();
    let lists = threads
        .filter_map(|thread| kernel::read(format!("/proc/self/task/{thread}/children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect::<Vec<i32>>()
        })
        .collect()
}

// Time limit of a launch. It counts time in which it could have run: where the host or other
// processes take the CPUs, a worker that waits for one does not hang.

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
    Duration::from_secs_f64(if seconds > 0.0 {
        seconds.min(LONGEST_S)
    } else {
        0.0
    })
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
        Begun {
            at: Instant::now(),
            ticks: ticks(&kernel::read("/proc/stat").unwrap_or_default()),
        }
    }

    /// When a launch of these processes is to be ended, as far as can be told now.
    pub fn deadline(&self, limit: TimeLimit, pids: impl Iterator<Item = i32>) -> Instant {
        let TimeLimit::Able(limit) = limit else {
            return self.at + limit.duration();
        };
        let now = ticks(&kernel::read("/proc/stat").unwrap_or_default());
        let stolen = self.at.elapsed().mul_f64(stolen_share(self.ticks, now));
        let waited = pids
            .map(|pid| waited(Path::new("/proc"), pid))
            .max()
            .unwrap_or_default();
        self.at + limit + stolen + waited
    }
}

/// The first line of `/proc/stat` (proc_stat(5)): its eighth number is steal; guest time, after it, is in user time already.
fn ticks(stat: &str) -> Ticks {
    let numbers = stat
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1);
    let times: Vec<u64> = numbers.take(8).filter_map(|n| n.parse().ok()).collect();
    Ticks {
        stolen: times.get(7).copied().unwrap_or(0),
        all: times.iter().sum(),
    }
}

fn stolen_share(before: Ticks, now: Ticks) -> f64 {
    let elapsed = now.all.saturating_sub(before.all);
    if elapsed == 0 {
        0.0
    } else {
        now.stolen.saturating_sub(before.stolen) as f64 / elapsed as f64
    }
}

/// The longest that a thread of a process was ready to run and did not: the second number of `schedstat`, in nanoseconds.
fn waited(proc: &Path, pid: i32) -> Duration {
    let tasks = proc.join(pid.to_string()).join("task");
    let waits = kernel::names(&tasks).into_iter().filter_map(|thread| {
        let text = kernel::read(tasks.join(thread).join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    });
    Duration::from_nanos(waits.max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn no_number_of_a_plan_is_too_large_for_a_duration() {
        for (seconds, kept) in [(f64::NAN, 0.0), (-1.0, 0.0), (1e300, LONGEST_S), (0.5, 0.5)] {
            assert_eq!(duration(seconds).as_secs_f64(), kept);
        }
    }

    #[test]
    fn time_that_the_host_took_does_not_count() {
        let before = ticks("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 2 3");
        let now = ticks("cpu  102 0 102 801 0 0 0 95 7 0\n");
        assert_eq!(
            (before, now.all),
            (
                Ticks {
                    stolen: 0,
                    all: 1000
                },
                1100
            )
        );
        assert_eq!(stolen_share(before, now), 0.95);
        assert_eq!(stolen_share(now, now), 0.0);
    }

    #[test]
    fn the_thread_that_waited_longest_counts() {
        let place = tempfile::tempdir().unwrap();
        for (thread, text) in [
            ("7", "100 5000000000 3"),
            ("8", "1 9000000000 3"),
            ("9", ""),
        ] {
            let folder = place.path().join("7/task").join(thread);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("schedstat"), text).unwrap();
        }
        assert_eq!(waited(place.path(), 7), Duration::from_secs(9));
        assert_eq!(waited(place.path(), 8), Duration::ZERO);
    }

    #[test]
    fn what_the_user_said_is_by_the_clock() {
        let begun = Begun {
            at: Instant::now(),
            ticks: Ticks::default(),
        };
        let limit = TimeLimit::Strict(Duration::from_secs(3));
        assert_eq!(
            begun.deadline(limit, [1].into_iter()),
            begun.at + Duration::from_secs(3)
        );
        assert!(
            begun.deadline(TimeLimit::Able(limit.duration()), std::iter::empty())
                >= begun.at + limit.duration()
        );
    }
}
