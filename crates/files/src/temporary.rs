//! Temporary folders and files in memory.

use crate::{Access, Error, File, Folder, Result, safe_folder};
use rustix::fs::{CWD, MemfdFlags, Mode, OFlags, fchmod, memfd_create, openat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use std::path::{Path, PathBuf};
use std::{ffi::OsString, io, io::Write};

/// Most bytes of an unusable path that a message shows.
const SHOWN: usize = 100;

/// A folder that only this user can enter; removed with all that is in it when dropped.
#[derive(Debug)]
pub struct Temporary {
    folder: Folder,
    above: Folder,
}

impl Temporary {
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let name = self.path().file_name().unwrap_or_default();
        let _ = self.above.remove_open(name, &self.folder);
    }
}

/// Folder for temporary files: `TMPDIR` or /tmp.
/// Errors: there is no such folder, its path is too long, or another user can replace what is made in it.
pub fn temporary_place() -> Result<PathBuf> {
    safe_place(&std::env::temp_dir())
}

/// Absolute path of a folder for temporary files.
/// Errors: as [`temporary_place`].
pub fn safe_place(place: &Path) -> Result<PathBuf> {
    safe_folder(place).map_err(|error| {
        let start: String = place.to_string_lossy().chars().take(SHOWN).collect();
        let place_or_start = if place.as_os_str().len() > SHOWN {
            PathBuf::from(start + "…")
        } else {
            place.to_owned()
        };
        Error::new("use TMPDIR", &place_or_start, error.source)
    })
}

/// 128 random bits from the kernel, as 32 hexadecimal digits: part of a name that nobody can take before it is made.
/// Errors: getrandom(2) fails.
pub fn random_word() -> io::Result<String> {
    let mut bits = [0; 16];
    getrandom(&mut bits, GetRandomFlags::empty())?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bits)))
}

/// Makes a folder with mode 0700 and a random name that begins with `prefix`. It is locked for as long as it is used.
pub fn temporary(above: &Path, prefix: &str) -> Result<Temporary> {
    let above = Folder::open(above)?;
    loop {
        let word =
            random_word().map_err(|error| Error::new("name a folder in", above.path(), error))?;
        let name = format!("{prefix}{word}");
        match above.make_private(&name) {
            // `sweep` of another process may have been faster than the lock.
            Ok(folder) if folder.lock() && above.entry(&name).is_ok() => {
                return Ok(Temporary { folder, above });
            }
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
}

/// Removes folders of [`temporary`] whose process was killed: folders of this user alone, below an open folder.
/// Nothing is removed where another user could have put a folder of this user under such a name.
pub fn sweep(above: &Folder, prefix: &str) {
    if safe_folder(above.path()).is_err() {
        return;
    }
    let left = |name: &OsString| name.as_encoded_bytes().starts_with(prefix.as_bytes());
    for name in above.names().unwrap_or_default().into_iter().filter(left) {
        let Ok(folder) = above.folder(&name) else {
            continue;
        };
        if folder.access().is_ok_and(Access::is_private) && folder.lock() {
            let _ = above.remove_open(&name, &folder);
        }
    }
}

/// An empty file in memory; where the machine refuses such files, one without a name in the folder for temporary files.
pub fn empty_memory_file(name: &str) -> io::Result<File> {
    match memfd_create(name, MemfdFlags::CLOEXEC) {
        Err(Errno::NOSYS | Errno::PERM | Errno::ACCESS) => {
            let place = temporary_place().map_err(io::Error::other)?;
            let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
            Ok(openat(CWD, &place, flags, Mode::from_raw_mode(0o600))?.into())
        }
        made => Ok(made?.into()),
    }
}

/// A file in memory that can be executed or loaded by the path of its descriptor.
/// Errors: memfd_create(2) fails, or the kernel forbids programs in memory.
pub fn memory_file(name: &str, bytes: &[u8]) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let made = match memfd_create(name, flags | MemfdFlags::EXEC) {
        // Kernels before 6.3 know no such flag; their files in memory may always be executed.
        Err(Errno::INVAL) => memfd_create(name, flags),
        made => made,
    };
    let mut file = File::from(made?);
    file.write_all(bytes)?;
    fchmod(&file, Mode::from_raw_mode(0o500))?;
    let seals =
        rustix::fs::SealFlags::WRITE | rustix::fs::SealFlags::GROW | rustix::fs::SealFlags::SHRINK;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}
