//! Studies of a user's program, judged: costs of launches interleaved in blocks, and prices of memory events. Pure.

mod failure;
pub mod printed;
pub mod profile;
mod proof;
pub mod trial;

use crate::summarise::rounded;
pub use failure::given_up;
use record::command::{
    CommandCost, CommandLaunch, CommandPlan, CommandSummary, KeptCommand, LaunchMode,
};
use record::{kind::Kind, summary::NoteKind};

/// Processes of a command from which on their start is worth a remark.
const MANY: u64 = 10;

/// Judges a kept study; its damage is noted.
pub fn judge(kept: &KeptCommand) -> CommandSummary {
    let remarks = crate::warnings::of_command(kept);
    match so_far(&kept.plan, &kept.launches) {
        CommandSummary::Profile(mut summary) => {
            summary.notes.extend(remarks);
            CommandSummary::Profile(Box::new(rounded(*summary)))
        }
        CommandSummary::Try(mut summary) => {
            summary.notes.extend(remarks);
            CommandSummary::Try(Box::new(rounded(*summary)))
        }
    }
}

/// Judges a study under way.
pub fn so_far(plan: &CommandPlan, launches: &[CommandLaunch]) -> CommandSummary {
    if plan.kind == Kind::Profile {
        CommandSummary::Profile(Box::new(profile::judge(plan, launches)))
    } else {
        CommandSummary::Try(Box::new(trial::judge(plan, launches)))
    }
}

/// The half-width that decides whether another block is run.
pub fn half_width(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<f64> {
    if plan.kind == Kind::Profile {
        profile::half_width(plan, launches)
    } else {
        trial::half_width(plan, launches)
    }
}

/// True if an interim analysis ends the study.
pub fn is_settled(plan: &CommandPlan, launches: &[CommandLaunch]) -> bool {
    if plan.kind == Kind::Profile {
        profile::is_settled(plan, launches)
    } else {
        trial::interim(plan, launches).is_some()
    }
}

/// Times of one arm in every block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Times {
    /// The command as the user wrote it.
    pub command: String,
    /// The arm of a try, or `command`.
    pub arm: String,
    /// Name of the time: `cpu`, `kernel`, `wall`, `page-faults`.
    pub time: &'static str,
    pub seconds: Vec<f64>,
    /// True where the command differs from itself, so that something disturbs the machine.
    pub is_disturbed: bool,
}

/// Costs in each block, for another study to be compared with; nothing of what is not to be believed.
pub(crate) fn costs(plan: &CommandPlan, launches: &[CommandLaunch]) -> Vec<Times> {
    if plan.kind == Kind::Profile {
        profile::costs(plan, launches)
    } else {
        trial::costs(plan, launches)
    }
}

fn costs_in(launches: &[CommandLaunch], mode: LaunchMode) -> impl Iterator<Item = &CommandCost> {
    launches
        .iter()
        .filter(move |launch| launch.mode == mode)
        .filter_map(|launch| launch.cost.as_ref())
}

/// Remarks that any study may have, with its number of blocks if it was measured, and that below which there is no interval.
fn notes(
    launches: &[CommandLaunch],
    blocks: Option<usize>,
    least: usize,
) -> impl Iterator<Item = NoteKind> {
    let processes = launches
        .iter()
        .filter(|l| l.arm == 0)
        .find_map(|l| Some(l.cost.as_ref()?.proof.as_ref()?.processes));
    let many = processes
        .filter(|count| *count > MANY)
        .map(|processes| NoteKind::ManyProcesses { processes });
    let few = blocks
        .filter(|blocks| *blocks < least)
        .map(|_| NoteKind::TooFew { least });
    many.into_iter().chain(few)
}
