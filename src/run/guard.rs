//! Puts things back even if the laboratory is killed: a small process that acts when its standard input ends.
//!
//! Every change outside a run's folder is written to a journal first. The journal is a locked file below a folder of this
//! user; laboratory and guard share the lock. Where both are killed, the next command finds the journal without a lock and
//! has it carried out (`put_back`).

use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use files::{File, Folder, kernel};
use rustix::fs::{FlockOperation, MemfdFlags, Mode, OFlags, flock, fstat, memfd_create, mkdir, open, stat, unlink};
use rustix::io::Errno;

use crate::worker;

/// The first field of every journal (`workers/c/helper/guard.c`).
const MAGIC: &str = "pagewise-journal-1";

/// One change, as it is to be undone.
#[derive(Clone, Copy, Debug)]
pub enum Undo<'a> {
    /// Remove the entries of this user named `{lead}pagewise-{run}`, or so with a hyphen or a full stop behind, from a folder.
    RemoveNamed {
        /// The folder, which others may use too.
        folder: &'a Path,
        /// Nothing, a full stop, or `scratch-`.
        lead: &'a str,
        /// 1 to 64 letters, digits and hyphens.
        run: &'a str,
    },
    /// Remove a cgroup.
    RemoveCgroup {
        /// The cgroup above it.
        level: &'a Path,
        /// Its name, which begins with `pagewise-`.
        name: &'a str,
    },
    /// Write a text to a setting of the kernel that the guard knows.
    Restore {
        /// The setting's file.
        setting: &'a Path,
        /// The old text.
        text: &'a str,
    },
}

impl Undo<'_> {
    /// The counted fields of its record; `None` where there is no such folder to remove anything from.
    fn record(&self) -> Result<Option<Vec<u8>>> {
        let fields = match self {
            Undo::RemoveNamed { folder, lead, run } => {
                let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
                ensure!((1..=64).contains(&run.len()) && run.chars().all(allowed), "{run:?} is no name of a run");
                let about = match stat(*folder) {
                    Ok(about) => about,
                    Err(Errno::NOENT) => return Ok(None),
                    Err(error) => return Err(error).with_context(|| format!("cannot look at {}", folder.display())),
                };
                let folder = std::path::absolute(folder)?.into_os_string();
                let [device, inode] = [about.st_dev, about.st_ino].map(|number| number.to_string().into());
                vec!["remove-named".into(), folder, device, inode, (*lead).into(), (*run).into()]
            }
            Undo::RemoveCgroup { level, name } => vec!["remove-cgroup".into(), level.into(), name.into()],
            Undo::Restore { setting, text } => vec!["restore".into(), setting.into(), text.into()],
        };
        Ok(Some(counted(&fields.iter().map(|field| field.as_os_str()).collect::<Vec<&OsStr>>())))
    }
}

/// Fields as `LENGTH:BYTES,` one after the other.
fn counted(fields: &[&OsStr]) -> Vec<u8> {
    let one = |field: &&OsStr| [format!("{}:", field.len()).as_bytes(), field.as_bytes(), b","].concat();
    fields.iter().flat_map(one).collect()
}

/// Takes note of changes before they are made.
pub trait Undoing {
    /// Notes a change; it may be made once this has returned.
    fn undo(&mut self, undo: Undo) -> Result<()>;
}

/// The guard of one run. Dropping it has everything undone.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    input: Option<ChildStdin>,
    journal: Journal,
}

