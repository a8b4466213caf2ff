//! A profile, judged: counted memory events times prices that were measured between the launches, compared with the command's
//! own time in the kernel, and what a change would save of it. `docs/validity.md` tests the rules of this module; a change to
//! them needs new measurements there.

mod candidates;
mod counts;
mod places;
mod prices;

use super::{Times, costs_in, failure};
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
use std::collections::BTreeMap;

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
    let last = launches
        .iter()
        .map(|launch| launch.block)
        .max()
        .unwrap_or(-1);
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
    (0..=last).filter_map(block).collect()
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
    let cpu_s = |launch: &CommandLaunch| launch.cost.as_ref().map(CommandCost::cpu_s);
    let plain = |block: i64| {
        in_mode(LaunchMode::Plain)
            .find(|launch| launch.block == block)
            .and_then(cpu_s)
    };
    let logs = in_mode(LaunchMode::Followed)
        .filter_map(|launch| Some((cpu_s(launch)? / plain(launch.block)?).ln()));
    let logs: Vec<f64> = logs.filter(|log| log.is_finite()).collect();
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
#[path = "../../../tests/unit/command/profile.rs"]
mod tests;
