//! A clock that jumps: the wall clock by a year in either direction while a run measures, and the monotonic clock back to zero
//! between a run that was killed and its resumption, as a restart of the machine does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::place::{Place, said};
use crate::support::skips::skip;
use crate::support::waiting::wait_until;

const CELLS: [&str; 6] = [
    "run",
    "share/posix-shm@c-O3+c-O3",
    "share/null@c-O3",
    "--set",
    "bytes=1MiB",
    "--set=load=0",
];
/// Where Debian and its kin put libfaketime.
const FAKETIME: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
];

/// Every time that was recorded of a launch is a time that can have passed, and every cell has figures.
fn is_sane(place: &Place, out: &Path) {
    let result = place.run(&["report", out.to_str().unwrap(), "--json"]);
    assert_eq!(result.code, 0, "{}", result.err);
    let summary: Value = serde_json::from_str(&result.out).unwrap();
    for cell in summary["cells"].as_array().unwrap() {
        assert_eq!(cell["status"], "ok", "{cell:#}");
    }
    let launches = fs::read_to_string(out.join("launches.jsonl")).unwrap();
    for launch in launches
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
    {
        let times = [&launch["wall_s"], &launch["laboratory_cpu_s"]];
        assert!(
            times
                .iter()
                .all(|s| (0.0..600.0).contains(&s.as_f64().unwrap())),
            "{launch:#}"
        );
    }
}

#[test]
fn a_wall_clock_that_jumps_changes_no_time_and_no_end() {
    let Some(library) = FAKETIME.into_iter().find(|path| Path::new(path).exists()) else {
        skip("libfaketime is not installed");
        return;
    };
    let place = Place::new();
    let (out, clock) = (place.file("run"), place.file("clock"));
    fs::write(&clock, "+0\n").unwrap();
    let mut command = place.command(&CELLS);
    command
        .args(["--launches", "6", "--budget", "20s", "--out"])
        .arg(&out);
    command
        .env("LD_PRELOAD", library)
        .env("FAKETIME_TIMESTAMP_FILE", &clock)
        .env("FAKETIME_NO_CACHE", "1");
    // The monotonic clock is the kernel's own: nobody can set it.
    command
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("DONT_FAKE_MONOTONIC", "1");
    command.stdout(fs::File::create(place.file("stdout")).unwrap());
    command.stderr(fs::File::create(place.file("stderr")).unwrap());
    let (mut child, start, mut jumps) = (command.spawn().unwrap(), Instant::now(), 0);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "the run does not end"
        );
        // As a whole, or nothing would be read of it now and then.
        fs::write(
            place.file("next"),
            ["+400d\n", "-400d\n", "+0\n", "+3s\n"][jumps % 4],
        )
        .unwrap();
        fs::rename(place.file("next"), &clock).unwrap();
        jumps += 1;
        std::thread::sleep(Duration::from_millis(20));
    };
    let err = fs::read_to_string(place.file("stderr")).unwrap();
    assert!(
        status.success() && jumps > 10,
        "{status:?} after {jumps} jumps: {err}"
    );
    is_sane(&place, &out);
}

/// `pagewise` where the monotonic clock shows another time; none where that cannot be had.
fn restarted(place: &Place, arguments: &[&str]) -> Option<Command> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let back = format!(
        "-{}",
        uptime
            .split('.')
            .next()?
            .parse::<u64>()
            .ok()?
            .saturating_sub(20)
    );
    let words = [
        "--time",
        "--fork",
        "--kill-child",
        "--monotonic",
        &back,
        "--boottime",
        &back,
    ];
    if !Command::new("unshare")
        .args(words)
        .arg("true")
        .output()
        .is_ok_and(|o| o.status.success())
    {
        return None;
    }
    let mut command = Command::new("unshare");
    place.settle(&mut command);
    command
        .args(words)
        .arg(env!("CARGO_BIN_EXE_pagewise"))
        .args(arguments);
    Some(command)
}

fn killed(place: &Place, out: &PathBuf) {
    let mut command = place.command(&CELLS);
    command
        .args(["--launches", "6", "--budget", "20s", "--out"])
        .arg(out)
        .stdout(fs::File::create("/dev/null").unwrap());
    let mut child = command
        .stderr(fs::File::create("/dev/null").unwrap())
        .spawn()
        .unwrap();
    wait_until("three launches are written", || {
        let lines =
            fs::read_to_string(out.join("launches.jsonl")).map_or(0, |text| text.lines().count());
        lines >= 3 || child.try_wait().unwrap().is_some()
    });
    let _ = kill_process(Pid::from_child(&child), Signal::KILL);
    child.wait().unwrap();
}

#[test]
fn a_run_is_resumed_after_a_restart_of_the_machine() {
    let place = Place::new();
    let out = place.file("run");
    killed(&place, &out);
    let before = fs::read_to_string(out.join("launches.jsonl")).unwrap();
    let Some(mut command) = restarted(
        &place,
        &["run", "--resume", out.to_str().unwrap(), "--budget", "20s"],
    ) else {
        skip("a namespace whose clock shows another time cannot be had");
        return;
    };
    let result = said(&mut command);
    assert_eq!(result.code, 0, "{}", result.err);
    let after = fs::read_to_string(out.join("launches.jsonl")).unwrap();
    let whole = before.rfind('\n').map_or(0, |at| at + 1);
    assert!(
        after.starts_with(&before[..whole]) && after.len() > whole,
        "what was recorded stands, and more was added"
    );
    is_sane(&place, &out);
}
