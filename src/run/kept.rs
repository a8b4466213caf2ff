//! The kept folder of work on a user's program: made, gone on with and finished in the same way for tries and profiles.

use std::path::Path;

use anyhow::{Result, bail};
use files::File;
use record::decision::{Decision, What};
use record::folder::{Kept, PAGE, RunFolder, SUMMARY};
use record::kind::Kind;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lock;
use super::signals::Signals;

/// Makes the folder and writes the plan into it; it is locked as long as the file lives.
pub fn create<P: Serialize, L>(path: &Path, plan: P) -> Result<(Kept<P, L>, File)> {
    let folder = RunFolder::create(path)?;
    let lock = lock(&folder)?;
    folder.write_sealed("plan.json", &plan)?;
    Ok((Kept { folder, plan, launches: Vec::new(), interrupted: false, damage: Vec::new() }, lock))
}

/// Opens and locks a folder to go on with its work.
///
/// # Errors
/// It is of another kind, damaged, or in use.
pub fn resume<P, L>(name: &str, below: &Path, kind: Kind, schema: u32) -> Result<(Kept<P, L>, File)>
where
    P: DeserializeOwned,
    L: DeserializeOwned,
{
    let folder = RunFolder::open(name, below)?.mine()?;
    let other = folder.kind()?;
    if other != kind {
        bail!("there is no {} {name:?}: it is a {}", kind.word(), other.word());
    }
    let lock = lock(&folder)?;
    let kept = folder.whole::<P, L>(schema)?;
    if let Some(first) = kept.damage.first() {
        bail!("{} is damaged and cannot be resumed: {first}", kept.folder.path().display());
    }
    Ok((kept, lock))
}

/// Measures into the folder, and records how the session began and ended. A first session without a launch leaves nothing.
pub fn session<P, L>(
    kept: &mut Kept<P, L>,
    budget_s: f64,
    signals: &Signals,
    measure: impl FnOnce(&mut Kept<P, L>) -> Result<()>,
) -> Result<()> {
    let decide = |folder: &RunFolder, why: &str, what: What| {
        folder.append_decision(&Decision { time: jiff::Timestamp::now().to_string(), why: why.to_owned(), what })
    };
    let resumed = !kept.launches.is_empty();
    if resumed {
        decide(&kept.folder, "the user asked for it", What::Resumed { budget_s, time_limit_s: None })?;
    }
    let measured = measure(kept);
    if measured.is_err() && kept.launches.is_empty() {
        kept.folder.discard();
        return measured;
    }
    kept.interrupted = signals.arrived().is_some() || measured.is_err();
    let end = What::Ended { stopped_by: signals.arrived(), launches: kept.launches.len(), notes: Vec::new() };
    measured.and_then(|()| decide(&kept.folder, "nothing more is measured", end))
}

/// Keeps the result and its page.
pub fn finish<P, L>(kept: &Kept<P, L>, summary: &impl Serialize, page: &str) -> Result<()> {
    kept.folder.write_result(SUMMARY, summary)?;
    kept.folder.write_text(PAGE, page)?;
    kept.folder.reach_device()
}
