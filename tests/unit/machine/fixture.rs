//! A file system for tests: what a machine would have below /.

use std::fs;

/// A temporary folder with these files, each by its path and its text.
pub fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    place
}
