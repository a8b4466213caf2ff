//! Kept folders as verbs open them: by the kind in their plan, with their damage named.

use super::named;
use anyhow::Result;
use record::{command::KeptCommand, folder::RunFolder, kind::Kind, summary::Summary};

/// Exit code of a verb whose answer rests on a damaged record.
pub(super) const DAMAGED: u8 = 3;

/// A kept folder.
pub(super) enum Opened {
    /// A run of methods, whatever it was made for.
    Run(RunFolder, Kind),
    /// A study of a user's program.
    Command(Box<KeptCommand>),
}

impl Opened {
    /// The kind of a study of a user's program; `None` for runs of methods.
    pub(super) fn program(&self) -> Option<&'static str> {
        match self {
            Opened::Command(kept) => Some(if kept.plan.kind == Kind::Profile {
                "a profile"
            } else {
                "a try"
            }),
            Opened::Run(..) => None,
        }
    }

    /// True for a study of a user's program that a signal or a kill ended.
    pub(super) fn is_interrupted(&self) -> bool {
        matches!(self, Opened::Command(kept) if kept.interrupted)
    }
}

/// Opens a kept folder of this user by its id or path, `last` or `tag:NAME`.
pub(super) fn open(name: &str) -> Result<Opened> {
    opened(named::folder(name)?.mine()?)
}

/// Opens a kept folder of any user; names another owner on standard error.
pub(super) fn open_any(name: &str) -> Result<Opened> {
    let folder = named::folder(name)?;
    if let Some(user) = folder.other_owner()? {
        remark!(
            "pagewise: {} belongs to user {user}",
            folder.path().display()
        );
    }
    opened(folder)
}

fn opened(folder: RunFolder) -> Result<Opened> {
    Ok(match folder.kind()? {
        Kind::Try | Kind::Profile => Opened::Command(Box::new(folder.whole()?)),
        kind => Opened::Run(folder, kind),
    })
}

/// Names the damage of a record on standard error; `code` unless it is damaged.
fn report_damage<'a>(run: &str, mut damage: impl Iterator<Item = &'a str>, code: u8) -> u8 {
    let Some(first) = damage.next() else {
        return code;
    };
    let more = damage.count();
    let more = if more > 0 {
        format!(" (and {more} more)")
    } else {
        String::new()
    };
    remark!("pagewise: {run} is damaged, and what it touches is left out: {first}{more}");
    DAMAGED
}

/// Exit code of a verb that used a run: 3 if it is damaged, which is named.
pub(super) fn code_of_run(summary: &Summary, code: u8) -> u8 {
    report_damage(&summary.run, summary.damage(), code)
}

/// Exit code of a verb that used a study of a program: 3 if it is damaged, which is named.
pub(super) fn code_of(kept: &KeptCommand, code: u8) -> u8 {
    let name = kept.path.file_name().unwrap_or_default().to_string_lossy();
    report_damage(&name, kept.damage.iter().map(String::as_str), code)
}

/// Names an early end on standard error, for formats that have no word for it.
pub(super) fn tell_interrupted(run: &str, interrupted: bool) {
    if interrupted {
        remark!("pagewise: {run} was interrupted");
    }
}
