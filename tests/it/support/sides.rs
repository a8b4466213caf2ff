//! Starts native workers by hand, one alone or two as the sides of a launch.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use record::method::Method;
use record::transcript::Transcript;

/// A worker's own word for each method.
pub struct Worker {
    pub path: PathBuf,
    pub methods: Vec<Method>,
    place: tempfile::TempDir,
}

impl Worker {
    /// The native worker of that name, unpacked into a folder of its own.
    pub fn native(name: &str) -> Worker {
        let place = tempfile::tempdir().unwrap();
        let path = super::native::worker(name, place.path());
        let list = Command::new(&path).arg("--list").output().unwrap();
        let list = String::from_utf8(list.stdout).unwrap();
        let lines = list.lines().filter(|line| line.starts_with("method\t"));
        Worker {
            path,
            methods: lines.map(|line| Method::parse(line).unwrap()).collect(),
            place,
        }
    }

    /// The helper beside it.
    pub fn helper(&self) -> PathBuf {
        super::native::helper(self.place.path())
    }

    pub fn of(&self, experiment: &str) -> impl Iterator<Item = &Method> {
        self.methods
            .iter()
            .filter(move |m| m.experiment == experiment)
    }

    pub fn method(&self, experiment: &str, name: &str) -> &Method {
        self.of(experiment).find(|m| m.name == name).unwrap()
    }
}

/// Usual condition of the parameters that a test need not name.
const USUAL: [(&str, &str); 13] = [
    ("threads", "1"),
    ("running", "1"),
    ("backing", "recycled"),
    ("idle", "no"),
    ("idle_ms", "1"),
    ("frames", "cached"),
    ("stores", "atomic"),
    ("program", "tiny"),
    ("helpers", "batch"),
    ("then", "nothing"),
    ("memory", "unbounded"),
    ("others", "running"),
    ("neighbor", "none"),
];

/// The sides' meeting place and the folder for files.
pub struct Launch {
    pub folder: tempfile::TempDir,
    pub environment: Vec<(&'static str, String)>,
}

/// One side that has been started.
pub struct Side {
    pub child: Child,
}

/// How a side ended.
pub struct Ended {
    pub status: std::process::ExitStatus,
    pub transcript: Transcript,
    pub messages: String,
}

impl Launch {
    pub fn new() -> Launch {
        Launch {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        }
    }

    /// A prefix for names that no other test has.
    pub fn name(&self) -> String {
        format!(
            "pagewise-test-{}",
            self.folder
                .path()
                .file_name()
                .unwrap()
                .to_string_lossy()
                .trim_start_matches('.')
        )
    }

    pub fn request(
        &self,
        cells: &[(&Method, &[(&str, &str)])],
        role: Option<char>,
        rounds: u32,
    ) -> String {
        let folder = self.folder.path().display();
        let mut text = format!("protocol=1\nexperiment={}\nseed=9\n", cells[0].0.experiment);
        let _ = writeln!(text, "directory={folder}\nname={}", self.name());
        if let Some(role) = role {
            let _ = writeln!(text, "role={role}\nrendezvous={folder}/meet");
        }
        for (number, (method, parameters)) in cells.iter().enumerate() {
            let _ = writeln!(text, "cell={number}\nmethod={}", method.name);
            for (key, _) in &method.keys {
                let usual = || USUAL.iter().find(|(k, _)| k == key);
                let (_, value) = parameters
                    .iter()
                    .find(|(k, _)| k == key)
                    .or_else(usual)
                    .unwrap_or_else(|| panic!("no {key}"));
                let _ = writeln!(text, "{key}={value}");
            }
        }
        let all: Vec<String> = (0..cells.len()).map(|n| n.to_string()).collect();
        for round in 0..rounds {
            let _ = writeln!(text, "round={round} {}", all.join(","));
        }
        text
    }

    pub fn start(&self, worker: &Worker, request: &str) -> Side {
        self.start_command(Command::new(&worker.path), request)
    }

    /// A worker behind another program's name and arguments.
    pub fn start_command(&self, mut command: Command, request: &str) -> Side {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.envs(self.environment.iter().map(|(key, value)| (*key, value)));
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(request.as_bytes())
            .unwrap();
        Side { child }
    }

