//! Kept folders as verbs open and judge them: by the kind in their plan.

use super::named;
use crate::run::session::{judged, replay};
use anyhow::{Result, bail};
use record::command::{CommandSummary, KeptCommand};
use record::folder::RunFolder;
use record::{kind::Kind, summary::Summary};

/// A kept folder.
pub(super) enum Opened {
    /// A run of methods, whatever it was made for.
    Run(RunFolder, Kind),
    /// A study of a user's program.
    Program(Box<KeptCommand>),
}

/// A kept folder with what follows from it.
pub(super) enum JudgedFolder {
    Run(RunFolder, Box<Summary>),
    Program(Box<KeptCommand>, Box<CommandSummary>),
}

/// Manner of judging a kept run; studies of programs are always judged again.
#[derive(Clone, Copy)]
pub(super) enum Judging {
    /// From its plan, decisions and transcripts alone.
    Again,
    /// By its summary where that follows from its launches.
    Kept,
}

impl Opened {
    /// The kind of a study of a user's program; `None` for runs of methods.
    pub(super) fn program(&self) -> Option<&'static str> {
        match self {
            Opened::Program(kept) if kept.plan.kind == Kind::Profile => Some("a profile"),
            Opened::Program(_) => Some("a try"),
            Opened::Run(..) => None,
        }
    }

    /// True for a study of a user's program that a signal or a kill ended.
    pub(super) fn is_interrupted(&self) -> bool {
        matches!(self, Opened::Program(kept) if kept.interrupted)
    }

    pub(super) fn judge(self, judging: Judging) -> Result<JudgedFolder> {
        Ok(match (self, judging) {
            (Opened::Program(kept), _) => {
                let summary = judge::program::judge(&kept);
                JudgedFolder::Program(kept, Box::new(summary))
            }
            (Opened::Run(folder, _), Judging::Again) => {
                let (_, summary) = replay(&folder)?;
                JudgedFolder::Run(folder, Box::new(summary))
            }
            (Opened::Run(folder, _), Judging::Kept) => {
                let summary = judged(&folder)?;
                JudgedFolder::Run(folder, Box::new(summary))
            }
        })
    }

    /// The summary of a run of methods, kept or judged again.
    /// Errors: `name` is a study of a program, which has no such option.
    pub(super) fn summary(self, name: &str, option: &str) -> Result<Summary> {
        if let Some(program) = self.program() {
            bail!("{name} is {program}, which has no {option}");
        }
        match self.judge(Judging::Kept)? {
            JudgedFolder::Run(_, summary) => Ok(*summary),
            JudgedFolder::Program(..) => bail!("{name} is no run"),
        }
    }
}

/// Opens a kept folder of this user by its id or path, `last` or `tag:NAME`.
pub(super) fn open(name: &str) -> Result<Opened> {
    by_kind(named::folder(name)?.mine()?)
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
    by_kind(folder)
}

fn by_kind(folder: RunFolder) -> Result<Opened> {
    Ok(match folder.kind()? {
        Kind::Try | Kind::Profile => Opened::Program(Box::new(folder.whole()?)),
        kind => Opened::Run(folder, kind),
    })
}

/// Names an early end on standard error, for formats that have no word for it.
pub(super) fn tell_interrupted(run: &str, interrupted: bool) {
    if interrupted {
        remark!("pagewise: {run} was interrupted");
    }
}
