//! Signals, limits and numbers that a caller hands down: whatever they are, a command works or says one sentence, and ends.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::place::{Place, said};
use crate::support::skips::skip;
use crate::support::waiting::wait_until;

const RUN: [&str; 8] = [
    "run",
    "share/null@c-O3",
    "--set",
    "bytes=1MiB",
    "--launches",
    "2",
    "--budget",
    "2s",
];

/// A command of the place behind other words, such as a shell's.
fn behind(place: &Place, before: &[&str], arguments: &[&str]) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["-s", "KILL", "120"])
        .args(before)
        .arg(env!("CARGO_BIN_EXE_pagewise"))
        .args(arguments);
    place.settle(&mut command);
    command
}

#[test]
fn a_caller_that_ignores_ended_children_stops_no_run() {
    let place = Place::new();
    let before = ["env", "--ignore-signal=CHLD"];
    for words in [
        &RUN[..],
        &["try", "--with", "no-thp", "--pairs", "2", "--", "true"],
    ] {
        let result = said(&mut behind(&place, &before, words));
        assert!(
            [0, 4].contains(&result.code),
            "{words:?}: {} {}",
            result.code,
            result.err
        );
    }
}

#[test]
fn small_stacks_abort_nothing() {
    let place = Place::new();
    for words in [&["list"][..], &["--help"], &["doctor", "--json"], &RUN] {
        let result = said(&mut behind(
            &place,
            &["sh", "-c", "ulimit -s 64; exec \"$@\"", "sh"],
            words,
        ));
        assert!(
            [0, 4].contains(&result.code),
            "{words:?}: {} {}",
            result.code,
            result.err
        );
    }
}

#[test]
fn numbers_that_nothing_could_hold_are_refused_at_once() {
    let place = Place::new();
    let time = "99999999999999999999s";
    for words in [
        &["run", "share", "--budget", time][..],
        &["run", "share", "--time-limit", time],
        &["run", "share", "--wait-for-quiet", time],
        &["claims", "--budget", time],
        &["advise", "read", "--budget", time],
        &["check", "--selftest", "--budget", time],
        &["profile", "--budget", time, "--", "true"],
        &["profile", "--time-limit", time, "--", "true"],
        &["try", "--with", "no-thp", "--budget", time, "--", "true"],
        &[
            "try",
            "--with",
            "no-thp",
            "--time-limit",
            time,
            "--",
            "true",
        ],
        &[
            "try",
            "--with",
            "no-thp",
            "--pairs",
            "18446744073709551615",
            "--",
            "true",
        ],
    ] {
        let result = said(&mut behind(&place, &[], words));
        assert_eq!(result.code, 1, "{words:?}: {}{}", result.out, result.err);
        assert!(
            result.err.starts_with("pagewise: --") && result.err.lines().count() == 1,
            "{words:?}: {}",
            result.err
        );
    }
    let last = [
        "profile",
        "--blocks",
        "1",
        "--seed",
        "18446744073709551615",
        "--",
        "true",
    ];
    assert_eq!(said(&mut behind(&place, &[], &last)).code, 0);
}

/// Runs a command whose standard output and error are a terminal that is closed at once or once it measures.
const TERMINAL: &str = r"
import os, pty, subprocess, sys, time
master, slave = pty.openpty()
child = subprocess.Popen(sys.argv[2:], stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
os.close(slave)
if sys.argv[1] == 'at-once':
    os.kill(child.pid, 0)
else:
    time.sleep(float(sys.argv[1]))
os.close(master)
sys.exit(child.wait() % 256)
";

#[test]
fn a_terminal_that_is_closed_ends_a_command_like_its_signal() {
    let place = Place::new();
    if !Command::new("python3")
        .args(["-c", "import pty"])
        .status()
        .is_ok_and(|status| status.success())
    {
        skip("no python3 here, which has a terminal for the test");
        return;
    }
    let forever = [
        "run",
        "fault/touch@c-O3",
        "--set",
        "bytes=1MiB",
        "--budget",
        "1h",
    ];
    // SIGHUP comes to who has the terminal as its own; here nobody has, so that what counts is the failing write.
    for (words, code) in [
        (&["list"][..], 129),
        (&["doctor"], 129),
        (&["run", "falt"], 1),
    ] {
        let result = said(&mut behind(
            &place,
            &["python3", "-c", TERMINAL, "at-once"],
            words,
        ));
        assert_eq!(result.code, code, "{words:?}: {}", result.err);
    }
    let own = ["setsid", "--ctty", "--wait"];
    let words: Vec<&str> = [&own[..], &[env!("CARGO_BIN_EXE_pagewise")], &forever].concat();
    let mut command = Command::new("timeout");
    command.args([
        "-s",
        "KILL",
        "120",
        "python3",
        "-c",
        &TERMINAL.replace("start_new_session=True", ""),
    ]);
    place.settle(command.arg("1").args(words));
    assert_eq!(said(&mut command).code, 129);
}

#[test]
fn an_error_that_nobody_can_hear_is_still_one() {
    let place = Place::new();
    let mut command = place.command(&["run", "falt"]);
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    assert_eq!(command.stderr(full).status().unwrap().code(), Some(1));
}

/// A process of the command, such as its helper or the worker.
fn has_children(child: &Child) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id()))
        .into_iter()
        .flatten()
        .flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .map(|list| list.split_whitespace().count())
        .sum::<usize>()
        > 0
}

#[test]
fn sigterm_ends_every_verb_that_measures() {
    let place = Place::new();
    let deaf = ["sh", "-c", "trap '' TERM INT HUP; sleep 600 & sleep 600"];
    let verbs: [&[&str]; 7] = [
        &["run", "fault/touch@c-O3", "--budget", "1h"],
        &["claims", "--budget", "1h"],
        &["advise", "copy", "--budget", "1h"],
        &["check", "--selftest", "--budget", "1h"],
        &["check", "share"],
        &[&["try", "--with", "no-thp", "--"][..], &deaf].concat(),
        &[&["profile", "--"][..], &deaf].concat(),
    ];
    for words in verbs {
        let mut command = place.command(words);
        let errors = std::fs::File::create(place.file("errors")).unwrap();
        let mut child = command
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .unwrap();
        wait_until("it works", || {
            has_children(&child) || child.try_wait().unwrap().is_some()
        });
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        let sent = Instant::now();
        let status = child.wait().unwrap();
        // Two seconds on a machine that has time; the tests around this one take most of it.
        assert!(
            sent.elapsed() < Duration::from_secs(10),
            "{words:?}: {:?}",
            sent.elapsed()
        );
        use std::os::unix::process::ExitStatusExt;
        let code = status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        assert_eq!(
            code,
            143,
            "{words:?}: {}",
            std::fs::read_to_string(place.file("errors")).unwrap()
        );
    }
    wait_until("nothing is left", || {
        crate::support::place::entries(&place.file("tmp")).is_empty()
    });
}
