//! The policy of a study of a user's program: warm-ups, then balanced blocks of launches until the interval is narrow or the
//! time is over. It sees how wide the interval is and never where it lies.

use crate::constants::{FULL_BLOCKS, STUDY_BLOCKS};
use crate::precision::{NextBlock, Policy, SetStanding};
use record::command::{
    CommandCost, CommandLaunch, CommandPlan, Faults, KernelWork, LaunchMode, MemoryEvent, has_ended,
};
use record::kind::Kind;
use stats::interval::{FEWEST_LAUNCHES, LEAST_LAUNCHES};
use stats::{orders::rounds, stopping::StoppingGoal};
use std::collections::VecDeque;

/// A launch of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandPart {
    /// Its block; warm-ups have negative ones.
    pub block: i64,
    /// Index of the arm in the plan.
    pub arm: usize,
    /// Means of observation.
    pub mode: LaunchMode,
}

/// The state of a study at one moment, with the clock of the runner.
#[derive(Clone, Copy)]
pub struct CommandMoment<'a> {
    /// Plan of the study.
    pub plan: &'a CommandPlan,
    /// Launches that have ended.
    pub launches: &'a [CommandLaunch],
    /// Time that the study may take, in seconds.
    pub budget_s: f64,
    /// Time that has passed, in seconds.
    pub spent_s: f64,
    /// Tells whether an arm is not launched again. Without the baseline a study ends.
    pub given_up: &'a dyn Fn(usize) -> bool,
    /// Widest half-width of the arms' ratios, as a share; `None` while there is none.
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
    /// Seconds after which the last block began; absent before the first.
    begun_s: Option<f64>,
    /// True once the prices of a process that runs already are all that is left.
    has_windows: bool,
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
                let is_gone = part.mode.is_command() && has_ended(moment.launches);
                if !moment.launches.iter().any(is_done) && !(moment.given_up)(part.arm) && !is_gone
                {
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
            let is_over = has_ended(moment.launches)
                || block >= most
                || (block > 0 && !self.goes_on(&moment, block));
            if is_over {
                if moment.plan.attached.is_none() || self.has_windows {
                    break;
                }
                self.has_windows = true;
                self.queue = prices_after(&moment).into();
                continue;
            }
            self.begun_s = Some(moment.spent_s);
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
            // A process that runs already may end at any time: what its page faults cost comes before samples.
            self.queue = if block == 0 && moment.plan.attached.is_some() {
                (0..parts.len()).map(|index| part(&index)).collect()
            } else {
                self.orders[block].iter().map(part).collect()
            };
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
        let is_profile = plan.kind == Kind::Profile;
        // The first block of a profile has launches that the others lack.
        let begun_s = self.begun_s.filter(|_| is_profile);
        let next_s = begun_s.map_or(spent_s / blocks as f64, |begun_s| spent_s - begun_s);
        let left_s = budget_s - spent_s;
        if let Some(wanted) = plan.pairs {
            self.reached = Some((blocks, None, next_s * wanted.saturating_sub(blocks) as f64));
            return true;
        }
        let needed = match plan.budget_s {
            _ if is_profile => FEWEST_LAUNCHES,
            None => LEAST_LAUNCHES,
            Some(_) => 0,
        };
        let set = SetStanding {
            open: true,
            due: false,
            launches: blocks,
            next_s,
            ranked: (moment.half_width)(),
            others: None,
            word_s: None,
            progress: None,
        };
        let least = if !is_profile {
            0
        } else if is_slow(moment, blocks) {
            FEWEST_LAUNCHES
        } else {
            FULL_BLOCKS
        };
        // What samples tell of the kernel's time later blocks, which have none, tell no better.
        let is_sampled = is_profile && has_samples(moment);
        let until_s = |wanted: usize| next_s * wanted.saturating_sub(blocks) as f64;
        let usual_s = if is_sampled {
            until_s(least).min(left_s)
        } else {
            left_s
        };
        self.reached = Some((blocks, set.ranked, usual_s.max(until_s(needed))));
        let goal = StoppingGoal {
            precision: plan.precision,
            budget_seconds: budget_s,
        };
        let is_known = (is_sampled && blocks >= least) || (moment.is_settled)();
        let fits = (!is_profile && blocks < LEAST_LAUNCHES) || left_s >= LONGER * next_s;
        let chosen = || Policy::Precise.choose(&goal, least, &[set], spent_s);
        !is_known && (blocks < needed || (fits && matches!(chosen(), NextBlock::Block { .. })))
    }
}

