//! Native workers under strace: what a launch calls, and a launch in which one call is disturbed (`strace -e inject=…`).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::sides::{Launch, Worker};
use record::expression::Values;
use record::method::{KeyKind, Method};
use record::transcript::{Counts, Transcript};
use rustix::process::{Pid, Signal, kill_process_group};

/// Longest that a disturbed side may take; an undisturbed one takes a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// One call of a trace.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who made it.
    pub thread: u32,
    pub name: String,
    /// The line as strace wrote it, without the thread.
    pub text: String,
    /// The phase that its thread was in; none between phases.
    pub phase: Option<String>,
    /// The how-manieth of its name by its thread, from 1, as `when=` counts.
    pub nth: usize,
}

impl Call {
    pub fn is_injected(&self) -> bool {
        self.text.contains("(INJECTED)")
    }

    /// Whether that is this call once more, after it failed: the same place or descriptor; and all else that it was passed, but
    /// where bytes move or are filled in, which strace shows as what they have become.
    pub fn is_again(&self, first: &Call) -> bool {
        const MOVING: [&str; 9] = [
            "read",
            "write",
            "send",
            "recv",
            "splice",
            "copy_file",
            "process_vm",
            "mq_timed",
            "wait",
        ];
        let moves = MOVING.iter().any(|word| first.name.contains(word));
        let end = if moves { "," } else { " = " };
        let passed = |call: &Call| {
            call.text
                .split(end)
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned()
        };
        self.name == first.name && self.phase == first.phase && passed(self) == passed(first)
    }
}

/// Reads what `strace -f -o` wrote. A call that was interrupted by another's line counts where it began.
pub fn parse(text: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut phases: BTreeMap<u32, String> = BTreeMap::new();
    let mut counts: BTreeMap<(u32, String), usize> = BTreeMap::new();
    for line in text.lines() {
        let Some((thread, line)) = line.split_once(char::is_whitespace) else {
            continue;
        };
        let (Ok(thread), line) = (thread.parse::<u32>(), line.trim_start()) else {
            continue;
        };
        if let Some(rest) = line.strip_prefix("<... ") {
            let name = rest.split(' ').next().unwrap_or_default();
            if let Some(begun) = calls
                .iter_mut()
                .rev()
                .find(|c| c.thread == thread && c.name == name)
            {
                begun.text.push_str(rest);
            }
            continue;
        }
        let Some((name, _)) = line.split_once('(') else {
            continue;
        };
        if line.starts_with("---") || line.starts_with("+++") {
            continue;
        }
        if let Some(mark) = line.strip_prefix("write(-1, \"") {
            match mark.split_once(' ') {
                Some(("phase", rest)) => {
                    phases.insert(
                        thread,
                        rest.split('"').next().unwrap_or_default().to_owned(),
                    );
                }
                _ => {
                    phases.remove(&thread);
                }
            }
        }
        let count = counts.entry((thread, name.to_owned())).or_default();
        *count += 1;
        let phase = phases.get(&thread).cloned();
        calls.push(Call {
            thread,
            name: name.to_owned(),
            text: line.to_owned(),
            phase,
            nth: *count,
        });
    }
    calls
}

/// One side's end.
pub struct Ended {
    pub status: Option<std::process::ExitStatus>,
    pub transcript: Result<Transcript, String>,
    pub messages: String,
}

impl Ended {
    /// The signal that ended it, where one did.
    pub fn signal(&self) -> Option<i32> {
        let status = self.status?;
        // strace ends by the signal that ended what it watched.
        status.signal().or_else(|| {
            status
                .code()
                .filter(|c| (129..160).contains(c))
                .map(|c| c - 128)
        })
    }

    pub fn is_done(&self) -> bool {
        self.transcript.as_ref().is_ok_and(|t| t.done)
    }
}

/// A launch's sides, and what the watched one called.
pub struct Watched {
    pub sides: Vec<Ended>,
    pub calls: Vec<Call>,
    /// Objects of the launch that outlived it: segments, and names in shared memory.
    pub segments: Vec<String>,
    pub names: Vec<PathBuf>,
}

struct Running {
    child: Child,
    out: std::thread::JoinHandle<Vec<u8>>,
    err: std::thread::JoinHandle<Vec<u8>>,
}

fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}

