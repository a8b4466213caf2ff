//! Carrying out a plan: what happens next, the processes, what is made for them and put back, the signals that stop it.

use anyhow::{Result, bail};
use files::{File, Folder};
use record::folder::RunFolder;
use rustix::fs::FlockOperation;

pub mod alone;
pub mod bound;
pub mod captures;
pub mod guard;
pub mod kept;
pub mod launch;
pub mod need;
pub mod patience;
mod prepared;
pub mod profile;
pub mod progress;
pub mod replay;
mod runner;
pub mod signals;
pub mod system;
pub mod trial;

pub use alone::Alone;
pub use runner::{Questions, Runner};

/// Keeps other processes from measuring into this folder for as long as the result lives, even if this one is killed.
pub fn lock(folder: &RunFolder) -> Result<File> {
    let path = folder.path();
    let handle = Folder::open(path)?.into_file();
    match rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => bail!("another process is measuring into {}", path.display()),
        // A file system without locks, such as some network file systems, is no reason not to measure.
        _ => Ok(handle),
    }
}
