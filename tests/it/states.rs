//! States of the machine: each is reached, proved before and after every launch, and undone, also where the laboratory is
//! killed.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::robust::Run;
use crate::support::place::Place;
use crate::support::skips::{skip, thorough};
use crate::support::turns;
use crate::support::waiting::wait_until;

/// One state at a time: it is the whole machine's.
pub(crate) static MACHINE: Mutex<()> = Mutex::new(());

/// Files of the kernel that states change.
const CHANGED: [&str; 15] = [
    "/proc/swaps",
    "/proc/sys/vm/page-cluster",
    "/proc/sys/vm/dirty_bytes",
    "/proc/sys/vm/dirty_ratio",
    "/proc/sys/vm/dirty_background_bytes",
    "/proc/sys/vm/dirty_background_ratio",
    "/proc/sys/vm/compaction_proactiveness",
    "/proc/sys/vm/compact_unevictable_allowed",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
    "/sys/module/zswap/parameters/enabled",
    "/sys/block/zram0/disksize",
    "/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds",
    "/sys/kernel/mm/damon/admin/kdamonds/0/state",
    "/sys/block/zram0/comp_algorithm",
];

pub(crate) fn machine() -> Vec<String> {
    // The algorithm of a device that is not set up is the last one's; only its size says whether it is.
    let files = CHANGED
        .iter()
        .filter(|path| !path.ends_with("comp_algorithm"));
    // Of file systems those that a state mounted; of loop devices those in use.
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = mounts
        .lines()
        .filter(|line| line.contains("scratch-pagewise"));
    let loops = crate::support::place::entries(Path::new("/sys/block"))
        .into_iter()
        .filter_map(|device| fs::read_to_string(device.join("loop/backing_file")).ok());
    files
        .map(|path| fs::read_to_string(path).unwrap_or_default())
        .chain(mounts.map(str::to_owned))
        .chain(loops.filter(|file| file.trim().ends_with("/disk")))
        .collect()
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The records of the launches of a run.
fn launches(folder: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(folder.join("launches.jsonl")).unwrap();
    lines
        .lines()
        .map(|line| {
            serde_json::from_str(line.split_once('\t').map_or(line, |(_, json)| json)).unwrap()
        })
        .collect()
}

/// Runs a method in states; the summary, the states of its launches, and what was said.
pub(crate) fn measured(what: &[&str], states: &str) -> (Value, Vec<Value>, String) {
    let place = Place::new();
    let out = place.file("run");
    let words = [
        "run",
        "--json",
        "--launches",
        "2",
        "--budget",
        "60s",
        "--allow-system-changes",
        "--out",
    ];
    let said = place.run(
        &[
            &words[..],
            &[out.to_str().unwrap(), "--state", states],
            what,
        ]
        .concat(),
    );
    assert!([0, 4].contains(&said.code), "{}", said.err);
    let launches = launches(&out)
        .into_iter()
        .filter_map(|launch| launch.get("state").cloned());
    (
        serde_json::from_str(&said.out).unwrap(),
        launches.collect(),
        said.err,
    )
}

pub(crate) fn in_state<'a>(summary: &'a Value, state: &str) -> Vec<&'a Value> {
    let cells = summary["cells"].as_array().unwrap().iter();
    cells
        .filter(|cell| cell["parameters"]["state"] == state && cell["hidden"] != true)
        .collect()
}

#[test]
fn states_are_reached_proved_and_undone() {
    if !thorough() {
        return;
    }
    let _turn = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_root() {
        skip("states change the machine; run as root");
        return;
    }
    let before = machine();
    let all = "swap-zram,swap-zswap,swap-file,neighbour,many-vmas,page-tables,cold,damon";
    let (summary, states, err) = measured(&["fault/touch@c-O3", "--set", "bytes=2MiB"], all);
    for name in all.split(',') {
        let cells = in_state(&summary, name);
        assert_eq!(cells.len(), 1, "{name}: {err}");
        let mine: Vec<&Value> = states
            .iter()
            .filter(|state| state["name"] == name)
            .collect();
        match cells[0]["status"].as_str().unwrap() {
            "skipped" => skip(&format!("{name}: {}", cells[0]["reason"])),
            "ok" => {
                // How many fit into the budget is the machine's matter: DAMON alone may need 16 s for one.
                assert!(!mine.is_empty(), "{name}: {states:#?}");
                assert!(
                    mine.iter().all(|state| state.get("lost").is_none()),
                    "{name}: {mine:#?}"
                );
            }
            // The kernel's daemon pages out at its own pace. A launch before it has done so is not believed, and says why.
            "untrusted" if name == "damon" && cells[0]["cause"]["word"] == "state-lost" => {
                assert!(!mine.is_empty(), "{name}: {states:#?}")
            }
            // Other tests run beside it and take its processor.
            "untrusted" if cells[0]["cause"]["word"] == "switched-out" => {
                assert!(!mine.is_empty(), "{name}: {states:#?}")
            }
            other => panic!("{name} is {other}: {:#}", cells[0]),
        }
    }
    assert_eq!(machine(), before);
    let compared = summary["groups"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|group| group.get("state").is_some())
        .count();
    assert!(
        compared >= 1,
        "no group has a comparison with the plain machine: {err}"
    );
}

