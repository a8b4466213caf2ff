//! The last program of `cargo test`: prints what the programs before it skipped, and why (`tests/it/support/skips.rs`).

use std::collections::BTreeSet;
use std::path::Path;

fn main() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped.tsv");
    let cargo = std::os::unix::process::parent_id().to_string();
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    let lines = text.lines().filter_map(|line| line.split_once('\t')).filter(|(parent, _)| *parent == cargo);
    let told: BTreeSet<String> = lines.map(|(_, line)| line.replacen('\t', ": ", 1)).collect();
    match told.len() {
        0 => println!("\nno test was skipped"),
        n => println!("\n{n} skipped here:"),
    }
    told.iter().for_each(|line| println!("  {line}"));
}
