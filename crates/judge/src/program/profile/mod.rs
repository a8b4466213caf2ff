//! A profile, judged: counted memory events times prices that were measured between the launches, compared with the command's
//! own time in the kernel, and what a change would save of it. `docs/validity.md` tests the rules of this module; a change to
//! them needs new measurements there.

mod advice;
mod blocks;
mod bound;
mod candidates;
mod consistency;
mod counts;
#[cfg(test)]
mod example;
mod following;
mod launches;
mod notes;
mod owners;
mod places;
mod price_list;
mod prices;
mod sampled;

use super::{Times, costs_in, failure};
use blocks::{ProfileBlock, amount, blocks, line};
use bound::KernelBound;
use consistency::{consistency, overhead};
use counts::{Counted, counted};
use notes::notes;
use price_list::price_list;
use record::command::{
    Agreement, Amount, COMMAND_SUMMARY_SCHEMA, CommandLaunch, CommandPlan, Consistency, CostLine,
    EventFamily, Failure, LaunchMode, MemoryEvent, ObservedEffects, ProfileSummary, SuggestionKind,
};
use record::outcome::Status;
use record::summary::{Note, NoteKind};
use sampled::{SampledKernel, bounding_factor, shown_factor};
use stats::interval::FEWEST_LAUNCHES;
use std::collections::BTreeMap;

pub use prices::{MIB, footprint_bytes};

/// Judges a profile from its plan and launches alone.
pub fn judge(plan: &CommandPlan, launches: &[CommandLaunch]) -> ProfileSummary {
    let counted = counted(plan, launches);
    let counted = counted.as_ref();
    let mut blocks = counted.map_or_else(Vec::new, |counted| blocks(plan, launches, counted));
    let (outcome, failure) = outcome(plan, launches, counted);
    let believed = counted.filter(|_| outcome == Status::Ok);
    let sampled = believed.and_then(|_| SampledKernel::new(launches, &blocks));
    let sampled = sampled.as_ref();
    // The kernel's clock counts a process that no tick meets as user time: where nothing is without samples, they know better.
    if let Some(kernel) = sampled.filter(|sampled| sampled.is_whole) {
        let share = kernel.cost(|_, _| true).share.value;
        blocks
            .iter_mut()
            .for_each(|block| block.kernel_s = share * block.plain.cpu_s());
    }
    let consistency = believed.and_then(|counted| scaled_consistency(sampled, &blocks, counted));
    let factors = believed.map(|counted| factors(sampled, consistency, &blocks, counted));
    for block in &mut blocks {
        block.factors = factors.clone().unwrap_or_default();
    }
    let proof = traced_proof(launches);
    let modules = proof.map_or_else(Vec::new, |proof| proof.modules.clone());
    let bound = believed.and_then(|c| KernelBound::new(plan, launches, c, &blocks, proof));
    let bound = bound.as_ref();
    let faults = family_cost(EventFamily::Faults, sampled, believed, &blocks)
        .or_else(|| bound.map(|bound| bound.faults));
    let stacks = faults.zip(believed).and_then(|(faults, counted)| {
        places::stacks(launches, &blocks, counted, faults.seconds.value)
    });
    let prices = counted.map_or_else(Vec::new, |counted| price_list(&blocks, counted));
    let cpu_s = amount(blocks.iter().map(|block| block.plain.cpu_s()))
        .or_else(|| bound.map(|bound| bound.cpu_s));
    let kernel_stacks = sampled.and_then(|sampled| places::kernel_stacks(launches, sampled));
    let advice = believed.map(|counted| {
        advice::advice(&advice::KernelCosts {
            sampled,
            prices: &prices,
            counted,
            cpu_s: cpu_s.map_or(0.0, |cpu_s| cpu_s.value),
            modules: &modules,
            stacks: stacks.as_ref().or(kernel_stacks.as_ref()),
        })
    });
    let candidates = match bound {
        Some(bound) => Some(bound.candidates.clone()),
        None => believed
            .filter(|_| blocks.len() >= FEWEST_LAUNCHES)
            .map(|counted| candidates::candidates(plan, counted, &blocks, proof)),
    };
    let measured = believed.map(|_| blocks.len());
    let is_command = plan.attached.is_none();
    let mut summary = ProfileSummary {
        schema: COMMAND_SUMMARY_SCHEMA,
        plan: plan.clone(),
        outcome,
        failure,
        blocks: blocks.len(),
        by_kind: counted.is_some_and(|c| !c.followed.is_empty()),
        cpu_s,
        kernel_s: amount(blocks.iter().map(|block| block.kernel_s))
            .or_else(|| bound.map(|bound| bound.kernel_s)),
        overhead: is_command.then(|| overhead(launches)).flatten(),
        following: following::following(plan, launches),
        mappings: counted
            .and_then(|c| c.traced)
            .map(|faults| faults.calls.clone())
            .unwrap_or_default(),
        allocator: proof.map_or_else(String::new, |proof| proof.allocator.clone()),
        modules,
        prices,
        faults,
        stacks,
        kernel: sampled.map(SampledKernel::parts).unwrap_or_default(),
        kernel_samples: sampled.map_or(0, SampledKernel::all),
        kernel_whole: sampled.is_some_and(|sampled| sampled.is_whole),
        kernel_stacks,
        advice: advice.unwrap_or_default(),
        freeing: family_cost(EventFamily::Freeing, sampled, believed, &blocks),
        calls: family_cost(EventFamily::Calls, sampled, believed, &blocks),
        consistency,
        candidates: candidates.unwrap_or_default(),
        counts: counted.map(|c| c.shown.clone()),
        notes: all_notes(plan, launches, counted, measured, bound),
    };
    // Where memory is short, what keeps more of it is no remedy.
    let mut advice = summary.advice.iter();
    if advice.any(|advice| advice.kind == SuggestionKind::MoreMemory) {
        summary.candidates.retain(|c| c.huge_pages < 0.0);
    }
    // Huge pages are not advised against where more of them are worth a try.
    if summary.worth_a_try().any(|c| c.huge_pages > 0.0) {
        summary
            .advice
            .retain(|advice| advice.kind != SuggestionKind::SmallPages);
    }
    summary
}

