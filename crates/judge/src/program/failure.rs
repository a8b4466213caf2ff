//! Failures of an arm: the ends of its launches, their output and the processes that they left.

use record::command::{
    ArmRole, CommandCost, CommandEnd, CommandLaunch, CommandPlan, Failure, FailureKind, LaunchMode,
};
use record::{kind::Kind, launches::signal_name, summary::NoteKind};
use std::collections::BTreeSet;

/// The reason for ending an arm's launches: a lack of the machine, or a failure. The baseline's failure ends a study.
pub fn given_up(plan: &CommandPlan, launches: &[CommandLaunch], arm: usize) -> Option<Failure> {
    let skipped = plan.arms[arm].skipped.clone();
    let skipped = skipped.map(|cause| Failure {
        kind: FailureKind::Skipped { cause },
        message: None,
    });
    skipped.or_else(|| failure(plan, launches, arm))
}

/// The reason why an arm has failed, by all its launches so far, warm-ups included.
pub(super) fn failure(
    plan: &CommandPlan,
    launches: &[CommandLaunch],
    arm: usize,
) -> Option<Failure> {
    // A traced launch of a profile may be refused what the command may do otherwise, such as another user's rights.
    let counts =
        |launch: &&CommandLaunch| plan.kind != Kind::Profile || launch.mode != LaunchMode::Traced;
    let ends = |arm: usize| {
        let counted = launches
            .iter()
            .filter(move |launch| launch.arm == arm)
            .filter(counts);
        counted.filter_map(|launch| Some((launch, launch.cost.as_ref()?)))
    };
    let because = |kind: FailureKind, launch: &CommandLaunch| {
        Some(Failure {
            kind,
            message: launch
                .messages
                .trim()
                .lines()
                .last()
                .map(|line| line.trim().to_owned()),
        })
    };
    let program = &plan.arms[arm].command[0];
    if let Some((launch, kind)) =
        ends(arm).find_map(|(l, cost)| Some((l, bad_end(cost, program, plan.time_limit_s)?)))
    {
        return because(kind, launch);
    }
    let (first, usual) = ends(0).next()?;
    // Another command may end and write as it likes.
    if plan.arms[arm].role == ArmRole::Command {
        let (launch, cost) = ends(arm).find(|(_, cost)| cost.code != 0 && !plan.ignore_failure)?;
        return because(exit(cost.code, false, None, false), launch);
    }
    if arm == 0 && usual.code != 0 && !plan.ignore_failure {
        return because(exit(usual.code, true, None, false), first);
    }
    if let Some((launch, cost)) = ends(arm).find(|(_, cost)| cost.code != usual.code) {
        return because(
            exit(
                cost.code,
                false,
                Some(usual.code),
                launch.mode == LaunchMode::Followed,
            ),
            launch,
        );
    }
    changed_output(plan, launches, arm).map(|kind| Failure {
        kind,
        message: None,
    })
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
        CommandEnd::Exit | CommandEnd::Stopped => return None,
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

/// True if the unchanged command writes the same each time.
fn writes_the_same(plan: &CommandPlan, launches: &[CommandLaunch]) -> bool {
    outputs(launches, |arm| {
        matches!(plan.arms[arm].role, ArmRole::Baseline | ArmRole::Again)
    })
    .len()
        == 1
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
    let is_other = |arm: &usize| outputs(launches, |a| a == *arm) != outputs(launches, |a| a == 0);
    let commands = (1..plan.arms.len())
        .filter(|&arm| plan.arms[arm].role == ArmRole::Command)
        .filter(is_other);
    let arms: Vec<String> = commands.map(|arm| plan.arms[arm].name.clone()).collect();
    notes.extend(
        (!plan.discard_output && !arms.is_empty()).then_some(NoteKind::OutputsDiffer { arms }),
    );
    let stayed = launches
        .iter()
        .filter_map(|launch| launch.cost.as_ref())
        .map(|cost| cost.not_evicted)
        .max();
    notes.extend(
        stayed
            .filter(|bytes| *bytes > 0)
            .map(|bytes| NoteKind::NotEvicted { bytes }),
    );
    let rules: BTreeSet<&str> = launches.iter().map(|launch| launch.thp.as_str()).collect();
    let rules: Vec<String> = rules.into_iter().map(str::to_owned).collect();
    notes.extend((rules.len() > 1).then_some(NoteKind::ThpChanged { rules }));
    notes
}
