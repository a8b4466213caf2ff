//! What tests compare with, written anew: schemas, results of kept runs, snapshots.

use crate::Failure;
use crate::command::{cargo, git, run};
use std::path::Path;

/// Tests that write, in the order in which one rests on the other: schemas and the snapshots of the crates' own tests; the
/// results of kept runs; the crates' screens and pages; what the program shows of kept things.
const WRITERS: [&[&str]; 4] = [
    &["test", "--workspace", "--lib", "--", "schema", "phrases"],
    &["test", "--workspace", "--test", "runs", "--test", "kinds"],
    &["test", "--workspace", "--test", "screens", "--test", "page"],
    &[
        "test",
        "--test",
        "it",
        "--",
        "kept_kinds::",
        "machine::",
        "fields::",
    ],
];

/// Writes everything, whether or not it was as the tests expect, and lists the files that changed.
pub fn bless(root: &Path) -> Result<(), Failure> {
    for words in WRITERS {
        let mut writer = cargo(root, words);
        writer
            .env("PAGEWISE_BLESS", "1")
            .env("INSTA_UPDATE", "always")
            .env("INSTA_FORCE_PASS", "1");
        run(writer)?;
    }
    print!("{}", git(root, &["status", "--short"])?);
    println!("read the difference: git diff");
    Ok(())
}
