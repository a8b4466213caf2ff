//! Advice as text: an answer in a few lines, the saved file as a person reads it, and source for programs.

mod environment;
mod export;

use std::fmt::Write as _;

use record::advice::{Advice, Answer, Case, Question, Repeated, Segment};
use record::sizes::format_size;
use record::summary::Estimate;

pub use environment::environment;
pub use export::{c_header, rust_module};

use crate::numbers::ratio_words;
use crate::words::percent;

/// An answer: what to use, what it gains and costs, and where that changes.
pub fn render(answer: &Answer) -> String {
    let mut text = format!("To {} ({}):\n", answer.does, format_size(answer.bytes));
    let settings: Vec<String> = answer.case.settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
    if !settings.is_empty() {
        let _ = writeln!(text, "  where {}", settings.join(" "));
    }
    text += &format!("  {}\n", advised(&answer.case));
    if let Some(cpu) = answer.case.cpu.filter(|_| answer.case.gain.is_some()) {
        let _ = writeln!(text, "    processor time of all sides: {} of {}'s", ratio_words(&cpu), answer.case.obvious);
    }
    for cost in &answer.costs {
        let _ = writeln!(text, "    {cost}");
    }
    text += &around(&answer.case, answer.margin);
    text += &by_size(answer);
    for uses in &answer.uses {
        let _ = writeln!(text, "  Often: {}", repeated(uses));
    }
    for case in &answer.also {
        let differs = case.settings.iter().filter(|(k, v)| answer.case.settings.get(*k) != Some(v));
        let words: Vec<String> = differs.map(|(k, v)| format!("{k}={v}")).collect();
        let _ = writeln!(text, "  With {}: {}", words.join(" "), advised(case));
    }
    for snippet in &answer.snippets {
        let _ = writeln!(text, "\n{} ({}):", snippet.path, snippet.language);
        for line in snippet.code.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text + &rests_on(answer)
}

fn advised(case: &Case) -> String {
    match (&case.way, &case.gain) {
        (Some(way), Some(gain)) => {
            format!("Use {way}: it takes {} of the time of {}, the obvious way.", ratio_words(gain), case.obvious)
        }
        (Some(way), None) => format!("Use {way}, the obvious way: no other is shown to be faster."),
        (None, _) => match case.missing.iter().find(|(way, _)| *way == case.obvious) {
            Some((way, reason)) => format!("Nothing is advised: {way} could not be measured here: {reason}"),
            None => "Nothing is advised: it is not settled; a longer --budget may settle it.".to_owned(),
        },
    }
}

/// What is as good, not settled, or not there.
fn around(case: &Case, margin: f64) -> String {
    let mut text = String::new();
    if !case.within.is_empty() {
        let _ = writeln!(text, "    within the margin ({}): {}", percent(margin), case.within.join(", "));
    }
    for (way, more_s) in &case.unsettled {
        let settle = more_s.map_or_else(
            || "a longer --budget may settle it".to_owned(),
            |s| format!("about {:.0} s more for this pair should settle it", s.ceil()),
        );
        let _ = writeln!(text, "    not settled: {way}; {settle}");
    }
    for (way, reason) in case.missing.iter().filter(|(way, _)| *way != case.obvious) {
        let _ = writeln!(text, "    not measurable here: {way}: {reason}");
    }
    text
}

fn by_size(answer: &Answer) -> String {
    let Some((from, to)) = answer.measured else { return String::new() };
    let range = format!("measured from {} to {}", format_size(from), format_size(to));
    if answer.segments.is_empty() {
        return format!("  By size: nothing is shown to be faster at any size ({range}).\n");
    }
    if answer.flips.is_empty() {
        let all: Vec<String> = answer.segments.iter().map(segment).collect();
        return format!("  By size: {}; no change was found ({range}).\n", all.join("; "));
    }
    let mut text = format!("  By size ({range}):\n");
    for flip in &answer.flips {
        let (above, up_to) = (format_size(flip.above), format_size(flip.up_to));
        let _ = writeln!(
            text,
            "    it changes between {above} and {up_to}: below {} takes less, beyond {}",
            flip.below, flip.beyond
        );
    }
    for one in &answer.segments {
        let _ = writeln!(text, "    {}", segment(one));
    }
    text += "    at other sizes less than the margin is shown: keep what you have\n";
    text
}

/// One segment with its gain.
fn segment(one: &Segment) -> String {
    let place = match one.from == one.to {
        true => format!("at {}", format_size(one.from)),
        false => format!("{}–{}", format_size(one.from), format_size(one.to)),
    };
    let gain = format!("{:.2} ({:.2}–{:.2})", one.ratio, one.at_least, one.at_most);
    format!("{place}: {} takes {gain} of {}'s time", one.way, one.over)
}

fn repeated(uses: &Repeated) -> String {
    let Repeated { way, than, words, count: Estimate { low, high, .. } } = uses;
    let (low, high) = (low.floor().max(1.0), high.ceil());
    format!("from {low:.0}–{high:.0} {words} on, {way} takes less in all than {than}.")
}

fn rests_on(answer: &Answer) -> String {
    let mut text = String::new();
    if !answer.runs.is_empty() {
        let _ = writeln!(text, "\nMeasured for it: {}", answer.runs.join(" "));
    }
    if !answer.reused.is_empty() {
        let _ = writeln!(text, "\nAnswered in part by kept runs of this machine (--fresh measures anew):");
        let _ = writeln!(text, "  {}", answer.reused.join(" "));
    }
    text + "Times are ratios with 95 % limits; below 1 takes less. pagewise report RUN shows how they came about.\n"
}

/// The saved file. `differences` is in what this machine differs from the one it is for.
pub fn saved(advice: &Advice, path: &str, differences: &[String]) -> String {
    let mut text = format!("Advice in {path}, made {}\n", advice.created);
    if !differences.is_empty() {
        let _ = writeln!(text, "It is of another machine: {}.", differences.join(", "));
        text += "Programs keep their defaults here.\n";
    }
    for (name, question) in &advice.questions {
        text += &of_question(name, question);
    }
    text += "\nBetween two sizes, below the first and beyond the last: keep your default.\n";
    text + "Ratios are of time, over the sizes of a line, with the widest limits of any of them.\n"
}

fn of_question(name: &str, question: &Question) -> String {
    let settings: Vec<String> = question.settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let mut text = format!("\n{name}: to {} ({})\n", question.does, settings.join(" "));
    match &question.segments[..] {
        [] => text += "  keep your default: no way is shown to be faster at any size\n",
        all => {
            for one in all {
                let _ = writeln!(text, "  {}", segment(one));
            }
        }
    }
    let runs = question.runs.len();
    let _ = writeln!(text, "  {} ratios of {runs} run{}", question.points.len(), if runs == 1 { "" } else { "s" });
    text
}