#[derive(Debug)]
struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// A new one, locked: a file of this user where there is a place for it, otherwise one that ends with its holders.
    fn new() -> Result<Journal> {
        let boot = kernel::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let first = counted(&[MAGIC.as_ref(), boot.trim().as_ref()]);
        for folder in folders() {
            if let Ok(mut journal) = Journal::below(&folder) {
                if journal.file.write_all(&first).is_ok() {
                    return Ok(journal);
                }
                let _ = unlink(&journal.path);
            }
        }
        let file = memfd_create("pagewise-journal", MemfdFlags::CLOEXEC).context("cannot make a journal")?;
        let mut journal = Journal { file: file.into(), path: PathBuf::from("-") };
        journal.file.write_all(&first).context("cannot write a journal")?;
        Ok(journal)
    }

    fn below(folder: &Path) -> Result<Journal> {
        if let Some(parent) = folder.parent() {
            Folder::make(parent)?;
        }
        if let Err(error) = mkdir(folder, Mode::RWXU)
            && error != Errno::EXIST
        {
            return Err(error.into());
        }
        let about = fstat(open(folder, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)?;
        let private = about.st_uid == rustix::process::geteuid().as_raw() && about.st_mode & 0o077 == 0;
        ensure!(private, "{} is not private", folder.display());
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..8 {
            let path = folder.join(unique());
            let file = File::from(open(&path, flags, Mode::RUSR | Mode::WUSR)?);
            flock(&file, FlockOperation::LockExclusive)?;
            // Another command may have taken it for one that was left, before it was locked.
            if fstat(&file)?.st_nlink == 1 {
                return Ok(Journal { file, path });
            }
        }
        bail!("no journal stays in {}", folder.display())
    }
}

/// Folders for the journals of this user.
fn folders() -> Vec<PathBuf> {
    let running =
        std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute() && path.is_dir());
    running.map(|path| path.join("pagewise")).into_iter().chain([worker::cache_folder().join("undo")]).collect()
}

/// A name that nobody else has or can foretell.
fn unique() -> String {
    format!("{}-{:016x}", std::process::id(), RandomState::new().build_hasher().finish())
}

/// Undoes what laboratories of this user left that were killed together with their guards.
pub fn put_back() {
    for folder in folders() {
        if !kernel::names(&folder).is_empty()
            && let Ok(helper) = worker::helper()
        {
            let _ = Command::new(helper).arg("put-back").arg(&folder).stderr(Stdio::null()).status();
        }
    }
}

impl Guard {
    /// Starts the guard and waits until it is out of reach of Ctrl-C.
    pub fn start() -> Result<Guard> {
        let journal = Journal::new()?;
        let path = journal.path.clone();
        // Nothing is in the journal yet.
        Guard::of(journal).inspect_err(|_| {
            let _ = unlink(&path);
        })
    }

    fn of(journal: Journal) -> Result<Guard> {
        let mut child = Command::new(worker::helper()?)
            .arg("guard")
            .arg(&journal.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(journal.file.try_clone().context("cannot share the journal")?)
            .spawn()
            .context("cannot start the guard")?;
        let input = child.stdin.take();
        let mut answer = String::new();
        child.stdout.take().context("the guard has no output")?.take(6).read_to_string(&mut answer)?;
        ensure!(answer == "ready\n", "the guard answered {answer:?}");
        Ok(Guard { child, input, journal })
    }

    /// Ends the guard, which then undoes what the journal says; whether it did.
    fn dismiss(&mut self) -> bool {
        drop(self.input.take());
        self.child.wait().is_ok_and(|status| status.success())
    }
}

impl Undoing for Guard {
    fn undo(&mut self, undo: Undo) -> Result<()> {
        let Some(record) = undo.record()? else { return Ok(()) };
        self.journal.file.write_all(&record).context("cannot write the guard's journal")
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.dismiss() {
            return;
        }
        // Somebody killed it (the kernel for want of memory, say). Undoing twice does no harm: another does it instead.
        if let Ok(file) = self.journal.file.try_clone()
            && let Ok(mut other) = Guard::of(Journal { file, path: self.journal.path.clone() })
        {
            other.dismiss();
            std::mem::forget(other);
        }
    }
}

/// A private folder below the temporary folder, which is removed however the laboratory ends.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _guard: Guard,
}

impl Scratch {
    /// Makes the folder `pagewise-{purpose}-…`.
    pub fn new(purpose: &str) -> Result<Scratch> {
        let (folder, run) = (files::temporary_place(), format!("{purpose}-{}", unique()));
        let mut guard = Guard::start()?;
        guard.undo(Undo::RemoveNamed { folder: &folder, lead: "", run: &run })?;
        let path = folder.join(format!("pagewise-{run}"));
        mkdir(&path, Mode::RWXU).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Scratch { path, _guard: guard })
    }

    /// Place.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
