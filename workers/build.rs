//! Builds the native worker twice (`-O0` and `-O3`) and the helper program once, and gathers what the binary carries of
//! the workers. A new method is a new file; nothing here names one. Files are compiled side by side, all levels at
//! once, and only those that changed.

use flate2::{Compression, write::DeflateEncoder};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::SystemTime;
use std::{env, fs, thread};

/// Flags of the worker's own files and of the methods alike. Loops must stay the loops that the source shows: gcc would
/// otherwise turn plain byte loops into calls of memset and memcpy. A phase is a loop that runs once, which gcc cannot see
/// from outside, so it would call everything that is set in one "maybe uninitialized".
const FLAGS: [&str; 5] = [
    "-std=gnu11",
    "-pthread",
    "-fno-tree-loop-distribute-patterns",
    "-fno-tree-loop-distribution",
    "-Wno-maybe-uninitialized",
];
/// The methods' levels of optimisation; everything else is `-O2`.
const LEVELS: [u32; 2] = [0, 3];

/// One file to compile.
struct Job {
    source: PathBuf,
    object: PathBuf,
    /// Program and arguments, without the files' names.
    command: Vec<std::ffi::OsString>,
}

fn files_below(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        // pip leaves copies beside the sources of the decorator.
        if path.ends_with("python/build") {
            continue;
        }
        if path.is_dir() {
            found.extend(files_below(
                path.to_str().expect("a path in UTF-8"),
                extensions,
            ));
        } else if path
            .extension()
            .is_some_and(|e| extensions.iter().any(|x| e == *x))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The compiler with all flags of one level, as the environment (`CC`, `CFLAGS`) wants it.
fn compiler(level: u32) -> cc::Tool {
    let mut build = cc::Build::new();
    build
        .opt_level(level)
        .debug(false)
        .warnings(true)
        .extra_warnings(true);
    build
        .include("c/harness")
        .include("c")
        .define("_GNU_SOURCE", None);
    // A source is named by its path in the repository, wherever this package lies.
    FLAGS
        .iter()
        .chain(&[
            "-fmacro-prefix-map=c/=workers/c/",
            "-fmacro-prefix-map=rust/=workers/rust/",
        ])
        .for_each(|flag| {
            build.flag(flag);
        });
    build.get_compiler()
}

fn first_line(program: &cc::Tool) -> String {
    let version = program
        .to_command()
        .arg("--version")
        .output()
        .expect("the C compiler's version");
    String::from_utf8_lossy(&version.stdout)
        .lines()
        .next()
        .unwrap_or("unknown")
        .replace('"', "'")
}

/// Objects of these files in a folder of their own, which is emptied when anything but the files has changed.
fn jobs(
    sources: &[PathBuf],
    tool: &cc::Tool,
    defines: &[String],
    version: &str,
    folder: &Path,
) -> Vec<Job> {
    let mut command: Vec<_> = vec![tool.path().into()];
    command.extend(tool.args().iter().cloned());
    command.extend(defines.iter().map(Into::into));
    let stamp = format!("{version}\n{command:?}\n");
    if fs::read_to_string(folder.join("stamp")).ok().as_deref() != Some(&stamp) {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).expect("a folder for objects");
        fs::write(folder.join("stamp"), stamp).expect("the objects' stamp");
    }
    let job = |source: &PathBuf| {
        let name = source.to_str().expect("UTF-8").replace('/', "-");
        Job {
            source: source.clone(),
            object: folder.join(name).with_extension("o"),
            command: command.clone(),
        }
    };
    sources.iter().map(job).collect()
}

fn changed_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// True if the object is newer than everything that went into it, by the compiler's own list.
fn is_current(job: &Job) -> bool {
    let Some(made) = changed_at(&job.object) else {
        return false;
    };
    let Ok(list) = fs::read_to_string(job.object.with_extension("d")) else {
        return false;
    };
    let inputs = list
        .split_once(':')
        .map_or("", |(_, inputs)| inputs)
        .replace("\\\n", " ");
    let mut inputs = inputs.split_whitespace().peekable();
    inputs.peek().is_some()
        && inputs.all(|input| changed_at(Path::new(input)).is_some_and(|at| at < made))
}

