//! The kept folder of a study of a command: made, gone on with and finished.

use crate::run::signals::Signals;
use crate::run::{decide, lock};
use anyhow::{Result, bail};
use files::File;
use record::command::{CommandPlan, KeptCommand, schema_of};
use record::decision::DecisionKind;
use record::folder::{PAGE, RunFolder, SUMMARY};
use serde::Serialize;
use std::path::Path;

/// Makes the folder and writes the plan into it; it is locked as long as the file lives.
pub fn create(path: &Path, plan: CommandPlan) -> Result<(KeptCommand, File)> {
    let folder = RunFolder::create(path)?;
    let lock = lock(&folder)?;
    folder.write_sealed("plan.json", &plan)?;
    Ok((KeptCommand { folder, plan, launches: Vec::new(), interrupted: false, damage: Vec::new() }, lock))
}

/// Opens and locks a folder to go on with its study. What is executed and opened is that of `asked`, the plan of this command
/// line; a kept plan that has other commands, settings or files is refused.
/// Errors: it is of another kind or command, damaged, or in use.
pub fn resume(name: &str, folder: RunFolder, request: &CommandPlan) -> Result<(KeptCommand, File)> {
    let folder = folder.mine()?;
    let kind = folder.kind()?;
    if kind != request.kind {
        bail!("there is no {} {name:?}: it is a {}", request.kind.word(), kind.word());
    }
    let lock = lock(&folder)?;
    let mut kept: KeptCommand = folder.whole(schema_of(kind))?;
    if let Some(first) = kept.damage.first() {
        bail!("{} is damaged and cannot be resumed: {first}", kept.folder.path().display());
    }
    let plan = &kept.plan;
    let same = [
        ("command, setting or environment", plan.arms == request.arms),
        ("current folder", plan.directory == request.directory),
        ("--prepare", plan.prepare == request.prepare),
        ("--evict", plan.evict == request.evict),
        ("--input", plan.input == request.input),
    ];
    if let Some((other, _)) = same.iter().find(|(_, same)| !same) {
        bail!("{name} was begun with another {other}; repeat the words of its first call");
    }
    kept.plan.budget_s = request.budget_s.or(kept.plan.budget_s);
    Ok((kept, lock))
}

/// Measures into the folder, and records how the session began and ended. A first session without a launch leaves nothing.
pub fn session(
    kept: &mut KeptCommand,
    budget_s: f64,
    signals: &Signals,
    measure: impl FnOnce(&mut KeptCommand) -> Result<()>,
) -> Result<()> {
    let resumed = !kept.launches.is_empty();
    if resumed {
        decide(&kept.folder, "the user asked for it", DecisionKind::Resumed { budget_s, time_limit_s: None })?;
    }
    let measured = measure(kept);
    if measured.is_err() && kept.launches.is_empty() {
        kept.folder.discard();
        return measured;
    }
    kept.interrupted = signals.arrived().is_some() || measured.is_err();
    let end = DecisionKind::Ended { stopped_by: signals.arrived(), launches: kept.launches.len(), notes: Vec::new() };
    measured.and_then(|()| decide(&kept.folder, "nothing more is measured", end))
}

/// Keeps the result and its page.
pub fn finish(kept: &KeptCommand, summary: &impl Serialize, page: &str) -> Result<()> {
    kept.folder.write_result(SUMMARY, summary)?;
    kept.folder.write_text(PAGE, page)?;
    kept.folder.reach_device()
}
