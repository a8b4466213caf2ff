//! The Go worker. Its runtime is part of what is measured, so it is built with the user's own toolchain, at first use.

use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use files::Folder;

use super::cache::{built, is_built, put};
use super::carried;
use super::native::{hash, path_of};
use super::{Maker, Started, Worker};

const PROGRAM: &str = "worker-go";

fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    let below = carried::SOURCES.iter().filter_map(|(path, text)| Some((path.strip_prefix("workers/go/")?, *text)));
    below.filter(|(path, _)| !path.ends_with("_test.go"))
}

/// The worker as its carried list describes it; nothing is built yet.
pub(super) fn worker() -> Option<Worker> {
    carried::source("workers/go/methods.tsv").map(|list| Worker::carried("go", list, Maker::Go))
}

/// Key of the build by this toolchain, and the toolchain's version.
fn key() -> Result<(String, String)> {
    let Ok(version) = Command::new("go").arg("version").output() else {
        bail!("no Go toolchain in PATH (https://go.dev/dl, or the package golang)");
    };
    let text: Vec<u8> = sources().flat_map(|(path, text)| [path.as_bytes(), text.as_bytes()].concat()).collect();
    let name = String::from_utf8_lossy(&version.stdout).split_whitespace().nth(2).unwrap_or("go").to_owned();
    Ok((hash(&[&text, &version.stdout]), name))
}

/// Sentence on its state: built, not built, or the reason it cannot be.
pub(super) fn standing() -> String {
    match key() {
        Ok((key, version)) if is_built(&key) => format!("built, with {version}"),
        Ok((_, version)) => format!("{}, with {version}", super::NOT_BUILT),
        Err(error) => error.to_string(),
    }
}

pub(super) fn build() -> Result<Started> {
    let (key, version) = key()?;
    let build = built(&key, |folder| {
        super::tell(&format!("building the Go worker with {version}; this does not count against the budget"));
        compile(folder)
    })?;
    let program = build.program(PROGRAM)?;
    let started = Started::built(vec![path_of(&program).into()], build);
    Ok(Started { _program: Some(Arc::new(program)), ..started })
}

fn compile(folder: &Folder) -> Result<()> {
    const SOURCE: &str = "source";
    let source = folder.make_folder(SOURCE)?;
    sources().try_for_each(|(path, text)| put(&source, path, text))?;
    // No module is fetched and no other toolchain: the one in PATH is measured.
    let mut go = super::with_this_process("go")?;
    go.current_dir(source.path())
        .env("GOTMPDIR", source.path())
        .args(["build", "-trimpath", "-o"])
        .arg(folder.path().join(PROGRAM))
        .arg(".");
    go.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-mod=mod").env("GOPROXY", "off").env("GOWORK", "off");
    let output = go.output().context("cannot start go build")?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        bail!("go build failed: {}", messages.lines().take(3).collect::<Vec<_>>().join("; "));
    }
    Ok(folder.remove(SOURCE)?)
}
