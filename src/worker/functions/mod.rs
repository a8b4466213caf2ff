//! A worker of the user's own file or shared library, compiled and linked with the carried harness of its language.

use super::{Language, MOST_BYTES, Maker, MethodList, Started, Worker, carried, programs};
use anyhow::{Context, Result, anyhow, bail, ensure};
use files::Folder;
use record::folder::{KEPT_SOURCES, RunFolder, sha256_hex};
use record::{experiment::Experiment, method::Method};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

pub use record::kind::OWN_WORKER as WORKER;

mod compile;
mod compiler;
mod copies;
mod library;
mod marks;
mod parameters;
mod runtimes;
mod rust;
mod users;
mod whole;
mod worktree;
mod zig;

use parameters::ValueKind;
pub use whole::{WholeProgram, whole};
pub use worktree::Worktree;

/// Name of the experiment that the functions are methods of.
const EXPERIMENT: &str = "bench";
/// Folder of the carried files that a user's file is compiled with, and those of them that the user's file does not see.
const SOURCES: &str = "workers/c/bench/";
const UNSEEN: [&str; 2] = ["build.h", "library.h"];
/// The header that a user's file includes, and its folder in that of the build.
const HEADER: &str = "pagewise.h";
const HEADER_FOLDER: &str = "include";
/// Time of a comparison, in seconds, where no budget is given: a first table, which says how precise it is.
const BUDGET_S: f64 = 2.5;
/// Part of a shared library's name.
const LIBRARY: &str = ".so";
/// Line of a worker's list that has the path of the library that it loaded.
const LIBRARY_KEY: &str = "library";
/// Line of a worker's list that says that each turn has a process of its own.
const FRESH_KEY: &str = "fresh";
/// End of the name of a script of Python's.
const SCRIPT: &str = ".py";
/// Name of a worker that is kept as a baseline, in the folder of its run.
const KEPT: &str = "worker";
/// Name of the copy of a user's C file.
const COPY: &str = "functions.c";
/// Ends of the names of files whose language has a runtime, and of the archive that is made of a Java file.
const GO: &str = "go";
const JAVA: &str = "java";
const ARCHIVE: &str = ".jar";
/// End of the name of a Zig file.
const ZIG: &str = "zig";
/// End of the name of a Rust file.
const RUST: &str = "rs";
/// Ends of the names of C++ files.
const CPP: [&str; 4] = ["cpp", "cc", "cxx", "C"];
/// A commented file to start from.
pub const START: &str = "workers/c/bench/start.c";

/// A built-in method that the user's functions are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    /// Its experiment, whose methods the functions become.
    pub experiment: &'a Experiment,
    /// The method, whose parameters they take.
    pub method: &'a Method,
    /// Name of the worker that measures it.
    pub worker: &'a str,
}

impl Peer<'_> {
    /// Experiment, keys, group, unit and phase, in the order of workers/c/bench/build.h.
    fn facts(&self) -> [String; 5] {
        let Peer {
            experiment, method, ..
        } = self;
        let keys = method
            .line
            .split("\tkeys=")
            .nth(1)
            .and_then(|rest| rest.split('\t').next())
            .unwrap_or_default();
        let phases = experiment
            .totals
            .iter()
            .find(|total| total.name == experiment.headline());
        let phases = phases.map_or_else(
            || vec![experiment.headline().to_owned()],
            |total| total.phases.clone(),
        );
        let work = phases
            .iter()
            .find(|phase| **phase == experiment.name)
            .unwrap_or(&phases[0]);
        [
            experiment.name.clone(),
            keys.to_owned(),
            method.group.clone(),
            experiment.unit.clone(),
            work.clone(),
        ]
    }

    /// An error if a function has a phase that is none of the experiment's.
    fn accepts(self, worker: &Worker) -> Result<()> {
        let Experiment { name, phases, .. } = self.experiment;
        for method in worker.methods() {
            if let Some(phase) = method.phases.iter().find(|phase| !phases.contains(phase)) {
                bail!(
                    "{}: PHASE({phase:?}) is no phase of {name}, which has {}",
                    method.name,
                    phases.join(", ")
                );
            }
        }
        Ok(())
    }
}

