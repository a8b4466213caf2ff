//! The C worker's builds and the helper program beside them. They are carried in the binary and unpacked once into a folder of
//! the cache whose name is their hash.

use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::carried;
use super::{List, Maker, Started, Worker, cache_folder};

/// The helper's file.
const HELPER: &str = "pagewise-helper";

/// The library that `try` preloads into a program to have its large mappings made of huge pages.
const ADVISING: &str = "pagewise-advise.so";

/// Hexadecimal SHA-256.
pub(super) fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The workers as they describe themselves; nothing is unpacked yet.
pub(super) fn workers() -> Result<Vec<Worker>> {
    // They differ in how they were compiled, and not in what they say of themselves.
    let known = List::carried(carried::NATIVE_METHODS);
    let one = |(name, bytes): &(&str, &'static [u8])| {
        let list = if known.text.is_empty() { List::told(name, told(name)?)? } else { known.clone() };
        Ok(Worker::with(name, list, Maker::Native(bytes)))
    };
    carried::NATIVE_WORKERS.iter().map(one).collect()
}

/// What a worker says of itself that was built for another machine than the one it was built on.
fn told(name: &str) -> Result<String> {
    let program = unpacked()?.join(file_name(name));
    let output = std::process::Command::new(&program).arg("--list").output();
    let output = output.with_context(|| format!("cannot start the worker {}", program.display()))?;
    String::from_utf8(output.stdout).context("the worker's list is not UTF-8")
}

fn file_name(worker: &str) -> String {
    format!("worker-{worker}")
}

/// Writes a file under another name first, so that nobody ever sees a part of it.
fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
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

/// The folder with every native program.
fn unpacked() -> Result<&'static Path> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    match FOLDER.get() {
        Some(folder) => Ok(folder),
        None => unpack().map(|folder| FOLDER.get_or_init(|| folder).as_path()),
    }
}

/// Unpacks the native programs; falls back to the temporary folder where the cache cannot be written or forbids execution.
fn unpack() -> Result<PathBuf> {
    let named = carried::NATIVE_WORKERS.iter().map(|(name, bytes)| (file_name(name), *bytes));
    let programs: Vec<_> =
        named.chain([(HELPER.to_owned(), carried::HELPER), (ADVISING.to_owned(), carried::ADVISING)]).collect();
    let hash = hash(&programs.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>());
    let mut last = None;
    for place in [cache_folder(), std::env::temp_dir().join(format!("pagewise-{}", rustix::process::getuid().as_raw()))]
    {
        let folder = place.join("workers").join(&hash[..16]);
        match programs.iter().try_for_each(|(name, bytes)| place_in(&folder, name, bytes)) {
            Ok(()) => return Ok(folder),
            Err(error) => last = Some(error),
        }
    }
    Err(last.expect("there is at least one folder")).context("the native worker cannot be unpacked")
}

fn place_in(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    let whole = |m: std::fs::Metadata| m.len() == bytes.len() as u64 && m.permissions().mode() & 0o100 != 0;
    if !std::fs::metadata(&path).is_ok_and(whole) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        write_whole(&path, bytes, 0o755)?;
    }
    rustix::fs::access(&path, rustix::fs::Access::EXEC_OK).with_context(|| format!("{} may not run", path.display()))
}

/// A worker, unpacked.
pub(super) fn place(name: &str, bytes: &[u8]) -> Result<Started> {
    let program = unpacked()?.join(file_name(name));
    Ok(Started { command: vec![program.into()], hash: hash(&[bytes]), heap_options: false })
}

/// The helper program, unpacked: it starts every process, and does what workers in other languages cannot.
pub fn helper() -> Result<PathBuf> {
    Ok(unpacked()?.join(HELPER))
}

/// The library that advises large mappings, unpacked.
pub fn advising_library() -> Result<PathBuf> {
    Ok(unpacked()?.join(ADVISING))
}
