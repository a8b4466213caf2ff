//! Files of /proc, /sys and cgroups: composed while they are read, and without owners to check.

use crate::{File, input::limited};
use std::{fs, io, path::Path};

const MOST_BYTES: u64 = 64 << 20;

/// Text of a kernel file; bytes that are not UTF-8 are replaced.
pub fn read(path: impl AsRef<Path>) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&limited(File::open(path)?, MOST_BYTES)?).into_owned())
}

/// The first `most` bytes of a kernel file that can be long or slow to compose.
pub fn start(path: impl AsRef<Path>, most: u64) -> io::Result<String> {
    let bytes = limited(io::Read::take(File::open(path)?, most), most)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes a setting.
/// Errors: the kernel has no such setting, or refuses the value.
pub fn write(path: impl AsRef<Path>, text: &str) -> io::Result<()> {
    fs::write(path, text)
}

/// Names in a folder, sorted; names that are not UTF-8 are left out. None if there is no such folder.
pub fn names(path: impl AsRef<Path>) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Makes a cgroup.
pub fn make_cgroup(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Removes a cgroup.
/// Errors: it is in use, or does not exist.
pub fn remove_cgroup(path: &Path) -> io::Result<()> {
    fs::remove_dir(path)
}