/// Terms on which functions are measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionTerms<'a> {
    /// The built-in method that they are compared with.
    pub peer: Option<Peer<'a>>,
    /// True if each turn has a process of its own.
    pub is_fresh: bool,
    /// Settings that replace the values of parameters (`NAME=VALUE,VALUE`).
    pub settings: &'a [String],
}

/// A worker made of the user's functions.
pub struct Built {
    pub worker: Worker,
    /// The experiment that its functions are methods of, unless they are those of a built-in one.
    pub experiment: Option<Experiment>,
    pub files: BuiltFiles,
    /// True if each turn has a process of its own.
    pub is_fresh: bool,
    /// Its parameters with the kinds of their values; none where they are a built-in method's.
    parameters: Vec<(String, ValueKind)>,
}

impl Built {
    /// Settings (`NAME=VALUE,VALUE`) with the ranges of the file's parameters written out.
    /// Errors: a value is none of its parameter, or a path names nothing.
    pub fn settings(&self, given: &[String]) -> Result<Vec<String>> {
        let mut settings = Vec::new();
        for setting in given {
            let name = setting.split('=').next().unwrap_or_default();
            let kind = self.parameters.iter().find(|(known, _)| known == name);
            settings.push(match (kind, setting.split_once('=')) {
                (Some((_, kind)), Some((_, list))) if list != "all" => {
                    format!(
                        "{name}={}",
                        parameters::values(&format!("--set {name}"), *kind, list)?.join(",")
                    )
                }
                _ => setting.clone(),
            });
        }
        Ok(settings)
    }
}

/// Files of a user's functions: those that the worker executes or loads, and their source.
pub struct BuiltFiles {
    /// Where each is, by the name under which it is kept.
    programs: Vec<(String, PathBuf)>,
    source: Option<(&'static str, Vec<u8>)>,
}

impl BuiltFiles {
    /// SHA-256 of each file, by the name under which it is kept; the plan lists them.
    pub fn digests(&self) -> Result<BTreeMap<String, String>> {
        let mut digests = BTreeMap::new();
        for (name, path) in &self.programs {
            let hash = sha256_hex(&[&files::read_input(path, MOST_BYTES)?]);
            digests.insert(name.clone(), hash);
        }
        let source = self.source.iter();
        digests.extend(source.map(|(name, text)| ((*name).to_owned(), sha256_hex(&[text]))));
        Ok(digests)
    }

    /// Keeps the source in the folder of a run, so that `show` prints what ran.
    /// Errors: there is no room.
    pub fn keep_source(&self, run: &Path) -> Result<()> {
        if let Some((name, text)) = &self.source {
            Folder::open(run)?.write(name, text)?;
        }
        Ok(())
    }