impl Running {
    fn start(mut command: Command, request: &str) -> Running {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().unwrap();
        // A side whose reading fails ends early; what it did not read is no matter then.
        let _ = child.stdin.take().unwrap().write_all(request.as_bytes());
        let (out, err) = (
            reader(child.stdout.take().unwrap()),
            reader(child.stderr.take().unwrap()),
        );
        Running { child, out, err }
    }

    /// Its end, or none where it does not come in time; then the side and all that it started are killed.
    fn end(mut self, until: Instant) -> Ended {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break Some(status);
            }
            if Instant::now() > until {
                let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
                let _ = self.child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let (out, err) = (self.out.join().unwrap(), self.err.join().unwrap());
        let transcript = Transcript::read(out.as_slice()).map_err(|e| format!("{e:#}"));
        Ended {
            status,
            transcript,
            messages: String::from_utf8_lossy(&err).trim().to_owned(),
        }
    }
}

/// Starts a method once, every side, with one of them under strace; `inject` is what `-e inject=` is given, after its call.
/// Where the watched side fails, the other one is killed after two seconds, as the laboratory does; at once where they had
/// not met yet (`ends_the_other`).
pub fn watch(
    worker: &Worker,
    method: &Method,
    parameters: &[(&str, &str)],
    watched: char,
    inject: Option<(&str, &str)>,
    ends_the_other: bool,
) -> Watched {
    let launch = Launch::new();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let roles: &[char] = if method.two_sided {
        &['a', 'b']
    } else {
        &['a']
    };
    let until = Instant::now() + PATIENCE;
    let start = |role: &char| {
        let request = launch.request(
            &[(method, parameters)],
            method.two_sided.then_some(*role),
            1,
        );
        let request = request.replacen("experiment=", "trace_marks=yes\nexperiment=", 1);
        if *role != watched {
            return Running::start(Command::new(&worker.path), &request);
        }
        let mut command = Command::new("strace");
        command
            .args(["-f", "-qq", "-s", "40", "-o"])
            .arg(trace.path());
        if let Some((call, how)) = inject {
            command.args(["-e", &format!("inject={call}:{how}")]);
        }
        command.arg(&worker.path);
        Running::start(command, &request)
    };
    let running: Vec<Running> = roles.iter().map(start).collect();
    // The watched one first.
    let (mut first, others): (Vec<_>, Vec<_>) = roles
        .iter()
        .zip(running)
        .partition(|(role, _)| **role == watched);
    let ended = first.remove(0).1.end(until);
    let failed = ended.status.is_some_and(|status| !status.success());
    let patience = match failed {
        true => Instant::now() + Duration::from_millis(if ends_the_other { 300 } else { 2000 }),
        false => until,
    };
    let mut sides: Vec<Ended> = others
        .into_iter()
        .map(|(_, side)| side.end(patience))
        .collect();
    sides.insert(if watched == 'b' { sides.len() } else { 0 }, ended);
    let text = std::fs::read(trace.path()).unwrap_or_default();
    let calls = parse(&String::from_utf8_lossy(&text));
    let threads: BTreeSet<u32> = calls.iter().map(|call| call.thread).collect();
    // The laboratory empties a launch's own folder.
    let names = launch
        .leftovers()
        .into_iter()
        .filter(|p| p.starts_with("/dev/shm"))
        .collect();
    Watched {
        sides,
        segments: segments_of(&threads),
        names,
        calls,
    }
}

/// Lines of System V segments that one of these processes made; they are removed.
fn segments_of(makers: &BTreeSet<u32>) -> Vec<String> {
    let text = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let fields = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let ours = |line: &&str| {
        fields(line)
            .get(4)
            .and_then(|f| f.parse().ok())
            .is_some_and(|p| makers.contains(&p))
    };
    let found: Vec<String> = text
        .lines()
        .skip(1)
        .filter(ours)
        .map(str::to_owned)
        .collect();
    for line in &found {
        let _ = Command::new("ipcrm")
            .args(["-m", &fields(line)[1]])
            .status();
    }
    found
}

