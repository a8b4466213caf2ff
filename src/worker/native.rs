//! The C worker's builds, the helper program and the preloaded library. The binary carries them.

use super::{Maker, MethodList, Started, Worker, carried, private_cache, programs};
use anyhow::{Context, Result};
use files::File;
use record::folder::sha256_hex;
use std::sync::OnceLock;
use std::{
    collections::BTreeMap, os::fd::AsRawFd, os::unix::process::CommandExt, path::PathBuf,
    process::Command,
};

const HELPER: &str = "pagewise-helper";
/// The library that `try` preloads into a program to have its large mappings made of huge pages.
const ADVISING: &str = "pagewise-advise.so";
/// The library that counts the allocations of a worker.
const COUNTING: &str = "pagewise-count.so";

/// The workers as they describe themselves; nothing is unpacked yet.
pub(super) fn workers() -> Result<Vec<Worker>> {
    // They differ in how they were compiled, and not in what they say of themselves.
    let known = MethodList::carried(carried::NATIVE_METHODS);
    let worker = |(name, bytes): &(&str, &'static [u8])| {
        let list = if known.text.is_empty() {
            MethodList::parse(name, describe(name)?)?
        } else {
            known.clone()
        };
        Ok(Worker::with(name, list, Maker::Native(bytes)))
    };
    carried::NATIVE_WORKERS.iter().map(worker).collect()
}

/// Self-description of a worker that was built for another machine than the one it was built on.
fn describe(name: &str) -> Result<String> {
    let program = program(&file_name(name))?;
    let output = Command::new(&program).arg("--list").output();
    let output =
        output.with_context(|| format!("cannot start the worker {}", program.display()))?;
    String::from_utf8(output.stdout).context("the worker's list is not UTF-8")
}

fn file_name(worker: &str) -> String {
    format!("worker-{worker}")
}

/// Programs by the paths of their descriptors, so that the verified file is the one that is executed: files of
/// the private cache with the bytes that this binary carries, otherwise files in memory.
fn programs() -> Result<&'static BTreeMap<String, (PathBuf, File)>> {
    static PROGRAMS: OnceLock<BTreeMap<String, (PathBuf, File)>> = OnceLock::new();
    if PROGRAMS.get().is_none() {
        let workers = carried::NATIVE_WORKERS
            .iter()
            .map(|(name, bytes)| (file_name(name), *bytes));
        let libraries = [
            (HELPER, carried::HELPER),
            (ADVISING, carried::ADVISING),
            (COUNTING, carried::COUNTING),
        ];
        let programs: Vec<_> = workers
            .chain(libraries.map(|(name, bytes)| (name.to_owned(), bytes)))
            .collect();
        let _ = PROGRAMS.set(in_cache(&programs).or_else(|_| in_memory(&programs))?);
    }
    PROGRAMS.get().context("the native programs are placed")
}

fn in_cache(programs: &[(String, &[u8])]) -> Result<BTreeMap<String, (PathBuf, File)>> {
    let hash = sha256_hex(&programs.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>());
    let folder = private_cache(&format!("workers/{}", &hash[..16]))?;
    let kept = |name: &str, bytes: &[u8]| {
        let (file, found) = folder.read_open(name, bytes.len() as u64).ok()?;
        (found == bytes && folder.may_execute(name)).then_some(file)
    };
    let place = |(name, bytes): &(String, &[u8])| {
        let mut file = kept(name, bytes);
        if file.is_none() {
            folder.write_program(name, bytes)?;
            file = kept(name, bytes);
        }
        let file =
            file.with_context(|| format!("{} may not run", folder.path().join(name).display()))?;
        // Programs of another user, which the user's command may start, cannot load by a descriptor of this process.
        let path = if name == ADVISING {
            folder.path().join(name)
        } else {
            path_of(&file)
        };
        Ok((name.clone(), (path, file)))
    };
    programs.iter().map(place).collect()
}

fn in_memory(programs: &[(String, &[u8])]) -> Result<BTreeMap<String, (PathBuf, File)>> {
    let make = |(name, bytes): &(String, &[u8])| {
        let file =
            files::memory_file(name, bytes).context("the native worker cannot be unpacked")?;
        Ok((name.clone(), (path_of(&file), file)))
    };
    programs.iter().map(make).collect()
}

/// Path of an open file for as long as this process has it open.
pub(super) fn path_of(file: &File) -> PathBuf {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into()
}

fn program(name: &str) -> Result<PathBuf> {
    programs()?
        .get(name)
        .map(|(path, _)| path.clone())
        .with_context(|| format!("there is no program {name}"))
}

pub(super) fn place(name: &str, bytes: &[u8]) -> Result<Started> {
    // The executed file holds these bytes.
    Ok(Started::new(
        vec![program(&file_name(name))?.into()],
        sha256_hex(&[bytes]),
    ))
}

/// The helper program, unpacked: it starts every process, and does what workers in other languages cannot.
pub fn helper() -> Result<PathBuf> {
    program(HELPER)
}

/// The helper program, to be started under its name. What it starts searches programs and libraries in safe folders only.
pub fn helper_command() -> Result<Command> {
    let mut command = Command::new(helper()?);
    command.arg0(HELPER);
    programs::clean(&mut command);
    Ok(command)
}

/// The library that counts allocations, unpacked.
pub fn counting_library() -> Result<PathBuf> {
    program(COUNTING)
}

/// The library that advises large mappings, unpacked.
pub fn advising_library() -> Result<PathBuf> {
    program(ADVISING)
}