    /// Keeps the compiled functions in the folder of a run, so that later ones can be compared with them.
    /// Errors: there is no room, or a file is not the one that was measured.
    pub fn keep(&self, run: &RunFolder) -> Result<()> {
        let folder = Folder::open(run.path())?;
        for (name, path) in &self.programs {
            folder.write_program(name, &files::read_input(path, MOST_BYTES)?)?;
            run.user_file(name)
                .with_context(|| format!("{} has changed since it was measured", path.display()))?;
        }
        Ok(())
    }
}

/// The name and the text of a user's source file. None: it is no file of a source.
/// Errors: it cannot be read.
pub fn source(file: &Path) -> Result<Option<(String, String)>> {
    if kept_source(file).is_none() && !is_compiled(file) || !file.is_file() {
        return Ok(None);
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(Some((
        name.into_owned(),
        files::read_input_text(file, MOST_BYTES)?,
    )))
}

/// The name and the text of the source that a run keeps. None: it keeps none.
/// Errors: it is not the one that was measured, or was taken away.
pub fn source_of(run: &RunFolder) -> Result<Option<(&'static str, String)>> {
    let listed = run.plan().map(|plan| plan.files).unwrap_or_default();
    let Some(name) = KEPT_SOURCES
        .into_iter()
        .find(|name| run.has(name) || listed.contains_key(*name))
    else {
        return Ok(None);
    };
    ensure!(
        run.has(name),
        "{} is damaged: {name} was taken away",
        run.path().display()
    );
    let text = String::from_utf8(run.user_file(name)?).context("the source is not UTF-8")?;
    Ok(Some((name, text)))
}

/// Name under which a source of this kind is kept.
fn kept_source(path: &Path) -> Option<&'static str> {
    KEPT_SOURCES
        .into_iter()
        .find(|name| Path::new(name).extension() == path.extension())
}

/// Tells whether a run keeps compiled functions.
pub fn is_kept(run: &Path) -> bool {
    let names = ["", SCRIPT, ARCHIVE].map(|end| format!("{KEPT}{end}"));
    Folder::open(run).is_ok_and(|folder| names.iter().any(|name| folder.entry(name).is_ok()))
}

/// The worker that a baseline of this user keeps, under another name.
/// Errors: a file is not the listed one, or the worker cannot be started.
pub fn kept(
    run: &RunFolder,
    name: &str,
    is_fresh: bool,
    scratch: &Folder,
    workers: &[Worker],
) -> Result<Described> {
    let into = scratch.make_folder("kept")?;
    let mut program = into.path().join(name);
    for file in run.plan()?.files.into_keys() {
        if KEPT_SOURCES.contains(&file.as_str()) {
            continue;
        }
        let bytes = run.user_file(&file)?;
        let is_script = [SCRIPT, ARCHIVE]
            .iter()
            .any(|end| file.strip_suffix(end) == Some(KEPT));
        let file = match file.strip_prefix(KEPT) {
            Some(end) if end.is_empty() || is_script => format!("{name}{end}"),
            _ => file,
        };
        into.write_program(&file, &bytes)?;
        if is_script {
            program = into.path().join(file);
        }
    }
    described(name, &program, is_fresh, workers)
}

/// The worker of a run's kept source, made anew under another name.
/// Errors: the run keeps no source, or the source does not compile.
pub fn rebuilt(
    run: &RunFolder,
    name: &str,
    terms: FunctionTerms,
    scratch: &Folder,
    workers: &[Worker],
) -> Result<Described> {
    let (file, text) = source_of(run)?.context("it keeps no source that could be compiled anew")?;
    let into = scratch.make_folder("rebuilt")?;
    if file.ends_with(SCRIPT) {
        let script = format!("{name}{SCRIPT}");
        into.write(&script, text.as_bytes())?;
        return described(name, &into.path().join(script), terms.is_fresh, workers);
    }
    let source = into.path().join(file);
    if file.ends_with(GO) {
        let program = runtimes::go(&text, &source, name, terms.is_fresh, &into)?;
        return described(name, &program, false, workers);
    }
    if file.ends_with(JAVA) {
        let archive = runtimes::java(&text, &source, name, terms.is_fresh, &into, workers)?;
        return described(name, &archive, false, workers);
    }
    into.write(file, text.as_bytes())?;
    furnish(&into)?;
    if file.ends_with(ZIG) {
        let (library, functions) = zig::library(&text, &source, &into)?;
        let calls = calls(&library, &functions, &into)?;
        compile::compile(&calls, &library, true, terms, &into)?;
    } else {
        compile::compile(&source, &source, false, terms, &into)?;
    }
    into.rename(WORKER, name)?;
    described(name, &into.path().join(name), terms.is_fresh, workers)
}

/// The worker of another revision of a file, under another name.
/// Errors: as [`build`].
pub fn of_revision(
    file: &Path,
    name: &str,
    terms: FunctionTerms,
    scratch: &Folder,
    workers: &[Worker],
) -> Result<Described> {
    ensure!(
        !file.to_string_lossy().contains(LIBRARY),
        "--base compiles a source, and {} is a library",
        file.display()
    );
    let into = scratch.make_folder("revision")?;
    let built = build(&file.to_string_lossy(), terms, &into, workers)?;
    let (kept, program) = &built.files.programs[0];
    if kept.ends_with(SCRIPT) {
        return described(name, program, terms.is_fresh, workers);
    }
    let renamed = kept.replacen(KEPT, name, 1);
    into.rename(program.file_name().unwrap_or_default(), &renamed)?;
    described(name, &into.path().join(renamed), terms.is_fresh, workers)
}

/// A worker that was made of the user's functions, with what it says of itself.
pub struct Described {
    pub worker: Worker,
    list: String,
}

impl Described {
    /// True if each turn has a process of its own.
    pub fn is_fresh(&self) -> bool {
        about(&self.list, FRESH_KEY).is_some()
    }
}

/// A worker of this name, made of a program, an archive of Java's or a script of Python's. A script takes an option where each
/// turn has a process of its own.
fn described(name: &str, program: &Path, is_fresh: bool, workers: &[Worker]) -> Result<Described> {
    let mut started = Started::new(Vec::new(), String::new());
    if program
        .extension()
        .is_some_and(|extension| extension == "py")
    {
        let python = workers
            .iter()
            .find(|worker| worker.language() == Some(Language::Python))
            .map(Worker::start);
        started = python
            .context("there is no Python")?
            .map_err(|reason| anyhow!("{reason}"))?
            .clone();
    }
    if program.extension().is_some_and(|end| end == "jar") {
        let java = runtimes::jdk(workers)?.program();
        let options = ["-XX:-UsePerfData", "-jar"].map(OsString::from);
        started.command.push(java.into());
        started.command.extend(options);
    }
    started.command.push(program.into());
    if is_fresh && program.extension().is_some_and(|end| end == "py") {
        started.command.push("--fresh".into());
    }
    let list = listed(&started.command)?;
    let library = about(&list, LIBRARY_KEY).map(PathBuf::from);
    let files = [program.to_owned()].into_iter().chain(library);
    let started = started.with_files(&files.collect::<Vec<_>>())?;
    let worker = Worker::with(
        name,
        MethodList::parse(name, list.clone())?,
        Maker::External {
            path: program.to_owned(),
            language: None,
        },
    );
    let _ = worker.ready.set(Ok(started));
    Ok(Described { worker, list })
}

/// Writes the carried files that a C or C++ file is compiled with. Only the header can be included by it.
fn furnish(folder: &Folder) -> Result<()> {
    for name in UNSEEN {
        folder.write(name, text_of(name).as_bytes())?;
    }
    let headers = folder.make_folder(HEADER_FOLDER)?;
    headers.write(HEADER, text_of(HEADER).as_bytes())?;
    Ok(folder.write("functions.o", &carried::FUNCTIONS.content())?)
}

/// Text of a carried file that a user's file is compiled with.
fn text_of(name: &str) -> &'static str {
    carried::source(&format!("{SOURCES}{name}")).unwrap_or_default()
}