/// Compiles one file and returns what the compiler said.
fn compile(job: &Job) -> Result<String, String> {
    let mut command = Command::new(&job.command[0]);
    command
        .args(&job.command[1..])
        .arg("-MMD")
        .arg("-c")
        .arg(&job.source)
        .arg("-o")
        .arg(&job.object);
    let _ = fs::remove_file(&job.object);
    let output = command
        .output()
        .map_err(|error| format!("{command:?} cannot be started: {error}"))?;
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok(words)
    } else {
        Err(words)
    }
}

/// Compiles what is not current, as many files at a time as cargo grants jobs.
fn compile_all<'a>(jobs: impl Iterator<Item = &'a Job>) {
    let stale: Mutex<VecDeque<_>> = Mutex::new(jobs.filter(|job| !is_current(job)).collect());
    let next = || {
        stale
            .lock()
            .expect("nobody panics while holding it")
            .pop_front()
    };
    let at_once = env::var("NUM_JOBS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1usize);
    let work = || {
        let mut failed = String::new();
        while let Some(job) = next() {
            match compile(job) {
                Ok(said) => said
                    .lines()
                    .for_each(|line| println!("cargo::warning={line}")),
                Err(said) => failed += &said,
            }
        }
        failed
    };
    let failed: String = thread::scope(|scope| {
        let threads: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a compiling thread"))
            .collect()
    });
    assert!(
        failed.is_empty(),
        "compiling the native worker failed:\n{failed}"
    );
}

fn link<'a>(tool: &cc::Tool, objects: impl Iterator<Item = &'a Path>, program: &Path) {
    let mut command = tool.to_command();
    command
        .args(objects)
        .args(["-pthread", "-ldl", "-lrt", "-Wl,-z,now", "-o"])
        .arg(program);
    assert!(
        command.status().expect("the C compiler links").success(),
        "linking {} failed",
        program.display()
    );
}

/// Objects from which the linker takes only what it needs.
fn archive<'a>(objects: impl Iterator<Item = &'a Job>, path: PathBuf) -> PathBuf {
    let _ = fs::remove_file(&path);
    let mut archiver = cc::Build::new().get_archiver();
    archiver
        .arg("crs")
        .arg(&path)
        .args(objects.map(|job| &job.object));
    assert!(
        archiver.status().expect("the archiver starts").success(),
        "{} cannot be made",
        path.display()
    );
    path
}

/// Names that a user's file and the harness share; all others of the harness are its own.
const SHARED_NAMES: [&str; 2] = ["pagewise_*", "__wrap_main"];

/// One object of the harness in which every other name is local: a user's file can define any of them.
fn functions<'a>(tool: &cc::Tool, objects: impl Iterator<Item = &'a Job>, out: &Path) -> PathBuf {
    let (joined, path) = (out.join("joined.o"), out.join("functions.o"));
    let mut command = tool.to_command();
    command
        .args(["-r", "-nostdlib", "-o"])
        .arg(&joined)
        .args(objects.map(|job| &job.object));
    assert!(
        command.status().expect("the C compiler links").success(),
        "joining the harness failed"
    );
    let objcopy = objcopy();
    let mut command = Command::new(&objcopy);
    command
        .arg("--wildcard")
        .args(SHARED_NAMES.map(|name| format!("--keep-global-symbol={name}")))
        .args([&joined, &path]);
    let done = command.status();
    assert!(
        done.as_ref().is_ok_and(|status| status.success()),
        "{} cannot hide the harness's names ({done:?}); it is in binutils, and OBJCOPY names another one",
        objcopy.display()
    );
    path
}

/// The program of `$OBJCOPY`, or the one of the archiver's binutils.
fn objcopy() -> PathBuf {
    println!("cargo::rerun-if-env-changed=OBJCOPY");
    if let Some(program) = env::var_os("OBJCOPY") {
        return program.into();
    }
    let archiver = PathBuf::from(cc::Build::new().get_archiver().get_program());
    let name = archiver.file_name().and_then(|name| name.to_str());
    // For another machine that is `aarch64-linux-gnu-gcc-ar` or `aarch64-linux-gnu-ar`.
    let prefix = ["gcc-ar", "ar"]
        .iter()
        .find_map(|end| name?.strip_suffix(end))
        .unwrap_or("");
    archiver.with_file_name(format!("{prefix}objcopy"))
}

