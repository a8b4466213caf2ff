//! Files that the user asks for: written whole or not at all; none is replaced unless the user says so.

use crate::trust::without_links_of_others;
use crate::{Error, Result, beneath};
use rustix::fs::{
    Access, AtFlags, CWD, Mode, OFlags, RenameFlags, accessat, openat, renameat, renameat_with,
    unlinkat,
};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A file that will be written: its path was found writable.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    target: Target,
    force: bool,
}

#[derive(Debug)]
enum Target {
    /// A pipe or a device takes the bytes as they come and cannot be renamed to.
    Stream(PathBuf),
    /// A file's name in a folder, which stays this one whatever its path leads to later.
    File { folder: OwnedFd, name: OsString },
}

impl Output {
    /// Checks that the path can be written; changes nothing. `force`: an existing file may be replaced.
    /// Errors: it is a folder, exists without `force`, its folder is missing or not writable, or a link on the way belongs
    /// to another user.
    pub fn at(path: &Path, force: bool) -> Result<Output> {
        let refused = |error: io::Error| Error::new("write", path, error);
        without_links_of_others(path)?;
        let real = real(path).map_err(refused)?;
        let is_stream = match fs::metadata(&real) {
            Ok(found) if found.is_dir() => return Err(refused(io::Error::other("it is a folder"))),
            Ok(found) if found.is_file() && !force => {
                return Err(refused(io::Error::other("it exists; --force replaces it")));
            }
            Ok(found) => !found.is_file(),
            Err(_) => false,
        };
        let above = real.parent().unwrap_or(Path::new("/"));
        // With a slash at its end, the kernel refuses everything but a folder.
        let written = if is_stream {
            real.clone()
        } else {
            above.join("")
        };
        accessat(CWD, &written, Access::WRITE_OK, AtFlags::EACCESS)
            .map_err(|error| refused(error.into()))?;
        let target = if is_stream {
            Target::Stream(real)
        } else {
            let name = real
                .file_name()
                .ok_or_else(|| refused(Errno::ISDIR.into()))?;
            Target::File {
                folder: opened(above).map_err(refused)?,
                name: name.to_owned(),
            }
        };
        Ok(Output {
            path: path.to_owned(),
            target,
            force,
        })
    }

    /// Writes the file by `fill`. Its name appears when it is whole, so that a reader sees the old or the new content.
    /// Errors: the error of `fill`, or a failed write; nothing is left behind.
    pub fn write<E: From<Error>>(
        &self,
        fill: impl FnOnce(&mut dyn Write) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let cannot = |error: io::Error| Error::new("write", &self.path, error);
        let filled = |file: File| {
            let mut out = BufWriter::new(file);
            fill(&mut out)?;
            out.flush().map_err(|error| E::from(cannot(error)))
        };
        let (folder, name) = match &self.target {
            Target::Stream(real) => {
                return filled(File::options().write(true).open(real).map_err(cannot)?);
            }
            Target::File { folder, name } => (folder, name),
        };
        let part = format!(".{}.{}.part", name.display(), std::process::id());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(folder, &part, flags, Mode::from_raw_mode(0o666))
            .map_err(|error| cannot(error.into()))?;
        let named = filled(file.into()).and_then(|()| {
            let renamed = rename(folder, &part, name, self.force);
            Ok(renamed.map_err(|error| cannot(error.into()))?)
        });
        if named.is_err() {
            let _ = unlinkat(folder, &part, AtFlags::empty());
        }
        named
    }
}

/// The absolute path without links that a path leads to; of a file that is not there yet, its folder's with its name.
fn real(path: &Path) -> io::Result<PathBuf> {
    if let Ok(real) = fs::canonicalize(path) {
        return Ok(real);
    }
    let absolute = std::path::absolute(path)?;
    match (absolute.parent(), absolute.file_name()) {
        (Some(above), Some(name)) => {
            Ok(fs::canonicalize(above).map_or(absolute.clone(), |above| above.join(name)))
        }
        _ => Ok(absolute),
    }
}

/// Opens a folder by an absolute path without links: what took its place meanwhile is not opened.
fn opened(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat(CWD, "/", flags, Mode::empty())?;
    match folder.strip_prefix("/") {
        Ok(below) if below.as_os_str().is_empty() => Ok(root),
        Ok(below) => beneath::open(std::os::fd::AsFd::as_fd(&root), below, flags, Mode::empty()),
        Err(_) => Err(Errno::INVAL.into()),
    }
}

fn rename(
    folder: &OwnedFd,
    part: &str,
    name: &OsString,
    force: bool,
) -> std::result::Result<(), Errno> {
    if force {
        return renameat(folder, part, folder, name);
    }
    // Another process may have made the file meanwhile.
    match renameat_with(folder, part, folder, name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => renameat(folder, part, folder, name),
        renamed => renamed,
    }
}
