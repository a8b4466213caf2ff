//! Programs and libraries that some methods and checks need, found without starting anything.

use super::files::{Files, facts};
use serde::Serialize;
use std::collections::BTreeMap;

/// The oldest release of Java whose memory segments are final (JEP 454).
pub const SEGMENTS_SINCE_JAVA: u64 = 22;
/// Programs that are looked for in PATH; the package managers because doctor names a command.
const PROGRAMS: [&str; 10] = [
    "apt-get", "cc", "clang", "dnf", "gcc", "go", "java", "perf", "python3", "strace",
];
/// Folders in which distributions keep shared libraries.
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
    (
        "mimalloc",
        &["libmimalloc.so.2", "libmimalloc.so.3", "libmimalloc.so"],
    ),
    (
        "tcmalloc",
        &[
            "libtcmalloc_minimal.so.4",
            "libtcmalloc.so.4",
            "libtcmalloc_minimal.so",
        ],
    ),
];

/// Part of a variable such as PATH from which nothing is started or loaded: no absolute path, or one that another user can
/// change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedPart {
    /// Name of the variable.
    pub variable: String,
    /// The part of it that is passed over.
    pub part: String,
    /// The file, folder or link that another user can change; none for a part that is no absolute path.
    pub changeable: Option<String>,
}

facts! { m:
    Tools {
        /// Programs by name with the file that PATH leads to.
        programs: BTreeMap<String, String> =
            PROGRAMS.iter().filter_map(|name| Some(((*name).to_owned(), in_path(m, name)?))).collect();
        /// Release of Go: the file VERSION two levels above the `go` that PATH leads to, behind all links.
        go_version: Option<String> = in_path(m, "go").and_then(|go| go_version(m, &go));
        /// Every Java: JAVA_HOME, PATH, /usr/lib/jvm.
        javas: Vec<Java> = javas(m);
        /// Allocators by name with their library: the usual folders of libraries.
        allocators: BTreeMap<String, String> = allocators(m);
    }

    /// One installed Java.
    Java(folder: &str) {
        /// Its folder, behind all links.
        home: String = folder.to_owned();
        version: Option<String> = property(m, folder, "JAVA_VERSION");
        vendor: Option<String> = property(m, folder, "IMPLEMENTOR");
        /// True if it has a compiler, which makes it a JDK.
        has_compiler: bool = m.is_file(&format!("{folder}/bin/javac"));
    }
}

impl Java {
    /// The feature release: 17 of `17.0.15`, and 8 of `1.8.0_392`, as it was written then.
    pub fn feature(&self) -> Option<u64> {
        let mut numbers = self.version.as_deref()?.split(['.', '_', '-', '+']);
        match numbers.next()?.parse().ok()? {
            1 => numbers.next()?.parse().ok(),
            feature => Some(feature),
        }
    }
}

impl Tools {
    /// True if the program is installed.
    pub fn has(&self, program: &str) -> bool {
        self.programs.contains_key(program)
    }

    /// Newest JDK, if there is one.
    pub fn newest_jdk(&self) -> Option<&Java> {
        self.javas
            .iter()
            .filter(|java| java.has_compiler)
            .max_by_key(|java| java.feature())
    }
}

/// A variable as this process was started with it, which the kernel keeps, so that a tree of fixtures has its own.
fn variable(m: &dyn Files, name: &str) -> Option<String> {
    let environment = m.text("/proc/self/environ")?;
    environment
        .split('\0')
        .find_map(|v| v.strip_prefix(name)?.strip_prefix('='))
        .map(str::to_owned)
}

/// Paths that PATH gives a program, nearest first.
fn candidates(m: &dyn Files, program: &str) -> Vec<String> {
    let path = variable(m, "PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
    path.split(':')
        .map(|folder| format!("{folder}/{program}"))
        .filter(|file| file.starts_with('/'))
        .collect()
}

fn in_path(m: &dyn Files, program: &str) -> Option<String> {
    candidates(m, program)
        .into_iter()
        .find(|file| m.is_program(file))
}

/// The folder two levels above a file.
fn above(file: &str) -> Option<String> {
    Some(file.rsplit_once('/')?.0.rsplit_once('/')?.0.to_owned())
}

fn go_version(m: &dyn Files, go: &str) -> Option<String> {
    let home = above(&m.behind_links(go)?)?;
    let text = m.text(&format!("{home}/VERSION"))?;
    text.lines().next().map(str::to_owned)
}

fn javas(m: &dyn Files) -> Vec<Java> {
    let java_home = variable(m, "JAVA_HOME").and_then(|home| m.behind_links(&home));
    let mut homes: Vec<String> = java_home.into_iter().collect();
    // The program is HOME/bin/java; Java 8 has a second one in HOME/jre/bin, without a `release` file above it.
    homes.extend(
        candidates(m, "java")
            .iter()
            .filter_map(|file| above(&m.behind_links(file)?)),
    );
    let installed = m.names("/usr/lib/jvm").into_iter();
    homes.extend(installed.filter_map(|name| m.behind_links(&format!("/usr/lib/jvm/{name}"))));
    let mut javas: Vec<Java> = Vec::new();
    for home in homes {
        if javas.iter().all(|known| known.home != home) && m.is_file(&format!("{home}/bin/java")) {
            javas.push(Java::read(m, &home));
        }
    }
    javas
}

/// A value of the file `release` of a Java.
fn property(m: &dyn Files, home: &str, name: &str) -> Option<String> {
    let release = m.text(&format!("{home}/release"))?;
    let value = release
        .lines()
        .find_map(|l| l.strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim().trim_matches('"').to_owned())
}

fn allocators(m: &dyn Files) -> BTreeMap<String, String> {
    let library = |names: &[&str]| {
        let paths = names.iter().flat_map(|name| {
            LIBRARY_FOLDERS
                .iter()
                .map(move |folder| format!("{folder}/{name}"))
        });
        paths.into_iter().find(|path| m.is_file(path))
    };
    ALLOCATORS
        .iter()
        .filter_map(|(name, names)| Some(((*name).to_owned(), library(names)?)))
        .collect()
}
