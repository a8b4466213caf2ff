//! A study of a user's program under way: balanced random blocks of launches until the interval is narrow or the time is over.

pub mod arms;
pub mod kept;
mod launch;
mod price;
pub mod settings;
mod stacks;

use super::{guard::Scratch, progress::Progress, signals::Signals};
use anyhow::{Context, Result};
use judge::command::profile::footprint_bytes;
use judge::command::{given_up, half_width};
pub use launch::thp_rule;
use record::command::{CommandCost, CommandEnd, CommandLaunch, KeptCommand, LaunchMode};
use record::kind::Kind;
use stats::stopping::{GroupProgress, NextStep, StoppingGoal, decide};
use stats::{interval::LEAST_LAUNCHES, orders::rounds};
use std::time::Instant;

/// Seconds for all launches of a try without a budget.
const USUAL_BUDGET_S: f64 = 60.0;
const MOST_BLOCKS: [usize; 2] = [2000, 60];
/// The most blocks that are drawn before the first is launched.
pub const MOST_PAIRS: usize = 100_000;
/// Blocks of a profile in which faults are followed; the others only narrow the interval.
const FULL_BLOCKS: usize = 8;

type Part = (usize, LaunchMode);

struct Study<'a> {
    kept: &'a mut KeptCommand,
    signals: &'a Signals,
    scratch: Scratch,
    begun: Instant,
    progress: Progress,
    /// Orders of blocks with as many parts as the last one.
    orders: Vec<Vec<usize>>,
    callers: stacks::Callers,
}

/// Launches what the plan requests and the folder does not have yet.
pub fn run(kept: &mut KeptCommand, signals: &Signals) -> Result<()> {
    let scratch = Scratch::new("command")?;
    let budget_s = kept.plan.budget_s.unwrap_or(USUAL_BUDGET_S);
    kept::session(kept, budget_s, signals, |kept| {
        let (begun, progress) = (Instant::now(), Progress::new());
        let mut study = Study { kept, signals, scratch, begun, progress, orders: Vec::new(), callers: <_>::default() };
        let result = study.warm_up().and_then(|go_on| if go_on { study.measure(budget_s) } else { Ok(()) });
        study.progress.finish();
        result
    })
}