    /// One process.
    pub fn alone(
        &self,
        worker: &Worker,
        cells: &[(&Method, &[(&str, &str)])],
        rounds: u32,
    ) -> Ended {
        self.start(worker, &self.request(cells, None, rounds)).end()
    }

    /// Two sides to their end; both must end well.
    pub fn pair(
        &self,
        a: &Worker,
        b: &Worker,
        cells: &[(&Method, &[(&str, &str)])],
        rounds: u32,
    ) -> (Ended, Ended) {
        let first = self.start(a, &self.request(cells, Some('a'), rounds));
        let second = self.start(b, &self.request(cells, Some('b'), rounds));
        let ended = (first.end(), second.end());
        for side in [&ended.0, &ended.1] {
            assert!(
                side.status.success() && side.transcript.done,
                "{:?} {}",
                side.status,
                side.messages
            );
        }
        ended
    }

    /// Waits until side a has made the meeting place, or has removed it because b has come.
    pub fn wait_for_meeting_place(&self, there: bool) {
        let patience = Instant::now() + Duration::from_secs(30);
        while self.folder.path().join("meet").exists() != there && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(
            self.folder.path().join("meet").exists(),
            there,
            "the sides do not meet"
        );
    }

    /// What is left of the launch in its folder and in shared memory.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let name = self.name();
        let shared = std::fs::read_dir("/dev/shm")
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path());
        let own = std::fs::read_dir(self.folder.path())
            .unwrap()
            .flatten()
            .map(|e| e.path());
        shared
            .filter(|p| p.to_string_lossy().contains(&name))
            .chain(own)
            .collect()
    }
}

/// What a side that failed leaves is the guard's to remove, and there is none here.
impl Drop for Launch {
    fn drop(&mut self) {
        let (name, places) = (self.name(), ["/dev/shm", "/dev/mqueue", "/tmp"]);
        let all = places
            .into_iter()
            .flat_map(std::fs::read_dir)
            .flatten()
            .flatten();
        for left in all.filter(|entry| entry.file_name().to_string_lossy().starts_with(&name)) {
            let _ = std::fs::remove_file(left.path());
        }
    }
}

impl Side {
    /// Waits for its end; a side that does not end is what no test forgives.
    pub fn end(mut self) -> Ended {
        let (mut out, mut err) = (
            self.child.stdout.take().unwrap(),
            self.child.stderr.take().unwrap(),
        );
        let reading = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            out.read_to_end(&mut bytes).unwrap();
            bytes
        });
        let patience = Instant::now() + Duration::from_secs(60);
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < patience, "a side does not end");
            std::thread::sleep(Duration::from_millis(2));
        };
        let mut messages = String::new();
        err.read_to_string(&mut messages).unwrap();
        let bytes = reading.join().unwrap();
        let transcript = Transcript::read(bytes.as_slice())
            .unwrap_or_else(|e| panic!("{e:#} {status:?} {messages}"));
        Ended {
            status,
            transcript,
            messages,
        }
    }
}

/// A test that fails leaves no side behind, on which another one could wait, or which would take its processor.
impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    pub fn facts(&self, slot: u32) -> BTreeMap<&str, &str> {
        let facts = self.transcript.facts.get(&slot);
        facts
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }
}

/// `pagewise` with a cache and run folders of its own.
pub fn pagewise(place: &tempfile::TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pagewise"));
    command
        .env("COLUMNS", "400")
        .env("XDG_CACHE_HOME", super::cache::below(place.path()))
        .env("XDG_DATA_HOME", place.path())
        .env("PAGEWISE_LOCK", place.path())
        .args(arguments);
    command
}

/// The one cell of a run in which a byte was spoiled at `offset`.
pub fn spoiled_cell(
    place: &tempfile::TempDir,
    cell: &str,
    settings: &[&str],
    offset: u64,
) -> serde_json::Value {
    let mut command = pagewise(
        place,
        &["run", cell, "--launches", "1", "--budget", "5s", "--json"],
    );
    command.env("PAGEWISE_TEST_WRONG_AT", offset.to_string());
    for setting in settings {
        command.args(["--set", setting]);
    }
    let output = command.output().unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(summary["trusted"], false, "{summary:#}");
    summary["cells"][0].clone()
}
