//! A process of this user that runs already, as a study follows it.

use super::arms;
use anyhow::{Context, Result, bail};
use record::command::{Arm, ArmRole};

/// The arm of a process of this user that runs already.
pub fn arm(pid: i32) -> Result<Arm> {
    let status = files::kernel::read(format!("/proc/{pid}/status"))
        .with_context(|| format!("there is no process {pid}"))?;
    let user: Option<u32> = status.lines().find_map(|line| {
        line.strip_prefix("Uid:")?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    });
    match user {
        Some(user) if user != rustix::process::getuid().as_raw() => bail!(
            "process {pid} belongs to another user, whose program pagewise does not read: run it as that one (sudo -u '#{user}' pagewise profile --pid {pid})"
        ),
        None => bail!("/proc/{pid}/status names no user"),
        Some(_) => {}
    }
    let command = files::kernel::read(format!("/proc/{pid}/cmdline"))?;
    let command: Vec<String> = command.split_terminator('\0').map(str::to_owned).collect();
    let line = command.join(" ");
    if command.is_empty() {
        bail!("process {pid} is the kernel's own");
    }
    Ok(arms::plain(
        "unchanged",
        ArmRole::Baseline,
        &format!("process {pid}: {}", line.trim_end()),
        command,
    ))
}

/// Start of a process, in clock ticks since the machine did (proc_pid_stat(5)).
pub fn started_ticks(pid: i32) -> Result<u64> {
    const FIELD_AFTER_NAME: usize = 19;
    let stat = files::kernel::read(format!("/proc/{pid}/stat"))
        .with_context(|| format!("there is no process {pid}"))?;
    // The name before the last parenthesis may hold anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().nth(FIELD_AFTER_NAME);
    ticks
        .and_then(|ticks| ticks.parse().ok())
        .with_context(|| format!("/proc/{pid}/stat says {stat:?}"))
}
