//! Workers of a user's Go or Java file: the file, the carried harness of its language, and a generated one that calls its
//! functions by their names.

use super::compiler::{compiled, variable};
use super::marks::{MarkedFile, MarkedFunction, Marks, WHOLE};
use super::{Worker, carried, programs, users};
use crate::worker::{java::Jdk, with_this_process};
use anyhow::{Context, Result, ensure};
use files::Folder;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Files of the built-in Go worker that are its harness; the others are methods.
const GO_HARNESS: [&str; 17] = [
    "clock",
    "content",
    "huge",
    "memory",
    "methods",
    "phase",
    "prepare",
    "request",
    "run",
    "signals",
    "slot",
    "sum",
    "system",
    "threads",
    "touch",
    "transcript",
    "warm",
];
/// Least version 1.N of Go whose linker takes -funcalign (go.dev/doc/go1.25).
const GO_WITH_ALIGNMENT: u32 = 25;
/// Carried harnesses of a user's functions.
const GO_OWN: &str = "workers/bench/go/own.go";
const JAVA_OWN: &str = "workers/bench/java/";
/// Name of the generated class, in the package of the user's.
const CALLER: &str = "PagewiseFunctions";

/// Compiles a Go file to a program of this name. Its package may be any, and it may have a main of its own, which is not called.
/// Errors: there is no Go, or the file does not compile.
pub(super) fn go(
    text: &str,
    path: &Path,
    name: &str,
    is_fresh: bool,
    folder: &Folder,
) -> Result<PathBuf> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let mut marked = MarkedFile::read(text, Marks::Go);
    marked.is_fresh |= is_fresh;
    ensure!(
        !marked.functions.is_empty(),
        "{}",
        users::to_write(&file, text)
    );
    let go =
        programs::find("go").context("bench needs Go: https://go.dev/dl, or the package golang")?;
    let version = programs::ask(&go, &["env", "GOVERSION"])?;
    let version = String::from_utf8_lossy(&version.stdout);
    let language = language_of(&version);
    let source = folder.make_folder("source")?;
    write_go_module(&source, &language)?;
    let copy = format!("//line {}:1\n{}", path.display(), in_main_package(text));
    source.write("functions.go", copy.as_bytes())?;
    let flags = variable("GOFLAGS", "");
    let caller = go_caller(&marked, &file, &flags)?;
    source.write("pagewise_main.go", caller.as_bytes())?;
    let program = folder.path().join(name);
    let mut command = with_this_process(&go, &[])?;
    programs::settle(&mut command);
    command
        .args(["build", "-trimpath", "-o"])
        .arg(&program)
        .arg(".");
    command.current_dir(source.path());
    let aligned = aligned_functions(&language);
    let fixed = ["-mod=mod".to_owned()];
    command.env(
        "GOFLAGS",
        [&aligned[..], &flags[..], &fixed[..]].concat().join(" "),
    );
    command.env("GOPROXY", "off").env("GOWORK", "off");
    if !command.get_envs().any(|(name, _)| name == "HOME") {
        command.env("GOPATH", source.path().join("go-path"));
        command.env("GOCACHE", source.path().join("go-cache"));
    }
    compiled(&mut command, path, folder, "go build")?;
    Ok(program)
}

/// Writes the module of a user's functions, and below it that of the harness.
fn write_go_module(source: &Folder, language: &str) -> Result<()> {
    let harness = source.make_folder("pagewise")?;
    for file in GO_HARNESS {
        let text = carried::source(&format!("workers/go/{file}.go")).unwrap_or_default();
        let text = text.replacen("package main", "package pagewise", 1);
        harness.write(format!("{file}.go"), text.as_bytes())?;
    }
    let between = carried::source(GO_OWN).unwrap_or_default();
    harness.write("own.go", between.as_bytes())?;
    harness.write(
        "go.mod",
        format!("module pagewise\n\ngo {language}\n").as_bytes(),
    )?;
    let module = format!(
        "module bench\n\ngo {language}\n\nrequire pagewise v0.0.0\n\nreplace pagewise => ./pagewise\n"
    );
    Ok(source.write("go.mod", module.as_bytes())?)
}

/// The main function that hands a file's functions to the harness.
fn go_caller(marked: &MarkedFile, file: &str, flags: &[String]) -> Result<String> {
    let mut caller = "package main\n\nimport \"pagewise\"\n\nfunc main() {\n".to_owned();
    let list = serde_json::to_string(&marked.list(file))?;
    let command = serde_json::to_string(&["go build", &flags.join(" ")].join(" "))?;
    writeln!(
        caller,
        "\tpagewise.Main({list}, {command}, map[string]func(*pagewise.B){{"
    )?;
    for MarkedFunction { name, called, .. } in &marked.functions {
        writeln!(caller, "\t\t\"{name}\": {called},")?;
    }
    caller += "\t})\n}\n";
    Ok(caller)
}

/// The language of a version of Go: `go1.26.8` speaks 1.26.
fn language_of(version: &str) -> String {
    let mut parts = version.trim().trim_start_matches("go").split('.');
    let language = [parts.next(), parts.next()].map(Option::unwrap_or_default);
    language.join(".")
}

/// The linker's flag by which each function begins a cache line. By itself it aligns them to half of one, so that of two loops
/// with the same code one may need a line more than the other. The user's flags may say otherwise.
fn aligned_functions(language: &str) -> Vec<String> {
    let minor = language
        .strip_prefix("1.")
        .and_then(|minor| minor.parse::<u32>().ok());
    let has_flag = minor.is_none_or(|minor| minor >= GO_WITH_ALIGNMENT);
    let flag = has_flag.then(|| "-ldflags=-funcalign=64".to_owned());
    flag.into_iter().collect()
}

