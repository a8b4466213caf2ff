//! The requests of one launch, and how its processes are started.

use crate::run::bound::{Bounds, heap_needed};
use crate::{
    run::captures, run::captures::Inputs, run::guard::session, run::launch::Side, worker,
    worker::Worker,
};
use anyhow::Result;
use files::{Folder, Temporary};
use record::folder::{FramePart, RunFolder};
use record::{
    launches::COUNTED, machine_state::Counters, state::State, transcript, transcript::LaunchKeys,
};
use schedule::{Launch, turns::Turns};
use std::path::{Path, PathBuf};
use std::{ffi::OsString, time::Duration};

const MOST_BYTES: u64 = 1 << 30;
/// Longest path of a socket, in bytes (unix(7)).
const SOCKET_PATH: usize = 107;
/// Folder of the sockets where the path of `TMPDIR` is too long for them.
const SHORT_PLACE: &str = "/tmp";

pub(super) struct Order<'a> {
    pub number: usize,
    pub launch: &'a Launch,
    pub cells: &'a [usize],
    pub turns: &'a Turns,
    /// Options of the helper's `exec` that the machine's state asks for.
    pub options: Vec<OsString>,
    /// The folder for files of the worker that the machine's state gives.
    pub files: Option<PathBuf>,
}

pub(super) struct Prepared {
    pub worker: String,
    pub name: String,
    command: Vec<OsString>,
    options: Vec<OsString>,
    request: PathBuf,
    transcript: PathBuf,
    messages: PathBuf,
    /// The folder of the launch's sockets, which ends with the launch.
    _meeting: Option<Temporary>,
}

impl Prepared {
    /// Its request, its transcript and, if there are some, its messages.
    pub fn parts(&self) -> Vec<FramePart> {
        let mut parts = vec![part(&self.request), part(&self.transcript)];
        let messages = part(&self.messages);
        if !messages.bytes.is_empty() {
            parts.push(messages);
        }
        parts
    }

    /// Lines `about state_…` of its transcript, which prove the state within the worker.
    pub fn about_state(&self) -> Counters {
        let text = files::read_input(&self.transcript, MOST_BYTES).unwrap_or_default();
        text.split(|byte| *byte == b'\n')
            .filter_map(|line| state_fact(std::str::from_utf8(line).ok()?))
            .collect()
    }

    pub fn first_message(&self) -> String {
        let text = files::read_input(&self.messages, MOST_BYTES).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(300)
            .collect()
    }

    pub fn side<'a>(&'a self, without: &'a [String]) -> Side<'a> {
        Side {
            command: &self.command,
            options: self.options.clone(),
            without,
            request: &self.request,
            transcript: &self.transcript,
            messages: &self.messages,
        }
    }
}

/// A file as a part of a frame.
fn part(path: &Path) -> FramePart {
    let name = path.file_name().unwrap_or_default();
    FramePart {
        name: name.to_string_lossy().into_owned(),
        bytes: files::read_input(path, MOST_BYTES).unwrap_or_default(),
    }
}

/// The counter of a line `about state_…`.
fn state_fact(line: &str) -> Option<(String, u64)> {
    let (name, value) = line.strip_prefix("about\t")?.split_once('\t')?;
    if !name.starts_with("state_") {
        return None;
    }
    Some((name.to_owned(), value.parse().ok()?))
}

/// Things made for the whole run, as far as requests and commands name them.
#[derive(Clone, Copy)]
pub(super) struct Made<'a> {
    pub inputs: &'a Inputs,
    pub bounds: &'a Bounds,
}

/// Names and folders of one launch.
struct LaunchPlace {
    scratch: PathBuf,
    /// Where the worker makes its files.
    files: PathBuf,
    requests: Folder,
    /// Prefix of everything that it makes in shared folders.
    name: String,
    rendezvous: String,
    /// The folder of its sockets, unless none is needed or none can be made.
    meeting: Option<Temporary>,
}

impl LaunchPlace {
    fn make(
        state: &State,
        folder: &RunFolder,
        two_sided: bool,
        files: Option<&Path>,
    ) -> Result<LaunchPlace> {
        let scratch_name = scratch_name(state);
        // Other users can neither foretell what this launch makes in shared folders nor enter the folder of its sockets.
        let name = format!("pagewise-{}-{}", session(state), files::random_word()?);
        let requests = Folder::open(folder.path())?.make_folder(&scratch_name)?;
        let scratch = folder.file(&scratch_name);
        let files = match files {
            Some(files) => Folder::open(files)?
                .make_folder(&scratch_name)?
                .path()
                .to_owned(),
            None => scratch.clone(),
        };
        let temporary = files::temporary_place()?;
        let meeting = if two_sided {
            meeting_place(&temporary, &format!("pagewise-{}-", session(state)))?
        } else {
            None
        };
        // Where no folder can be made, side a says why it cannot listen.
        let rendezvous = meeting.as_ref().map_or_else(
            || temporary.join(&name).to_string_lossy().into_owned(),
            socket,
        );
        Ok(LaunchPlace {
            scratch,
            files,
            requests,
            name,
            rendezvous,
            meeting,
        })
    }
}

