//! Puts things back even if the laboratory is killed: a small process that acts when its standard input ends.
//!
//! Every change outside a run's folder is written to a journal first. The journal is a locked file below a folder of this
//! user; laboratory and guard share the lock. Where both are killed, the next command finds the journal without a lock and
//! has it carried out (`put_back`).

use crate::worker;
use anyhow::{Context, Result, bail, ensure};
use files::{File, Folder, kernel};
use record::state::State;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::{os::unix::ffi::OsStrExt, os::unix::fs::MetadataExt};

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
    RemoveCgroup {
        level: &'a Path,
        /// Its name, which begins with `pagewise-`.
        name: &'a str,
    },
    /// Take a zram device or the file `scratch-pagewise-…/swap` of a run out of use as swap.
    SwapOff {
        /// The device or the file.
        area: &'a Path,
    },
    /// Unmount the folder `scratch-pagewise-…/storage` of a run.
    Unmount { folder: &'a Path },
    /// Write a text to a setting of the kernel that the guard knows.
    Restore { setting: &'a Path, text: &'a str },
    /// Leave a setting that [`Guard::keep`] registered: the last user writes its first value.
    Release { setting: &'a Path, text: &'a str },
}

impl Undo<'_> {
    /// The counted fields of its record; `None` where there is no such folder to remove anything from.
    fn record(&self) -> Result<Option<Vec<u8>>> {
        let fields = match self {
            Undo::RemoveNamed { folder, lead, run } => {
                let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
                ensure!(
                    (1..=64).contains(&run.len()) && run.chars().all(allowed),
                    "{run:?} is no name of a run"
                );
                let folder = match Folder::open(folder) {
                    // What cannot be entered cannot be cleaned.
                    Err(error)
                        if matches!(
                            error.kind(),
                            ErrorKind::NotFound | ErrorKind::PermissionDenied
                        ) =>
                    {
                        return Ok(None);
                    }
                    opened => opened?,
                };
                let path = folder.path().as_os_str().to_owned();
                let about = folder.into_file().metadata()?;
                let [device, inode] =
                    [about.dev(), about.ino()].map(|number| number.to_string().into());
                vec![
                    "remove-named".into(),
                    path,
                    device,
                    inode,
                    (*lead).into(),
                    (*run).into(),
                ]
            }
            Undo::RemoveCgroup { level, name } => {
                vec!["remove-cgroup".into(), level.into(), name.into()]
            }
            Undo::SwapOff { area } => vec!["swap-off".into(), area.into()],
            Undo::Unmount { folder } => vec!["unmount".into(), folder.into()],
            Undo::Restore { setting, text } => vec!["restore".into(), setting.into(), text.into()],
            Undo::Release { setting, text } => vec!["release".into(), setting.into(), text.into()],
        };
        Ok(Some(counted(
            &fields
                .iter()
                .map(|field| field.as_os_str())
                .collect::<Vec<&OsStr>>(),
        )))
    }
}

/// Fields as `LENGTH:BYTES,` one after the other.
fn counted(fields: &[&OsStr]) -> Vec<u8> {
    let mut netstring = Vec::new();
    for field in fields {
        netstring.extend(format!("{}:", field.len()).as_bytes());
        netstring.extend(field.as_bytes());
        netstring.push(b',');
    }
    netstring
}

/// The word in the names that this process makes for a run. A run that is resumed at once has another one than its killed
/// laboratory had, whose guard may still be at work.
pub(super) fn session(state: &State) -> String {
    format!("{}-{}", state.plan.run, std::process::id())
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
    /// Its folder and name; `None` in memory.
    place: Option<(Folder, String)>,
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
                journal.remove();
            }
        }
        let mut file =
            files::empty_memory_file("pagewise-journal").context("cannot make a journal")?;
        file.write_all(&first).context("cannot write a journal")?;
        Ok(Journal { file, place: None })
    }

    fn below(folder: &Path) -> Result<Journal> {
        let folder = Folder::private(folder)?;
        for _ in 0..8 {
            let name = unique()?;
            let file = folder.create_private(&name)?;
            file.lock()?;
            // Another command may have taken it for one that was left, before it was locked.
            if file.metadata()?.nlink() == 1 {
                return Ok(Journal {
                    file,
                    place: Some((folder, name)),
                });
            }
        }
        bail!("no journal stays in {}", folder.path().display())
    }

    fn path(&self) -> PathBuf {
        self.place.as_ref().map_or_else(
            || PathBuf::from("-"),
            |(folder, name)| folder.path().join(name),
        )
    }

    fn remove(&self) {
        if let Some((folder, name)) = &self.place {
            let _ = folder.remove(name);
        }
    }
}

fn folders() -> Vec<PathBuf> {
    let running = std::env::var_os("XDG_RUNTIME_DIR")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute() && path.is_dir());
    running
        .map(|path| path.join("pagewise"))
        .into_iter()
        .chain([worker::cache_folder().join("undo")])
        .collect()
}

/// A name that nobody else has or can foretell.
fn unique() -> Result<String> {
    Ok(format!("{}-{}", std::process::id(), files::random_word()?))
}

