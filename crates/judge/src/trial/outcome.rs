//! True if an arm did what the baseline does: how its runs ended, what they wrote and what they left.

use std::collections::BTreeSet;

use record::trial::{Cost, Ending, Role, TrialNote, TrialPlan, TriedRun};

/// Processes of a command from which on their start is worth a remark.
const MANY: u64 = 10;

/// Why an arm has failed, by all its runs so far, warm-ups included.
pub(super) fn failure(plan: &TrialPlan, runs: &[TriedRun], arm: usize) -> Option<String> {
    let own = || runs.iter().filter(|r| r.arm == arm);
    if let Some(why) = own().find_map(|run| broken(plan, run)) {
        return Some(why);
    }
    let baseline = runs.iter().find(|r| r.arm == 0)?;
    // Another command may end and write as it likes.
    if matches!(plan.arms[arm].role, Role::Command) {
        return own().find(|r| r.cost.code != 0 && !plan.ignore_failure).map(|r| with_messages(ended(r), r));
    }
    if arm == 0 && baseline.cost.code != 0 && !plan.ignore_failure {
        let words = format!("{}; --ignore-failure measures it all the same", ended(baseline));
        return Some(with_messages(words, baseline));
    }
    if let Some(other) = own().find(|r| r.cost.code != baseline.cost.code) {
        let words = format!(
            "{}, where the first run of the command as it is ended with exit code {}",
            ended(other),
            baseline.cost.code
        );
        return Some(with_messages(words, other));
    }
    changed_output(plan, runs, arm)
}

/// Failure that no run may have.
fn broken(plan: &TrialPlan, run: &TriedRun) -> Option<String> {
    bad_end(&run.cost, &plan.arms[run.arm].command[0], plan.time_limit_s).map(|words| with_messages(words, run))
}

/// End of a command's run that gives no cost.
pub(crate) fn bad_end(cost: &Cost, program: &str, time_limit_s: f64) -> Option<String> {
    Some(match cost.end {
        Ending::NotStarted if cost.code == 2 => format!("there is no program {program:?}"),
        Ending::NotStarted => {
            format!("it could not be started: {}", std::io::Error::from_raw_os_error(cost.code))
        }
        Ending::Signal => end_of(cost),
        Ending::TimeLimit => format!("it still ran after {time_limit_s} s and was ended (--time-limit)"),
        Ending::Exit if cost.left > 0 => format!(
            "it left {} process{} running when it had ended, so its cost is not known (does it have an option to stay in the foreground?); what it left was ended",
            cost.left,
            if cost.left == 1 { "" } else { "es" }
        ),
        Ending::Exit | Ending::Stopped => return None,
    })
}

fn ended(run: &TriedRun) -> String {
    end_of(&run.cost)
}

/// A run's end in words, with a signal's name.
pub(crate) fn end_of(cost: &Cost) -> String {
    match cost.end {
        Ending::Signal => format!("it was ended by signal {}{}", cost.code, signal_name(cost.code)),
        // A shell tells of a signal by its number above 128.
        _ => format!("it ended with exit code {}{}", cost.code, signal_name(cost.code - 128)),
    }
}

fn signal_name(number: i32) -> &'static str {
    match number {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

fn with_messages(words: String, run: &TriedRun) -> String {
    with_last_line(words, &run.messages)
}

/// The words and the last line of what was said besides.
pub(crate) fn with_last_line(words: String, messages: &str) -> String {
    match messages.trim().lines().last() {
        Some(line) => format!("{words}: {}", line.trim()),
        None => words,
    }
}

/// Digest of the output of each run.
fn outputs(runs: &[TriedRun], of: impl Fn(&TriedRun) -> bool) -> BTreeSet<(u64, &str)> {
    let finished = runs.iter().filter(|r| r.cost.end == Ending::Exit && of(r));
    finished.map(|r| (r.cost.output_bytes, r.cost.output_hash.as_str())).collect()
}

/// Tells whether the unchanged command writes the same each time.
fn writes_the_same(plan: &TrialPlan, runs: &[TriedRun]) -> bool {
    outputs(runs, |r| matches!(plan.arms[r.arm].role, Role::Baseline | Role::Again)).len() == 1
}

fn changed_output(plan: &TrialPlan, runs: &[TriedRun], arm: usize) -> Option<String> {
    if plan.discard_output || plan.arms[arm].role != Role::Setting || !writes_the_same(plan, runs) {
        return None;
    }
    let usual = outputs(runs, |r| r.arm == 0);
    let own = outputs(runs, |r| r.arm == arm);
    let (bytes, _) = own.difference(&usual).next()?;
    let before = usual.first().map_or(0, |(bytes, _)| *bytes);
    Some(if *bytes == before {
        format!("its output changed ({bytes} bytes, but others)")
    } else {
        format!("its output changed ({bytes} bytes instead of {before})")
    })
}

/// Remarks on what the runs did.
pub(super) fn notes(plan: &TrialPlan, runs: &[TriedRun]) -> Vec<TrialNote> {
    let mut notes = Vec::new();
    let mut note = |code: &str, text: String| notes.push(TrialNote { code: code.to_owned(), text });
    if plan.discard_output {
        note("output-discarded", "the output went to /dev/null and was not compared".to_owned());
    } else if !runs.is_empty() && !writes_the_same(plan, runs) && failure(plan, runs, 0).is_none() {
        note(
            "output-varies",
            "the unchanged command does not write the same each time, so outputs were not compared".to_owned(),
        );
    }
    let commands = (1..plan.arms.len()).filter(|&arm| plan.arms[arm].role == Role::Command);
    let other: Vec<&str> = commands
        .filter(|&arm| outputs(runs, |r| r.arm == arm) != outputs(runs, |r| r.arm == 0))
        .map(|arm| plan.arms[arm].name.as_str())
        .collect();
    if !plan.discard_output && !other.is_empty() {
        note("outputs-differ", format!("not the same output as the first command: {}", other.join(", ")));
    }
    let stayed = runs.iter().map(|r| r.cost.not_evicted).max().unwrap_or(0);
    if stayed > 0 {
        note("not-evicted", format!("up to {stayed} bytes stayed in the page cache although they were to leave it"));
    }
    let rules: BTreeSet<&str> = runs.iter().map(|r| r.thp.as_str()).collect();
    if rules.len() > 1 {
        let rules = rules.into_iter().collect::<Vec<_>>().join(", ");
        note(
            "thp-changed",
            format!("somebody changed the kernel's rule for transparent huge pages meanwhile ({rules}); try again"),
        );
    }
    let first = runs.iter().filter(|r| r.arm == 0).find_map(|r| r.cost.proof.as_ref());
    if let Some(count) = first.map(|s| s.processes).filter(|n| *n > MANY) {
        note(
            "many-processes",
            format!("the command starts {count} processes; what they cost to start is part of every figure"),
        );
    }
    notes
}
