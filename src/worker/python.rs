//! The Python worker. Every CPython that is found is a worker of its own, named by its version: the interpreter and its library
//! are part of what is measured. Its sources are carried and unpacked at first use; no package is needed.

use super::cache::{built, put};
use super::{Installation, Maker, Started, Worker, carried, installations, programs};
use anyhow::{Context, Result, bail};
use record::folder::sha256_hex;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The oldest CPython that has what the methods use: shared_memory, pickle's protocol 5, mmap.madvise.
const LEAST: (u32, u32) = (3, 8);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Python {
    /// The program as it was found: of a virtual environment its own link, for the packages go by that.
    program: PathBuf,
    /// 3 and 11 of 3.11.7.
    version: (u32, u32),
}

impl Installation for Python {
    const OPTION: &'static str = "--python";

    fn version(&self) -> Vec<u32> {
        vec![self.version.0, self.version.1]
    }

    fn place(&self) -> &Path {
        &self.program
    }
}

impl Python {
    fn version_text(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }
}

fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    carried::SOURCES
        .iter()
        .filter_map(|(path, text)| Some((path.strip_prefix("workers/python/")?, *text)))
}

/// One worker for each CPython: those that were named, then the virtual environment's, then the one in `PATH`. Where there is
/// none, one worker that says so.
pub(super) fn workers(named: &[PathBuf]) -> Result<Vec<Worker>> {
    let Some(list) = carried::source("workers/python/methods.tsv") else {
        return Ok(Vec::new());
    };
    let environment =
        std::env::var_os("VIRTUAL_ENV").map(|home| PathBuf::from(home).join("bin/python3"));
    let usual = environment
        .filter(|program| files::trusted_program(program).is_ok())
        .or_else(|| first_binary(programs::candidates("python3")));
    let pythons = installations(named, usual, python)?;
    if pythons.is_empty() {
        return Ok(vec![Worker::carried("python", list, Maker::Python(None))]);
    }
    let workers = pythons.into_iter().map(|python| {
        let name = format!("python-{}", python.version_text());
        Worker::carried(&name, list, Maker::Python(Some(python)))
    });
    Ok(workers.collect())
}

/// The first `python3` that is a program. A script of that name belongs to a manager of versions, which chooses by the folder
/// that one stands in; what it would choose can be named by --python.
fn first_binary(mut programs: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    programs.find(|program| !is_script(program))
}

fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    files::open_input(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == *b"#!"
}

/// A CPython by its program, or by the folder that holds `bin/python3`.
fn python(path: &Path) -> Result<Python> {
    let program = if path.is_dir() {
        path.join("bin/python3")
    } else {
        path.to_owned()
    };
    let real = program
        .canonicalize()
        .with_context(|| format!("there is no Python at {}", path.display()))?;
    let name = real
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let version = match name.strip_prefix("python").and_then(version_in) {
        Some(version) => version,
        None => python_version(&program)?,
    };
    Ok(Python {
        program: std::path::absolute(&program).unwrap_or(program),
        version,
    })
}

/// `3.11`, with both numbers.
fn version_in(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn python_version(program: &Path) -> Result<(u32, u32)> {
    const QUESTION: &str =
        "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])";
    let output = programs::ask(program, &["-I", "-c", QUESTION])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match text.trim().split_once(' ') {
        Some(("cpython", version)) => version_in(version)
            .with_context(|| format!("{} says it is version {version:?}", program.display())),
        Some((other, _)) => bail!(
            "{} is {other}, and the Python worker measures CPython",
            program.display()
        ),
        None => bail!("{} does not say which Python it is", program.display()),
    }
}

/// Tells whether it can be started, in words.
pub(super) fn standing(python: Option<&Python>) -> String {
    match python {
        None => "no python3 in VIRTUAL_ENV or PATH".to_owned(),
        Some(python) if python.version < LEAST => too_old(python),
        Some(python) => format!(
            "carried as source, run by CPython {} in {}",
            python.version_text(),
            python.program.display()
        ),
    }
}

fn too_old(python: &Python) -> String {
    let (major, minor) = LEAST;
    format!(
        "the Python worker needs Python {major}.{minor} or newer, and this is {}",
        python.version_text()
    )
}

pub(super) fn start(python: Option<&Python>) -> Result<Started> {
    let Some(python) = python else {
        bail!(
            "no python3 in VIRTUAL_ENV or PATH; install one (the package python3) or name one by --python"
        );
    };
    if python.version < LEAST {
        bail!("{}", too_old(python));
    }
    let text: Vec<u8> = sources()
        .flat_map(|(path, text)| [path.as_bytes(), text.as_bytes()].concat())
        .collect();
    let (version, program) = (python.version_text(), python.program.to_string_lossy());
    let key = sha256_hex(&[&text, version.as_bytes(), program.as_bytes()]);
    let build = built(&key, |folder| {
        sources().try_for_each(|(path, text)| put(folder, path, text.as_bytes()))
    })?;
    let command = vec![
        python.program.clone().into(),
        build.path.join("worker.py").into(),
    ];
    // The same sources in another interpreter are another worker.
    let hash = sha256_hex(&[
        build.hash.as_bytes(),
        version.as_bytes(),
        program.as_bytes(),
    ]);
    Ok(Started {
        hash,
        ..Started::built(command, build)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(name), content).unwrap();
        folder.join(name)
    }

    #[test]
    fn a_version_is_read_from_the_name_behind_all_links() {
        let place = tempfile::tempdir().unwrap();
        let bin = place.path().join("bin");
        program(&bin, "python3.12", b"\x7fELF");
        std::os::unix::fs::symlink("python3.12", bin.join("python3")).unwrap();
        let found = python(&bin.join("python3")).unwrap();
        assert_eq!(
            (found.version, &found.program),
            ((3, 12), &bin.join("python3"))
        );
        assert_eq!(python(place.path()).unwrap(), found);
        assert!(python(&place.path().join("none")).is_err());
    }

    #[test]
    fn scripts_of_version_managers_are_passed_over() {
        let place = tempfile::tempdir().unwrap();
        let (shims, real) = (place.path().join("shims"), place.path().join("real"));
        program(&shims, "python3", b"#!/bin/sh\nexec other\n");
        let wanted = program(&real, "python3", b"\x7fELF");
        let shim = shims.join("python3");
        assert_eq!(
            first_binary([shim.clone(), wanted.clone()].into_iter()),
            Some(wanted)
        );
        assert_eq!(first_binary([shim].into_iter()), None);
    }

    #[test]
    fn what_is_too_old_or_missing_says_what_it_needs() {
        let old = Python {
            program: "/usr/bin/python3.7".into(),
            version: (3, 7),
        };
        assert!(
            start(Some(&old))
                .unwrap_err()
                .to_string()
                .contains("needs Python 3.8 or newer, and this is 3.7")
        );
        assert!(start(None).unwrap_err().to_string().contains("--python"));
        assert!(standing(Some(&old)).contains("3.8"));
    }

    #[test]
    fn every_method_has_its_source() {
        let list = carried::source("workers/python/methods.tsv").unwrap();
        for line in list.lines() {
            let source = line
                .split('\t')
                .find_map(|field| field.strip_prefix("source="))
                .unwrap();
            assert!(carried::source(source).is_some(), "{line}");
        }
    }
}