/// Undoes what laboratories of this user left that were killed together with their guards. In a folder that another user can
/// change there is no journal.
pub fn put_back() {
    for folder in folders() {
        let Ok(folder) = Folder::trusted(&folder) else {
            continue;
        };
        // The laboratory and the guard of a journal are gone; seen without the cost of starting the helper.
        let journals = folder.names().unwrap_or_default();
        let is_left = journals.iter().any(|journal| {
            let file = folder.file(journal);
            file.is_ok_and(|file| file.try_lock().is_ok())
        });
        if is_left && let Ok(mut helper) = worker::helper_command() {
            let _ = helper
                .arg("put-back")
                .arg(folder.path())
                .stderr(Stdio::null())
                .status();
        }
    }
}

impl Guard {
    /// Starts the guard and waits until it is out of reach of Ctrl-C.
    pub fn start() -> Result<Guard> {
        let journal = Journal::new()?;
        match Guard::child(&journal) {
            Ok((child, input)) => Ok(Guard {
                child,
                input,
                journal,
            }),
            Err(error) => {
                // Nothing is in the journal yet.
                journal.remove();
                Err(error)
            }
        }
    }

    fn child(journal: &Journal) -> Result<(Child, Option<ChildStdin>)> {
        let mut child = worker::helper_command()?
            .arg("guard")
            .arg(journal.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(
                journal
                    .file
                    .try_clone()
                    .context("cannot share the journal")?,
            )
            .spawn()
            .context("cannot start the guard")?;
        let input = child.stdin.take();
        let mut answer = String::new();
        child
            .stdout
            .take()
            .context("the guard has no output")?
            .take(6)
            .read_to_string(&mut answer)?;
        ensure!(answer == "ready\n", "the guard answered {answer:?}");
        Ok((child, input))
    }
}

/// The register of changed settings, which only root can open: a folder for each, with the value that it had first and an entry
/// for each journal that is to put it back (`workers/c/helper/guard.c`).
const REGISTER: &str = "/run/pagewise/settings";
/// The entry of a setting's folder that has its first value.
const FIRST: &str = "first";
/// Longest value of a setting.
const MOST_VALUE: u64 = 4096;

impl Guard {
    /// Notes that a setting will be changed. The last of all runs that use it puts back the value that it had first.
    /// Errors: it cannot be read, or not be noted.
    pub fn keep(&mut self, setting: &Path) -> Result<()> {
        let register = rustix::process::geteuid()
            .is_root()
            .then(|| Folder::private(Path::new(REGISTER)).ok())
            .flatten();
        let (Some(register), Some((folder, name))) = (register, &self.journal.place) else {
            let text = &value(setting)?;
            return self.undo(Undo::Restore { setting, text });
        };
        let (journal, about) = (folder.path().join(name), self.journal.file.metadata()?);
        // Whoever puts a setting back holds the lock as well.
        rustix::fs::flock(&register, rustix::fs::FlockOperation::LockExclusive)?;
        let entry = setting.to_string_lossy().replace('/', "!");
        let first = files::if_there(register.read(Path::new(&entry).join(FIRST), MOST_VALUE))?;
        let text = &match &first {
            Some(first) => String::from_utf8_lossy(first).into_owned(),
            None => value(setting)?,
        };
        self.undo(Undo::Release { setting, text })?;
        let entry = register.make_folder(entry)?;
        if first.is_none() {
            entry.write(FIRST, text.as_bytes())?;
        }
        let user = format!("{}-{}", about.dev(), about.ino());
        Ok(entry.write(user, journal.as_os_str().as_bytes())?)
    }
}

/// Value of a setting. A list of choices has the current one in brackets.
fn value(setting: &Path) -> Result<String> {
    let text = kernel::read(setting)
        .with_context(|| format!("{}: this kernel has no such setting", setting.display()))?;
    let chosen = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or(text.trim(), |(chosen, _)| chosen);
    Ok(chosen.to_owned())
}

impl Undoing for Guard {
    fn undo(&mut self, undo: Undo) -> Result<()> {
        let Some(record) = undo.record()? else {
            return Ok(());
        };
        self.journal
            .file
            .write_all(&record)
            .context("cannot write the guard's journal")
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // A word says that the workers have ended.
        let _ = self.input.take().map(|mut input| input.write_all(b"ended"));
        if self.child.wait().is_ok_and(|status| status.success()) {
            return;
        }
        // Somebody killed it (the kernel for want of memory, say). Undoing twice does no harm: another does it instead.
        if let Ok((mut other, input)) = Guard::child(&self.journal) {
            drop(input);
            let _ = other.wait();
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
        Scratch::within(&files::temporary_place()?, purpose)
    }

    /// Makes it in a folder of this user's, whose files are on another device than temporary ones.
    pub fn within(place: &Path, purpose: &str) -> Result<Scratch> {
        let (folder, run) = (Folder::open(place)?, format!("{purpose}-{}", unique()?));
        let mut guard = Guard::start()?;
        guard.undo(Undo::RemoveNamed {
            folder: folder.path(),
            lead: "",
            run: &run,
        })?;
        let path = folder
            .make_private(&format!("pagewise-{run}"))?
            .path()
            .to_owned();
        Ok(Scratch {
            path,
            _guard: guard,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_setting_is_the_word_in_brackets_or_all_of_it() {
        let place = tempfile::tempdir().unwrap();
        let setting = place.path().join("setting");
        for (text, expected) in [
            ("always [madvise] never\n", "madvise"),
            ("always\n", "always"),
        ] {
            std::fs::write(&setting, text).unwrap();
            assert_eq!(value(&setting).unwrap(), expected);
        }
        assert!(value(&place.path().join("none")).is_err());
    }
}