#[test]
fn swapped_pages_come_back_from_zram() {
    if !thorough() {
        return;
    }
    let _turn = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_root() {
        skip("states change the machine; run as root");
        return;
    }
    let (summary, _, err) = measured(&["fault/swap-in@c-O3", "--set", "bytes=2MiB"], "swap-zram");
    let cell = in_state(&summary, "swap-zram")[0];
    match cell["status"].as_str().unwrap() {
        "skipped" => skip(&crate::support::place::reason(cell)),
        _ => assert!(
            cell["phases"]["first-touch"]["major_faults"]
                .as_f64()
                .unwrap()
                > 0.0,
            "{err}: {cell:#}"
        ),
    }
}

#[test]
fn memory_in_pieces_gives_no_huge_pages_and_is_whole_again() {
    if !thorough() {
        return;
    }
    let _turn = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let _cache = turns::without_page_cache();
    if !is_root() {
        skip("states change the machine; run as root");
        return;
    }
    let before = machine();
    let what = ["fault/touch@c-O3", "fault/thp@c-O3", "--set", "bytes=16MiB"];
    let (summary, states, err) = measured(&what, "fragmented-pinned");
    let thp = in_state(&summary, "fragmented-pinned")
        .into_iter()
        .find(|cell| cell["method"] == "thp")
        .unwrap();
    if thp["status"] == "skipped" {
        skip(&crate::support::place::reason(thp));
        return;
    }
    // Other tests that run meanwhile may free blocks; then the launch says so and is not judged.
    assert!(
        ["ok", "untrusted"].contains(&thp["status"].as_str().unwrap()),
        "{err}: {thp:#}"
    );
    let lost = |state: &&Value| state.get("lost").is_some();
    let kept = states.iter().filter(|state| !lost(state));
    for state in kept {
        assert!(
            state["before"]["free_permille_in_huge_blocks"]
                .as_u64()
                .unwrap()
                <= 20,
            "{err}: {state:#}"
        );
        assert!(
            state["after"]["huge_faults_granted_permille"]
                .as_u64()
                .unwrap()
                <= 100,
            "{err}: {state:#}"
        );
    }
    if thp["status"] == "ok" && !states.iter().any(|state| lost(&state)) {
        let faults = thp["phases"]["first-touch"]["minor_faults"]
            .as_f64()
            .unwrap();
        assert!(
            faults > 0.9 * 4096.0,
            "base pages came instead of huge ones: {thp:#}"
        );
    }
    assert_eq!(machine(), before);
}

#[test]
fn a_state_needs_permission_and_a_name_that_there_is() {
    let place = Place::new();
    let said = place.run(&["run", "fault/touch", "--state", "swap-zram"]);
    assert!(
        said.code == 1 && said.err.contains("--allow-system-changes"),
        "{}",
        said.err
    );
    let said = place.run(&[
        "run",
        "fault/touch",
        "--state",
        "swap-zrm",
        "--allow-system-changes",
    ]);
    assert!(
        said.code == 1 && said.err.contains("did you mean \"swap-zram\"?"),
        "{}",
        said.err
    );
}

#[test]
fn a_state_is_undone_whoever_is_killed() {
    let _turn = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_root() {
        skip("states change the machine; run as root");
        return;
    }
    let before = machine();
    for state in [
        "swap-file",
        "swap-zram",
        "fragmented-movable",
        "writeback",
        "neighbour",
        "storage-latency",
    ] {
        let words = [
            "load/mmap-lazy@c-O3",
            "--set",
            "bytes=4MiB",
            "--set",
            "cache=cold",
            "--state",
            state,
            "--allow-system-changes",
        ];
        let mut run = Run::of(&[&words[..], &["--launches", "3", "--budget", "20s"]].concat());
        let mut killed = false;
        wait_until("the run has ended", || {
            if !killed && is_held(run.child.id()) && run.in_a_launch() {
                let laboratory = rustix::process::Pid::from_child(&run.child);
                killed = kill_process(laboratory, Signal::KILL).is_ok();
            }
            run.child.try_wait().unwrap().is_some()
        });
        wait_until(&format!("{state}: the machine is as it was"), || {
            machine() == before
        });
        run.leaves_nothing();
        if !killed {
            skip(&format!(
                "{state}: no state was held that could be left behind"
            ));
        }
    }
}

/// Tells whether a child of the laboratory holds a state.
fn is_held(laboratory: u32) -> bool {
    let children = fs::read_to_string(format!("/proc/{laboratory}/task/{laboratory}/children"))
        .unwrap_or_default();
    children.split_whitespace().any(|child| {
        let words = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"state")
    })
}
