//! Variables of the user that would change what a worker allocates, loads or compiles. They are cleared for workers: a figure
//! should be one of the machine, not of a shell.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// Names, and starts of names where a `*` follows, with whom they speak to: the loader, glibc and other allocators, threads of
/// a C program, Go's runtime, virtual machines of Java, Python.
const FOREIGN: [&str; 23] = [
    "LD_PRELOAD", "LD_AUDIT", "LD_BIND_NOW", "LD_BIND_NOT", "LD_DYNAMIC_WEAK", "LD_HWCAP_MASK", "GLIBC_TUNABLES", "MALLOC_*",
    "MIMALLOC_*", "TCMALLOC_*", "SCUDO_OPTIONS", "OMP_*", "GOMP_*", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT",
    "GOTRACEBACK", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "PYTHON*",
];

fn is_foreign(name: &str) -> bool {
    FOREIGN.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    })
}

/// Those that are set here, with their values.
pub fn foreign() -> BTreeMap<String, String> {
    among(std::env::vars_os())
}

fn among(all: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<String, String> {
    let lossy = |text: OsString| text.to_string_lossy().into_owned();
    all.map(|(name, value)| (lossy(name), lossy(value))).filter(|(name, _)| is_foreign(name)).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/worker/environment.rs"]
mod tests;
