//! The programs and libraries that some methods and checks need, found without starting anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::Files;

/// Programs that are looked for in PATH; the package managers because doctor names a command.
const PROGRAMS: [&str; 9] = ["apt-get", "cc", "clang", "dnf", "gcc", "go", "java", "perf", "strace"];

/// The oldest release of Java whose memory segments are final (JEP 454).
pub const SEGMENTS_SINCE_JAVA: u64 = 22;

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

/// What is installed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tools {
    /// Programs by name with the file that PATH leads to: PATH in /proc/self/environ.
    pub programs: BTreeMap<String, String>,
    /// The release of Go: the file VERSION two levels above the `go` that PATH leads to, behind all links.
    pub go_version: Option<String>,
    /// Every Java there is: JAVA_HOME and PATH in /proc/self/environ, /usr/lib/jvm.
    pub javas: Vec<Java>,
    /// Allocators by name with their library: the usual folders of libraries.
    pub allocators: BTreeMap<String, String>,
}

/// One installed Java.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Java {
    /// Its folder, behind all links.
    pub home: String,
    /// Its version: `JAVA_VERSION` in the file `release`.
    pub version: Option<String>,
    /// Who built it: `IMPLEMENTOR` in the file `release`.
    pub vendor: Option<String>,
    /// Whether it has a compiler, which makes it a JDK: bin/javac.
    pub has_compiler: bool,
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
    pub(super) fn capture(files: Files<'_>) -> Tools {
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

    /// Whether a program can be started.
    pub fn has(&self, program: &str) -> bool {
        self.programs.contains_key(program)
    }

    /// The Java with a compiler whose feature release is the highest.
    pub fn newest_jdk(&self) -> Option<&Java> {
        self.javas.iter().filter(|java| java.has_compiler).max_by_key(|java| java.feature())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_java_versions_are_read() {
        let feature = |version: &str| Java { version: Some(version.to_owned()), ..Java::default() }.feature();
        assert_eq!(feature("1.8.0_392"), Some(8));
        assert_eq!(feature("17.0.15"), Some(17));
        assert_eq!(feature("25"), Some(25));
        assert_eq!(feature("23-ea"), Some(23));
        assert_eq!(feature("unknown"), None);
    }
}