/// The agreement of counted costs with the kernel's own time, with the factor by which events cost more here than in a fresh
/// process.
fn scaled_consistency(
    sampled: Option<&SampledKernel>,
    blocks: &[ProfileBlock],
    counted: &Counted,
) -> Option<Consistency> {
    let law = consistency(blocks, counted)?;
    let factor = match sampled {
        Some(sampled) => shown_factor(sampled, blocks, counted),
        None => (law.agreement == Agreement::Exceeds).then(|| bounding_factor(&law)),
    };
    Some(Consistency { factor, ..law })
}

/// The cost of all events of a family: by samples where there are any, else by counts and prices.
fn family_cost(
    family: EventFamily,
    sampled: Option<&SampledKernel>,
    believed: Option<&Counted>,
    blocks: &[ProfileBlock],
) -> Option<CostLine> {
    match sampled {
        Some(sampled) => Some(sampled.cost(|event, _| event.family() == family)),
        None => line(blocks, believed?, family),
    }
}

/// Effects that a launch under observation showed.
fn traced_proof(launches: &[CommandLaunch]) -> Option<&ObservedEffects> {
    [LaunchMode::Traced, LaunchMode::Followed]
        .into_iter()
        .find_map(|mode| costs_in(launches, mode).find_map(|cost| cost.proof.as_ref()))
}

/// Notes of a profile, and those of every study.
fn all_notes(
    plan: &CommandPlan,
    launches: &[CommandLaunch],
    counted: Option<&Counted>,
    blocks: Option<usize>,
    bound: Option<&KernelBound>,
) -> Vec<Note> {
    let mut notes = notes(plan, launches, counted);
    let blocks = blocks.filter(|_| bound.is_none());
    notes.extend(super::notes(launches, blocks, FEWEST_LAUNCHES));
    notes.extend(bound.map(|bound| NoteKind::LittleKernel {
        share: bound.most_share(),
    }));
    notes.into_iter().map(Note::from).collect()
}

