//! States of the machine: made by the helper before a launch, proved before and after it, undone before a launch in another.
//!
//! Each state has a guard of its own, which is told every change first. It undoes the state when the state ends, and however
//! the laboratory ends.

use super::bound;
use super::guard::{Guard, Undo, Undoing};
use crate::{plan::states, worker};
use anyhow::{Context, Result, bail};
use files::{Folder, kernel};
use record::{
    machine_state::{Counters, MachineState, StateSeen},
    outcome::Cause,
};
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::{os::unix::process::CommandExt, time::Instant};

/// Memory of a bound worker besides its share of its need, in bytes.
const WORKER_BYTES: u64 = 8 << 20;

/// The cause for which this machine cannot be in a state.
#[derive(Debug, thiserror::Error)]
#[error("the state cannot be made: {0:?}")]
struct Lacks(Cause);

pub(super) struct States {
    folder: PathBuf,
    run: String,
    held: Option<Held>,
}

/// A state that is held. The guard is dropped last: it undoes what the helper did.
struct Held {
    state: &'static MachineState,
    bound_bytes: Option<u64>,
    place: PathBuf,
    /// The folder that the state gives for the files of launches.
    files: Option<PathBuf>,
    cgroup: Option<PathBuf>,
    helper: Helper,
    _guard: Guard,
}

struct Helper {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

impl Helper {
    fn start(place: &Path, arguments: &[String]) -> Result<Helper> {
        let mut command = worker::helper_command()?;
        command
            .arg("state")
            .arg(std::process::id().to_string())
            .arg(place)
            .args(arguments);
        // Ctrl-C at the terminal is the laboratory's; the state ends with it.
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .context("cannot start the holder of a state")?;
        let input = child.stdin.take();
        let output = BufReader::new(
            child
                .stdout
                .take()
                .context("the holder of a state has no output")?,
        );
        Ok(Helper {
            child,
            input,
            output,
        })
    }

    fn ask(&mut self, word: &str) -> Result<()> {
        let input = self
            .input
            .as_mut()
            .context("the holder of a state has no input")?;
        // In one piece: the holder answers what it reads.
        input
            .write_all(format!("{word}\n").as_bytes())
            .context("the holder of a state has ended")
    }

    fn facts(&mut self) -> Result<Counters> {
        let mut facts = Counters::new();
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("the holder of a state ended: {}", self.child.wait()?);
            }
            match line.trim_end().split_once('\t') {
                Some(("lacks", text)) => bail!(Lacks(Cause::Lacks {
                    text: text.to_owned()
                })),
                Some((name, value)) => {
                    facts.insert(name.to_owned(), value.parse()?);
                }
                None => return Ok(facts),
            }
        }
    }
}

impl States {
    pub fn new(folder: &Path, run: &str) -> States {
        States {
            folder: folder.to_owned(),
            run: run.to_owned(),
            held: None,
        }
    }

    /// Has the machine in a state, or plain; the cause where this machine cannot be. `needed_bytes` is what a worker of the
    /// experiment needs.
    pub fn enter(
        &mut self,
        name: Option<&str>,
        experiment: &str,
        needed_bytes: u64,
    ) -> Result<std::result::Result<Option<StateSeen>, Cause>> {
        let wanted = name.map(states::find).transpose()?.flatten();
        let begun = Instant::now();
        let share = wanted.and_then(|wanted| wanted.bound.get(experiment));
        let bound_bytes = share.map(|share| (needed_bytes as f64 * share) as u64 + WORKER_BYTES);
        self.held = self.held.take().filter(|held| {
            wanted.is_some_and(|wanted| wanted.name == held.state.name)
                && held.bound_bytes == bound_bytes
        });
        let Some(state) = wanted else {
            return Ok(Ok(None));
        };
        let before = match self.counters(state, bound_bytes) {
            Err(error) => return error.downcast().map(|Lacks(cause)| Err(cause)),
            Ok(before) => before,
        };
        let (name, relieves) = (state.name.clone(), state.relieves.clone());
        let made_s = begun.elapsed().as_secs_f64();
        Ok(Ok(Some(StateSeen {
            name,
            made_s,
            before,
            relieves,
            ..StateSeen::default()
        })))
    }

    fn counters(
        &mut self,
        state: &'static MachineState,
        bound_bytes: Option<u64>,
    ) -> Result<Counters> {
        let held = match &mut self.held {
            Some(held) => {
                held.helper.ask("renew")?;
                held
            }
            nothing => nothing.insert(Held::make(state, bound_bytes, &self.folder, &self.run)?),
        };
        let facts = held.helper.facts()?;
        Ok(held.counters(facts))
    }

    /// Completes the proofs after a launch. `within` holds the counters of the worker itself.
    pub fn prove(&mut self, seen: &mut StateSeen, within: Counters) -> Result<()> {
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        held.helper.ask("look")?;
        let facts = held.helper.facts()?;
        seen.after = held.counters(facts.into_iter().chain(within).collect());
        seen.lost = held.state.lost(&seen.before, &seen.after);
        Ok(())
    }

    /// The folder in which a launch in the state has its files; `None` where they lie as always.
    pub fn files(&self) -> Option<&Path> {
        self.held.as_ref()?.files.as_deref()
    }

