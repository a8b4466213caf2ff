//! Processes of a command are killed at a random moment: the laboratory, a worker, a side, the guard, a compiler, the holder of
//! a state, or any one or two; or a side stops. What was measured can be read, the rest is an outcome in words, what was changed
//! is put back, and nothing is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use stats::rng::Seeded;

use crate::robust::Run;
use crate::support::place::{Place, entries};
use crate::support::skips::{skip, thorough};
use crate::support::waiting::{wait_until, wait_until_none};

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
    /// Any one.
    One,
    /// Any two at once.
    Two,
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
            Victim::One | Victim::Two => true,
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

    /// Kills it, where it is there. Returns the command lines of those that were killed.
    fn kill(self, run: &Run, rng: &mut Seeded) -> Option<Vec<String>> {
        let mut victims: Vec<Pid> = self.of(run, rng).into_iter().collect();
        match self {
            Victim::Both => victims.extend(Victim::Guard.all(run)),
            Victim::Two => victims.extend(self.of(run, rng).filter(|pid| !victims.contains(pid))),
            _ => {}
        }
        let lines = run.numbered().into_iter();
        let lines = lines
            .filter(|(number, _)| Pid::from_raw(*number).is_some_and(|pid| victims.contains(&pid)));
        let lines = lines.map(|(_, line)| line).collect();
        // Stopped first, so that no guard acts between the deaths.
        for &victim in victims.iter().skip(1) {
            let _ = kill_process(victim, Signal::STOP);
        }
        let killed = victims
            .iter()
            .filter(|&&victim| kill_process(victim, Signal::KILL).is_ok());
        (killed.count() > 0).then_some(lines)
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

/// A file for `bench` with so many functions, each of which keeps the compiler busy for a moment.
fn functions(count: u32) -> String {
    let function = |n: u32| format!("int f{n}(int x) {{ return x * {n} + (x >> {}); }}\n", n & 7);
    let text: String = (0..count).map(function).collect();
    let bench = |kind: &str, name: &str, n: u32| {
        format!(
            "{kind}({name}) {{ int x = 1; PHASE(\"work\") {{ for (int i = 0; i < 1000; i++) x = f{n}(x); }} RESULT(0 * x); }}\n"
        )
    };
    let (baseline, other) = (bench("BASELINE", "one", 1), bench("BENCH", "two", 2));
    format!("#include <pagewise.h>\n{text}{baseline}{other}")
}

/// Number of command lines of [`verbs`].
const VERBS: usize = 15;

/// Every verb that measures, with the words after it. Two kinds of process of one command are left behind, one deaf.
fn verbs(place: &Place, out: &str) -> Vec<Vec<String>> {
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
    let in_state = |state| {
        let words = [
            "run",
            "fault/touch@c-O3",
            "--set",
            "bytes=2MiB",
            "--state",
            state,
        ];
        let more = [
            "--allow-system-changes",
            "--launches",
            "3",
            "--budget",
            "6s",
            "--out",
            out,
        ];
        [&words[..], &more].concat()
    };
    let file = place.file("home/functions.c");
    fs::write(&file, functions(1_000)).unwrap();
    let verbs: [&[&str]; VERBS] = [
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
        &[
            "bench",
            file.to_str().unwrap(),
            "--budget",
            "3s",
            "--out",
            out,
        ],
        &in_state("swap-file"),
        &in_state("swap-zram"),
        &in_state("fragmented-movable"),
        &in_state("writeback"),
        &in_state("neighbour"),
        &in_state("storage-latency"),
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
    // The register of settings that somebody has changed; none is left.
    let register = entries(Path::new("/run/pagewise/settings"));
    let register = register.iter().map(|path| path.display().to_string());
    [read(thp)]
        .into_iter()
        .chain(crate::states::machine())
        .chain(register)
        .chain(loops.filter(|file| !file.is_empty()))
        .collect()
}

/// Files and folders below a place, and below the cache that all tests share, that are never the end of something.
fn unfinished(place: &Place) -> Vec<PathBuf> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let mut left = Vec::new();
    for folder in [
        cache,
        place.file("data"),
        place.file("home"),
        place.file("runtime"),
    ] {
        below(&folder, &mut left);
    }
    left.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".part") || name.starts_with("scratch-") || name.starts_with("built-")
    });
    left
}

fn below(folder: &Path, all: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        if path.is_dir() && !path.is_symlink() {
            below(&path, all);
        }
        all.push(path);
    }
}