impl Study<'_> {
    fn is_profile(&self) -> bool {
        self.kept.plan.kind == Kind::Profile
    }

    /// Launches every arm before anything is measured; one of them is traced. A profile's first launch is plain: it finds what
    /// the command reads not yet in the page cache.
    fn warm_up(&mut self) -> Result<bool> {
        if self.kept.plan.attached.is_some() {
            return self.launch(-1, (0, LaunchMode::Followed));
        }
        for warmup in 0..self.kept.plan.warmups {
            let mode = if warmup == 0 { LaunchMode::Traced } else { LaunchMode::Plain };
            let mut parts: Vec<Part> = (0..self.kept.plan.arms.len()).map(|arm| (arm, mode)).collect();
            if self.is_profile() {
                parts.insert(0, (0, LaunchMode::Plain));
            }
            for part in parts {
                let name = &self.kept.plan.arms[part.0].name;
                self.progress.step(&format!("warm-up: {name}"), self.kept.plan.budget_s.unwrap_or(USUAL_BUDGET_S));
                if !self.launch(-1 - warmup as i64, part)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn measure(&mut self, budget_s: f64) -> Result<()> {
        let most = self.kept.plan.pairs.unwrap_or(MOST_BLOCKS[usize::from(self.is_profile())]).min(MOST_PAIRS);
        // An interrupted study goes on in the middle of its last block.
        let first = self.kept.launches.iter().filter_map(|l| usize::try_from(l.block).ok()).max().unwrap_or(0);
        for block in first..most {
            if block > 0 && !self.goes_on(block, budget_s) {
                break;
            }
            let parts = self.parts(block);
            for index in self.order(block, parts.len(), most) {
                if !self.launch(block as i64, parts[index])? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The order of a block: the same for the same seed, balanced over blocks of equal length.
    fn order(&mut self, block: usize, parts: usize, most: usize) -> Vec<usize> {
        if self.orders.get(block).is_none_or(|order| order.len() != parts) {
            self.orders = rounds(parts, most, self.kept.plan.seed);
        }
        self.orders[block].clone()
    }

    fn parts(&self, block: usize) -> Vec<Part> {
        let mode = if self.kept.plan.attached.is_some() { LaunchMode::Followed } else { LaunchMode::Plain };
        let mut parts: Vec<Part> = (0..self.kept.plan.arms.len()).map(|arm| (arm, mode)).collect();
        let Some(pages) = self.kept.plan.pages.as_ref().filter(|_| self.is_profile()) else { return parts };
        let in_mode = |mode: LaunchMode| self.kept.launches.iter().filter(move |launch| launch.mode == mode);
        let unseen = |launch: &CommandLaunch| launch.cost.as_ref().is_some_and(|cost| cost.faults_unseen.is_some());
        let has_huge = pages.thp != "never" && pages.huge_page_bytes > 0;
        let is_followed = !self.kept.plan.totals_only && block < FULL_BLOCKS && mode == LaunchMode::Plain;
        // Each block has all prices, for the price of a block belongs to the launch of that block.
        let modes = [
            (LaunchMode::PriceBase, true),
            (LaunchMode::PriceHuge, has_huge),
            (LaunchMode::Followed, is_followed && !in_mode(LaunchMode::Followed).any(unseen)),
            (LaunchMode::PriceEvents, true),
            (LaunchMode::PriceCow, true),
        ];
        let hopeless = |mode| in_mode(mode).next().is_some_and(|l| !l.failed.is_empty()) && mode != LaunchMode::PriceBase;
        let wanted = modes.into_iter().filter(|&(mode, wanted)| wanted && !hopeless(mode));
        parts.extend(wanted.map(|(mode, _)| (0, mode)));
        parts
    }

    /// Decides whether another block is run: by the precision reached and the time spent, never by the difference.
    fn goes_on(&mut self, blocks: usize, budget_s: f64) -> bool {
        let plan = &self.kept.plan;
        let spent_s = self.begun.elapsed().as_secs_f64();
        let (each_s, left_s) = (spent_s / blocks as f64, budget_s - spent_s);
        if let Some(wanted) = plan.pairs {
            self.progress.step(&format!("{blocks} blocks"), each_s * wanted.saturating_sub(blocks) as f64);
            return true;
        }
        let half_width = half_width(plan, &self.kept.launches);
        let needed = if self.is_profile() || plan.budget_s.is_none() { LEAST_LAUNCHES } else { 0 };
        let shown_s = left_s.max(each_s * needed.saturating_sub(blocks) as f64);
        self.progress.reached(plan.kind.word(), blocks, half_width.unwrap_or(0.0), plan.precision, shown_s);
        if blocks < needed {
            return true;
        }
        let goal = StoppingGoal { precision: plan.precision, budget_seconds: budget_s };
        match decide(&goal, &[GroupProgress { launches: blocks, half_width, launch_seconds: each_s }], spent_s) {
            NextStep::Continue { .. } => true,
            // A target out of reach is no reason to stop: the rest of the budget makes the interval narrower.
            NextStep::Unreachable { .. } => left_s >= each_s,
            NextStep::Precise => self.is_profile() && blocks < FULL_BLOCKS && left_s >= each_s,
            NextStep::BudgetSpent { .. } => false,
        }
    }

    /// Makes one launch if it is not there and its arm has not failed. Returns true if the study goes on.
    fn launch(&mut self, block: i64, (arm, mode): Part) -> Result<bool> {
        let (plan, launches) = (&self.kept.plan, &self.kept.launches);
        let is_done = launches.iter().any(|l| (l.block, l.arm, l.mode) == (block, arm, mode));
        if is_done || given_up(plan, launches, arm).is_some() {
            return Ok(given_up(plan, launches, 0).is_none());
        }
        let scratch = self.scratch.path();
        let launch = if mode.is_command() {
            launch::prepare(plan, scratch, self.signals)?;
            if self.signals.arrived().is_some() {
                return Ok(false);
            }
            // Before the first window it is not known which part of the faults is enough.
            let is_wanted = plan.stacks && mode == LaunchMode::Followed && block >= 0;
            let stacks = is_wanted.then(|| stacks::wanted(launches, block, scratch));
            let mut launch = match &plan.attached {
                Some(process) => launch::attached(process, scratch, block, stacks, self.signals)?,
                None => launch::launch((plan, scratch), (arm, mode, stacks), block, self.signals)?,
            };
            if is_wanted && launch.cost.as_ref().is_some_and(CommandCost::has_stacks) {
                launch.stacks = Some(self.callers.read(scratch)?);
            }
            launch
        } else {
            let bytes = footprint_bytes(plan, launches).context("no launch of the command has ended")?;
            price::price(mode, block, bytes, scratch, self.signals)?
        };
        // A launch that the user's signal ended says nothing of the command.
        let is_stopped = launch.cost.as_ref().map_or(self.signals.arrived().is_some(), |c| c.end == CommandEnd::Stopped);
        // A process that runs already is never seen but followed: its window is what it costs, too.
        let window = self.kept.plan.attached.and(launch.cost.as_ref()).map(|cost| CommandLaunch {
            mode: LaunchMode::Plain,
            cost: Some(CommandCost { faults: None, ..cost.clone() }),
            stacks: None,
            ..launch.clone()
        });
        for launch in [Some(launch), window].into_iter().flatten().filter(|_| !is_stopped) {
            self.kept.folder.append_launch(&launch)?;
            self.kept.launches.push(launch);
        }
        Ok(self.signals.arrived().is_none() && given_up(&self.kept.plan, &self.kept.launches, 0).is_none())
    }
}
