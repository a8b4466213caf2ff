//! Carrying out a plan: what happens next, the processes, what is made for them and put back, the signals that stop it.

use anyhow::{Result, ensure};
use files::{File, Folder};
use record::decision::{Decision, DecisionKind};
use record::folder::RunFolder;
use std::sync::{
    LazyLock,
    atomic::{AtomicBool, Ordering},
};
use std::time::Instant;

pub mod advising;
pub mod alone;
mod benching;
pub mod bound;
pub mod captures;
pub mod command;
mod facts;
pub mod guard;
pub mod launch;
pub mod lines;
mod prepared;
pub mod progress;
mod runner;
mod scores;
pub mod session;
pub mod signals;
mod site;
mod states;

pub use alone::Alone;
pub use runner::{Questions, Runner};
pub use session::Session;

fn decide(folder: &RunFolder, why: &str, what: DecisionKind) -> Result<()> {
    folder.append_decision(&Decision {
        time: jiff::Timestamp::now().to_string(),
        why: why.to_owned(),
        what,
    })
}

/// Keeps other processes from measuring into this folder for as long as the result lives, even if this one is killed.
pub fn lock(folder: &RunFolder) -> Result<File> {
    let path = folder.path();
    let opened = Folder::open(path)?;
    ensure!(
        opened.lock(),
        "another process is measuring into {}",
        path.display()
    );
    Ok(opened.into_file())
}

/// The start of the program.
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
/// True from the first run of this process on.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Notes the start of the program: the first call of `main`.
pub fn start() {
    LazyLock::force(&STARTED);
}

/// The moment from which a run is counted: that of Enter for the first run of a process.
fn begin() -> Instant {
    if HAS_BEGUN.swap(true, Ordering::Relaxed) {
        Instant::now()
    } else {
        *STARTED
    }
}
