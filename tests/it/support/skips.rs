//! Tests that this machine cannot run. Each says so at once, past libtest's capturing, and in a file that the last program of
//! `cargo test` (`tests/skipped.rs`) prints when everything has run.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// True where everything is tested, also what takes minutes: `PAGEWISE_TESTS=all`, as in `.ci/run`. Elsewhere the end of
/// `cargo test` names the tests that were left out, or done in part.
pub fn thorough() -> bool {
    let all = std::env::var("PAGEWISE_TESTS").is_ok_and(|tests| tests == "all");
    if !all {
        skip(
            "it takes long, and was left out or done in part; PAGEWISE_TESTS=all and .ci/run have the whole",
        );
    }
    all
}

/// Says that the test of this thread, or a part of it, cannot run here.
///
/// # Parameters
/// * `reason` - What the machine lacks; one line.
pub fn skip(reason: &str) {
    let reason = reason.trim().replace('\n', "; ");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // What is written to the stream itself is not captured; `eprintln` would be.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped.tsv");
    let file = OpenOptions::new().create(true).append(true).open(path);
    // The parent is `cargo test`, by which the last program knows the lines of its own run.
    let line = format!(
        "{}\t{test}\t{reason}\n",
        std::os::unix::process::parent_id()
    );
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .expect("the build's folder can be written");
}
