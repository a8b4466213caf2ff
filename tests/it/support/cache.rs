//! Caches of tests: each its own, so that captures do not meet, but the workers in it are the same for all. Building the Go and
//! Java workers takes most of a minute, and is done once.

use std::path::{Path, PathBuf};

/// The folder where the built workers of all tests lie.
fn workers() -> PathBuf {
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache/pagewise/workers");
    std::fs::create_dir_all(&shared).unwrap();
    shared
}

/// A value for `XDG_CACHE_HOME` below a test's own folder.
pub fn below(home: &Path) -> PathBuf {
    let own = home.join("pagewise");
    std::fs::create_dir_all(&own).unwrap();
    match std::os::unix::fs::symlink(workers(), own.join("workers")) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => panic!("{error}"),
        _ => home.to_owned(),
    }
}
