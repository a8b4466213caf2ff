//! The usual way: all samples of A, then all of B, in one process, and a t test. Launched on purpose in that order; nothing
//! is regrouped.

use super::{EXPERIMENT, NAIVE_COMPARISONS, trials::TestBench};
use crate::run::launch::{self, Side};
use crate::run::patience::TimeLimit;
use anyhow::{Result, bail};
use files::Folder;
use judge::selftest::Usual;
use judge::selftest::trial::{LEVEL, WorkKind};
use record::request::{self, LaunchKeys};
use record::{end::End, transcript::Transcript};
use stats::{naive::naive, verdict::MARGIN};
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

/// Comparisons one after another in one launch: A, B, A, B …; each block of samples is used once.
const PER_LAUNCH: usize = 4;
/// Discarded at the start of a launch, as everywhere.
const WARMUP_ROUNDS: usize = 5;

/// Launches identical cells one after the other and judges them by [`naive`].
pub fn naive_trials(
    place: &Path,
    laboratory: &TestBench,
    work: WorkKind,
    batch: Option<u64>,
    samples: usize,
    seed: u64,
) -> Result<Usual> {
    let mut trials = Usual { work: work.method().to_owned(), comparisons: 0, samples, announced: 0, beyond_margin: 0 };
    for number in 0..NAIVE_COMPARISONS / PER_LAUNCH {
        if laboratory.signals.arrived().is_some() {
            break;
        }
        let blocks = sequence(place, laboratory, work, batch, samples, seed.wrapping_add(number as u64))?;
        for pair in blocks.chunks_exact(2) {
            let judged = naive(&pair[0], &pair[1])?;
            trials.comparisons += 1;
            trials.announced += usize::from(judged.announces(LEVEL));
            let far = (judged.ratio.ln()).abs() > MARGIN.ln_1p();
            trials.beyond_margin += usize::from(judged.announces(LEVEL) && far);
        }
    }
    Ok(trials)
}

/// The samples of A, B, A, B … in the order in which one process took them.
fn sequence(
    place: &Path,
    laboratory: &TestBench,
    work: WorkKind,
    batch: Option<u64>,
    samples: usize,
    seed: u64,
) -> Result<Vec<Vec<f64>>> {
    let cell = |pair| laboratory.cell(work.method(), pair, batch, 0);
    let (a, b) = (cell(1)?.cell, cell(1)?.cell);
    let rounds: Vec<Vec<usize>> = (0..2 * PER_LAUNCH * samples).map(|i| vec![i / samples % 2]).collect();
    let warmup = vec![vec![0, 1]; WARMUP_ROUNDS];
    let keys = LaunchKeys { experiment: EXPERIMENT, seed, ..LaunchKeys::default() };
    let file = |name: &str| place.join(name);
    let (request, transcript, messages) = (file("naive.request"), file("naive.transcript"), file("naive.messages"));
    Folder::make(place)?.write("naive.request", request::request(&keys, &[&a, &b], &warmup, &rounds).as_bytes())?;
    let side = Side {
        command: laboratory.command()?,
        without: &[],
        options: Vec::new(),
        request: &request,
        transcript: &transcript,
        messages: &messages,
    };
    let ended = launch::launch(&[side], TimeLimit::Able(Duration::from_secs(300)), laboratory.signals)?;
    if laboratory.signals.arrived().is_some() {
        return Ok(Vec::new());
    }
    if !ended.ends.iter().all(End::is_clean) {
        bail!("the naive comparison's worker: {}", ended.ends[0].reason(false));
    }
    let read = Transcript::read(BufReader::new(files::open_input(&transcript)?))?;
    let measured = read.samples.iter().filter(|s| s.round >= 0).map(|s| s.counts.wall_ns as f64);
    let all: Vec<f64> = measured.collect();
    Ok(all.chunks_exact(samples).map(<[f64]>::to_vec).collect())
}