/// A library that is preloaded into a program. It needs no other: it is loaded with whatever libc the program has.
fn preloaded(tool: &cc::Tool, name: &str, out: &Path) -> PathBuf {
    let library = out.join(format!("pagewise-{name}.so"));
    let mut command = tool.to_command();
    command
        .args(["-fPIC", "-shared", "-nostdlib", "-Wl,-z,now", "-o"])
        .arg(&library);
    command.arg(format!("c/preload/{name}.c")).arg("-ldl");
    assert!(
        command.status().expect("the C compiler links").success(),
        "linking {} failed",
        library.display()
    );
    library
}

/// The native programs.
struct Native {
    /// The workers' names and programs.
    workers: Vec<(String, PathBuf)>,
    helper: PathBuf,
    advising: PathBuf,
    counting: PathBuf,
    /// The worker without methods of its own, to be linked with the Rust methods.
    harness: PathBuf,
    /// The same in one object for a user's functions, which sees nothing of it but `pagewise_` names.
    functions: PathBuf,
    /// The untimed halves of the Rust methods, to be linked with the timed ones, and a worker that only lists them.
    rust: (PathBuf, PathBuf),
}

/// Builds every native program.
fn build_native(out: &Path) -> Native {
    let plain = compiler(2);
    let version = first_line(&plain);
    let about = Path::new("c/harness/about.c");
    let mut common = files_below("c/harness", &["c"]);
    common.retain(|path| path != about);
    let common = jobs(&common, &plain, &[], &version, &out.join("common"));
    // What only the helper does for an experiment stands in a folder of that experiment.
    let of_helper = |path: &PathBuf| {
        path.parent()
            .is_some_and(|folder| folder.ends_with("helper"))
    };
    let (verbs, methods): (Vec<_>, Vec<_>) = files_below("c/methods", &["c"])
        .into_iter()
        .partition(of_helper);
    let verbs: Vec<_> = files_below("c/helper", &["c"])
        .into_iter()
        .chain(verbs)
        .collect();
    let verbs = jobs(&verbs, &plain, &[], &version, &out.join("helper"));
    let level_jobs = |level: u32| {
        let name = format!("c-O{level}");
        let define = |what: &str, value: &str| format!("-DPAGEWISE_{what}=\"{value}\"");
        let flags = format!("-O{level} {}", FLAGS.join(" "));
        let defines = [
            define("WORKER_NAME", &name),
            define("COMPILER", &version),
            define("FLAGS", &flags),
        ];
        let mut own = jobs(
            &[about.to_owned()],
            &plain,
            &defines,
            &version,
            &out.join(format!("{name}-about")),
        );
        own.extend(jobs(
            &methods,
            &compiler(level),
            &[],
            &version,
            &out.join(&name),
        ));
        (name, own)
    };
    let levels = LEVELS.map(level_jobs);
    let halves = jobs(
        &files_below("rust", &["c"]),
        &plain,
        &[],
        &version,
        &out.join("rust"),
    );
    let bench = ["bench", "partners", "settle", "surroundings"]
        .map(|name| PathBuf::from(format!("c/bench/{name}.c")));
    let bench = jobs(&bench, &plain, &[], &version, &out.join("bench"));
    compile_all(
        common
            .iter()
            .chain(&verbs)
            .chain(&halves)
            .chain(&bench)
            .chain(levels.iter().flat_map(|(_, own)| own)),
    );
    let linked = levels.iter().map(|(name, own)| {
        let program = out.join(format!("worker-{name}"));
        link(
            &plain,
            common.iter().chain(own).map(|job| job.object.as_path()),
            &program,
        );
        (name.clone(), program)
    });
    let (workers, helper) = (linked.collect(), out.join("pagewise-helper"));
    let own = levels.iter().next_back().map_or(&[][..], |(_, own)| own);
    let shared = archive(common.iter().chain(own), out.join("shared.a"));
    link(
        &plain,
        verbs
            .iter()
            .map(|job| job.object.as_path())
            .chain([shared.as_path()]),
        &helper,
    );
    let listing = out.join("worker-rust-lists");
    link(
        &plain,
        halves
            .iter()
            .map(|job| job.object.as_path())
            .chain([shared.as_path()]),
        &listing,
    );
    let rust = (archive(halves.iter(), out.join("rust.a")), listing);
    let [advising, counting] = ["advise", "count"].map(|name| preloaded(&plain, name, out));
    // What a build is, the first of its own files, is said by whoever links it.
    let rigs = own.iter().skip(1).filter(|job| !has_methods(&job.source));
    let harness = archive(common.iter().chain(rigs), out.join("harness.a"));
    let functions = functions(&plain, common.iter().chain(&bench), out);
    Native {
        workers,
        helper,
        advising,
        counting,
        harness,
        functions,
        rust,
    }
}

