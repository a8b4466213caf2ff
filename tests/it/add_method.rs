//! CONTRIBUTING.md's walked example, walked: the file printed there is all that a new method needs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::place::{Place, entries};

/// The C file of the page.
fn walked_example() -> String {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/CONTRIBUTING.md")).unwrap();
    let (_, after) = page.split_once("```c\n").unwrap();
    after.split_once("```").unwrap().0.to_owned()
}

/// A compiler call with what the worker's files need, in a folder.
fn cc(folder: &Path) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("workers/c");
    let mut cc = Command::new("cc");
    cc.args([
        "-std=gnu11",
        "-O1",
        "-pthread",
        "-D_GNU_SOURCE",
        "-Wno-maybe-uninitialized",
    ]);
    cc.args([
        "-DPAGEWISE_WORKER_NAME=\"walked\"",
        "-DPAGEWISE_COMPILER=\"cc\"",
        "-DPAGEWISE_FLAGS=\"-O1\"",
    ]);
    cc.arg("-I")
        .arg(root.join("harness"))
        .arg("-I")
        .arg(&root)
        .arg("-I")
        .arg(root.join("methods/fault"))
        .current_dir(folder);
    cc
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    entries(folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect()
}

/// Compiles the native worker with the methods of one experiment: the others are no part of what the page says.
fn compile(folder: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("workers/c");
    let sources = [
        files(&root.join("harness"), "c"),
        files(&root.join("methods/fault"), "c"),
    ]
    .concat();
    assert!(
        cc(folder)
            .arg("-c")
            .args(sources)
            .status()
            .unwrap()
            .success()
    );
}

/// Links it with one more file.
fn link(folder: &Path, added: &str) -> PathBuf {
    let (file, worker) = (folder.join("populate_small.c"), folder.join("worker"));
    std::fs::write(&file, added).unwrap();
    let mut cc = cc(folder);
    cc.arg(file)
        .args(files(folder, "o"))
        .args(["-ldl", "-lrt", "-Wl,-z,now", "-o"])
        .arg(&worker);
    assert!(cc.status().unwrap().success());
    worker
}

#[test]
fn one_file_adds_a_method_and_a_wrong_word_of_it_is_found() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let example = walked_example();
    compile(folder.path());
    let worker = link(folder.path(), &example);
    let path = worker.to_str().unwrap();
    let listed = place.run(&["--worker", path, "list", "fault"]);
    assert!(listed.out.contains("populate-small"), "{}", listed.out);
    let checked = place.run(&["--worker", path, "check", "fault/populate-small"]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    assert!(
        checked.out.contains("ok       fault/populate-small@walked"),
        "{}",
        checked.out
    );

    let lie = example.replace(
        "advise.minor_faults == bytes / page_bytes",
        "advise.minor_faults == 0",
    );
    assert_ne!(lie, example);
    let worker = link(folder.path(), &lie);
    let checked = place.run(&[
        "--worker",
        worker.to_str().unwrap(),
        "check",
        "fault/populate-small",
    ]);
    assert_eq!(checked.code, 3, "{}{}", checked.out, checked.err);
    assert!(
        checked.out.contains("REJECTED fault/populate-small@walked"),
        "{}",
        checked.out
    );
}
