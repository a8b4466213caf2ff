//! The C worker's builds. They are carried in the binary and unpacked once into the cache, under a name that is their hash.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::carried;
use super::{Maker, Started, Worker, cache_folder};

/// Hexadecimal SHA-256.
pub(super) fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn workers() -> Result<Vec<Worker>> {
    carried::NATIVE_WORKERS
        .iter()
        .map(|(name, bytes)| Worker::new(name, &list(name, bytes)?, Maker::Native(bytes)))
        .collect()
}

/// What the worker says of itself. It is asked once per build and its answer kept beside it, so that listing stays quick.
fn list(name: &str, bytes: &[u8]) -> Result<String> {
    let started = place(name, bytes)?;
    let program = Path::new(&started.command[0]);
    let kept = program.with_extension("list");
    if let Ok(text) = std::fs::read_to_string(&kept)
        && text.ends_with('\n')
    {
        return Ok(text);
    }
    let output = std::process::Command::new(program).arg("--list").output();
    let output = output.with_context(|| format!("cannot start the worker {}", program.display()))?;
    let text = String::from_utf8(output.stdout).context("the worker's list is not UTF-8")?;
    write_whole(&kept, text.as_bytes(), 0o644)?;
    Ok(text)
}

/// Writes a file under another name first, so that nobody ever sees a part of it.
pub(super) fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let temporary = path.with_extension(format!("part-{}", std::process::id()));
    let result = (|| {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(mode).open(&temporary)?;
        file.write_all(bytes)?;
        drop(file);
        std::fs::rename(&temporary, path)
    })();
    if result.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    result.with_context(|| format!("cannot write {}", path.display()))
}

/// Unpacks a worker; falls back to the temporary folder where the cache cannot be written or forbids execution.
pub(super) fn place(name: &str, bytes: &[u8]) -> Result<Started> {
    let hash = hash(&[bytes]);
    let mut last = None;
    for folder in
        [cache_folder(), std::env::temp_dir().join(format!("pagewise-{}", rustix::process::getuid().as_raw()))]
    {
        match place_in(&folder.join("workers").join(&hash[..16]), name, bytes) {
            Ok(path) => return Ok(Started { command: vec![path.into()], hash, heap_options: false }),
            Err(error) => last = Some(error),
        }
    }
    Err(last.expect("there is at least one folder")).context("the native worker cannot be unpacked")
}

fn place_in(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = folder.join(format!("worker-{name}"));
    let whole = |m: std::fs::Metadata| m.len() == bytes.len() as u64 && m.permissions().mode() & 0o100 != 0;
    if !std::fs::metadata(&path).is_ok_and(whole) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        write_whole(&path, bytes, 0o755)?;
    }
    rustix::fs::access(&path, rustix::fs::Access::EXEC_OK)
        .with_context(|| format!("{} may not run", path.display()))?;
    Ok(path)
}

/// Program and first argument of the worker's `exec` verb, by which every process is started.
pub fn exec_prefix() -> Result<&'static [OsString]> {
    static PREFIX: OnceLock<Vec<OsString>> = OnceLock::new();
    if let Some(prefix) = PREFIX.get() {
        return Ok(prefix);
    }
    let (name, bytes) = carried::NATIVE_WORKERS.last().expect("at least one native worker is carried");
    let started = place(name, bytes)?;
    Ok(PREFIX.get_or_init(|| started.command))
}
