//! A profile, judged: counted memory events times prices that were measured between the launches, compared with the command's
//! own time in the kernel, and what a change would save of it. `docs/validity.md` tests the rules of this module; a change to
//! them needs new measurements there.

mod blocks;
mod candidates;
mod consistency;
mod counts;
#[cfg(test)]
mod example;
mod launches;
mod notes;
mod places;
mod price_list;
mod prices;

use super::{Times, costs_in, failure};
use blocks::{amount, blocks, line};
use consistency::{consistency, overhead};
use counts::{Counted, counted};
use notes::notes;
use price_list::price_list;
use record::command::{
    Agreement, Amount, COMMAND_SUMMARY_SCHEMA, CommandLaunch, CommandPlan, EventFamily, Failure,
    LaunchMode, ProfileSummary,
};
use record::outcome::Status;
use record::summary::Note;
use std::collections::BTreeMap;

pub use prices::{MIB, footprint_bytes};

/// Judges a profile from its plan and launches alone.
pub fn judge(plan: &CommandPlan, launches: &[CommandLaunch]) -> ProfileSummary {
    let counted = counted(plan, launches);
    let blocks = counted
        .as_ref()
        .map(|counted| blocks(plan, launches, counted))
        .unwrap_or_default();
    let (outcome, failure) = outcome(plan, launches, counted.as_ref());
    let believed = counted.as_ref().filter(|_| outcome == Status::Ok);
    let [faults, freeing, calls] = [
        EventFamily::Faults,
        EventFamily::Freeing,
        EventFamily::Calls,
    ]
    .map(|family| believed.and_then(|counted| line(&blocks, counted, family)));
    let stacks = faults.zip(believed).and_then(|(faults, counted)| {
        places::stacks(launches, &blocks, counted, faults.seconds.value)
    });
    let consistency = believed.and_then(|counted| consistency(&blocks, counted));
    let holds = consistency.is_none_or(|c| c.agreement != Agreement::Exceeds);
    let candidates = believed
        .filter(|_| holds)
        .map(|counted| candidates::candidates(plan, counted, &blocks));
    let traced = costs_in(launches, LaunchMode::Traced).find_map(|cost| cost.proof.as_ref());
    let mut notes = notes(plan, launches, counted.as_ref());
    notes.extend(super::notes(launches, believed.map(|_| blocks.len())));
    ProfileSummary {
        schema: COMMAND_SUMMARY_SCHEMA,
        plan: plan.clone(),
        outcome,
        failure,
        blocks: blocks.len(),
        by_kind: counted.as_ref().is_some_and(|c| !c.followed.is_empty()),
        cpu_s: amount(blocks.iter().map(|block| block.plain.cpu_s())),
        kernel_s: amount(blocks.iter().map(|block| block.plain.kernel_s())),
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
        prices: counted
            .as_ref()
            .map(|counted| price_list(&blocks, counted))
            .unwrap_or_default(),
        faults,
        stacks,
        freeing,
        calls,
        consistency,
        candidates: candidates.unwrap_or_default(),
        counts: counted.map(|c| c.shown),
        notes: notes.into_iter().map(Note::from).collect(),
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

/// The half-width of the cost of faults relative to the launch's CPU time, by the blocks so far.
pub(super) fn half_width(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<f64> {
    let counted = counted(plan, launches)?;
    let blocks = blocks(plan, launches, &counted);
    let faults = line(&blocks, &counted, EventFamily::Faults)?;
    Some((faults.share.high - faults.share.low) / 2.0)
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
    use super::example::{command, near, plan, runs, usual};
    use super::judge;
    use crate::program::given_up;
    use record::command::{
        Agreement, CommandCost, CommandEnd, CommandLaunch, FailureKind, LaunchMode, MemoryEvent,
        ObservedEffects, ProfileSummary,
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
    fn prices_that_explain_more_than_there_is_predict_nothing() {
        let of = judge(&plan(), &runs(|_| 10_000));
        assert!(
            of.consistency.unwrap().agreement == Agreement::Exceeds && of.candidates.is_empty()
        );
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
    fn lost_records_and_another_program_are_not_trusted() {
        let lost = with_followed(|cost| cost.faults.as_mut().unwrap().lost = 1);
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
        let fewer = with_followed(|cost| cost.faults.as_mut().unwrap().counted += 1);
        assert_eq!(fewer.outcome, Status::Untrusted);
        let other = with_followed(|cost| cost.minor_faults = 30_000);
        assert!(matches!(
            other.failure.unwrap().kind,
            FailureKind::NotTheSame { .. }
        ));
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