/// Makes a worker of `what` below `folder`: a C or C++ file, `LIBRARY:FUNCTION,FUNCTION`, a script of Python's with `@pagewise.bench`,
/// or a program that speaks the workers' protocol.
/// Errors: there is no C compiler, the file does not compile, or it has no function to measure.
pub fn build(
    what: &str,
    terms: FunctionTerms,
    folder: &Folder,
    workers: &[Worker],
) -> Result<Built> {
    let (path, functions) = match what.rsplit_once(':') {
        Some((library, functions)) if library.contains(LIBRARY) => {
            (Path::new(library), Some(functions))
        }
        _ => (Path::new(what), None),
    };
    check_fresh(terms, terms.is_fresh)?;
    let given = GivenSource {
        path,
        bytes: files::read_input(path, MOST_BYTES)?,
    };
    let text = || String::from_utf8(given.bytes.clone()).context("the source is not UTF-8");
    if path.extension().is_some_and(|end| end == ZIG) {
        let (library, functions) = zig::library(&text()?, path, folder)?;
        let library = Some((library.as_path(), functions.as_str()));
        return build_c(&given, library, terms, folder, workers);
    }
    if functions.is_some() || is_compiled(path) {
        let library = functions.map(|functions| (path, functions));
        return build_c(&given, library, terms, folder, workers);
    }
    ensure!(
        terms.peer.is_none(),
        "{what} is no C, C++ or Rust file and no library: only their functions are compared with built-in methods"
    );
    ensure!(
        !terms.is_fresh || may_hold(path),
        "{what} is a program, which starts its own processes: --fresh is for functions of a file"
    );
    let absolute = std::path::absolute(path)?;
    let (kept, program) = if what.ends_with(SCRIPT) {
        (format!("{KEPT}{SCRIPT}"), absolute)
    } else if path.extension().is_some_and(|end| end == GO) {
        (
            KEPT.to_owned(),
            runtimes::go(&text()?, &absolute, WORKER, terms.is_fresh, folder)?,
        )
    } else if path.extension().is_some_and(|end| end == JAVA) {
        (
            format!("{KEPT}{ARCHIVE}"),
            runtimes::java(&text()?, &absolute, WORKER, terms.is_fresh, folder, workers)?,
        )
    } else {
        (
            KEPT.to_owned(),
            copies::program(&given.bytes, what, folder)?,
        )
    };
    let described = described(WORKER, &program, terms.is_fresh, workers)?;
    built(&given, described, terms, vec![(kept, program)])
}

