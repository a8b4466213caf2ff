//! Trying settings on somebody's own program: runs in balanced random blocks until the interval is narrow enough.

pub mod arms;
pub mod launch;
mod orphans;
pub mod settings;

use std::time::Instant;

use anyhow::Result;
use record::folder::Kept;
use record::trial::{Ending, TrialPlan, TriedRun};
use stats::interval::LEAST_LAUNCHES;
use stats::orders::rounds;
use stats::stopping::{Decision, Goal, Group, decide};

use super::kept::session;
use super::progress::Progress;
use super::signals::Signals;

/// Seconds for all runs where none was named.
const USUAL_BUDGET_S: f64 = 60.0;
/// The most blocks of a try.
const MOST_BLOCKS: usize = 2000;

/// A try under way.
struct Tries<'a> {
    kept: &'a mut Kept<TrialPlan, TriedRun>,
    signals: &'a Signals,
    begun: Instant,
    progress: Progress,
}

/// Runs what the plan says and the folder does not have yet.
pub fn run(kept: &mut Kept<TrialPlan, TriedRun>, signals: &Signals) -> Result<()> {
    let budget_s = kept.plan.budget_s.unwrap_or(USUAL_BUDGET_S);
    session(kept, budget_s, signals, |kept| {
        let mut tries = Tries { kept, signals, begun: Instant::now(), progress: Progress::new() };
        let result = tries.warm_up().and_then(|go_on| if go_on { tries.measure() } else { Ok(()) });
        tries.progress.finish();
        result
    })
}

impl Tries<'_> {
    fn one(&mut self, arm: usize, block: i64, proof: bool) -> Result<()> {
        launch::prepare(&self.kept.plan, self.signals)?;
        if self.signals.arrived().is_some() {
            return Ok(());
        }
        let run = launch::launch(&self.kept.plan, arm, block, proof, self.signals)?;
        // A run that the user's signal ended says nothing of the command.
        if run.cost.end != Ending::Stopped {
            self.kept.folder.append_launch(&run)?;
            self.kept.launches.push(run);
        }
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.signals.arrived().is_some() || judge::trial::given_up(&self.kept.plan, &self.kept.launches, 0).is_some()
    }

    /// Runs every arm before anything is measured, and looks at the first run of each for what proves its effect.
    fn warm_up(&mut self) -> Result<bool> {
        for number in 0..self.kept.plan.warmups {
            for arm in 0..self.kept.plan.arms.len() {
                let block = -1 - number as i64;
                let done = self.kept.launches.iter().any(|r| r.arm == arm && r.block == block);
                if done || judge::trial::given_up(&self.kept.plan, &self.kept.launches, arm).is_some() {
                    continue;
                }
                self.progress.step(&format!("warm-up: {}", self.kept.plan.arms[arm].name), self.budget_s());
                self.one(arm, block, number == 0)?;
                if self.stopped() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn budget_s(&self) -> f64 {
        self.kept.plan.budget_s.unwrap_or(USUAL_BUDGET_S)
    }

    fn measure(&mut self) -> Result<()> {
        let most = self.kept.plan.pairs.unwrap_or(MOST_BLOCKS);
        let orders = rounds(self.kept.plan.arms.len(), most, self.kept.plan.seed);
        // An interrupted try goes on in the middle of its last block.
        let first = self.kept.launches.iter().filter_map(|r| usize::try_from(r.block).ok()).max().unwrap_or(0);
        for (block, order) in orders.into_iter().enumerate().skip(first) {
            if block > 0 && !self.goes_on(block) {
                break;
            }
            for arm in order {
                let done = self.kept.launches.iter().any(|r| r.arm == arm && r.block == block as i64);
                if done || judge::trial::given_up(&self.kept.plan, &self.kept.launches, arm).is_some() {
                    continue;
                }
                self.one(arm, block as i64, false)?;
                if self.stopped() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Tells whether another block is run: by the precision reached and the time spent, never by the difference.
    fn goes_on(&mut self, blocks: usize) -> bool {
        if self.kept.plan.pairs.is_some() {
            let left = self.kept.plan.pairs.unwrap_or(0).saturating_sub(blocks);
            let each = self.begun.elapsed().as_secs_f64() / blocks as f64;
            self.progress.step(&format!("{blocks} blocks"), each * left as f64);
            return true;
        }
        let spent = self.begun.elapsed().as_secs_f64();
        let half_width = judge::trial::half_width(&self.kept.plan, &self.kept.launches);
        let group = Group { launches: blocks, half_width, launch_seconds: spent / blocks as f64 };
        let mut goal = Goal { precision: self.kept.plan.precision, budget_seconds: self.budget_s() };
        if self.kept.plan.budget_s.is_none() && blocks < LEAST_LAUNCHES {
            goal.budget_seconds = f64::INFINITY;
        }
        let left = self.budget_s() - spent;
        self.progress.reached("try", blocks, half_width.unwrap_or(0.0), self.kept.plan.precision, left);
        // A target out of reach is no reason to stop: what the budget still brings makes the interval narrower.
        match decide(&goal, &[group], spent) {
            Decision::Continue { .. } => true,
            Decision::Unreachable { .. } => left >= group.launch_seconds,
            Decision::Precise | Decision::BudgetSpent { .. } => false,
        }
    }
}
