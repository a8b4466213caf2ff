//! Runs at once on one machine spoil each other: the second is refused, or both are marked.
//!
//! The locks are the kernel's (flock), so that a dead run's vanish with it, and they are taken on files that every
//! user can open and nobody has to make: nothing is left behind. Whoever measures alone holds the first; whoever
//! insists on measuring beside it shares the second, where the first finds it out.

use anyhow::{Result, bail};
use files::{File, Folder};
use rustix::fs::{FlockOperation, flock};
use std::path::{Path, PathBuf};

/// A folder in which the locks lie instead, such as one that containers of one machine share.
const ELSEWHERE: &str = "PAGEWISE_LOCK";
/// The files of every machine: the one who measures, and those beside it.
const FILES: [&str; 2] = ["/etc/machine-id", "/etc/passwd"];

/// The right to measure, held for as long as it lives.
#[derive(Debug)]
pub struct Alone {
    first: Option<File>,
    beside: Option<File>,
    is_first: bool,
}

impl Alone {
    /// Takes it; a sentence where somebody else has it, unless that is `forced`.
    pub fn on_this_machine(forced: bool) -> Result<Alone> {
        let folder = std::env::var_os(ELSEWHERE).map(PathBuf::from);
        Alone::by(
            open(folder.as_deref(), 0),
            open(folder.as_deref(), 1),
            forced,
        )
    }

    fn by(first: Option<File>, beside: Option<File>, forced: bool) -> Result<Alone> {
        // A file system without locks, or a machine without such a file, is no reason not to measure.
        let busy = first
            .as_ref()
            .is_some_and(|file| !free(file, FlockOperation::NonBlockingLockExclusive));
        if busy && !forced {
            bail!(
                "another run is measuring on this machine, and both would be spoiled; wait for it, or --force marks both"
            );
        }
        if let Some(file) = beside.as_ref().filter(|_| busy) {
            let _ = flock(file, FlockOperation::LockShared);
        }
        Ok(Alone {
            first,
            beside,
            is_first: !busy,
        })
    }

    /// Tells whether somebody else measures at this moment.
    pub fn has_company(&self) -> bool {
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
        assert!(!first.has_company());
        assert!(
            take(false)
                .unwrap_err()
                .to_string()
                .contains("--force marks both")
        );
        let second = take(true).unwrap();
        assert!(first.has_company() && second.has_company());
        drop(second);
        assert!(!first.has_company());
        drop(first);
        assert!(
            !take(true).unwrap().has_company(),
            "force alone is no company"
        );
        assert!(!Alone::by(None, None, false).unwrap().has_company());
    }
}
