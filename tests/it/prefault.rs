//! The `prefault` methods, driven by hand and by the laboratory. No test asserts a time.

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::place::{Place, cell, reason};
use crate::support::sides::{Ended, Launch, Worker};
use crate::support::skips::skip;
use crate::support::suite::conforms;
use record::transcript::SideEnding;
use serde_json::Value;

pub const BYTES: &str = "8388608";

/// One launch of these methods with the parameters that they take.
pub fn ended<'a>(methods: &[&str], given: &[(&'a str, &'a str)]) -> Ended {
    let worker = Worker::native("c-O3");
    let usual = [
        ("bytes", BYTES),
        ("threads", "1"),
        ("sharing", "private"),
        ("pinned", "no"),
        ("chunk", "65536"),
        ("neighbor", "none"),
    ];
    let mut known: BTreeMap<&str, &'a str> = BTreeMap::from(usual);
    known.extend(given.iter().copied());
    let methods: Vec<_> = methods
        .iter()
        .map(|name| worker.method("prefault", name))
        .collect();
    let parameters: Vec<Vec<_>> = methods
        .iter()
        .map(|method| {
            let takes = |key: &str| method.keys.iter().any(|(name, _)| name == key);
            let known = known.iter().filter(|(key, _)| takes(key));
            known.map(|(key, value)| (*key, *value)).collect()
        })
        .collect();
    let cells: Vec<_> = methods
        .iter()
        .zip(&parameters)
        .map(|(method, p)| (*method, &p[..]))
        .collect();
    let ended = Launch::new().alone(&worker, &cells, 1);
    assert!(
        ended.status.success() && ended.transcript.done,
        "{:?} {}",
        ended.status,
        ended.messages
    );
    ended
}

#[test]
fn every_native_method_conforms() {
    conforms(
        "prefault",
        &[
            "prefault/touch@c-O0",
            "prefault/thp-populate@c-O3",
            "prefault/mlock@c-O3",
            "prefault/register@c-O3",
        ],
    );
}

/// A mapping that is refused leaves a phase without work for the helpers: they must not wait for it.
#[test]
fn a_pool_without_pages_ends_in_words_with_two_threads() {
    let pool = std::fs::read_to_string("/proc/sys/vm/nr_hugepages").unwrap_or_default();
    if pool.trim() != "0" {
        skip("there is a pool of huge pages");
        return;
    }
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skip("two threads need two CPUs");
        return;
    }
    let ended = ended(&["hugetlb", "touch"], &[("threads", "2")]);
    let [SideEnding::Skip { reason, .. }] = &ended.transcript.endings[..] else {
        panic!("{:?}", ended.transcript.endings);
    };
    assert!(
        reason.ends_with("sudo sysctl vm.nr_hugepages=4"),
        "{reason}"
    );
}

/// A worker that has neither the right to lock memory nor a limit that would do.
fn limited(launch: &Launch) -> Option<Worker> {
    let mut worker = Worker::native("c-O3");
    if !rustix::process::geteuid().is_root()
        || Command::new("setpriv").arg("--version").output().is_err()
    {
        skip("only root, with setpriv, can give a right away");
        return None;
    }
    let (text, wrapper) = ["text", "limited"]
        .map(|name| launch.folder.path().join(name))
        .into();
    let script = format!(
        "#!/bin/sh\nulimit -l 64\nexec setpriv --bounding-set -ipc_lock {} \"$@\"\n",
        worker.path.display()
    );
    std::fs::write(&text, script).unwrap();
    let mut install = Command::new("install");
    let install = install.args(["-m", "755"]).args([&text, &wrapper]);
    assert!(install.status().unwrap().success());
    worker.path = wrapper;
    Some(worker)
}

#[test]
fn a_limit_on_locked_memory_is_told_with_what_raises_it() {
    let launch = Launch::new();
    let Some(worker) = limited(&launch) else {
        return;
    };
    for (method, pinned) in [
        ("touch", "lock"),
        ("touch", "ring"),
        ("mlock", "lock"),
        ("mlock-onfault", "lock"),
        ("map-locked", "lock"),
        ("register", "ring"),
    ] {
        let parameters = [
            ("bytes", BYTES),
            ("threads", "1"),
            ("sharing", "private"),
            ("pinned", pinned),
        ];
        let cells = [(worker.method("prefault", method), &parameters[..])];
        let ended = launch.alone(&worker, &cells, 1);
        let [SideEnding::Skip { reason, .. }] = &ended.transcript.endings[..] else {
            panic!("{method}: {:?}", ended.transcript.endings);
        };
        for part in [
            "RLIMIT_MEMLOCK is 64 KiB",
            "LimitMEMLOCK",
            "--ulimit memlock",
            "8 MiB",
        ] {
            assert!(reason.contains(part), "{method}: {reason}");
        }
    }
}

/// The limit on what a launch may take: a quarter of what is free stays free.
#[test]
fn more_than_three_quarters_of_what_is_free_is_refused() {
    let place = Place::new();
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let kib = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB"))
        .and_then(|kib| kib.parse::<u64>().ok())
        .unwrap();
    let bytes = format!("bytes=1MiB,{}MiB", kib / 1024 * 9 / 10);
    let result = place.run(&[
        "run",
        "prefault/touch@c-O3",
        "prefault/null@c-O3",
        "--set",
        &bytes,
        "--set",
        "threads=1",
        "--budget",
        "4s",
        "--json",
    ]);
    assert_eq!(result.code, 0, "{}", result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    let large = kib / 1024 * 9 / 10 * 1024 * 1024;
    let large = cell(
        &summary,
        "prefault/touch@c-O3",
        &[("bytes", &large.to_string())],
    );
    assert_eq!(large["status"], "refused", "{large:#}");
    assert!(reason(large).contains("stays free"), "{}", reason(large));
}