/// True if a file of an experiment has methods, and not only what its methods share.
fn has_methods(source: &Path) -> bool {
    let text = fs::read_to_string(source).expect("a source in UTF-8");
    text.lines().any(|line| line.starts_with("METHOD("))
}

/// The lines of a worker's `--list` that are the same at every level: its methods and when it proves; none where it cannot
/// run on this machine.
fn methods_of(program: &Path) -> String {
    let Ok(output) = Command::new(program).arg("--list").output() else {
        return String::new();
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let same = |line: &&str| line.starts_with("method\t") || line.starts_with("about\tproofs\t");
    text.split_inclusive('\n').filter(same).collect()
}

/// A carried file's path as an expression. The folders stand in it by the names of their variables, so that the table is the
/// same wherever it is made: what is compiled, and where it stands in the table, does not depend on how long their paths are.
fn carried(path: &Path) -> String {
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let (folder, rest) = match path.strip_prefix(&out) {
        Ok(rest) => ("OUT_DIR", rest),
        Err(_) => ("CARGO_MANIFEST_DIR", path.strip_prefix(".").unwrap_or(path)),
    };
    format!(
        "concat!(env!({folder:?}), {:?})",
        format!("/{}", rest.to_str().expect("a path in UTF-8"))
    )
}

/// A file as an expression of the type `PackedFile`: its bytes compressed, their number and their digest.
fn packed(path: &Path, out: &Path) -> String {
    let bytes = fs::read(path).expect("a built file");
    let digest: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let folder = out.join("packed");
    fs::create_dir_all(&folder).expect("a folder for packed files");
    let place = folder.join(&digest);
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let content = encoder.write_all(&bytes).and_then(|()| encoder.finish());
    fs::write(&place, content.expect("memory takes every byte")).expect("a packed file");
    let (length, place) = (bytes.len(), carried(&place));
    format!("PackedFile {{ packed: include_bytes!({place}), bytes: {length}, sha256: {digest:?} }}")
}

/// A table `NAME: &[(path, content)]` for the binary to carry.
fn table(
    code: &mut String,
    name: &str,
    doc: &str,
    kind: &str,
    rows: impl Iterator<Item = (String, String)>,
) {
    writeln!(code, "/// {doc}\npub static {name}: &[(&str, {kind})] = &[").unwrap();
    for (key, content) in rows {
        writeln!(code, "    ({key:?}, {content}),").unwrap();
    }
    code.push_str("];\n");
}

/// The table of packed files.
fn packed_table(code: &mut String, name: &str, doc: &str, files: &[(String, PathBuf)], out: &Path) {
    let rows = files
        .iter()
        .map(|(key, path)| (key.clone(), packed(path, out)));
    table(code, name, doc, "PackedFile", rows);
}

/// Go worker and Java classes of `packaging/prebuilt.sh`, for machines without these toolchains, by their path in its folder.
/// None unless `PAGEWISE_PREBUILT` names that folder.
fn prebuilt(out: &Path) -> Vec<(String, PathBuf)> {
    println!("cargo::rerun-if-env-changed=PAGEWISE_PREBUILT");
    let Ok(folder) = env::var("PAGEWISE_PREBUILT") else {
        return Vec::new();
    };
    println!("cargo::rerun-if-changed={folder}");
    let copied = |from: PathBuf| {
        let name = from
            .strip_prefix(&folder)
            .expect("a path below the folder")
            .to_str()
            .expect("UTF-8")
            .to_owned();
        let to = out.join("prebuilt").join(&name);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder for prebuilt files");
        fs::copy(&from, &to).expect("a prebuilt file is copied");
        (name, to)
    };
    let files: Vec<_> = files_below(&folder, &["class", "bin"])
        .into_iter()
        .map(copied)
        .collect();
    assert!(
        !files.is_empty(),
        "PAGEWISE_PREBUILT={folder} has neither classes nor a Go worker"
    );
    files
}

/// Folders of sources that are only shown.
const SHOWN: [&str; 4] = ["./c/harness", "./c/helper", "./c/methods", "./c/preload"];

/// Path of a source in the repository.
fn repository_path(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path);
    format!("workers/{}", path.to_str().expect("a path in UTF-8"))
}

