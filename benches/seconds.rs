//! Seconds from Enter to a figure and to a word, for ten pairs, in turn with an independent program (`benches/truth/*.c`):
//! `cargo bench --bench seconds -- [NAME…]`. Prints a row a pair, each figure the median over the turns: the first figure, the
//! word of `pagewise run` without a budget and whether it is right by the program's ratio, an interval of ±5 %, and the program
//! with three processes a way. `SECONDS_TURNS` replaces 3. Asserts nothing.

use anyhow::{Context, Result};
use questions::{Row, median};
use record::summary::{CellSummary, Summary, Verdict};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[allow(dead_code, reason = "the bench of truth reads all of a row")]
#[path = "support/questions.rs"]
mod questions;

/// The pairs, by the row of the table and the method that is compared with its first one.
const PAIRS: [(&str, &str); 10] = [
    ("fault: frames=cached", "thp"),
    ("fault: frames=cached", "populate"),
    ("fault: frames=memory", "thp"),
    ("fork: program=tiny", "vfork"),
    ("message: block, pin=same, idle=no", "eventfd"),
    ("message: spin", "spin-ring"),
    ("copy: 64KiB, cached", "streaming"),
    ("copy: 64KiB, helpers=created", "memcpy-threads"),
    ("false-sharing: stores=atomic", "one-line"),
    ("unmap: chunk=1MiB, running=1", "dontneed"),
];
/// A ratio so near to one has no side: neither word is wrong.
const NEAR: f64 = 1.05;

/// Answer of one run.
struct Answer {
    first_figure_s: f64,
    wall_s: f64,
    verdict: Option<Verdict>,
}

fn main() -> Result<()> {
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let turns: usize = std::env::var("SECONDS_TURNS")
        .ok()
        .and_then(|turns| turns.parse().ok())
        .unwrap_or(3);
    let place = tempfile::Builder::new()
        .prefix("pagewise-seconds-")
        .tempdir()?;
    println!(
        "| pair | first figure, s | word, s | right | wrong | ±5 %, s | program, s | its ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut sums = [0.0; 4];
    for (name, method) in PAIRS {
        if !names.is_empty() && !names.iter().any(|wanted| name.contains(wanted.as_str())) {
            continue;
        }
        let pair = pair(name, method)?;
        for (sum, seconds) in sums.iter_mut().zip(measured(&pair, turns, place.path())?) {
            *sum += seconds;
        }
    }
    let [first, word, narrow, program] = sums.map(|sum| format!("{sum:.1}"));
    println!("| sum | {first} | {word} | | | {narrow} | {program} | |");
    Ok(())
}

/// The question with two ways alone.
fn pair(name: &str, method: &str) -> Result<Row> {
    let mut rows = questions::table()?.row.into_iter();
    let mut row = rows
        .find(|row| row.name == name)
        .with_context(|| format!("the table has no {name}"))?;
    let baseline = row.ways[0].clone();
    row.ways.retain(|way| *way == baseline || way.0 == method);
    Ok(row)
}

/// Measures and prints a pair: seconds to the first figure, the word, ±5 %, and of the program.
fn measured(row: &Row, turns: usize, place: &Path) -> Result<[f64; 4]> {
    let program = row.compiled(place)?;
    let (mut ratios, mut seconds, mut answers, mut narrow) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..turns {
        let begun = Instant::now();
        let times = row.times(&program, place)?;
        seconds.push(begun.elapsed().as_secs_f64());
        ratios.extend(times[1].zip(times[0]).map(|(way, base)| way / base));
        answers.push(answered(row, &[], place)?);
        narrow.push(answered(row, &["--precision", "5%"], place)?.wall_s);
    }
    let ratio = median(ratios).context("the program prints figures")?;
    let with = |right: Option<bool>| {
        let rights = answers.iter().map(|answer| is_right(answer.verdict, ratio));
        rights.filter(|known| *known == right).count()
    };
    let (right, wrong) = (with(Some(true)), with(Some(false)));
    let figure = |values: Vec<f64>| median(values).unwrap_or(f64::NAN);
    let sums = [
        figure(answers.iter().map(|answer| answer.first_figure_s).collect()),
        figure(answers.iter().map(|answer| answer.wall_s).collect()),
        figure(narrow),
        figure(seconds),
    ];
    println!(
        "| {}: {} | {:.2} | {:.2} | {right} of {turns} | {wrong} | {:.1} | {:.1} | {ratio:.2} |",
        row.name, row.ways[1].0, sums[0], sums[1], sums[2], sums[3]
    );
    Ok(sums)
}

/// Tells whether a word agrees with the program's ratio; absent without a word where the ratio is no draw.
fn is_right(verdict: Option<Verdict>, ratio: f64) -> Option<bool> {
    let is_draw = (1.0 / NEAR..NEAR).contains(&ratio);
    match verdict {
        Some(Verdict::Faster { .. }) => Some(ratio < NEAR),
        Some(Verdict::Slower { .. }) => Some(ratio > 1.0 / NEAR),
        Some(Verdict::NotSettled) | None => is_draw.then_some(true),
        Some(_) => Some(is_draw),
    }
}

/// Runs Pagewise once and watches until its first launch is kept.
fn answered(row: &Row, options: &[&str], place: &Path) -> Result<Answer> {
    let out = place.join("run");
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_pagewise"))
        .arg("run")
        .args(row.question(&row.ways))
        .args(options)
        .arg("--out")
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut first_figure_s = None;
    while child.try_wait()?.is_none() {
        if first_figure_s.is_none()
            && std::fs::metadata(out.join("launches.jsonl")).is_ok_and(|file| file.len() > 0)
        {
            first_figure_s = Some(begun.elapsed().as_secs_f64());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let wall_s = begun.elapsed().as_secs_f64();
    let summary: Summary = serde_json::from_slice(&std::fs::read(out.join("summary.json"))?)?;
    let experiment = summary
        .experiment(&row.experiment)
        .context("the experiment was measured")?;
    let total = row.total.as_ref().unwrap_or(&experiment.headline);
    let is_compared = |cell: &CellSummary| cell.method == row.ways[1].0 && !cell.hidden;
    let cell = summary.cells.iter().position(is_compared);
    let comparison = cell.and_then(|cell| {
        let mut groups = summary.groups.iter();
        groups.find_map(|group| group.comparison(cell, total))
    });
    Ok(Answer {
        first_figure_s: first_figure_s.unwrap_or(wall_s),
        wall_s,
        verdict: comparison.map(|comparison| comparison.contrast.overall()),
    })
}
