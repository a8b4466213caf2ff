//! Do intervals hold the truth with real launches of this machine?
//!
//! `cargo bench --bench launches` takes less than four minutes: of seven experiments it launches an ordinary cell, its hidden
//! duplicate and the same with exactly 5 % more to do, as often as half a minute allows, and prints how often the interval of
//! neighbouring launches holds 1 or what all launches together say of the 5 %. With a folder behind `--` the launches are
//! written there: `cargo bench --bench launches -- crates/stats/tests/fixtures/launches` made the recording that
//! `crates/stats/tests/recorded.rs` holds the intervals to.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use pagewise::check::selftest::real::{EXPERIMENTS, alone};
use pagewise::plan::{Laboratory, Terms, catalog};
use pagewise::run::signals::Signals;
use pagewise::worker;
use record::method::Role;
use stats::estimate::{Point, estimates};
use stats::interval::CONFIDENCE;
use stats::verdicts::MARGIN;

/// Seconds for each experiment, and the most launches that are made of them.
const BUDGET_S: f64 = 30.0;
const LAUNCHES: u32 = 400;
/// Neighbouring launches that make a run.
const LENGTHS: [usize; 4] = [6, 10, 16, 30];

fn main() -> Result<()> {
    let folder = std::env::args()
        .skip(1)
        .find(|word| word != "--bench")
        .map(PathBuf::from);
    let laboratory = Laboratory {
        experiments: catalog::experiments(None)?,
        workers: worker::all(&[], &[])?,
    };
    let signals = Signals::watch()?;
    println!(
        "share of intervals of 6, 10, 16 and 30 launches that hold the truth: identical, and 5 % more"
    );
    for (number, experiment) in EXPERIMENTS.into_iter().enumerate() {
        let place = tempfile::tempdir()?;
        let seed = number as u64 + 1;
        let terms = Terms {
            launches: (LAUNCHES, LAUNCHES),
            ..Terms::usual(
                format!("launches-{experiment}"),
                seed,
                BUDGET_S,
                (0.0, MARGIN),
            )
        };
        let (state, evidence) = alone(
            &place.path().join("run"),
            &laboratory,
            experiment,
            terms,
            &signals,
        )?;
        let logs = judge::launch_logs(&state, &evidence);
        let is = |cell: usize, twin: bool| {
            state.cells[cell].twin == twin && state.cells[cell].method.role != Role::Null
        };
        let of = |twin: bool| {
            logs.iter()
                .find(|(cell, _)| is(*cell, twin))
                .map(|(_, logs)| logs.clone())
        };
        let (same, more) = of(true)
            .zip(of(false))
            .with_context(|| format!("{experiment} brought no launches"))?;
        let n = same.len().min(more.len());
        let series = [&same[..n], &more[..n]];
        println!(
            "{experiment:<10} {n:>4} launches {} {}",
            covered(&series, 0),
            covered(&series, 1)
        );
        if let Some(folder) = &folder {
            let cell = &state.cells[logs[0].0].cell;
            let mut text = format!(
                "# {cell}: ln(duplicate / baseline) and ln(5 % more / baseline) of each launch, in millionths, as recorded\n"
            );
            for launch in 0..n {
                let [same, more] = series.map(|logs| (logs[launch] * 1e6).round());
                let _ = writeln!(text, "{same} {more}");
            }
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join(format!("{experiment}.txt")), text)?;
        }
    }
    Ok(())
}

/// How often intervals hold the truth: 1 of identical cells, and the mean of all launches of the others.
fn covered(series: &[&[f64]; 2], which: usize) -> String {
    let truth = if which == 0 {
        0.0
    } else {
        series[1].iter().sum::<f64>() / series[1].len() as f64
    };
    let share = |n: usize| {
        let runs = series[0].len().saturating_sub(n - 1);
        let holds = |start: &usize| {
            let group = series.map(|logs| {
                logs[*start..start + n]
                    .iter()
                    .map(|log| Point {
                        log: *log,
                        rounds: 1,
                        round_variance: 0.0,
                    })
                    .collect()
            });
            estimates(&group, CONFIDENCE)[which]
                .as_ref()
                .is_ok_and(|e| e.low.ln() <= truth && truth <= e.high.ln())
        };
        100.0 * (0..runs).filter(holds).count() as f64 / runs.max(1) as f64
    };
    LENGTHS.map(|n| format!("{:>4.0} %", share(n))).join("")
}