/// Small values for every key of a method: the first word where it takes words.
pub fn small(method: &Method, capture: &Path) -> Vec<(String, String)> {
    let value = |key: &str, kind: &KeyKind| match (key, kind) {
        ("bytes", _) if method.experiment == "write" => "4096".to_owned(),
        ("bytes", _) if method.name.contains("huge") => (4 << 20).to_string(),
        ("wait", KeyKind::Choice(words)) => {
            let blocks = words.iter().any(|w| w == "block")
                && !["spin-ring", "mailbox"].contains(&method.name.as_str());
            if blocks { "block" } else { "spin" }.to_owned()
        }
        ("bytes", _) if method.experiment == "message" => "64".to_owned(),
        ("bytes", _) if ["fault", "fork", "allocate"].contains(&method.experiment.as_str()) => {
            (4 << 20).to_string()
        }
        ("pile", _) => (16 << 20).to_string(),
        ("bytes" | "batch_bytes" | "pipe_bytes", _) => (256 << 10).to_string(),
        ("file_bytes", _) => (1 << 20).to_string(),
        ("chunk" | "large_chunk" | "clear_bytes" | "folio" | "sndbuf", _) => (64 << 10).to_string(),
        // A side that is watched is stopped at each mark, which its law of switches allows in so many trips.
        ("ops", _) if method.name == "spin-ring" => "2000".to_owned(),
        ("ops", _) => "20".to_owned(),
        ("ring_chunks" | "queue_depth" | "pieces", _) => "2".to_owned(),
        ("readers", _) => "2".to_owned(),
        ("record", _) => "1024".to_owned(),
        ("share" | "set", _) => "50".to_owned(),
        ("around" | "keep", _) => "16384".to_owned(),
        ("memory", _) => "unbounded".to_owned(),
        ("order", _) if method.name == "mmap-random" => "random".to_owned(),
        ("old", _) if method.name.starts_with("in-place") || method.name == "unlink-write" => {
            "cached".to_owned()
        }
        ("file", _) => capture.display().to_string(),
        (_, KeyKind::Choice(words)) => words[0].clone(),
        (_, KeyKind::Text | KeyKind::Size | KeyKind::Count | KeyKind::Number) => "1".to_owned(),
    };
    method
        .keys
        .iter()
        .map(|(key, kind)| (key.clone(), value(key, kind)))
        .collect()
}

/// One slot of all sides, where a law finds its operands.
pub struct Slot<'a> {
    phases: BTreeMap<String, Counts>,
    facts: Vec<&'a (String, String)>,
    parameters: &'a [(String, String)],
    about: &'a BTreeMap<String, String>,
}

impl<'a> Slot<'a> {
    /// The only slot of a launch of one round; both sides' transcripts must be there.
    pub fn of(sides: &'a [Ended], parameters: &'a [(String, String)]) -> Option<Slot<'a>> {
        let transcripts: Vec<&Transcript> = sides
            .iter()
            .filter_map(|s| s.transcript.as_ref().ok())
            .collect();
        let about = &transcripts.first()?.about;
        let mut slot = Slot {
            phases: BTreeMap::new(),
            facts: Vec::new(),
            parameters,
            about,
        };
        for transcript in transcripts {
            for sample in &transcript.samples {
                let name = transcript.phases[usize::from(sample.phase)].clone();
                let name = if slot.phases.contains_key(&name) {
                    name + ".b"
                } else {
                    name
                };
                slot.phases.insert(name, sample.counts);
            }
            slot.facts
                .extend(transcript.facts.get(&0).into_iter().flatten());
        }
        Some(slot)
    }

    /// What is wrong with it by the laboratory's own rules: phases, exact laws, digests.
    pub fn wrong(&self, method: &Method, digests: &BTreeSet<&str>) -> Option<String> {
        if let Some(missing) = method
            .phases
            .iter()
            .find(|p| *p != "overall" && !self.phases.contains_key(*p))
        {
            return Some(format!("no sample of {missing}"));
        }
        for law in method.laws.iter().filter(|law| !law.is_level()) {
            if let record::expression::Holding::Broken(how) = law.check(self) {
                return Some(how);
            }
        }
        (self.digests() != *digests).then(|| "another digest".to_owned())
    }

    pub fn digests(&self) -> BTreeSet<&str> {
        self.facts
            .iter()
            .filter(|(name, _)| name == "digest")
            .map(|(_, value)| value.as_str())
            .collect()
    }
}

impl Values for Slot<'_> {
    fn number(&self, name: &str) -> Option<i128> {
        let column = name
            .rsplit_once('.')
            .and_then(|(phase, column)| self.phases.get(phase)?.column(column));
        column
            .map(i128::from)
            .or_else(|| self.word(name)?.parse().ok())
            .or_else(|| self.about.get(name)?.parse().ok())
    }

    fn word(&self, name: &str) -> Option<&str> {
        let fact = self
            .facts
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str());
        fact.or_else(|| {
            self.parameters
                .iter()
                .find(|(n, _)| n == name)
                .map(|(_, value)| value.as_str())
        })
    }
}
