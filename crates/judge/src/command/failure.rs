//! Failures of an arm: the ends of its launches, their output and the processes that they left.

use super::note;
use record::command::{ArmRole, CommandCost, CommandEnd, CommandLaunch, CommandPlan, LaunchMode};
use record::{kind::Kind, launches::signal_name, summary::Note};
use std::collections::BTreeSet;

/// The reason for ending an arm's launches: a lack of the machine, or a failure. The baseline's failure ends a study.
pub fn given_up(plan: &CommandPlan, launches: &[CommandLaunch], arm: usize) -> Option<String> {
    plan.arms[arm].skipped.clone().or_else(|| failure(plan, launches, arm))
}

/// The reason why an arm has failed, by all its launches so far, warm-ups included.
pub(super) fn failure(plan: &CommandPlan, launches: &[CommandLaunch], arm: usize) -> Option<String> {
    // A traced launch of a profile may be refused what the command may do otherwise, such as another user's rights.
    let counts = |launch: &&CommandLaunch| plan.kind != Kind::Profile || launch.mode != LaunchMode::Traced;
    let ends = |arm: usize| {
        let counted = launches.iter().filter(move |launch| launch.arm == arm).filter(counts);
        counted.filter_map(|launch| Some((launch, launch.cost.as_ref()?)))
    };
    let reason = |text: String, launch: &CommandLaunch| match launch.messages.trim().lines().last() {
        Some(line) => Some(format!("{text}: {}", line.trim())),
        None => Some(text),
    };
    let program = &plan.arms[arm].command[0];
    if let Some((launch, text)) = ends(arm).find_map(|(l, cost)| Some((l, bad_end(cost, program, plan.time_limit_s)?))) {
        return reason(text, launch);
    }
    let (first, usual) = ends(0).next()?;
    // Another command may end and write as it likes.
    if plan.arms[arm].role == ArmRole::Command {
        let (launch, cost) = ends(arm).find(|(_, cost)| cost.code != 0 && !plan.ignore_failure)?;
        return reason(end_of(cost), launch);
    }
    if arm == 0 && usual.code != 0 && !plan.ignore_failure {
        return reason(format!("{}; --ignore-failure measures it all the same", end_of(usual)), first);
    }
    if let Some((launch, cost)) = ends(arm).find(|(_, cost)| cost.code != usual.code) {
        let when = if launch.mode == LaunchMode::Followed { " while its faults were followed" } else { "" };
        let before = format!("where the first launch of the baseline ended with exit code {}", usual.code);
        return reason(format!("{}{when}, {before}", end_of(cost)), launch);
    }
    changed_output(plan, launches, arm)
}

/// The end of a launch that gives no cost, in words.
fn bad_end(cost: &CommandCost, program: &str, time_limit_s: f64) -> Option<String> {
    Some(match cost.end {
        CommandEnd::NotStarted if cost.code == 2 => format!("there is no program {program:?}"),
        CommandEnd::NotStarted => {
            format!("it could not be started: {}", std::io::Error::from_raw_os_error(cost.code))
        }
        CommandEnd::Signal => end_of(cost),
        CommandEnd::TimeLimit => format!("it still ran after {time_limit_s} s and was ended (--time-limit)"),
        CommandEnd::Exit if cost.left > 0 => format!(
            "it left {} process{} running when it had ended, so its cost is not known (does it have an option to stay in the foreground?); what it left was ended",
            cost.left,
            if cost.left == 1 { "" } else { "es" }
        ),
        CommandEnd::Exit | CommandEnd::Stopped => return None,
    })
}

/// A launch's end in words, with a signal's name.
fn end_of(cost: &CommandCost) -> String {
    // A shell tells of a signal by its number above 128.
    let (ended, number) = match cost.end {
        CommandEnd::Signal => ("was ended by signal", cost.code),
        _ => ("ended with exit code", cost.code - 128),
    };
    let name = signal_name(number).map_or_else(String::new, |name| format!(" ({name})"));
    format!("it {ended} {}{name}", cost.code)
}

fn outputs(launches: &[CommandLaunch], is_wanted: impl Fn(usize) -> bool) -> BTreeSet<(u64, &str)> {
    let costs = launches.iter().filter(|launch| is_wanted(launch.arm)).filter_map(|launch| launch.cost.as_ref());
    let finished = costs.filter(|cost| cost.end == CommandEnd::Exit);
    finished.map(|cost| (cost.output_bytes, cost.output_hash.as_str())).collect()
}

/// True if the unchanged command writes the same each time.
fn writes_the_same(plan: &CommandPlan, launches: &[CommandLaunch]) -> bool {
    outputs(launches, |arm| matches!(plan.arms[arm].role, ArmRole::Baseline | ArmRole::Again)).len() == 1
}

fn changed_output(plan: &CommandPlan, launches: &[CommandLaunch], arm: usize) -> Option<String> {
    if plan.discard_output || plan.arms[arm].role != ArmRole::Setting || !writes_the_same(plan, launches) {
        return None;
    }
    let (usual, changed) = (outputs(launches, |other| other == 0), outputs(launches, |other| other == arm));
    let (bytes, _) = changed.difference(&usual).next()?;
    let before = usual.first().map_or(0, |(bytes, _)| *bytes);
    Some(if *bytes == before {
        format!("its output changed ({bytes} bytes, but others)")
    } else {
        format!("its output changed ({bytes} bytes instead of {before})")
    })
}

pub(super) fn notes(plan: &CommandPlan, launches: &[CommandLaunch]) -> Vec<Note> {
    let mut notes = Vec::new();
    if plan.discard_output {
        let text = "the output went to /dev/null and was not compared";
        notes.push(note("output-discarded", text.to_owned()));
    } else if !launches.is_empty() && !writes_the_same(plan, launches) && failure(plan, launches, 0).is_none() {
        let text = "the unchanged command does not write the same each time, so outputs were not compared";
        notes.push(note("output-varies", text.to_owned()));
    }
    let is_other = |arm: &usize| outputs(launches, |a| a == *arm) != outputs(launches, |a| a == 0);
    let commands = (1..plan.arms.len()).filter(|&arm| plan.arms[arm].role == ArmRole::Command).filter(is_other);
    let names: Vec<&str> = commands.map(|arm| plan.arms[arm].name.as_str()).collect();
    if !plan.discard_output && !names.is_empty() {
        notes.push(note("outputs-differ", format!("not the same output as the first command: {}", names.join(", "))));
    }
    let costs = launches.iter().filter_map(|launch| launch.cost.as_ref());
    if let Some(bytes) = costs.map(|cost| cost.not_evicted).max().filter(|bytes| *bytes > 0) {
        let text = format!("up to {bytes} bytes stayed in the page cache although they were to leave it");
        notes.push(note("not-evicted", text));
    }
    let rules: BTreeSet<&str> = launches.iter().map(|launch| launch.thp.as_str()).collect();
    if rules.len() > 1 {
        let rules = rules.into_iter().collect::<Vec<_>>().join(", ");
        let text = format!("the kernel's rule for transparent huge pages changed meanwhile ({rules}); try again");
        notes.push(note("thp-changed", text));
    }
    notes
}