/// True if samples divide the kernel's time.
fn has_samples(moment: &CommandMoment) -> bool {
    let work = in_mode(moment, LaunchMode::Sampled)
        .filter_map(|launch| launch.cost.as_ref()?.kernel_work.as_ref());
    work.map(KernelWork::seen).sum::<u64>() >= KernelWork::LEAST
}

/// A block takes longer than the last one by this factor at the most, with the answer behind it.
const LONGER: f64 = 1.2;

/// The most blocks that are drawn before the first is launched.
pub const MOST_PAIRS: usize = 100_000;

/// Windows of a process that runs already in which the kernel's time is sampled.
pub const SAMPLED_WINDOWS: usize = 3;

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

/// Launches of the command that a study needs for an answer, whatever its budget: a profile has three blocks at the least, and
/// one launch that is sampled; a try six blocks. A process that runs already is not launched.
pub fn least_launches(plan: &CommandPlan) -> usize {
    if plan.attached.is_some() {
        return 0;
    }
    let before = warm_ups(plan).len();
    match plan.kind {
        Kind::Profile => before + 1 + plan.pairs.unwrap_or(FEWEST_LAUNCHES),
        _ => before + plan.arms.len() * plan.pairs.unwrap_or(LEAST_LAUNCHES),
    }
}

/// True if six blocks exceed the budget, by the launches so far; those before the first block count as one.
fn is_slow(moment: &CommandMoment, block: usize) -> bool {
    let block_s = moment.spent_s / (block + 1) as f64;
    block_s * (LEAST_LAUNCHES + 1) as f64 > moment.budget_s
}

/// Cost of a launch of which every page fault was seen, or every one in a period.
fn seen_faults(launch: &CommandLaunch) -> Option<(&CommandCost, &Faults)> {
    let cost = launch.cost.as_ref()?;
    let faults = cost.faults.as_ref().filter(|faults| faults.lost == 0)?;
    Some((cost, faults))
}

/// True if memory was of huge pages, or would be if it were asked for.
fn has_huge_blocks(_: &CommandCost, faults: &Faults) -> bool {
    faults.malloc_blocks + faults.other_blocks > 0 || has_kind(faults, MemoryEvent::Huge)
}

/// True if pages that a fork had shared were copied.
fn has_copies(_: &CommandCost, faults: &Faults) -> bool {
    has_kind(faults, MemoryEvent::Cow)
}

/// True if zero pages, pages of files and calls that read or write may cost so much that an answer has them.
fn has_other_events(cost: &CommandCost, faults: &Faults) -> bool {
    use MemoryEvent::{File, FileWrite, ZeroRead, ZeroWrite};
    let count = |kind| faults.kinds.get(&kind).copied().unwrap_or(0);
    let pages: u64 = [File, FileWrite, ZeroRead, ZeroWrite]
        .map(count)
        .iter()
        .sum();
    let calls = cost.read_calls.saturating_add(cost.write_calls);
    let bytes = cost.read_bytes.saturating_add(cost.write_bytes);
    let most_s =
        EVENT_S * (pages as f64 + calls as f64 + cost.dirtied_pages as f64) + BYTE_S * bytes as f64;
    most_s >= NOTICED * cost.cpu_s()
}