/// A Go file as the package of a program has it, whose main is the harness's. Each line stays where it is. Benchmarks of package
/// testing get the turn of the harness, which has its words.
fn in_main_package(text: &str) -> String {
    const TESTING: [&str; 2] = ["\"testing\"", "import \"testing\""];
    let is_of_testing =
        text.lines().any(|line| TESTING.contains(&line.trim())) && !text.contains("\"pagewise\"");
    let mut copy = String::new();
    for line in text.lines() {
        if line.starts_with("package ") {
            copy += "package main";
            copy += if is_of_testing {
                "; import \"pagewise\""
            } else {
                ""
            };
        } else if let Some(rest) = line.strip_prefix("func main(") {
            copy += "func main_of_the_file(";
            copy += rest;
        } else if is_of_testing {
            copy += &line.replace("*testing.B", "*pagewise.B");
        } else {
            copy += line;
        }
        copy.push('\n');
    }
    if is_of_testing {
        // Its other words may be in use no more.
        copy += "var _ testing.TB\n";
    }
    copy
}

/// The JDK that a user's file is compiled and run with: the first that was found.
pub(super) fn jdk(workers: &[Worker]) -> Result<&Jdk> {
    workers
        .iter()
        .find_map(Worker::jdk)
        .context("bench needs a JDK: install the package default-jdk, or name one by --java")
}

/// Compiles a Java file to an archive of this name. Its class may have a main of its own, which is not called.
/// Errors: there is no JDK, or the file does not compile.
pub(super) fn java(
    text: &str,
    path: &Path,
    name: &str,
    is_fresh: bool,
    folder: &Folder,
    workers: &[Worker],
) -> Result<PathBuf> {
    let jdk = jdk(workers)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let mut marked = MarkedFile::read(text, Marks::Java);
    marked.is_fresh |= is_fresh;
    ensure!(
        !marked.functions.is_empty(),
        "{}",
        users::to_write(&file, text)
    );
    let class = class_of(text).with_context(|| format!("{file} has no class"))?;
    let package = text.lines().find_map(|line| {
        let name = line.trim().strip_prefix("package ")?;
        Some(name.trim_end_matches(';').trim().to_owned())
    });
    let source = folder.make_folder("source")?;
    // A public class stands in a file of its name.
    source.write(format!("{class}.java"), text.as_bytes())?;
    let caller = java_caller(&marked, class, package.as_deref())?;
    source.write(format!("{CALLER}.java"), caller.as_bytes())?;
    let classes = folder.make_folder("classes")?;
    let between = carried::SOURCES
        .iter()
        .filter_map(|(path, text)| Some((path.strip_prefix(JAVA_OWN)?, *text)));
    let flags = variable("JAVACFLAGS", "-g");
    jdk.compile_with(&source, &classes, between, &flags, |command| {
        compiled(command, path, folder, "javac")
    })?;
    let full = package.map_or(CALLER.to_owned(), |package| format!("{package}.{CALLER}"));
    let list = format!("class\t{full}\nabout\tmethod_flags\t{}\n", flags.join(" "));
    classes.write("functions.tsv", (list + &marked.list(&file)).as_bytes())?;
    let archive = folder.path().join(format!("{name}.jar"));
    let mut command = with_this_process(jdk.tool("jar"), &[])?;
    programs::settle(&mut command);
    // The same classes give the same archive, so that a run can be resumed.
    command.args([
        "-J-XX:-UsePerfData",
        "--create",
        "--date=1980-01-01T00:00:02Z",
    ]);
    command
        .args(["--main-class", "pagewise.Own", "--file"])
        .arg(&archive);
    command.arg("-C").arg(classes.path()).arg(".");
    compiled(&mut command, path, folder, "jar")?;
    Ok(archive)
}

/// Name of the first class of a file that is not nested.
pub(super) fn class_of(text: &str) -> Option<&str> {
    let mut heads = text
        .lines()
        .filter(|line| !line.starts_with([' ', '\t', '*', '/']));
    heads.find_map(|line| {
        let mut parts = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        parts.find(|part| matches!(*part, "class" | "enum" | "record" | "interface"))?;
        parts.next().filter(|name| !name.is_empty())
    })
}

/// A class that calls the methods by their names.
fn java_caller(marked: &MarkedFile, class: &str, package: Option<&str>) -> Result<String> {
    let mut text = String::new();
    if let Some(package) = package {
        writeln!(text, "package {package};")?;
    }
    writeln!(
        text,
        "public final class {CALLER} implements pagewise.Own.Functions {{"
    )?;
    text += "    @Override\n    public Object call(String name, pagewise.Run run) throws Exception {\n        switch (name) {\n";
    for function in &marked.functions {
        let run = if function.takes_run { "run" } else { "" };
        let call = format!("{class}.{}({run})", function.called);
        let [call, end] = if function.returns {
            [format!("return {call};"), String::new()]
        } else {
            [format!("{call};"), " return null;".to_owned()]
        };
        // A function that is timed as a whole is called here, in the class that only its cell has: so every call is compiled alike.
        let line = if function.phases.is_empty() {
            format!("try (var phase = run.phase(\"{WHOLE}\")) {{ {call} }}{end}")
        } else {
            format!("{call}{end}")
        };
        writeln!(text, "            case \"{}\": {line}", function.name)?;
    }
    text += "            default: throw new IllegalArgumentException(name);\n        }\n    }\n}\n";
    Ok(text)
}