/// Files as one text, each behind a line with its path and the number of its bytes.
fn joined(files: &[PathBuf]) -> String {
    let mut text = String::new();
    for path in files {
        let source = fs::read_to_string(path).expect("a source in UTF-8");
        writeln!(text, "{} {}\n{source}", repository_path(path), source.len()).unwrap();
    }
    text
}

fn main() {
    for watched in [
        "bench",
        "build.rs",
        "c",
        "go",
        "java",
        "python",
        "rust",
        "PROTOCOL.md",
    ] {
        println!("cargo::rerun-if-changed={watched}");
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut code = String::new();
    let native = build_native(&out);
    let doc = "The native worker's builds, by name.";
    packed_table(&mut code, "NATIVE_WORKERS", doc, &native.workers, &out);
    for (name, doc, path) in [
        ("HELPER", "The helper program.", &native.helper),
        (
            "ADVISING",
            "The library that advises large mappings.",
            &native.advising,
        ),
        (
            "COUNTING",
            "The library that counts allocations.",
            &native.counting,
        ),
        (
            "HARNESS",
            "The native worker without methods of its own, to be linked with the Rust methods.",
            &native.harness,
        ),
        (
            "FUNCTIONS",
            "The same in one object, to be linked with a user's functions.",
            &native.functions,
        ),
        (
            "RUST_HALVES",
            "The untimed halves of the Rust methods.",
            &native.rust.0,
        ),
    ] {
        writeln!(
            code,
            "/// {doc}\npub static {name}: PackedFile = {};",
            packed(path, &out)
        )
        .unwrap();
    }
    let doc =
        "Workers of other languages that packaging built, by path: go/worker.bin, java/17/….class.";
    packed_table(&mut code, "PREBUILT", doc, &prebuilt(&out), &out);
    let methods = native
        .workers
        .last()
        .map(|(_, program)| methods_of(program))
        .unwrap_or_default();
    writeln!(code, "/// The native worker's methods, as it lists them; empty where it could not run where it was built.")
        .unwrap();
    writeln!(code, "pub const NATIVE_METHODS: &str = {methods:?};").unwrap();
    let rust = methods_of(&native.rust.1);
    writeln!(
        code,
        "/// The Rust worker's methods, likewise.\npub const RUST_METHODS: &str = {rust:?};"
    )
    .unwrap();
    let mut below = files_below("./rust", &["rs"]);
    below.extend(files_below("./bench", &["rs"]));
    below.extend(files_below(
        ".",
        &["c", "h", "go", "mod", "java", "py", "tsv", "md"],
    ));
    // What is only shown is two thirds of all sources.
    let (shown, below): (Vec<_>, Vec<_>) = below
        .into_iter()
        .partition(|path| SHOWN.iter().any(|folder| path.starts_with(folder)));
    let text = out.join("shown-sources");
    fs::write(&text, joined(&shown)).expect("the sources that are shown");
    let packed = packed(&text, &out);
    writeln!(code, "static SHOWN_SOURCES: PackedFile = {packed};").unwrap();
    let named = |path: PathBuf| {
        (
            repository_path(&path),
            format!("include_str!({})", carried(&path)),
        )
    };
    table(
        &mut code,
        "SOURCES",
        "Sources that something is built with here, by their paths in the repository.",
        "&str",
        below.into_iter().map(named),
    );
    fs::write(out.join("carried.rs"), code).expect("the table of carried files");
}
