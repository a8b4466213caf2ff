//! States of slow storage: files of a launch lie there, what comes from it takes its time, and the proofs say how long.

use crate::states::{MACHINE, in_state, is_root, machine, measured};
use crate::support::place::{Place, is_measured, reason};
use crate::support::skips::{skip, thorough};
use crate::support::turns;
use serde_json::Value;
use std::sync::PoisonError;

/// The latency of the state `storage-latency`, in nanoseconds.
const LATENCY_NS: f64 = 1e6;

/// The machine before a state, which is this test's until the guards are dropped; none without root.
fn before_states() -> Option<(impl Sized, Vec<String>)> {
    let turn = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = turns::with_page_cache();
    if !is_root() {
        skip("states change the machine; run as root");
        return None;
    }
    Some(((turn, cache), machine()))
}

/// The cell of a method in a state, unless the machine cannot have the state.
fn cell<'a>(summary: &'a Value, state: &str) -> Option<&'a Value> {
    let cell = in_state(summary, state)[0];
    if cell["status"] == "skipped" || cell["cause"]["word"] == "state-lost" {
        skip(&format!("{state}: {}", reason(cell)));
        return None;
    }
    assert!(is_measured(cell), "{state}: {cell:#}");
    Some(cell)
}

fn wall_ns(cell: &Value, phases: &[&str]) -> f64 {
    let wall = |phase: &&str| cell["phases"][phase]["wall_ns"]["min"].as_f64();
    phases.iter().filter_map(wall).sum()
}

/// A law of the state, and no speed of a method: what was read from storage that takes 1 ms a request took as long.
#[test]
fn cold_files_on_slow_storage_take_its_latency() {
    let Some((_turns, before)) = before_states() else {
        return;
    };
    let cold = [
        "--set",
        "bytes=4MiB",
        "--set",
        "cache=cold",
        "--set",
        "order=sequential",
    ];
    let uses: &[(&str, &[&str], &[&str])] = &[
        (
            "load/mmap-lazy@c-O3",
            &["--set", "record=4KiB"],
            &["answer", "first-use"],
        ),
        (
            "read/read@c-O3",
            &["--set", "place=disk", "--set", "consume=sum"],
            &["read"],
        ),
    ];
    for (method, more, phases) in uses {
        let (summary, states, err) =
            measured(&[&[*method][..], &cold, more].concat(), "storage-latency");
        let Some(cell) = cell(&summary, "storage-latency") else {
            return;
        };
        // A builder beside it may keep a read for longer than the proof allows; then the launch is not judged.
        let kept: Vec<&Value> = states
            .iter()
            .filter(|state| state.get("lost").is_none())
            .collect();
        for state in &kept {
            let least = state["before"]["storage_least_read_ns"].as_f64();
            assert!(least >= Some(LATENCY_NS), "{method}: {state:#}");
        }
        let wall = wall_ns(cell, phases);
        assert!(
            kept.is_empty() || wall >= LATENCY_NS,
            "{method}: {wall} ns: {err}: {cell:#}"
        );
    }
    assert_eq!(machine(), before);
}

#[test]
fn every_experiment_with_files_has_them_on_slow_storage() {
    if !thorough() {
        return;
    }
    let Some((_turns, before)) = before_states() else {
        return;
    };
    for method in ["restore/file-private@c-O3", "interference/direct@c-O3"] {
        let (summary, states, _) = measured(&[method], "storage-rate");
        if cell(&summary, "storage-rate").is_none() {
            return;
        }
        let rate = |state: &Value| state["before"]["storage_bytes_per_s"].as_u64();
        assert!(
            states.iter().any(|state| rate(state) > Some(0)),
            "{states:#?}"
        );
    }
    assert_eq!(machine(), before);
}

#[test]
fn a_file_of_the_users_own_is_not_on_that_storage() {
    let place = Place::new();
    let file = place.file("home/own");
    std::fs::write(&file, vec![1_u8; 1 << 16]).unwrap();
    let own = format!("file={}", file.display());
    let words = "run read/read@c-O3 --json --launches 1 --budget 5s --state storage-latency --allow-system-changes --set";
    let words: Vec<&str> = words.split_whitespace().chain([own.as_str()]).collect();
    let said = place.run(&words);
    let summary: Value =
        serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.err));
    let there = in_state(&summary, "storage-latency");
    assert!(!there.is_empty(), "{summary:#}");
    for cell in there {
        assert_eq!(cell["status"], "skipped", "{cell:#}");
    }
}
