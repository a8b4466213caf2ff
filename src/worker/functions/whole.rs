//! A whole program of the user's with its own main, compiled by itself: no harness is in it.

use super::compiler::{UserCompiler, compiled};
use super::runtimes::{class_of, jdk};
use super::{GO, JAVA, Worker, programs};
use crate::worker::with_this_process;
use anyhow::{Context, Result};
use files::Folder;
use report::escape::c_literal;
use std::path::Path;

/// A program to compile.
#[derive(Clone, Copy, Debug)]
pub struct WholeProgram<'a> {
    /// Its file: its end names the language, and messages name it.
    pub path: &'a Path,
    pub text: &'a str,
    /// Options of the compiler of C.
    pub flags: &'a [String],
}

/// Compiles a program into a folder: the words that start it.
/// Errors: there is no compiler of its language, or it does not compile.
pub fn whole(program: WholeProgram, folder: &Folder, workers: &[Worker]) -> Result<Vec<String>> {
    let end = program.path.extension().unwrap_or_default();
    if end == JAVA {
        in_java(program, folder, workers)
    } else if end == GO {
        in_go(program, folder)
    } else {
        in_c(program, folder)
    }
}

fn in_c(program: WholeProgram, folder: &Folder) -> Result<Vec<String>> {
    let WholeProgram { path, text, flags } = program;
    let named = c_literal(&path.display().to_string());
    folder.write("program.c", format!("#line 1 {named}\n{text}").as_bytes())?;
    let mut command = UserCompiler::of_user(Path::new("program.c")).started()?;
    command.current_dir(folder.path()).args(flags);
    if let Some(above) = path.parent()
        && files::trusted_folder(above).is_ok()
    {
        command.arg("-iquote").arg(above);
    }
    command.args(["-o", "program", "program.c", "-lm"]);
    compiled(
        &mut command,
        path,
        folder,
        &format!("cc {}", flags.join(" ")),
    )?;
    Ok(vec![text_of(&folder.path().join("program"))?])
}

fn in_java(program: WholeProgram, folder: &Folder, workers: &[Worker]) -> Result<Vec<String>> {
    let jdk = jdk(workers)?;
    let class = class_of(program.text)
        .with_context(|| format!("{} has no class", program.path.display()))?;
    let [source, classes] = ["source", "classes"].map(|name| folder.make_folder(name));
    let (source, classes) = (source?, classes?);
    // A public class is in a file of its name.
    let file = format!("{class}.java");
    source.write(&file, program.text.as_bytes())?;
    let mut command = jdk.javac(&source, &classes)?;
    command.arg(source.path().join(&file));
    compiled(&mut command, program.path, folder, "javac")?;
    Ok(vec![
        text_of(&jdk.program())?,
        "-cp".to_owned(),
        text_of(classes.path())?,
        class.to_owned(),
    ])
}

/// A test file whose benchmarks are run: it is no package of a module.
fn in_go(program: WholeProgram, folder: &Folder) -> Result<Vec<String>> {
    let go =
        programs::find("go").context("this needs Go: https://go.dev/dl, or the package golang")?;
    let source = folder.make_folder("source")?;
    source.write("program_test.go", program.text.as_bytes())?;
    let made = folder.path().join("program");
    let mut command = with_this_process(&go, &[])?;
    programs::settle(&mut command);
    command.args(["test", "-c", "-trimpath", "-o"]).arg(&made);
    command.arg("program_test.go").current_dir(source.path());
    command.env("GO111MODULE", "off").env("GOPROXY", "off");
    if !command.get_envs().any(|(name, _)| name == "HOME") {
        command.env("GOPATH", source.path().join("go-path"));
        command.env("GOCACHE", source.path().join("go-cache"));
    }
    compiled(&mut command, program.path, folder, "go test -c")?;
    Ok(vec![text_of(&made)?])
}

fn text_of(path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.with_context(|| format!("{} is not UTF-8", path.display()))
}
