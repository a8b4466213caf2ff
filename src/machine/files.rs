//! Reads the small files of /proc and /sys below a root, so that a tree of fixtures can stand for any machine.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The files of one machine. What cannot be read is absent: kernels differ, and a missing file is a fact, not an error.
#[derive(Clone, Copy)]
pub(super) struct Files<'a> {
    root: &'a Path,
}

impl<'a> Files<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Files { root }
    }

    /// Where an absolute path of the machine lies below the root.
    pub(super) fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.place(path).exists()
    }

    /// A whole file without the space around it; an empty file says nothing and counts as absent.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.place(path)).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// The start of a file that the kernel composes while it is read, and that can be long or slow to compose.
    pub(super) fn start(&self, path: &str, most_bytes: u64) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.place(path)).ok()?.take(most_bytes).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(super) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// The word in brackets of `always [madvise] never`, or the only word of a file that has just one.
    pub(super) fn chosen(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let bracketed = text.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
        bracketed.or_else(|| text.split_whitespace().next()).map(str::to_owned)
    }

    /// A switch, whichever of its three spellings the kernel uses.
    pub(super) fn switch(&self, path: &str) -> Option<bool> {
        match self.text(path)?.as_str() {
            "1" | "Y" | "on" => Some(true),
            "0" | "N" | "off" => Some(false),
            _ => None,
        }
    }

    /// The names in a folder, sorted so that two captures of one machine are equal; none if there is no such folder.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.place(folder)) else { return Vec::new() };
        let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The numbers that follow `prefix` in the names of a folder (`cpu7`, `node0`, `hugepages-2048kB`), in rising
    /// order.
    pub(super) fn numbered(&self, folder: &str, prefix: &str, suffix: &str) -> Vec<u64> {
        let number = |name: &String| name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok();
        let mut numbers: Vec<u64> = self.names(folder).iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// The value of the first line `name   : value` of a text.
pub(super) fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim_end() == name).then(|| value.trim())
    })
}

/// A field that proc_meminfo(5) and its like give in kB, in bytes.
pub(super) fn field_bytes(text: &str, name: &str) -> Option<u64> {
    let (number, unit) = field(text, name)?.split_once(' ')?;
    (unit == "kB").then_some(number.parse::<u64>().ok()? * 1024)
}

/// How many numbers a list like `0-3,8` names.
pub(super) fn list_length(list: &str) -> Option<u64> {
    list.trim().split(',').try_fold(0, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        Some(sum + last.checked_sub(first)? + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_file(text: &str, check: impl FnOnce(Files<'_>)) {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("f"), text).unwrap();
        check(Files::new(place.path()));
    }

    #[test]
    fn the_bracketed_word_is_the_chosen_one() {
        with_file("always [madvise] never\n", |f| assert_eq!(f.chosen("/f").as_deref(), Some("madvise")));
        with_file("tsc\n", |f| assert_eq!(f.chosen("/f").as_deref(), Some("tsc")));
        with_file("\n", |f| assert_eq!(f.chosen("/f"), None));
    }

    #[test]
    fn a_switch_is_read_in_every_spelling() {
        for (text, wanted) in [("Y\n", Some(true)), ("on", Some(true)), ("0\n", Some(false)), ("2\n", None)] {
            with_file(text, |f| assert_eq!(f.switch("f"), wanted));
        }
    }

    #[test]
    fn absent_files_and_folders_are_no_errors() {
        let files = Files::new(Path::new("/nowhere"));
        assert_eq!(files.text("/proc/version"), None);
        assert!(files.names("/sys").is_empty());
    }

    #[test]
    fn lists_are_counted() {
        assert_eq!(list_length("0-3,8\n"), Some(5));
        assert_eq!(list_length("0"), Some(1));
        assert_eq!(list_length("3-0"), None);
        assert_eq!(list_length(""), None);
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "MemTotal:       24684084 kB\nMemFree: 1 kB\nHugePages_Total:  0\n";
        assert_eq!(field_bytes(text, "MemTotal"), Some(24_684_084 * 1024));
        assert_eq!(field_bytes(text, "Mem"), None);
        assert_eq!(field(text, "HugePages_Total"), Some("0"));
    }
}
