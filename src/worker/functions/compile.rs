//! The worker of a user's C, C++ or Rust file or library: it is compiled and linked with the carried harness of C.

use super::compiler::UserCompiler;
use super::{FunctionTerms, RUST, WORKER, rust};
use crate::worker::{MOST_BYTES, carried};
use anyhow::{Result, bail};
use files::Folder;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// C source with the facts of a build (workers/c/bench/build.h).
const BUILD: &str = "build.c";

/// Compiles a source: the copy of the user's file, or the calls of the functions of the user's library.
pub(super) fn compile(
    source: &Path,
    path: &Path,
    is_library: bool,
    terms: FunctionTerms,
    folder: &Folder,
) -> Result<()> {
    let compiler = UserCompiler::of_user(source);
    let text = compiler.build_text(is_library, terms)?;
    folder.write(BUILD, text.as_bytes())?;
    let is_rust = source.extension().is_some_and(|end| end == RUST);
    let linker = compiler.linker();
    let mut command = linker.command(folder)?;
    if is_rust {
        let archive = rust::archive(&compiler, source, path, folder)?;
        command.arg("-Wl,--whole-archive").arg(archive);
        command.arg("-Wl,--no-whole-archive");
    } else {
        add_subject(&mut command, source, path, is_library);
    }
    command.args([BUILD, "functions.o"].map(|file| folder.path().join(file)));
    // The file may have a main of its own, which is not called.
    command.arg("-Wl,--wrap=main");
    let libraries = std::env::var("LDLIBS").unwrap_or_default();
    command
        .args(["-pthread", "-ldl", "-lrt", "-lm"])
        .args(libraries.split_whitespace());
    command.arg("-o").arg(folder.path().join(WORKER));
    linker.run(&mut command, path, folder)?;
    let program = files::read_input(&folder.path().join(WORKER), MOST_BYTES)?;
    check_names(&program, path)
}

/// Names of the C library that a user's file may define all the same, and beginnings of names: an allocator of the user's own.
const REPLACED: [&str; 6] = ["malloc", "calloc", "realloc", "free", "mem", "str"];
/// Variables of the C library. A linker may put a copy of them into the program.
const VARIABLES: [&str; 6] = [
    "environ",
    "program_invocation",
    "stdin",
    "stdout",
    "stderr",
    "errno",
];

/// An error if a user's file defines a function of the C library that the harness calls: it would be called instead.
fn check_names(program: &[u8], path: &Path) -> Result<()> {
    let program = object::File::parse(program)?;
    // A program without libraries has the whole of the C library in it.
    if program.dynamic_symbols().next().is_none() {
        return Ok(());
    }
    let harness = carried::FUNCTIONS.content();
    let harness = object::File::parse(&*harness)?;
    let called: BTreeSet<&[u8]> = harness
        .symbols()
        .filter(|symbol| symbol.is_undefined())
        .filter_map(|symbol| symbol.name_bytes().ok())
        .collect();
    let is_free = |name: &str| {
        [REPLACED, VARIABLES]
            .concat()
            .iter()
            .any(|lead| name.starts_with(lead))
    };
    let clash = program
        .symbols()
        .filter(|symbol| symbol.is_global() && symbol.is_definition())
        .filter(|symbol| symbol.name_bytes().is_ok_and(|name| called.contains(name)))
        .filter_map(|symbol| symbol.name().ok())
        .find(|name| {
            !name.starts_with(['_', '.']) && !name.starts_with("pagewise_") && !is_free(name)
        });
    match clash {
        Some(name) => bail!(
            "{} defines {name}, a function of the C library that the harness calls: make it static",
            path.display()
        ),
        None => Ok(()),
    }
}

/// Adds the source and the folder of the user's file to a compiler's command.
fn add_subject(command: &mut Command, source: &Path, path: &Path, is_library: bool) {
    let above = path.parent().unwrap_or(path);
    if is_library {
        let file = path.file_name().unwrap_or_default();
        // A kept worker finds its library beside itself. Without a soname, the loader's name is the one given here.
        command.args(["-Xlinker", "-rpath", "-Xlinker"]);
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
