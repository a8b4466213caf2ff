//! A kept run judged again, its launches read by several threads.

use anyhow::Result;
use judge::{brought::Brought, evidence::ReadOne};
use record::{folder::RunFolder, state::State, summary::Summary};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// A bound for machines of many CPUs, where it was not measured.
const MOST_THREADS: usize = 8;

/// A kept run, judged again from its plan, decisions and transcripts alone.
pub fn replay(folder: &RunFolder) -> Result<(State, Summary)> {
    judge::replay_by(folder, &shared_out)
}

/// The summary of a kept run, judged again unless the one in its folder follows from its launches.
pub fn judged(folder: &RunFolder) -> Result<Summary> {
    judge::judged(folder, &shared_out)
}

/// Launches read by as many threads as there are CPUs, each an equal part of them in their order.
fn shared_out(launches: usize, read: ReadOne) -> Vec<Result<Brought>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let each = launches.div_ceil(threads);
    thread::scope(|scope| {
        let part = |number: usize| {
            let mine = (number * each).min(launches)..((number + 1) * each).min(launches);
            scope.spawn(move || mine.map(read).collect::<Vec<_>>())
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
#[path = "../../tests/unit/run/replay.rs"]
mod tests;
