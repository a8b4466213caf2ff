//! A side that dies or hangs in the middle of `message`, either of the two, in C and in Java: the cell fails within the time
//! limit with words that name the side, the rest of the run goes on, and nothing is left behind.

use crate::support::skips::{skip, thorough};
use crate::support::turns;
use crate::support::victims::disturb_all;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::place::{Place, cell, entries};
use rustix::process::Signal;
use serde_json::Value;

/// A run of one cell, one of whose sides is sent this signal in the middle of each of its launches, and of a cell that is not
/// touched by itself. The cell's outcome and the laboratory's whole time are returned.
fn disturbed(name: &str, wait: &str, victim: usize, signal: Signal) -> (Value, Duration) {
    let place = Place::new();
    let out = place.file("run");
    let workers = name.split_once('@').unwrap().1;
    let null = format!("message/null@{workers}");
    let wait = format!("wait={wait}");
    // So many trips that the signal finds the sides among them; Java's heap has no room for the latencies of more.
    let ops = if name.contains("java") {
        "ops=2000000"
    } else {
        "ops=20000000"
    };
    let mut command = place.command(&[
        "run", name, &null, "--set", "bytes=64", "--set", ops, "--set", &wait,
    ]);
    // One condition: a pause before each of so many trips would last for hours.
    command.args(["--set", "idle=no", "--set", "pin=l3"]);
    let _turn = turns::spinning_pair();
    // A side that dies is noticed at once. One that hangs must be at work before its limit, also on a busy machine, where a
    // virtual machine takes seconds to start.
    let limit = match signal {
        Signal::KILL => "20s",
        _ if name.contains("java") => "6s",
        _ => "4s",
    };
    command
        .args([
            "--time-limit",
            limit,
            "--launches",
            "1",
            // A side that hangs takes its limit and its grace twice: with the other cell, and by itself.
            "--budget",
            "30s",
            "--json",
            "--out",
        ])
        .arg(&out);
    // Files: nobody reads a pipe while the sides are looked for.
    let [told, said] = ["told", "said"].map(|name| place.file(name));
    command
        .stdout(File::create(&told).unwrap())
        .stderr(File::create(&said).unwrap());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    let method = name.split(['/', '@']).nth(1).unwrap();
    let sides = disturb_all(&mut child, method, victim, signal);
    let took = begun.elapsed();
    let summary: Value = serde_json::from_str(&std::fs::read_to_string(&told).unwrap())
        .unwrap_or_else(|e| panic!("{name}: {e}: {}", std::fs::read_to_string(&said).unwrap()));
    let other = cell(&summary, &null, &[]);
    assert!(
        other["launches"].as_u64() > Some(0),
        "{name}: the rest does not go on: {}",
        other["reason"]
    );
    for side in sides {
        assert!(
            !Path::new(&format!("/proc/{}", side.as_raw_nonzero())).exists(),
            "{name}: a side is left"
        );
    }
    let id = summary["run"].as_str().unwrap().to_owned();
    let of_run = |path: &PathBuf| path.to_string_lossy().contains(&format!("pagewise-{id}"));
    let in_tmp: Vec<PathBuf> = entries(Path::new("/tmp"))
        .into_iter()
        .filter(of_run)
        .collect();
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
    assert_eq!(
        (place.leftovers(&out), in_tmp),
        (Vec::new(), Vec::new()),
        "{name}"
    );
    assert!(!sockets.contains(&id), "{name}: {sockets}");
    (cell(&summary, name, &[]).clone(), took)
}

fn fails(name: &str, wait: &str, victims: &[usize], signal: Signal, words: &str) {
    for &victim in victims {
        let role = ["a", "b"][victim];
        let (found, took) = disturbed(name, wait, victim, signal);
        let reason = crate::support::place::reason(&found);
        let start = format!("side {role}, ");
        assert!(
            found["status"] == "failed" && reason.starts_with(&start),
            "{name}: {} {reason}",
            found["status"]
        );
        assert!(
            reason.contains(words) && reason.lines().count() == 1,
            "{name}: {reason:?} does not say {words:?}"
        );
        // The limit, the grace to end, and the other cell: no more than the test's own patience with a busy machine.
        assert!(took < Duration::from_secs(40), "{name}: {took:?}");
    }
}

/// The pairs with the Java in PATH, as the second side and as the first; none where there is no JDK.
fn java_pairs() -> Option<[String; 2]> {
    let output = Command::new("javac").arg("-version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let version = text.split(' ').nth(1)?.split('.').next()?.trim().to_owned();
    Some([
        format!("c-O3+java-{version}"),
        format!("java-{version}+c-O3"),
    ])
}

const HANGS: &str = "did not end within its time limit of";
const DIES: &str = "the worker was killed by signal SIGKILL";

// One test: each of these pairs spins on two processors, and waiting for its turn would hold up what needs none.
#[test]
fn a_side_that_dies_or_hangs_is_named() {
    for (method, wait) in [("posix-mq", "block"), ("spin-ring", "spin")] {
        fails(
            &format!("message/{method}@c-O3+c-O3"),
            wait,
            &[0, 1],
            Signal::KILL,
            DIES,
        );
    }
    if !thorough() {
        return;
    }
    // Either side, and each of the ways to wait for it. Where others use the processors, a ring that spins may be through with
    // its trips before it is found.
    for (method, wait, victim) in [("unix-stream", "spin", 0), ("futex-ring", "block", 1)] {
        fails(
            &format!("message/{method}@c-O3+c-O3"),
            wait,
            &[victim],
            Signal::STOP,
            HANGS,
        );
    }
    let Some([second, first]) = java_pairs() else {
        skip("there is no JDK in PATH");
        return;
    };
    fails(
        &format!("message/unix-stream@{first}"),
        "block",
        &[0, 1],
        Signal::KILL,
        DIES,
    );
    // The Java side; a C side that hangs is above.
    fails(
        &format!("message/unix-stream@{second}"),
        "spin",
        &[1],
        Signal::STOP,
        HANGS,
    );
}
