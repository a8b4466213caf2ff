//! One launch of a study. The worker `command` is the helper program: it starts the command, waits for
//! all that it started, and says what it cost.

use super::changing::Changes;
use crate::run::launch::{self, Adopting, Side, TimeLimit, duration};
use crate::{run::signals::Signals, worker};
use anyhow::{Context, Result, bail};
use files::Folder;
use record::command::{
    CommandCost, CommandEnd, CommandLaunch, CommandPlan, LaunchMode, PricePhase,
};
use record::json::FromJson;
use record::outcome::{Cause, LaunchFault};
use record::parameters::Parameters;
use record::sizes::BYTES;
use record::transcript::{SideEnding, Transcript};
use record::{cell::Cell, kind::Kind, launches::End, transcript, transcript::LaunchKeys};
use schedule::command::CommandPart;
use std::path::{Path, PathBuf};
use std::{ffi::OsString, time::Duration};

/// Limit of a line of costs and of messages, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Time of the helper beyond the command's time limit.
const GRACE: Duration = Duration::from_secs(60);
/// A sample each so many microseconds of CPU time tells user from kernel time: eight of them for each tick of 250 Hz.
const SPLIT_US: &str = "500";

/// CPU time between two samples of the kernel's time of a thread: a millisecond in the kernel is seen four times.
const KERNEL_NS: &str = "250000";

/// File that takes the stack of one page fault in `period`; `wide` where processes are so short that the kernel's time is to be
/// sampled by clocks of the processors.
#[derive(Clone, Debug)]
pub struct StackFile {
    pub path: PathBuf,
    pub period: u64,
    pub wide: bool,
}

/// Study of a program, and where its launches leave their files.
#[derive(Clone, Copy)]
pub struct StudyPlace<'a> {
    pub plan: &'a CommandPlan,
    pub changes: &'a Changes,
    pub scratch: &'a Path,
    pub signals: &'a Signals,
}

/// Launches an arm once.
pub fn launch(
    place: StudyPlace,
    part: CommandPart,
    stacks: Option<StackFile>,
) -> Result<CommandLaunch> {
    let CommandPart { block, arm, mode } = part;
    let thp = thp_rule();
    let mut options = options(place.plan, arm, mode);
    if let Some(cgroup) = place.changes.cgroup(arm) {
        let members = cgroup.join("cgroup.procs");
        options.extend(["--cgroup".into(), members.into()]);
    }
    if let Some(StackFile { path, period, wide }) = stacks {
        options.extend([
            "--stacks".into(),
            path.into(),
            "--stack-period".into(),
            period.to_string().into(),
        ]);
        if wide {
            options.extend(["--wide".into(), "1".into()]);
        }
    }
    let subject = &place.plan.arms[arm];
    let _held = place.changes.hold(subject)?;
    let (cost, messages) = start(place, options, &subject.command)?;
    Ok(CommandLaunch {
        arm,
        block,
        mode,
        thp,
        cost: Some(cost),
        messages,
        ..CommandLaunch::default()
    })
}

/// Runs the command that prepares each launch; it must succeed.
pub fn prepare(place: StudyPlace) -> Result<()> {
    let Some(line) = &place.plan.prepare else {
        return Ok(());
    };
    let command = ["/bin/sh", "-c", line].map(str::to_owned);
    let (cost, messages) = start(place, Vec::new(), &command)?;
    let ended = (cost.end, cost.code);
    if ended != (CommandEnd::Exit, 0) && place.signals.arrived().is_none() {
        bail!(
            "--prepare {line:?} ended by {:?} {}: {}",
            cost.end,
            cost.code,
            messages.trim()
        );
    }
    Ok(())
}