/// Seconds of a page fault or call, and of a byte that one copies, at the most.
const EVENT_S: f64 = 4e-6;
const BYTE_S: f64 = 1e-9;
/// Share of CPU time below which nothing is said of a cost.
const NOTICED: f64 = 0.003;

fn has_kind(faults: &Faults, kind: MemoryEvent) -> bool {
    faults.kinds.get(&kind).is_some_and(|count| *count > 0)
}

/// Arms and modes of a block: every arm once, and in a profile the prices, since the price of a block belongs to its launch.
fn parts(moment: &CommandMoment, block: usize) -> Vec<(usize, LaunchMode)> {
    let plan = moment.plan;
    if plan.attached.is_some() {
        let sampled = is_sampled(moment, block).then_some((0, LaunchMode::Sampled));
        return [(0, LaunchMode::Followed)]
            .into_iter()
            .chain(sampled)
            .collect();
    }
    let first = in_mode(moment, LaunchMode::Plain).next();
    let is_there = block == 0 && plan.kind == Kind::Profile && is_slow(moment, block);
    // Where six blocks exceed the budget, the launch before the first one is its own.
    let is_there = is_there && first.is_some_and(CommandLaunch::stands_for_first);
    let mut parts: Vec<(usize, LaunchMode)> = (0..plan.arms.len())
        .filter(|_| !is_there)
        .map(|arm| (arm, LaunchMode::Plain))
        .collect();
    if plan.kind != Kind::Profile {
        return parts;
    }
    let observed = [
        (LaunchMode::Followed, is_followed(moment, block)),
        (LaunchMode::Sampled, is_sampled(moment, block)),
    ];
    let observed = observed.into_iter().filter(|(_, wanted)| *wanted);
    parts.extend(observed.map(|(mode, _)| (0, mode)));
    parts.extend(prices(moment).into_iter().map(|mode| (0, mode)));
    parts
}

/// Prices that may change an answer: what no launch of the command met needs none, nor what costs next to nothing.
fn prices(moment: &CommandMoment) -> Vec<LaunchMode> {
    let Some(pages) = &moment.plan.pages else {
        return Vec::new();
    };
    let has_huge = pages.thp != "never" && pages.huge_page_bytes > 0;
    let seen: Vec<(&CommandCost, &Faults)> =
        moment.launches.iter().filter_map(seen_faults).collect();
    let meets = |is_met: fn(&CommandCost, &Faults) -> bool| {
        seen.is_empty() || seen.iter().any(|(cost, faults)| is_met(cost, faults))
    };
    [
        (LaunchMode::PriceBase, true),
        (LaunchMode::PriceHuge, has_huge && meets(has_huge_blocks)),
        (LaunchMode::PriceEvents, meets(has_other_events)),
        (LaunchMode::PriceCow, meets(has_copies)),
    ]
    .into_iter()
    .filter(|&(mode, wanted)| wanted && !is_hopeless(moment, mode))
    .map(|(mode, _)| mode)
    .collect()
}

/// True if a price could not be had; without that of base pages there is no profile.
fn is_hopeless(moment: &CommandMoment, mode: LaunchMode) -> bool {
    let has_failed = in_mode(moment, mode)
        .next()
        .is_some_and(|launch| launch.failed.is_some());
    has_failed && mode != LaunchMode::PriceBase
}

/// Prices of a process that runs already, as many as it has windows: after the last of these, so that no worker takes
/// processors from it meanwhile. Those of a process that has ended are as many as an interval needs.
fn prices_after(moment: &CommandMoment) -> Vec<CommandPart> {
    let windows = in_mode(moment, LaunchMode::Followed).filter(|launch| launch.block >= 0);
    let wanted = if has_ended(moment.launches) {
        LEAST_LAUNCHES
    } else {
        windows.count()
    };
    let modes = prices(moment);
    let of_block = |block: usize| {
        let part = move |&mode: &LaunchMode| CommandPart {
            block: block as i64,
            arm: 0,
            mode,
        };
        modes.iter().map(part).collect::<Vec<_>>()
    };
    (0..wanted).flat_map(of_block).collect()
}

