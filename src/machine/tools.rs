//! The programs and libraries that some methods and checks need, found without starting anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use record::machine::tools::{Java, Tools};

use super::files::Files;

/// Programs that are looked for in PATH; the package managers because doctor names a command.
const PROGRAMS: [&str; 10] = ["apt-get", "cc", "clang", "dnf", "gcc", "go", "java", "perf", "python3", "strace"];

/// Where distributions keep shared libraries.
const LIBRARY_FOLDERS: [&str; 9] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib64",
    "/usr/local/lib",
    "/lib/x86_64-linux-gnu",
    "/lib64",
    "/lib",
];

/// Allocators with the names of their libraries, those that the worker preloads first.
const ALLOCATORS: [(&str, &[&str]); 3] = [
    ("jemalloc", &["libjemalloc.so.2", "libjemalloc.so"]),
    ("mimalloc", &["libmimalloc.so.2", "libmimalloc.so.3", "libmimalloc.so"]),
    ("tcmalloc", &["libtcmalloc_minimal.so.4", "libtcmalloc.so.4", "libtcmalloc_minimal.so"]),
];

/// Reads what [`Tools`] holds.
pub(super) fn tools(files: Files<'_>) -> Tools {
    // The kernel keeps the environment that the process was started with, so a tree of fixtures has its own.
    let environment = files.text("/proc/self/environ").unwrap_or_default();
    let variable = |name: &str| environment.split('\0').find_map(|v| v.strip_prefix(name)?.strip_prefix('='));
    let path: Vec<&str> = variable("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin").split(':').collect();
    let programs = PROGRAMS.iter().filter_map(|name| Some(((*name).to_owned(), in_path(files, &path, name)?)));
    let programs: BTreeMap<String, String> = programs.collect();
    Tools {
        go_version: programs.get("go").and_then(|go| go_version(files, go)),
        javas: javas(files, variable("JAVA_HOME"), &path),
        allocators: allocators(files),
        programs,
    }
}

fn in_path(files: Files<'_>, path: &[&str], program: &str) -> Option<String> {
    let candidates = path.iter().filter(|folder| folder.starts_with('/')).map(|folder| format!("{folder}/{program}"));
    candidates.into_iter().find(|file| files.place(file).is_file())
}

/// Follows links; `None` where they lead nowhere or, in a tree of fixtures, out of the tree.
fn behind_links(files: Files<'_>, path: &str) -> Option<PathBuf> {
    let root = files.place("/").canonicalize().ok()?;
    let real = files.place(path).canonicalize().ok()?;
    Some(Path::new("/").join(real.strip_prefix(root).ok()?))
}

fn go_version(files: Files<'_>, go: &str) -> Option<String> {
    let home = behind_links(files, go)?.parent()?.parent()?.to_path_buf();
    let text = files.text(&format!("{}/VERSION", home.display()))?;
    text.lines().next().map(str::to_owned)
}

fn javas(files: Files<'_>, java_home: Option<&str>, path: &[&str]) -> Vec<Java> {
    let mut homes: Vec<PathBuf> = java_home.and_then(|home| behind_links(files, home)).into_iter().collect();
    for folder in path {
        let java = behind_links(files, &format!("{folder}/java"));
        // The program is HOME/bin/java; Java 8 has a second one in HOME/jre/bin, without a `release` file above it.
        homes.extend(java.and_then(|file| Some(file.parent()?.parent()?.to_path_buf())));
    }
    let installed = files.names("/usr/lib/jvm").into_iter();
    homes.extend(installed.filter_map(|name| behind_links(files, &format!("/usr/lib/jvm/{name}"))));
    let mut javas: Vec<Java> = Vec::new();
    for home in homes.iter().map(|home| home.to_string_lossy().into_owned()) {
        if javas.iter().all(|known| known.home != home) && files.exists(&format!("{home}/bin/java")) {
            javas.push(java(files, home));
        }
    }
    javas
}

fn java(files: Files<'_>, home: String) -> Java {
    let release = files.text(&format!("{home}/release")).unwrap_or_default();
    let property = |name: &str| {
        let value = release.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix('='))?;
        Some(value.trim().trim_matches('"').to_owned())
    };
    Java {
        version: property("JAVA_VERSION"),
        vendor: property("IMPLEMENTOR"),
        has_compiler: files.exists(&format!("{home}/bin/javac")),
        home,
    }
}

fn allocators(files: Files<'_>) -> BTreeMap<String, String> {
    let library = |names: &[&str]| {
        let paths = names.iter().flat_map(|name| LIBRARY_FOLDERS.iter().map(move |folder| format!("{folder}/{name}")));
        paths.into_iter().find(|path| files.exists(path))
    };
    ALLOCATORS.iter().filter_map(|(name, names)| Some(((*name).to_owned(), library(names)?))).collect()
}
