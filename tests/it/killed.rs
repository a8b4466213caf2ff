//! A process of a run is killed at a random moment: the laboratory, a worker, a side, the guard; or a side stops. What was
//! measured can be read, the rest is an outcome in words, what was changed is put back, and nothing is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use stats::rng::Seeded;

use crate::robust::Run;
use crate::support::place::{Place, entries};
use crate::support::skips::{skip, thorough};
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
    Helper,
    /// Laboratory and guard at once.
    Both,
}

impl Victim {
    /// The processes of this run that it may be: of two sides, either.
    fn all(self, run: &Run) -> Vec<Pid> {
        let is_it = |words: &str| match self {
            Victim::Laboratory | Victim::Both => words
                .split(' ')
                .next()
                .is_some_and(|name| name.ends_with("/pagewise")),
            Victim::Helper => {
                words.contains("pagewise-helper try") || words.contains("pagewise-helper exec")
            }
            Victim::Worker => words.contains("worker-c") && !words.contains("pagewise-helper"),
            Victim::Guard => words.contains("pagewise-helper guard"),
        };
        run.numbered()
            .into_iter()
            .filter(|(_, words)| is_it(words))
            .filter_map(|(n, _)| Pid::from_raw(n))
            .collect()
    }

    /// One of them.
    fn of(self, run: &Run, rng: &mut Seeded) -> Option<Pid> {
        let all = self.all(run);
        (!all.is_empty()).then(|| all[rng.below(all.len())])
    }

    /// Kills it, where it is there.
    fn kill(self, run: &Run, rng: &mut Seeded) -> Option<()> {
        let guards: Vec<Pid> = match self {
            Victim::Both => Victim::Guard.all(run),
            _ => Vec::new(),
        };
        // Stopped first, so that no guard acts between the deaths.
        for &guard in &guards {
            let _ = kill_process(guard, Signal::STOP);
        }
        let killed = self
            .of(run, rng)
            .and_then(|pid| kill_process(pid, Signal::KILL).ok());
        for guard in guards {
            let _ = kill_process(guard, Signal::KILL);
        }
        killed
    }
}

/// Objects of System V as `KIND ID`: queues, sets of semaphores, and segments that nobody is attached to, whose makers are
/// gone.
fn lost_objects() -> BTreeSet<String> {
    let mut lost = BTreeSet::new();
    for kind in ["shm", "sem", "msg"] {
        let text = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let in_use =
                kind == "shm" && (fields[6] != "0" || Path::new("/proc").join(fields[4]).exists());
            if !in_use {
                lost.insert(format!("{kind} {}", fields[1]));
            }
        }
    }
    lost
}

/// Cgroups at any depth of any hierarchy.
fn cgroups(level: &Path, all: &mut Vec<PathBuf>) {
    for path in entries(level)
        .into_iter()
        .filter(|path| path.is_dir() && !path.is_symlink())
    {
        cgroups(&path, all);
        all.push(path);
    }
}

/// Every verb that measures, with the words after it. Two kinds of process of one command are left behind, one deaf.
fn verbs(out: &str) -> Vec<Vec<String>> {
    let command = [
        "--",
        "sh",
        "-c",
        "(trap '' TERM; sleep 2) & seq 1 100000 | sort -n | tail -1",
    ];
    // A bound is a memory cgroup.
    let bounded = "run read/read@c-O3 --set bytes=48MiB --set memory=32MiB --set cache=cold --set place=disk --budget 4s \
        --allow-system-changes";
    let bounded: Vec<&str> = bounded.split_whitespace().collect();
    let verbs: [&[&str]; 8] = [
        &[&["run"][..], &WORDS, &["--out", out]].concat(),
        &[&bounded[..], &["--out", out]].concat(),
        &["claims", "--budget", "4s"],
        &["advise", "copy", "--budget", "4s"],
        &["check", "--selftest", "--budget", "6s"],
        &[
            "check",
            "share/posix-shm@c-O3",
            "share/sysv-shm@c-O3",
            "message/posix-mq@c-O3",
        ],
        &[&["try", "--with", "no-thp", "--pairs", "2"][..], &command].concat(),
        &[&["profile", "--blocks", "2"][..], &command].concat(),
    ];
    verbs
        .iter()
        .map(|words| words.iter().map(|word| (*word).to_owned()).collect())
        .collect()
}

