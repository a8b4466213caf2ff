//! Workers die, users interrupt, laboratories are killed: what was measured stays, the rest says why, nothing is left behind.

use crate::support::skips::skip;
use crate::support::waiting::{wait_until, wait_until_none};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Child;

use crate::support::place::{Place, cell, entries, said};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A run in the background whose launches take a good part of a second each.
pub struct Run {
    pub place: Place,
    pub out: PathBuf,
    pub child: Child,
}

const CELLS: [&str; 4] = [
    "share/posix-shm@c-O3+c-O3",
    "share/sysv-shm@c-O3+c-O3",
    "share/file-disk@c-O3+c-O3",
    "share/null@c-O3",
];
const SETTINGS: [&str; 6] = [
    "--set",
    "bytes=4MiB",
    "--set",
    "index=xorshift",
    "--set",
    "load=0",
];

impl Run {
    fn start() -> Run {
        Run::of(
            &[
                &CELLS[..],
                &SETTINGS,
                &["--budget", "30s", "--launches", "6"],
            ]
            .concat(),
        )
    }

    /// `pagewise run` with these words.
    pub fn of(words: &[&str]) -> Run {
        let place = Place::new();
        // A name with a space: what undoes things must cope with it.
        let out = place.file("home/my run");
        let words: Vec<&str> = [&["run"], words, &["--out", out.to_str().unwrap()]].concat();
        Run::spawn(place, out.clone(), &words)
    }

    /// Any command in the background, which may keep a run in this folder.
    pub fn spawn(place: Place, out: PathBuf, words: &[&str]) -> Run {
        let mut command = place.command(words);
        command
            .stdout(File::create(place.file("stdout")).unwrap())
            .stderr(File::create(place.file("stderr")).unwrap());
        let child = command.spawn().unwrap();
        Run { place, out, child }
    }

    /// Whether a launch is under way: what it asks for lies in the scratch folder until it has ended.
    pub fn in_a_launch(&self) -> bool {
        let begins = |path: &Path, word: &str| {
            path.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with(word))
        };
        let scratch = entries(&self.out)
            .into_iter()
            .filter(|p| begins(p, "scratch-"));
        scratch
            .flat_map(|folder| entries(&folder))
            .any(|p| begins(&p, "request"))
    }

    /// What is only ever appended to.
    fn kept(&self) -> [Vec<u8>; 2] {
        ["launches.jsonl", "transcripts.zst"]
            .map(|name| std::fs::read(self.out.join(name)).unwrap())
    }

    /// Launches that are judged: pilots show how long the others take, and are kept apart.
    fn judged(&self) -> usize {
        let text = std::fs::read_to_string(self.out.join("launches.jsonl")).unwrap_or_default();
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .filter(|launch| launch["block"].as_i64() >= Some(0))
            .count()
    }

    /// Sends the signal while a worker is at work, after two launches at least have come to their end that are judged.
    fn signal_in_the_middle(&mut self, signal: Signal) {
        wait_until("a launch runs", || self.judged() >= 2 && self.in_a_launch());
        assert!(
            self.processes().len() > 1,
            "the laboratory and its worker are there"
        );
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Processes of this run: all have this place in their environment.
    fn processes(&self) -> Vec<String> {
        self.numbered()
            .into_iter()
            .map(|(_, words)| words)
            .collect()
    }

    /// The same, with their numbers.
    pub fn numbered(&self) -> Vec<(i32, String)> {
        let place = self.place.path().to_str().unwrap();
        let numbered = entries(Path::new("/proc")).into_iter();
        let numbered = numbered.filter(|p| {
            p.file_name()
                .is_some_and(|n| n.to_string_lossy().parse::<u32>().is_ok())
        });
        let ours = |p: &PathBuf| {
            std::fs::read(p.join("environ"))
                .is_ok_and(|e| String::from_utf8_lossy(&e).contains(place))
        };
        let name = |p: PathBuf| {
            std::fs::read(p.join("cmdline")).map(|c| String::from_utf8_lossy(&c).replace('\0', " "))
        };
        let number = |p: &Path| p.file_name()?.to_string_lossy().parse().ok();
        let found = numbered
            .filter(ours)
            .filter_map(|p| Some((number(&p)?, name(p).ok()?)));
        found.filter(|(_, words)| !words.is_empty()).collect()
    }

    /// Nothing of the run is left but its folder: no process, no scratch, no temporary file, no named object.
    pub fn leaves_nothing(&self) {
        wait_until_none("processes", || self.processes());
        wait_until_none("names", || self.place.leftovers(&self.out));
    }

    fn report(&self) -> Value {
        let result = self
            .place
            .run(&["report", self.out.to_str().unwrap(), "--json"]);
        assert_eq!(result.code, 0, "{}", result.err);
        serde_json::from_str(&result.out).unwrap()
    }

    /// Completes the run; what was there before must still be there as it was.
    fn resume(&self) {
        // The last frame may have been cut off in the middle; what is whole stays as it was.
        let before = self.judged();
        let [launches, _] = self.kept();
        let result = self.place.run(&[
            "run",
            "--resume",
            self.out.to_str().unwrap(),
            "--budget",
            "60s",
            "--json",
        ]);
        assert_eq!(result.code, 0, "{}", result.err);
        let whole = launches
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |p| p + 1);
        assert!(
            self.kept()[0].starts_with(&launches[..whole]),
            "what was recorded was changed"
        );
        assert!(self.judged() > before, "nothing was added");
        let summary: Value = serde_json::from_str(&result.out).unwrap();
        for name in CELLS {
            let cell = cell(&summary, name, &[]);
            assert!(
                crate::support::place::is_measured(cell) || cell["status"] == "skipped",
                "{cell:#}"
            );
            // The floor takes part in one launch only.
            let least = if cell["role"] == "null" { 1 } else { 6 };
            assert!(
                cell["status"] == "skipped" || cell["launches"].as_u64() >= Some(least),
                "{cell:#}"
            );
        }
        assert!(
            !summary["notes"].to_string().contains("interrupted"),
            "{}",
            summary["notes"]
        );
        assert_eq!(self.report(), summary);
        self.leaves_nothing();
    }
}