/// The cost of each event in this program relative to its price in a fresh process.
fn factors(
    sampled: Option<&SampledKernel>,
    consistency: Option<Consistency>,
    blocks: &[ProfileBlock],
    counted: &Counted,
) -> BTreeMap<MemoryEvent, f64> {
    let bound = consistency.and_then(|law| law.factor);
    match (sampled, bound) {
        (Some(sampled), _) => sampled.factors(blocks, counted),
        (None, Some(bound)) => {
            let events = counted.shown.events.keys();
            events.map(|&event| (event, bound.value)).collect()
        }
        (None, None) => BTreeMap::new(),
    }
}

/// The outcome of the command, and the reason why it is not ok.
fn outcome(
    plan: &CommandPlan,
    launches: &[CommandLaunch],
    counted: Option<&Counted>,
) -> (Status, Option<Failure>) {
    if let Some(failure) = failure::given_up(plan, launches, 0) {
        return (Status::Failed, Some(failure));
    }
    match counted.and_then(|counted| counted.doubt.clone()) {
        Some(kind) => {
            let message = None;
            (Status::Untrusted, Some(Failure { kind, message }))
        }
        None => (Status::Ok, None),
    }
}

/// Share of CPU time below which a cost need not be known better than by its hundredths.
const LEAST_SHARE: f64 = 0.04;

