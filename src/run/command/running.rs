//! A process of this user that runs already, as a study follows it: in windows of time, each of which stands for a launch.

use super::launch::{StackFile, run_helper, thp_rule};
use super::{
    arms,
    stacks::{first_cost, prime},
};
use crate::run::launch::{self, duration};
use crate::{run::signals::Signals, worker};
use anyhow::{Context, Result, bail};
use record::command::{Arm, ArmRole, Attached, CommandCost, CommandLaunch, LaunchMode};
use schedule::command::CommandPart;
use std::ffi::OsString;
use std::path::Path;

/// Length of the first window of a process that runs already, as a share of the others'.
pub const FIRST_WINDOW: f64 = 0.2;
/// CPU time between two samples of the kernel's time, in nanoseconds: a sample costs some 17 µs, so that its kernel time is 2 % longer at most. No multiple
/// of a period that a service may have: clocks of the processors would meet it at the same place each time.
const WINDOW_KERNEL_NS: &str = "981803";
/// Page faults that are recorded, for each second of its CPU time: at about 1 µs they take half a hundredth of
/// it.
const RECORDED: f64 = 5_000.0;
/// Seconds that events of its own cost a process at a context switch (seen in a virtual machine), share of CPU time that they
/// may take, and the least part of a window that has them all the same.
const SWITCH_S: f64 = 2.5e-6;
const MOST_EFFORT: f64 = 0.02;
const LEAST_SHARE: f64 = 0.1;
/// Page faults of which one is recorded as long as their number is not known.
const UNKNOWN_PERIOD: u64 = 1009;

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

/// Follows a process that runs already for one window of time, or for its beginning, and waits for the rest; `launches` are those
/// before.
pub(super) fn window(
    process: &Attached,
    launches: &[CommandLaunch],
    part: CommandPart,
    stacks: Option<StackFile>,
    scratch: &Path,
    signals: &Signals,
) -> Result<CommandLaunch> {
    let CommandPart { block, mode, .. } = part;
    // The first window only shows how many faults to expect.
    let window_s = process.window_s * if block < 0 { FIRST_WINDOW } else { 1.0 };
    let followed_s = window_s * followed_share(launches, part);
    let numbers = [
        std::process::id().to_string(),
        process.pid.to_string(),
        process.started_ticks.unwrap_or_default().to_string(),
        (1e3 * followed_s).ceil().to_string(),
        fault_period(launches, block).to_string(),
        if mode == LaunchMode::Sampled {
            WINDOW_KERNEL_NS.to_owned()
        } else {
            "0".to_owned()
        },
    ];
    let mut command_line: Vec<OsString> = vec![worker::helper()?.into(), "attach".into()];
    command_line.extend(numbers.map(OsString::from));
    if let Some(StackFile { path, period, .. }) = stacks {
        command_line.extend([path.into(), period.to_string().into()]);
    }
    let (cost, messages) = run_helper(&command_line, window_s, scratch, signals)?;
    if !cost.process_ended {
        launch::pause(duration(window_s - followed_s), signals)?;
    }
    let block = if cost.process_ended {
        block.max(0)
    } else {
        block
    };
    Ok(CommandLaunch {
        block,
        mode,
        thp: thp_rule(),
        cost: Some(cost),
        messages,
        ..CommandLaunch::default()
    })
}

/// The period of the page faults of a process that runs already of which one is recorded: before it is known how many there
/// are, few are.
fn fault_period(launches: &[CommandLaunch], block: i64) -> u64 {
    let Some(cost) = first_cost(launches, LaunchMode::Plain).filter(|_| block >= 0) else {
        return UNKNOWN_PERIOD;
    };
    prime(
        cost.minor_faults / ((RECORDED * cost.cpu_s()) as u64).max(1),
        block,
    )
}

/// Part of a window in which a process that runs already is followed: events of its own cost it time at each context switch,
/// those of the processors do not.
fn followed_share(launches: &[CommandLaunch], part: CommandPart) -> f64 {
    let sampled = first_cost(launches, LaunchMode::Sampled);
    let work = sampled.and_then(|cost| cost.kernel_work.as_ref());
    // Until a window has shown it, the processors' clocks are taken to be permitted.
    let is_free = part.mode == LaunchMode::Sampled && work.is_none_or(|work| work.whole);
    let Some(cost) =
        first_cost(launches, LaunchMode::Plain).filter(|_| part.block >= 0 && !is_free)
    else {
        return 1.0;
    };
    let switches = cost
        .voluntary_switches
        .saturating_add(cost.involuntary_switches);
    if switches == 0 {
        return 1.0;
    }
    (MOST_EFFORT * cost.cpu_s() / (SWITCH_S * switches as f64)).clamp(LEAST_SHARE, 1.0)
}

/// Costs of the window in which a running process was followed. It is never seen but followed: these are its plain costs, too.
pub(super) fn plain_window(launch: &CommandLaunch) -> Option<CommandLaunch> {
    let cost = launch.cost.as_ref().filter(|cost| cost.wall_ns > 0)?;
    (launch.mode == LaunchMode::Followed).then(|| CommandLaunch {
        mode: LaunchMode::Plain,
        cost: Some(CommandCost {
            faults: None,
            ..cost.clone()
        }),
        stacks: None,
        ..launch.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::command::KernelWork;

    #[test]
    fn few_page_faults_are_recorded_and_in_the_first_window_hardly_any() {
        let launches = |minor_faults| {
            let cost = CommandCost {
                minor_faults,
                user_us: 1_000_000,
                ..CommandCost::default()
            };
            [CommandLaunch {
                mode: LaunchMode::Plain,
                cost: Some(cost),
                ..CommandLaunch::default()
            }]
        };
        let busy = launches(90_000);
        assert_eq!([-1, 0].map(|block| fault_period(&busy, block)), [1009, 19]);
        assert_eq!(fault_period(&launches(9_000), 0), 1);
    }

    /// 400 switches of 2.5 µs take a tenth of 10 ms: a fifth of the time takes 2 %.
    #[test]
    fn a_process_that_waits_often_is_followed_for_a_part_of_the_time() {
        let launch = |mode, switches, whole| {
            let kernel_work = (mode == LaunchMode::Sampled).then(|| KernelWork {
                whole,
                ..KernelWork::default()
            });
            let cost = CommandCost {
                user_us: 10_000,
                voluntary_switches: switches,
                kernel_work,
                ..CommandCost::default()
            };
            CommandLaunch {
                mode,
                cost: Some(cost),
                ..CommandLaunch::default()
            }
        };
        let share = |launches: &[CommandLaunch], mode, block| {
            let part = CommandPart {
                block,
                arm: 0,
                mode,
            };
            (100.0 * followed_share(launches, part)).round()
        };
        let (followed, sampled) = (LaunchMode::Followed, LaunchMode::Sampled);
        let first = |switches| launch(LaunchMode::Plain, switches, false);
        assert_eq!(share(&[], followed, -1), 100.0);
        for (switches, wanted) in [(0, 100.0), (40, 100.0), (400, 20.0), (40_000, 10.0)] {
            assert_eq!(share(&[first(switches)], followed, 0), wanted, "{switches}");
        }
        // The clocks of the processors cost it nothing, where they are permitted.
        assert_eq!(share(&[first(400)], sampled, 0), 100.0);
        let seen = |whole| [first(400), launch(sampled, 400, whole)];
        assert_eq!(share(&seen(true), sampled, 1), 100.0);
        assert_eq!(share(&seen(false), sampled, 1), 20.0);
    }
}
