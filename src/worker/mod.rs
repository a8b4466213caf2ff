//! Workers: the programs that do measured work. Each family finds, builds and starts its own; the rest knows only this type.

use anyhow::{Context, Result, bail, ensure};
use files::{File, Temporary};
use record::folder::sha256_hex;
use record::method::{Heading, Method};
use record::{outcome::Cause, sizes};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::{borrow::Cow, collections::BTreeMap, ffi::OsString, io::IsTerminal};

mod cache;
pub mod carried;
mod compiled;
pub mod functions;
mod java;
mod language;
mod native;
pub mod programs;
mod python;

pub use cache::{cache_folder, private_cache, sweep};
pub use language::Language;
pub use native::{advising_library, counting_library, helper, helper_command};

/// Name of the optimised native worker.
pub const NATIVE: &str = "c-O3";

/// Longest program, script or library of a user, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// One worker, ready or known to be missing.
#[derive(Debug)]
pub struct Worker {
    /// `c-O3`, `go`, `java-25`, `python-3.11`.
    pub name: String,
    list: MethodList,
    maker: Maker,
    ready: OnceLock<Result<Started, String>>,
}

#[derive(Clone, Debug)]
enum Maker {
    Native(&'static carried::PackedFile),
    Compiled(&'static compiled::Toolchain),
    Java(Option<java::Jdk>),
    Python(Option<python::Python>),
    /// The language is `None` for functions of the user's.
    External {
        path: PathBuf,
        language: Option<Language>,
    },
}

/// A worker that can be started.
#[derive(Clone, Debug)]
pub struct Started {
    pub command: Vec<OsString>,
    /// SHA-256 of the executed program, or of the digests of the executed files and the runtime's version; hexadecimal.
    pub hash: String,
    /// True if its command takes a heap's size.
    pub heap_options: bool,
    /// Present where there is no private cache: removed with the worker.
    _temporary: Option<Arc<Temporary>>,
    /// Program that is executed by its descriptor.
    _program: Option<Arc<File>>,
    /// Files that it executes or loads from where their user keeps them.
    files: Vec<UserFile>,
}

/// A file of the user's that a worker executes or loads by its path.
#[derive(Clone, Debug)]
struct UserFile {
    path: PathBuf,
    /// SHA-256, in hex.
    hash: String,
}

impl UserFile {
    /// The file as it is now.
    fn read(path: &Path) -> Result<UserFile> {
        Ok(UserFile {
            path: path.to_owned(),
            hash: sha256_hex(&[&files::read_input(path, MOST_BYTES)?]),
        })
    }
}

impl Started {
    fn new(command: Vec<OsString>, hash: String) -> Started {
        Started {
            command,
            hash,
            heap_options: false,
            _temporary: None,
            _program: None,
            files: Vec::new(),
        }
    }

    /// The same with these files, whose digests become a part of its hash.
    fn with_files(self, paths: &[PathBuf]) -> Result<Started> {
        let files: Vec<UserFile> = paths
            .iter()
            .map(|path| UserFile::read(path))
            .collect::<Result<_>>()?;
        let hashes = files.iter().map(|file| file.hash.as_bytes());
        let parts: Vec<&[u8]> = [self.hash.as_bytes()].into_iter().chain(hashes).collect();
        Ok(Started {
            hash: sha256_hex(&parts),
            files,
            ..self
        })
    }

    /// Checks before a launch that its files are those of its hash.
    /// Errors: a sentence that names the file that has changed.
    pub fn check_files(&self) -> Result<()> {
        for file in &self.files {
            ensure!(
                UserFile::read(&file.path)?.hash == file.hash,
                "{} has changed since this run began; a run measures one program: make a new one",
                file.path.display()
            );
        }
        Ok(())
    }

    fn built(command: Vec<OsString>, build: cache::Build) -> Started {
        Started {
            _temporary: build.temporary,
            ..Started::new(command, build.hash)
        }
    }

    /// The command with a heap of this size, all of it touched before anything is measured, where it takes one.
    pub fn command_with_heap(&self, heap_bytes: Option<u64>) -> Vec<OsString> {
        let mut command = self.command.clone();
        if let Some(bytes) = heap_bytes.filter(|_| self.heap_options) {
            let options = [
                format!("-Xms{bytes}"),
                format!("-Xmx{bytes}"),
                "-XX:+AlwaysPreTouch".to_owned(),
            ];
            command.splice(1..1, options.map(OsString::from));
        }
        command
    }
}

impl Worker {
    fn carried(name: &str, list: &'static str, maker: Maker) -> Worker {
        Worker::with(name, MethodList::carried(list), maker)
    }

    fn with(name: &str, list: MethodList, maker: Maker) -> Worker {
        Worker {
            name: name.to_owned(),
            list,
            maker,
            ready: OnceLock::new(),
        }
    }

    /// A worker given by its path, such as one that is being written.
    pub fn external(path: PathBuf) -> Result<Worker> {
        // A path of the user's is no name that PATH is searched for.
        let path = std::path::absolute(path)?;
        let mut command = std::process::Command::new(&path);
        let output = programs::answer(command.arg("--list"), Stdio::null());
        let output =
            output.with_context(|| format!("cannot start the worker {}", path.display()))?;
        let list = String::from_utf8_lossy(&output.stdout).into_owned();
        let Some(name) = list
            .lines()
            .next()
            .and_then(|l| l.strip_prefix("pagewise\t1\t"))
        else {
            bail!(
                "{} --list does not begin with \"pagewise<TAB>1<TAB>NAME\"",
                path.display()
            );
        };
        Ok(Worker::with(
            name,
            MethodList::parse(name, list.clone())?,
            Maker::External {
                language: Language::of_worker(name),
                path,
            },
        ))
    }

    /// Starts it as [`Worker::start`] does; what takes seconds is said before, to a person at a terminal.
    pub fn start_and_say(&self) -> Result<&Started, &str> {
        if std::io::stderr().is_terminal()
            && let Some(sentence) = self.building()
        {
            remark!("{sentence}");
        }
        self.start()
    }

    /// Starts it, building it first where that is needed; the reason where it cannot be had.
    pub fn start(&self) -> Result<&Started, &str> {
        let ready = self.ready.get_or_init(|| {
            let made = match &self.maker {
                Maker::Native(packed) => native::place(&self.name, packed),
                Maker::Compiled(toolchain) => toolchain.build(),
                Maker::Java(jdk) => java::build(jdk.as_ref()),
                Maker::Python(python) => python::start(python.as_ref()),
                Maker::External { path, .. } => Started::new(vec![path.into()], String::new())
                    .with_files(std::slice::from_ref(path)),
            };
            made.map_err(|error| format!("{error:#}"))
        });
        ready.as_ref().map_err(String::as_str)
    }

    /// A sentence that it is being built, where it has to be before it can be started: that takes seconds.
    pub fn building(&self) -> Option<String> {
        if self.ready.get().is_some() {
            return None;
        }
        match &self.maker {
            Maker::Compiled(toolchain) => toolchain.building(),
            Maker::Java(Some(jdk)) => java::building(jdk),
            _ => None,
        }
    }

    pub fn is_external(&self) -> bool {
        matches!(self.maker, Maker::External { .. })
    }

    /// Tells whether it can be started at once, must be built first, or cannot be had: in words.
    pub fn standing(&self) -> String {
        match &self.maker {
            Maker::Native(_) => CARRIED.to_owned(),
            Maker::External { path, .. } => format!("given as {}", path.display()),
            Maker::Compiled(toolchain) => toolchain.standing(),
            Maker::Java(jdk) => java::standing(jdk.as_ref()),
            Maker::Python(python) => python::standing(python.as_ref()),
        }
    }

    /// The language of its methods; `None` for functions of the user's.
    pub fn language(&self) -> Option<Language> {
        match &self.maker {
            Maker::Native(_) => Some(Language::C),
            Maker::Compiled(toolchain) => Some(toolchain.language),
            Maker::Java(_) => Some(Language::Java),
            Maker::Python(_) => Some(Language::Python),
            Maker::External { language, .. } => *language,
        }
    }

    /// The JDK of a Java worker.
    fn jdk(&self) -> Option<&java::Jdk> {
        match &self.maker {
            Maker::Java(jdk) => jdk.as_ref(),
            _ => None,
        }
    }

    /// Version of its runtime, by which the newest is chosen; empty where its language has no several.
    pub fn version(&self) -> Vec<u32> {
        match &self.maker {
            Maker::Java(Some(jdk)) => jdk.version(),
            Maker::Python(Some(python)) => python.version(),
            _ => Vec::new(),
        }
    }

    /// The Debian package with its language, where that is missing.
    pub fn package(&self) -> Option<&'static str> {
        match &self.maker {
            Maker::Java(None) => Some("default-jdk"),
            Maker::Python(None) => Some("python3"),
            _ => None,
        }
    }

    /// The cause where it cannot be started for a reason.
    pub fn absence(&self, error: &str) -> Cause {
        Cause::NoWorker {
            error: error.to_owned(),
            package: self.package().map(str::to_owned),
        }
    }

    pub fn compiles(&self) -> bool {
        match &self.maker {
            Maker::Java(_) => true,
            // The user's own archive.
            Maker::External { path, .. } => path.extension().is_some_and(|end| end == "jar"),
            _ => false,
        }
    }

    /// The cause where its toolchain is too old for a need.
    pub fn lacks(&self, needs: &str) -> Option<Cause> {
        match &self.maker {
            Maker::Java(Some(jdk)) => jdk.lacks(needs),
            _ => None,
        }
    }

    pub fn methods(&self) -> &[Method] {
        self.list.methods()
    }

    pub fn headings(&self) -> Result<Vec<Heading<'_>>> {
        method_lines(&self.list.text).map(Heading::parse).collect()
    }