/// The half-width of the cost of faults so far, as it is shown, relative to that cost, or to a cost that is worth a word. The
/// error of a prediction is many times as large (docs/validity.md).
pub(super) fn half_width(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<f64> {
    let counted = counted(plan, launches)?;
    let blocks = blocks(plan, launches, &counted);
    let sampled = SampledKernel::new(launches, &blocks);
    let faults = family_cost(
        EventFamily::Faults,
        sampled.as_ref(),
        Some(&counted),
        &blocks,
    );
    let share = faults?.share;
    Some((share.high - share.low) / 2.0 / share.value.max(LEAST_SHARE))
}

/// True if the answer is known before there are three blocks.
pub(super) fn is_settled(plan: &CommandPlan, launches: &[CommandLaunch]) -> bool {
    let Some(counted) = counted(plan, launches).filter(|counted| counted.doubt.is_none()) else {
        return false;
    };
    let blocks = blocks(plan, launches, &counted);
    KernelBound::new(plan, launches, &counted, &blocks, traced_proof(launches)).is_some()
}

/// Cost of the command in each block; nothing if it is not to be believed.
pub(super) fn costs(plan: &CommandPlan, launches: &[CommandLaunch]) -> Vec<Times> {
    let counted = counted(plan, launches).filter(|c| c.doubt.is_none());
    let Some(counted) = counted.filter(|_| failure::given_up(plan, launches, 0).is_none()) else {
        return Vec::new();
    };
    let (mut cpu_s, mut kernel_s, mut faults_s) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks(plan, launches, &counted) {
        cpu_s.push(block.plain.cpu_s());
        kernel_s.push(block.plain.kernel_s());
        faults_s.push(block.cost_s(&counted, |event| event.family() == EventFamily::Faults));
    }
    [
        ("cpu", cpu_s),
        ("kernel", kernel_s),
        ("page-faults", faults_s),
    ]
    .map(|(time, seconds)| Times {
        command: plan.arms[0].shown.clone(),
        arm: "command".to_owned(),
        time,
        seconds,
        is_disturbed: false,
    })
    .into()
}

/// Predicted kernel time of each setting: the change in seconds, negative where it saves.
pub fn predictions(summary: &ProfileSummary) -> BTreeMap<String, Amount> {
    let mut predictions = BTreeMap::new();
    for candidate in summary.candidates.iter().filter(|c| c.is_settled()) {
        let saving = candidate.kernel_s;
        let change = Amount {
            value: -saving.value,
            low: -saving.high,
            high: -saving.low,
        };
        predictions.insert(candidate.setting.clone(), change);
    }
    predictions
}

#[cfg(test)]
mod tests {
    use super::example::{command, near, plan, runs, sampled_runs, usual};
    use super::judge;
    use crate::program::given_up;
    use record::command::{
        Agreement, CommandCost, CommandEnd, CommandLaunch, FailureKind, LaunchMode, MemoryEvent,
        ObservedEffects, ProfileSummary, SuggestionKind,
    };
    use record::outcome::Status;
    use record::summary::NoteKind;

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
    fn prices_that_explain_more_than_there_is_are_scaled_to_what_there_is() {
        let of = judge(&plan(), &runs(|_| 10_000));
        let law = of.consistency.unwrap();
        assert_eq!(law.agreement, Agreement::Exceeds);
        let factor = law.factor.unwrap();
        near(factor.value, 1.0 / law.explained.value);
        let [faults, freeing] = [of.faults, of.freeing].map(|line| line.unwrap().seconds.value);
        let calls_s = of.calls.map_or(0.0, |line| line.seconds.value);
        assert!(
            (faults + freeing + calls_s - 0.1).abs() < 1e-6,
            "{faults} {freeing}"
        );
        assert!(!of.candidates.is_empty());
    }

    /// A profile in which so many samples of 250 µs met each work.
    fn sampled(parts: &[(MemoryEvent, &str, u64)]) -> ProfileSummary {
        judge(&plan(), &sampled_runs(parts))
    }

    #[test]
    fn samples_scale_prices_and_show_what_has_none() {
        use MemoryEvent::{Fork, FreeBase, Unknown};
        let of = sampled(&[
            (Unknown, "", 80),
            (FreeBase, "munmap", 40),
            (Fork, "clone", 280),
        ]);
        // Faults take 20 ms of the kernel's 100, half of their price; fork, which has none, takes 70.
        near(of.faults.unwrap().seconds.value, 0.02);
        near(of.consistency.unwrap().factor.unwrap().value, 0.5);
        let heap = of.prices.iter().find(|p| p.kind == MemoryEvent::Heap);
        let each_s = heap.unwrap().each_s.value;
        assert!((each_s / 1e-6 - 1.0).abs() < 0.01, "{each_s}");
        let first = &of.kernel[0];
        assert_eq!((first.event, first.call.as_str()), (Fork, "clone"));
        near(first.cost.seconds.value, 0.07);
        near(first.cost.share.value, 0.07);
        assert_eq!(of.advice[0].kind, SuggestionKind::Spawn);
    }

    #[test]
    fn where_memory_is_short_nothing_that_keeps_more_is_proposed() {
        let with = |reclaim: u64| {
            let parts = [
                (MemoryEvent::Unknown, "", 300),
                (MemoryEvent::Reclaim, "", reclaim),
            ];
            let of = sampled(&parts);
            (
                of.candidates.len(),
                of.advice
                    .iter()
                    .any(|a| a.kind == SuggestionKind::MoreMemory),
            )
        };
        assert_eq!(with(300), (0, true));
        assert!(with(30).0 > 0 && !with(30).1);
    }

    #[test]
    fn few_samples_divide_nothing() {
        let of = sampled(&[(MemoryEvent::Fork, "clone", 19)]);
        assert!(of.kernel.is_empty() && of.advice.is_empty());
        near(of.faults.unwrap().seconds.value, 0.04);
    }

    /// A profile whose followed launches differ from the usual ones.
    fn with_followed(change: fn(&mut CommandCost)) -> ProfileSummary {
        let mut launches = runs(|_| 2_000);
        for launch in &mut launches {
            if launch.mode == LaunchMode::Followed {
                change(launch.cost.as_mut().unwrap());
            }
        }
        judge(&plan(), &launches)
    }

    #[test]
    fn lost_records_leave_the_number_and_another_count_the_proportions() {
        let has_note =
            |of: &ProfileSummary, kind: &NoteKind| of.notes.iter().any(|n| n.kind == *kind);
        let lost = with_followed(|cost| cost.faults.as_mut().unwrap().lost = 1);
        assert!(has_note(&lost, &NoteKind::KindsLost { records: 8 }));
        assert!(lost.outcome == Status::Ok && !lost.by_kind && lost.candidates.is_empty());
        near(lost.faults.unwrap().seconds.value, 0.04);
        let fewer = with_followed(|cost| cost.faults.as_mut().unwrap().counted += 1);
        assert!(has_note(&fewer, &NoteKind::KindsLost { records: 8 }));
        let other = with_followed(|cost| cost.minor_faults = 30_000);
        let (followed, plain) = (30_000.0, 20_000.0);
        assert!(has_note(
            &other,
            &NoteKind::UnlikeFollowed { followed, plain }
        ));
        // 30,000 faults in the proportions of the followed launch are as many as 20,000 cost.
        near(other.faults.unwrap().seconds.value, 0.04);
    }

    #[test]
    fn totals_alone_have_no_kinds_and_no_candidates() {
        let mut launches = runs(|_| 2_000);
        launches.retain(|r| r.mode != LaunchMode::Followed);
        let of = judge(&plan(), &launches);
        assert!(!of.by_kind && of.candidates.is_empty());
        near(of.faults.unwrap().seconds.value, 0.04);
        assert_eq!(of.counts.unwrap().events[&MemoryEvent::Unknown], 20_000.0);
    }

    #[test]
    fn the_width_that_ends_a_profile_is_relative_to_the_cost() {
        let with = |fault_ns: u64, spread_ns: u64| {
            let launches = runs(|block| fault_ns + spread_ns * (block as u64 % 2));
            super::half_width(&plan(), &launches).unwrap()
        };
        // Shares of 20 and of 40 %, and prices that differ by a tenth.
        let (small, large) = (with(10_000, 1_000), with(20_000, 2_000));
        assert!(
            (small / large - 1.0).abs() < 1e-6 && small < 0.06,
            "{small} {large}"
        );
        // Of 0.2 % of CPU time a half is nothing.
        assert!(with(100, 100) < 0.04);
    }

    #[test]
    fn two_blocks_have_no_interval_and_three_a_wide_one() {
        let by = |blocks: i64| {
            let mut launches = runs(|block| 2_000 + 100 * block as u64);
            launches.retain(|launch| launch.block < blocks);
            judge(&plan(), &launches)
        };
        let has_few = |of: &ProfileSummary| {
            let mut notes = of.notes.iter();
            notes.any(|n| matches!(n.kind, NoteKind::TooFew { least: 3 }))
        };
        let none = by(2);
        assert!(none.faults.is_none() && has_few(&none));
        let wide = by(3);
        let seconds = wide.faults.unwrap().seconds;
        near(seconds.value, 0.042);
        // Student's quantile of two degrees of freedom, and a standard deviation of 2 ms over three blocks.
        let half = 4.302653 * 0.002 / 3_f64.sqrt();
        assert!((seconds.high - seconds.value - half).abs() < 1e-9);
        assert!(!has_few(&wide));
    }

    #[test]
    fn a_launch_before_the_first_block_stands_for_one_that_is_not_there() {
        let blocks = |change: fn(&mut CommandCost)| {
            let mut launches = runs(|_| 2_000);
            let is_first = |l: &CommandLaunch| l.block == 0 && l.mode == LaunchMode::Plain;
            launches.retain(|launch| launch.block < 3 && !is_first(launch));
            change(launches[0].cost.as_mut().unwrap());
            judge(&plan(), &launches).blocks
        };
        assert_eq!(blocks(|_| {}), 3);
        assert_eq!(blocks(|cost| cost.fetched_bytes = 4096), 2);
    }

    /// The failure of a profile whose last launch is of this mode and ended otherwise.
    fn failure_of(mode: LaunchMode, change: fn(&mut CommandCost)) -> Option<FailureKind> {
        let mut launches = vec![
            command(-1, LaunchMode::Plain),
            command(-1, LaunchMode::Traced),
            command(0, mode),
        ];
        change(launches[2].cost.as_mut().unwrap());
        given_up(&plan(), &launches, 0).map(|failure| failure.kind)
    }

    #[test]
    fn a_command_that_does_not_run_as_it_must_ends_the_profile() {
        assert_eq!(failure_of(LaunchMode::Plain, |_| {}), None);
        assert!(
            failure_of(LaunchMode::Plain, |c| c.left = 3)
                == Some(FailureKind::LeftRunning { processes: 3 })
        );
        let signal = Some("SIGSEGV".to_owned());
        let segv = failure_of(LaunchMode::Plain, |c| {
            (c.end, c.code) = (CommandEnd::Signal, 11)
        });
        assert_eq!(segv, Some(FailureKind::Signal { number: 11, signal }));
        let followed = failure_of(LaunchMode::Followed, |c| c.code = 3);
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
        assert_eq!(failure_of(LaunchMode::Traced, |c| c.code = 1), None);
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
}
