//! Failures of an arm: the ends of its launches, their output and the processes that they left.

use record::command::{
    ArmRole, CommandCost, CommandEnd, CommandLaunch, CommandPlan, Failure, FailureKind, LaunchMode,
};
use record::{kind::Kind, launches::signal_name, summary::NoteKind};
use std::collections::BTreeSet;

/// The reason for ending an arm's launches: a lack of the machine, or a failure. The baseline's failure ends a study.
pub fn given_up(plan: &CommandPlan, launches: &[CommandLaunch], arm: usize) -> Option<Failure> {
    match &plan.arms[arm].skipped {
        Some(cause) => Some(Failure {
            kind: FailureKind::Skipped {
                cause: cause.clone(),
            },
            message: None,
        }),
        None => failure(plan, launches, arm),
    }
}

/// The reason why an arm has failed, by all its launches so far, warm-ups included.
pub(super) fn failure(
    plan: &CommandPlan,
    launches: &[CommandLaunch],
    arm: usize,
) -> Option<Failure> {
    let program = &plan.arms[arm].command[0];
    for (launch, cost) in ends(plan, launches, arm) {
        if let Some(kind) = bad_end(cost, program, plan.time_limit_s) {
            return Some(because(kind, launch));
        }
    }
    let (first, usual) = ends(plan, launches, 0).next()?;
    // Another command may end and write as it likes.
    if let Some(window_s) = differing_end(plan, launches, arm) {
        return Some(Failure {
            kind: FailureKind::EndsDiffer { window_s },
            message: None,
        });
    }
    if plan.arms[arm].role == ArmRole::Command {
        let (launch, cost) =
            ends(plan, launches, arm).find(|(_, cost)| cost.code != 0 && !plan.ignore_failure)?;
        return Some(because(exit(cost.code, false, None, false), launch));
    }
    if arm == 0 && usual.code != 0 && !plan.ignore_failure {
        return Some(because(exit(usual.code, true, None, false), first));
    }
    let other = ends(plan, launches, arm).find(|(_, cost)| cost.code != usual.code);
    if let Some((launch, cost)) = other {
        let followed = launch.mode == LaunchMode::Followed;
        let kind = exit(cost.code, false, Some(usual.code), followed);
        return Some(because(kind, launch));
    }
    changed_output(plan, launches, arm).map(|kind| Failure {
        kind,
        message: None,
    })
}

/// Launches of an arm that have ended. A traced launch of a profile does not count: it may be refused what the command may do
/// otherwise, such as another user's rights.
fn ends<'a>(
    plan: &CommandPlan,
    launches: &'a [CommandLaunch],
    arm: usize,
) -> impl Iterator<Item = (&'a CommandLaunch, &'a CommandCost)> {
    let is_profile = plan.kind == Kind::Profile;
    launches
        .iter()
        .filter(move |launch| launch.arm == arm)
        .filter(move |launch| !is_profile || launch.mode != LaunchMode::Traced)
        .filter_map(|launch| Some((launch, launch.cost.as_ref()?)))
}

/// Seconds of a window that cut some launches of an arm, or of the command as it is, and not others: their costs are of
/// different work.
fn differing_end(plan: &CommandPlan, launches: &[CommandLaunch], arm: usize) -> Option<f64> {
    let window_s = plan.watch?.window_s;
    let of_both = [0, arm].map(|arm| ends(plan, launches, arm));
    let mut cut = of_both
        .into_iter()
        .flatten()
        .map(|(_, cost)| cost.end == CommandEnd::Window);
    let first = cut.next()?;
    cut.any(|other| other != first).then_some(window_s)
}

/// A failure with the last line that the launch wrote.
fn because(kind: FailureKind, launch: &CommandLaunch) -> Failure {
    let last_line = launch.messages.trim().lines().last();
    Failure {
        kind,
        message: last_line.map(|line| line.trim().to_owned()),
    }
}

