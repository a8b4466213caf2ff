//! Every leading verb where something is lacking or refused: memory, space, a writable home, open files, /proc, /dev/shm,
//! execution from temporary folders, the system calls that containers refuse. Each ends with an answer, or with exit code 1 and
//! one sentence. The lack of one thing in the midst of a run is in `starved` and `denied`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use crate::damaged::{Most, copy, measured_within};
use crate::support::place::{Place, Said, entries, program};
use crate::support::skips::{skip, thorough};

/// Longest time of a verb, of which each measures for some seconds and some compile.
const LONGEST: Duration = Duration::from_secs(120);
/// Memory of all processes of a command whose memory is limited, in bytes.
const MEMORY: u64 = 96 << 20;
/// Command lines; `IN` is a folder with what they read.
const LINES: [&str; 12] = [
    "run fault/touch@c-O3 share/memfd@c-O3+c-O3 --set bytes=64KiB --launches 1 --budget 3s",
    "run fault/touch@c-O3 --set bytes=1GiB --launches 1 --budget 3s",
    "advise fault --bytes 64KiB --budget 2s",
    "bench IN/start.c --budget 2s",
    "try --pairs 2 -- head -c 300M /dev/zero",
    "profile --blocks 2 -- head -c 10M /dev/zero",
    "claims --file IN/claim.toml --budget 2s",
    "report IN/run",
    "compare IN/run IN/run --json",
    "compare --outliers IN/run",
    "doctor",
    "check fault/touch@c-O3",
];

/// System calls that the default filter of Docker refuses, and errors that gVisor answers with (its table of system calls,
/// 2026), of those that a measured program or the laboratory could make. `openat2` and `clone3` are refused by older filters.
const DOCKER: &str = "eperm io_uring_setup io_uring_enter io_uring_register userfaultfd perf_event_open bpf mbind \
    set_mempolicy get_mempolicy move_pages open_by_handle_at kcmp swapon swapoff mount umount2 unshare setns \
    personality cachestat process_madvise openat2 enosys clone3";
const GVISOR: &str = "enosys io_uring_setup io_uring_enter io_uring_register userfaultfd perf_event_open bpf \
    process_vm_readv process_vm_writev vmsplice cachestat process_madvise openat2 clone3 pidfd_send_signal pidfd_getfd \
    move_pages kcmp copy_file_range mlock2 rseq membarrier memfd_secret";
const NO_PIDFD: &str = "enosys pidfd_open ptrace memfd_create sched_setaffinity";

/// Environments: each a name, and a shell's lines before the command.
const PLACES: [(&str, &str); 12] = [
    (
        "no space",
        "for f in data tmp home runtime; do mount -t tmpfs -o size=64k none \"$PLACE/$f\"; done",
    ),
    (
        "no space nor cache",
        "for f in data tmp home runtime; do mount -t tmpfs -o size=64k none \"$PLACE/$f\"; done; export XDG_CACHE_HOME=\"$PLACE/home\"",
    ),
    (
        "all is read-only",
        "mount --bind \"$PLACE\" \"$PLACE\" && mount -o remount,ro,bind \"$PLACE\"; export XDG_CACHE_HOME=\"$PLACE/home\"",
    ),
    (
        "a read-only home",
        "mount -t tmpfs -o ro none \"$PLACE/home\"; unset XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR",
    ),
    ("20 files", "ulimit -n 20"),
    ("12 files", "ulimit -n 12"),
    ("no /proc", "mount -t tmpfs none /proc"),
    (
        "no /dev/shm",
        "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && mknod -m 666 /dev/zero c 1 5 && mknod -m 666 /dev/urandom c 1 9",
    ),
    (
        "nothing temporary is executed",
        "mount -t tmpfs -o noexec none \"$PLACE/tmp\"",
    ),
    (
        "nothing is executed",
        "for f in tmp home; do mount -t tmpfs -o noexec none \"$PLACE/$f\"; done; export XDG_CACHE_HOME=\"$PLACE/home\"",
    ),
    ("little memory", "echo $$ > \"$CGROUP/cgroup.procs\""),
    ("little address space", "ulimit -v 200000"),
];
const FILTERS: [(&str, &str); 3] = [
    ("Docker", DOCKER),
    ("gVisor", GVISOR),
    ("an old kernel", NO_PIDFD),
];

/// A memory cgroup of this test, which goes with it; None: none can be made here.
struct Cgroup(PathBuf);