/// An error if functions with a process a turn are compared with a built-in method, which repeats in one process.
fn check_fresh(terms: FunctionTerms, is_fresh: bool) -> Result<()> {
    ensure!(
        !is_fresh || terms.peer.is_none(),
        "a built-in method repeats in one process, so functions with a process a turn (--fresh, FRESH) cannot be compared with \
         it: leave out one of --with and --fresh"
    );
    Ok(())
}

/// True for a file that by its name may hold functions to measure: a source, or a shared library.
pub fn may_hold(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let end = path.extension().unwrap_or_default();
    let is_other = end == GO || end == JAVA || end == ZIG;
    is_compiled(path) || is_other || name.ends_with(SCRIPT) || name.ends_with(LIBRARY)
}

/// True for a C, C++ or Rust file.
fn is_compiled(path: &Path) -> bool {
    let end = path.extension().unwrap_or_default();
    end == "c" || end == RUST || CPP.iter().any(|known| end == *known)
}

/// The file that a user gave, as it was read.
struct GivenSource<'a> {
    path: &'a Path,
    bytes: Vec<u8>,
}

/// Calls of functions of a shared library, as a C source in this folder.
/// Errors: it is no library, lacks a function, or another user can put libraries beside it.
fn calls(library: &Path, functions: &str, folder: &Folder) -> Result<PathBuf> {
    let text = library::source(functions)?;
    library::check(&files::read_input(library, MOST_BYTES)?, library, functions)?;
    library::check_beside(library)?;
    folder.write(COPY, text.as_bytes())?;
    Ok(folder.path().join(COPY))
}

/// Makes a worker of a C file, or of functions of a shared library: the given file, or one that was made of it.
fn build_c(
    given: &GivenSource,
    library: Option<(&Path, &str)>,
    terms: FunctionTerms,
    folder: &Folder,
    workers: &[Worker],
) -> Result<Built> {
    let absolute = std::path::absolute(library.map_or(given.path, |(path, _)| path))?;
    furnish(folder)?;
    let source = if let Some((_, functions)) = library {
        calls(&absolute, functions, folder)?
    } else {
        parameters::check_paths(
            given.path,
            &String::from_utf8_lossy(&given.bytes),
            terms.settings,
        )?;
        if absolute.extension().is_some_and(|end| end == RUST) {
            rust::source(&given.bytes, &absolute, folder)?
        } else {
            copies::source(&given.bytes, &absolute, folder)?
        }
    };
    compile::compile(&source, &absolute, library.is_some(), terms, folder)?;
    ensure!(
        files::read_input(given.path, MOST_BYTES)? == given.bytes,
        "{} changed while it was compiled",
        given.path.display()
    );
    let program = folder.path().join(WORKER);
    let described = described(WORKER, &program, terms.is_fresh, workers)?;
    let mut programs = vec![(KEPT.to_owned(), program)];
    // The loader's name of a library need not be its file's.
    programs.extend(about(&described.list, LIBRARY_KEY).map(named_by_loader));
    built(given, described, terms, programs)
}

/// A loaded library with the name by which the loader finds a kept one.
fn named_by_loader(path: &str) -> (String, PathBuf) {
    let name = path.rsplit('/').next().unwrap_or(path);
    (name.to_owned(), PathBuf::from(path))
}

