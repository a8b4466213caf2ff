//! Write-ups whose jobs take minutes each: what they will take here is foretold by a trial of fewer operations, and said
//! before.

use std::path::Path;

use anyhow::{Context, Result};
use record::published::{Figure, Published};

use super::Laboratory;
use crate::plan::{self, Choice, Terms, Wish};
use crate::run::Runner;
use crate::run::guard::Guard;
use crate::run::progress::Progress;
use crate::run::signals::Signals;
use crate::worker::Worker;
use record::folder::RunFolder;

/// The parameter that says how many operations a job makes.
const OPS: &str = "ops";
/// Operations of the trial's two launches of each job: what the second took beyond the first is the operations', without the
/// first touch of every page.
const TRIAL_OPS: [u64; 2] = [10_000_000, 30_000_000];
/// How many times as long a job may take as its trial promises: what write-back added to the published one.
const LONGER: f64 = 5.0;
/// The trial's longest time, in seconds.
const TRIAL_S: f64 = 300.0;

/// What one launch of every job should take, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Foretold {
    least_s: f64,
    pub(super) most_s: f64,
}

impl Foretold {
    /// By the launches of a trial: what each job took with few and with more operations, and whether its name says that its
    /// memory is a file's, which is written back meanwhile.
    fn of(asked: f64, trials: impl Iterator<Item = ([f64; 2], bool)>) -> Foretold {
        let mut all = Foretold { least_s: 0.0, most_s: 0.0 };
        let [few, more] = TRIAL_OPS.map(|ops| ops as f64);
        for ([with_few_s, with_more_s], is_file) in trials {
            // Where the machine was busier during the first, all of the second counts as operations.
            let each_s = (with_more_s - with_few_s) / (more - few);
            let each_s = if each_s > 0.0 { each_s } else { with_more_s / more };
            let took_s = with_more_s + each_s * (asked - more).max(0.0);
            all.least_s += took_s;
            all.most_s += took_s * if is_file { LONGER } else { 1.0 };
        }
        all
    }

    /// The budget that holds so many launches of each.
    pub(super) fn budget_s(self, launches: u32) -> f64 {
        60.0 + 1.2 * self.most_s * f64::from(launches)
    }

    /// What is said before.
    pub(super) fn words(self, launches: u32) -> String {
        let [least, most] =
            [self.least_s, self.most_s].map(|s| report::words::duration((s * f64::from(launches)).max(1.0)));
        let trial = TRIAL_OPS[1];
        format!(
            "by a trial of {trial} operations this takes {least}, and up to {most} where write-back slows the file down"
        )
    }
}

/// Whether every job of these write-ups takes minutes.
pub(super) fn takes_minutes(tables: &[&Published]) -> bool {
    tables.iter().all(|table| table.once)
}

/// Makes the trial: every job with few and with more operations.
pub(super) fn foretell(laboratory: &Laboratory, tables: &[&Published], wish: &Wish) -> Result<Foretold> {
    let ops = |f: &Figure| f.parameters.get(OPS)?.parse::<f64>().ok();
    let asked = tables.iter().flat_map(|t| &t.figures).filter_map(ops).fold(0.0, f64::max);
    let place = std::env::temp_dir().join(format!("trial-of-pagewise-{}", std::process::id()));
    let mut guard = Guard::start()?;
    let own = place.file_name().unwrap_or_default().display();
    guard.undo(&format!("remove-prefix {} {own}", std::env::temp_dir().display()))?;
    let trial = |ops: u64| {
        let fewer: Vec<Published> = tables.iter().map(|table| with_ops(table, ops)).collect();
        let fewer: Vec<&Published> = fewer.iter().collect();
        let choice = Choice::Published(&fewer, wish);
        let found = launches(&place.join(ops.to_string()), &laboratory.experiments, &laboratory.workers, choice);
        found.context("the trial could not be run")
    };
    let found = TRIAL_OPS.map(trial);
    let _ = std::fs::remove_dir_all(&place);
    let [few, more] = found;
    let took = few?.into_iter().zip(more?).map(|((cell, few_s), (_, more_s))| ([few_s, more_s], cell.contains("file")));
    Ok(Foretold::of(asked, took))
}

/// A write-up whose jobs make so many operations.
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
mod tests {
    use super::*;
    use crate::plan::published;

    #[test]
    fn a_long_job_is_foretold_by_its_trial_and_the_budget_holds_it() {
        // 10 s for each of the first touches, and 0.2 s for a million operations.
        let found = Foretold::of(1e9, [([12.0, 16.0], true), ([12.0, 16.0], false)].into_iter());
        assert!((found.least_s - 420.0).abs() < 1e-6 && (found.most_s - 1260.0).abs() < 1e-6, "{found:?}");
        assert!(found.budget_s(1) > found.most_s && found.budget_s(4) > 4.0 * found.most_s);
        assert!(found.words(1).contains("7 min") && found.words(1).contains("21 min"), "{}", found.words(1));
        let busy = Foretold::of(1e9, [([20.0, 15.0], false)].into_iter());
        assert!((busy.least_s - 500.0).abs() < 1e-6, "{busy:?}");
    }

    #[test]
    fn only_the_long_forms_take_minutes_and_the_short_one_says_what_it_cannot_show() {
        let all = published::all().unwrap();
        for table in all {
            assert_eq!(table.once, table.id.ends_with(published::LONG), "{}", table.id);
        }
        let note = |id: &str| published::find(id).unwrap().note.clone().unwrap_or_default();
        assert!(note("P1").contains("claim (e)") && note("P1").contains("--long"));
        assert!(note("P1-long").contains("redirtied"));
    }
}
