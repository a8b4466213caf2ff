//! A worker made of the user's own C file or shared library, compiled with the user's compiler and linked with the carried
//! harness.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use files::Folder;
use record::experiment::Experiment;
use record::method::Method;
use record::sizes;
use serde::Serialize;

use super::native::hash;
use super::{Maker, MethodList, Started, Worker, carried};

/// Name of the worker, and of the experiment that its functions are methods of.
const WORKER: &str = "own";
const EXPERIMENT: &str = "bench";

/// Folder of the carried files that a user's file is compiled with.
const SOURCES: [&str; 2] = ["workers/c/bench/", "workers/c/harness/"];

/// Time of a comparison, in seconds, where no budget is given.
const BUDGET_S: f64 = 10.0;

/// Longest source that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// A commented file to start from.
pub const START: &str = "workers/c/bench/start.c";

/// The user's compiler with its flags: `$CC` and `$CFLAGS`, otherwise `cc -O2 -g`.
fn compiler() -> (Vec<String>, Vec<String>) {
    let variable = |name: &str, usual: &str| -> Vec<String> {
        let text = std::env::var(name).ok().filter(|text| !text.trim().is_empty());
        text.as_deref().unwrap_or(usual).split_whitespace().map(str::to_owned).collect()
    };
    (variable("CC", "cc"), variable("CFLAGS", "-O2 -g"))
}

/// C source with the functions of a shared library, for `libmine.so:f,g`.
fn of_library(functions: &str) -> Result<String> {
    let mut text = "#include \"library.h\"\n".to_owned();
    for name in functions.split(',') {
        let sound = |c: char| c.is_ascii_alphanumeric() || c == '_';
        ensure!(!name.is_empty() && name.chars().all(sound), "{name:?} is not the name of a function");
        writeln!(text, "LIBRARY({name})")?;
    }
    Ok(text)
}

/// A built-in method that the user's functions are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    /// Its experiment, whose methods the functions become.
    pub experiment: &'a Experiment,
    /// The method, whose parameters they take.
    pub method: &'a Method,
}

impl Peer<'_> {
    /// Definitions with which the user's file is compiled.
    fn defines(self) -> [(&'static str, String); 5] {
        let Peer { experiment, method } = self;
        let keys = method.line.split("\tkeys=").nth(1).and_then(|rest| rest.split('\t').next()).unwrap_or_default();
        let phases = experiment.totals.iter().find(|total| total.name == experiment.headline());
        let phases = phases.map_or_else(|| vec![experiment.headline().to_owned()], |total| total.phases.clone());
        let work = phases.iter().find(|phase| **phase == experiment.name).unwrap_or(&phases[0]);
        [
            ("EXPERIMENT", experiment.name.clone()),
            ("KEYS", keys.to_owned()),
            ("GROUP", method.group.clone()),
            ("PHASE", work.clone()),
            ("UNIT", experiment.unit.clone()),
        ]
    }

    /// An error if a function has a phase that is none of the experiment's.
    fn accepts(self, worker: &Worker) -> Result<()> {
        let Experiment { name, phases, .. } = self.experiment;
        for method in worker.methods() {
            if let Some(phase) = method.phases.iter().find(|phase| !phases.contains(phase)) {
                bail!("{}: PHASE({phase:?}) is no phase of {name}, which has {}", method.name, phases.join(", "));
            }
        }
        Ok(())
    }
}

/// Compiles `what`, a C file or `LIBRARY:FUNCTION,FUNCTION`, into a worker below `folder`.
/// Errors: there is no C compiler, the file does not compile, or it has no function to measure.
pub fn build(what: &str, peer: Option<Peer>, folder: &Folder) -> Result<(Worker, Option<Experiment>)> {
    let (path, functions) = match what.rsplit_once(':') {
        Some((library, functions)) if library.contains(".so") => (Path::new(library), Some(functions)),
        _ => (Path::new(what), None),
    };
    files::read_input(path, MOST_BYTES)?;
    for (name, text) in carried::SOURCES {
        if let Some(name) = SOURCES.iter().find_map(|below| name.strip_prefix(below)) {
            folder.write(name, text.as_bytes())?;
        }
    }
    folder.write("harness.a", carried::HARNESS)?;
    let absolute = std::path::absolute(path)?;
    let mut inputs = vec![absolute.clone()];
    if let Some(functions) = functions {
        folder.write("functions.c", of_library(functions)?.as_bytes())?;
        inputs.insert(0, folder.path().join("functions.c"));
    } else if path.extension().is_none_or(|extension| extension != "c") {
        bail!("{what} is no C file; a shared library is given with its functions: libmine.so:FUNCTION,FUNCTION");
    }
    let defines = peer.map_or_else(Vec::new, |peer| peer.defines().to_vec());
    compile(&inputs, functions.is_some(), &defines, folder)?;
    let program = folder.path().join("worker");
    let list = listed(&program)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let experiment = if peer.is_none() { Some(experiment(&file, &list)?) } else { None };
    let worker = Worker::with(WORKER, MethodList::parse(WORKER, list)?, Maker::External(program.clone()));
    peer.map_or(Ok(()), |peer| peer.accepts(&worker))?;
    let digest = hash(&[&folder.read("worker", MOST_BYTES)?]);
    let _ = worker.ready.set(Ok(Started::new(vec![program.into()], digest)));
    Ok((worker, experiment))
}

