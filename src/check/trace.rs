//! System calls inside phases, as strace sees them between the marks, against what the method declares.

use crate::run::launch::{Side, TimeLimit, launch};
use crate::{run::captures, run::signals::Signals, worker, worker::Worker, worker::programs};
use anyhow::Result;
use files::Folder;
use record::method::{Isolation, Method};
use record::transcript::OVERALL;
use record::{cell::Cell, launches::End, state::State, transcript, transcript::LaunchKeys};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{ffi::OsString, time::Duration};

const MOST_BYTES: u64 = 1 << 30;
const TIME_LIMIT: Duration = Duration::from_secs(60);

pub(super) enum Traced {
    Missing(String),
    /// Cells whose calls are not the declared ones.
    Wrong(Vec<(String, String)>),
}

/// Traces one cell of each method: the first that could run.
pub(super) fn check(
    place: &Path,
    state: &State,
    workers: &[Worker],
    signals: &Signals,
) -> Result<Traced> {
    let Ok(strace) = programs::find("strace") else {
        return Ok(Traced::Missing("strace is not installed".to_owned()));
    };
    Folder::make(place)?;
    let tracer = Tracer {
        strace: &strace,
        place,
        state,
        workers,
        signals,
    };
    let mut traced = BTreeSet::new();
    let mut wrong = Vec::new();
    for planned in state.cells.iter().filter(|p| p.outcome.is_none()) {
        let Some(cell) = captures::kept(&state.plan, &planned.cell) else {
            continue;
        };
        if is_single(&planned.cell, "threads")
            && is_single(&planned.cell, "processes")
            && traced.insert(planned.cell.name())
            && signals.arrived().is_none()
        {
            let method = &planned.method;
            match tracer.trace(&cell, method)? {
                Err(reason) => return Ok(Traced::Missing(reason)),
                Ok(None) => {}
                Ok(Some(calls)) => wrong
                    .extend(compare(method, &calls).map(|reason| (planned.cell.name(), reason))),
            }
        }
    }
    Ok(Traced::Wrong(wrong))
}

/// True if a cell has at most one thread or process, by the parameter that counts them.
fn is_single(cell: &Cell, key: &str) -> bool {
    cell.parameters.get(key).is_none_or(|count| count == "1")
}

type Calls = BTreeMap<String, BTreeSet<String>>;

struct Tracer<'a> {
    strace: &'a Path,
    place: &'a Path,
    state: &'a State,
    workers: &'a [Worker],
    signals: &'a Signals,
}

/// Files and command of one traced side.
struct TracedSide {
    request: PathBuf,
    trace: PathBuf,
    transcript: PathBuf,
    messages: PathBuf,
    command: Vec<OsString>,
}

