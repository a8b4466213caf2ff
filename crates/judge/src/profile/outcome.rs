//! True if the command ran as it must, and remarks on what it did.

use record::profile::{ProfileNote, ProfilePlan, ProfileRun, What};
use record::trial::Cost;

use super::counts::Counted;
use crate::trial::outcome::{bad_end, end_of, with_last_line};

/// Processes from which on their start is worth a remark.
const MANY: f64 = 10.0;
/// Bytes written from which on the output is worth a remark.
const MUCH_BYTES: u64 = 1 << 30;

/// Why the profile cannot go on, by its runs so far.
pub fn given_up(plan: &ProfilePlan, runs: &[ProfileRun]) -> Option<String> {
    let commands = || runs.iter().filter_map(|r| Some((r, r.cost.as_ref()?)));
    for (run, cost) in commands() {
        // A run that is looked at may be refused what the command may do otherwise, such as another user's rights.
        if run.what == What::Looked {
            continue;
        }
        if let Some(words) = bad_end(cost, &plan.command[0], plan.time_limit_s) {
            return Some(with_last_line(words, &run.messages));
        }
    }
    let (first, usual) = commands().find(|(run, _)| run.what == What::Clean)?;
    if usual.code != 0 && !plan.ignore_failure {
        let words = format!("{}; --ignore-failure measures it all the same", end_of(usual));
        return Some(with_last_line(words, &first.messages));
    }
    let (other, cost) = commands().find(|(run, cost)| run.what != What::Looked && cost.code != usual.code)?;
    let when = if other.what == What::Followed { " while its faults were followed" } else { "" };
    Some(format!("{}{when}, where its first run ended with exit code {}", end_of(cost), usual.code))
}

/// Remarks.
pub(super) fn notes(plan: &ProfilePlan, runs: &[ProfileRun], counted: Option<&Counted>) -> Vec<ProfileNote> {
    let mut notes = Vec::new();
    let mut note = |code: &str, text: String| notes.push(ProfileNote { code: code.to_owned(), text });
    let costs = |what: What| runs.iter().filter(move |r| r.what == what).filter_map(|r| r.cost.as_ref());
    if let Some(why) = costs(What::Followed).find_map(|c| c.faults_unseen.clone()) {
        note("totals-only", format!("single page faults could not be followed ({why}), so kinds are not known"));
    } else if plan.totals_only {
        note("totals-only", "kinds of page faults were not asked for (--totals)".to_owned());
    }
    if let Some(looked) = costs(What::Looked).next() {
        looked_notes(looked, costs(What::Clean).next(), &mut note);
    }
    let Some(counted) = counted else { return notes };
    let processes = counted.shown.processes;
    if processes >= MANY {
        note("many-processes", format!("it starts {processes:.0} processes; their starts are among what is counted"));
    }
    if counted.shown.major_faults >= 1.0 {
        let text = format!(
            "{:.0} major page faults a run waited for a device; they are not priced",
            counted.shown.major_faults
        );
        note("major-faults", text);
    }
    if let Some(clean) = costs(What::Clean).next().filter(|c| c.output_bytes >= MUCH_BYTES) {
        let gib = clean.output_bytes as f64 / (1u64 << 30) as f64;
        note(
            "much-output",
            format!("it wrote {gib:.1} GiB, which Pagewise read; --discard-output sends it to /dev/null"),
        );
    }
    if let Some(failed) = runs.iter().find(|r| !r.failed.is_empty()) {
        note("no-price", format!("a price could not be had: {}", failed.failed));
    }
    notes
}

fn looked_notes(looked: &Cost, clean: Option<&Cost>, note: &mut impl FnMut(&str, String)) {
    let seen = looked.proof.clone().unwrap_or_default();
    if seen.setuid > 0 {
        let text = format!(
            "{} of its processes run with another user's rights (setuid); unless Pagewise runs as root their page faults cannot be followed",
            seen.setuid
        );
        note("setuid", text);
    }
    if clean.is_some_and(|c| c.code != looked.code) {
        let text =
            "it ended in another way while it was watched by ptrace, so memory at its end is not known".to_owned();
        note("not-watched", text);
    }
}
