//! CONTRIBUTING.md's walked example, walked: the file printed there is all that a new method needs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::place::Place;

/// The C file of the page.
fn walked_example() -> String {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/CONTRIBUTING.md")).unwrap();
    let (_, after) = page.split_once("```c\n").unwrap();
    after.split_once("```").unwrap().0.to_owned()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) =
        std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path()).partition(|p| p.is_dir());
    // The helper is a program of its own.
    if folder.ends_with("helper") {
        return Vec::new();
    }
    let mut found: Vec<_> = files.into_iter().filter(|p| p.extension().is_some_and(|e| e == "c")).collect();
    found.extend(folders.iter().flat_map(|f| sources(f)));
    found
}

/// The whole native worker, and one more file.
fn build(place: &Path, added: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("workers/c");
    let (file, worker) = (place.join("populate_small.c"), place.join("worker"));
    std::fs::write(&file, added).unwrap();
    let mut files = sources(&root);
    files.push(file);
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-O1", "-pthread", "-D_GNU_SOURCE", "-Wno-maybe-uninitialized"]);
    cc.args(["-DPAGEWISE_WORKER_NAME=\"walked\"", "-DPAGEWISE_COMPILER=\"cc\"", "-DPAGEWISE_FLAGS=\"-O2\""]);
    cc.arg("-I").arg(root.join("harness")).arg("-I").arg(&root).arg("-I").arg(root.join("methods/fault")).args(files);
    assert!(cc.args(["-ldl", "-lrt", "-Wl,-z,now", "-o"]).arg(&worker).status().unwrap().success());
    worker
}

#[test]
fn one_file_adds_a_method_and_a_wrong_word_of_it_is_found() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let example = walked_example();
    let worker = build(folder.path(), &example);
    let path = worker.to_str().unwrap();
    let listed = place.run(&["--worker", path, "list", "fault"]);
    assert!(listed.out.contains("populate-small"), "{}", listed.out);
    let checked = place.run(&["--worker", path, "check", "fault/populate-small"]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    assert!(checked.out.contains("ok       fault/populate-small@walked"), "{}", checked.out);

    let lie = example.replace("advise.minor_faults == bytes / page_bytes", "advise.minor_faults == 0");
    assert_ne!(lie, example);
    let worker = build(folder.path(), &lie);
    let checked = place.run(&["--worker", worker.to_str().unwrap(), "check", "fault/populate-small"]);
    assert_eq!(checked.code, 3, "{}{}", checked.out, checked.err);
    assert!(checked.out.contains("REJECTED fault/populate-small@walked"), "{}", checked.out);
}