/// Launches of a study in one mode.
fn in_mode<'a>(
    moment: &CommandMoment<'a>,
    mode: LaunchMode,
) -> impl Iterator<Item = &'a CommandLaunch> + use<'a> {
    moment
        .launches
        .iter()
        .filter(move |launch| launch.mode == mode)
}

/// Tells whether a block of a profile has a launch whose page faults are followed.
fn is_followed(moment: &CommandMoment, block: usize) -> bool {
    let plan = moment.plan;
    if plan.totals_only || plan.attached.is_some() || block >= FULL_BLOCKS {
        return false;
    }
    let mut followed = in_mode(moment, LaunchMode::Followed).peekable();
    // Where six blocks exceed the budget, the faults of the traced launch and one sampled launch have to do.
    let is_traced = in_mode(moment, LaunchMode::Traced).any(|l| seen_faults(l).is_some())
        && !in_mode(moment, LaunchMode::Sampled).any(has_no_samples);
    let is_known = is_traced || followed.peek().is_some();
    let is_unseen = |launch: &CommandLaunch| {
        let cost = launch.cost.as_ref();
        cost.is_some_and(|cost| cost.faults_unseen.is_some())
    };
    if is_known && is_slow(moment, block) {
        return false;
    }
    !followed.any(is_unseen)
}

/// Tells whether a block of a profile has a launch that is sampled, or a window of a process that is.
fn is_sampled(moment: &CommandMoment, block: usize) -> bool {
    let plan = moment.plan;
    let has_room = if plan.attached.is_some() {
        !has_ended(moment.launches) && block < SAMPLED_WINDOWS
    } else {
        block == 0 || (block < LEAST_LAUNCHES / 2 && !is_slow(moment, block))
    };
    has_room && !plan.totals_only && !in_mode(moment, LaunchMode::Sampled).any(has_no_samples)
}

