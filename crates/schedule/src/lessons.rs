//! The decisions that follow from one launch: its cost, cells that end, and which cell a death is due to.

use crate::Launch;
use record::launches::{LaunchRecord, SideRecord};
use record::outcome::{Outcome, Status};
use record::transcript::{Read, SideEnding};
use record::{decision::DecisionKind, launches::End, state::State};
use std::collections::BTreeSet;

const BEHIND_THE_MAPPING: &str =
    ": nothing was behind a mapped page; its file was cut, its device failed, or its file system or pool was exhausted";

/// The decisions, in their order, each with its reason. `broken` is the fault of a transcript that breaks the protocol.
pub fn lessons(
    state: &State, record: &LaunchRecord, transcripts: &Read, launch: &Launch, broken: Option<&str>,
) -> Vec<(&'static str, DecisionKind)> {
    let mut lessons = Vec::new();
    let stopped = record.sides.iter().any(|side| side.end == End::Stopped);
    let is_first = state.launch_groups[record.launch_group].stage.cost().is_none();
    if (record.block < 0 || is_first) && !stopped {
        lessons.push(("a launch that is not judged took as long", timed(state, record, transcripts, launch)));
    }
    let mut settled = BTreeSet::new();
    let mut settle = |cell: usize, outcome: Outcome, lessons: &mut Vec<_>| {
        let cells: Vec<usize> = with_twin(state, cell).into_iter().filter(|&cell| settled.insert(cell)).collect();
        if !cells.is_empty() {
            lessons.push(("a launch showed it", DecisionKind::Settled { cells, outcome }));
        }
    };
    let bereft = record.sides.len() > 1 && record.sides.iter().any(killed);
    if let ([only], true) = (&record.cells[..], bereft) {
        settle(*only, blamed(record, None), &mut lessons);
    }
    let mut named = false;
    // The survivor of a pair does not know why the pair ended.
    let heard = record.sides.iter().zip(transcripts).filter(|(side, _)| !bereft || killed(side));
    for (side, transcript) in heard {
        for ending in transcript.iter().flat_map(|transcript| &transcript.endings) {
            if let Some(&cell) = ending.cell().and_then(|cell| record.cells.get(cell as usize)) {
                // A skip explains the end of a pair, whose other side cannot go on, but not that of a single process.
                named |= record.sides.len() > 1 || !matches!(ending, SideEnding::Skip { .. });
                settle(cell, outcome(ending, side, record.oom_killed), &mut lessons);
            }
        }
    }
    let died = record.sides.iter().any(|side| !side.end.is_clean());
    if (died && !named || broken.is_some() && !died) && !stopped {
        if let [only] = record.cells[..] {
            settle(only, blamed(record, broken), &mut lessons);
        } else {
            let split = DecisionKind::Split { launch_group: record.launch_group, cells: record.cells.clone() };
            lessons.push(("a launch of these cells died and did not say which of them it was", split));
        }
    }
    lessons
}

/// A cell that ends, with its hidden twin: that would meet the same end, and a hang would cost its time limit again.
pub fn with_twin(state: &State, cell: usize) -> Vec<usize> {
    let ended = &state.cells[cell].cell;
    let same = |index: usize| index == cell || state.cells[index].twin && state.cells[index].cell == *ended;
    (0..state.cells.len()).filter(|&index| state.cells[index].outcome.is_none() && same(index)).collect()
}

fn timed(state: &State, record: &LaunchRecord, transcripts: &Read, launch: &Launch) -> DecisionKind {
    let launch_group = record.launch_group;
    let samples = transcripts.iter().flatten().flat_map(|transcript| &transcript.samples);
    let (mut first, mut last) = (u64::MAX, 0);
    for sample in samples.filter(|sample| sample.round >= 0) {
        first = first.min(sample.counts.start_ns);
        last = last.max(sample.counts.start_ns.saturating_add(sample.counts.wall_ns));
    }
    let group = &state.launch_groups[launch_group];
    if group.fresh || first >= last {
        let start_s = group.stage.cost().map_or(0.0, |cost| cost.start_s);
        return DecisionKind::Timed { launch_group, round_s: record.wall_s, start_s };
    }
    let round_s = (last - first) as f64 / 1e9 / f64::from(launch.rounds.max(1));
    let start_s = (record.wall_s - round_s * f64::from(launch.rounds + launch.warmup_rounds)).max(0.0);
    DecisionKind::Timed { launch_group, round_s, start_s }
}

/// The outcome of the only cell of a launch that died or broke the protocol and named no cell.
fn blamed(record: &LaunchRecord, broken: Option<&str>) -> Outcome {
    let other = || record.sides.iter().find(|side| !side.end.is_clean() && side.end != End::OtherSide);
    let side = record.sides.iter().find(|side| killed(side)).or_else(other);
    match side.map(|side| (how(side, record), side.message.as_str())) {
        Some((how, "")) => Outcome::new(Status::Failed, how),
        Some((how, message)) => Outcome::new(Status::Failed, format!("{how}: {message}")),
        None => Outcome::new(Status::Untrusted, broken.unwrap_or("the launch ended early")),
    }
}

/// Tells whether a side ended, or hung, through no doing of the other.
fn killed(side: &SideRecord) -> bool {
    matches!(side.end, End::Signal(_) | End::Deaf(_))
}

/// End of a process; of a pair also which of the two it was.
fn how(side: &SideRecord, record: &LaunchRecord) -> String {
    let reason = side.end.reason(record.oom_killed);
    let role = record.sides.iter().zip(["a", "b"]).find(|(other, _)| other.transcript == side.transcript);
    match role {
        Some((_, role)) if record.sides.len() > 1 => format!("side {role}, {}: {reason}", side.worker),
        _ => reason,
    }
}

/// The outcome of a cell by its worker's own account.
fn outcome(ending: &SideEnding, side: &SideRecord, oom_killed: bool) -> Outcome {
    match ending {
        SideEnding::Skip { reason, .. } => Outcome { cause: ending.cause(), ..Outcome::new(Status::Skipped, reason) },
        SideEnding::Fail { reason, .. } => Outcome::new(Status::Failed, reason),
        SideEnding::Crash { phase, signal, .. } => {
            let place = if phase == "-" { "between phases".into() } else { format!("in phase {phase}") };
            let how = if signal == "SIGTERM" { side.end.reason(oom_killed) } else { format!("{signal} in the worker") };
            // The kernel has no other way to report this to a process that stores into a mapping.
            let why = if signal == "SIGBUS" { BEHIND_THE_MAPPING } else { "" };
            Outcome::new(Status::Failed, format!("{how}, {place}{why}"))
        }
    }
}
