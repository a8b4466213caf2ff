//! A profile, judged: counted memory events times prices that were measured between the launches, compared with the command's
//! own time in the kernel, and what a change would save of it. `docs/validity.md` tests the rules of this module; a change to
//! them needs new measurements there.

mod candidates;
mod counts;
mod places;
mod prices;

use super::{Times, costs_in, failure};
use crate::contrast::estimate::logs_by_block;
use counts::{Counted, counted};
use prices::{BlockPrices, shown};
use record::command::{
    Agreement, Amount, COMMAND_SUMMARY_SCHEMA, CommandCost, CommandLaunch, CommandPlan,
    Consistency, CostLine, EventFamily, Failure, LaunchMode, MemoryEvent, ProfileSummary,
    has_ended,
};
use record::outcome::Status;
use record::summary::{Note, NoteKind};
use stats::interval::{CONFIDENCE, LEAST_LAUNCHES};
use stats::{signed_rank::signed_rank_interval, t::t_interval};
use std::collections::{BTreeMap, BTreeSet};

pub use prices::{MIB, footprint_bytes};

/// Bytes written from which on the output is worth a remark.
const MUCH_BYTES: u64 = 1 << 30;
/// Largest excess of explained over measured kernel time: the split of CPU time is sampled.
const SURPLUS: f64 = 1.05;
/// Share of the measured kernel time within which the whole interval of the explained part is consistent with it.
const CONSISTENT: (f64, f64) = (0.7, 1.2);
/// Seconds between two samples of that split, on most kernels: less of a run's time may have been seen as none.
const TICK_S: f64 = 0.004;

/// One block: a plain launch and the prices that were measured next to it.
struct ProfileBlock<'a> {
    plain: &'a CommandCost,
    prices: BlockPrices,
    /// Faults of the plain launch per recorded fault.
    scale: f64,
}

impl ProfileBlock<'_> {
    /// Seconds of these events; an event without a price in this block costs nothing that is known.
    fn cost_s(&self, counted: &Counted, takes_part: impl Fn(MemoryEvent) -> bool) -> f64 {
        let scale = |event: MemoryEvent| {
            if event.family() == EventFamily::Calls {
                1.0
            } else {
                self.scale
            }
        };
        let events = counted
            .shown
            .events
            .iter()
            .filter(|(event, _)| takes_part(**event));
        events
            .map(|(&event, count)| count * self.prices.of_kind_or_zero(event) * scale(event))
            .sum()
    }
}

/// The estimate over blocks; nothing below six, or where a value is none.
fn amount(values: impl Iterator<Item = f64>) -> Option<Amount> {
    let values: Vec<f64> = values.collect();
    let interval = signed_rank_interval(&values, CONFIDENCE)
        .ok()
        .filter(|interval| interval.n >= LEAST_LAUNCHES)?;
    Some(Amount {
        value: interval.estimate,
        low: interval.low,
        high: interval.high,
    })
}

/// Launches of the command by itself, or windows of a process, without the first.
fn windows(launches: &[CommandLaunch]) -> impl Iterator<Item = &CommandLaunch> {
    launches
        .iter()
        .filter(|launch| launch.block >= 0 && launch.mode == LaunchMode::Plain)
}

fn blocks<'a>(
    plan: &CommandPlan,
    launches: &'a [CommandLaunch],
    counted: &Counted,
) -> Vec<ProfileBlock<'a>> {
    let numbers: BTreeSet<i64> = launches
        .iter()
        .map(|launch| launch.block)
        .filter(|block| *block >= 0)
        .collect();
    let in_block = |block: i64, mode: LaunchMode| {
        launches
            .iter()
            .find(move |l| l.block == block && l.mode == mode)
    };
    // The windows of a process that has ended are priced in turn, as often as an interval needs.
    let seen = if has_ended(launches) {
        windows(launches).count()
    } else {
        0
    };
    let block = |block: i64| {
        let window = || windows(launches).nth((block as usize).checked_rem(seen)?);
        let plain = in_block(block, LaunchMode::Plain)
            .or_else(window)?
            .cost
            .as_ref()?;
        let prices = BlockPrices::measured(plan, |mode| in_block(block, mode))?;
        let scale = match counted.followed_faults() {
            Some(faults) if faults > 0.0 => plain.minor_faults as f64 / faults,
            _ => 1.0,
        };
        Some(ProfileBlock {
            plain,
            prices,
            scale,
        })
    };
    numbers.into_iter().filter_map(block).collect()
}

