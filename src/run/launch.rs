//! Starts one worker, or the two sides of a pair, sleeps until they have ended, and says how they did.

use super::patience::{Begun, TimeLimit};
use super::signals::Signals;
use crate::worker;
use anyhow::{Context, Result};
use files::Folder;
use record::end::End;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

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
        command.env("PAGEWISE_HELPER", worker::helper()?).arg("exec").arg("--parent").arg(std::process::id().to_string());
        command.args(&side.options).arg("--").args(side.command);
        for name in side.without {
            command.env_remove(name);
        }
        let create = |path: &Path| Folder::open(path.parent().unwrap_or(path))?.replace(path.file_name().unwrap_or_default());
        // The helper's captures need no request.
        let nothing = side.request == Path::new("/dev/null");
        let request = if nothing { Stdio::null() } else { files::open_input(side.request)?.into() };
        command.stdin(request).stdout(create(side.transcript)?).stderr(create(side.messages)?);
        // A process group of its own: Ctrl-C at the terminal reaches the laboratory only, which then ends the whole group.
        command.process_group(0);
        let mut child = command.spawn().context("cannot start a worker")?;
        let pid = Pid::from_child(&child);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Ok(Watched { child, pid, pidfd, ended: None, cause: None }),
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
        self.cause.clone().unwrap_or_else(|| match status.signal() {
            Some(number) => End::Signal(number),
            None => End::Exit(status.code().unwrap_or(-1)),
        })
    }
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
        watched.iter_mut().for_each(|side| side.end(End::Stopped, Signal::KILL));
    }
    if let Err(error) = wait(&mut watched, begun, time_limit, signals) {
        watched.iter_mut().for_each(|side| side.end(End::Stopped, Signal::KILL));
        return Err(error);
    }
    match trouble {
        Some(error) => Err(error),
        None => Ok(Ended { ends: watched.iter().map(Watched::result).collect(), wall: started.elapsed() }),
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
        let one_failed = watched.iter().any(|w| w.ended.is_some_and(|status| !status.success()));
        let now = Instant::now();
        if now >= deadline && !has_asked && !one_failed {
            let running = watched.iter().filter(|w| w.ended.is_none());
            deadline = deadline.max(begun.deadline(limit, running.map(|w| w.pid.as_raw_nonzero().get())));
        }
        if signals.arrived().is_some() {
            watched.iter_mut().for_each(|side| side.end(End::Stopped, Signal::KILL));
        } else if now >= deadline {
            for side in watched.iter_mut().filter(|w| has_asked && w.ended.is_none()) {
                if let Some(End::TimeLimit(seconds)) = side.cause {
                    side.cause = Some(End::Deaf(seconds));
                }
            }
            let cause = || if one_failed { End::OtherSide } else { End::TimeLimit(time_limit.as_secs()) };
            let signal = if has_asked { Signal::KILL } else { Signal::TERM };
            watched.iter_mut().for_each(|side| side.end(cause(), signal));
            has_asked = true;
            deadline = now + GRACE;
        } else if one_failed && watched.len() > 1 {
            deadline = deadline.min(now + GRACE);
        }
        sleep_until(watched, deadline, signals)?;
    }
}

fn sleep_until(watched: &[Watched], deadline: Instant, signals: &Signals) -> Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
    let running = watched.iter().filter(|w| w.ended.is_none());
    let mut descriptors: Vec<PollFd> = running.map(|w| PollFd::from_borrowed_fd(w.pidfd.as_fd(), PollFlags::IN)).collect();
    if signals.arrived().is_none() {
        descriptors.push(PollFd::from_borrowed_fd(signals.descriptor(), PollFlags::IN));
    }
    // An interrupted poll is as good as a finished one: the caller looks at everything again.
    match poll(&mut descriptors, Some(&timeout)) {
        Err(error) if error != Errno::INTR => Err(error).context("cannot wait for a worker"),
        _ => Ok(()),
    }
}
