//! The user-space gap probe: what takes CPUs away from a busy process, whether or not a counter shows it. The helper spins;
//! the laboratory sleeps meanwhile.

use crate::worker;
use anyhow::{Context, Result, bail};
use record::machine::gaps::Gaps;
use std::process::Stdio;

/// The CPUs that this process may use.
pub fn allowed_cpus() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None);
    set.map_or_else(|_| vec![0], |set| (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// Probes these CPUs, all at the same time.
pub fn probe(cpus: &[usize], milliseconds: u64) -> Result<Vec<Gaps>> {
    let helper = worker::helper()?;
    let start = |cpu: &usize| {
        let mut command = worker::helper_command()?;
        command.args(["exec", "--parent"]).arg(std::process::id().to_string());
        command.arg("--cpus").arg(cpu.to_string()).arg("--").arg(&helper);
        command.arg("probe-gaps").arg(milliseconds.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().context("cannot start the gap probe")
    };
    let children: Vec<_> = cpus.iter().map(start).collect::<Result<_>>()?;
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output()).collect();
    let mut gaps = Vec::new();
    for output in outputs {
        let output = output.context("the gap probe cannot be read")?;
        if !output.status.success() {
            bail!("the gap probe: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        gaps.push(Gaps::parse(&String::from_utf8_lossy(&output.stdout))?);
    }
    Ok(gaps)
}
