//! A process of a run is killed at a random moment: the laboratory, a worker, a side, the guard; or a side stops. What was
//! measured can be read, the rest is an outcome in words, what was changed is put back, and nothing is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use stats::rng::Seeded;

use crate::robust::Run;
use crate::support::native;
use crate::support::place::Place;
use crate::support::skips::skip;
use crate::support::waiting::wait_until;

const WORDS: [&str; 11] = [
    "share/posix-shm@c-O3+c-O3",
    "share/sysv-shm@c-O3+c-O3",
    "share/null@c-O3",
    "--set",
    "bytes=1MiB",
    "--set",
    "load=0",
    "--launches",
    "3",
    "--budget",
    "4s",
];

/// Who is killed.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Laboratory,
    Worker,
    Guard,
}

impl Victim {
    /// The process of this run that it is, where there is one now; of two sides, either.
    fn of(self, run: &Run, rng: &mut Seeded) -> Option<Pid> {
        let is_it = |words: &str| match self {
            Victim::Laboratory => words.contains("pagewise run "),
            Victim::Worker => words.contains("worker-c") && !words.contains("pagewise-helper"),
            Victim::Guard => words.trim_end().ends_with("pagewise-helper guard"),
        };
        let found: Vec<i32> = run.numbered().into_iter().filter(|(_, words)| is_it(words)).map(|(n, _)| n).collect();
        (!found.is_empty()).then(|| Pid::from_raw(found[rng.below(found.len())]).unwrap())
    }
}

/// Segments of System V that nobody is attached to, whose makers are gone.
fn lost_segments() -> BTreeSet<String> {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let fields = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lost = |f: &Vec<String>| f.get(6).is_some_and(|n| n == "0") && !Path::new("/proc").join(&f[4]).exists();
    text.lines().skip(1).map(fields).filter(lost).map(|f| f[1].clone()).collect()
}

