//! How much a launch holds: the batch of methods that are too short to time once, and the rounds, from what was seen to vary.

use std::collections::BTreeMap;

use anyhow::Result;

use super::pilot::cheap_rounds;
use super::{Asked, Cluster, Runner};
use record::decision::What;
use record::launches::LaunchRecord;
use record::plan::{BATCH, compatible, group_of};
use record::state::State;
use record::transcript::Read;
use stats::interval::LEAST_LAUNCHES;
use stats::quantile::median;

/// The share of the time left that is planned with when launches turn out longer than expected.
const KEPT_SHARE: f64 = 0.9;
/// The block of launches that show how long a sample of a method with a `batch` is.
const CALIBRATION: i32 = -2;
/// Measured rounds of such a launch; their median counts.
const CALIBRATION_ROUNDS: u32 = 9;
/// Such launches until the batch is near.
const COARSE_CALIBRATIONS: usize = 2;
/// Such launches after the batch has come near; the median of their medians counts.
const CALIBRATIONS: usize = 3;
/// How long a batched sample should be, in nanoseconds: a tenth of the shortest timer tick that Linux offers (1000 Hz), so
/// that most samples meet no tick.
const SAMPLE_NS: f64 = 100_000.0;
/// A sample must be at least this many times as long as one read of the clock.
const CLOCK_READS: f64 = 100.0;

impl Runner<'_> {
    /// Chooses the batch of cells whose user did not: a repeated median over short launches, one batch for all cells that
    /// are compared with each other, noted as a decision.
    pub(super) fn calibrate(&mut self, name: &str, launch_groups: &[usize], until_s: f64) -> Result<()> {
        let free = |runner: &Self, launch_group: usize| -> Vec<usize> {
            runner.alive(launch_group).into_iter().filter(|&c| runner.state.cells[c].free_batch).collect()
        };
        let launch_groups: Vec<usize> = launch_groups.iter().copied().filter(|&u| !free(self, u).is_empty()).collect();
        let mut seen: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for pass in 0..COARSE_CALIBRATIONS + CALIBRATIONS {
            for &launch_group in &launch_groups {
                self.progress.step(&format!("{name}: sample length"), self.left_s());
                if self.signals.arrived().is_some() || self.spent_s() > until_s {
                    return Ok(());
                }
                let pilot = self.pilot_asked(launch_group);
                let rounds = if self.state.launch_groups[launch_group].fresh { 1 } else { CALIBRATION_ROUNDS };
                self.launch(launch_group, CALIBRATION, Asked { rounds, ..pilot })?;
                for cell in free(self, launch_group) {
                    let Some(length_ns) = self.lengths_ns.get(&cell) else { continue };
                    let each = length_ns / f64::from(batch_of(&self.state, cell));
                    let all = seen.entry(cell).or_default();
                    if pass <= COARSE_CALIBRATIONS {
                        // What the clock adds to samples that are still too short has no place in the final choice.
                        all.clear();
                    }
                    all.push(each);
                }
            }
            self.set_batches(name, &seen)?;
        }
        Ok(())
    }

    /// Gives every group the batch at which its slowest cell is as long as a sample should be.
    fn set_batches(&mut self, name: &str, seen: &BTreeMap<usize, Vec<f64>>) -> Result<()> {
        let Some(experiment) = self.state.plan.experiment(name).cloned() else { return Ok(()) };
        let group = |state: &State, cell: usize| {
            let mut group = group_of(&experiment, &state.cells[cell].cell);
            group.remove(BATCH);
            group
        };
        let each: Vec<(usize, f64)> =
            seen.iter().filter_map(|(&c, all)| Some((c, median(&mut all.clone())?))).collect();
        let mut chosen: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for &(cell, _) in &each {
            let mine = group(&self.state, cell);
            let compared = each.iter().filter(|(other, _)| compatible(&mine, &group(&self.state, *other)));
            let (fastest, slowest) =
                compared.fold((f64::INFINITY, 0.0_f64), |(low, high), (_, ns)| (low.min(*ns), high.max(*ns)));
            let clock_ns = self.clock_read_ns(cell);
            let batch = batch_for(fastest, slowest, clock_ns);
            if batch != batch_of(&self.state, cell) {
                chosen.entry(batch).or_default().push(cell);
            }
        }
        for (batch, cells) in chosen {
            let why = "samples are short against a timer tick and long against a read of the clock";
            self.decide(why, What::Batch { cells, batch })?;
        }
        Ok(())
    }

    fn clock_read_ns(&self, cell: usize) -> f64 {
        let about = self.state.cells[cell].cell.sides().next().and_then(|worker| self.evidence.about.get(worker));
        about.and_then(|a| a.get("clock_read_ns")).and_then(|text| text.parse().ok()).unwrap_or(100.0)
    }

    /// What one launch of every group of a cluster should take, in seconds: as long as the last one in this visit, before
    /// that by the pilot's times.
    pub(super) fn next_step_s(&self, cluster: &Cluster) -> f64 {
        let expected_s = || cluster.launch_groups.iter().map(|&u| self.expected_launch_s(u)).sum::<f64>().max(1e-6);
        if cluster.block_s > 0.0 { cluster.block_s } else { expected_s() }
    }

    /// Where launches take longer than the pilot promised, so that fewer than six of them would fit, the rest gets fewer
    /// rounds: there is no interval without six. Only times decide this, never a figure.
    pub(super) fn shorten(&mut self, clusters: &[Cluster], until_s: f64) -> Result<()> {
        let lacking = |c: &Cluster| LEAST_LAUNCHES.saturating_sub(c.blocks as usize) as f64;
        let needed_s: f64 = clusters.iter().map(|c| lacking(c) * self.next_step_s(c)).sum();
        let left_s = (until_s - self.spent_s()) * KEPT_SHARE;
        if needed_s <= left_s || left_s <= 0.0 {
            return Ok(());
        }
        for launch_group in
            clusters.iter().filter(|c| c.blocks > 0 && lacking(c) > 0.0).flat_map(|c| c.launch_groups.clone())
        {
            let group = &self.state.launch_groups[launch_group];
            let warmup_rounds = group.warmup_rounds;
            let rounds = shortened(group.rounds, left_s, needed_s).max(cheap_rounds(group, warmup_rounds));
            if rounds < group.rounds {
                let why = "launches take longer than the pilot promised, and six must fit";
                self.decide(why, What::Rounds { launch_group, rounds, warmup_rounds })?;
            }
        }
        Ok(())
    }

    /// What a sample of each cell took: the median over rounds of its measured phases together.
    pub(super) fn learn_lengths(&mut self, record: &LaunchRecord, transcripts: &Read) {
        let mut by_slot: BTreeMap<(usize, u32), f64> = BTreeMap::new();
        for sample in transcripts.iter().take(1).flatten().flat_map(|t| &t.samples).filter(|s| s.round >= 0) {
            if let Some(&cell) = record.cells.get(sample.cell as usize) {
                *by_slot.entry((cell, sample.slot)).or_insert(0.0) += sample.counts.wall_ns as f64;
            }
        }
        let mut by_cell: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for ((cell, _), length) in by_slot {
            by_cell.entry(cell).or_default().push(length);
        }
        self.lengths_ns = by_cell.into_iter().filter_map(|(c, mut all)| Some((c, median(&mut all)?))).collect();
    }
}