    /// Options of the helper's `exec` for a worker in the state.
    pub fn options(&self) -> Vec<OsString> {
        let mut options = Vec::new();
        let Some(held) = &self.held else {
            return options;
        };
        if let Some(request) = &held.state.inside {
            options.extend(variable("INSIDE", request.as_ref()));
        }
        if held.state.renewed_by_slot {
            options.extend(variable("SLOTS", held.place.as_os_str()));
        }
        if let Some(cgroup) = &held.cgroup {
            options.extend(variable("BOUND", "yes".as_ref()));
            options.extend([OsString::from("--cgroup"), cgroup.into()]);
        }
        options
    }
}

/// Options that set a variable which tells a worker of its state.
fn variable(name: &str, value: &OsStr) -> [OsString; 2] {
    let mut text = OsString::from(format!("PAGEWISE_STATE_{name}="));
    text.push(value);
    [OsString::from("--set"), text]
}

/// Name of a zram device that nobody uses.
fn free_zram() -> Option<String> {
    kernel::names("/sys/block").into_iter().find(|name| {
        let size = Path::new("/sys/block").join(name).join("disksize");
        name.starts_with("zram") && kernel::read(size).unwrap_or_default().trim() == "0"
    })
}

/// `MAJOR:MINOR` of the device that a folder is on.
fn device_of(folder: &Path) -> Result<String> {
    let number = rustix::fs::stat(folder)?.st_dev;
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    Ok(format!("{major}:{minor}"))
}

impl Held {
    fn make(
        state: &'static MachineState,
        bound_bytes: Option<u64>,
        folder: &Path,
        run: &str,
    ) -> Result<Held> {
        // Before a guard is told of what somebody else has begun to use.
        if let Some(cause) = states::lacking(state) {
            bail!(Lacks(cause));
        }
        let mut guard = Guard::start()?;
        let run = format!("{run}-state");
        guard.undo(Undo::RemoveNamed {
            folder,
            lead: "scratch-",
            run: &run,
        })?;
        let place = Folder::open(folder)?
            .make_folder(format!("scratch-pagewise-{run}"))?
            .path()
            .canonicalize()?;
        let zram = free_zram();
        if zram.is_none() && state.make.iter().any(|word| word.contains("{zram}")) {
            bail!(Lacks(Cause::NoZram));
        }
        let device = device_of(&place)?;
        let here = |text: &str| {
            text.replace("{folder}", &place.to_string_lossy())
                .replace("{device}", &device)
                .replace("{zram}", zram.as_deref().unwrap_or_default())
        };
        for (setting, text) in &state.after {
            guard.undo(Undo::Restore {
                setting: Path::new(&here(setting)),
                text,
            })?;
        }
        if let Some(area) = &state.swap {
            guard.undo(Undo::SwapOff {
                area: Path::new(&here(area)),
            })?;
        }
        let files = state.files.as_deref().map(here).map(PathBuf::from);
        if let Some(folder) = &files {
            guard.undo(Undo::Unmount { folder })?;
        }
        for (setting, text) in &state.settings {
            set(Path::new(&here(setting)), text, &mut guard)?;
        }
        let mut cgroup = None;
        if let Some(bytes) = bound_bytes {
            let name = format!("pagewise-{run}-memory");
            cgroup = Some(bound::make_cgroup(&name, bytes, &mut guard)?.map_err(Lacks)?);
        }
        let arguments: Vec<String> = state.make.iter().map(|word| here(word)).collect();
        let helper = Helper::start(&place, &arguments)?;
        Ok(Held {
            state,
            bound_bytes,
            place,
            files,
            cgroup,
            helper,
            _guard: guard,
        })
    }

    fn counters(&self, facts: Counters) -> Counters {
        let vmstat = kernel::read("/proc/vmstat").unwrap_or_default();
        let mut counters = Counters::new();
        for line in vmstat.lines() {
            if let Some((name, value)) = line.split_once(' ')
                && self.state.proofs.iter().any(|proof| proof.counter == name)
                && let Ok(value) = value.parse()
            {
                counters.insert(name.to_owned(), value);
            }
        }
        counters.extend(facts);
        if let Some(hits) = self.cgroup.as_deref().and_then(bound_hits) {
            counters.insert("bound_hits".to_owned(), hits);
        }
        counters
    }
}

fn set(setting: &Path, text: &str, guard: &mut Guard) -> Result<()> {
    let name = setting.display().to_string();
    kernel::read(setting).map_err(|_| Lacks(Cause::NoSetting { name: name.clone() }))?;
    guard.keep(setting)?;
    if !text.is_empty() {
        kernel::write(setting, text).map_err(|error| {
            Lacks(Cause::SettingRefused {
                name,
                error: error.to_string(),
            })
        })?;
    }
    Ok(())
}

/// Charges that a memory cgroup refused at first: `memory.failcnt` of version 1, `max` in `memory.events` of version 2.
fn bound_hits(cgroup: &Path) -> Option<u64> {
    if let Ok(text) = kernel::read(cgroup.join("memory.failcnt")) {
        return text.trim().parse().ok();
    }
    let events = kernel::read(cgroup.join("memory.events")).ok()?;
    events
        .lines()
        .find_map(|line| line.strip_prefix("max ")?.parse().ok())
}