    /// True if it describes itself as another one does.
    pub fn has_methods_of(&self, other: &Worker) -> bool {
        self.list.text == other.list.text
    }

    /// Tells whether it proves only in the rounds that a request names.
    pub fn proves_by_round(&self) -> bool {
        self.list
            .text
            .lines()
            .any(|line| line == "about\tproofs\tby-round")
    }

    pub fn method(&self, experiment: &str, name: &str) -> Option<&Method> {
        self.methods()
            .iter()
            .find(|m| m.experiment == experiment && m.name == name)
    }
}

/// Self-description of a worker. The methods of a list that the binary carries are read when they are first asked for.
#[derive(Clone, Debug)]
struct MethodList {
    text: Cow<'static, str>,
    methods: Arc<OnceLock<Vec<Method>>>,
}

impl MethodList {
    /// One that the binary carries, which the tests read whole.
    fn carried(text: &'static str) -> MethodList {
        MethodList {
            text: text.into(),
            methods: Arc::default(),
        }
    }

    /// One that a worker has just told, read at once.
    fn parse(worker: &str, text: String) -> Result<MethodList> {
        let read: Result<Vec<Method>> = method_lines(&text).map(Method::parse).collect();
        let read = read.with_context(|| format!("worker {worker} describes itself wrongly"))?;
        Ok(MethodList {
            text: text.into(),
            methods: Arc::new(read.into()),
        })
    }

