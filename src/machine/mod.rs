//! The facts of this machine, its free memory, and its other work: read from its files.

use crate::worker;
use anyhow::{Result, ensure};
use record::machine::cpu::{Cache, Cpu};
use record::machine::environment::{Environment, Identity};
use record::{machine::files::Files, sizes::Here};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

pub mod fingerprint;
#[cfg(test)]
#[path = "../../tests/unit/machine/fixture.rs"]
pub mod fixture;
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
    let text = helped(preflight::allowed_cpus()[0], &["refused-calls"])?;
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

/// The files below a folder. Each is read once: some, as /proc/cpuinfo, are slow to compose.
struct Below<'a> {
    root: &'a Path,
    known: RefCell<BTreeMap<String, Option<String>>>,
}

impl<'a> Below<'a> {
    fn new(root: &'a Path) -> Below<'a> {
        Below { root, known: RefCell::default() }
    }

    fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

impl Files for Below<'_> {
    fn start(&self, path: &str, most: u64) -> Option<String> {
        let read = || files::kernel::start(self.place(path), most).ok();
        self.known.borrow_mut().entry(path.to_owned()).or_insert_with(read).clone()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        files::kernel::names(self.place(folder))
    }

    fn behind_links(&self, path: &str) -> Option<String> {
        let root = self.root.canonicalize().ok()?;
        let real = self.place(path).canonicalize().ok()?;
        Some(Path::new("/").join(real.strip_prefix(root).ok()?).to_string_lossy().into_owned())
    }

    fn is_file(&self, path: &str) -> bool {
        self.place(path).is_file()
    }

    fn is_writable(&self, path: &str) -> bool {
        accessat(CWD, self.place(path), Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}
