//! The batch of methods too short to time once: a repeated median over short launches, one for all compared cells.

use crate::action::{Action, CALIBRATION, Launch, StepResult};
use crate::constants::{CALIBRATIONS, SAMPLE, TIMING_ROUNDS};
use crate::{Task, view::View};
use record::plan::{BATCH, compatible, group_of};
use record::state::Stage;
use stats::quantile::median;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct BatchCalibration {
    experiment: String,
    until_s: f64,
    /// Groups of this pass, the next one last; absent before the first step.
    rest: Option<Vec<usize>>,
    launched: Option<usize>,
    pass: usize,
    /// Nanoseconds of one repetition by cell, a value for each launch.
    seen: BTreeMap<usize, Vec<f64>>,
}

impl BatchCalibration {
    pub fn new(experiment: &str, until_s: f64) -> BatchCalibration {
        let experiment = experiment.to_owned();
        BatchCalibration {
            experiment,
            until_s,
            rest: None,
            launched: None,
            pass: 0,
            seen: BTreeMap::new(),
        }
    }

    pub fn step(&mut self, view: &View) -> StepResult {
        if let Some(group) = self.launched.take() {
            self.learn(view, group);
        }
        let (coarse, fine) = CALIBRATIONS;
        if view.spent_s >= self.until_s || self.rest.is_none() && self.pass == coarse + fine {
            return StepResult::Done;
        }
        let mut rest = self
            .rest
            .take()
            .unwrap_or_else(|| open(view, &self.experiment));
        if let Some(group) = rest.pop() {
            (self.rest, self.launched) = (Some(rest), Some(group));
            let fresh = view.group(group).fresh;
            let rounds = if fresh { 1 } else { TIMING_ROUNDS };
            let warmup_rounds = if fresh || view.is_long(group) {
                0
            } else {
                1 + u32::from(view.compiles(group))
            };
            let launch = Launch {
                launch_group: group,
                block: CALIBRATION,
                rounds,
                warmup_rounds,
                at_most_s: None,
            };
            return StepResult::Do(Action::Pilot(launch));
        }
        self.pass += 1;
        if self.seen.is_empty() {
            StepResult::Done
        } else {
            StepResult::After(vec![Task::Decisions(self.batches(view))])
        }
    }

    fn learn(&mut self, view: &View, group: usize) {
        for cell in free(view, group) {
            let Some(sample_ns) = view.forecast.sample_ns(cell) else {
                continue;
            };
            let all = self.seen.entry(cell).or_default();
            if self.pass <= CALIBRATIONS.0 {
                // Samples that are still too short contain the cost of the clock.
                all.clear();
            }
            all.push(sample_ns / f64::from(batch_of(view, cell)));
        }
    }

    fn batches(&self, view: &View) -> Vec<Action> {
        let Some(experiment) = view.state.plan.experiment(&self.experiment) else {
            return Vec::new();
        };
        let group = |cell: usize| {
            let mut group = group_of(experiment, &view.state.cells[cell].cell);
            group.remove(BATCH);
            group
        };
        let each: Vec<_> = self
            .seen
            .iter()
            .filter_map(|(&cell, all)| Some((cell, group(cell), median(&mut all.clone())?)))
            .collect();
        let mut chosen: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (cell, own, _) in &each {
            let compared = each
                .iter()
                .filter(|(_, group, _)| compatible(own, group))
                .map(|(.., ns)| *ns);
            let (fastest, slowest) = compared.fold((f64::INFINITY, 0.0_f64), |(low, high), ns| {
                (low.min(ns), high.max(ns))
            });
            let worker = view.state.cells[*cell].cell.sides().next();
            let clock_ns = worker
                .and_then(|worker| view.forecast.clock_read_ns(worker))
                .unwrap_or(100.0);
            let batch = batch_for(fastest, slowest, clock_ns);
            if batch != batch_of(view, *cell) {
                chosen.entry(batch).or_default().push(*cell);
            }
        }
        chosen
            .into_iter()
            .map(|(batch, cells)| Action::FixBatch { cells, batch })
            .collect()
    }
}

fn open(view: &View, experiment: &str) -> Vec<usize> {
    let piloted = |group: &usize| {
        matches!(view.stage(*group), Stage::Piloted(_)) && !free(view, *group).is_empty()
    };
    view.groups_of(experiment)
        .into_iter()
        .rev()
        .filter(piloted)
        .collect()
}

/// The cells of a group whose batch is not the user's.
fn free(view: &View, group: usize) -> Vec<usize> {
    view.alive(group)
        .into_iter()
        .filter(|&cell| view.state.cells[cell].free_batch)
        .collect()
}

fn batch_of(view: &View, cell: usize) -> u32 {
    view.state.cells[cell]
        .cell
        .parameters
        .get(BATCH)
        .and_then(|batch| batch.parse().ok())
        .unwrap_or(1)
}

/// The batch with which the slowest sample is short against a timer tick and the fastest long against the clock.
fn batch_for(fastest_ns: f64, slowest_ns: f64, clock_read_ns: f64) -> u32 {
    let (sample_ns, clock_reads) = SAMPLE;
    let most = sample_ns / slowest_ns.max(1e-3);
    let least = clock_reads * clock_read_ns / fastest_ns.max(1e-3);
    most.floor().max(least.ceil()).clamp(1.0, 1e9) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_makes_samples_short_against_a_tick_and_long_against_the_clock() {
        assert_eq!(batch_for(1000.0, 1000.0, 25.0), 100);
        assert_eq!(batch_for(1000.0, 4000.0, 25.0), 25);
        assert_eq!(
            batch_for(100.0, 50_000.0, 25.0),
            25,
            "the fastest is a hundred reads long"
        );
        assert_eq!(batch_for(5e6, 5e6, 25.0), 1);
    }
}
