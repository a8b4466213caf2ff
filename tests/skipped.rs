//! The last program of `cargo test`: prints what the programs before it skipped, and why (`tests/it/support/skips.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn main() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped.tsv");
    let cargo = std::os::unix::process::parent_id().to_string();
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    let lines = text
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter(|(parent, _)| *parent == cargo);
    let mut tests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (test, reason) in lines.filter_map(|(_, line)| line.split_once('\t')) {
        tests.entry(reason).or_default().insert(test);
    }
    println!(
        "\n{}",
        if tests.is_empty() {
            "no test was skipped"
        } else {
            "skipped here, by reason:"
        }
    );
    for (reason, tests) in tests {
        println!(
            "  {reason}: {}",
            tests.into_iter().collect::<Vec<_>>().join(", ")
        );
    }
}
