//! Headline rows under each condition, compared with independent programs (`benches/truth/*.c`), in turn:
//! `cargo bench --bench truth -- [NAME…]`. A row whose name contains a NAME is measured, or all. Prints each method's
//! ratio to the baseline here and there with the range over the turns, and the quotient of both; asserts nothing.
//! `TRUTH_SECONDS` and `TRUTH_TURNS` replace 6 and 3; a row that needs more seconds has them.

use anyhow::{Context, Result, bail};
use questions::{Row, median};
use record::summary::{CellSummary, Summary};
use std::path::Path;
use std::process::Command;

#[path = "support/questions.rs"]
mod questions;

/// A quotient of two ratios within these is agreement.
const WITHIN: std::ops::RangeInclusive<f64> = 0.9..=1.1;

/// How two ratios of the same method compare.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agreement {
    /// Their quotient is within [`WITHIN`].
    Within,
    /// It is not, but a turn of one side is that near to a turn of the other.
    Scatter,
    /// No turn is.
    Differs,
}

/// Times and ratios to the first way, in the order of the ways; none where there is no figure.
struct Figures {
    times: Vec<Option<f64>>,
    ratios: Vec<Option<f64>>,
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(usual)
}

fn main() -> Result<()> {
    // cargo adds --bench.
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let table = questions::table()?;
    let place = tempfile::Builder::new()
        .prefix("pagewise-truth-")
        .tempdir()?;
    let (turns, mut agreements) = (number("TRUTH_TURNS", 3), Vec::new());
    println!(
        "ratios to the baseline, the median of {turns} turns (least–most): here, there, here / there"
    );
    for row in table
        .row
        .iter()
        .filter(|row| names.is_empty() || names.iter().any(|name| row.name.contains(name)))
    {
        let program = row.compiled(place.path())?;
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for turn in 0..turns {
            if turn % 2 == 0 {
                there.push(theirs(row, &program, place.path())?);
                here.push(ours(row, place.path())?);
            } else {
                here.push(ours(row, place.path())?);
                there.push(theirs(row, &program, place.path())?);
            }
        }
        agreements.extend(report(row, &here, &there));
    }
    let count = |agreement| agreements.iter().filter(|a| **a == agreement).count();
    let (within, scatter) = (count(Agreement::Within), count(Agreement::Scatter));
    println!(
        "{within} of {} ratios agree within 10 %, {scatter} more within the scatter of the turns",
        agreements.len()
    );
    Ok(())
}

fn theirs(row: &Row, program: &Path, place: &Path) -> Result<Figures> {
    let times = row.times(program, place)?;
    let ratios = times
        .iter()
        .map(|time| Some((*time)? / times[0]?))
        .collect();
    Ok(Figures { times, ratios })
}

fn ours(row: &Row, place: &Path) -> Result<Figures> {
    let out = place.join("run");
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_pagewise"));
    command.arg("run").args(row.question(&row.ways));
    let seconds = row.seconds.unwrap_or(6).max(number("TRUTH_SECONDS", 6));
    command
        .args(["--budget", &format!("{seconds}s"), "--json", "--out"])
        .arg(&out);
    let output = command.output()?;
    if output
        .status
        .code()
        .is_none_or(|code| code == 1 || code > 4)
    {
        bail!("{}: {}", row.name, String::from_utf8_lossy(&output.stderr));
    }
    let summary: Summary = serde_json::from_slice(&output.stdout).context("a run is a summary")?;
    summary
        .notes
        .iter()
        .filter(|_| output.status.code() == Some(4))
        .for_each(|note| println!("  {}", note.kind.code()));
    let headline = summary
        .experiment(&row.experiment)
        .context("the experiment was measured")?
        .headline
        .clone();
    let total = row.total.as_ref().unwrap_or(&headline);
    let cell = |method: &str| {
        let same = |c: &&CellSummary| c.method == method && !c.hidden;
        summary
            .cells
            .iter()
            .find(same)
            .filter(|c| c.phases.contains_key(total))
    };
    for (method, _) in &row.ways {
        match cell(method) {
            Some(cell) if cell.outcome.status == record::outcome::Status::Ok => {}
            Some(cell) => println!("  {method}: {}", report::phrases::reason(&cell.outcome)),
            None => println!("  {method}: no figure for {total}"),
        }
    }
    let times: Vec<Option<f64>> = row
        .ways
        .iter()
        .map(|(method, _)| Some(cell(method)?.phases[total].wall_ns.median))
        .collect();
    let estimate = |at: usize| {
        let index = summary
            .cells
            .iter()
            .position(|c| c.method == row.ways[at].0 && !c.hidden)?;
        Some(
            summary
                .groups
                .iter()
                .find_map(|group| group.comparison(index, total))?
                .contrast
                .ratio?
                .ratio,
        )
    };
    let plain = |at: usize| Some(times[at]? / times[0]?);
    let ratios = (0..row.ways.len())
        .map(|at| estimate(at).or_else(|| plain(at)))
        .collect();
    Ok(Figures { times, ratios })
}

/// Median, least and most of some values; none of none.
fn spread(values: Vec<f64>) -> Option<[f64; 3]> {
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().reduce(f64::max)?;
    Some([median(values)?, least, most])
}

fn agreement(here: [f64; 3], there: [f64; 3]) -> Agreement {
    if WITHIN.contains(&(here[0] / there[0])) {
        Agreement::Within
    } else if here[1] <= WITHIN.end() * there[2] && here[2] >= WITHIN.start() * there[1] {
        Agreement::Scatter
    } else {
        Agreement::Differs
    }
}

/// Prints a row; how each method but the baseline compares.
fn report(row: &Row, here: &[Figures], there: &[Figures]) -> Vec<Agreement> {
    let mut agreements = Vec::new();
    println!("{}", row.name);
    for (at, (method, _)) in row.ways.iter().enumerate() {
        let ratios = |side: &[Figures]| spread(side.iter().filter_map(|f| f.ratios[at]).collect());
        let times = |side: &[Figures]| {
            median(side.iter().filter_map(|f| f.times[at]).collect()).unwrap_or(f64::NAN)
        };
        let (Some(mine), Some(others)) = (ratios(here), ratios(there)) else {
            println!("  {method:<18} no figure");
            continue;
        };
        let mark = match agreement(mine, others) {
            Agreement::Within => "",
            Agreement::Scatter => "scatter",
            Agreement::Differs => "differs",
        };
        let range = |[median, least, most]: [f64; 3]| format!("{median:.3} ({least:.3}–{most:.3})");
        println!(
            "  {method:<18} {:<22} {:<22} {:>5.2} {mark:<8} ({:.0} ns a sample; {:.1})",
            range(mine),
            range(others),
            mine[0] / others[0],
            times(here),
            times(there)
        );
        if at > 0 {
            agreements.push(agreement(mine, others));
        }
    }
    agreements
}
