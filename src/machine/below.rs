//! The files of this machine, or of a tree that stands for another.

use record::machine::files::Files;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files below a folder. Each is read once: some, as /proc/cpuinfo, are slow to compose.
pub(super) struct Below<'a> {
    root: &'a Path,
    known: RefCell<BTreeMap<String, Option<String>>>,
}

impl<'a> Below<'a> {
    pub(super) fn new(root: &'a Path) -> Below<'a> {
        Below { root, known: RefCell::default() }
    }

    fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

impl Files for Below<'_> {
    fn start(&self, path: &str, most: u64) -> Option<String> {
        let read = || files::kernel::start(self.place(path), most).ok();
        self.known.borrow_mut().entry(path.to_owned()).or_insert_with(read).clone()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        files::kernel::names(self.place(folder))
    }

    fn behind_links(&self, path: &str) -> Option<String> {
        let root = self.root.canonicalize().ok()?;
        let real = self.place(path).canonicalize().ok()?;
        Some(Path::new("/").join(real.strip_prefix(root).ok()?).to_string_lossy().into_owned())
    }

    fn is_file(&self, path: &str) -> bool {
        self.place(path).is_file()
    }

    fn is_writable(&self, path: &str) -> bool {
        accessat(CWD, self.place(path), Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}