/// What is the whole machine's and bears this program's name: shared memory, queues, cgroups, temporary files. Those with the
/// number of a living process belong to another command.
fn named() -> BTreeSet<PathBuf> {
    let mut all: Vec<PathBuf> = ["/dev/shm", "/dev/mqueue", "/tmp"]
        .iter()
        .flat_map(|f| entries(Path::new(f)))
        .collect();
    cgroups(Path::new("/sys/fs/cgroup"), &mut all);
    let lives = |part: &str| part.parse::<u32>().is_ok() && Path::new("/proc").join(part).exists();
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("pagewise-") && !name.split('-').any(lives)
    };
    all.into_iter().filter(named).collect()
}

/// Settings of the machine and its loop devices.
fn settings() -> Vec<String> {
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let loops = entries(Path::new("/sys/block"))
        .into_iter()
        .map(|device| read(&device.join("loop/backing_file")));
    let thp = Path::new("/sys/kernel/mm/transparent_hugepage/enabled");
    [read(thp)]
        .into_iter()
        .chain(loops.filter(|file| !file.is_empty()))
        .collect()
}

/// Kills once in one command; what must hold afterwards.
fn kill_once(seed: u64) {
    let mut rng = Seeded::new(seed);
    let place = Place::new();
    let out = place.file("home/my run");
    let verbs = verbs(out.to_str().unwrap());
    let words: Vec<&str> = verbs[seed as usize % verbs.len()]
        .iter()
        .map(String::as_str)
        .collect();
    let victims = [
        Victim::Laboratory,
        Victim::Worker,
        Victim::Helper,
        Victim::Guard,
        Victim::Both,
    ];
    let victim = victims[rng.below(victims.len())];
    let before = (lost_objects(), named(), settings());
    let mut run = Run::spawn(place, out, &words);
    let moment = Instant::now() + Duration::from_millis(rng.below(2500) as u64);
    let mut killed = None;
    while run.child.try_wait().unwrap().is_none() {
        if killed.is_none() && Instant::now() >= moment {
            killed = victim.kill(&run, &mut rng);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let code = run.child.wait().unwrap().code();
    let err = fs::read_to_string(run.place.file("stderr")).unwrap();
    let what = format!(
        "seed {seed}, {victim:?} of {}, killed {}, exit {code:?}: {err}",
        words[0],
        killed.is_some()
    );
    wait_until(&format!("all processes are gone: {what}"), || {
        run.numbered().is_empty()
    });
    if let Victim::Both = victim {
        assert_eq!(run.place.run(&["list", "fault"]).code, 0, "{what}");
    }
    run.leaves_nothing();
    let new: BTreeSet<PathBuf> = named().difference(&before.1).cloned().collect();
    wait_until(&format!("no name is left of {new:?}: {what}"), || {
        named().is_disjoint(&new)
    });
    // Objects that another command has made meanwhile go with it.
    let new: BTreeSet<String> = lost_objects().difference(&before.0).cloned().collect();
    wait_until(&format!("none is left of {new:?}: {what}"), || {
        lost_objects().is_disjoint(&new)
    });
    assert_eq!(settings(), before.2, "{what}");
    assert_eq!(
        entries(&run.place.file("runtime/pagewise")),
        Vec::<PathBuf>::new(),
        "no journal is left: {what}"
    );
    assert!(
        code != Some(101) && (killed.is_some() || code != Some(1)),
        "{what}"
    );
    if words[0] == "run" {
        assert!([None, Some(0), Some(1), Some(4)].contains(&code), "{what}");
        is_readable(&run, &what);
    }
}

/// The run's folder, as far as there is one, is reported, and every cell without figures says why.
fn is_readable(run: &Run, what: &str) {
    if !run.out.join("plan.json").exists() {
        return;
    }
    let result = run
        .place
        .run(&["report", run.out.to_str().unwrap(), "--json"]);
    if result.code == 1 {
        // Killed before anything was measured: it says so.
        assert!(
            result.err.lines().count() == 1 && result.err.starts_with("pagewise: "),
            "{what}: {}",
            result.err
        );
        return;
    }
    // 4: nothing could be measured, and each cell says why.
    assert!(
        [0, 4].contains(&result.code),
        "{what}: {} {}",
        result.code,
        result.err
    );
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    for cell in summary["cells"].as_array().unwrap() {
        let reasoned = cell["status"] == "ok" || !crate::support::place::reason(cell).is_empty();
        assert!(reasoned, "{what}: {cell:#}");
    }
}

#[test]
fn a_kill_at_a_random_moment_of_any_verb_leaves_nothing() {
    for seed in 0..if thorough() { 12 } else { 4 } {
        kill_once(seed);
    }
}

/// `cargo test --test it killed:: -- --ignored`; PAGEWISE_KILLS=240-259 takes those seeds.
#[test]
#[ignore = "200 commands: a quarter of an hour"]
fn two_hundred_kills_leave_nothing() {
    let seeds = std::env::var("PAGEWISE_KILLS").unwrap_or_else(|_| "100-299".to_owned());
    let (first, last) = seeds
        .split_once('-')
        .expect("PAGEWISE_KILLS is two seeds with a hyphen between");
    for seed in first.parse().unwrap()..=last.parse().unwrap() {
        kill_once(seed);
    }
}

/// Nobody is left to put anything back then, until the run is resumed: its guard is told of the same names.
#[test]
fn what_laboratory_and_guard_leave_that_are_killed_together_is_removed_by_the_resumption() {
    let mut run = Run::of(&WORDS);
    let mut rng = Seeded::new(3);
    wait_until("a launch runs", || {
        run.in_a_launch() && Victim::Guard.of(&run, &mut rng).is_some()
    });
    let guard = Victim::Guard.of(&run, &mut rng).unwrap();
    // Stopped first, so that it does not act between the two deaths.
    kill_process(guard, Signal::STOP).unwrap();
    kill_process(Pid::from_child(&run.child), Signal::KILL).unwrap();
    run.child.wait().unwrap();
    kill_process(guard, Signal::KILL).unwrap();
    wait_until("all processes are gone", || run.numbered().is_empty());
    is_readable(&run, "killed together");
    let result = run.place.run(&[
        "run",
        "--resume",
        run.out.to_str().unwrap(),
        "--budget",
        "4s",
    ]);
    assert!([0, 4].contains(&result.code), "{}", result.err);
    run.leaves_nothing();
}

#[test]
fn a_side_that_stops_is_a_failed_cell() {
    let words = [
        "share/posix-shm@c-O3+c-O3",
        "share/null@c-O3",
        "--set",
        "bytes=1MiB",
        "--set",
        "load=0",
    ];
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
    let words = [
        "fault/hugetlb@c-O3",
        "fault/null@c-O3",
        "--set",
        "bytes=4MiB",
        "--allow-system-changes",
    ];
    let more = ["--launches", "3", "--budget", "5s"];
    for victim in [Victim::Laboratory, Victim::Worker, Victim::Guard] {
        let mut run = Run::of(&[&words[..], &more].concat());
        let mut rng = Seeded::new(2);
        let mut killed = false;
        wait_until("the run has ended", || {
            if !killed && !pool.is_back() && run.in_a_launch() {
                killed = victim
                    .of(&run, &mut rng)
                    .is_some_and(|p| kill_process(p, Signal::KILL).is_ok());
            }
            run.child.try_wait().unwrap().is_some()
        });
        let err = fs::read_to_string(run.place.file("stderr")).unwrap();
        wait_until(&format!("{victim:?}: the pool is as it was: {err}"), || {
            pool.is_back()
        });
        run.leaves_nothing();
        if !killed {
            skip(&format!(
                "{victim:?}: the pool was not enlarged, or nobody was there to be killed: {err}"
            ));
        }
    }
}
