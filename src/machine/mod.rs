//! What this machine is, what it has left, and what else it does: read from its files.

use std::path::Path;

use record::machine::cpu::{Cache, Cpu};
use record::machine::environment::Environment;
use record::sizes::Here;

pub mod busy;
mod cgroup;
mod cpu;
mod files;
pub mod fingerprint;
#[cfg(test)]
pub mod fixture;
pub mod gaps;
mod identity;
pub mod ladder;
pub mod memory;
pub mod noise;
mod paging;
pub mod preflight;
mod system;
mod tools;

/// Reads the files below `root`, which is `/` or a tree that stands for another machine. Starts no process and takes few
/// milliseconds, so that every run can afford it.
pub fn capture(root: &Path) -> Environment {
    let files = files::Files::new(root);
    Environment {
        identity: identity::identity(files),
        cpu: cpu::cpu(files),
        kernel: system::kernel(files),
        hypervisor: system::hypervisor(files),
        clock: system::clock(files),
        memory: paging::memory(files),
        huge_pages: paging::huge_pages(files),
        reclaim: paging::reclaim(files),
        cgroups: cgroup::cgroups(files),
        rights: system::rights(files),
        limits: system::limits(files),
        tools: tools::tools(files),
        variables: std::collections::BTreeMap::new(),
    }
}

/// What the sizes of experiments follow from, by the files below `root`.
pub fn sizes_here(root: &Path) -> Here {
    let cpu = Cpu { caches: cpu::caches(files::Files::new(root)), ..Cpu::default() };
    let bytes = |cache: Option<&Cache>| cache.and_then(|c| c.size_bytes).filter(|bytes| *bytes > 0);
    let usual = Here::default();
    Here {
        huge_page_bytes: memory::transparent_huge_page_bytes().unwrap_or(usual.huge_page_bytes),
        core_cache_bytes: bytes(cpu.second_level_cache()).unwrap_or(usual.core_cache_bytes),
        last_cache_bytes: bytes(cpu.last_level_cache()).unwrap_or(usual.last_cache_bytes),
    }
}

/// Which machine this is, by the files below `root`.
pub fn identity(root: &Path) -> record::machine::identity::Identity {
    identity::identity(files::Files::new(root))
}
