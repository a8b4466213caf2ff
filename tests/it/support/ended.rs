//! A worker that a signal ends in the middle of a cell.

use std::fs::File;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::waiting::{wait_until, wait_until_asleep};

/// A worker that sleeps in a cell of `fault/METHOD` is ended by SIGTERM: it names the signal and the cell, and ends as a
/// shell says it.
pub fn a_signal_is_named_with_the_cell(mut worker: Command, method: &str) {
    let place = tempfile::tempdir().unwrap();
    let (asked, told) = (
        place.path().join("request"),
        place.path().join("transcript"),
    );
    let keys =
        "bytes=4096\nrelease=dontneed\nbacking=cold\nidle_ms=60000\nthreads=1\nframes=cached\n";
    let request = format!(
        "protocol=1\nexperiment=fault\nseed=41\ncell=0\nmethod={method}\n{keys}round=0 0\n"
    );
    std::fs::write(&asked, request).unwrap();
    worker
        .stdin(File::open(&asked).unwrap())
        .stdout(File::create(&told).unwrap());
    let mut child = worker.spawn().unwrap();
    wait_until("it has written its columns", || {
        std::fs::read_to_string(&told)
            .unwrap()
            .contains("columns\t")
    });
    // It sleeps where the slot has begun: a minute for the memory to become cold.
    wait_until_asleep(child.id());
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let text = std::fs::read_to_string(&told).unwrap();
    assert!(text.ends_with("crash\t0\t0\t-\tSIGTERM\n"), "{text}");
}