    fn methods(&self) -> &[Method] {
        const SOUND: &str = "the carried lists are read whole by a test";
        self.methods.get_or_init(|| {
            method_lines(&self.text)
                .map(|line| Method::parse_known(line).expect(SOUND))
                .collect()
        })
    }
}

fn method_lines(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| line.starts_with("method\t"))
}

/// Name of the optimised native worker, which experiments take unless another is named.
pub fn usual() -> &'static str {
    let (name, _) = carried::NATIVE_WORKERS
        .last()
        .expect("at least one native worker is carried");
    name
}

/// The optimised native worker, without asking any worker what it can do.
pub fn optimised() -> Result<Started> {
    let (name, packed) = carried::NATIVE_WORKERS
        .last()
        .expect("at least one native worker is carried");
    native::place(name, packed)
}

/// The language of the worker of this name; `None` for one that is not here, and for functions of the user's.
pub fn language_of(workers: &[Worker], name: &str) -> Option<Language> {
    workers.iter().find(|w| w.name == name)?.language()
}

/// Every worker that this binary carries; `jdks` and `pythons` are installations that the user named.
pub fn all(jdks: &[PathBuf], pythons: &[PathBuf]) -> Result<Vec<Worker>> {
    let mut workers = native::workers()?;
    workers.extend(compiled::workers());
    workers.extend(java::workers(jdks)?);
    workers.extend(python::workers(pythons)?);
    Ok(workers)
}

