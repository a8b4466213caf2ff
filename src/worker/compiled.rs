//! The Go and the Rust worker. What their compilers make of a program is part of what is measured, so they are built with the
//! user's own toolchain, at first use and without the network. Where there is none, a program that packaging carried is taken.

use super::cache::{built, is_built, put};
use super::carried::PackedFile;
use super::{Language, Maker, Started, Worker, carried, native::path_of, programs};
use anyhow::{Context, Result, anyhow, ensure};
use files::Folder;
use record::folder::sha256_hex;
use std::path::{Path, PathBuf};
use std::{ffi::OsString, process::Command, sync::Arc};

/// A language whose worker is one program.
#[derive(Debug)]
pub(super) struct Toolchain {
    pub(super) language: Language,
    /// Name of the language in sentences.
    title: &'static str,
    /// Command that prints the version, which is the word after `version` or the compiler's name.
    version: [&'static str; 2],
    source: &'static str,
    /// Carried files that are linked with the sources.
    linked: &'static [(&'static str, &'static PackedFile)],
    /// Command that compiles the sources of a folder to a program beside it.
    compile: fn(compiler: &Compiler, source: &Path, program: &Path) -> Result<Command>,
}

/// Toolchain in PATH.
struct Compiler {
    program: PathBuf,
    /// The line of its version.
    version: String,
}

enum Origin {
    Installed(Compiler),
    Carried(&'static PackedFile),
}

static GO: Toolchain = Toolchain {
    language: Language::Go,
    title: "Go",
    version: ["go", "version"],
    source: "https://go.dev/dl, or the package golang",
    linked: &[],
    compile: go,
};

static RUST: Toolchain = Toolchain {
    language: Language::Rust,
    title: "Rust",
    version: ["rustc", "--version"],
    source: "https://rustup.rs, or the package rustc",
    linked: &[
        ("halves.a", &carried::RUST_HALVES),
        ("harness.a", &carried::HARNESS),
    ],
    compile: rust,
};

/// The workers as their carried lists describe them; nothing is built yet.
pub(super) fn workers() -> impl Iterator<Item = Worker> {
    let go = carried::source("workers/go/methods.tsv")
        .map(|list| Worker::carried("go", list, Maker::Compiled(&GO)));
    let rust = (!carried::RUST_METHODS.is_empty())
        .then(|| Worker::carried("rust", carried::RUST_METHODS, Maker::Compiled(&RUST)));
    go.into_iter().chain(rust)
}

/// No module is fetched and no other toolchain: the one in PATH is measured.
fn go(compiler: &Compiler, source: &Path, program: &Path) -> Result<Command> {
    let mut go = super::with_this_process(&compiler.program, &[])?;
    programs::settle(&mut go);
    go.args(["build", "-trimpath", "-o"])
        .arg(program)
        .arg(".")
        .current_dir(source);
    go.env("GOFLAGS", "-mod=mod")
        .env("GOPROXY", "off")
        .env("GOWORK", "off");
    // Where the home is another user's, what is compiled is kept nowhere.
    if !go.get_envs().any(|(name, _)| name == "HOME") {
        go.env("GOPATH", source.join("go-path"));
        go.env("GOCACHE", source.join("go-cache"));
    }
    Ok(go)
}

/// The methods are gathered by their section, which a linker must not leave out. It runs in `/`: rustup takes the compiler
/// that a file of the current folder, or of one above it, names.
fn rust(compiler: &Compiler, source: &Path, program: &Path) -> Result<Command> {
    let mut rust = super::with_this_process(&compiler.program, &[])?;
    programs::settle(&mut rust);
    rust.args([
        "--edition",
        "2021",
        "--crate-name",
        "worker",
        "-Copt-level=3",
        "-Cpanic=abort",
        "-Clink-dead-code",
    ]);
    rust.arg("-Clink-arg=-Wl,--whole-archive")
        .arg(linked(source, "halves.a"))
        .arg("-Clink-arg=-Wl,--no-whole-archive")
        .arg(linked(source, "harness.a"))
        .args(["-pthread", "-ldl", "-lrt"].map(|word| format!("-Clink-arg={word}")));
    // The same program from whatever folder.
    let mut remapping = OsString::from("--remap-path-prefix=");
    remapping.push(source);
    remapping.push("/=");
    rust.arg(remapping)
        .arg("-o")
        .arg(program)
        .arg(source.join("main.rs"))
        .env("PAGEWISE_COMPILER", &compiler.version);
    Ok(rust)
}

/// The argument that links a file of a folder.
fn linked(folder: &Path, file: &str) -> OsString {
    let mut argument = OsString::from("-Clink-arg=");
    argument.push(folder.join(file));
    argument
}

impl Toolchain {
    fn sources(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let folder = format!("workers/{}/", self.language.word());
        let below = carried::SOURCES
            .iter()
            .filter_map(move |(path, text)| Some((path.strip_prefix(&folder)?, *text)));
        below.filter(|(path, _)| !path.ends_with("_test.go"))
    }

