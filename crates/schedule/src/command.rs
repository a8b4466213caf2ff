//! The policy of a study of a user's program: warm-ups, then balanced blocks of launches until the interval is narrow or the
//! time is over. It sees how wide the interval is and never where it lies.

use crate::constants::{FULL_BLOCKS, STUDY_BLOCKS};
use crate::precision::{NextBlock, Policy, SetStanding};
use record::command::{CommandLaunch, CommandPlan, LaunchMode, has_ended};
use record::kind::Kind;
use stats::{interval::LEAST_LAUNCHES, orders::rounds, stopping::StoppingGoal};
use std::collections::VecDeque;

/// A launch of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandPart {
    /// Its block; warm-ups have negative ones.
    pub block: i64,
    pub arm: usize,
    pub mode: LaunchMode,
}

/// The state of a study at one moment, with the clock of the runner.
#[derive(Clone, Copy)]
pub struct CommandMoment<'a> {
    pub plan: &'a CommandPlan,
    pub launches: &'a [CommandLaunch],
    pub budget_s: f64,
    pub spent_s: f64,
    /// Tells whether an arm is not launched again. Without the baseline a study ends.
    pub given_up: &'a dyn Fn(usize) -> bool,
    pub half_width: &'a dyn Fn() -> Option<f64>,
    /// Tells whether an interim analysis ends the study.
    pub is_settled: &'a dyn Fn() -> bool,
}

/// Decides the next launch of a study.
#[derive(Debug, Default)]
pub struct CommandScheduler {
    /// Orders of blocks with as many parts as the last one.
    orders: Vec<Vec<usize>>,
    queue: VecDeque<CommandPart>,
    /// The next block; absent before the warm-ups.
    next: Option<usize>,
    /// Blocks so far, the half-width that they reached, and seconds left; absent before the first.
    pub reached: Option<(usize, Option<f64>, f64)>,
}

impl CommandScheduler {
    /// The next launch; none at the end. The runner calls again after it has kept the launch.
    pub fn next(&mut self, moment: CommandMoment) -> Option<CommandPart> {
        while !(moment.given_up)(0) {
            while let Some(part) = self.queue.pop_front() {
                let is_done = |l: &CommandLaunch| {
                    (l.block, l.arm, l.mode) == (part.block, part.arm, part.mode)
                };
                if !moment.launches.iter().any(is_done) && !(moment.given_up)(part.arm) {
                    return Some(part);
                }
            }
            let Some(block) = self.next else {
                self.queue = warm_ups(moment.plan).into();
                // An interrupted study goes on in the middle of its last block.
                self.next = Some(
                    moment
                        .launches
                        .iter()
                        .filter_map(|l| usize::try_from(l.block).ok())
                        .max()
                        .unwrap_or(0),
                );
                continue;
            };
            let usual = STUDY_BLOCKS[usize::from(moment.plan.kind == Kind::Profile)];
            let most = moment.plan.pairs.unwrap_or(usual).min(MOST_PAIRS);
            let most = if has_ended(moment.launches) {
                most.min(LEAST_LAUNCHES)
            } else {
                most
            };
            if block >= most || (block > 0 && !self.goes_on(&moment, block)) {
                break;
            }
            let parts = parts(&moment, block);
            // The order is the same for the same seed, and balanced over blocks of equal length.
            if self
                .orders
                .get(block)
                .is_none_or(|order| order.len() != parts.len())
            {
                self.orders = rounds(parts.len(), most, moment.plan.seed);
            }
            let part = |&index: &usize| CommandPart {
                block: block as i64,
                arm: parts[index].0,
                mode: parts[index].1,
            };
            self.queue = self.orders[block].iter().map(part).collect();
            self.next = Some(block + 1);
        }
        None
    }

