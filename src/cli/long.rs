//! Articles whose jobs take minutes each: what they will take here is foretold by a trial of fewer operations, and said
//! before.

use std::path::Path;

use anyhow::{Context, Result};
use record::published::{Figure, Published};
use schedule::TRIAL_OPS;
use schedule::long::{JobTrial, LongForecast};

use super::Laboratory;
use crate::plan::{self, Choice, Terms, Wish};
use crate::run::Runner;
use crate::run::guard::Scratch;
use crate::run::progress::Progress;
use crate::run::signals::Signals;
use crate::worker::Worker;
use record::folder::RunFolder;

/// The parameter that says how many operations a job makes.
const OPS: &str = "ops";
/// The trial's longest time, in seconds.
const TRIAL_S: f64 = 300.0;

/// Tells whether every job of these articles takes minutes.
pub(super) fn takes_minutes(tables: &[&Published]) -> bool {
    tables.iter().all(|table| table.once)
}

/// Makes the trial: every job with few and with more operations.
pub(super) fn foretell(laboratory: &Laboratory, tables: &[&Published], wish: &Wish) -> Result<LongForecast> {
    let ops = |f: &Figure| f.parameters.get(OPS)?.parse::<f64>().ok();
    let most = tables.iter().flat_map(|t| &t.figures).filter_map(ops).fold(0.0, f64::max);
    let place = Scratch::new("forecast")?;
    let trial = |ops: u64| {
        let fewer: Vec<Published> = tables.iter().map(|table| with_ops(table, ops)).collect();
        let fewer: Vec<&Published> = fewer.iter().collect();
        let choice = Choice::Published(&fewer, wish);
        let measured =
            launches(&place.path().join(ops.to_string()), &laboratory.experiments, &laboratory.workers, choice);
        measured.context("the trial could not be run")
    };
    let [few, more] = TRIAL_OPS.map(trial);
    let is_file = |cell: &str| tables.iter().flat_map(|t| &t.figures).any(|f| f.written_back && f.cell == cell);
    let trials = few?.into_iter().zip(more?);
    let trials =
        trials.map(|((cell, few_s), (_, more_s))| JobTrial { seconds: [few_s, more_s], is_file: is_file(&cell) });
    Ok(LongForecast::new(most, trials))
}

/// An article whose jobs make so many operations.
fn with_ops(table: &Published, ops: u64) -> Published {
    let mut table = table.clone();
    for figure in &mut table.figures {
        figure.parameters.entry(OPS.to_owned()).and_modify(|known| *known = ops.to_string());
    }
    table
}

/// The cells of a trial and how long the launch of each took.
fn launches(
    place: &Path,
    experiments: &[record::experiment::Experiment],
    workers: &[Worker],
    choice: Choice,
) -> Result<Vec<(String, f64)>> {
    let folder = RunFolder::create(&place.join("run"))?;
    let terms = Terms {
        launches: (1, 1),
        time_limit_s: Some(TRIAL_S),
        ..Terms::usual(format!("trial-{}", std::process::id()), 1, TRIAL_S, (0.5, 0.5))
    };
    let plan = plan::build(experiments, workers, choice, terms)?;
    folder.write_sealed("plan.json", &plan)?;
    let signals = Signals::watch()?;
    let (state, _) = Runner::new(plan, &folder, workers, &signals, Progress::new())?.run()?;
    let name = |cells: &[usize]| cells.first().map_or_else(String::new, |&c| state.cells[c].cell.name());
    let records = folder.launches()?.records;
    Ok(records.iter().map(|r| (name(&r.cells), r.wall_s)).collect())
}

#[cfg(test)]
#[path = "../../tests/unit/cli/long.rs"]
mod tests;
