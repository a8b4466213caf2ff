//! The decisions that follow from one launch: its cost, cells that end, and which cell a death is due to.

use crate::Launch;
use record::launches::{LaunchRecord, SideRecord};
use record::outcome::{Cause, LaunchFault, Outcome, Status};
use record::transcript::{Read, SideEnding};
use record::{decision::DecisionKind, launches::End, state::State};
use std::collections::BTreeSet;

/// The decisions, in their order, each with its reason. `broken` is the fault of a transcript that breaks the protocol.
pub fn lessons(
    state: &State,
    record: &LaunchRecord,
    transcripts: &Read,
    launch: &Launch,
    broken: Option<&str>,
) -> Vec<(&'static str, DecisionKind)> {
    let mut lessons = Lessons::new(state);
    let stopped = record.sides.iter().any(|side| side.end == End::Stopped);
    let is_first = state.launch_groups[record.launch_group]
        .stage
        .cost()
        .is_none();
    if (record.block < 0 || is_first) && !stopped {
        lessons.learned.push((
            "a launch took as long",
            timed(state, record, transcripts, launch),
        ));
    }
    let bereft = record.sides.len() > 1 && record.sides.iter().any(killed);
    if let ([only], true) = (&record.cells[..], bereft) {
        lessons.settle(*only, blamed(record, None));
    }
    let mut named = false;
    // The survivor of a pair does not know why the pair ended.
    let heard = record
        .sides
        .iter()
        .zip(transcripts)
        .filter(|(side, _)| !bereft || killed(side));
    for (side, transcript) in heard {
        for ending in transcript.iter().flat_map(|transcript| &transcript.endings) {
            if let Some(&cell) = ending
                .cell()
                .and_then(|cell| record.cells.get(cell as usize))
            {
                // A skip explains the end of a pair, whose other side cannot go on, but not that of a single process.
                named |= record.sides.len() > 1 || !matches!(ending, SideEnding::Skip { .. });
                lessons.settle(cell, outcome(ending, side));
            }
        }
    }
    let died = record.sides.iter().any(|side| !side.end.is_clean());
    if (died && !named || broken.is_some() && !died) && !stopped {
        if let [only] = record.cells[..] {
            lessons.settle(only, blamed(record, broken));
        } else {
            let split = DecisionKind::Split {
                launch_group: record.launch_group,
                cells: record.cells.clone(),
            };
            lessons.learned.push((
                "a launch of these cells died and did not say which of them it was",
                split,
            ));
        }
    }
    lessons.learned
}

/// Lessons of one launch; a cell is settled once.
struct Lessons<'a> {
    state: &'a State,
    settled: BTreeSet<usize>,
    learned: Vec<(&'static str, DecisionKind)>,
}

impl<'a> Lessons<'a> {
    fn new(state: &'a State) -> Lessons<'a> {
        Lessons {
            state,
            settled: BTreeSet::new(),
            learned: Vec::new(),
        }
    }

    /// Gives a cell and its hidden duplicate their outcome.
    fn settle(&mut self, cell: usize, outcome: Outcome) {
        let cells: Vec<usize> = with_twin(self.state, cell)
            .into_iter()
            .filter(|&cell| self.settled.insert(cell))
            .collect();
        if !cells.is_empty() {
            self.learned.push((
                "a launch showed it",
                DecisionKind::Settled { cells, outcome },
            ));
        }
    }
}

/// A cell that ends, with its hidden twin: that would meet the same end, and a hang would cost its time limit again.
pub fn with_twin(state: &State, cell: usize) -> Vec<usize> {
    let ended = &state.cells[cell].cell;
    let same = |index: usize| {
        index == cell || state.cells[index].twin && state.cells[index].cell == *ended
    };
    (0..state.cells.len())
        .filter(|&index| state.cells[index].outcome.is_none() && same(index))
        .collect()
}

fn timed(
    state: &State,
    record: &LaunchRecord,
    transcripts: &Read,
    launch: &Launch,
) -> DecisionKind {
    let launch_group = record.launch_group;
    let samples = || {
        transcripts
            .iter()
            .flatten()
            .flat_map(|transcript| &transcript.samples)
    };
    let ends = |measured: bool| {
        let those = samples().filter(move |sample| (sample.round >= 0) == measured);
        those
            .map(|sample| sample.counts.start_ns.saturating_add(sample.counts.wall_ns))
            .max()
    };
    // From the end of the warm-up: what a sample prepares is part of its round.
    let first = ends(false)
        .or_else(|| samples().map(|sample| sample.counts.start_ns).min())
        .unwrap_or(0);
    let last = ends(true).unwrap_or(0);
    let group = &state.launch_groups[launch_group];
    if group.fresh || first >= last {
        let start_s = group.stage.cost().map_or(0.0, |cost| cost.start_s);
        return DecisionKind::Timed {
            launch_group,
            round_s: record.wall_s,
            start_s,
        };
    }
    let round_s = (last - first) as f64 / 1e9 / f64::from(launch.rounds.max(1));
    let start_s =
        (record.wall_s - round_s * f64::from(launch.rounds + launch.warmup_rounds)).max(0.0);
    DecisionKind::Timed {
        launch_group,
        round_s,
        start_s,
    }
}

/// The outcome of the only cell of a launch that died or broke the protocol and named no cell.
fn blamed(record: &LaunchRecord, broken: Option<&str>) -> Outcome {
    let other = |side: &&SideRecord| !side.end.is_clean() && side.end != End::OtherSide;
    let Some(side) = record
        .sides
        .iter()
        .find(|side| killed(side))
        .or_else(|| record.sides.iter().find(other))
    else {
        let fault = LaunchFault::Transcript {
            error: broken.unwrap_or_default().to_owned(),
        };
        return Outcome::because(
            Status::Untrusted,
            Cause::Broken {
                launch: record.launch,
                fault,
                law: None,
            },
        );
    };
    let role = record
        .sides
        .iter()
        .zip(["a", "b"])
        .find(|(other, _)| other.transcript == side.transcript);
    let cause = Cause::Ended {
        end: side.end.clone(),
        oom_killed: record.oom_killed,
        worker: side.worker.clone(),
        side: role
            .filter(|_| record.sides.len() > 1)
            .map(|(_, role)| role.to_owned()),
        message: side.message.clone(),
    };
    Outcome::because(Status::Failed, cause)
}

/// Tells whether a side ended, or hung, through no doing of the other.
fn killed(side: &SideRecord) -> bool {
    matches!(side.end, End::Signal(_) | End::Deaf(_))
}

/// The outcome of a cell by its worker's own account.
fn outcome(ending: &SideEnding, side: &SideRecord) -> Outcome {
    let status = if matches!(ending, SideEnding::Skip { .. }) {
        Status::Skipped
    } else {
        Status::Failed
    };
    let mut cause = ending.cause();
    if let Cause::Crash { signal, end, .. } = &mut cause {
        *end = (signal == "SIGTERM").then(|| side.end.clone());
    }
    Outcome::because(status, cause)
}
