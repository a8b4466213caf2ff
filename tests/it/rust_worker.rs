//! The Rust worker, built by the toolchain in PATH as a user's first run builds it: every method does what its name says
//! and comes to the native worker's content. Nothing here asserts a time.

use crate::support::place::{Place, is_measured, said};
use crate::support::skips::{skip, thorough};
use std::path::Path;
use std::process::Command;

fn has_toolchain() -> bool {
    let found = Command::new("rustc")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        skip("there is no Rust toolchain here");
    }
    found
}

/// A command with the toolchain of this test, whose home is not the place's.
fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    let home = std::env::home_dir().unwrap_or_default();
    for (name, below) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        let usual = home.join(below);
        if std::env::var_os(name).is_none() && usual.is_dir() {
            command.env(name, usual);
        }
    }
    command
}

#[test]
fn every_method_is_conforming() {
    if !has_toolchain() {
        return;
    }
    let place = Place::new();
    let methods = "fault/touch fault/thp share/memfd share/anon-private read/read read/buf-reader read/fs-read read/mmap \
                   read/io_uring load/fs-read load/read-at-threads load/mmap-lazy load/mmap-populate load/io_uring \
                   output/fs-write output/write-at-threads \
                   output/buf-writer output/mmap allocate/vec-zeros allocate/vec-resize message/unix-stream";
    let step = if thorough() { 1 } else { 4 };
    let names: Vec<String> = methods
        .split_whitespace()
        .step_by(step)
        .map(|name| format!("{name}@rust"))
        .collect();
    let words: Vec<&str> = ["check"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let checked = said(&mut command(&place, &words));
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    assert!(
        names.iter().all(|name| checked.out.contains(name)),
        "{}",
        checked.out
    );
}

#[test]
fn it_is_measured_beside_the_native_worker() {
    if !has_toolchain() {
        return;
    }
    let place = Place::new();
    let wanted = [
        "read/fs-read@rust",
        "read/mmap@rust",
        "read/read@rust",
        "read/read@c-O3",
    ];
    let set = [
        "--set",
        "bytes=4MiB",
        "--set",
        "cache=hot",
        "--set",
        "place=disk",
        "--budget",
        "4s",
        "--json",
    ];
    let run = said(&mut command(
        &place,
        &[&["run"], &wanted[..], &set].concat(),
    ));
    let summary: serde_json::Value =
        serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    for name in ["fs-read@rust", "mmap@rust", "read@rust"] {
        let cells = summary["cells"].as_array().unwrap();
        let cell = cells
            .iter()
            .find(|cell| cell["cell"] == format!("read/{name}"))
            .expect("a cell");
        assert!(is_measured(cell), "{cell:#}");
    }
}

#[test]
fn without_a_toolchain_its_cells_are_skipped() {
    let place = Place::new();
    let mut run = place.command(&[
        "run",
        "fault/touch@rust",
        "--set",
        "bytes=1MiB",
        "--budget",
        "2s",
        "--json",
    ]);
    let run = said(run.env("PATH", place.file("nothing")));
    assert!(
        run.out.contains("no Rust toolchain in PATH"),
        "{}{}",
        run.out,
        run.err
    );
}

#[test]
fn its_sources_are_formatted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workers/rust");
    let Ok(format) = Command::new("rustfmt")
        .args(["--check", "--edition", "2021", "main.rs"])
        .current_dir(folder)
        .output()
    else {
        return skip("there is no rustfmt here");
    };
    assert!(
        format.status.success(),
        "{}",
        String::from_utf8_lossy(&format.stdout)
    );
}