/// The rounds with which launches that would need more than is left fit into it, one at the least.
fn shortened(rounds: u32, left_s: f64, needed_s: f64) -> u32 {
    (f64::from(rounds) * left_s / needed_s).floor().max(1.0) as u32
}

/// The batch that a cell has at the moment.
fn batch_of(state: &State, cell: usize) -> u32 {
    state.cells[cell].cell.parameters.get(BATCH).and_then(|b| b.parse().ok()).unwrap_or(1)
}

/// The batch for cells that take so many nanoseconds for each launch_group of it: the slowest gets samples no longer than
/// [`SAMPLE_NS`], unless the fastest would then come too near to the cost of the clock.
fn batch_for(fastest_ns: f64, slowest_ns: f64, clock_read_ns: f64) -> u32 {
    let most = SAMPLE_NS / slowest_ns.max(1e-3);
    let least = CLOCK_READS * clock_read_ns / fastest_ns.max(1e-3);
    most.floor().max(least.ceil()).clamp(1.0, 1e9) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_makes_samples_short_against_a_tick_and_long_against_the_clock() {
        assert_eq!(batch_for(1000.0, 1000.0, 25.0), 100);
        assert_eq!(batch_for(1000.0, 4000.0, 25.0), 25);
        // The slowest cell would be done with 2, but the fastest needs 25 to be a hundred reads long.
        assert_eq!(batch_for(100.0, 50_000.0, 25.0), 25);
        assert_eq!(batch_for(5e6, 5e6, 25.0), 1);
    }

    #[test]
    fn late_launches_are_shortened_in_proportion_and_keep_a_round() {
        assert_eq!(shortened(40, 10.0, 20.0), 20);
        assert_eq!(shortened(40, 1.0, 1000.0), 1);
        assert_eq!(shortened(3, 9.0, 10.0), 2);
    }
}
