//! Runs at once on one machine spoil each other: the second is refused, or both are marked.
//!
//! The locks are the kernel's (flock), so that a dead run's vanish with it, and they are taken on files that every
//! user can open and nobody has to make: nothing is left behind. Whoever measures alone holds the first; whoever
//! insists on measuring beside it shares the second, where the first finds it out.

use anyhow::{Result, bail};
use files::{File, Folder};
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A folder in which the locks lie instead, such as one that containers of one machine share.
const ELSEWHERE: &str = "PAGEWISE_LOCK";
/// The files of every machine: the one who measures, and those beside it.
const FILES: [&str; 2] = ["/etc/machine-id", "/etc/passwd"];

/// A folder that only root may open: no other user can hold a lock on it.
const OF_ROOT: &str = "/run/pagewise";
/// Longest time for which another user's lock keeps root from measuring.
const LONGEST: Duration = Duration::from_secs(10);
/// Time between two looks at a lock that somebody else holds.
const AGAIN: Duration = Duration::from_millis(100);
const BUSY: &str = "another run is measuring on this machine, and both would be spoiled; wait for it, or --force marks both";

/// The right to measure, held for as long as it lives.
#[derive(Debug)]
pub struct Alone {
    first: Option<File>,
    beside: Option<File>,
    is_first: bool,
    /// Root's own lock, which excludes other runs of root.
    _roots: Option<Folder>,
}

impl Alone {
    /// Takes it; a sentence where somebody else has it, unless that is `forced`. Root waits for another user's run, and
    /// measures beside it if it lasts: the lock is one that any user can take and hold.
    pub fn on_this_machine(forced: bool) -> Result<Alone> {
        let folder = std::env::var_os(ELSEWHERE).map(PathBuf::from);
        let take = |forced| {
            Alone::by(
                open(folder.as_deref(), 0),
                open(folder.as_deref(), 1),
                forced,
            )
        };
        let roots = if geteuid().is_root() && folder.is_none() {
            Folder::private(Path::new(OF_ROOT)).ok()
        } else {
            None
        };
        let Some(roots) = roots else {
            return take(forced);
        };
        let is_roots_first = roots.lock();
        if !is_roots_first && !forced {
            bail!(BUSY);
        }
        let alone = match take(forced) {
            Ok(alone) => alone,
            Err(_) => waited(|| take(false)).map_or_else(|| take(true), Ok)?,
        };
        Ok(Alone {
            _roots: is_roots_first.then_some(roots),
            ..alone
        })
    }

    fn by(first: Option<File>, beside: Option<File>, forced: bool) -> Result<Alone> {
        // A file system without locks, or a machine without such a file, is no reason not to measure.
        let busy = first
            .as_ref()
            .is_some_and(|file| !free(file, FlockOperation::NonBlockingLockExclusive));
        if busy && !forced {
            bail!(BUSY);
        }
        if let Some(file) = beside.as_ref().filter(|_| busy) {
            // Whoever holds this one exclusively knows of company as well; nobody is waited for.
            let _ = flock(file, FlockOperation::NonBlockingLockShared);
        }
        Ok(Alone {
            first,
            beside,
            is_first: !busy,
            _roots: None,
        })
    }

    /// Tells whether somebody else measures at this moment.
    pub fn has_contention(&self) -> bool {
        match (self.is_first, &self.first, &self.beside) {
            (true, _, Some(beside)) => {
                let alone = free(beside, FlockOperation::NonBlockingLockExclusive);
                let _ = flock(beside, FlockOperation::Unlock);
                !alone
            }
            // It was so when this one began; what is asked is whether it is worth a mark, and it is.
            (false, Some(_), _) => true,
            _ => false,
        }
    }
}

/// The right to measure, as soon as another user's run has ended; `None` if it lasts.
fn waited(take: impl Fn() -> Result<Alone>) -> Option<Alone> {
    remark!(
        "another user's run is measuring on this machine; waiting for it up to {} s",
        LONGEST.as_secs()
    );
    let began = Instant::now();
    while began.elapsed() < LONGEST {
        std::thread::sleep(AGAIN);
        if let Ok(alone) = take() {
            return Some(alone);
        }
    }
    remark!("the other run is still measuring; measuring beside it, which is marked");
    None
}

fn open(folder: Option<&Path>, which: usize) -> Option<File> {
    match folder {
        Some(folder) => Folder::open(folder)
            .ok()?
            .edit_shared(["measuring", "beside"][which])
            .ok(),
        None => files::open_input(Path::new(FILES[which])).ok(),
    }
}

/// Takes a lock; whether nobody else holds it.
fn free(file: &File, operation: FlockOperation) -> bool {
    !matches!(flock(file, operation), Err(rustix::io::Errno::WOULDBLOCK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_refused_or_both_know() {
        let place = tempfile::tempdir().unwrap();
        let take = |forced| {
            Alone::by(
                open(Some(place.path()), 0),
                open(Some(place.path()), 1),
                forced,
            )
        };
        let first = take(false).unwrap();
        assert!(!first.has_contention());
        assert!(
            take(false)
                .unwrap_err()
                .to_string()
                .contains("--force marks both")
        );
        let second = take(true).unwrap();
        assert!(first.has_contention() && second.has_contention());
        drop(second);
        assert!(!first.has_contention());
        drop(first);
        assert!(
            !take(true).unwrap().has_contention(),
            "force alone is no company"
        );
        assert!(!Alone::by(None, None, false).unwrap().has_contention());
    }
}