/// Kills once in one run; what must hold afterwards.
fn kill_once(seed: u64, words: &[&str]) {
    let mut rng = Seeded::new(seed);
    let victim = [Victim::Laboratory, Victim::Worker, Victim::Worker, Victim::Guard][rng.below(4)];
    let before = lost_segments();
    let mut run = Run::of(words);
    let moment = Instant::now() + Duration::from_millis(rng.below(1500) as u64);
    let mut killed = None;
    while run.child.try_wait().unwrap().is_none() {
        if killed.is_none()
            && Instant::now() >= moment
            && let Some(process) = victim.of(&run, &mut rng)
        {
            killed = kill_process(process, Signal::KILL).ok();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let code = run.child.wait().unwrap().code();
    let err = fs::read_to_string(run.place.file("stderr")).unwrap();
    let what = format!("seed {seed}, {victim:?}, killed {}, exit {code:?}: {err}", killed.is_some());
    run.leaves_nothing();
    wait_until(&format!("no segment is left: {what}"), || lost_segments().is_subset(&before));
    match (victim, killed) {
        // A signal that comes to a process at its very end changes nothing any more.
        (Victim::Laboratory, Some(())) => assert!([None, Some(0), Some(4)].contains(&code), "{what}"),
        (Victim::Guard, Some(())) => assert!([Some(0), Some(1), Some(4)].contains(&code), "{what}"),
        _ => assert!([Some(0), Some(4)].contains(&code), "{what}"),
    }
    assert!(code != Some(1) || err.lines().count() == 1, "{what}");
    is_readable(&run, &what);
}

/// The run's folder, as far as there is one, is reported, and every cell without figures says why.
fn is_readable(run: &Run, what: &str) {
    if !run.out.join("plan.json").exists() {
        return;
    }
    let result = run.place.run(&["report", run.out.to_str().unwrap(), "--json"]);
    if result.code == 1 {
        // Killed before anything was measured: it says so.
        assert!(result.err.lines().count() == 1 && result.err.starts_with("pagewise: "), "{what}: {}", result.err);
        return;
    }
    // 4: nothing could be measured, and each cell says why.
    assert!([0, 4].contains(&result.code), "{what}: {} {}", result.code, result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    for cell in summary["cells"].as_array().unwrap() {
        let reasoned = cell["status"] == "ok" || cell["reason"].as_str().is_some_and(|r| !r.is_empty());
        assert!(reasoned, "{what}: {cell:#}");
    }
}

#[test]
fn a_kill_at_a_random_moment_leaves_nothing_and_a_run_that_can_be_read() {
    for seed in 0..6 {
        kill_once(seed, &WORDS);
    }
}

/// `cargo test --test it killed:: -- --ignored`; PAGEWISE_KILLS=240 begins with that seed.
#[test]
#[ignore = "200 runs: a quarter of an hour"]
fn two_hundred_kills_leave_nothing_and_runs_that_can_be_read() {
    let first = std::env::var("PAGEWISE_KILLS").ok().and_then(|seed| seed.parse().ok()).unwrap_or(100);
    for seed in first..300 {
        kill_once(seed, &WORDS);
    }
}

/// Nobody is left to put anything back then, until the run is resumed: its guard is told of the same names.
#[test]
fn what_laboratory_and_guard_leave_that_are_killed_together_is_removed_by_the_resumption() {
    let mut run = Run::of(&WORDS);
    let mut rng = Seeded::new(3);
    wait_until("a launch runs", || run.in_a_launch() && Victim::Guard.of(&run, &mut rng).is_some());
    let guard = Victim::Guard.of(&run, &mut rng).unwrap();
    // Stopped first, so that it does not act between the two deaths.
    kill_process(guard, Signal::STOP).unwrap();
    kill_process(Pid::from_child(&run.child), Signal::KILL).unwrap();
    run.child.wait().unwrap();
    kill_process(guard, Signal::KILL).unwrap();
    wait_until("all processes are gone", || run.numbered().is_empty());
    is_readable(&run, "killed together");
    let result = run.place.run(&["run", "--resume", run.out.to_str().unwrap(), "--budget", "4s"]);
    assert!([0, 4].contains(&result.code), "{}", result.err);
    run.leaves_nothing();
}

#[test]
fn a_side_that_stops_is_a_failed_cell() {
    let words = ["share/posix-shm@c-O3+c-O3", "share/null@c-O3", "--set", "bytes=1MiB", "--set", "load=0"];
    let more = ["--launches", "2", "--budget", "6s", "--time-limit", "2s"];
    let mut run = Run::of(&[&words[..], &more].concat());
    let mut rng = Seeded::new(1);
    wait_until("a launch runs", || run.in_a_launch());
    let mut stopped = false;
    wait_until("the run has ended", || {
        // A worker that has come to its end meanwhile cannot be stopped; then it is the next one's turn.
        if let Some(side) = Victim::Worker.of(&run, &mut rng).filter(|_| !stopped) {
            stopped = kill_process(side, Signal::STOP).is_ok();
        }
        run.child.try_wait().unwrap().is_some()
    });
    assert!(stopped, "a worker was there to be stopped");
    assert!([Some(0), Some(4)].contains(&run.child.wait().unwrap().code()));
    run.leaves_nothing();
    is_readable(&run, "a side that stops");
}

/// A number that is the whole machine's, put back whatever becomes of the test.
struct Kept(&'static str, String);

impl Kept {
    fn of(path: &'static str) -> Option<Kept> {
        let text = fs::read_to_string(path).ok()?;
        fs::write(path, text.trim()).ok()?;
        Some(Kept(path, text.trim().to_owned()))
    }

    fn is_back(&self) -> bool {
        fs::read_to_string(self.0).is_ok_and(|now| now.trim() == self.1)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if !self.is_back() {
            let _ = fs::write(self.0, &self.1);
        }
    }
}

#[test]
fn what_a_run_may_change_is_put_back_whoever_is_killed() {
    let Some(pool) = Kept::of("/proc/sys/vm/nr_hugepages") else {
        skip("the pool of huge pages cannot be changed here");
        return;
    };
    let words = ["fault/hugetlb@c-O3", "fault/null@c-O3", "--set", "bytes=4MiB", "--allow-system-changes"];
    let more = ["--launches", "3", "--budget", "5s"];
    for victim in [Victim::Laboratory, Victim::Worker, Victim::Guard] {
        let mut run = Run::of(&[&words[..], &more].concat());
        let mut rng = Seeded::new(2);
        let mut killed = false;
        wait_until("the run has ended", || {
            if !killed && !pool.is_back() && run.in_a_launch() {
                killed = victim.of(&run, &mut rng).is_some_and(|p| kill_process(p, Signal::KILL).is_ok());
            }
            run.child.try_wait().unwrap().is_some()
        });
        let err = fs::read_to_string(run.place.file("stderr")).unwrap();
        wait_until(&format!("{victim:?}: the pool is as it was: {err}"), || pool.is_back());
        run.leaves_nothing();
        if !killed {
            skip(&format!("{victim:?}: the pool was not enlarged, or nobody was there to be killed: {err}"));
        }
    }
}

#[test]
fn the_guard_undoes_what_it_noted_even_if_nobody_hears_its_answer() {
    let place = Place::new();
    native::worker("c-O3", place.path());
    // More lines than a fixed table would hold, and the last without anybody to read the answer.
    let (files, mut text) = (600, String::new());
    for number in 0..files {
        fs::write(place.file(&format!("made-{number}")), "").unwrap();
        text += &format!("undo unlink {}\n", place.file(&format!("made-{number}")).display());
    }
    let mut command = Command::new(native::helper(place.path()));
    let mut guard = command.arg("guard").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut answers = BufReader::new(guard.stdout.take().unwrap()).lines();
    assert_eq!(answers.next().unwrap().unwrap(), "ready");
    drop(answers);
    guard.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(guard.wait().unwrap().success());
    let left = (0..files).filter(|n| place.file(&format!("made-{n}")).exists()).count();
    assert_eq!(left, 0);
}