fn compile(inputs: &[PathBuf], is_library: bool, defines: &[(&str, String)], folder: &Folder) -> Result<()> {
    let (compiler, flags) = compiler();
    let version = run(&compiler, |command| command.arg("--version"))?;
    let version = String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or("unknown").replace('"', "'");
    let define = |name: &str, value: &str| format!("-DPAGEWISE_{name}=\"{value}\"");
    let carried_file = |name: &str| folder.path().join(name);
    let libraries = std::env::var("LDLIBS").unwrap_or_default();
    let output = run(&compiler, |command| {
        command.args(&flags).args(["-std=gnu11", "-D_GNU_SOURCE", "-Wno-maybe-uninitialized", "-I"]).arg(folder.path());
        command.args([
            define("WORKER_NAME", WORKER),
            define("COMPILER", &version),
            define("FLAGS", &flags.join(" ").replace('"', "'")),
        ]);
        command.args(defines.iter().map(|(name, value)| define(name, value)));
        if is_library && let Some(above) = inputs.last().and_then(|library| library.parent()) {
            command.arg(format!("-Wl,-rpath,{}", above.display()));
        }
        command.args(inputs).args([carried_file("bench.c"), carried_file("about.c"), carried_file("harness.a")]);
        command.args(["-pthread", "-ldl", "-lrt", "-lm"]).args(libraries.split_whitespace());
        command.arg("-o").arg(carried_file("worker"))
    })?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        if let Some(name) = messages.split("undefined reference to `").nth(1).and_then(|rest| rest.split('\'').next()) {
            bail!("there is no function \"{name}\": the linker does not find it");
        }
        messages.lines().for_each(|line| remark!("{line}"));
        bail!("{} does not compile with {} {}", inputs[0].display(), compiler.join(" "), flags.join(" "));
    }
    Ok(())
}

fn run(compiler: &[String], arguments: impl Fn(&mut Command) -> &mut Command) -> Result<Output> {
    let mut command = Command::new(&compiler[0]);
    arguments(command.args(&compiler[1..])).output().with_context(|| {
        format!("bench needs a C compiler, and {} cannot be started: install gcc or clang, or set CC", compiler[0])
    })
}

/// Description of the functions, by the program that was just made of them.
fn listed(program: &Path) -> Result<String> {
    let output = super::with_this_process(program)?.arg("--list").output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("the compiled file cannot be started: {} ({})", message.trim(), output.status);
    }
    String::from_utf8(output.stdout).context("the names of the file's functions and phases are not UTF-8")
}

/// A value as TOML writes it: strings and arrays of JSON are TOML too, whatever characters a file's name has.
fn quoted(value: impl Serialize) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}

/// The experiment that the user's file describes: its phases, parameters, baseline, and whether the results are compared.
fn experiment(file: &str, list: &str) -> Result<Experiment> {
    let about = |key: &str| list.lines().find_map(|line| line.strip_prefix(&format!("about\t{key}\t")));
    let Some(baseline) = about("baseline") else {
        bail!("{file} has no BENCH(name) {{ … }}: pagewise bench --new FILE.c writes one to start from");
    };
    if baseline.contains(',') {
        bail!("{file} has several baselines: {baseline}");
    }
    // The empty body has every phase, in the order of the file.
    let empty = list.lines().find(|line| line.contains("\trole=null\t")).unwrap_or_default();
    let phases = empty.split("\tphases=").nth(1).and_then(|rest| rest.split('\t').next()).unwrap_or_default();
    let names: Vec<&str> = phases.split(' ').collect();
    let content = if about("results") == Some("yes") { "agree" } else { "none" };
    let mut text = format!(
        "name = {}\ntitle = {}\nquestion = {}\nunit = \"operation\"\nphases = {}\nbaseline = {}\ncontent = {}\nworkers = [{}]\n\
         look = false\nbudget_s = {BUDGET_S:?}\n",
        quoted(EXPERIMENT),
        quoted(format!("the functions of {file}")),
        quoted(format!("Which function of {file} is faster?")),
        quoted(&names),
        quoted(baseline),
        quoted(content),
        quoted(WORKER),
    );
    if names.len() > 1 {
        let meaning = quoted("all phases of a function");
        write!(
            text,
            "[[totals]]\nname = \"all\"\nphases = {}\nmeaning = {meaning}\nheadline = true\n",
            quoted(&names)
        )?;
    }
    for line in list.lines().filter_map(|line| line.strip_prefix("about\tparameter\t")) {
        let [name, kind, values] = line.split('\t').collect::<Vec<_>>()[..] else { bail!("{file}: {line:?}") };
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        for value in &values {
            let is_number = value.parse::<u64>().is_ok() || kind == "size" && sizes::parse_size(value).is_ok();
            ensure!(is_number, "{file}: PARAM({name}, …): {value:?} is no number and no size like 64KiB");
        }
        let meaning = quoted(format!("PARAM({name}) of {file}"));
        write!(text, "[parameters.{name}]\nkind = {}\nmeaning = {meaning}\n", quoted(kind))?;
        write!(text, "values = {0}\ndefault = {0}\n", quoted(&values))?;
    }
    Experiment::parse(file, &text)
}
