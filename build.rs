//! Builds the native worker twice (`-O0` and `-O3`) and gathers what the binary carries: the workers, their sources, the
//! experiments and the published figures. A new method, experiment or table is a new file; nothing here names one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

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

fn files_below(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(path.to_str().expect("a path in UTF-8"), extensions));
        } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Compiles one level of the native worker; the worker's own files are always `-O2`, only methods differ.
fn build_worker(level: u32, out: &Path) -> PathBuf {
    let name = format!("c-O{level}");
    let objects = out.join(&name);
    fs::create_dir_all(&objects).expect("a folder for objects");
    let mut base = cc::Build::new();
    base.out_dir(&objects).debug(false).warnings(true).extra_warnings(true);
    base.include("workers/c").define("_GNU_SOURCE", None);
    FLAGS.iter().for_each(|flag| {
        base.flag(flag);
    });
    let compiler = base.get_compiler();
    let version = compiler.to_command().arg("--version").output().expect("the C compiler's version");
    let version = String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or("unknown").replace('"', "'");
    let mut core = base.clone();
    core.opt_level(2)
        .files(files_below("workers/c", &["c"]).iter().filter(|p| !p.starts_with("workers/c/methods")))
        .define("PAGEWISE_WORKER_NAME", format!("\"{name}\"").as_str())
        .define("PAGEWISE_COMPILER", format!("\"{version}\"").as_str())
        .define("PAGEWISE_FLAGS", format!("\"-O{level} {}\"", FLAGS.join(" ")).as_str());
    let mut methods = base;
    methods.opt_level(level).files(files_below("workers/c/methods", &["c"]));
    let worker = out.join(format!("worker-{name}"));
    let linked = compiler
        .to_command()
        .args(core.compile_intermediates())
        .args(methods.compile_intermediates())
        .args(["-pthread", "-ldl", "-lrt", "-Wl,-z,now", "-o"])
        .arg(&worker)
        .status()
        .expect("the C compiler links the worker");
    assert!(linked.success(), "linking the native worker failed");
    worker
}

/// A table `NAME: &[(path, content)]` for the binary to carry.
fn table(code: &mut String, name: &str, doc: &str, kind: &str, include: &str, rows: &[(String, PathBuf)]) {
    writeln!(code, "/// {doc}\npub const {name}: &[(&str, {kind})] = &[").unwrap();
    for (key, path) in rows {
        let path = fs::canonicalize(path).expect("a carried file");
        writeln!(code, "    ({key:?}, {include}!({:?})),", path.to_str().expect("a path in UTF-8")).unwrap();
    }
    code.push_str("];\n");
}

fn texts(folder: &str, extensions: &[&str]) -> Vec<(String, PathBuf)> {
    files_below(folder, extensions).into_iter().map(|p| (p.to_str().expect("UTF-8").to_owned(), p)).collect()
}

fn main() {
    for watched in ["build.rs", "workers", "experiments", "published"] {
        println!("cargo::rerun-if-changed={watched}");
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let workers: Vec<_> = [0, 3].map(|level| (format!("c-O{level}"), build_worker(level, &out))).into();
    let mut code = String::new();
    table(&mut code, "NATIVE_WORKERS", "The native worker's builds, by name.", "&[u8]", "include_bytes", &workers);
    let sources = texts("workers", &["c", "h", "go", "mod", "java", "tsv", "md"]);
    table(&mut code, "SOURCES", "Every source below `workers/`, by path.", "&str", "include_str", &sources);
    table(
        &mut code,
        "EXPERIMENTS",
        "The experiments, by path.",
        "&str",
        "include_str",
        &texts("experiments", &["toml"]),
    );
    table(&mut code, "PUBLISHED", "Published figures, by path.", "&str", "include_str", &texts("published", &["toml"]));
    fs::write(out.join("carried.rs"), code).expect("the table of carried files");
}
