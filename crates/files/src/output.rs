//! Files that the user asks for: written whole or not at all; none is replaced unless the user says so.

use crate::{Error, Result};
use rustix::fs::{Access, AtFlags, CWD, RenameFlags, accessat, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that will be written: its path was found writable.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    real: PathBuf,
    force: bool,
}

impl Output {
    /// Checks that the path can be written; changes nothing. `force`: an existing file may be replaced.
    /// Errors: it is a folder, exists without `force`, or its folder is missing or not writable.
    pub fn at(path: &Path, force: bool) -> Result<Output> {
        let refused = |error: io::Error| Error::new("write", path, error);
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let target = match fs::metadata(&real) {
            Ok(found) if found.is_dir() => return Err(refused(io::Error::other("it is a folder"))),
            Ok(found) if found.is_file() && !force => {
                return Err(refused(io::Error::other("it exists; --force replaces it")));
            }
            Ok(found) if !found.is_file() => real.clone(),
            // With a slash at its end, the kernel refuses everything but a folder.
            _ => real
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty())
                .unwrap_or(Path::new("."))
                .join(""),
        };
        accessat(CWD, &target, Access::WRITE_OK, AtFlags::EACCESS)
            .map_err(|error| refused(error.into()))?;
        Ok(Output {
            path: path.to_owned(),
            real,
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
        if fs::metadata(&self.real).is_ok_and(|metadata| !metadata.is_file()) {
            // A pipe or a device takes the bytes as they come and cannot be renamed to.
            return filled(
                File::options()
                    .write(true)
                    .open(&self.real)
                    .map_err(cannot)?,
            );
        }
        let name = self.real.file_name().unwrap_or_default().to_string_lossy();
        let part = self
            .real
            .with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = File::options()
            .write(true)
            .create_new(true)
            .open(&part)
            .map_err(cannot)?;
        let named = filled(file).and_then(|()| Ok(self.name(&part).map_err(cannot)?));
        if named.is_err() {
            let _ = fs::remove_file(&part);
        }
        named
    }

    fn name(&self, part: &Path) -> io::Result<()> {
        if self.force {
            return fs::rename(part, &self.real);
        }
        // Another process may have made the file meanwhile.
        match renameat_with(CWD, part, CWD, &self.real, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => fs::rename(part, &self.real),
            renamed => Ok(renamed?),
        }
    }
}