    fn program(&self) -> String {
        format!("worker-{}", self.language.word())
    }

    fn key(&self) -> Result<(String, Origin)> {
        let (compiler, output) = match self.installed() {
            Ok(installed) => installed,
            Err(error) => {
                let carried = carried::prebuilt(self.language.word())
                    .next()
                    .map(|(_, packed)| (packed.sha256.to_owned(), Origin::Carried(packed)));
                return carried.ok_or(error);
            }
        };
        let text: Vec<u8> = self
            .sources()
            .flat_map(|(path, text)| [path.as_bytes(), text.as_bytes()].concat())
            .collect();
        let linked = self
            .linked
            .iter()
            .map(|(_, packed)| packed.sha256.as_bytes());
        let parts: Vec<&[u8]> = [&*text, &output].into_iter().chain(linked).collect();
        Ok((sha256_hex(&parts), Origin::Installed(compiler)))
    }

    /// The toolchain in PATH, with all that it says of its version.
    /// Errors: there is none, it gives no version, or another user can change it.
    fn installed(&self) -> Result<(Compiler, Vec<u8>)> {
        let [compiler, version] = self.version;
        let none = || format!("no {} toolchain in PATH ({})", self.title, self.source);
        let program = programs::find(compiler).map_err(|error| {
            if error.is::<programs::NotInPath>() {
                anyhow!(none())
            } else {
                error.context(none())
            }
        })?;
        let output = programs::ask(&program, &[version]).with_context(none)?;
        ensure!(output.status.success(), "{}", none());
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().unwrap_or_default().to_owned();
        Ok((Compiler { program, version }, output.stdout))
    }

    /// Sentence on its state: carried, built, not built, or the reason it cannot be.
    pub(super) fn standing(&self) -> String {
        match self.key() {
            Ok((_, Origin::Carried(_))) => super::CARRIED.to_owned(),
            Ok((key, Origin::Installed(compiler))) if is_built(&key) => {
                format!("built, with {}", compiler.version)
            }
            Ok((_, Origin::Installed(compiler))) => {
                format!("{}, with {}", super::NOT_BUILT, compiler.version)
            }
            Err(error) => format!("{error:#}"),
        }
    }

    /// A sentence that it is being built, where it is not yet.
    pub(super) fn building(&self) -> Option<String> {
        match self.key() {
            Ok((key, Origin::Installed(compiler))) if !is_built(&key) => {
                Some(super::building(self.title, &compiler.version))
            }
            _ => None,
        }
    }

    pub(super) fn build(&self) -> Result<Started> {
        let (key, origin) = self.key()?;
        let build = built(&key, |folder| match &origin {
            Origin::Carried(packed) => Ok(folder.write_program(self.program(), &packed.content())?),
            Origin::Installed(compiler) => self.compiled(compiler, folder),
        })?;
        let program = build.program(&self.program())?;
        let started = Started::built(vec![path_of(&program).into()], build);
        Ok(Started {
            _program: Some(Arc::new(program)),
            ..started
        })
    }

    fn compiled(&self, compiler: &Compiler, folder: &Folder) -> Result<()> {
        const SOURCE: &str = "source";
        let source = folder.make_folder(SOURCE)?;
        self.sources()
            .try_for_each(|(path, text)| put(&source, path, text.as_bytes()))?;
        self.linked
            .iter()
            .try_for_each(|(name, packed)| source.write(name, &packed.content()))?;
        let program = folder.path().join(self.program());
        let mut compile = (self.compile)(compiler, source.path(), &program)?;
        let output = programs::compiled(&mut compile, folder)?;
        let messages = String::from_utf8_lossy(&output.stderr);
        let first: Vec<&str> = messages.lines().take(3).collect();
        ensure!(
            output.status.success(),
            "building the {} worker failed: {}",
            self.title,
            first.join("; ")
        );
        Ok(folder.remove(SOURCE)?)
    }
}
