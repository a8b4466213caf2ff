//! An answer before there are three blocks: where the kernel has hardly any of a command's CPU time, no part of it is worth
//! acting on, whatever more launches would say of the parts.

use super::advice::WORTH;
use super::blocks::ProfileBlock;
use super::candidates::candidates;
use super::consistency::TICK_S;
use super::counts::{Counted, ended, mean};
use crate::program::costs_in;
use record::command::{
    Amount, Candidate, CommandEnd, CommandLaunch, CommandPlan, CostLine, EventFamily, LaunchMode,
    ObservedEffects,
};
use stats::interval::{CONFIDENCE, FEWEST_LAUNCHES};
use stats::t::t_interval;

/// Half-widths of a normal interval at 95 %.
const NORMAL: f64 = 1.96;

/// Costs of a command that is hardly ever in the kernel, by fewer blocks than an interval needs.
pub(super) struct KernelBound {
    /// CPU time of a run.
    pub cpu_s: Amount,
    /// CPU time in the kernel of a run: from none to the most that its clock and samples allow.
    pub kernel_s: Amount,
    /// Cost of page faults by their prices, within that.
    pub faults: CostLine,
    /// Settings worth a try as far as one block tells, none with a figure.
    pub candidates: Vec<Candidate>,
}

impl KernelBound {
    /// `None` where there are blocks enough, the kernel may have as much as is worth a line, or one block does not tell whether
    /// a setting is worth a try.
    pub fn new(
        plan: &CommandPlan,
        launches: &[CommandLaunch],
        counted: &Counted<'_>,
        blocks: &[ProfileBlock<'_>],
        proof: Option<&ObservedEffects>,
    ) -> Option<KernelBound> {
        if plan.attached.is_some() || blocks.is_empty() || blocks.len() >= FEWEST_LAUNCHES {
            return None;
        }
        let processes = proof.map_or(1.0, |proof| proof.processes as f64);
        let processes = processes.max(counted.shown.processes);
        let share = kernel_share(launches, blocks, processes).filter(|share| share.high < WORTH)?;
        let alone: Vec<f64> = costs_in(launches, LaunchMode::Plain)
            .filter(|cost| cost.end == CommandEnd::Exit)
            .map(|cost| cost.cpu_s())
            .collect();
        let cpu = t_interval(&alone, CONFIDENCE).ok()?;
        let cpu_s = Amount {
            value: cpu.estimate,
            low: cpu.low.max(0.0),
            high: cpu.high,
        };
        let seconds = |share: Amount| Amount {
            value: share.value * cpu_s.value,
            low: share.low * cpu_s.value,
            high: share.high * cpu_s.value,
        };
        let is_fault = |block: &ProfileBlock| {
            block.fresh_cost_s(counted, |event| event.family() == EventFamily::Faults)
        };
        let faults_s = mean(blocks.iter().map(is_fault));
        let of_faults = Amount {
            value: (faults_s / cpu_s.value.max(1e-9)).min(share.high),
            ..share
        };
        let candidates = candidates(plan, counted, blocks, proof);
        let is_told = candidates.iter().all(|c| is_told(c, cpu_s.value));
        is_told.then(|| KernelBound {
            cpu_s,
            kernel_s: seconds(share),
            faults: CostLine {
                seconds: seconds(of_faults),
                share: of_faults,
            },
            candidates,
        })
    }

    /// The most of the CPU time that the kernel has.
    pub fn most_share(&self) -> f64 {
        self.kernel_s.high / self.cpu_s.value.max(1e-9)
    }
}

/// True if more blocks would hardly change whether a setting is worth a try: it is as far from the limit as that is from none.
fn is_told(candidate: &Candidate, cpu_s: f64) -> bool {
    let (share, least) = (candidate.kernel_s.value / cpu_s, candidate.least_share());
    if least < 0.0 {
        share > least / 2.0
    } else {
        share < least / 2.0
    }
}

/// The kernel's share of CPU time, from none to a limit. Samples are finer than the kernel's clock, and miss the beginning of
/// each process: they have it where the clock does not contradict them.
fn kernel_share(
    launches: &[CommandLaunch],
    blocks: &[ProfileBlock<'_>],
    processes: f64,
) -> Option<Amount> {
    let sum = |seconds: fn(&ProfileBlock<'_>) -> f64| blocks.iter().map(seconds).sum::<f64>();
    let ticks = sum(|block| block.plain.kernel_s()) / TICK_S;
    let all_ticks = sum(|block| block.plain.cpu_s()) / TICK_S;
    // Of a process that no tick met in the kernel all of the time counts as user time: up to a tick each is unseen.
    let unseen = processes * blocks.len() as f64;
    let by_clock = share_of(ticks, unseen, all_ticks)?;
    let least = (ticks - NORMAL * ticks.sqrt()) / all_ticks;
    let (mut seen, mut unsampled, mut all) = (0.0, 0.0, 0.0);
    for cost in ended(launches, LaunchMode::Sampled) {
        let Some(work) = &cost.kernel_work else {
            continue;
        };
        unsampled += if work.whole { 0.0 } else { processes };
        let parts = work.parts.iter().map(|part| part.samples as f64);
        seen += parts.sum::<f64>() + work.lost as f64;
        all += cost.cpu_s() / (work.period_ns.max(1) as f64 * 1e-9);
    }
    let by_samples = share_of(seen, unsampled, all).filter(|share| least <= share.high);
    Some(by_samples.unwrap_or(by_clock))
}

/// A Poisson count relative to all, from none to its limit with what was not seen.
fn share_of(count: f64, unseen: f64, all: f64) -> Option<Amount> {
    let most = count + NORMAL * count.sqrt() + NORMAL * NORMAL + unseen;
    (all >= 1.0).then(|| Amount {
        value: count / all,
        low: 0.0,
        high: most / all,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{example::*, is_settled, judge};
    use record::command::{CommandLaunch, Faults, LaunchMode, MemoryEvent, ProfileSummary};
    use record::summary::NoteKind;

    /// The first block of a command of a second, whose kernel had so many milliseconds and samples.
    fn first_block(kernel_ms: u64, samples: u64) -> Vec<CommandLaunch> {
        let mut launches = sampled_runs(&[(MemoryEvent::Unknown, "", samples)]);
        launches.retain(|launch| launch.block < 1);
        for cost in launches.iter_mut().filter_map(|l| l.cost.as_mut()) {
            cost.system_us = kernel_ms * 1_000;
            cost.user_us = 1_000_000 - cost.system_us;
            cost.minor_faults = 200;
            if cost.faults.is_some() {
                cost.faults = Some(Faults {
                    counted: 180,
                    samples: 180,
                    kinds: [(MemoryEvent::Heap, 100), (MemoryEvent::File, 80)].into(),
                    processes: 1,
                    ..Faults::default()
                });
            }
        }
        launches
    }

    fn has_note(of: &ProfileSummary, wanted: fn(&NoteKind) -> bool) -> bool {
        of.notes.iter().any(|note| wanted(&note.kind))
    }

    #[test]
    fn a_command_that_is_hardly_in_the_kernel_has_its_answer_after_a_block() {
        let launches = first_block(8, 24);
        assert!(is_settled(&plan(), &launches));
        let of = judge(&plan(), &launches);
        assert_eq!(of.blocks, 1);
        let (kernel, faults) = (of.kernel_s.unwrap(), of.faults.unwrap());
        // 24 samples of 4,000 are 0.6 %, and 38.4 the most that they and the first period may be.
        near(kernel.value, 0.006);
        let most = (24.0 + 1.96 * 24_f64.sqrt() + 1.96 * 1.96 + 1.0) / 4_000.0;
        near(kernel.high, most);
        near(faults.share.value, 200.0 * 2e-6);
        near(faults.share.high, most);
        assert_eq!(of.cpu_s.unwrap().value, 1.0);
        assert!(has_note(&of, |n| matches!(
            n,
            NoteKind::LittleKernel { .. }
        )));
        assert!(!has_note(&of, |n| matches!(n, NoteKind::TooFew { .. })));
    }

    #[test]
    fn what_may_be_worth_a_line_has_more_blocks() {
        // By samples 5 %, by the clock, which they must not contradict, 8 %.
        for (kernel_ms, samples) in [(8, 200), (80, 24)] {
            let launches = first_block(kernel_ms, samples);
            assert!(!is_settled(&plan(), &launches), "{kernel_ms} {samples}");
            let of = judge(&plan(), &launches);
            assert!(of.cpu_s.is_none());
            assert!(has_note(&of, |n| matches!(n, NoteKind::TooFew { .. })));
        }
        let none = judge(&plan(), &first_block(8, 24)[..2]);
        assert!(none.cpu_s.is_none());
    }

    /// Where samples are missing, the clock has to do.
    #[test]
    fn the_clock_alone_bounds_the_kernel() {
        let unsampled = |kernel_ms: u64| {
            let mut launches = first_block(kernel_ms, 0);
            launches.retain(|launch| launch.mode != LaunchMode::Sampled);
            is_settled(&plan(), &launches)
        };
        // Of 250 ticks two are known to be less than 10, and six less than 16.
        assert!(unsampled(8) && !unsampled(24));
    }

    #[test]
    fn a_setting_near_its_limit_has_more_blocks() {
        let with = |saved: u64, huge: u64| {
            let mut launches = first_block(8, 24);
            for faults in launches
                .iter_mut()
                .filter_map(|l| l.cost.as_mut()?.faults.as_mut())
            {
                faults.again_malloc = saved;
                (faults.malloc_faults, faults.malloc_blocks) = (saved, huge);
            }
            let settings = judge(&plan(), &launches).candidates;
            let names = settings.into_iter().map(|c| c.setting);
            (is_settled(&plan(), &launches), names.collect::<Vec<_>>())
        };
        assert_eq!(with(100, 0), (true, Vec::new()));
        // What saves 0.7 % is not worth a try, and huge pages that cost 1.3 % are: they may save translation. Of what may save 4.5
        // or cost 7.6 % one block says too little.
        assert_eq!(
            with(3_000, 40),
            (true, vec!["keep".to_owned(), "thp".to_owned()])
        );
        assert_eq!(with(20_000, 240), (false, Vec::new()));
    }
}
