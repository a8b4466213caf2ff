//! A folder of ours, held by its descriptor. What is made in it is for this user alone (0600, 0700) but where a function says
//! otherwise.

use crate::input::{limited, regular};
use crate::trust::without_links_of_others;
use crate::{Access, Error, File, Ownership, Result, beneath, safe_folder, trusted_folder};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat, linkat, mkdirat, openat,
    renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{io, io::Read, io::Write, os::unix::ffi::OsStrExt, os::unix::fs::DirBuilderExt};

/// Length of a secret, in bytes.
const SECRET_BYTES: usize = 32;

/// Random bytes that only this user can read.
pub type Secret = [u8; SECRET_BYTES];

/// Folder with a link to each open file of this process.
const DESCRIPTORS: &str = "/proc/self/fd";

/// Permissions for this user alone.
const PRIVATE: u32 = 0o700;
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
/// Permissions for everybody whom the umask allows.
const SHARED: u32 = 0o777;
const SHARED_FILE: Mode = Mode::from_raw_mode(0o666);

/// An open folder. Names are relative paths below it.
#[derive(Debug)]
pub struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
}

/// Type of a directory entry. Symbolic links, pipes, sockets and devices are `Other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Other,
}

/// Directory entry; a symbolic link describes itself.
#[derive(Clone, Debug)]
pub struct DirEntry {
    pub name: OsString,
    pub kind: EntryKind,
    pub bytes: u64,
    pub modified: SystemTime,
    pub access: Access,
}