/// The end of a launch that gives no cost.
fn bad_end(cost: &CommandCost, program: &str, limit_s: f64) -> Option<FailureKind> {
    Some(match cost.end {
        CommandEnd::NotStarted if cost.code == 2 => FailureKind::NoProgram {
            program: program.to_owned(),
        },
        CommandEnd::NotStarted => FailureKind::NotStarted {
            reason: std::io::Error::from_raw_os_error(cost.code).to_string(),
        },
        CommandEnd::Signal => FailureKind::Signal {
            number: cost.code,
            signal: signal_name(cost.code).map(str::to_owned),
        },
        CommandEnd::TimeLimit => FailureKind::TimeLimit { limit_s },
        CommandEnd::Exit if cost.left > 0 => FailureKind::LeftRunning {
            processes: cost.left,
        },
        CommandEnd::Exit | CommandEnd::Window | CommandEnd::Stopped => return None,
    })
}

fn exit(code: i32, may_ignore: bool, usual: Option<i32>, followed: bool) -> FailureKind {
    // A shell reports a signal by its number above 128.
    let signal = signal_name(code - 128).map(str::to_owned);
    FailureKind::Exit {
        code,
        signal,
        may_ignore,
        usual,
        followed,
    }
}

fn outputs(launches: &[CommandLaunch], is_wanted: impl Fn(usize) -> bool) -> BTreeSet<(u64, &str)> {
    let costs = launches
        .iter()
        .filter(|launch| is_wanted(launch.arm))
        .filter_map(|launch| launch.cost.as_ref());
    let finished = costs.filter(|cost| cost.end == CommandEnd::Exit);
    finished
        .map(|cost| (cost.output_bytes, cost.output_hash.as_str()))
        .collect()
}

/// True if the unchanged command writes the same each time; what a window cut is not compared.
fn writes_the_same(plan: &CommandPlan, launches: &[CommandLaunch]) -> bool {
    outputs(launches, |arm| {
        matches!(plan.arms[arm].role, ArmRole::Baseline | ArmRole::Again)
    })
    .len()
        <= 1
}

fn changed_output(
    plan: &CommandPlan,
    launches: &[CommandLaunch],
    arm: usize,
) -> Option<FailureKind> {
    if plan.discard_output
        || plan.arms[arm].role != ArmRole::Setting
        || !writes_the_same(plan, launches)
    {
        return None;
    }
    let (usual, changed) = (
        outputs(launches, |other| other == 0),
        outputs(launches, |other| other == arm),
    );
    let (bytes, _) = changed.difference(&usual).next()?;
    Some(FailureKind::OutputChanged {
        bytes: *bytes,
        before: usual.first().map_or(0, |(bytes, _)| *bytes),
    })
}

pub(super) fn notes(plan: &CommandPlan, launches: &[CommandLaunch]) -> Vec<NoteKind> {
    let mut notes = Vec::new();
    if plan.discard_output {
        notes.push(NoteKind::OutputDiscarded);
    } else if !launches.is_empty()
        && !writes_the_same(plan, launches)
        && failure(plan, launches, 0).is_none()
    {
        notes.push(NoteKind::OutputVaries);
    }
    let usual = outputs(launches, |arm| arm == 0);
    let arms: Vec<String> = (1..plan.arms.len())
        .filter(|&arm| plan.arms[arm].role == ArmRole::Command)
        .filter(|&arm| outputs(launches, |other| other == arm) != usual)
        .map(|arm| plan.arms[arm].name.clone())
        .collect();
    if !plan.discard_output && !arms.is_empty() {
        notes.push(NoteKind::OutputsDiffer { arms });
    }
    let costs = launches.iter().filter_map(|launch| launch.cost.as_ref());
    let bytes = costs.map(|cost| cost.not_evicted).max().unwrap_or(0);
    if bytes > 0 {
        notes.push(NoteKind::NotEvicted { bytes });
    }
    let mut ends = launches.iter().filter_map(|launch| launch.cost.as_ref());
    let is_cut = ends.any(|cost| cost.end == CommandEnd::Window);
    let window = plan.watch.filter(|_| is_cut);
    notes.extend(window.map(|watch| NoteKind::Windows {
        window_s: watch.window_s,
    }));
    let rules: BTreeSet<&str> = launches.iter().map(|launch| launch.thp.as_str()).collect();
    if rules.len() > 1 {
        notes.push(NoteKind::ThpChanged {
            rules: rules.into_iter().map(str::to_owned).collect(),
        });
    }
    notes
}
