//! One launch of a user's command. The helper program starts it, waits for all that it started, and says what it cost.

use std::ffi::OsString;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use record::command::{CommandCost, CommandEnd, CommandLaunch, CommandPlan, LaunchMode};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::orphans::Adopting;
use crate::run::signals::Signals;
use crate::worker;

/// A sample each so many microseconds of CPU time tells user from kernel time: eight of them for each tick of 250 Hz.
const SPLIT_US: &str = "500";

/// Launches an arm once.
pub fn launch(
    plan: &CommandPlan,
    arm: usize,
    block: i64,
    mode: LaunchMode,
    signals: &Signals,
) -> Result<CommandLaunch> {
    let thp = thp_rule();
    let (cost, messages) = start(plan, &options(plan, arm, mode), &plan.arms[arm].command, signals)?;
    Ok(CommandLaunch { arm, block, mode, thp, cost: Some(cost), messages, ..CommandLaunch::default() })
}

/// Runs the command that prepares each run; it must succeed.
pub fn prepare(plan: &CommandPlan, signals: &Signals) -> Result<()> {
    let Some(line) = &plan.prepare else { return Ok(()) };
    let command = ["/bin/sh", "-c", line].map(str::to_owned);
    let (cost, messages) = start(plan, &[], &command, signals)?;
    let ended = (cost.end, cost.code);
    if ended != (CommandEnd::Exit, 0) && signals.arrived().is_none() {
        bail!("--prepare {line:?} ended by {:?} {}: {}", cost.end, cost.code, messages.trim());
    }
    Ok(())
}

/// The word in brackets of the kernel's rule for transparent huge pages; empty where there is none.
pub fn thp_rule() -> String {
    let text = files::kernel::read("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    text.split(['[', ']']).nth(1).unwrap_or_default().to_owned()
}

fn options(plan: &CommandPlan, arm: usize, mode: LaunchMode) -> Vec<OsString> {
    let subject = &plan.arms[arm];
    let mut options: Vec<OsString> = Vec::new();
    let mut add = |name: &str, value: OsString| options.extend([name.into(), value]);
    if let Some(input) = &plan.input {
        add("--input", input.into());
    }
    for (name, value) in &subject.variables {
        add("--set", format!("{name}={value}").into());
        add("--expect", format!("{name}={value}").into());
    }
    if let Some(library) = &subject.preloaded {
        add("--watch", library.into());
    }
    if let Some(cpus) = &subject.cpus {
        add("--cpus", cpus.into());
    }
    if subject.setting.as_ref().is_some_and(|s| s.no_thp) {
        add("--no-thp", "1".into());
    }
    if plan.discard_output {
        add("--discard", "1".into());
    }
    match mode {
        LaunchMode::Traced => add("--proof", "1".into()),
        LaunchMode::Followed => add("--faults", "1".into()),
        _ if plan.sample_kernel => add("--split-us", SPLIT_US.into()),
        _ => {}
    }
    for path in &plan.evict {
        add("--evict", path.into());
    }
    options
}

/// Runs a command once in the plan's folder and returns its cost and the end of its messages.
fn start(
    plan: &CommandPlan,
    options: &[OsString],
    words: &[String],
    signals: &Signals,
) -> Result<(CommandCost, String)> {
    let mut command = worker::helper_command()?;
    command.arg("try").arg("--parent").arg(std::process::id().to_string());
    command.arg("--limit-ms").arg((plan.time_limit_s * 1e3).ceil().to_string()).args(options).arg("--").args(words);
    command.current_dir(&plan.directory).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let adopting = Adopting::begin();
    // A process group of its own: Ctrl-C at the terminal reaches the laboratory only, which asks the helper to end it all.
    let mut child = command.process_group(0).spawn().context("cannot start the helper program")?;
    let pid = Pid::from_child(&child);
    if let Err(error) = wait(pid, signals) {
        // Its own end has it end the command.
        let _ = kill_process(pid, Signal::TERM);
        let _ = child.wait();
        return Err(error);
    }
    let status = child.wait().context("cannot wait for the helper program")?;
    drop(adopting);
    let (mut line, mut said) = (String::new(), Vec::new());
    child.stdout.take().context("the helper has no output")?.read_to_string(&mut line)?;
    child.stderr.take().context("the helper has no messages")?.read_to_end(&mut said)?;
    let said = String::from_utf8_lossy(&said).into_owned();
    if !status.success() && signals.arrived().is_some() {
        // The signal reached the helper before it could handle one.
        return Ok((CommandCost { end: CommandEnd::Stopped, ..CommandCost::default() }, said));
    }
    if !status.success() {
        bail!("the helper program could not run the command: {}", said.trim());
    }
    let cost: CommandCost = serde_json::from_str(&line).with_context(|| format!("the helper program said {line:?}"))?;
    Ok((cost, said))
}

/// Sleeps until the helper has ended, and asks it to where a signal arrives.
fn wait(helper: Pid, signals: &Signals) -> Result<()> {
    let ended = pidfd_open(helper, PidfdFlags::empty()).context("pidfd_open (Linux 5.3 or newer is needed)")?;
    loop {
        let mut watched = vec![PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN)];
        if signals.arrived().is_some() {
            let _ = kill_process(helper, Signal::TERM);
        } else {
            watched.push(PollFd::from_borrowed_fd(signals.descriptor(), PollFlags::IN));
        }
        match poll(&mut watched, None) {
            Err(error) if error != Errno::INTR => return Err(error).context("cannot wait for the helper program"),
            _ if !watched[0].revents().is_empty() => return Ok(()),
            _ => {}
        }
    }
}