/// An installation of a language's runtime.
trait Installation {
    /// Option of the command line that names one.
    const OPTION: &'static str;

    /// Numbers of the version by which installations are told apart and ordered.
    fn version(&self) -> Vec<u32>;

    /// Its folder or program.
    fn place(&self) -> &Path;
}

/// Installations of one language by their versions: those that an option names, and the usual ones with another version.
fn installations<T: Installation>(
    named: &[PathBuf],
    usual: impl IntoIterator<Item = PathBuf>,
    open: impl Fn(&Path) -> Result<T>,
) -> Result<Vec<T>> {
    let mut installations: BTreeMap<Vec<u32>, T> = BTreeMap::new();
    for path in named {
        let new = open(path)?;
        let place = new.place().to_owned();
        let version = new.version();
        let first = installations.entry(version.clone()).or_insert(new);
        if first.place() != place {
            let numbers: Vec<String> = version.iter().map(u32::to_string).collect();
            bail!(
                "{}: {} and {} are both version {}",
                T::OPTION,
                first.place().display(),
                place.display(),
                numbers.join(".")
            );
        }
    }
    for new in usual.into_iter().filter_map(|path| open(&path).ok()) {
        installations.entry(new.version()).or_insert(new);
    }
    Ok(installations.into_values().collect())
}

/// The worker of that name, or an error that names the nearest one.
pub fn find<'a>(workers: &'a [Worker], name: &str) -> Result<&'a Worker> {
    workers.iter().find(|w| w.name == name).with_context(|| {
        let hint = sizes::did_you_mean(name, workers.iter().map(|w| w.name.as_str()));
        let names: Vec<_> = workers.iter().map(|w| w.name.as_str()).collect();
        format!(
            "there is no worker \"{name}\"{hint} (there are {})",
            names.join(", ")
        )
    })
}

const CARRIED: &str = "carried in this program";
const NOT_BUILT: &str = "not built yet; the first run that takes it builds it, outside its budget";

/// The sentence of [`Worker::building`].
fn building(language: &str, compiler: &str) -> String {
    format!(
        "building the {language} worker with {compiler}; this does not count against the budget"
    )
}

/// A command that ends with this process, with further options of the helper's `exec`.
fn with_this_process(
    program: impl AsRef<std::ffi::OsStr>,
    options: &[OsString],
) -> Result<std::process::Command> {
    let mut command = helper_command()?;
    command
        .arg("exec")
        .arg("--parent")
        .arg(std::process::id().to_string())
        .args(options)
        .arg("--")
        .arg(program);
    Ok(command)
}

/// Home folder of this user: `$HOME`, otherwise that of the user database, otherwise a folder that only root could make.
pub fn home() -> PathBuf {
    std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"))
}