/// True if a launch could not be sampled.
fn has_no_samples(launch: &CommandLaunch) -> bool {
    let cost = launch.cost.as_ref();
    cost.is_some_and(|cost| cost.kernel_unseen.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::command::{Arm, ArmRole, CommandCost, Pages, SampledPart};
    use record::outcome::Cause;
    use std::collections::BTreeMap;

    fn arm(role: ArmRole) -> Arm {
        Arm {
            name: String::new(),
            role,
            shown: "program".to_owned(),
            command: vec!["program".to_owned()],
            setting: None,
            variables: BTreeMap::new(),
            preloaded: None,
            cpus: None,
            skipped: None,
            joined: BTreeMap::new(),
            replaced: BTreeMap::new(),
        }
    }

    fn plan(kind: Kind) -> CommandPlan {
        let roles = if kind == Kind::Try {
            &[ArmRole::Baseline, ArmRole::Setting, ArmRole::Again][..]
        } else {
            &[ArmRole::Baseline]
        };
        let pages = Pages {
            page_bytes: 4096,
            huge_page_bytes: 2 << 20,
            thp: "madvise".to_owned(),
        };
        CommandPlan {
            schema: 2,
            kind,
            run: "r".to_owned(),
            seed: 1,
            arms: roles.iter().map(|role| arm(*role)).collect(),
            directory: "/".into(),
            precision: 0.01,
            margin: 0.01,
            pairs: None,
            warmups: 1,
            time_limit_s: 60.0,
            pages: (kind == Kind::Profile).then_some(pages),
            ..CommandPlan::default()
        }
    }

    /// Launches of a second each, until the end or until `most` of them.
    struct Simulated<'a> {
        plan: &'a CommandPlan,
        budget_s: f64,
        width: &'a dyn Fn(usize) -> Option<f64>,
        settled_at: Option<usize>,
        given_up: &'a dyn Fn(usize) -> bool,
        fails: &'a dyn Fn(LaunchMode) -> bool,
        /// Page faults of the traced launch.
        faults: Faults,
        /// Seconds of a launch that measures prices; those of the command take one.
        price_s: f64,
        /// Samples of a sampled launch in the kernel.
        samples: u64,
        /// Cost of the launches that are not observed.
        plain: Option<CommandCost>,
    }

    impl Simulated<'_> {
        fn launches(&self, mut launches: Vec<CommandLaunch>, most: usize) -> Vec<CommandLaunch> {
            let (mut scheduler, before) = (CommandScheduler::default(), launches.len());
            let launch_s = |launch: &CommandLaunch| {
                if launch.mode.is_command() {
                    1.0
                } else {
                    self.price_s
                }
            };
            while launches.len() < most {
                let blocks = |launches: &[CommandLaunch]| {
                    launches
                        .iter()
                        .map(|l| l.block + 1)
                        .max()
                        .unwrap_or(0)
                        .max(0) as usize
                };
                let moment = CommandMoment {
                    plan: self.plan,
                    launches: &launches,
                    budget_s: self.budget_s,
                    spent_s: launches[before..].iter().map(launch_s).sum(),
                    given_up: self.given_up,
                    half_width: &|| (self.width)(blocks(&launches)),
                    is_settled: &|| self.settled_at == Some(blocks(&launches)),
                };
                let Some(CommandPart { block, arm, mode }) = scheduler.next(moment) else {
                    break;
                };
                let failed = (self.fails)(mode).then_some(Cause::Budget);
                let part = SampledPart {
                    event: MemoryEvent::Unknown,
                    call: String::new(),
                    samples: self.samples,
                };
                let cost = CommandCost {
                    faults: (mode == LaunchMode::Traced).then(|| self.faults.clone()),
                    kernel_work: (mode == LaunchMode::Sampled).then(|| KernelWork {
                        parts: vec![part],
                        ..KernelWork::default()
                    }),
                    ..CommandCost::default()
                };
                let is_observed = matches!(mode, LaunchMode::Traced | LaunchMode::Sampled);
                launches.push(CommandLaunch {
                    block,
                    arm,
                    mode,
                    failed,
                    cost: if is_observed {
                        Some(cost)
                    } else {
                        self.plain.clone().filter(|_| mode == LaunchMode::Plain)
                    },
                    ..CommandLaunch::default()
                });
            }
            launches
        }
    }

    fn simulated(plan: &CommandPlan) -> Simulated<'_> {
        Simulated {
            plan,
            budget_s: 60.0,
            width: &|_| Some(1.0),
            settled_at: None,
            given_up: &|_| false,
            fails: &|_| false,
            faults: Faults {
                malloc_blocks: 1,
                kinds: BTreeMap::from([(MemoryEvent::Cow, 1)]),
                ..Faults::default()
            },
            price_s: 1.0,
            samples: 0,
            plain: None,
        }
    }

    fn blocks(launches: &[CommandLaunch]) -> i64 {
        launches
            .iter()
            .map(|launch| launch.block)
            .max()
            .unwrap_or(-1)
            + 1
    }

    #[test]
    fn every_arm_is_proved_before_the_first_block_and_takes_part_in_each() {
        let plan = plan(Kind::Try);
        let launches = simulated(&plan).launches(Vec::new(), usize::MAX);
        assert!(
            launches[..3]
                .iter()
                .all(|l| l.block == -1 && l.mode == LaunchMode::Traced),
            "{launches:?}"
        );
        for block in 0..blocks(&launches) {
            let mut arms: Vec<usize> = launches
                .iter()
                .filter(|l| l.block == block)
                .map(|l| l.arm)
                .collect();
            arms.sort_unstable();
            assert_eq!(arms, [0, 1, 2], "block {block}");
        }
    }

    #[test]
    fn a_narrow_interval_ends_a_study_that_has_its_six_blocks() {
        let plan = plan(Kind::Try);
        let narrow = |blocks| Some(if blocks < 9 { 0.02 } else { 0.009 });
        assert_eq!(
            blocks(
                &Simulated {
                    width: &narrow,
                    ..simulated(&plan)
                }
                .launches(Vec::new(), usize::MAX)
            ),
            9
        );
        let short = Simulated {
            budget_s: 1.0,
            ..simulated(&plan)
        };
        assert_eq!(
            blocks(&short.launches(Vec::new(), usize::MAX)),
            6,
            "without a budget there is an interval"
        );
    }

    #[test]
    fn an_interim_analysis_ends_a_study() {
        let plan = plan(Kind::Try);
        let of = |settled_at| {
            blocks(
                &Simulated {
                    settled_at,
                    ..simulated(&plan)
                }
                .launches(Vec::new(), usize::MAX),
            )
        };
        assert_eq!([Some(6), Some(14)].map(of), [6, 14]);
        assert!(of(None) > 14);
    }

    #[test]
    fn a_budget_is_never_exceeded_by_more_than_one_block() {
        for budget_s in [1.0, 5.0, 17.0, 40.0, 200.0] {
            let plan = CommandPlan {
                budget_s: Some(budget_s),
                ..plan(Kind::Try)
            };
            let launches = Simulated {
                budget_s,
                ..simulated(&plan)
            }
            .launches(Vec::new(), usize::MAX);
            assert!(
                launches.len() as f64 <= budget_s + 6.0,
                "{} launches in {budget_s} s",
                launches.len()
            );
        }
    }

    #[test]
    fn blocks_that_are_counted_are_made_whatever_the_precision() {
        let plan = CommandPlan {
            pairs: Some(11),
            ..plan(Kind::Try)
        };
        let narrow = |_| Some(0.0);
        let launches = Simulated {
            budget_s: 1.0,
            width: &narrow,
            ..simulated(&plan)
        }
        .launches(Vec::new(), usize::MAX);
        assert_eq!((blocks(&launches), launches.len()), (11, 3 + 33));
    }

    #[test]
    fn a_failed_arm_is_left_out_and_a_failed_baseline_ends_the_study() {
        let plan = CommandPlan {
            pairs: Some(6),
            ..plan(Kind::Try)
        };
        let launches = Simulated {
            given_up: &|arm| arm == 1,
            ..simulated(&plan)
        }
        .launches(Vec::new(), usize::MAX);
        assert!(
            launches.len() == 14 && launches.iter().all(|launch| launch.arm != 1),
            "{launches:?}"
        );
        assert!(
            Simulated {
                given_up: &|arm| arm == 0,
                ..simulated(&plan)
            }
            .launches(Vec::new(), usize::MAX)
            .is_empty()
        );
    }

    #[test]
    fn an_interrupted_study_goes_on_in_the_middle_of_its_block() {
        let plan = CommandPlan {
            pairs: Some(8),
            ..plan(Kind::Try)
        };
        let whole = simulated(&plan).launches(Vec::new(), usize::MAX);
        for stop in [0, 2, 3, 7, 19] {
            let part = simulated(&plan).launches(Vec::new(), stop);
            assert_eq!(
                simulated(&plan).launches(part, usize::MAX),
                whole,
                "stopped after {stop}"
            );
        }
    }

    #[test]
    fn a_profile_has_every_price_in_each_block_and_follows_faults_in_the_first_ones() {
        let plan = plan(Kind::Profile);
        let fails = |mode| matches!(mode, LaunchMode::PriceHuge | LaunchMode::PriceBase);
        let launches = Simulated {
            fails: &fails,
            ..simulated(&plan)
        }
        .launches(Vec::new(), usize::MAX);
        assert_eq!(
            (launches[0].mode, launches[1].mode),
            (LaunchMode::Plain, LaunchMode::Traced)
        );
        let with = |mode| {
            launches
                .iter()
                .filter(|launch| launch.block >= 0 && launch.mode == mode)
                .count() as i64
        };
        assert_eq!(
            with(LaunchMode::PriceHuge),
            1,
            "a price that cannot be had is not tried again"
        );
        assert_eq!(
            with(LaunchMode::PriceBase),
            blocks(&launches),
            "without this one there is no profile"
        );
        assert_eq!(
            (with(LaunchMode::Followed), with(LaunchMode::Plain)),
            (8.min(blocks(&launches)), blocks(&launches))
        );
        assert_eq!(with(LaunchMode::Sampled), 3);
    }

    #[test]
    fn the_fewest_launches_of_a_study_are_known_before() {
        for kind in [Kind::Try, Kind::Profile] {
            let plan = plan(kind);
            let simulated = Simulated {
                budget_s: 1.0,
                ..simulated(&plan)
            };
            let launches = simulated.launches(Vec::new(), usize::MAX);
            let of_command = launches.iter().filter(|launch| launch.mode.is_command());
            assert_eq!(least_launches(&plan), of_command.count(), "{kind:?}");
        }
    }

    #[test]
    fn what_no_launch_met_has_no_price() {
        let plan = plan(Kind::Profile);
        let simulated = Simulated {
            faults: Faults::default(),
            ..simulated(&plan)
        };
        let launches = simulated.launches(Vec::new(), usize::MAX);
        let is_launched = |mode| launches.iter().any(|launch| launch.mode == mode);
        assert!(is_launched(LaunchMode::PriceBase) && is_launched(LaunchMode::PriceEvents));
        assert!(!is_launched(LaunchMode::PriceHuge) && !is_launched(LaunchMode::PriceCow));
    }

    /// Two before the first block, one that is sampled, and as many by itself as there is time for.
    #[test]
    fn a_profile_of_a_command_of_a_second_takes_ten() {
        let plan = plan(Kind::Profile);
        let launches = |budget_s: f64| {
            let simulated = Simulated {
                budget_s,
                price_s: 0.15,
                ..simulated(&plan)
            };
            simulated.launches(Vec::new(), usize::MAX)
        };
        let of_command = |launches: &[CommandLaunch]| {
            let launches = launches.iter().filter(|l| l.mode.is_command());
            launches.count()
        };
        let usual = launches(10.0);
        // 2.0 s before, 2.6 s for the first block, and 1.6 s for each other.
        assert_eq!((blocks(&usual), of_command(&usual)), (4, 7));
        assert!(usual.iter().all(|l| l.mode != LaunchMode::Followed));
        let least = launches(1.0);
        assert_eq!((blocks(&least), of_command(&least)), (3, 6));
    }

    /// Three blocks where six exceed the budget, and otherwise those in which page faults are followed.
    #[test]
    fn a_profile_ends_where_later_blocks_have_no_samples() {
        let plan = plan(Kind::Profile);
        let with = |samples: u64, budget_s: f64| {
            let simulated = Simulated {
                budget_s,
                price_s: 0.15,
                samples,
                ..simulated(&plan)
            };
            blocks(&simulated.launches(Vec::new(), usize::MAX))
        };
        assert_eq!([10.0, 60.0].map(|budget_s| with(1000, budget_s)), [3, 8]);
        assert_eq!(with(KernelWork::LEAST - 1, 10.0), 4);
        assert!(with(10, 60.0) > 8);
    }

    /// A launch of a second that found its files cached and is a quarter in the kernel.
    #[test]
    fn the_launch_before_the_first_block_is_its_own_where_time_is_short() {
        let plan = plan(Kind::Profile);
        let warm = CommandCost {
            user_us: 750_000,
            system_us: 250_000,
            ..CommandCost::default()
        };
        let of_first = |plain: CommandCost, budget_s: f64| {
            let simulated = Simulated {
                budget_s,
                price_s: 0.15,
                plain: Some(plain),
                ..simulated(&plan)
            };
            let launches = simulated.launches(Vec::new(), usize::MAX);
            let is_plain = |l: &&CommandLaunch| l.block == 0 && l.mode == LaunchMode::Plain;
            launches.iter().filter(is_plain).count()
        };
        let with = |change: fn(&mut CommandCost)| {
            let mut plain = warm.clone();
            change(&mut plain);
            plain
        };
        assert_eq!(of_first(warm.clone(), 10.0), 0);
        assert_eq!(of_first(warm.clone(), 60.0), 1);
        assert_eq!(of_first(with(|cost| cost.fetched_bytes = 4096), 10.0), 1);
        assert_eq!(of_first(with(|cost| cost.major_faults = 1), 10.0), 1);
        assert_eq!(of_first(with(|cost| cost.system_us = 50_000), 10.0), 1);
    }

    #[test]
    fn costs_that_nothing_is_said_of_have_no_price() {
        let with = |user_us: u64| {
            let cost = CommandCost {
                user_us,
                read_calls: 40,
                faults: Some(Faults {
                    kinds: BTreeMap::from([(MemoryEvent::File, 200)]),
                    ..Faults::default()
                }),
                ..CommandCost::default()
            };
            let launch = CommandLaunch {
                mode: LaunchMode::Traced,
                cost: Some(cost),
                ..CommandLaunch::default()
            };
            let (cost, faults) = seen_faults(&launch).unwrap();
            has_other_events(cost, faults)
        };
        // 240 of them take a millisecond at most.
        assert_eq!([100_000, 1_000_000].map(with), [true, false]);
    }

    /// Nothing takes a processor from a service while it is followed.
    #[test]
    fn a_process_that_runs_already_is_priced_after_its_windows() {
        let attached = record::command::Attached {
            pid: 1,
            started_ticks: None,
            window_s: 1.0,
        };
        let plan = CommandPlan {
            attached: Some(attached),
            pairs: Some(8),
            ..plan(Kind::Profile)
        };
        let launches = simulated(&plan).launches(Vec::new(), usize::MAX);
        let is_window = |launch: &CommandLaunch| launch.mode.is_command();
        let windows = launches.iter().take_while(|l| is_window(l)).count();
        assert_eq!(windows, 1 + 8 + SAMPLED_WINDOWS);
        assert!(!launches[windows..].iter().any(is_window));
        let prices = |mode| launches.iter().filter(|l| l.mode == mode).count();
        assert_eq!(
            [LaunchMode::PriceBase, LaunchMode::PriceHuge].map(prices),
            [8, 8]
        );
        // One that ends in its third window has the prices that an interval needs.
        let mut some = simulated(&plan).launches(Vec::new(), 4);
        let ended = some.last_mut().unwrap();
        ended.cost = Some(CommandCost {
            process_ended: true,
            ..CommandCost::default()
        });
        let whole = simulated(&plan).launches(some, usize::MAX);
        assert!(!whole[4..].iter().any(is_window));
        let base = whole.iter().filter(|l| l.mode == LaunchMode::PriceBase);
        assert_eq!(base.count(), LEAST_LAUNCHES);
    }

    #[test]
    fn a_profile_beyond_its_budget_follows_faults_in_fewer_blocks() {
        let plan = CommandPlan {
            pairs: Some(7),
            ..plan(Kind::Profile)
        };
        let followed = |budget_s| {
            let launches = Simulated {
                budget_s,
                ..simulated(&plan)
            }
            .launches(Vec::new(), usize::MAX);
            launches
                .iter()
                .filter(|launch| launch.block >= 0 && launch.mode == LaunchMode::Followed)
                .count()
        };
        // Two launches before the first block, six in each, and one that samples the kernel's time in the first.
        assert_eq!([30.0, 39.0, 60.0].map(followed), [1, 5, 7]);
    }
}