fn is_interrupted(summary: &Value) {
    assert!(
        summary["notes"]
            .to_string()
            .contains("\"code\":\"interrupted\""),
        "{}",
        summary["notes"]
    );
    assert!(
        CELLS
            .iter()
            .any(|name| cell(summary, name, &[])["launches"].as_u64() > Some(0)),
        "{summary:#}"
    );
}

/// Ends a run by a signal that can be caught.
fn stopped_by(signal: Signal, code: i32) -> Run {
    let mut run = Run::start();
    run.signal_in_the_middle(signal);
    let status = run.child.wait().unwrap();
    assert_eq!(status.code(), Some(code));
    run.leaves_nothing();
    let mut kept: Value =
        serde_json::from_slice(&std::fs::read(run.out.join("summary.json")).unwrap()).unwrap();
    assert!(
        kept.as_object_mut().unwrap().remove("seal").is_some(),
        "the file is sealed"
    );
    is_interrupted(&kept);
    assert_eq!(run.report(), kept);
    run
}

#[test]
fn ctrl_c_ends_a_run_in_order_and_it_can_be_completed() {
    stopped_by(Signal::INT, 130).resume();
}

#[test]
fn sigterm_ends_a_run_in_order() {
    stopped_by(Signal::TERM, 143);
}

#[test]
fn a_killed_laboratory_leaves_a_run_that_can_be_read_and_completed() {
    let mut run = Run::start();
    run.signal_in_the_middle(Signal::KILL);
    run.child.wait().unwrap();
    run.leaves_nothing();
    assert!(!run.out.join("summary.json").exists());
    is_interrupted(&run.report());
    run.resume();
}

#[test]
fn nobody_measures_into_the_folder_of_a_running_run() {
    let mut run = Run::start();
    wait_until("it has begun", || run.in_a_launch());
    let result = run
        .place
        .run(&["run", "--resume", run.out.to_str().unwrap()]);
    assert_eq!(result.code, 1);
    assert!(
        result.err.contains("another process is measuring into"),
        "{}",
        result.err
    );
    kill_process(Pid::from_child(&run.child), Signal::INT).unwrap();
    run.child.wait().unwrap();
    run.leaves_nothing();
}

