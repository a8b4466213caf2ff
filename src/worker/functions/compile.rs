//! The user's C compiler, which makes the worker of the user's functions.

use super::WORKER;
use crate::worker::{programs, with_this_process};
use anyhow::{Context, Result, bail};
use files::Folder;
use std::path::Path;
use std::process::{Command, Stdio};

/// Compiles a source: the copy of the user's file, or the calls of the functions of the user's library.
pub(super) fn compile(
    source: &Path,
    path: &Path,
    is_library: bool,
    defines: &[(&str, String)],
    folder: &Folder,
) -> Result<()> {
    let compiler = CCompiler::of_user();
    let mut command = compiler.command(folder)?;
    command.args(compiler.defines()?);
    command.args(defines.iter().map(|(name, value)| define(name, value)));
    add_subject(&mut command, source, path, is_library);
    command.args(["bench.c", "about.c", "harness.a"].map(|file| folder.path().join(file)));
    let libraries = std::env::var("LDLIBS").unwrap_or_default();
    command
        .args(["-pthread", "-ldl", "-lrt", "-lm"])
        .args(libraries.split_whitespace());
    command.arg("-o").arg(folder.path().join(WORKER));
    let output = programs::compiled(&mut command, folder)?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        // Below a line of source the compiler points at a column of it.
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            report::escape::lines(&messages).as_bytes(),
        );
        bail!(
            "{} does not compile with {} {}",
            path.display(),
            compiler.program.join(" "),
            compiler.flags.join(" ")
        );
    }
    Ok(())
}

/// The user's C compiler: `$CC` and `$CFLAGS`, otherwise `cc -O2 -g`.
struct CCompiler {
    /// The program, with arguments where `$CC` has some.
    program: Vec<String>,
    flags: Vec<String>,
}

impl CCompiler {
    fn of_user() -> CCompiler {
        CCompiler {
            program: variable("CC", "cc"),
            flags: variable("CFLAGS", "-O2 -g"),
        }
    }

    /// The command that compiles files of a folder.
    fn command(&self, folder: &Folder) -> Result<Command> {
        let mut command = started(&self.program)?;
        // Paths in the user's flags are relative to the user's folder; nothing else is taken from there.
        let has_flags = ["CFLAGS", "LDLIBS"]
            .iter()
            .any(|name| std::env::var_os(name).is_some());
        if has_flags {
            command.current_dir(std::env::current_dir()?);
        } else {
            command.current_dir(folder.path());
        }
        command
            .args(&self.flags)
            .args([
                "-std=gnu11",
                "-D_GNU_SOURCE",
                "-Wno-maybe-uninitialized",
                "-I",
            ])
            .arg(folder.path());
        // The same source gives the same program in whatever folder it is compiled, so that a run can be resumed.
        command.arg(format!(
            "-ffile-prefix-map={}=pagewise",
            folder.path().display()
        ));
        Ok(command)
    }

    /// Definitions by which the worker describes its compiler.
    fn defines(&self) -> Result<[String; 3]> {
        let version = programs::answer(started(&self.program)?.arg("--version"), Stdio::null())?;
        let version = String::from_utf8_lossy(&version.stdout)
            .lines()
            .next()
            .unwrap_or("unknown")
            .replace('"', "'");
        Ok([
            "-DPAGEWISE_WORKER_NAME=program_invocation_short_name".to_owned(),
            define("COMPILER", &version),
            define("FLAGS", &self.flags.join(" ").replace('"', "'")),
        ])
    }
}

/// Words of a variable of the environment; those of `usual` where it is unset or blank.
fn variable(name: &str, usual: &str) -> Vec<String> {
    let text = std::env::var(name)
        .ok()
        .filter(|text| !text.trim().is_empty());
    let text = text.as_deref().unwrap_or(usual);
    text.split_whitespace().map(str::to_owned).collect()
}

/// Definition of a text for a C file.
fn define(name: &str, value: &str) -> String {
    format!("-DPAGEWISE_{name}=\"{value}\"")
}

/// Adds the source and the folder of the user's file to a compiler's command.
fn add_subject(command: &mut Command, source: &Path, path: &Path, is_library: bool) {
    let above = path.parent().unwrap_or(path);
    if is_library {
        let file = path.file_name().unwrap_or_default();
        // A kept worker finds its library beside itself. Without a soname, the loader's name is the one given here.
        command.args(["-DPAGEWISE_LIBRARY", "-Xlinker", "-rpath", "-Xlinker"]);
        command
            .arg(format!("$ORIGIN:{}", above.display()))
            .arg("-L")
            .arg(above)
            .arg(source);
        command.arg(format!("-l:{}", file.display()));
    } else {
        if files::trusted_folder(above).is_ok() {
            command.arg("-iquote").arg(above);
        }
        command.arg(source);
    }
}

/// The compiler, to be started as every toolchain is. It ends with this process.
/// Errors: there is none, or another user can change it.
fn started(compiler: &[String]) -> Result<Command> {
    let program = programs::of_word(&compiler[0]).with_context(|| {
        format!(
            "bench needs a C compiler, and {} cannot be started: install gcc or clang, or set CC",
            compiler[0]
        )
    })?;
    let mut command = with_this_process(program, &[])?;
    programs::settle(&mut command);
    command.args(&compiler[1..]);
    Ok(command)
}
