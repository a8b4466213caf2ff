//! Temporary folders and files in memory.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{MemfdFlags, Mode, fchmod, memfd_create, mkdirat};
use rustix::io::Errno;

use crate::{Error, File, Folder, Result};

/// A folder that only this user can enter; removed with all that is in it when dropped.
#[derive(Debug)]
pub struct Temporary {
    folder: Folder,
    above: Folder,
}

impl Temporary {
    /// The folder.
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
        let _ = self.above.remove(self.path().file_name().unwrap_or_default());
    }
}

/// Folder in which [`temporary`] makes folders: `TMPDIR` or /tmp.
pub fn temporary_place() -> PathBuf {
    std::env::temp_dir()
}

/// Makes a folder with mode 0700 and a random name that begins with `prefix`.
///
/// # Errors
/// mkdir(2) fails.
pub fn temporary(prefix: &str) -> Result<Temporary> {
    let above = Folder::open(&temporary_place())?;
    loop {
        // The standard library seeds these from getrandom(2).
        let name = format!("{prefix}{:016x}", RandomState::new().build_hasher().finish());
        match mkdirat(&above, &name, Mode::RWXU) {
            Ok(()) => return Ok(Temporary { folder: above.folder(&name)?, above }),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(Error::new("make", &above.path().join(name), error)),
        }
    }
}

/// A file in memory that can be executed or loaded by the path of its descriptor.
///
/// # Errors
/// memfd_create(2) fails, or the kernel forbids programs in memory.
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
    let seals = rustix::fs::SealFlags::WRITE | rustix::fs::SealFlags::GROW | rustix::fs::SealFlags::SHRINK;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}