impl Tracer<'_> {
    /// Starts the cell's sides under strace with marks; the calls made inside each phase by the thread that set the marks.
    fn trace(&self, cell: &Cell, method: &Method) -> Result<Result<Option<Calls>, String>> {
        let traced = self.sides(cell, method)?;
        let mut options = worker::process_options(method)?;
        let first = cell.sides().next().unwrap_or(&cell.worker);
        if worker::find(self.workers, first)?.is_external() {
            options.extend(programs::users_folders());
        }
        let sides: Vec<Side> = traced
            .iter()
            .map(|side| Side {
                options: options.clone(),
                ..Side::new(
                    &side.command,
                    [&side.request, &side.transcript, &side.messages],
                )
            })
            .collect();
        let ended = launch(&sides, TimeLimit::Able(TIME_LIMIT), self.signals)?;
        if !ended.ends.iter().all(End::is_clean) {
            let messages =
                files::read_input_text(&traced[0].messages, MOST_BYTES).unwrap_or_default();
            let first = messages.lines().next().unwrap_or("it ended early");
            return Ok(Err(format!(
                "strace could not trace {}: {first}",
                cell.name()
            )));
        }
        // What a run is given, such as a pool of huge pages, is taken back by now.
        if method.needs.is_some() {
            let transcript = files::read_input_text(&traced[0].transcript, MOST_BYTES)?;
            if transcript.lines().any(|line| line.starts_with("skip\t")) {
                return Ok(Ok(None));
            }
        }
        let mut calls = Calls::new();
        for side in &traced {
            for (phase, names) in parse(&files::read_input_text(&side.trace, MOST_BYTES)?) {
                calls.entry(phase).or_default().extend(names);
            }
        }
        Ok(Ok(Some(calls)))
    }

    /// Writes the requests of the sides.
    fn sides(&self, cell: &Cell, method: &Method) -> Result<Vec<TracedSide>> {
        let roles: &[Option<char>] = if method.two_sided {
            &[Some('a'), Some('b')]
        } else {
            &[None]
        };
        let workers: Vec<&str> = cell.sides().collect();
        let directory = self.place.to_string_lossy().into_owned();
        let rendezvous = self.place.join("s").to_string_lossy().into_owned();
        let name = format!("pagewise-{}-{}", self.state.plan.run, files::random_word()?);
        let mut sides = Vec::new();
        for (number, role) in roles.iter().enumerate() {
            let keys = LaunchKeys {
                experiment: &cell.experiment,
                seed: self.state.plan.seed,
                role: *role,
                rendezvous: role.map(|_| rendezvous.as_str()),
                directory: Some(&directory),
                name: Some(&name),
                trace_marks: true,
                ..LaunchKeys::default()
            };
            // What a method does first in a fresh process it may not do again.
            let warmup: &[Vec<usize>] = if method.isolation == Isolation::Fresh {
                &[]
            } else {
                &[vec![0]]
            };
            let text = transcript::request(&keys, &[cell], warmup, &[vec![0]]);
            let request = format!("{number}.request");
            Folder::open(self.place)?.write(&request, text.as_bytes())?;
            let trace = self.place.join(format!("{number}.trace"));
            let worker = workers.get(number).copied().unwrap_or(workers[0]);
            sides.push(TracedSide {
                command: self.command(worker, &trace)?,
                request: self.place.join(request),
                trace,
                transcript: self.place.join(format!("{number}.transcript")),
                messages: self.place.join(format!("{number}.messages")),
            });
        }
        Ok(sides)
    }

    /// The command of a worker under strace.
    fn command(&self, worker: &str, trace: &Path) -> Result<Vec<OsString>> {
        let started = worker::find(self.workers, worker)?
            .start()
            .map_err(|reason| anyhow::anyhow!("{reason}"))?;
        let mut command: Vec<OsString> = vec![self.strace.into()];
        command.extend(["-f", "-qq", "-s", "80", "-o"].map(OsString::from));
        command.push(trace.into());
        command.extend(started.command.iter().cloned());
        Ok(command)
    }
}

/// The word of a mark, where a line is one: what was written to descriptor -1, or looked up in the folder that is not there.
fn mark_of(call: &str) -> Option<&str> {
    let written = call.strip_prefix("write(-1, \"");
    let looked_up = || call.split_once("\"/pagewise-mark/").map(|(_, rest)| rest);
    written.or_else(looked_up)?.split('"').next()
}

/// Reads `PID call(arguments) = result` lines. What others than the thread that set a mark do in its phase is kept apart, as
/// `call+`: they may be the runtime's. Of a phase that ran several times, the last counts: the first round of a virtual
/// machine loads its code.
fn parse(text: &str) -> Calls {
    let mut calls = Calls::new();
    let mut open: BTreeMap<&str, String> = BTreeMap::new();
    for line in text.lines() {
        let Some((pid, rest)) = line.trim_start().split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        if let Some(mark) = mark_of(rest) {
            match mark.split_once(' ') {
                Some(("phase", name)) => {
                    calls.insert(name.to_owned(), BTreeSet::new());
                    open.insert(pid, name.to_owned());
                }
                Some(("end", _)) => {
                    open.remove(pid);
                }
                _ => {}
            }
            continue;
        }
        let name: String = rest
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        // A line such as "<... read resumed>" continues a call that was counted where it began.
        if name.is_empty() {
            continue;
        }
        match open.get(pid) {
            Some(phase) => _ = calls.entry(phase.clone()).or_default().insert(name),
            None => open.values().for_each(|phase| {
                calls
                    .entry(phase.clone())
                    .or_default()
                    .insert(format!("{name}+"));
            }),
        }
    }
    calls
}

