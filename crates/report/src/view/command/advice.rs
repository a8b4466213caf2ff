//! What to do after a profile: settings worth a try and changes of the program's own calls, the dearest first.

use super::{count, kernel, places, seconds};
use crate::sentences::phrases;
use minijinja::context;
use record::command::{Candidate, ProfileSummary, Suggestion};

/// Lines of advice, the one that concerns most CPU time first.
pub(super) fn lines(summary: &ProfileSummary) -> Vec<String> {
    let cpu_s = summary.cpu_s.map_or(1.0, |cpu_s| cpu_s.value.max(1e-9));
    let mut lines: Vec<(f64, String)> = Vec::new();
    for candidate in summary.worth_a_try().filter(|c| c.huge_pages >= 0.0) {
        lines.push((candidate.kernel_s.value / cpu_s, setting(candidate)));
    }
    for advice in &summary.advice {
        lines.push((advice.cost.share.value, change(summary, advice)));
    }
    lines.sort_by(|a, b| b.0.total_cmp(&a.0));
    lines.into_iter().map(|(_, line)| line).collect()
}

/// The reason why nothing is proposed, where the costs are worth acting on.
pub(super) fn nothing(summary: &ProfileSummary) -> Option<String> {
    let largest = kernel::largest(summary)?;
    if largest.share.high < kernel::WORTH {
        return None;
    }
    let are_dear = summary.candidates.iter().any(|c| c.kernel_s.value < 0.0);
    let reason = if !largest.is_memory {
        "no setting of memory changes this work"
    } else if !summary.by_kind {
        "it is not known which page faults these are"
    } else if are_dear {
        "huge pages are foretold to cost more than these page faults"
    } else {
        "no setting or call that is known here saves it; use less memory, or the same again"
    };
    Some(format!("Nothing is proposed: {reason}."))
}

/// A setting with the least saving, where the interval (docs/validity.md) excludes none.
fn setting(candidate: &Candidate) -> String {
    let (setting, faults) = (&candidate.setting, count(candidate.faults_saved));
    let pages = (candidate.huge_pages >= 1.0)
        .then(|| format!(", {} huge pages instead", count(candidate.huge_pages)));
    let least = candidate.is_settled().then(|| {
        format!(
            ", at least {} of CPU saved",
            seconds(candidate.kernel_s.low)
        )
    });
    let [pages, least] = [pages, least].map(Option::unwrap_or_default);
    format!("{setting} is worth a try: {faults} page faults fewer{pages}{least}.")
}

/// A change of the program's calls, with the line of its source.
fn change(summary: &ProfileSummary, advice: &Suggestion) -> String {
    let place = places::place_of_call(summary, &advice.events, &advice.call);
    let values = context! {
        call => advice.call.as_str(),
        cost => seconds(advice.cost.seconds.value),
    };
    let sentence = phrases::phrase("advice", &advice.kind, values);
    match place {
        Some(place) => format!("{}: {sentence}", place.text()),
        None => sentence,
    }
}
