//! The facts of this machine, its free memory, and its other work: read from its files.

use crate::worker;
use anyhow::{Context, Result, ensure};
use record::machine::cpu::{Cache, Cpu, Ladder};
use record::machine::environment::{Environment, Identity};
use record::machine::system::Kernel;
use record::{advice::Fingerprint, machine::files::Files, sizes::Here};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::{cell::RefCell, collections::BTreeMap, ffi::CStr, process::Stdio, time::Duration};

#[cfg(test)]
pub mod fixture {
    //! A file system for tests: what a machine would have below /.

    use std::fs;

    /// A temporary folder with these files, each by its path and its text.
    pub fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = place.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        place
    }
}
pub mod memory;
pub mod noise;
pub mod preflight;
pub(crate) mod threads;

/// Reads the files below `root`, which is `/` or a tree that stands for another machine. Starts no process and takes few
/// milliseconds, so that every run can afford it.
pub fn capture(root: &Path) -> Environment {
    Environment::read(&Below::new(root))
}

/// What says whether anything can be measured here: the kernel, and what it refuses that every launch needs. Takes less than a
/// millisecond.
pub fn essentials() -> Environment {
    let mut environment = Environment {
        kernel: Kernel::read(&Below::new(Path::new("/"))),
        ..Environment::default()
    };
    // Kernels in user space have not all of these files.
    let system = rustix::system::uname();
    let fill = |fact: &mut Option<String>, text: &CStr| {
        fact.get_or_insert_with(|| text.to_string_lossy().into_owned());
    };
    fill(&mut environment.kernel.release, system.release());
    fill(&mut environment.kernel.version, system.version());
    environment.rights.refused_calls = refuses_pidfd().then(|| vec!["pidfd_open".to_owned()]);
    environment
}

/// Tells whether processes cannot be followed: the kernel has no pidfd_open(2), or a filter refuses it.
pub fn refuses_pidfd() -> bool {
    let tried = pidfd_open(getpid(), PidfdFlags::empty());
    matches!(tried, Err(Errno::NOSYS | Errno::PERM))
}

/// Sizes that those of experiments follow from, by the files below `root`.
pub fn sizes_here(root: &Path) -> Here {
    let cpu = Cpu::read(&Below::new(root));
    let bytes = |cache: Option<&Cache>| cache.and_then(|c| c.size_bytes).filter(|bytes| *bytes > 0);
    let core_cache = cpu
        .caches
        .iter()
        .find(|c| c.level == Some(2) && c.kind.as_deref() != Some("Instruction"));
    let usual = Here::default();
    Here {
        huge_page_bytes: memory::transparent_huge_page_bytes().unwrap_or(usual.huge_page_bytes),
        core_cache_bytes: bytes(core_cache).unwrap_or(usual.core_cache_bytes),
        last_cache_bytes: bytes(cpu.last_level_cache()).unwrap_or(usual.last_cache_bytes),
    }
}

/// Identity of the machine with the files below `root`.
pub fn identity(root: &Path) -> Identity {
    Identity::read(&Below::new(root))
}

/// System calls that this process is refused, among those that filters often refuse.
pub fn refused_calls() -> Result<Vec<String>> {
    helped(preflight::allowed_cpus()[0], &["refused-calls"])
}

/// Answer of the helper on a CPU.
fn helped<T: DeserializeOwned>(cpu: usize, request: &[&str]) -> Result<T> {
    let mut command = worker::helper_command()?;
    command
        .args(["exec", "--parent"])
        .arg(std::process::id().to_string())
        .arg("--cpus")
        .arg(cpu.to_string());
    let output = command
        .arg("--")
        .arg(worker::helper()?)
        .args(request)
        .stdin(Stdio::null())
        .output()?;
    ensure!(
        output.status.success(),
        "{}: {}",
        request[0],
        String::from_utf8_lossy(&output.stderr).trim()
    );
    serde_json::from_slice(&output.stdout).with_context(|| format!("the answer to {}", request[0]))
}

/// The files below a folder. Each is read once: some, as /proc/cpuinfo, are slow to compose.
struct Below<'a> {
    root: &'a Path,
    known: RefCell<BTreeMap<String, Option<String>>>,
}