impl Folder {
    /// Opens a folder by a path that the user typed or that is ours; links in the path are followed.
    pub fn open(path: &Path) -> Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(CWD, path, flags, Mode::empty()).map_err(io::Error::from);
        let real = opened.and_then(|descriptor| Ok((descriptor, std::fs::canonicalize(path)?)));
        let (descriptor, path) = real.map_err(|error| Error::new("read", path, error))?;
        Ok(Folder { descriptor, path })
    }

    /// Opens a folder, making it and its parents where they are missing, with the permissions that the umask allows.
    /// Errors: it cannot be made, or a link on the way belongs to another user.
    pub fn make(path: &Path) -> Result<Folder> {
        without_links_of_others(nearest(path))?;
        Folder::make_for(path, SHARED)
    }

    fn make_for(path: &Path, mode: u32) -> Result<Folder> {
        let made = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(mode)
            .create(path);
        made.map_err(|error| Error::new("make", path, error))?;
        Folder::open(path)
    }

    /// Opens a folder that nobody but this user and root can change or replace, making it with mode 0700 if it is missing.
    /// Errors: it cannot be made, or another user may change it, a folder above it or a link on the way (`PermissionDenied`).
    pub fn private(path: &Path) -> Result<Folder> {
        let absolute = std::path::absolute(path);
        let path = &absolute.map_err(|error| Error::new("use", path, error))?;
        // Nothing is made in a folder of another user.
        if let Some(there) = path.ancestors().find(|above| above.is_dir()) {
            safe_folder(there)?;
        }
        Folder::make_for(path, PRIVATE)?;
        Folder::trusted(path)
    }

    /// Opens a folder that nobody but this user and root can change or replace.
    /// Errors: there is none, or another user may change it, a folder above it or a link on the way (`PermissionDenied`).
    pub fn trusted(path: &Path) -> Result<Folder> {
        Folder::open(&trusted_folder(path)?)
    }

    /// Makes a folder of mode 0700, or takes an empty one of this user. Returns it with the folders made, innermost first; on
    /// error they are removed again.
    /// Errors: it is in use (`DirectoryNotEmpty`), belongs to another user or can be replaced by one (`PermissionDenied`), or
    /// cannot be made.
    pub fn fresh(path: &Path) -> Result<(Folder, Vec<PathBuf>)> {
        Folder::fresh_for(path, PRIVATE)
    }

    /// The same with the permissions that the umask allows, for files that other users and services read.
    pub fn fresh_shared(path: &Path) -> Result<(Folder, Vec<PathBuf>)> {
        Folder::fresh_for(path, SHARED)
    }

    fn fresh_for(path: &Path, mode: u32) -> Result<(Folder, Vec<PathBuf>)> {
        let missing =
            |p: &&Path| !p.as_os_str().is_empty() && std::fs::symlink_metadata(p).is_err();
        let made: Vec<PathBuf> = path
            .ancestors()
            .take_while(missing)
            .map(Path::to_owned)
            .collect();
        let fresh =
            may_be_made(path).and_then(|()| Folder::make_for(path, mode)?.empty_and_own(path));
        match fresh {
            Ok(folder) => Ok((folder, made)),
            Err(error) => {
                made.iter()
                    .for_each(|folder| drop(std::fs::remove_dir(folder)));
                Err(error)
            }
        }
    }

    /// Checks whether [`Folder::fresh`] can succeed; changes nothing.
    pub fn can_be_fresh(path: &Path) -> Result<()> {
        let above = nearest(path);
        may_be_made(path)?;
        if above == path {
            return Ok(());
        }
        let writable = rustix::fs::accessat(
            CWD,
            above.join(""),
            rustix::fs::Access::WRITE_OK,
            AtFlags::EACCESS,
        );
        writable.map_err(|error| Error::new("make", path, error))
    }

    fn empty_and_own(self, path: &Path) -> Result<Folder> {
        let refused = |kind: io::ErrorKind, why: &str| {
            Err(Error::new("use", path, io::Error::new(kind, why)))
        };
        if let Ownership::Foreign(user) = self.ownership()? {
            return refused(
                io::ErrorKind::PermissionDenied,
                &format!("it belongs to user {user}"),
            );
        }
        if !self.names()?.is_empty() {
            return refused(io::ErrorKind::DirectoryNotEmpty, "it is not empty");
        }
        Ok(self)
    }

    /// Absolute path at the time of opening. For messages and for programs that are started; not for opening.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Descriptor of the folder, with its lock.
    pub fn into_file(self) -> File {
        self.descriptor.into()
    }

    pub fn ownership(&self) -> Result<Ownership> {
        Ok(self.access()?.ownership())
    }

    pub fn access(&self) -> Result<Access> {
        Access::of_descriptor(&self.descriptor)
            .map_err(|error| Error::new("read", &self.path, error))
    }

    /// Opens a folder in this one.
    /// Errors: there is no such folder, or a link stands in the way.
    pub fn folder(&self, name: impl AsRef<Path>) -> Result<Folder> {
        let name = name.as_ref();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let descriptor = self.opened("read", name, flags, Mode::empty())?;
        Ok(Folder {
            descriptor,
            path: self.path.join(name),
        })
    }

    /// Opens a folder below this one, making it and those above it where they are missing.
    pub fn make_folder(&self, name: impl AsRef<Path>) -> Result<Folder> {
        let name = name.as_ref();
        let mut missing: Vec<&Path> = name
            .ancestors()
            .filter(|above| !above.as_os_str().is_empty())
            .collect();
        while let Some(next) = missing.pop() {
            let above = next.parent().filter(|above| !above.as_os_str().is_empty());
            let above = above.map(|above| self.folder(above)).transpose()?;
            let plain = self.plain("make", Path::new(next.file_name().unwrap_or_default()))?;
            match mkdirat(
                above.as_ref().unwrap_or(self),
                plain,
                Mode::from_raw_mode(PRIVATE),
            ) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(self.cannot("make", next, error)),
            }
        }
        self.folder(name)
    }

    /// Opens a regular file for reading.
    /// Errors: there is none, it is no regular file, or a link stands in the way.
    pub fn file(&self, name: impl AsRef<Path>) -> Result<File> {
        let name = name.as_ref();
        let descriptor = self.opened(
            "read",
            name,
            OFlags::RDONLY | OFlags::NONBLOCK,
            Mode::empty(),
        )?;
        regular(File::from(descriptor)).map_err(|error| self.cannot("read", name, error))
    }

    /// Bytes of a regular file.
    /// Errors: as [`Folder::file`], or the file has more than `limit` bytes.
    pub fn read(&self, name: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>> {
        Ok(self.read_open(name, limit)?.1)
    }

    /// A regular file with its bytes; its offset is at their end.
    pub fn read_open(&self, name: impl AsRef<Path>, limit: u64) -> Result<(File, Vec<u8>)> {
        let name = name.as_ref();
        let file = self.file(name)?;
        let bytes = limited(&file, limit).map_err(|error| self.cannot("read", name, error))?;
        Ok((file, bytes))
    }

    /// Opens a regular file for reading and writing, making it if it is missing. The offset is at its start.
    /// Errors: it is no regular file, or cannot be made or opened.
    pub fn edit(&self, name: impl AsRef<Path>) -> Result<File> {
        self.edit_for(name.as_ref(), PRIVATE_FILE)
    }

    /// The same for a file that other users lock.
    pub fn edit_shared(&self, name: impl AsRef<Path>) -> Result<File> {
        self.edit_for(name.as_ref(), SHARED_FILE)
    }

    fn edit_for(&self, name: &Path, mode: Mode) -> Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK;
        let descriptor = self.opened("write", name, flags, mode)?;
        regular(File::from(descriptor)).map_err(|error| self.cannot("write", name, error))
    }

    /// Makes a file that must not exist yet.
    /// Errors: something of this name exists, or it cannot be made.
    pub fn create(&self, name: impl AsRef<Path>) -> Result<File> {
        self.created(name.as_ref(), OFlags::WRONLY, PRIVATE_FILE)
    }

    /// Makes a file that must not exist yet, for reading and writing.
    pub fn create_private(&self, name: &str) -> Result<File> {
        self.created(Path::new(name), OFlags::RDWR, PRIVATE_FILE)
    }

    fn created(&self, name: &Path, access: OFlags, mode: Mode) -> Result<File> {
        let flags = access | OFlags::CREATE | OFlags::EXCL;
        Ok(self.opened("write", name, flags, mode)?.into())
    }

    /// Random bytes that only this user may read; `None` if there are none yet.
    /// Errors: the file has another owner, more permissions or another length.
    pub fn secret(&self, name: &str) -> Result<Option<Secret>> {
        let Some((file, bytes)) = crate::if_there(self.read_open(name, SECRET_BYTES as u64))?
        else {
            return Ok(None);
        };
        let access = Access::of_descriptor(&file)
            .map_err(|error| self.cannot("read", Path::new(name), error))?;
        let secret = bytes.try_into().ok().filter(|_| access.is_private());
        let why = "it is no secret of this user's: mode 0600 and 32 bytes";
        secret.map(Some).ok_or_else(|| {
            let refused = io::Error::new(io::ErrorKind::PermissionDenied, why);
            self.cannot("use", Path::new(name), refused)
        })
    }

    /// The bytes of [`Folder::secret`], made where there are none.
    pub fn make_secret(&self, name: &str) -> Result<Secret> {
        if let Some(secret) = self.secret(name)? {
            return Ok(secret);
        }
        let random = Path::new("/dev/urandom");
        let mut bytes: Secret = [0; SECRET_BYTES];
        File::open(random)
            .and_then(|mut source| source.read_exact(&mut bytes))
            .map_err(|error| Error::new("read", random, error))?;
        let part = format!(".{name}.{}.part", std::process::id());
        let _ = unlinkat(&self.descriptor, &part, AtFlags::empty());
        let written = self.create_private(&part)?.write_all(&bytes);
        // Another process may have made it meanwhile: the first one stays.
        let named = written.and_then(|()| {
            let linked = linkat(
                &self.descriptor,
                &part,
                &self.descriptor,
                name,
                AtFlags::empty(),
            );
            Ok(linked?)
        });
        let _ = unlinkat(&self.descriptor, &part, AtFlags::empty());
        match self.secret(name)? {
            Some(secret) => Ok(secret),
            None => Err(self.cannot(
                "write",
                Path::new(name),
                named
                    .err()
                    .unwrap_or_else(|| io::ErrorKind::NotFound.into()),
            )),
        }
    }

    /// Makes a folder that must not exist yet, with mode 0700.
    /// Errors: something of this name exists (`AlreadyExists`), or mkdir(2) fails.
    pub fn make_private(&self, name: &str) -> Result<Folder> {
        let plain = self.plain("make", Path::new(name))?;
        let made = mkdirat(&self.descriptor, plain, Mode::RWXU);
        made.map_err(|error| self.cannot("make", Path::new(name), error))?;
        self.folder(name)
    }

    /// Locks the folder until it is closed; false if another process holds it. A file system without locks grants it.
    pub fn lock(&self) -> bool {
        rustix::fs::flock(&self.descriptor, FlockOperation::NonBlockingLockExclusive)
            != Err(Errno::WOULDBLOCK)
    }

    /// Makes an empty file directly in this folder, in place of one of this name.
    pub fn replace(&self, name: impl AsRef<Path>) -> Result<File> {
        let name = name.as_ref();
        match unlinkat(
            &self.descriptor,
            self.plain("write", name)?,
            AtFlags::empty(),
        ) {
            Ok(()) | Err(Errno::NOENT) => self.create(name),
            Err(error) => Err(self.cannot("write", name, error)),
        }
    }

    /// Writes a file directly in this folder, whole or not at all; replaces one of this name.
    /// Errors: it cannot be written; the old file is as it was.
    pub fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        self.write_from(name.as_ref(), PRIVATE_FILE, &mut &*bytes)
    }

    /// The same for a file that others may read as the umask allows.
    pub fn write_shared(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        self.write_from(name.as_ref(), SHARED_FILE, &mut &*bytes)
    }

    /// Writes a program that this user may execute, as [`Folder::write`].
    pub fn write_program(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        self.write_from(name.as_ref(), Mode::RWXU, &mut &*bytes)
    }

    /// Writes what a stream gives, as [`Folder::write`].
    pub fn write_stream(&self, name: impl AsRef<Path>, from: &mut dyn io::Read) -> Result<()> {
        self.write_from(name.as_ref(), PRIVATE_FILE, from)
    }

    fn write_from(&self, name: &Path, mode: Mode, from: &mut dyn io::Read) -> Result<()> {
        let plain = self.plain("write", name)?;
        let part = format!(".{}.{}.part", plain.to_string_lossy(), std::process::id());
        // A process of this number may have been killed here before.
        let _ = unlinkat(&self.descriptor, &part, AtFlags::empty());
        let nameless = self.nameless(mode);
        let has_name = nameless.is_none();
        let mut file = match nameless {
            Some(file) => file,
            None => self.created(Path::new(&part), OFlags::WRONLY, mode)?,
        };
        let mut written = io::copy(from, &mut file);
        if written.is_ok() && !has_name {
            let here = format!("{DESCRIPTORS}/{}", file.as_raw_fd());
            let linked = linkat(CWD, here, &self.descriptor, &part, AtFlags::SYMLINK_FOLLOW);
            written = linked.map(|()| 0).map_err(io::Error::from);
        }
        drop(file);
        let named =
            written.and_then(|_| Ok(renameat(&self.descriptor, &part, &self.descriptor, plain)?));
        named.map_err(|error| {
            let _ = unlinkat(&self.descriptor, &part, AtFlags::empty());
            self.cannot("write", name, error)
        })
    }

    /// A private file of this folder that has no name yet, so that nothing of it is left where this process is killed. None:
    /// the file system has no such files, there is no /proc, or others may read it: some kernels pass over the umask then.
    fn nameless(&self, mode: Mode) -> Option<File> {
        if mode.intersects(Mode::RWXG | Mode::RWXO)
            || statat(CWD, DESCRIPTORS, AtFlags::empty()).is_err()
        {
            return None;
        }
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let made = openat(&self.descriptor, ".", flags, mode);
        made.ok().map(File::from)
    }

    /// Makes a symbolic link directly in this folder, to a path that need not exist.
    /// Errors: an entry has the name, or symlink(2) fails.
    pub fn link_to(&self, name: &str, path: &Path) -> Result<()> {
        let plain = self.plain("make", Path::new(name))?;
        let made = symlinkat(path, &self.descriptor, plain);
        made.map_err(|error| self.cannot("make", Path::new(name), error))
    }

    /// Renames an entry of this folder; fails over a folder that is not empty.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<()> {
        let (from, to) = (
            self.plain("rename", from.as_ref())?,
            self.plain("rename", to.as_ref())?,
        );
        let renamed = renameat(&self.descriptor, from, &self.descriptor, to);
        renamed.map_err(|error| self.cannot("rename", Path::new(from), error))
    }

    /// Removes an entry of this folder with all that is in it. A link is removed, never followed.
    pub fn remove(&self, name: impl AsRef<Path>) -> Result<()> {
        let plain = self.plain("remove", name.as_ref())?;
        remove(self.descriptor.as_fd(), plain)
            .map_err(|error| self.cannot("remove", name.as_ref(), error))
    }

    /// Removes an open folder of this one with all that is in it. A folder that took its name meanwhile stays.
    pub(crate) fn remove_open(&self, name: &OsStr, inner: &Folder) -> io::Result<()> {
        let opened = rustix::fs::fstat(inner)?;
        let named = statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino) {
            return Err(Errno::STALE.into());
        }
        for entry in names(inner.as_fd())? {
            remove(inner.as_fd(), &entry)?;
        }
        Ok(unlinkat(&self.descriptor, name, AtFlags::REMOVEDIR)?)
    }

    /// Names of the entries, sorted.
    pub fn names(&self) -> Result<Vec<OsString>> {
        names(self.descriptor.as_fd()).map_err(|error| Error::new("read", &self.path, error))
    }

    pub fn entry(&self, name: impl AsRef<Path>) -> Result<DirEntry> {
        let plain = self.plain("read", name.as_ref())?;
        let stat = statat(&self.descriptor, plain, AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(|error| self.cannot("read", name.as_ref(), error))?;
        Ok(entry(plain.to_owned(), &stat))
    }

    /// All entries, sorted by name. An entry that goes away meanwhile is left out.
    pub fn entries(&self) -> Result<Vec<DirEntry>> {
        Ok(self
            .names()?
            .iter()
            .filter_map(|name| self.entry(name).ok())
            .collect())
    }

    /// True if this user may execute a file of this folder: its permissions and the mount allow it.
    pub fn may_execute(&self, name: impl AsRef<Path>) -> bool {
        rustix::fs::accessat(
            &self.descriptor,
            name.as_ref(),
            rustix::fs::Access::EXEC_OK,
            AtFlags::EACCESS,
        )
        .is_ok()
    }

    /// Waits until the names in this folder have reached the device.
    /// Errors: the device reports an error. File systems without this call report success.
    pub fn sync(&self) -> Result<()> {
        match rustix::fs::fsync(&self.descriptor) {
            Ok(()) | Err(Errno::INVAL | Errno::ROFS | Errno::NOTSUP) => Ok(()),
            Err(error) => Err(Error::new("write", &self.path, error)),
        }
    }

    /// Name without a path: the only component that renaming and removing take.
    fn plain<'a>(&self, doing: &'static str, name: &'a Path) -> Result<&'a OsStr> {
        let plain = name.file_name().filter(|plain| Path::new(plain) == name);
        plain.ok_or_else(|| self.cannot(doing, name, Errno::INVAL))
    }

    /// `mode` is that of a file which is made.
    fn opened(
        &self,
        doing: &'static str,
        name: &Path,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd> {
        let opened = beneath::open(self.descriptor.as_fd(), name, flags, mode);
        opened.map_err(|error| self.cannot(doing, name, error))
    }

    fn cannot(&self, doing: &'static str, name: &Path, error: impl Into<io::Error>) -> Error {
        Error::new(doing, &self.path.join(name), error)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// An error if another user can replace what is made at a path, or no folder can be made there.
fn may_be_made(path: &Path) -> Result<()> {
    let there = nearest(path);
    if there == path {
        Folder::open(path)?.empty_and_own(path)?;
    }
    match safe_folder(there) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(Error::new("make", path, Errno::NOTDIR))
        }
        checked => checked.map(drop),
    }
}

/// The folder itself where it exists, otherwise the nearest one above it that does.
fn nearest(path: &Path) -> &Path {
    path.ancestors()
        .find(|above| std::fs::symlink_metadata(above).is_ok())
        .unwrap_or(Path::new("."))
}

fn entry(name: OsString, stat: &Stat) -> DirEntry {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        _ => EntryKind::Other,
    };
    let since = Duration::new(
        stat.st_mtime.try_into().unwrap_or(0),
        stat.st_mtime_nsec.try_into().unwrap_or(0),
    );
    let bytes = stat.st_size.try_into().unwrap_or(0);
    DirEntry {
        name,
        kind,
        bytes,
        modified: SystemTime::UNIX_EPOCH + since,
        access: Access::of_stat(stat),
    }
}

fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn remove(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        removed => return Ok(removed?),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = openat(folder, name, flags, Mode::empty())?;
    for name in names(inner.as_fd())? {
        remove(inner.as_fd(), &name)?;
    }
    Ok(unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}