/// The word in brackets of the kernel's rule for transparent huge pages; empty where there is none.
pub fn thp_rule() -> String {
    let text =
        files::kernel::read("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
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
    if let Some(setting) = &subject.setting {
        if setting.no_thp {
            add("--no-thp", "1".into());
        }
        if setting.merge {
            add("--merge", "1".into());
        }
        if let Some(advice) = setting.advice {
            add("--advise", <&str>::from(advice).into());
        }
    }
    if let Some(watch) = &plan.watch {
        add("--watch-ms", watch.every_ms.to_string().into());
        let window_ms = (watch.window_s * 1e3).ceil().to_string();
        add("--window-ms", window_ms.into());
    }
    if plan.discard_output {
        add("--discard", "1".into());
    }
    match mode {
        LaunchMode::Traced => {
            add("--proof", "1".into());
            // A profile's traced launch shows what happens to mappings: page faults and calls together.
            if plan.kind == Kind::Profile && !plan.totals_only {
                add("--faults", "1".into());
            }
        }
        LaunchMode::Followed => add("--faults", "1".into()),
        LaunchMode::Sampled => add("--kernel-ns", KERNEL_NS.into()),
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
    place: StudyPlace,
    options: Vec<OsString>,
    command: &[String],
) -> Result<(CommandCost, String)> {
    let StudyPlace {
        plan,
        scratch,
        signals,
        ..
    } = place;
    let limit_ms = (plan.time_limit_s * 1e3).ceil().to_string();
    let parent = std::process::id().to_string();
    let mut command_line: Vec<OsString> = vec![worker::helper()?.into(), "try".into()];
    command_line
        .extend(["--parent", &parent, "--limit-ms", &limit_ms, "--directory"].map(OsString::from));
    command_line.push(plan.directory.clone().into());
    command_line.extend(worker::programs::users_folders());
    command_line.extend(
        options
            .into_iter()
            .chain(["--".into()])
            .chain(command.iter().map(OsString::from)),
    );
    let _adopting = Adopting::begin();
    // The helper ends the command at its time limit; a helper that does not is ended too.
    run_helper(&command_line, plan.time_limit_s, scratch, signals)
}

/// Runs the helper program, which has so much time and a little more, and returns the cost that it prints and its messages.
pub(super) fn run_helper(
    command_line: &[OsString],
    limit_s: f64,
    scratch: &Path,
    signals: &Signals,
) -> Result<(CommandCost, String)> {
    let ended = run_worker(
        command_line,
        "",
        TimeLimit::Strict(duration(limit_s) + GRACE),
        scratch,
        signals,
    )?;
    match ended.end {
        End::Stopped => Ok((
            CommandCost {
                end: CommandEnd::Stopped,
                ..CommandCost::default()
            },
            ended.messages,
        )),
        End::Exit(0) => {
            let line = files::read_input_text(&ended.transcript, MOST_BYTES)?;
            if line.trim().is_empty() {
                bail!(
                    "the helper program could not write its result into {}: there is no space left, or somebody removed it",
                    ended
                        .transcript
                        .parent()
                        .unwrap_or(&ended.transcript)
                        .display()
                );
            }
            let cost = CommandCost::from_json(line.as_bytes())
                .with_context(|| format!("the helper program printed {line:?}"))?;
            Ok((cost, ended.messages))
        }
        _ => bail!(
            "the helper program could not run the command: {}",
            ended.messages.trim()
        ),
    }
}

pub(super) struct Worked {
    pub end: End,
    pub transcript: PathBuf,
    pub messages: String,
}

/// Runs a worker on a request in the scratch folder.
pub(super) fn run_worker(
    command: &[OsString],
    request: &str,
    limit: TimeLimit,
    scratch: &Path,
    signals: &Signals,
) -> Result<Worked> {
    let [request_path, transcript, messages] =
        ["request", "transcript", "messages"].map(|name| scratch.join(name));
    Folder::open(scratch)?.write("request", request.as_bytes())?;
    let side = Side::new(command, [&request_path, &transcript, &messages]);
    let end = launch::launch(&[side], limit, signals)?
        .ends
        .pop()
        .unwrap_or(End::Stopped);
    let text = files::read_input(&messages, MOST_BYTES).unwrap_or_default();
    Ok(Worked {
        end,
        transcript,
        messages: String::from_utf8_lossy(&text).into_owned(),
    })
}

/// Memory whose copies after a fork are priced, in bytes.
const COPIED_BYTES: u64 = 16 << 20;
/// Memory of the worker for zero pages, files and calls, in bytes.
const EVENT_BYTES: u64 = 4 << 20;
const LIMIT: Duration = Duration::from_secs(120);

/// The cell that has the price: a method of the experiments, at the program's footprint where that matters.
fn cell(mode: LaunchMode, footprint_bytes: u64) -> Cell {
    let (experiment, method, bytes, keys) = match mode {
        LaunchMode::PriceHuge => ("price", "huge", footprint_bytes, Vec::new()),
        LaunchMode::PriceEvents => ("price", "events", EVENT_BYTES, Vec::new()),
        LaunchMode::PriceCow => (
            "fork",
            "cow-child",
            COPIED_BYTES,
            vec![("every", "page"), ("pages", "small")],
        ),
        _ => ("price", "base", footprint_bytes, Vec::new()),
    };
    let mut parameters: Parameters = keys
        .into_iter()
        .map(|(key, value): (&str, &str)| (key.to_owned(), value.to_owned()))
        .collect();
    parameters.insert(BYTES.to_owned(), bytes.to_string());
    Cell {
        experiment: experiment.to_owned(),
        method: method.to_owned(),
        worker: worker::NATIVE.to_owned(),
        parameters,
    }
}

/// Runs it once. A price that cannot be had is a result.
pub fn price(
    mode: LaunchMode,
    block: i64,
    footprint_bytes: u64,
    scratch: &Path,
    signals: &Signals,
) -> Result<CommandLaunch> {
    let started = worker::optimised()?;
    let cell = cell(mode, footprint_bytes);
    let folder = scratch
        .to_str()
        .context("a temporary folder whose name is not UTF-8")?;
    let keys = LaunchKeys {
        experiment: &cell.experiment,
        seed: 1,
        directory: Some(folder),
        ..LaunchKeys::default()
    };
    // One round and no warm-up: a fresh process pays what the program pays.
    let request = transcript::request(&keys, &[&cell], &[], &[vec![0]]);
    let worked = run_worker(
        &started.command,
        &request,
        TimeLimit::Able(LIMIT),
        scratch,
        signals,
    )?;
    let mut run = CommandLaunch {
        block,
        mode,
        ..CommandLaunch::default()
    };
    match Transcript::read(std::io::BufReader::new(files::open_input(
        &worked.transcript,
    )?)) {
        Ok(transcript) => fill(&mut run, &transcript),
        Err(error) => {
            let fault = LaunchFault::Transcript {
                error: format!("{error:#}"),
            };
            run.failed = Some(Cause::Broken {
                launch: 0,
                fault,
                law: None,
            });
        }
    }
    if run.phases.is_empty() && run.failed.is_none() {
        let message = worked.messages.trim().to_owned();
        run.failed = Some(Cause::Ended {
            end: worked.end,
            oom_killed: false,
            worker: cell.name(),
            side: None,
            message,
        });
    }
    Ok(run)
}

fn fill(run: &mut CommandLaunch, transcript: &Transcript) {
    for sample in &transcript.samples {
        let counts = &sample.counts;
        let phase = PricePhase {
            cpu_ns: counts.cpu_ns,
            ops: counts.ops,
            bytes: counts.bytes,
            minor_faults: counts.minor_faults,
        };
        run.phases
            .insert(transcript.phases[usize::from(sample.phase)].clone(), phase);
    }
    run.failed = transcript.endings.first().map(SideEnding::cause);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_price_is_a_cell_that_the_worker_knows() {
        let workers = worker::all(&[], &[]).unwrap();
        for mode in [
            LaunchMode::PriceBase,
            LaunchMode::PriceHuge,
            LaunchMode::PriceEvents,
            LaunchMode::PriceCow,
        ] {
            let cell = cell(mode, 8 << 20);
            let method = worker::find(&workers, worker::NATIVE)
                .unwrap()
                .method(&cell.experiment, &cell.method);
            let method = method.unwrap_or_else(|| panic!("no {}", cell.name()));
            let wanted: Vec<&str> = method.keys.iter().map(|(key, _)| key.as_str()).collect();
            for key in &wanted {
                assert!(
                    cell.parameters.contains_key(*key),
                    "{} needs {key}",
                    cell.name()
                );
            }
            assert_eq!(cell.parameters.len(), wanted.len(), "{}", cell.name());
        }
    }
}
