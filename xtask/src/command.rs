//! Programs that are started, and how long they took.

use crate::Failure;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A cargo command in the repository.
pub fn cargo(root: &Path, words: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(words).current_dir(root);
    cargo
}

/// Runs a command to its end, says how long it took, and fails where it fails.
pub fn run(mut command: Command) -> Result<(), Failure> {
    let words: Vec<String> = command
        .get_args()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let name = command.get_program().to_string_lossy().into_owned();
    let begun = Instant::now();
    let status = command
        .status()
        .map_err(|error| format!("cannot start {name}: {error}"))?;
    let line = words.join(" ");
    println!("== {:.1} s: {line}", begun.elapsed().as_secs_f64());
    if status.success() {
        Ok(())
    } else {
        Err(format!("failed: {line}"))
    }
}

/// What git prints.
pub fn git(root: &Path, words: &[&str]) -> Result<String, Failure> {
    output(Command::new("git").args(words).current_dir(root))
}

/// What a command prints.
pub fn output(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("cannot start {name}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