/// Checks that files of this user have one place, wherever a command is typed.
/// Errors: HOME is a relative path.
pub fn check_home() -> Result<()> {
    match std::env::var_os("HOME").map(PathBuf::from) {
        Some(home) if home.is_relative() && !home.as_os_str().is_empty() => {
            bail!("HOME is not an absolute path: {}", home.display())
        }
        _ => Ok(()),
    }
}

/// The version of glibc that the native workers are run with; `None` where it is another C library.
pub fn glibc() -> Result<Option<String>> {
    let output = std::process::Command::new(&optimised()?.command[0])
        .arg("--list")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text
        .lines()
        .find_map(|line| line.strip_prefix("about\tlibc\tglibc "))
        .map(str::to_owned))
}

/// Options of the helper's `exec` for the process of a method: its library and its settings of the C library.
pub fn process_options(method: &Method) -> Result<Vec<OsString>> {
    let mut options = Vec::new();
    if let Some((library, _)) = &method.preload
        && let Some(path) = find_library(library)?
    {
        options.extend([OsString::from("--preload"), path.into()]);
    }
    if let Some(tunables) = &method.tunables {
        options.extend([
            OsString::from("--set"),
            format!("GLIBC_TUNABLES={tunables}").into(),
        ]);
    }
    Ok(options)
}

/// The path by which the loader finds a shared library, if it does and nobody but this user and root can change it.
pub fn find_library(name: &str) -> Result<Option<String>> {
    use std::sync::Mutex;
    static KNOWN: Mutex<Vec<(String, Option<String>)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().expect("nobody panics while holding it");
    if let Some((_, path)) = known.iter().find(|(n, _)| n == name) {
        return Ok(path.clone());
    }
    let mut command = helper_command()?;
    let output = programs::answer(command.args(["find-library", name]), Stdio::null())?;
    let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let is_sound = output.status.success() && files::trusted_file(Path::new(&path)).is_ok();
    let path = is_sound.then_some(path);
    known.push((name.to_owned(), path.clone()));
    Ok(path)
}

// Variables of the user that would change what a worker allocates, loads or compiles. They are cleared for workers: a figure
// should be one of the machine, not of a shell.

/// Names, and starts of names where a `*` follows, with whom they speak to: the loader, glibc and other allocators, threads of
/// a C program, Go's runtime, virtual machines of Java, Python.
const FOREIGN: [&str; 23] = [
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_BIND_NOW",
    "LD_BIND_NOT",
    "LD_DYNAMIC_WEAK",
    "LD_HWCAP_MASK",
    "GLIBC_TUNABLES",
    "MALLOC_*",
    "MIMALLOC_*",
    "TCMALLOC_*",
    "SCUDO_OPTIONS",
    "OMP_*",
    "GOMP_*",
    "GODEBUG",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "GOTRACEBACK",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "CLASSPATH",
    "PYTHON*",
];

/// Tells whether a name is the pattern's, which may end with a star.
pub(crate) fn fits(name: &str, pattern: &str) -> bool {
    pattern
        .strip_suffix('*')
        .map_or(name == pattern, |start| name.starts_with(start))
}

/// Those that are set here, with their values.
pub fn foreign() -> BTreeMap<String, String> {
    among(std::env::vars_os())
}

fn among(variables: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<String, String> {
    let lossy = |text: OsString| text.to_string_lossy().into_owned();
    variables
        .map(|(name, value)| (lossy(name), lossy(value)))
        .filter(|(name, _)| FOREIGN.iter().any(|known| fits(name, known)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_change_a_worker_is_told_from_the_rest() {
        let all = [
            "LD_PRELOAD",
            "MALLOC_ARENA_MAX",
            "GODEBUG",
            "PATH",
            "HOME",
            "GOPATH",
            "LD_LIBRARY_PATH",
            "JAVA_HOME",
        ];
        let found = among(all.iter().map(|name| ((*name).into(), "x".into())));
        assert_eq!(
            found.into_keys().collect::<Vec<_>>(),
            ["GODEBUG", "LD_PRELOAD", "MALLOC_ARENA_MAX"]
        );
    }
}
