//! The Go and the Rust worker. What their compilers make of a program is part of what is measured, so they are built with the
//! user's own toolchain, at first use and without the network. Where there is none, a program that packaging carried is taken.

use super::cache::{built, is_built, put};
use super::{Maker, Started, Worker, carried, native::path_of};
use anyhow::{Context, Result, ensure};
use files::Folder;
use record::folder::sha256_hex;
use std::{path::Path, process::Command, sync::Arc};

/// A language whose worker is one program.
#[derive(Debug)]
pub(super) struct Toolchain {
    name: &'static str,
    language: &'static str,
    /// Command that prints the version, which is the word after `version` or the compiler's name.
    version: [&'static str; 2],
    source: &'static str,
    /// Carried files that are linked with the sources.
    linked: &'static [(&'static str, &'static [u8])],
    /// Command that compiles the sources of a folder to a program beside it.
    compiler: fn(version: &str, source: &Path, program: &str) -> Result<Command>,
}

enum Origin {
    /// Toolchain in PATH, with the line of its version.
    Installed(String),
    Carried(&'static [u8]),
}

static GO: Toolchain = Toolchain {
    name: "go",
    language: "Go",
    version: ["go", "version"],
    source: "https://go.dev/dl, or the package golang",
    linked: &[],
    compiler: go,
};

static RUST: Toolchain = Toolchain {
    name: "rust",
    language: "Rust",
    version: ["rustc", "--version"],
    source: "https://rustup.rs, or the package rustc",
    linked: &[
        ("halves.a", carried::RUST_HALVES),
        ("harness.a", carried::HARNESS),
    ],
    compiler: rust,
};

/// The workers as their carried lists describe them; nothing is built yet.
pub(super) fn workers() -> impl Iterator<Item = Worker> {
    let go = carried::source("workers/go/methods.tsv")
        .map(|list| Worker::carried("go", list, Maker::Compiled(&GO)));
    let rust = || Worker::carried("rust", carried::RUST_METHODS, Maker::Compiled(&RUST));
    go.into_iter()
        .chain((!carried::RUST_METHODS.is_empty()).then(rust))
}

/// No module is fetched and no other toolchain: the one in PATH is measured.
fn go(_version: &str, source: &Path, program: &str) -> Result<Command> {
    let mut go = super::with_this_process("go")?;
    go.args(["build", "-trimpath", "-o", program, "."])
        .env("GOTMPDIR", source);
    go.env("GOTOOLCHAIN", "local")
        .env("GOFLAGS", "-mod=mod")
        .env("GOPROXY", "off")
        .env("GOWORK", "off");
    Ok(go)
}

/// The methods are gathered by their section, which a linker must not leave out.
fn rust(version: &str, _source: &Path, program: &str) -> Result<Command> {
    let mut rust = super::with_this_process("rustc")?;
    rust.args([
        "--edition",
        "2021",
        "--crate-name",
        "worker",
        "-Copt-level=3",
        "-Cpanic=abort",
        "-Clink-dead-code",
    ]);
    let linked = [
        "-Wl,--whole-archive",
        "halves.a",
        "-Wl,--no-whole-archive",
        "harness.a",
        "-pthread",
        "-ldl",
        "-lrt",
    ];
    rust.args(linked.map(|word| format!("-Clink-arg={word}")));
    rust.args(["-o", program, "main.rs"])
        .env("PAGEWISE_COMPILER", version);
    Ok(rust)
}

impl Toolchain {
    fn sources(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let folder = format!("workers/{}/", self.name);
        let below = carried::SOURCES
            .iter()
            .filter_map(move |(path, text)| Some((path.strip_prefix(&folder)?, *text)));
        below.filter(|(path, _)| !path.ends_with("_test.go"))
    }

    fn program(&self) -> String {
        format!("worker-{}", self.name)
    }

    fn key(&self) -> Result<(String, Origin)> {
        let [compiler, version] = self.version;
        let Some(version) = Command::new(compiler)
            .arg(version)
            .output()
            .ok()
            .filter(|o| o.status.success())
        else {
            let carried = carried::prebuilt(self.name)
                .next()
                .map(|(_, bytes)| (sha256_hex(&[bytes]), Origin::Carried(bytes)));
            return carried.with_context(|| {
                format!("no {} toolchain in PATH ({})", self.language, self.source)
            });
        };
        let text: Vec<u8> = self
            .sources()
            .flat_map(|(path, text)| [path.as_bytes(), text.as_bytes()].concat())
            .collect();
        let line = String::from_utf8_lossy(&version.stdout)
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        let linked = self.linked.iter().map(|(_, bytes)| *bytes);
        let parts: Vec<&[u8]> = [&*text, &version.stdout]
            .into_iter()
            .chain(linked)
            .collect();
        Ok((sha256_hex(&parts), Origin::Installed(line)))
    }

    /// Sentence on its state: carried, built, not built, or the reason it cannot be.
    pub(super) fn standing(&self) -> String {
        match self.key() {
            Ok((_, Origin::Carried(_))) => super::CARRIED.to_owned(),
            Ok((key, Origin::Installed(version))) if is_built(&key) => {
                format!("built, with {version}")
            }
            Ok((_, Origin::Installed(version))) => format!("{}, with {version}", super::NOT_BUILT),
            Err(error) => error.to_string(),
        }
    }

    pub(super) fn build(&self) -> Result<Started> {
        let (key, origin) = self.key()?;
        let build = built(&key, |folder| match &origin {
            Origin::Carried(bytes) => Ok(folder.write_program(self.program(), bytes)?),
            Origin::Installed(version) => {
                let language = self.language;
                super::tell(&format!(
                    "building the {language} worker with {version}; this does not count against the budget"
                ));
                self.compile(version, folder)
            }
        })?;
        let program = build.program(&self.program())?;
        let started = Started::built(vec![path_of(&program).into()], build);
        Ok(Started {
            _program: Some(Arc::new(program)),
            ..started
        })
    }

    fn compile(&self, version: &str, folder: &Folder) -> Result<()> {
        const SOURCE: &str = "source";
        let source = folder.make_folder(SOURCE)?;
        self.sources()
            .try_for_each(|(path, text)| put(&source, path, text.as_bytes()))?;
        self.linked
            .iter()
            .try_for_each(|(name, bytes)| source.write(name, bytes))?;
        let mut compiler =
            (self.compiler)(version, source.path(), &format!("../{}", self.program()))?;
        let output = compiler.current_dir(source.path()).output();
        let output = output.with_context(|| format!("cannot start {}", self.version[0]))?;
        let messages = String::from_utf8_lossy(&output.stderr);
        let first: Vec<&str> = messages.lines().take(3).collect();
        ensure!(
            output.status.success(),
            "building the {} worker failed: {}",
            self.language,
            first.join("; ")
        );
        Ok(folder.remove(SOURCE)?)
    }
}