    fn goes_on(&mut self, moment: &CommandMoment, blocks: usize) -> bool {
        let CommandMoment {
            plan,
            budget_s,
            spent_s,
            ..
        } = *moment;
        let (next_s, left_s) = (spent_s / blocks as f64, budget_s - spent_s);
        if let Some(wanted) = plan.pairs {
            self.reached = Some((blocks, None, next_s * wanted.saturating_sub(blocks) as f64));
            return true;
        }
        let is_profile = plan.kind == Kind::Profile;
        let needed = if is_profile || plan.budget_s.is_none() {
            LEAST_LAUNCHES
        } else {
            0
        };
        let ranked = (moment.half_width)();
        let set = SetStanding {
            open: true,
            due: false,
            launches: blocks,
            next_s,
            ranked,
            others: None,
            progress: None,
        };
        self.reached = Some((
            blocks,
            set.ranked,
            left_s.max(next_s * needed.saturating_sub(blocks) as f64),
        ));
        let goal = StoppingGoal {
            precision: plan.precision,
            budget_seconds: budget_s,
        };
        let least = if is_profile { FULL_BLOCKS } else { 0 };
        let fits = blocks < LEAST_LAUNCHES || left_s >= next_s;
        let chosen = || Policy::Precise.choose(&goal, least, &[set], spent_s);
        !(moment.is_settled)()
            && (blocks < needed || (fits && matches!(chosen(), NextBlock::Block { .. })))
    }
}

/// The most blocks that are drawn before the first is launched.
pub const MOST_PAIRS: usize = 100_000;

/// Launches of every arm before anything is measured; one of them is traced. A profile's first launch is plain: it finds what
/// the command reads not yet in the page cache.
fn warm_ups(plan: &CommandPlan) -> Vec<CommandPart> {
    if plan.attached.is_some() {
        return vec![CommandPart {
            block: -1,
            arm: 0,
            mode: LaunchMode::Followed,
        }];
    }
    let of_block = |warmup: usize| {
        let part = move |arm, mode| CommandPart {
            block: -1 - warmup as i64,
            arm,
            mode,
        };
        let mode = if warmup == 0 {
            LaunchMode::Traced
        } else {
            LaunchMode::Plain
        };
        let first = (plan.kind == Kind::Profile).then(|| part(0, LaunchMode::Plain));
        first
            .into_iter()
            .chain((0..plan.arms.len()).map(move |arm| part(arm, mode)))
    };
    (0..plan.warmups).flat_map(of_block).collect()
}

/// Arms and modes of a block: every arm once, and in a profile the prices, since the price of a block belongs to its launch.
fn parts(moment: &CommandMoment, block: usize) -> Vec<(usize, LaunchMode)> {
    let plan = moment.plan;
    let mode = if plan.attached.is_some() {
        LaunchMode::Followed
    } else {
        LaunchMode::Plain
    };
    // The costs of a process that has ended lack nothing but prices.
    let arms = if has_ended(moment.launches) {
        0
    } else {
        plan.arms.len()
    };
    let mut parts: Vec<(usize, LaunchMode)> = (0..arms).map(|arm| (arm, mode)).collect();
    let Some(pages) = plan.pages.as_ref().filter(|_| plan.kind == Kind::Profile) else {
        return parts;
    };
    let in_mode = |mode: LaunchMode| {
        moment
            .launches
            .iter()
            .filter(move |launch| launch.mode == mode)
    };
    let unseen = |launch: &CommandLaunch| {
        launch
            .cost
            .as_ref()
            .is_some_and(|cost| cost.faults_unseen.is_some())
    };
    let has_huge = pages.thp != "never" && pages.huge_page_bytes > 0;
    // Where six blocks exceed the budget, following faults in three of them has to do.
    let is_late =
        block >= 3 && moment.spent_s * LEAST_LAUNCHES as f64 > moment.budget_s * block as f64;
    let is_followed =
        !plan.totals_only && block < FULL_BLOCKS && mode == LaunchMode::Plain && !is_late;
    let modes = [
        (LaunchMode::PriceBase, true),
        (LaunchMode::PriceHuge, has_huge),
        (
            LaunchMode::Followed,
            is_followed && !in_mode(LaunchMode::Followed).any(unseen),
        ),
        (LaunchMode::PriceEvents, true),
        (LaunchMode::PriceCow, true),
    ];
    let hopeless = |mode| {
        in_mode(mode).next().is_some_and(|l| l.failed.is_some()) && mode != LaunchMode::PriceBase
    };
    parts.extend(
        modes
            .into_iter()
            .filter(|&(mode, wanted)| wanted && !hopeless(mode))
            .map(|(mode, _)| (0, mode)),
    );
    parts
}

#[cfg(test)]
#[path = "../tests/unit/command.rs"]
mod tests;
