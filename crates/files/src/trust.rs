//! Paths that nobody but this user and root can change.
//!
//! A path is followed as the kernel follows it, one component at a time. No other user can replace a folder on the way
//! or own a link on the way, so a later use of the same path leads to the same file.

use crate::{Access, Error, Ownership, Result};
use rustix::fs::{AtFlags, CWD, FileType, Stat, readlinkat, statat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::{fmt, io};

/// Most links on the way to a file, as in path_resolution(7).
const MOST_LINKS: usize = 40;

/// A file or folder that another user can change or replace.
#[derive(Debug)]
pub(crate) struct Changeable(pub(crate) PathBuf);

impl fmt::Display for Changeable {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "another user can change {}", self.0.display())
    }
}

impl std::error::Error for Changeable {}

/// Checks a program: a regular file of this user or root that nobody else can change or replace, and that may be executed.
/// Links are followed.
/// Errors: there is none, or another user can change it (`PermissionDenied`, [`Error::changeable`]).
pub fn trusted_program(path: &Path) -> Result<()> {
    trusted_file(path)?;
    let may_run = rustix::fs::accessat(CWD, path, rustix::fs::Access::EXEC_OK, AtFlags::EACCESS);
    may_run.map_err(|error| Error::new("execute", path, error))
}

/// Checks a file that is loaded or read as code, as [`trusted_program`] does; returns its real path.
pub fn trusted_file(path: &Path) -> Result<PathBuf> {
    let (real, stat) = followed(path, Folders::Safe)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        let why = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
        return Err(Error::new("use", path, why));
    }
    if !Access::of_stat(&stat).is_trusted() {
        return Err(changeable(path, &real));
    }
    trusted_folder(real.parent().unwrap_or(&real)).map_err(|error| Error {
        path: path.to_owned(),
        ..error
    })?;
    Ok(real)
}

/// Checks a file whose words are obeyed: nobody but this user and root can change or replace it. A relative path begins at the
/// current folder.
/// Errors: there is none, or another user can change it (`PermissionDenied`, [`Error::changeable`]).
pub fn obeyed_file(path: &Path) -> Result<()> {
    let absolute = std::path::absolute(path).map_err(|error| Error::new("use", path, error))?;
    let (real, stat) = followed(&absolute, Folders::Safe)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        let why = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
        return Err(Error::new("use", path, why));
    }
    if Access::of_stat(&stat).is_trusted() {
        Ok(())
    } else {
        Err(changeable(path, &real))
    }
}

/// Checks a folder in which nobody but this user and root can make, change or replace a file; returns its real path.
/// Errors: there is none, or another user can change it or a folder above it.
pub fn trusted_folder(path: &Path) -> Result<PathBuf> {
    let (real, stat) = followed(path, Folders::Safe)?;
    if !is_folder(&stat) {
        Err(Error::new("use", path, Errno::NOTDIR))
    } else if Access::of_stat(&stat).is_trusted() {
        Ok(real)
    } else {
        Err(changeable(path, &real))
    }
}

/// Checks a folder in which nobody but this user and root can replace what this user made: trusted, or sticky like /tmp.
/// A relative path begins at the current folder.
pub fn safe_folder(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(|error| Error::new("use", path, error))?;
    let (real, stat) = followed(&absolute, Folders::Safe)?;
    if is_folder(&stat) {
        Ok(real)
    } else {
        Err(Error::new("use", path, Errno::NOTDIR))
    }
}

/// Checks a path that the user wants written: no link on the way belongs to another user. Its folders may.
/// Errors: such a link (`PermissionDenied`, [`Error::changeable`]).
pub(crate) fn without_links_of_others(path: &Path) -> Result<()> {
    let absolute = std::path::absolute(path).map_err(|error| Error::new("use", path, error))?;
    match followed(&absolute, Folders::Any) {
        Err(error) if error.changeable().is_some() => Err(error),
        // A name that is not there yet, and an open file of /proc, are no link of anybody.
        _ => Ok(()),
    }
}

/// Folders that may stand on the way to a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Folders {
    /// Trusted or sticky ones, the last one included.
    Safe,
    /// Also those in which another user can replace a file.
    Any,
}

/// Follows an absolute path through its links, none of which belongs to another user.
fn followed(path: &Path, folders: Folders) -> Result<(PathBuf, Stat)> {
    let failed = |error: io::Error| Error::new("use", path, error);
    if !path.is_absolute() {
        let why = io::Error::new(io::ErrorKind::InvalidInput, "it is not an absolute path");
        return Err(failed(why));
    }
    // A path that leads nowhere, or is too long, is said to be so.
    if folders == Folders::Safe {
        statat(CWD, path, AtFlags::empty()).map_err(|error| failed(error.into()))?;
    }
    let mut real = PathBuf::from("/");
    let mut stat = status(&real).map_err(failed)?;
    // In a user namespace root may have another number.
    let root = Access::of_stat(&stat);
    if folders == Folders::Safe && !root.is_safe_above(root) {
        return Err(changeable(path, &real));
    }
    let mut rest: Vec<OsString> = reversed(path);
    let mut links = 0;
    while let Some(name) = rest.pop() {
        if !is_folder(&stat) {
            return Err(failed(Errno::NOTDIR.into()));
        }
        if name == ".." {
            real.pop();
            stat = status(&real).map_err(failed)?;
            continue;
        }
        let next = real.join(&name);
        let about = status(&next).map_err(failed)?;
        let access = Access::of_stat(&about);
        if FileType::from_raw_mode(about.st_mode) == FileType::Symlink {
            links += 1;
            if access.ownership() != Ownership::Own
                && access.owner != 0
                && access.owner != root.owner
            {
                return Err(changeable(path, &next));
            }
            if links > MOST_LINKS {
                return Err(failed(Errno::LOOP.into()));
            }
            let target =
                readlinkat(CWD, &next, Vec::new()).map_err(|error| failed(error.into()))?;
            let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
            if target.is_absolute() {
                real = PathBuf::from("/");
                stat = status(&real).map_err(failed)?;
            }
            rest.extend(reversed(&target));
            continue;
        }
        if folders == Folders::Safe && is_folder(&about) && !access.is_safe_above(root) {
            return Err(changeable(path, &next));
        }
        (real, stat) = (next, about);
    }
    Ok((real, stat))
}

fn status(path: &Path) -> io::Result<Stat> {
    Ok(statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// Names of a path, the last one first; `..` stays.
fn reversed(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsStr::from_bytes(b"..").to_owned()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    names.rev().collect()
}

/// An error: another user can change what `path` leads to, at `place`.
fn changeable(path: &Path, place: &Path) -> Error {
    let why = Changeable(place.to_owned());
    Error::new(
        "use",
        path,
        io::Error::new(io::ErrorKind::PermissionDenied, why),
    )
}