impl<'a> Below<'a> {
    fn new(root: &'a Path) -> Below<'a> {
        Below {
            root,
            known: RefCell::default(),
        }
    }

    fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

impl Files for Below<'_> {
    fn start(&self, path: &str, most: u64) -> Option<String> {
        let read = || files::kernel::start(self.place(path), most).ok();
        self.known
            .borrow_mut()
            .entry(path.to_owned())
            .or_insert_with(read)
            .clone()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        files::kernel::names(self.place(folder))
    }

    fn behind_links(&self, path: &str) -> Option<String> {
        let root = self.root.canonicalize().ok()?;
        let real = self.place(path).canonicalize().ok()?;
        Some(
            Path::new("/")
                .join(real.strip_prefix(root).ok()?)
                .to_string_lossy()
                .into_owned(),
        )
    }

    fn is_file(&self, path: &str) -> bool {
        self.place(path).is_file()
    }

    fn is_program(&self, path: &str) -> bool {
        if self.root == Path::new("/") {
            files::trusted_program(Path::new(path)).is_ok()
        } else {
            self.is_file(path)
        }
    }

    fn is_writable(&self, path: &str) -> bool {
        accessat(CWD, self.place(path), Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// The fingerprint of a machine whose C library is of this version.
pub fn fingerprint(environment: &Environment, glibc: Option<String>) -> Fingerprint {
    let known = |word: Option<String>| word.unwrap_or_else(|| "unknown".to_owned());
    Fingerprint {
        cpu: known(environment.cpu.model.clone()),
        microcode: known(environment.cpu.microcode.clone()),
        kernel: known(environment.kernel.release.clone()),
        thp: known(environment.huge_pages.thp_enabled.clone()),
        glibc: known(glibc),
        page_bytes: environment.memory.page_bytes.unwrap_or(4096),
    }
}

// Reach of the caches: the helper walks through growing working sets. The result is kept for the boot.

/// The largest step where no larger cache is reported.
const LEAST_TOP: u64 = 64 << 20;
/// Limit of a kept sweep, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// The largest step of all: to walk further takes seconds.
const MOST_TOP: u64 = 1 << 30;
/// The age up to which a sweep is shown again: it takes seconds.
const JUST_BEFORE: Duration = Duration::from_secs(600);

/// The largest step: twice the reported last cache, and no more than a quarter of the memory that is available.
fn top(reported: Option<u64>, available: u64) -> u64 {
    let wanted = reported
        .unwrap_or(0)
        .saturating_mul(2)
        .min(MOST_TOP)
        .next_power_of_two()
        .max(LEAST_TOP);
    wanted.min(available / 4)
}

/// Walks the ladder, in a second or few.
fn measure(reported: Option<u64>) -> Result<Ladder> {
    let bytes = top(reported, memory::available_bytes(Path::new("/")).bytes);
    let cpu = preflight::allowed_cpus().last().copied().unwrap_or(0);
    helped(cpu, &["cache-ladder", &bytes.to_string()])
}

/// File of this boot's latency sweep in the cache; none on a machine that cannot be told from others.
fn ladder_file(identity: &Identity) -> Option<String> {
    let boot = identity.boot.as_ref()?;
    let key = format!("{} {boot}", identity.machine.as_deref().unwrap_or_default());
    Some(format!(
        "ladder-{}.json",
        &record::folder::sha256_hex(&[key.as_bytes()])[..16]
    ))
}

/// Latency sweep of this boot, at most so old.
pub fn kept_ladder(identity: &Identity, most: Duration) -> Option<Ladder> {
    let (file, bytes) = worker::private_cache("")
        .ok()?
        .read_open(ladder_file(identity)?, MOST_BYTES)
        .ok()?;
    let is_old = file
        .metadata()
        .ok()?
        .modified()
        .ok()?
        .elapsed()
        .is_ok_and(|age| age > most);
    serde_json::from_slice(&bytes).ok().filter(|_| !is_old)
}

/// Looks now, and keeps what is seen where that is possible; what was seen just before is as good.
pub fn look_at_caches(environment: &Environment) -> Result<Ladder> {
    if let Some(sweep) = kept_ladder(&environment.identity, JUST_BEFORE) {
        return Ok(sweep);
    }
    let sweep = measure(
        environment
            .cpu
            .last_level_cache()
            .and_then(|c| c.size_bytes),
    )?;
    let (cache, text) = (worker::private_cache(""), serde_json::to_vec(&sweep));
    if let (Some(name), Ok(cache), Ok(text)) = (ladder_file(&environment.identity), cache, text) {
        // A sweep that cannot be kept is measured again by the next run.
        let _ = cache.write(name, &text);
    }
    Ok(sweep)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_goes_beyond_what_is_told_and_leaves_memory_to_others() {
        let much = 1 << 40;
        assert_eq!(top(None, much), 64 << 20);
        assert_eq!(top(Some(32 << 20), much), 64 << 20);
        assert_eq!(top(Some(105 << 20), much), 256 << 20);
        assert_eq!(top(Some(u64::MAX), much), 1 << 30);
        assert_eq!(top(Some(32 << 20), 100 << 20), 25 << 20);
    }
}
