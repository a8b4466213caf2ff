//! The runs of `tests/fixtures/runs`, which the real binary recorded (`record.sh` there).

use std::path::{Path, PathBuf};

use record::folder::RunFolder;

/// The folder of one.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/runs")
        .join(name)
}

/// A run in a folder, opened.
pub fn open(path: &Path) -> anyhow::Result<RunFolder> {
    RunFolder::open(path.to_str().unwrap(), Path::new("/nowhere"))
}
