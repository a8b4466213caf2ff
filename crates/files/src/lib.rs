//! The only code that opens, creates, renames and removes files (docs/decisions/0019-one-way-to-touch-files.md).
//!
//! Three kinds of place, three rules:
//! - [`Folder`]: a folder of ours. Everything in it is reached through its descriptor; no symbolic link is followed.
//! - [`open_input`], [`read_input`], [`Output`]: a path that the user typed. Links are followed, as every other
//!   tool does; [`Output`] follows none of another user.
//! - [`kernel`]: files of /proc, /sys and cgroups.
//!
//! Invariants: only regular files are read, they are opened with `O_NONBLOCK`, and every read has a size limit. An
//! [`Error`] names the operation and the path.
//!
//! Begin with [`Folder`]. A test of the house refuses `std::fs` in all other crates.

mod beneath;
mod folder;
mod input;
pub mod kernel;
mod output;
mod temporary;
mod trust;

use std::path::{Path, PathBuf};
use std::{io, os::fd::AsFd};

pub use folder::{DirEntry, EntryKind, Folder, Secret};
pub use input::{open_input, read_input, read_input_text};
pub use output::Output;
pub use std::fs::File;
pub use temporary::{
    Temporary, empty_memory_file, memory_file, random_word, safe_place, sweep, temporary,
    temporary_place,
};
pub use trust::{obeyed_file, safe_folder, trusted_file, trusted_folder, trusted_program};

pub type Result<T> = std::result::Result<T, Error>;

/// Failed operation on a file. Its text is `cannot read PATH`; the cause is its source.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}", path = path.display())]
pub struct Error {
    /// Infinitive: read, write, make, remove.
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl Error {
    fn new(doing: &'static str, path: &Path, source: impl Into<io::Error>) -> Error {
        Error {
            doing,
            path: path.to_owned(),
            source: source.into(),
        }
    }

    /// Kind of the cause: `NotFound`, `FileTooLarge`, `InvalidInput` (no regular file), `PermissionDenied`, …
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// The cause alone, without the path.
    pub fn cause(&self) -> &io::Error {
        &self.source
    }

    /// The file or folder that another user can change, if that is the cause.
    pub fn changeable(&self) -> Option<&Path> {
        let changeable = self.source.get_ref()?.downcast_ref::<trust::Changeable>()?;
        Some(&changeable.0)
    }

    pub fn is_missing(&self) -> bool {
        self.kind() == io::ErrorKind::NotFound
    }
}

/// `Ok(None)` in place of an error if the file does not exist.
pub fn if_there<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.is_missing() => Ok(None),
        other => other.map(Some),
    }
}

/// Owner of a file or folder, relative to the effective user of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    Own,
    /// Another user, with the user id.
    Foreign(u32),
}

/// Owner and permissions of an open file or folder.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    owner: u32,
    group: u32,
    mode: u32,
}

impl Access {
    pub fn of_descriptor(descriptor: impl AsFd) -> io::Result<Access> {
        Ok(Access::of_stat(&rustix::fs::fstat(descriptor)?))
    }

    fn of_stat(stat: &rustix::fs::Stat) -> Access {
        Access {
            owner: stat.st_uid,
            group: stat.st_gid,
            mode: stat.st_mode,
        }
    }

    /// Owner relative to this process.
    pub fn ownership(self) -> Ownership {
        if self.owner == rustix::process::geteuid().as_raw() {
            Ownership::Own
        } else {
            Ownership::Foreign(self.owner)
        }
    }

    /// True if nobody but this user and root can change the file.
    pub fn is_trusted(self) -> bool {
        // Many distributions give every user a group of the same number, and a umask that lets it write.
        let has_own_group = self.group == self.owner && self.owner != 0;
        let others = if has_own_group { 0o002 } else { 0o022 };
        (self.ownership() == Ownership::Own || self.owner == 0) && self.mode & others == 0
    }

    /// True if it belongs to this user and nobody else may read, write or enter it.
    fn is_private(self) -> bool {
        self.ownership() == Ownership::Own && self.mode & 0o077 == 0
    }

    /// True if nobody but this user, root and the owner of the root folder can replace what lies below a folder: trusted, or
    /// sticky like /tmp.
    fn is_safe_above(self, root: Access) -> bool {
        let owner = if self.owner == root.owner {
            0
        } else {
            self.owner
        };
        let known = Access { owner, ..self };
        known.is_trusted()
            || known.mode & 0o1000 != 0 && (known.ownership() == Ownership::Own || owner == 0)
    }
}