/// The command of a worker, with options of the helper's `exec`.
struct WorkerCommand {
    command: Vec<OsString>,
    options: Vec<OsString>,
}

/// Writes the requests of a launch.
pub(super) fn all(
    state: &State,
    folder: &RunFolder,
    workers: &[Worker],
    made: Made,
    order: &Order,
) -> Result<Vec<Prepared>> {
    let planned = &state.cells[order.cells[0]];
    let two_sided = planned.method.two_sided;
    let mut place = LaunchPlace::make(state, folder, two_sided, order.files.as_deref())?;
    let resolved: Vec<_> = order
        .cells
        .iter()
        .map(|&cell| {
            let cell = &state.cells[cell].cell;
            let files = order.files.as_deref();
            let resolved = made.inputs.resolved(&state.plan, cell, files);
            captures::with_link(&state.plan, resolved, &place.requests)
        })
        .collect::<Result<_>>()?;
    let cells: Vec<_> = resolved.iter().collect();
    let directory = place.files.to_string_lossy().into_owned();
    let roles: &[Option<char>] = if two_sided {
        &[Some('a'), Some('b')]
    } else {
        &[None]
    };
    let mut sides = planned.cell.sides();
    let mut prepared = Vec::new();
    for &role in roles {
        let worker = sides.next().unwrap_or(&planned.cell.worker).to_owned();
        let keys = LaunchKeys {
            experiment: &state.launch_groups[order.launch.launch_group].experiment,
            launch: order.number,
            seed: state.plan.seed,
            role,
            rendezvous: role.map(|_| place.rendezvous.as_str()),
            directory: Some(&directory),
            name: Some(&place.name),
            proofs: &order.turns.proofs,
            trace_marks: false,
        };
        let suffix = role.map_or_else(String::new, |role| format!(".{role}"));
        let [request, transcript, messages] =
            ["request", "transcript", "messages"].map(|name| format!("{name}{suffix}"));
        let text = transcript::request(&keys, &cells, &order.turns.warmup, &order.turns.rounds);
        place.requests.write(&request, text.as_bytes())?;
        let WorkerCommand { command, options } =
            worker_command(state, workers, &worker, made.bounds, order)?;
        prepared.push(Prepared {
            worker,
            command,
            options,
            request: place.scratch.join(request),
            transcript: place.scratch.join(&transcript),
            messages: place.scratch.join(messages),
            name: transcript,
            _meeting: place.meeting.take(),
        });
    }
    Ok(prepared)
}

/// The command that starts a worker for a launch.
fn worker_command(
    state: &State,
    workers: &[Worker],
    name: &str,
    bounds: &Bounds,
    order: &Order,
) -> Result<WorkerCommand> {
    let Order { launch, cells, .. } = order;
    let planned = || cells.iter().map(|&cell| &state.cells[cell]);
    let worker = worker::find(workers, name)?;
    let started = worker
        .start()
        .map_err(|reason| anyhow::anyhow!("{reason}"))?;
    started.check_files()?;
    let method = &state.cells[cells[0]].method;
    let mut options = [order.options.clone(), worker::process_options(method)?].concat();
    if worker.is_external() {
        options.extend(worker::programs::users_folders());
    }
    let heap = heap_needed(planned(), launch.rounds + launch.warmup_rounds)?;
    let mut command = started.command_with_heap(heap);
    if launch.block == COUNTED {
        options.extend([
            OsString::from("--preload"),
            worker::counting_library()?.into(),
        ]);
        command.splice(0..0, [worker::helper()?.into(), OsString::from("count")]);
    }
    if let Some(cgroup) = planned().find_map(|p| bounds.cgroup(&state.plan, &p.cell)) {
        options.extend([OsString::from("--cgroup"), cgroup.into()]);
    }
    Ok(WorkerCommand { command, options })
}

/// Makes the folder of a launch's sockets, which only this user can enter; `None` where it cannot be made.
/// Errors: another user can change /tmp, and the path of `place` is too long for a socket.
fn meeting_place(place: &Path, prefix: &str) -> Result<Option<Temporary>> {
    let Ok(made) = files::temporary(place, prefix) else {
        return Ok(None);
    };
    if socket(&made).len() < SOCKET_PATH {
        return Ok(Some(made));
    }
    let short = files::safe_place(Path::new(SHORT_PLACE))?;
    Ok(files::temporary(&short, prefix).ok())
}

/// Path of the rendezvous. A method's socket has one character more.
fn socket(meeting: &Temporary) -> String {
    meeting.path().join("s").to_string_lossy().into_owned()
}

fn scratch_name(state: &State) -> String {
    format!("scratch-pagewise-{}", session(state))
}

/// Removes the files of a launch, also those in a folder that the machine's state gave; whether the run's file system was full.
pub(super) fn remove_scratch(folder: &RunFolder, state: &State, files: Option<&Path>) -> bool {
    let is_full = rustix::fs::statvfs(folder.file(&scratch_name(state)))
        .is_ok_and(|about| about.f_bavail < 4);
    for place in files.into_iter().chain([folder.path()]) {
        let _ = Folder::open(place).and_then(|place| place.remove(scratch_name(state)));
    }
    is_full
}

pub(super) fn laboratory_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}
