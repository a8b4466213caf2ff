//! The facts of this machine, its free memory, and its other work: read from its files.

use crate::worker;
use anyhow::{Result, ensure};
use below::Below;
use record::machine::cpu::{Cache, Cpu};
use record::{machine::environment::Environment, machine::identity::Identity, sizes::Here};
use std::path::Path;
use std::process::Stdio;

mod below;
pub mod busy;
pub mod fingerprint;
#[cfg(test)]
#[path = "../../tests/unit/machine/fixture.rs"]
pub mod fixture;
pub mod gaps;
pub mod ladder;
pub mod memory;
pub mod noise;
pub mod preflight;

/// Reads the files below `root`, which is `/` or a tree that stands for another machine. Starts no process and takes few
/// milliseconds, so that every run can afford it.
pub fn capture(root: &Path) -> Environment {
    Environment::read(&Below::new(root))
}

/// Sizes that those of experiments follow from, by the files below `root`.
pub fn sizes_here(root: &Path) -> Here {
    let cpu = Cpu::read(&Below::new(root));
    let bytes = |cache: Option<&Cache>| cache.and_then(|c| c.size_bytes).filter(|bytes| *bytes > 0);
    let usual = Here::default();
    Here {
        huge_page_bytes: memory::transparent_huge_page_bytes().unwrap_or(usual.huge_page_bytes),
        core_cache_bytes: bytes(cpu.second_level_cache()).unwrap_or(usual.core_cache_bytes),
        last_cache_bytes: bytes(cpu.last_level_cache()).unwrap_or(usual.last_cache_bytes),
    }
}

/// Identity of the machine with the files below `root`.
pub fn identity(root: &Path) -> Identity {
    Identity::read(&Below::new(root))
}

/// System calls that this process is refused, among those that filters often refuse.
pub fn refused_calls() -> Result<Vec<String>> {
    let text = helped(gaps::allowed_cpus()[0], &["refused-calls"])?;
    ensure!(text.ends_with("\ndone\n"), "the helper ended early");
    Ok(text.lines().filter_map(|line| line.strip_prefix("refused\t")).map(str::to_owned).collect())
}

fn helped(cpu: usize, request: &[&str]) -> Result<String> {
    let mut command = worker::helper_command()?;
    command.args(["exec", "--parent"]).arg(std::process::id().to_string()).arg("--cpus").arg(cpu.to_string());
    let output = command.arg("--").arg(worker::helper()?).args(request).stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "{}: {}", request[0], String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
