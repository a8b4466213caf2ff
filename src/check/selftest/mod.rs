//! Holds the judging against work whose truth is known: identical pairs, effects of exact size, and the usual way beside it.

use crate::{plan::Laboratory, run::signals::Signals};
use anyhow::Result;
use files::Folder;
use judge::selftest::{Done, EXTRAS, WorkKind};
use judge::{selftest::SelfTest, selftest::real::RealRun};
use std::{path::Path, time::Instant};
use trials::{TestBench, Trial};

pub mod real;
pub mod trials;

pub const EXPERIMENT: &str = "selftest";
/// Runs of their own plan, launches and seed: what one run has in common cannot mislead the others.
const RUNS: usize = 12;
/// Groups in a run: each has a baseline, its identical twin and one cell with extra work.
const PAIRS: usize = 12;
const WORKS: [WorkKind; 3] = [WorkKind::Steps, WorkKind::Pages, WorkKind::Steps];
/// The share of the budget that the runs take, and that of the naive comparisons after them.
const RUNS_SHARE: f64 = 0.4;
/// The same of runs of real cells, at least: they also get what the others left.
const REAL_SHARE: f64 = 0.48;
const NAIVE_SHARE: f64 = 0.1;
/// Seconds of one run of real cells: what an ordinary run of them is given.
const REAL_RUN_S: f64 = 14.0;
/// No run is planned shorter than this; a small budget gives fewer runs instead.
const LEAST_RUN_S: f64 = 2.5;
const NAIVE_COMPARISONS: usize = 40;
/// Samples on a side: fewer are no benchmark, and as many as this are common.
const LEAST_NAIVE_SAMPLES: usize = 30;
const USUAL_SAMPLES: usize = 1000;

/// Number of runs that fit, and the seconds of each.
fn share_out(budget_s: f64) -> (usize, f64) {
    let runs = ((budget_s * RUNS_SHARE / LEAST_RUN_S) as usize).clamp(2, RUNS);
    (runs, budget_s * RUNS_SHARE / runs as f64)
}

/// The samples on each side of a naive comparison: once as many as one of Pagewise's ratios took, and once what a loop around
/// a clock usually takes, as far as the budget allows.
fn naive_samples(like: &[&Done], budget_s: f64) -> Vec<usize> {
    let Some(first) = like.first() else {
        return Vec::new();
    };
    let taken = like.iter().map(|d| d.samples_each).sum::<usize>() / like.len();
    let side_s = budget_s * NAIVE_SHARE / 4.0 / NAIVE_COMPARISONS as f64;
    let affordable = (side_s / first.slot_s.max(1e-6)) as usize;
    let few = taken.min(affordable).max(LEAST_NAIVE_SAMPLES);
    let many = USUAL_SAMPLES.min(affordable);
    // Twice nearly the same number would only say the same thing twice.
    if many >= 2 * few {
        vec![few, many]
    } else {
        vec![few.max(many)]
    }
}

/// Runs the whole self-test below `place`, which is emptied as it goes. Where a signal arrives, the trials
/// that are done are judged; the second value is that signal.
pub fn selftest(
    place: &Path,
    laboratory: &Laboratory,
    budget_s: f64,
    seed: u64,
) -> Result<(SelfTest, Option<i32>)> {
    let signals = Signals::watch()?;
    let bench = TestBench::new(laboratory, &signals)?;
    let started = Instant::now();
    let (runs, run_s) = share_out(budget_s);
    let mut done: Vec<Done> = Vec::new();
    let mut batch = None;
    let extras: Vec<u64> = (0..PAIRS).map(|pair| EXTRAS[pair % EXTRAS.len()]).collect();
    for number in 0..runs {
        let work = WORKS[number % WORKS.len()];
        let name = format!("run-{number}");
        let folder = place.join(&name);
        let trial = Trial {
            work,
            batch,
            extras: &extras,
        };
        let trial = bench.run(&folder, &trial, run_s, seed.wrapping_add(number as u64))?;
        let _ = Folder::open(place).and_then(|place| place.remove(&name));
        batch = batch.or(trial.batch);
        done.push(trial);
        if signals.arrived().is_some() {
            break;
        }
    }
    let left_s = budget_s * (1.0 - NAIVE_SHARE) - started.elapsed().as_secs_f64();
    let real = real_runs(
        place,
        laboratory,
        left_s.max(budget_s * REAL_SHARE),
        seed,
        &signals,
    )?;
    let mut naive = Vec::new();
    for work in [WorkKind::Steps, WorkKind::Pages] {
        let like: Vec<&Done> = done.iter().filter(|d| d.work == work).collect();
        for samples in naive_samples(&like, budget_s) {
            if signals.arrived().is_none() {
                naive.push(trials::naive_trials(
                    place, &bench, work, batch, samples, seed,
                )?);
            }
        }
    }
    let result = SelfTest::from_trials(
        &done,
        &real,
        naive,
        seed,
        budget_s,
        started.elapsed().as_secs_f64(),
    );
    Ok((result, signals.arrived()))
}

/// Runs of real cells until the time is used up: at least one.
fn real_runs(
    place: &Path,
    laboratory: &Laboratory,
    budget_s: f64,
    seed: u64,
    signals: &Signals,
) -> Result<Vec<RealRun>> {
    let mut runs = Vec::new();
    let number = ((budget_s / REAL_RUN_S) as usize).max(1);
    for run in 0..number {
        if signals.arrived().is_some() {
            break;
        }
        let name = format!("real-{run}");
        let folder = place.join(&name);
        let share = real::weight(run) / (0..number).map(real::weight).sum::<f64>();
        let seed = seed.wrapping_add(1000 + run as u64);
        let run = real::run(&folder, laboratory, run, budget_s * share, seed, signals)?;
        runs.extend(run);
        let _ = Folder::open(place).and_then(|place| place.remove(&name));
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_minutes_make_more_than_a_hundred_comparisons() {
        let (runs, run_s) = share_out(180.0);
        assert!(runs * PAIRS >= 100);
        assert!(run_s * runs as f64 <= 180.0 * RUNS_SHARE + 1e-9);
        const { assert!(RUNS_SHARE + REAL_SHARE + NAIVE_SHARE <= 1.0) };
        assert_eq!(share_out(3.0).0, 2);
    }

    #[test]
    fn both_kinds_of_work_and_all_effects_are_tried() {
        assert!(WORKS[..2].contains(&WorkKind::Pages) && WORKS[..2].contains(&WorkKind::Steps));
        assert!(PAIRS.is_multiple_of(EXTRAS.len()));
    }
}
