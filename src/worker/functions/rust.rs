//! A user's Rust file: an archive of it, which is linked with the carried harness as a C file is.

use super::carried;
use super::compiler::UserCompiler;
use super::copies::COPIES;
use anyhow::Result;
use files::Folder;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the carried crate that a user's file names.
const SOURCES: &str = "workers/bench/rust/";
/// Edition of a file that is compiled without another one in the user's flags, and of the carried crate.
const EDITION: &str = "--edition=2021";

/// Compiles a user's file to an archive with all that it needs. The file may have a main of its own, which is not called.
/// Errors: there is no compiler, or the file does not compile.
pub(super) fn archive(
    compiler: &UserCompiler,
    source: &Path,
    path: &Path,
    folder: &Folder,
) -> Result<PathBuf> {
    let crates = [
        ("attributes.rs", "pagewise_attributes", "proc-macro", "so"),
        ("pagewise.rs", "pagewise", "rlib", "rlib"),
    ];
    for (file, name, kind, end) in crates {
        let text = carried::source(&format!("{SOURCES}{file}")).unwrap_or_default();
        folder.write(file, text.as_bytes())?;
        let mut command = crate_command(compiler, folder, name, kind)?;
        command.args([EDITION, "-O", "-o"]);
        command.arg(folder.path().join(format!("lib{name}.{end}")));
        command.arg(folder.path().join(file));
        compiler.run(&mut command, Path::new(file), folder)?;
    }
    let archive = folder.path().join("libfunctions.a");
    let mut command = crate_command(compiler, folder, "functions", "staticlib")?;
    if !compiler.flags.iter().any(|flag| flag.contains("--edition")) {
        command.arg(EDITION);
    }
    command.args(["-A", "dead_code"]).args(&compiler.flags);
    command.arg("-o").arg(&archive).arg(source);
    compiler.run(&mut command, path, folder)?;
    Ok(archive)
}

/// Where a user's file is compiled: in its own folder, whose modules it may name; a copy, if another user can put files there.
pub(super) fn source(bytes: &[u8], path: &Path, folder: &Folder) -> Result<PathBuf> {
    let above = path.parent().unwrap_or(path);
    if files::trusted_folder(above).is_ok() {
        return Ok(path.to_owned());
    }
    let copies = folder.make_folder(COPIES)?;
    copies.write("functions.rs", bytes)?;
    Ok(copies.path().join("functions.rs"))
}

/// A command that compiles a crate, which finds those that are made already.
fn crate_command(
    compiler: &UserCompiler,
    folder: &Folder,
    name: &str,
    kind: &str,
) -> Result<Command> {
    let mut command = compiler.started()?;
    command.args(["--crate-name", name, "--crate-type", kind, "-L"]);
    command.arg(folder.path());
    for made in ["pagewise", "pagewise_attributes"] {
        command.args(["--extern", made]);
    }
    // The same source gives the same program in whatever folder it is compiled, so that a run can be resumed.
    let mut prefix = OsString::from("--remap-path-prefix=");
    prefix.push(folder.path());
    prefix.push("=pagewise");
    command.arg(prefix);
    Ok(command)
}