/// A run in which the worker of `touch` dies in this way; `null`, which shares its process at first, must come out whole.
fn dies(lie: &str, bytes: &str, more: &[&str]) -> (Place, Value) {
    let place = Place::new();
    let bytes = format!("bytes={bytes}");
    let cells = [
        "run",
        "fault/touch@canary",
        "fault/null@canary",
        "--set",
        &bytes,
        "--budget",
        "8s",
        "--launches",
        "2",
    ];
    let result = said(
        place
            .canary(lie, &cells)
            .args(["--json", "--out"])
            .arg(place.file("run"))
            .args(more),
    );
    assert_eq!(result.code, 0, "{lie}: {}", result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    let null = cell(&summary, "fault/null@canary", &[]);
    assert!(
        null["status"] == "ok" && null["launches"].as_u64() > Some(0),
        "{lie}: {null:#}"
    );
    assert!(place.leftovers(&place.file("run")).is_empty(), "{lie}");
    let again = place.run(&["report", place.file("run").to_str().unwrap(), "--json"]);
    assert_eq!(
        serde_json::from_str::<Value>(&again.out).unwrap(),
        summary,
        "{lie}"
    );
    (place, summary)
}

fn fails(lie: &str, bytes: &str, more: &[&str], because: &str) {
    let (_place, summary) = dies(lie, bytes, more);
    let touch = cell(&summary, "fault/touch@canary", &[]);
    assert_eq!(touch["status"], "failed", "{lie}: {touch:#}");
    assert!(
        crate::support::place::reason(touch).contains(because),
        "{lie}: {} does not say {because:?}",
        touch["reason"]
    );
}

#[test]
fn a_killed_worker_is_a_failed_cell() {
    fails(
        "sigkill",
        "4MiB",
        &[],
        "the worker was killed by signal SIGKILL",
    );
}

#[test]
fn a_crashed_worker_is_a_failed_cell() {
    fails(
        "sigsegv",
        "4MiB",
        &[],
        "the worker was killed by signal SIGSEGV",
    );
    fails("crash-in-phase", "512MiB", &[], "SIGSEGV in the worker, ");
}

#[test]
fn a_worker_that_hangs_is_a_failed_cell() {
    fails(
        "hang",
        "4MiB",
        &["--time-limit", "1s"],
        "the worker did not end within its time limit of 1 s",
    );
}

#[test]
fn a_worker_that_gives_up_is_a_failed_cell() {
    fails(
        "give-up",
        "4MiB",
        &[],
        "the worker ended with exit status 9: the canary cannot go on",
    );
}

#[test]
fn a_worker_without_address_space_is_a_failed_cell() {
    fails("address-space", "512MiB", &[], "Cannot allocate memory");
}

#[test]
fn a_worker_that_breaks_the_protocol_is_an_untrusted_cell() {
    let lies = [
        ("no-done", "truncated"),
        ("done-count", "says it took"),
        ("dropped-sample", "lacks the phase"),
    ];
    for (lie, because) in lies {
        let (_place, summary) = dies(lie, "4MiB", &[]);
        let touch = cell(&summary, "fault/touch@canary", &[]);
        assert_eq!(touch["status"], "untrusted", "{lie}: {touch:#}");
        assert!(
            crate::support::place::reason(touch).contains(because),
            "{lie}: {}",
            touch["reason"]
        );
        assert_eq!(summary["trusted"], false, "{lie}");
    }
}

/// A memory cgroup with this limit, where one can be made; removed again at the end.
struct Bounded(PathBuf);

impl Bounded {
    fn make(bytes: u64) -> Option<Bounded> {
        let name = format!("pagewise-test-bounded-{}", std::process::id());
        for (level, limit) in [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ] {
            let made = Bounded(Path::new(level).join(&name));
            if std::fs::create_dir(&made.0).is_ok()
                && std::fs::write(made.0.join(limit), bytes.to_string()).is_ok()
            {
                return Some(made);
            }
        }
        None
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_worker_that_runs_out_of_memory_is_a_failed_cell() {
    let Some(bounded) = Bounded::make(32 << 20) else {
        skip("no memory cgroup can be made here");
        return;
    };
    let place = Place::new();
    let cells = [
        "run",
        "fault/touch@canary",
        "fault/null@canary",
        "--set",
        "bytes=64MiB",
        "--budget",
        "8s",
        "--launches",
        "2",
    ];
    let result = said(
        place
            .canary("out-of-memory", &cells)
            .arg("--json")
            .env("CANARY_CGROUP", &bounded.0),
    );
    assert_eq!(result.code, 0, "{}", result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    let touch = cell(&summary, "fault/touch@canary", &[]);
    assert_eq!(touch["status"], "failed", "{touch:#}");
    assert_eq!(
        crate::support::place::reason(touch),
        "the worker was killed by the kernel's OOM killer"
    );
    assert_eq!(cell(&summary, "fault/null@canary", &[])["status"], "ok");
}

#[test]
fn what_does_not_fit_is_refused_with_both_figures() {
    let place = Place::new();
    let cells = [
        "run",
        "fault/touch@c-O3",
        "fault/null@c-O3",
        "--set",
        "bytes=1MiB,4TiB",
    ];
    let result =
        place.run(&[&cells[..], &["--budget", "8s", "--launches", "2", "--json"]].concat());
    assert_eq!(result.code, 0, "{}", result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    let large = cell(&summary, "fault/touch@c-O3", &[("bytes", "4398046511104")]);
    assert_eq!(large["status"], "refused", "{large:#}");
    let reason = crate::support::place::reason(large);
    assert!(
        reason.starts_with("needs 4.0 TiB of memory, but only ")
            && reason.contains("are available"),
        "{reason}"
    );
    assert!(crate::support::place::is_measured(cell(
        &summary,
        "fault/touch@c-O3",
        &[("bytes", "1048576")]
    )));
    let nothing = place.run(&[
        "run",
        "fault/touch@c-O3",
        "--set",
        "bytes=4TiB",
        "--budget",
        "1s",
    ]);
    assert_eq!(
        nothing.code, 4,
        "a run in which nothing could be measured: {}",
        nothing.out
    );
}
