//! The C worker's builds, the helper program and the preloaded library. The binary carries them.

use std::collections::BTreeMap;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use files::File;
use sha2::{Digest, Sha256};

use super::carried;
use super::{List, Maker, Started, Worker, private_cache};

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

/// Self-description of a worker that was built for another machine than the one it was built on.
fn told(name: &str) -> Result<String> {
    let program = program(&file_name(name))?;
    let output = std::process::Command::new(&program).arg("--list").output();
    let output = output.with_context(|| format!("cannot start the worker {}", program.display()))?;
    String::from_utf8(output.stdout).context("the worker's list is not UTF-8")
}

fn file_name(worker: &str) -> String {
    format!("worker-{worker}")
}

/// Programs as they are executed: files of the private cache with the bytes that this binary carries, otherwise files
/// in memory.
fn programs() -> Result<&'static BTreeMap<String, PathBuf>> {
    static PROGRAMS: OnceLock<(BTreeMap<String, PathBuf>, Vec<File>)> = OnceLock::new();
    if PROGRAMS.get().is_none() {
        let workers = carried::NATIVE_WORKERS.iter().map(|(name, bytes)| (file_name(name), *bytes));
        let all: Vec<_> =
            workers.chain([(HELPER.to_owned(), carried::HELPER), (ADVISING.to_owned(), carried::ADVISING)]).collect();
        let placed = in_cache(&all).map(|paths| (paths, Vec::new())).or_else(|_| in_memory(&all))?;
        let _ = PROGRAMS.set(placed);
    }
    Ok(&PROGRAMS.get().context("the native programs are placed")?.0)
}

fn in_cache(all: &[(String, &[u8])]) -> Result<BTreeMap<String, PathBuf>> {
    let hash = hash(&all.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>());
    let folder = private_cache(&format!("workers/{}", &hash[..16]))?;
    let place = |(name, bytes): &(String, &[u8])| {
        if folder.read(name, bytes.len() as u64).ok().as_deref() != Some(bytes) || !folder.may_execute(name) {
            folder.write_program(name, bytes)?;
        }
        ensure!(folder.may_execute(name), "{} may not run", folder.path().join(name).display());
        Ok((name.clone(), folder.path().join(name)))
    };
    all.iter().map(place).collect()
}

fn in_memory(all: &[(String, &[u8])]) -> Result<(BTreeMap<String, PathBuf>, Vec<File>)> {
    let make = |(name, bytes): &(String, &[u8])| files::memory_file(name, bytes);
    let held: Vec<File> =
        all.iter().map(make).collect::<Result<_, _>>().context("the native worker cannot be unpacked")?;
    let path = |file: &File| PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
    Ok((all.iter().zip(&held).map(|((name, _), file)| (name.clone(), path(file))).collect(), held))
}

fn program(name: &str) -> Result<PathBuf> {
    programs()?.get(name).cloned().with_context(|| format!("there is no program {name}"))
}

/// A worker, unpacked.
pub(super) fn place(name: &str, bytes: &[u8]) -> Result<Started> {
    // The executed file holds these bytes.
    Ok(Started::new(vec![program(&file_name(name))?.into()], hash(&[bytes])))
}

/// The helper program, unpacked: it starts every process, and does what workers in other languages cannot.
pub fn helper() -> Result<PathBuf> {
    program(HELPER)
}

/// The library that advises large mappings, unpacked.
pub fn advising_library() -> Result<PathBuf> {
    program(ADVISING)
}