/// The way back from a signal's handler. Runtimes use signals at any moment; the call is their handlers', never a method's.
const FROM_A_HANDLER: &str = "rt_sigreturn";

/// Difference, if any. A declared call that ends in `?` may be made and need not be; one that ends in `+` is made
/// by threads that the method has started.
fn compare(method: &Method, calls: &Calls) -> Option<String> {
    for phase in method.phases.iter().filter(|p| *p != OVERALL) {
        let nothing = BTreeSet::new();
        let made = calls.get(phase).unwrap_or(&nothing);
        let declared = method.calls.get(phase).cloned().unwrap_or_default();
        let names: BTreeSet<&str> = declared
            .iter()
            .map(|c| c.trim_end_matches(['?', '+']))
            .collect();
        let is_own = |c: &&String| !c.ends_with('+') && *c != FROM_A_HANDLER;
        if let Some(extra) = made
            .iter()
            .filter(is_own)
            .find(|c| !names.contains(c.as_str()))
        {
            return Some(format!(
                "phase {phase} makes the system call {extra}, which the method does not declare"
            ));
        }
        if let Some(missing) = declared
            .iter()
            .find(|c| !c.ends_with('?') && !made.contains(c.as_str()))
        {
            let (call, who) = match missing.strip_suffix('+') {
                Some(call) => (call, " in a thread of its own"),
                None => (missing.as_str(), ""),
            };
            return Some(format!(
                "phase {phase} does not make the system call {call}{who} that the method declares"
            ));
        }
        if !calls.contains_key(phase) {
            return Some(format!("phase {phase} set no marks"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "10 write(-1, \"phase map\", 9) = -1 EBADF (Bad file descriptor)\n10 mmap(NULL, 4096) = 0x7f\n\
    11 futex(0x1) = 0\n11 <... futex resumed>) = 0\n\
    10 write(-1, \"end map\", 7) = -1 EBADF\n10 getrusage(RUSAGE_SELF) = 0\n\
    10 write(-1, \"phase unmap\", 11) = -1 EBADF\n10 write(-1, \"end unmap\", 9) = -1 EBADF\n";

    fn method(calls: &str) -> Method {
        Method::parse(&format!(
            "method\tx\ty\tphases=map unmap\tkeys=\tcalls={calls}"
        ))
        .unwrap()
    }

    #[test]
    fn only_what_the_marking_thread_does_between_marks_counts() {
        let calls = parse(TRACE);
        assert_eq!(
            calls["map"],
            BTreeSet::from(["futex+".to_owned(), "mmap".to_owned()])
        );
        assert!(calls["unmap"].is_empty());
    }

    #[test]
    fn a_mark_may_be_a_path_and_the_last_round_counts() {
        let looked = "10 newfstatat(AT_FDCWD, \"/pagewise-mark/phase map\", 0x7f) = -1 ENOENT\n10 openat(3) = 4\n\
        10 stat(\"/pagewise-mark/end map\", 0x7f) = -1 ENOENT\n";
        assert_eq!(parse(looked)["map"], BTreeSet::from(["openat".to_owned()]));
        assert_eq!(
            parse(&format!("{looked}{TRACE}"))["map"],
            parse(TRACE)["map"]
        );
    }

    #[test]
    fn undeclared_and_unmade_calls_are_named() {
        let calls = parse(TRACE);
        assert_eq!(compare(&method("map:mmap"), &calls), None);
        assert_eq!(compare(&method("map:mmap,brk?"), &calls), None);
        assert_eq!(compare(&method("map:mmap,futex+"), &calls), None);
        let of_others = compare(&method("map:mmap+"), &calls).unwrap();
        assert!(
            of_others.contains("does not make the system call mmap in a thread"),
            "{of_others}"
        );
        assert!(
            compare(&method(""), &calls)
                .unwrap()
                .contains("makes the system call mmap")
        );
        let handled =
            parse(&TRACE.replacen("10 mmap", "10 rt_sigreturn({mask=[]}) = 0\n10 mmap", 1));
        assert_eq!(compare(&method("map:mmap"), &handled), None);
        assert!(
            compare(&method("map:mmap unmap:munmap"), &calls)
                .unwrap()
                .contains("does not make the system call munmap")
        );
    }
}