fn built(
    given: &GivenSource,
    described: Described,
    terms: FunctionTerms,
    programs: Vec<(String, PathBuf)>,
) -> Result<Built> {
    let file = given.path.file_name().unwrap_or_default().to_string_lossy();
    check_fresh(terms, described.is_fresh())?;
    if about(&described.list, "baseline").is_none() {
        bail!(
            "{}",
            users::to_write(&file, &String::from_utf8_lossy(&given.bytes))
        );
    }
    let experiment = if terms.peer.is_none() {
        Some(experiment(&file, &described.list, terms.settings)?)
    } else {
        None
    };
    terms
        .peer
        .map_or(Ok(()), |peer| peer.accepts(&described.worker))?;
    let source = kept_source(given.path).map(|name| (name, given.bytes.clone()));
    let parameters = if experiment.is_some() {
        listed_parameters(&described.list)
            .map(|[name, kind, _]| Ok((name.to_owned(), ValueKind::parse(kind)?)))
            .collect::<Result<_>>()?
    } else {
        Vec::new()
    };
    Ok(Built {
        is_fresh: described.is_fresh(),
        parameters,
        worker: described.worker,
        experiment,
        files: BuiltFiles { programs, source },
    })
}

/// Description of the functions, by the program that was just made of them, with the environment of its launches.
fn listed(command: &[OsString]) -> Result<String> {
    let mut list = super::with_this_process(&command[0], &programs::users_folders())?;
    for name in super::foreign().into_keys() {
        list.env_remove(name);
    }
    let output = programs::answer(list.args(&command[1..]).arg("--list"), Stdio::null())
        .context("its functions cannot be listed")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!(
            "its functions cannot be listed: {} ({})",
            message.trim(),
            output.status
        );
    }
    String::from_utf8(output.stdout)
        .context("the names of the file's functions and phases are not UTF-8")
}

/// A value as TOML writes it: strings and arrays of JSON are TOML too, whatever characters a file's name has.
fn quoted(value: impl Serialize) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}

/// Value that a worker's list gives under this key.
fn about<'a>(list: &'a str, key: &str) -> Option<&'a str> {
    list.lines().find_map(|line| {
        line.strip_prefix("about\t")?
            .strip_prefix(key)?
            .strip_prefix('\t')
    })
}

/// Name, kind and values of each parameter of a worker's list.
fn listed_parameters(list: &str) -> impl Iterator<Item = [&str; 3]> {
    let lines = list
        .lines()
        .filter_map(|line| line.strip_prefix("about\tparameter\t"));
    lines.filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

/// The experiment that the user's file describes: its phases, parameters, baseline, and whether the results are compared.
fn experiment(file: &str, list: &str, settings: &[String]) -> Result<Experiment> {
    let baseline = about(list, "baseline").context("there is no function")?;
    if baseline.contains(',') {
        bail!("{file} has several baselines: {baseline}");
    }
    // The empty body has every phase, in the order of the file.
    let empty = list
        .lines()
        .find(|line| line.contains("\trole=null\t"))
        .unwrap_or_default();
    let phases = empty
        .split("\tphases=")
        .nth(1)
        .and_then(|rest| rest.split('\t').next())
        .unwrap_or_default();
    let names: Vec<&str> = phases.split(' ').collect();
    let content = if about(list, "results") == Some("yes") {
        "agree"
    } else {
        "none"
    };
    let fresh = match about(list, FRESH_KEY) {
        Some(_) => ", each turn in a process of its own",
        None => "",
    };
    let mut text = format!(
        "name = {}\ntitle = {}\nquestion = {}\nunit = {}\nphases = {}\nbaseline = {}\ncontent = {}\nworkers = [{}]\n\
         look = false\nbudget_s = {BUDGET_S:?}\nwarmup_rounds_compiled = 2\n",
        quoted(EXPERIMENT),
        quoted(format!("the functions of {file}{fresh}")),
        quoted(format!("Which function of {file} is faster?")),
        quoted(about(list, "unit").unwrap_or("operation")),
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
    for [name, kind, values] in listed_parameters(list) {
        let kind = ValueKind::parse(kind)?;
        let values = if parameters::is_set(settings, name) {
            values
                .split(',')
                .map(|value| value.trim().to_owned())
                .collect()
        } else {
            parameters::values(&parameters::place(file, name), kind, values)?
        };
        let meaning = quoted(format!("PARAM({name}) of {file}"));
        write!(
            text,
            "[parameters.{name}]\nkind = {}\nmeaning = {meaning}\n",
            quoted(kind.of_parameter())
        )?;
        write!(text, "values = {0}\ndefault = {0}\n", quoted(&values))?;
    }
    Experiment::parse(file, &text)
}