/// Kills once in one command; what must hold afterwards. Returns the command, and what was killed. None: the command had
/// ended before anybody was.
fn kill_once(seed: u64) -> Option<String> {
    let mut rng = Seeded::new(seed);
    let place = Place::new();
    let out = place.file("home/my run");
    let verbs = verbs(&place, out.to_str().unwrap());
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
        Victim::One,
        Victim::Two,
        Victim::Two,
    ];
    let victim = victims[rng.below(victims.len())];
    let _turn = crate::states::MACHINE
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let before = (lost_objects(), named(), settings());
    let mut run = Run::spawn(place, out, &words);
    let moment = Instant::now() + Duration::from_millis(rng.below(2500) as u64);
    let mut killed = None;
    let begun = Instant::now();
    while run.child.try_wait().unwrap().is_none() {
        assert!(
            begun.elapsed() < Duration::from_secs(180),
            "seed {seed}: {} hangs after {killed:?}",
            words.join(" ")
        );
        if killed.is_none() && Instant::now() >= moment {
            killed = victim.kill(&run, &mut rng);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let code = run.child.wait().unwrap().code();
    let err = fs::read_to_string(run.place.file("stderr")).unwrap();
    let what = format!(
        "seed {seed}, {victim:?} of {}, killed {killed:?}, exit {code:?}: {err}",
        words.join(" ")
    );
    wait_until(&format!("all processes are gone: {what}"), || {
        run.numbered().is_empty()
    });
    // Nobody is left to put things back where a guard was killed, too, nor to remove a build.
    if killed.is_some() {
        assert_eq!(run.place.run(&["list", "fault"]).code, 0, "{what}");
    }
    run.leaves_nothing();
    wait_until_none(&format!("unfinished files: {what}"), || {
        unfinished(&run.place)
    });
    let new: BTreeSet<PathBuf> = named().difference(&before.1).cloned().collect();
    wait_until(&format!("no name is left of {new:?}: {what}"), || {
        named().is_disjoint(&new)
    });
    // Objects that another command has made meanwhile go with it.
    let new: BTreeSet<String> = lost_objects().difference(&before.0).cloned().collect();
    wait_until(&format!("none is left of {new:?}: {what}"), || {
        lost_objects().is_disjoint(&new)
    });
    wait_until(&format!("settings are as they were: {what}"), || {
        settings() == before.2
    });
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
    killed.map(|lines| format!("{}: {victim:?} {lines:?}", words.join(" ")))
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
    for seed in 0..if thorough() { VERBS as u64 } else { 4 } {
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
    let (first, last): (u64, u64) = (first.parse().unwrap(), last.parse().unwrap());
    let mut kills = 0;
    for seed in first..=last {
        if let Some(killed) = kill_once(seed) {
            kills += 1;
            println!("{seed}: {killed}");
        }
    }
    println!("{kills} kills in {} commands", last + 1 - first);
}

/// A killed compiler leaves its temporary files, and a killed laboratory and guard do not remove them.
#[test]
fn what_a_killed_compiler_leaves_is_removed_by_the_next_command() {
    let place = Place::new();
    let file = place.file("home/functions.c");
    fs::write(&file, functions(100_000)).unwrap();
    let out = place.file("home/run");
    let words = ["bench", file.to_str().unwrap(), "--budget", "2s"];
    let mut run = Run::spawn(place, out, &words);
    let is_compiler = |line: &str| line.contains("/cc1 ");
    let is_temporary =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "s" || end == "o");
    wait_until("a compiler writes", || {
        let mut left = Vec::new();
        below(&run.place.file("tmp"), &mut left);
        let writes = left.iter().any(is_temporary)
            && run.numbered().iter().any(|(_, line)| is_compiler(line));
        writes || run.child.try_wait().unwrap().is_some()
    });
    let all: Vec<Pid> = run
        .numbered()
        .into_iter()
        .filter_map(|(number, _)| Pid::from_raw(number))
        .collect();
    for &process in &all {
        let _ = kill_process(process, Signal::STOP);
    }
    for &process in &all {
        let _ = kill_process(process, Signal::KILL);
    }
    assert!(run.child.wait().unwrap().code().is_none(), "it was killed");
    wait_until("all processes are gone", || run.numbered().is_empty());
    let mut left = Vec::new();
    below(&run.place.file("tmp"), &mut left);
    assert!(
        left.iter().any(is_temporary),
        "the compiler left something: {left:?}"
    );
    assert_eq!(run.place.run(&["list", "fault"]).code, 0);
    assert_eq!(entries(&run.place.file("tmp")), Vec::<PathBuf>::new());
    assert_eq!(unfinished(&run.place), Vec::<PathBuf>::new());
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
