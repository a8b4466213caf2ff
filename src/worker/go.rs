//! The Go worker. Its runtime is part of what is measured, so it is built with the user's own toolchain, at first use.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::carried;
use super::native::hash;
use super::{Maker, Started, Worker, cache_folder};

fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    let below = carried::SOURCES.iter().filter_map(|(path, text)| Some((path.strip_prefix("workers/go/")?, *text)));
    below.filter(|(path, _)| !path.ends_with("_test.go"))
}

/// The worker as its carried list describes it; nothing is built yet.
pub(super) fn worker() -> Option<Worker> {
    carried::source("workers/go/methods.tsv").map(|list| Worker::carried("go", list, Maker::Go))
}

/// Where the program of this toolchain is kept, and its hash.
fn place() -> Result<(PathBuf, String, String)> {
    let Ok(version) = Command::new("go").arg("version").output() else {
        bail!("no Go toolchain in PATH (https://go.dev/dl, or the package golang)");
    };
    let text: Vec<u8> = sources().flat_map(|(path, text)| [path.as_bytes(), text.as_bytes()].concat()).collect();
    let hash = hash(&[&text, &version.stdout]);
    let words = String::from_utf8_lossy(&version.stdout).split_whitespace().nth(2).unwrap_or("go").to_owned();
    Ok((cache_folder().join("workers").join(&hash[..16]).join("worker-go"), hash, words))
}

/// Whether it is built, in words.
pub(super) fn standing() -> String {
    match place() {
        Ok((program, _, version)) if program.exists() => format!("built, with {version}"),
        Ok((.., version)) => format!("{}, with {version}", super::NOT_BUILT),
        Err(error) => error.to_string(),
    }
}

pub(super) fn build() -> Result<Started> {
    let (program, hash, version) = place()?;
    if !program.exists() {
        super::tell(&format!("building the Go worker with {version}; this does not count against the budget"));
        compile(program.parent().unwrap_or(&program), &program)?;
    }
    Ok(Started { command: vec![program.into()], hash, heap_options: false })
}

fn compile(folder: &Path, program: &Path) -> Result<()> {
    let source = folder.join(format!("source-{}", std::process::id()));
    let built = source.join("worker-go");
    std::fs::create_dir_all(&source).with_context(|| format!("cannot make {}", source.display()))?;
    let result = (|| {
        for (path, text) in sources() {
            let path: PathBuf = source.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(&source))?;
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        // No module is fetched and no other toolchain: the one in PATH is what is being measured.
        let mut go = Command::new("go");
        go.current_dir(&source).args(["build", "-trimpath", "-o"]).arg(&built).arg(".");
        go.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-mod=mod").env("GOPROXY", "off").env("GOWORK", "off");
        let output = go.output().context("cannot start go build")?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            bail!("go build failed: {}", words.lines().take(3).collect::<Vec<_>>().join("; "));
        }
        std::fs::rename(&built, program).with_context(|| format!("cannot place {}", program.display()))
    })();
    let _ = std::fs::remove_dir_all(&source);
    result
}
