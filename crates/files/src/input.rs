//! Files that the user names.

use crate::{Error, File, Result};
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_setfl, fstat, openat};
use std::{io, io::Read, path::Path};

/// Opens a regular file by a path that the user typed; links are followed.
/// Errors: there is none, it may not be read, or it is no regular file.
pub fn open_input(path: &Path) -> Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = openat(CWD, path, flags, Mode::empty()).map_err(io::Error::from);
    opened
        .and_then(|file| regular(file.into()))
        .map_err(|error| Error::new("read", path, error))
}

/// Bytes of a regular file that the user named.
/// Errors: as [`open_input`], or the file has more than `limit` bytes.
pub fn read_input(path: &Path, limit: u64) -> Result<Vec<u8>> {
    limited(open_input(path)?, limit).map_err(|error| Error::new("read", path, error))
}

/// Text of a regular file that the user named.
/// Errors: as [`read_input`], or the file is not UTF-8.
pub fn read_input_text(path: &Path, limit: u64) -> Result<String> {
    let text = String::from_utf8(read_input(path, limit)?);
    text.map_err(|error| {
        Error::new(
            "read",
            path,
            io::Error::new(io::ErrorKind::InvalidData, error),
        )
    })
}

/// The file, if it is a regular one. Reading from it waits again.
pub(crate) fn regular(file: File) -> io::Result<File> {
    let kind = match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => {
            let flags = rustix::fs::fcntl_getfl(&file)?;
            fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
            return Ok(file);
        }
        FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {kind}, not a regular file"),
    ))
}

/// All bytes of a source, if there are no more than `limit`.
pub(crate) fn limited(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let why = format!("it has more than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}
