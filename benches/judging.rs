//! How long judging takes and how much memory: 1,000,000 samples must take less than 1 s and 200 MiB.
//!
//! `cargo bench --bench judging` judges three shapes of a run by everything that a report asks for and prints the figures;
//! it fails where a limit is exceeded.

use stats::absolute::absolute;
use stats::estimate::{Point, estimates};
use stats::interval::CONFIDENCE;
use stats::leader::{RankingTerms, rank_contrasts};
use stats::rng::Seeded;
use stats::steady::{TOLERANCE, steadiness};
use std::time::{Duration, Instant};

const SAMPLES: usize = 1_000_000;
const LIMIT: Duration = Duration::from_secs(1);
const LIMIT_MIB: f64 = 200.0;

/// The samples of a run: of each cell, of each launch, the rounds.
type Run = Vec<Vec<Vec<f64>>>;

fn main() {
    println!(
        "{:>5} {:>8} {:>7} {:>9} {:>10}",
        "cells", "launches", "rounds", "seconds", "peak MiB"
    );
    for (cells, launches) in [(2, 10), (10, 10), (20, 50)] {
        let rounds = SAMPLES / cells / launches;
        let mut run = simulated(cells, launches, rounds);
        let start = Instant::now();
        judge(&mut run);
        let took = start.elapsed();
        let peak = peak_mib();
        println!(
            "{cells:>5} {launches:>8} {rounds:>7} {:>9.3} {peak:>10.1}",
            took.as_secs_f64()
        );
        assert!(took < LIMIT && peak < LIMIT_MIB, "a limit is exceeded");
    }
}

/// Costs around 80 with noise that wanders, so that nothing is found at once.
fn simulated(cells: usize, launches: usize, rounds: usize) -> Run {
    let mut rng = Seeded::new(1);
    let mut launch = |cell: usize| {
        let mut level = 80.0 + cell as f64;
        let mut sample = || {
            level *= 1.0 + 0.002 * (rng.unit() - 0.5);
            level * (1.0 + 0.1 * rng.unit())
        };
        (0..rounds).map(|_| sample()).collect::<Vec<f64>>()
    };
    (0..cells)
        .map(|cell| (0..launches).map(|_| launch(cell)).collect())
        .collect()
}

/// Everything a report asks for. What needs the order of rounds comes before what reorders them.
fn judge(run: &mut Run) {
    let mut logs = Vec::new();
    for cell in run.iter() {
        let rounds = |base: &[f64], mine: &[f64]| {
            base.iter()
                .zip(mine)
                .map(|(b, m)| (m / b).ln())
                .collect::<Vec<f64>>()
        };
        let point = |(base, mine): (&Vec<f64>, &Vec<f64>)| {
            Point::of_rounds(&rounds(base, mine)).expect("positive costs")
        };
        let launches: Vec<Point> = run[0].iter().zip(cell).map(point).collect();
        logs.push(
            launches
                .iter()
                .map(|launch| launch.log)
                .collect::<Vec<f64>>(),
        );
        estimates(&[launches], CONFIDENCE)
            .remove(0)
            .expect("enough launches");
        for launch in cell {
            steadiness(launch, TOLERANCE, 1).expect("positive costs");
        }
    }
    let contrast = |a: usize, b: usize| {
        let point = |(base, mine): (&f64, &f64)| Point {
            log: mine - base,
            rounds: 1,
            round_variance: 0.0,
        };
        logs[a].iter().zip(&logs[b]).map(point).collect()
    };
    rank_contrasts(
        logs.len(),
        contrast,
        |_, _| CONFIDENCE,
        Some(0),
        RankingTerms {
            margin: 0.02,
            confidence: CONFIDENCE,
            widening: 1.0,
        },
    )
    .expect("enough launches");
    for cell in run.iter_mut() {
        absolute(cell, CONFIDENCE).expect("samples");
    }
}

/// The most memory this process has held, from the kernel.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("the peak of resident memory");
    line.trim()
        .trim_end_matches(" kB")
        .parse::<f64>()
        .expect("a number")
        / 1024.0
}
