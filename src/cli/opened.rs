//! Kept folders as verbs open them: by the kind in their plan, with their damage named.

use anyhow::Result;
use record::folder::{Kept, RunFolder};
use record::kind::Kind;
use record::profile::{PROFILE_SCHEMA, ProfilePlan, ProfileRun};
use record::summary::Summary;
use record::trial::{TRIAL_SCHEMA, TrialPlan, TriedRun};

use super::runs_folder;

/// Exit code of a verb whose answer rests on a damaged record.
const DAMAGED: u8 = 3;

/// A kept try.
pub(super) type Tried = Kept<TrialPlan, TriedRun>;
/// A kept profile.
pub(super) type Profiled = Kept<ProfilePlan, ProfileRun>;

/// A kept folder.
pub(super) enum Opened {
    /// A run of methods, whatever it was made for.
    Run(RunFolder, Kind),
    Try(Tried),
    Profile(Profiled),
}

impl Opened {
    /// The kind of work on a user's program; `None` for runs of methods.
    pub(super) fn program(&self) -> Option<&'static str> {
        match self {
            Opened::Try(_) => Some("a try"),
            Opened::Profile(_) => Some("a profile"),
            Opened::Run(..) => None,
        }
    }

    /// True for a try or profile that a signal or a kill ended.
    pub(super) fn is_interrupted(&self) -> bool {
        match self {
            Opened::Try(kept) => kept.interrupted,
            Opened::Profile(kept) => kept.interrupted,
            Opened::Run(..) => false,
        }
    }
}

/// Opens a kept folder of this user by its id or path.
pub(super) fn open(name: &str) -> Result<Opened> {
    opened(RunFolder::open(name, &runs_folder())?.mine()?)
}

/// Opens a kept folder of any user; names another owner on standard error.
pub(super) fn open_any(name: &str) -> Result<Opened> {
    let folder = RunFolder::open(name, &runs_folder())?;
    if let Some(user) = folder.other_owner()? {
        remark!("pagewise: {} belongs to user {user}", folder.path().display());
    }
    opened(folder)
}

fn opened(folder: RunFolder) -> Result<Opened> {
    Ok(match folder.kind()? {
        Kind::Try => Opened::Try(folder.whole(TRIAL_SCHEMA)?),
        Kind::Profile => Opened::Profile(folder.whole(PROFILE_SCHEMA)?),
        kind => Opened::Run(folder, kind),
    })
}

/// Names the damage of a record on standard error; `code` unless it is damaged.
fn report_damage<'a>(run: &str, mut damage: impl Iterator<Item = &'a str>, code: u8) -> u8 {
    let Some(first) = damage.next() else { return code };
    let more = damage.count();
    let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
    remark!("pagewise: {run} is damaged, and what it touches is left out: {first}{more}");
    DAMAGED
}

/// Exit code of a verb that used a run: 3 if it is damaged, which is named.
pub(super) fn code_of_run(summary: &Summary, code: u8) -> u8 {
    report_damage(&summary.run, summary.damage(), code)
}

/// Exit code of a verb that used a try or profile: 3 if it is damaged, which is named.
pub(super) fn code_of<P, L>(kept: &Kept<P, L>, code: u8) -> u8 {
    let name = kept.folder.path().file_name().unwrap_or_default().to_string_lossy();
    report_damage(&name, kept.damage.iter().map(String::as_str), code)
}

/// Names an early end on standard error, for formats that have no word for it.
pub(super) fn tell_interrupted(run: &str, interrupted: bool) {
    if interrupted {
        remark!("pagewise: {run} was interrupted");
    }
}