/// The half-width of the cost of faults relative to the launch's CPU time, by the blocks so far.
pub(super) fn half_width(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<f64> {
    let counted = counted(plan, launches)?;
    let line = line(
        &blocks(plan, launches, &counted),
        &counted,
        EventFamily::Faults,
    )?;
    Some((line.share.high - line.share.low) / 2.0)
}

fn line(blocks: &[ProfileBlock], counted: &Counted, family: EventFamily) -> Option<CostLine> {
    let cost_s = |block: &ProfileBlock| block.cost_s(counted, |event| event.family() == family);
    let share = amount(
        blocks
            .iter()
            .map(|block| cost_s(block) / block.plain.cpu_s().max(1e-6)),
    );
    Some(CostLine {
        seconds: amount(blocks.iter().map(cost_s))?,
        share: share?,
    })
}

/// Counts times prices of everything that the kernel does for memory against its whole time for the command.
fn consistency(blocks: &[ProfileBlock], counted: &Counted) -> Option<Consistency> {
    // The split of CPU time is sampled by ticks: over all blocks together it is as good as it gets.
    let system_s = blocks
        .iter()
        .map(|block| block.plain.kernel_s())
        .sum::<f64>()
        / blocks.len() as f64;
    if system_s <= 0.0 {
        return None;
    }
    let cost = amount(blocks.iter().map(|block| block.cost_s(counted, |_| true)))?;
    let kernel = amount(blocks.iter().map(|block| block.plain.kernel_s()))?;
    // Both sides scatter: prices from block to block, the command's own time from run to run.
    let half = |a: Amount| (a.high - a.low) / 2.0 / a.value.max(1e-9);
    let (value, spread) = (cost.value / system_s, half(cost).hypot(half(kernel)));
    let explained = Amount {
        value,
        low: value * (1.0 - spread).max(0.0),
        high: value * (1.0 + spread),
    };
    let unseen = TICK_S / (blocks.len() as f64).sqrt() / system_s;
    let agreement = if explained.low > SURPLUS + unseen {
        Agreement::Exceeds
    } else if explained.high + unseen < CONSISTENT.0 {
        Agreement::FallsShort
    } else if explained.low >= CONSISTENT.0
        && explained.high <= CONSISTENT.1
        && unseen <= 1.0 - CONSISTENT.0
    {
        Agreement::Consistent
    } else {
        Agreement::NotSettled
    };
    Some(Consistency {
        explained,
        agreement,
    })
}

/// CPU time of the followed launch relative to the plain one of the same block.
fn overhead(launches: &[CommandLaunch]) -> Option<Amount> {
    let in_mode = |mode| {
        launches
            .iter()
            .filter(move |launch| launch.mode == mode && launch.block >= 0)
    };
    let cpu_s = |launch: &CommandLaunch| Some((launch.block, launch.cost.as_ref()?.cpu_s()));
    let logs = logs_by_block(
        in_mode(LaunchMode::Plain).filter_map(cpu_s),
        in_mode(LaunchMode::Followed).filter_map(cpu_s),
    );
    let logs = t_interval(&logs, CONFIDENCE).ok()?;
    Some(Amount {
        value: logs.estimate.exp(),
        low: logs.low.exp(),
        high: logs.high.exp(),
    })
}

/// Cost of the command in each block; nothing if it is not to be believed.
pub(super) fn costs(plan: &CommandPlan, launches: &[CommandLaunch]) -> Vec<Times> {
    let counted = counted(plan, launches).filter(|c| c.doubt.is_none());
    let Some(counted) = counted.filter(|_| failure::given_up(plan, launches, 0).is_none()) else {
        return Vec::new();
    };
    let all = blocks(plan, launches, &counted);
    let times = |time, cost_s: &dyn Fn(&ProfileBlock) -> f64| Times {
        command: plan.arms[0].shown.clone(),
        arm: "command".to_owned(),
        time,
        seconds: all.iter().map(cost_s).collect(),
    };
    let faults_s = |block: &ProfileBlock| {
        block.cost_s(&counted, |event| event.family() == EventFamily::Faults)
    };
    vec![
        times("cpu", &|block| block.plain.cpu_s()),
        times("kernel", &|block| block.plain.kernel_s()),
        times("page-faults", &faults_s),
    ]
}

/// Predicted kernel time of each setting: the change in seconds, negative where it saves.
pub fn predictions(summary: &ProfileSummary) -> BTreeMap<String, Amount> {
    let settled = summary
        .candidates
        .iter()
        .filter(|candidate| candidate.is_settled());
    let change = |saving: Amount| Amount {
        value: -saving.value,
        low: -saving.high,
        high: -saving.low,
    };
    settled
        .map(|candidate| (candidate.setting.clone(), change(candidate.kernel_s)))
        .collect()
}

/// Judges a profile from its plan and launches alone.
pub fn judge(plan: &CommandPlan, launches: &[CommandLaunch]) -> ProfileSummary {
    let counted = counted(plan, launches);
    let all = counted
        .as_ref()
        .map(|c| blocks(plan, launches, c))
        .unwrap_or_default();
    let doubt = counted.as_ref().and_then(|c| c.doubt.clone());
    let failed = failure::given_up(plan, launches, 0);
    let outcome = match (&failed, &doubt) {
        (Some(_), _) => Status::Failed,
        (None, Some(_)) => Status::Untrusted,
        (None, None) => Status::Ok,
    };
    let failure = failed.or_else(|| {
        doubt.map(|kind| Failure {
            kind,
            message: None,
        })
    });
    let believed = counted.as_ref().filter(|_| outcome == Status::Ok);
    let cost_line = |family| believed.and_then(|counted| line(&all, counted, family));
    let faults = cost_line(EventFamily::Faults);
    let stacks = faults.zip(believed).and_then(|(faults, counted)| {
        places::stacks(launches, &all, counted, faults.seconds.value)
    });
    let consistency = believed.and_then(|counted| consistency(&all, counted));
    let holds = consistency.is_none_or(|c| c.agreement != Agreement::Exceeds);
    let candidates = believed
        .filter(|_| holds)
        .map(|counted| candidates::candidates(plan, counted, &all));
    let traced = costs_in(launches, LaunchMode::Traced).find_map(|cost| cost.proof.as_ref());
    let mut notes = notes(plan, launches, counted.as_ref());
    notes.extend(super::notes(launches, believed.map(|_| all.len())));
    ProfileSummary {
        schema: COMMAND_SUMMARY_SCHEMA,
        plan: plan.clone(),
        outcome,
        failure,
        blocks: all.len(),
        by_kind: counted.as_ref().is_some_and(|c| !c.followed.is_empty()),
        cpu_s: amount(all.iter().map(|block| block.plain.cpu_s())),
        kernel_s: amount(all.iter().map(|block| block.plain.kernel_s())),
        overhead: if plan.attached.is_none() {
            overhead(launches)
        } else {
            None
        },
        mappings: counted
            .as_ref()
            .and_then(|c| c.traced)
            .map(|faults| faults.calls.clone())
            .unwrap_or_default(),
        allocator: traced.map_or_else(String::new, |proof| proof.allocator.clone()),
        prices: counted.as_ref().map(|c| shown(&all, c)).unwrap_or_default(),
        faults,
        stacks,
        freeing: cost_line(EventFamily::Freeing),
        calls: cost_line(EventFamily::Calls),
        consistency,
        candidates: candidates.unwrap_or_default(),
        counts: counted.map(|c| c.shown),
        notes: notes.into_iter().map(Note::from).collect(),
    }
}

fn notes(
    plan: &CommandPlan,
    launches: &[CommandLaunch],
    counted: Option<&Counted>,
) -> Vec<NoteKind> {
    let mut notes = Vec::new();
    let followed = || costs_in(launches, LaunchMode::Followed);
    if let Some(reason) = followed().find_map(|cost| cost.faults_unseen.clone()) {
        notes.push(NoteKind::FaultsUnseen { reason });
    } else if let Some(reason) = followed().find_map(|cost| cost.stacks_unseen.clone()) {
        notes.push(NoteKind::NoStacks { reason });
    } else if plan.totals_only {
        notes.push(NoteKind::TotalsOnly);
    }
    if has_ended(launches) {
        let wall_ns: u64 = windows(launches)
            .filter_map(|window| Some(window.cost.as_ref()?.wall_ns))
            .sum();
        notes.push(NoteKind::ProcessEnded {
            windows: windows(launches).count(),
            followed_s: wall_ns as f64 * 1e-9,
        });
    }
    let plain = costs_in(launches, LaunchMode::Plain).next();
    if let Some(traced) = costs_in(launches, LaunchMode::Traced).next() {
        let processes = traced.proof.as_ref().map_or(0, |seen| seen.setuid);
        notes.extend((processes > 0).then_some(NoteKind::Setuid { processes }));
        notes.extend(
            plain
                .filter(|plain| plain.code != traced.code)
                .map(|_| NoteKind::NotWatched),
        );
    }
    let major = counted
        .map(|c| c.shown.major_faults)
        .filter(|major| *major >= 1.0);
    notes.extend(major.map(|faults| NoteKind::MajorFaults { faults }));
    let much = plain
        .map(|plain| plain.output_bytes)
        .filter(|bytes| *bytes >= MUCH_BYTES);
    notes.extend(much.map(|bytes| NoteKind::MuchOutput { bytes }));
    let unpriced = launches.iter().find_map(|launch| launch.failed.clone());
    notes.extend(unpriced.map(|cause| NoteKind::NoPrice { cause }));
    notes
}

#[cfg(test)]
mod tests {
    //! Profiles made up of known numbers.

    use std::collections::BTreeMap;

    use record::command::{
        Agreement, Amount, Arm, ArmRole, CallFrame, CallStack, CallStacks, Candidate, CommandCost,
        CommandEnd, CommandLaunch, CommandPlan, FailureKind, Faults, LaunchMode, MemoryEvent,
        ObservedEffects, Pages, PricePhase, ProfileSummary,
    };

    use record::outcome::Status;
    use record::summary::NoteKind;

    use super::{footprint_bytes, judge, predictions};
    use crate::program::given_up;

    const BLOCKS: i64 = 8;

    fn plan() -> CommandPlan {
        let arm = Arm {
            name: "as it is".to_owned(),
            role: ArmRole::Baseline,
            shown: "program".to_owned(),
            command: vec!["program".to_owned()],
            setting: None,
            variables: BTreeMap::new(),
            preloaded: None,
            cpus: None,
            skipped: None,
        };
        CommandPlan {
            schema: 3,
            kind: record::kind::Kind::Profile,
            run: "a".to_owned(),
            seed: 1,
            arms: vec![arm],
            directory: "/".into(),
            precision: 0.002,
            margin: 0.0,
            budget_s: Some(1.0),
            pairs: None,
            warmups: 1,
            time_limit_s: 60.0,
            pages: Some(Pages {
                page_bytes: 4096,
                huge_page_bytes: 2 << 20,
                thp: "madvise".to_owned(),
            }),
            ..CommandPlan::default()
        }
    }

    /// A run of one second, a tenth of it in the kernel, with 20 000 faults.
    fn cost() -> CommandCost {
        CommandCost {
            end: CommandEnd::Exit,
            code: 0,
            wall_ns: 1_000_000_000,
            user_us: 900_000,
            system_us: 100_000,
            max_rss_kib: 80 << 10,
            minor_faults: 20_000,
            major_faults: 0,
            voluntary_switches: 1,
            involuntary_switches: 2,
            output_bytes: 0,
            output_hash: String::new(),
            error_bytes: 0,
            left: 0,
            not_evicted: 0,
            read_bytes: 1 << 20,
            write_bytes: 0,
            read_calls: 8,
            write_calls: 0,
            dirtied_pages: 0,
            faults: None,
            faults_unseen: None,
            stacks_unseen: None,
            split: None,
            process_ended: false,
            proof: None,
        }
    }

    /// 18 000 of the faults in user mode: 17 920 first writes to the heap, which are 35 whole blocks, and 80 of files.
    fn faults() -> Faults {
        Faults {
            counted: 18_000,
            samples: 18_000,
            kinds: BTreeMap::from([(MemoryEvent::Heap, 17_920), (MemoryEvent::File, 80)]),
            malloc_blocks: 35,
            malloc_faults: 17_920,
            processes: 1,
            ..Faults::default()
        }
    }

    fn command(block: i64, mode: LaunchMode) -> CommandLaunch {
        let mut cost = cost();
        if mode == LaunchMode::Followed {
            cost.faults = Some(faults());
        }
        CommandLaunch {
            block,
            mode,
            cost: Some(cost),
            ..CommandLaunch::default()
        }
    }

    /// A worker over 80 MiB; each phase's CPU time is given in nanoseconds a fault or page.
    fn priced(block: i64, mode: LaunchMode, phases: &[(&str, u64, u64)]) -> CommandLaunch {
        let phase = |(name, each, faults): &(&str, u64, u64)| {
            let phase = PricePhase {
                cpu_ns: each * faults,
                ops: 20_480,
                bytes: 80 << 20,
                minor_faults: *faults,
            };
            ((*name).to_owned(), phase)
        };
        CommandLaunch {
            phases: phases.iter().map(phase).collect(),
            cost: None,
            ..command(block, mode)
        }
    }

    /// A fault costs 2 µs and its page 0.25 µs when it goes; a huge page 500 µs and 5 µs.
    fn runs(fault_ns: impl Fn(i64) -> u64) -> Vec<CommandLaunch> {
        let mut runs = vec![
            command(-1, LaunchMode::Plain),
            command(-1, LaunchMode::Traced),
        ];
        for block in 0..BLOCKS {
            runs.push(command(block, LaunchMode::Plain));
            runs.push(command(block, LaunchMode::Followed));
            let base = [
                ("first-touch", fault_ns(block), 20_480),
                ("re-touch", 0, 0),
                ("unmap", 250, 20_480),
            ];
            runs.push(priced(block, LaunchMode::PriceBase, &base));
            let huge = [
                ("first-touch", 500_000, 40),
                ("re-touch", 0, 0),
                ("unmap", 5_000, 40),
            ];
            runs.push(priced(block, LaunchMode::PriceHuge, &huge));
        }
        runs
    }

    fn near(value: f64, wanted: f64) {
        assert!(
            (value / wanted - 1.0).abs() < 1e-9,
            "{value} is not {wanted}"
        );
    }

    fn usual() -> ProfileSummary {
        judge(&plan(), &runs(|_| 2_000))
    }

    #[test]
    fn counts_times_prices_are_what_faults_cost() {
        let of = usual();
        assert_eq!((of.outcome, of.blocks, of.by_kind), (Status::Ok, 8, true));
        let faults = of.faults.unwrap();
        // All 20 000 at 2 µs: those that are priced by themselves and those inside calls.
        near(faults.seconds.value, 0.04);
        near(faults.share.value, 0.04);
        near(
            of.freeing.unwrap().seconds.value,
            (17_920.0 + 2_000.0) * 250e-9,
        );
        let in_calls = of
            .prices
            .iter()
            .find(|p| p.kind == MemoryEvent::InCalls)
            .unwrap();
        assert!((in_calls.count - 2_000.0).abs() < 1e-9 && !in_calls.unsteady);
        let explained = of.consistency.unwrap();
        near(explained.explained.value, (0.04 + 19_920.0 * 250e-9) / 0.1);
        assert_eq!(explained.agreement, Agreement::FallsShort, "{explained:?}");
    }

    #[test]
    fn explained_time_is_consistent_within_both_bounds_only() {
        let agreement =
            |fault_ns: fn(i64) -> u64| judge(&plan(), &runs(fault_ns)).consistency.unwrap();
        // 85 of 100 ms are explained; 45 and 205 are not what the kernel did.
        assert_eq!(agreement(|_| 4_000).agreement, Agreement::Consistent);
        assert_eq!(agreement(|_| 2_000).agreement, Agreement::FallsShort);
        assert_eq!(agreement(|_| 10_000).agreement, Agreement::Exceeds);
        let wide = agreement(|block| if block % 2 == 0 { 2_000 } else { 6_000 });
        assert!(
            wide.agreement == Agreement::NotSettled && (wide.explained.value - 0.85).abs() < 0.1,
            "{wide:?}"
        );
        // The command's own time scatters as much as the prices do: the interval holds both.
        let mut varied = runs(|_| 4_000);
        for run in varied
            .iter_mut()
            .filter(|run| run.mode == LaunchMode::Plain && run.block % 2 == 0)
        {
            run.cost.as_mut().unwrap().system_us = 50_000;
        }
        let varied = judge(&plan(), &varied).consistency.unwrap();
        assert!(
            varied.agreement == Agreement::NotSettled && varied.explained.high > 1.2,
            "{varied:?}"
        );
    }

    #[test]
    fn new_pages_of_files_cost_more_than_overwritten_ones() {
        let mut all = runs(|_| 2_000);
        all.iter_mut()
            .filter_map(|run| run.cost.as_mut())
            .for_each(|cost| cost.dirtied_pages = 1_000);
        for block in 0..BLOCKS {
            let phases = [
                ("read-calls", 100, 1),
                ("write-calls", 100, 1),
                ("read-bytes", 1, 1),
                ("write-bytes", 20_480_000, 1),
            ];
            let new = ("write-new", 61_440_000, 1);
            all.push(priced(
                block,
                LaunchMode::PriceEvents,
                &[&phases[..], &[new]].concat(),
            ));
        }
        let of = judge(&plan(), &all);
        let new = of
            .prices
            .iter()
            .find(|price| price.kind == MemoryEvent::WriteNew)
            .unwrap();
        // 20 480 new pages took 41 ms longer than overwriting as many.
        near(new.each_s.value, 2e-6);
        near(new.together_s.value, 2e-3);
    }

    #[test]
    fn settings_are_foreseen_by_the_launch_that_saw_the_end_of_mappings() {
        let mut all = runs(|_| 2_000);
        let seen = Faults {
            malloc_faults: 9_000,
            malloc_blocks: 20,
            again_malloc: 4_000,
            ..faults()
        };
        let calls = BTreeMap::from([("mremap".to_owned(), 3)]);
        all[1].cost.as_mut().unwrap().faults = Some(Faults {
            calls: calls.clone(),
            ..seen.clone()
        });
        let of = judge(&plan(), &all);
        let saved = |of: &ProfileSummary, name| {
            of.candidates
                .iter()
                .find(|c| c.setting == name)
                .map(|c| c.faults_saved)
        };
        assert_eq!(
            (saved(&of, "thp"), saved(&of, "keep"), of.mappings),
            (Some(9_000.0), Some(4_000.0), calls.clone())
        );
        // Faults that were lost, or calls that were not seen, leave it to the other launches.
        for other in [
            Faults {
                calls,
                lost: 1,
                ..seen.clone()
            },
            seen,
        ] {
            all[1].cost.as_mut().unwrap().faults = Some(other);
            let of = judge(&plan(), &all);
            assert_eq!(
                (saved(&of, "thp"), saved(&of, "keep"), of.mappings),
                (Some(17_920.0), None, BTreeMap::new())
            );
        }
    }

    #[test]
    fn what_would_be_huge_is_saved_and_its_huge_pages_paid() {
        let of = usual();
        let thp = of.candidates.iter().find(|c| c.setting == "thp").unwrap();
        let faults = 17_920.0;
        near(thp.faults_saved, faults);
        near(thp.kernel_s.value, faults * 2.25e-6 - 35.0 * 505e-6);
        // The price of a huge page scatters so much that its interval holds no figure.
        assert!(thp.kernel_s.low < 0.0 && predictions(&of).is_empty());
        // Of 35 huge pages only 10 are resident at once: the others are recycled, at 300 µs.
        let mut all = runs(|_| 2_000);
        for run in &mut all {
            run.cost
                .iter_mut()
                .for_each(|cost| cost.max_rss_kib = 20 << 10);
            let again = PricePhase {
                cpu_ns: 300_000 * 40,
                ops: 20_480,
                bytes: 80 << 20,
                minor_faults: 40,
            };
            run.phases.entry("refault".to_owned()).or_insert(again);
        }
        let of = judge(&plan(), &all);
        let thp = of.candidates.iter().find(|c| c.setting == "thp").unwrap();
        near(
            thp.kernel_s.value,
            faults * 2.25e-6 - 35.0 * 505e-6 + 25.0 * 200e-6,
        );
    }

    #[test]
    fn huge_pages_are_worth_a_try_unless_they_are_foretold_to_cost_much() {
        let mut of = usual();
        let cpu_s = of.cpu_s.unwrap();
        let candidate = |(setting, huge_pages, share): (&str, f64, f64)| Candidate {
            setting: setting.to_owned(),
            faults_saved: 1e4,
            huge_pages,
            kernel_s: Amount {
                value: share * cpu_s.value,
                ..cpu_s
            },
        };
        let all = [
            ("keep", 0.0, 0.019),
            ("thp", 10.0, -0.09),
            ("java-thp", 10.0, -0.11),
            ("keep-more", 0.0, 0.021),
        ];
        of.candidates = all.map(candidate).to_vec();
        assert_eq!(
            of.worth_a_try()
                .map(|c| c.setting.as_str())
                .collect::<Vec<_>>(),
            ["thp", "keep-more"]
        );
    }

    #[test]
    fn only_what_came_again_would_be_kept() {
        let profiled = |again: u64| {
            let mut all = runs(|_| 2_000);
            for faults in all
                .iter_mut()
                .filter_map(|run| run.cost.as_mut()?.faults.as_mut())
            {
                (faults.malloc_writes, faults.again_malloc) = (17_920, again);
            }
            judge(&plan(), &all)
        };
        let keep = |of: &ProfileSummary| {
            of.candidates
                .iter()
                .find(|c| c.setting == "keep")
                .unwrap()
                .clone()
        };
        let (few, many) = (profiled(5_000), profiled(17_920));
        near(keep(&few).faults_saved, 5_000.0);
        // The model's own error is part of the interval: half of the prediction, and 2 % of the second of CPU time.
        let saved = keep(&many).kernel_s;
        near(saved.high - saved.value, saved.value / 2.0 + 0.02);
        near(saved.value - saved.low, saved.value / 2.0 + 0.02);
        assert!(
            keep(&many).is_settled() && predictions(&many)["keep"].high < 0.0,
            "it saves something"
        );
        assert!(
            !keep(&few).is_settled() && keep(&few).kernel_s.value > 0.0,
            "1 % of CPU time has no figure"
        );
    }

    #[test]
    fn the_stacks_of_a_kind_share_its_cost_and_all_together_are_the_cost_of_faults() {
        let mut all = runs(|_| 2_000);
        let frame = |function: &str| CallFrame {
            function: function.to_owned(),
            ..CallFrame::default()
        };
        let stack = |frames: &[usize], weight| CallStack {
            frames: frames.to_vec(),
            event: MemoryEvent::Heap,
            weight,
        };
        for (at, run) in all
            .iter_mut()
            .filter(|run| run.mode == LaunchMode::Followed)
            .enumerate()
        {
            // The same functions, numbered in another order in every second launch.
            let (frames, stacks) = if at % 2 == 0 {
                (
                    vec![frame("main"), frame("grow")],
                    vec![stack(&[0, 1], 6.0), stack(&[0], 2.0)],
                )
            } else {
                (
                    vec![frame("grow"), frame("main")],
                    vec![stack(&[1, 0], 6.0), stack(&[1], 2.0)],
                )
            };
            run.stacks = Some(CallStacks { frames, stacks });
        }
        let of = judge(&plan(), &all);
        let stacks = of.stacks.unwrap();
        let total = of.faults.unwrap().seconds.value;
        near(stacks.stacks.iter().map(|stack| stack.weight).sum(), total);
        let cost = |names: &[&str]| {
            let has = |stack: &&CallStack| {
                stack
                    .frames
                    .iter()
                    .map(|&at| stacks.frames[at].function.as_str())
                    .eq(names.iter().copied())
            };
            stacks
                .stacks
                .iter()
                .filter(has)
                .map(|stack| stack.weight)
                .sum::<f64>()
        };
        near(cost(&["main", "grow"]) / cost(&["main"]), 3.0);
        // Of faults inside calls and of files no stack was saved.
        near(cost(&[]), total - cost(&["main", "grow"]) - cost(&["main"]));
        assert!(cost(&[]) >= 2_000.0 * 2e-6);
    }

    #[test]
    fn without_a_price_of_a_huge_page_nothing_is_said_of_it() {
        let mut broken = runs(|_| 2_000);
        for run in broken
            .iter_mut()
            .filter(|r| r.mode == LaunchMode::PriceHuge)
        {
            // Fewer huge pages than there is memory: some of it was base pages.
            run.phases.get_mut("first-touch").unwrap().minor_faults = 552;
        }
        assert!(judge(&plan(), &broken).candidates.is_empty());
        let mut always = plan();
        always.pages.as_mut().unwrap().thp = "always".to_owned();
        assert!(
            judge(&always, &runs(|_| 2_000)).candidates.is_empty(),
            "what is huge anyway is no candidate"
        );
    }

    #[test]
    fn prices_that_explain_more_than_there_is_predict_nothing() {
        let of = judge(&plan(), &runs(|_| 10_000));
        assert!(
            of.consistency.unwrap().agreement == Agreement::Exceeds && of.candidates.is_empty()
        );
    }

    #[test]
    fn what_the_tick_cannot_see_is_no_contradiction() {
        let mut all = runs(|_| 2_000);
        all.retain(|r| r.mode != LaunchMode::Followed);
        for cost in all.iter_mut().filter_map(|r| r.cost.as_mut()) {
            (cost.minor_faults, cost.system_us) = (200, 100);
        }
        let law = judge(&plan(), &all).consistency.unwrap();
        // 0.45 ms of faults in 0.1 ms of kernel time, by a clock of 4 ms.
        assert!(
            law.explained.low > 4.0 && law.agreement == Agreement::NotSettled,
            "{law:?}"
        );
    }

    #[test]
    fn prices_that_spread_are_unsteady() {
        let of = judge(
            &plan(),
            &runs(|block| if block % 2 == 0 { 1_500 } else { 2_500 }),
        );
        let heap = of
            .prices
            .iter()
            .find(|p| p.kind == MemoryEvent::Heap)
            .unwrap();
        assert!(heap.unsteady && heap.spread > 1.6, "{heap:?}");
        assert!(of.faults.unwrap().seconds.low < 0.04);
    }

    #[test]
    fn lost_records_and_another_program_are_not_trusted() {
        let with = |change: fn(&mut CommandCost)| {
            let mut all = runs(|_| 2_000);
            all.iter_mut()
                .filter(|r| r.mode == LaunchMode::Followed)
                .for_each(|r| change(r.cost.as_mut().unwrap()));
            judge(&plan(), &all)
        };
        let lost = with(|cost| cost.faults.as_mut().unwrap().lost = 1);
        assert!(
            lost.outcome == Status::Untrusted
                && matches!(
                    lost.failure.as_ref().unwrap().kind,
                    FailureKind::RecordsLost { records: 8 }
                ),
            "{:?}",
            lost.failure
        );
        assert!(lost.faults.is_none() && lost.candidates.is_empty());
        let fewer = with(|cost| cost.faults.as_mut().unwrap().counted += 1);
        assert_eq!(fewer.outcome, Status::Untrusted);
        let other = with(|cost| cost.minor_faults = 30_000);
        assert!(matches!(
            other.failure.unwrap().kind,
            FailureKind::NotTheSame { .. }
        ));
    }

    #[test]
    fn totals_alone_have_no_kinds_and_no_candidates() {
        let mut all = runs(|_| 2_000);
        all.retain(|r| r.mode != LaunchMode::Followed);
        let of = judge(&plan(), &all);
        assert!(!of.by_kind && of.candidates.is_empty());
        near(of.faults.unwrap().seconds.value, 0.04);
        assert_eq!(of.counts.unwrap().events[&MemoryEvent::Unknown], 20_000.0);
    }

    #[test]
    fn few_blocks_have_no_interval() {
        let few: Vec<CommandLaunch> = runs(|_| 2_000)
            .into_iter()
            .filter(|r| r.block < 5)
            .collect();
        let of = judge(&plan(), &few);
        assert!(
            of.faults.is_none()
                && of
                    .notes
                    .iter()
                    .any(|n| matches!(n.kind, NoteKind::TooFew { .. }))
        );
    }

    #[test]
    fn a_command_that_does_not_run_as_it_must_ends_the_profile() {
        let why = |mode: LaunchMode, change: fn(&mut CommandCost)| {
            let mut all = vec![
                command(-1, LaunchMode::Plain),
                command(-1, LaunchMode::Traced),
                command(0, mode),
            ];
            change(all[2].cost.as_mut().unwrap());
            given_up(&plan(), &all, 0).map(|failure| failure.kind)
        };
        assert_eq!(why(LaunchMode::Plain, |_| {}), None);
        assert!(
            why(LaunchMode::Plain, |c| c.left = 3)
                == Some(FailureKind::LeftRunning { processes: 3 })
        );
        let signal = Some("SIGSEGV".to_owned());
        let segv = why(LaunchMode::Plain, |c| {
            (c.end, c.code) = (CommandEnd::Signal, 11)
        });
        assert_eq!(segv, Some(FailureKind::Signal { number: 11, signal }));
        let followed = why(LaunchMode::Followed, |c| c.code = 3);
        assert!(
            matches!(
                followed,
                Some(FailureKind::Exit {
                    code: 3,
                    followed: true,
                    ..
                })
            ),
            "{followed:?}"
        );
        // What ptrace is refused says nothing of the command.
        assert_eq!(why(LaunchMode::Traced, |c| c.code = 1), None);
        let mut setuid = runs(|_| 2_000);
        setuid[1].cost.as_mut().unwrap().proof = Some(ObservedEffects {
            setuid: 1,
            ..ObservedEffects::default()
        });
        assert!(
            judge(&plan(), &setuid)
                .notes
                .iter()
                .any(|n| n.kind == NoteKind::Setuid { processes: 1 })
        );
    }

    #[test]
    fn prices_are_of_the_programs_footprint() {
        assert_eq!(footprint_bytes(&plan(), &runs(|_| 1)), Some(80 << 20));
        assert_eq!(footprint_bytes(&plan(), &[]), None);
    }
}