impl Cgroup {
    fn new() -> Option<Cgroup> {
        let name = format!("starved-{}", std::process::id());
        let old = Path::new("/sys/fs/cgroup/memory");
        let (above, limit) = if old.is_dir() {
            (old, "memory.limit_in_bytes")
        } else {
            (Path::new("/sys/fs/cgroup"), "memory.max")
        };
        let path = above.join(name);
        fs::create_dir(&path).ok()?;
        let made = Cgroup(path);
        fs::write(made.0.join(limit), MEMORY.to_string()).ok()?;
        Some(made)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// What the lines read, below a place.
fn furnish(place: &Place) {
    let folder = place.file("in");
    fs::create_dir(&folder).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    copy(
        &root.join("tests/fixtures/runs/ordinary"),
        &folder.join("run"),
    );
    fs::copy(root.join("workers/c/bench/start.c"), folder.join("start.c")).unwrap();
    fs::write(folder.join("claim.toml"), crate::claims::OWN).unwrap();
}

/// One line in one environment; the trouble, if there is any.
fn tried(
    name: &str,
    by: &[&str],
    setup: &str,
    cgroup: Option<&Cgroup>,
    line: &str,
) -> Option<String> {
    let place = Place::new();
    furnish(&place);
    let inputs = place.file("in");
    let words = line
        .split(' ')
        .map(|word| word.replace("IN", inputs.to_str().unwrap()));
    let mut command = Command::new("unshare");
    place.settle(&mut command);
    command
        .env("COLUMNS", "1000")
        .env("PLACE", place.path())
        .env(
            "CGROUP",
            cgroup.map_or(Path::new("/nowhere"), |cgroup| &cgroup.0),
        )
        .args(["--mount", "sh", "-c"])
        .arg(format!("{setup}; exec \"$@\""))
        .arg("sh")
        .args(by)
        .arg(program())
        .args(words);
    let mut most = Most::default();
    let trouble = match measured_within(&mut command, &mut most, LONGEST) {
        Err(trouble) => Some(trouble),
        Ok(said) => wrong(&said),
    };
    let trouble = trouble.or_else(|| {
        let left = entries(&place.file("tmp"));
        (!left.is_empty()).then(|| format!("left: {left:?}"))
    });
    trouble.map(|trouble| format!("{name}, {line}: {trouble}"))
}

/// What is wrong with the end of a command: it must have answered, or said one sentence. A remark may stand before that.
fn wrong(said: &Said) -> Option<String> {
    const REMARKS: [&str; 4] = [
        "is too short to compare",
        "the cache is not used",
        "at most (--budget)",
        "at most, less where",
    ];
    let sentences: Vec<&str> = said
        .err
        .lines()
        .filter(|line| !REMARKS.iter().any(|remark| line.contains(remark)))
        .collect();
    let answers = [0, 2, 3, 4].contains(&said.code) && !said.out.trim().is_empty();
    let is_one = sentences.len() == 1 && sentences[0].starts_with("pagewise: ");
    let refuses = said.code == 1 && is_one;
    (!answers && !refuses).then(|| format!("exit {}: {}{}", said.code, said.out, said.err))
}

/// Every pair with `PAGEWISE_STARVED=all`, otherwise every fifth or seventeenth: steps with which each line has its turn.
fn is_tried(number: usize) -> bool {
    static STEP: OnceLock<usize> = OnceLock::new();
    let step = *STEP.get_or_init(|| {
        if std::env::var("PAGEWISE_STARVED").is_ok_and(|pairs| pairs == "all") {
            1
        } else if thorough() {
            5
        } else {
            17
        }
    });
    number.is_multiple_of(step)
}

fn can_mount() -> bool {
    let mounted = Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
        .output();
    let can = mounted.is_ok_and(|output| output.status.success());
    if !can {
        skip("no file system can be mounted here");
    }
    can
}

#[test]
fn every_verb_answers_or_says_one_sentence_whatever_is_lacking() {
    if !can_mount() {
        return;
    }
    let cgroup = Cgroup::new();
    if cgroup.is_none() {
        skip("no memory cgroup can be made here");
    }
    let mut troubles = Vec::new();
    let (mut number, mut tries) = (0, 0);
    for (name, setup) in PLACES {
        for line in LINES {
            number += 1;
            if !is_tried(number) || setup.contains("CGROUP") && cgroup.is_none() {
                continue;
            }
            tries += 1;
            troubles.extend(tried(name, &[], setup, cgroup.as_ref(), line));
        }
    }
    println!("{tries} commands: {} wrong", troubles.len());
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
}

#[test]
fn every_verb_answers_or_says_one_sentence_behind_the_filters_of_containers() {
    let place = Place::new();
    let Some(deny) = crate::denied::deny(place.path()) else {
        return;
    };
    if !can_mount() {
        return;
    }
    let mut troubles = Vec::new();
    let (mut number, mut tries) = (0, 0);
    for (name, refused) in FILTERS {
        for line in LINES {
            number += 1;
            if !is_tried(number) {
                continue;
            }
            tries += 1;
            let mut by = vec![deny.to_str().unwrap()];
            by.extend(refused.split_whitespace());
            by.push("--");
            troubles.extend(tried(name, &by, "true", None, line));
        }
    }
    println!("{tries} commands: {} wrong", troubles.len());
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
}
