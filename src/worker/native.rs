//! The C worker's builds, the helper program and the preloaded library. The binary carries them.

use super::carried::PackedFile;
use super::{Maker, MethodList, Started, Worker, carried, private_cache, programs};
use anyhow::{Context, Result};
use files::{File, Folder};
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
    let mut workers = Vec::new();
    for (name, file) in carried::NATIVE_WORKERS {
        let list = if known.text.is_empty() {
            MethodList::parse(name, describe(name)?)?
        } else {
            known.clone()
        };
        workers.push(Worker::with(name, list, Maker::Native(file)));
    }
    Ok(workers)
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
            .map(|(name, file)| (file_name(name), file));
        let libraries = [
            (HELPER, &carried::HELPER),
            (ADVISING, &carried::ADVISING),
            (COUNTING, &carried::COUNTING),
        ];
        let programs: Vec<_> = workers
            .chain(libraries.map(|(name, file)| (name.to_owned(), file)))
            .collect();
        let _ = PROGRAMS.set(in_cache(&programs).or_else(|_| in_memory(&programs))?);
    }
    PROGRAMS.get().context("the native programs are placed")
}

fn in_cache(programs: &[(String, &PackedFile)]) -> Result<BTreeMap<String, (PathBuf, File)>> {
    let digests = programs.iter().map(|(_, packed)| packed.sha256.as_bytes());
    let hash = sha256_hex(&digests.collect::<Vec<_>>());
    let folder = private_cache(&format!("workers/{}", &hash[..16]))?;
    let mut placed = BTreeMap::new();
    for (name, packed) in programs {
        let mut file = kept(&folder, name, packed);
        if file.is_none() {
            folder.write_program(name, &packed.content())?;
            file = kept(&folder, name, packed);
        }
        let file =
            file.with_context(|| format!("{} may not run", folder.path().join(name).display()))?;
        // Programs of another user, which the user's command may start, cannot load by a descriptor of this process.
        let path = if name == ADVISING {
            folder.path().join(name)
        } else {
            path_of(&file)
        };
        placed.insert(name.clone(), (path, file));
    }
    Ok(placed)
}

/// The program of a folder, if it has the bytes of the carried one and may run.
fn kept(folder: &Folder, name: &str, packed: &PackedFile) -> Option<File> {
    let (file, content) = folder.read_open(name, packed.bytes).ok()?;
    (sha256_hex(&[&content]) == packed.sha256 && folder.may_execute(name)).then_some(file)
}

fn in_memory(programs: &[(String, &PackedFile)]) -> Result<BTreeMap<String, (PathBuf, File)>> {
    let mut placed = BTreeMap::new();
    for (name, packed) in programs {
        let file = files::memory_file(name, &packed.content())
            .context("the native worker cannot be unpacked")?;
        placed.insert(name.clone(), (path_of(&file), file));
    }
    Ok(placed)
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

pub(super) fn place(name: &str, packed: &PackedFile) -> Result<Started> {
    // The executed file holds these bytes.
    Ok(Started::new(
        vec![program(&file_name(name))?.into()],
        packed.sha256.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carried_files_unpack_to_what_was_built() {
        let files = carried::NATIVE_WORKERS.iter().map(|(_, packed)| packed);
        let further = [
            &carried::HELPER,
            &carried::ADVISING,
            &carried::COUNTING,
            &carried::HARNESS,
            &carried::FUNCTIONS,
            &carried::RUST_HALVES,
        ];
        for packed in files.chain(further) {
            let content = packed.content();
            assert_eq!(content.len() as u64, packed.bytes);
            assert_eq!(sha256_hex(&[&content]), packed.sha256);
        }
    }
}
