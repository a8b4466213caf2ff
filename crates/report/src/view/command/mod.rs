//! Studies of a user's program as documents.

mod advice;
mod kernel;
mod places;
mod policy;
mod printed;
mod profile;
mod stack_formats;
mod trial;
mod watch;

use crate::render::document::{Block, Document, Place};
use crate::sentences::phrases;
use record::command::{Amount, CommandPlan, CommandSummary, Failure};
use record::{sizes::format_ns, summary::Note};

pub use policy::{Deployment, policy};
pub use printed::printed;
pub use stack_formats::STACK_FORMATS;

/// The document of a study.
pub fn document(summary: &CommandSummary) -> Document {
    match summary {
        CommandSummary::Try(summary) => trial::document(summary),
        CommandSummary::Profile(summary) => profile::document(summary),
    }
}

/// Results so far of a study under way, for somebody who waits: a try's table, or the first line of a profile.
pub fn live(summary: &CommandSummary) -> Document {
    let blocks = match summary {
        CommandSummary::Try(summary) => vec![Block::Table(trial::table(summary))],
        CommandSummary::Profile(summary) => profile::first(summary),
    };
    Document::new("", Vec::new()).section("live", "", Place::Screen, blocks)
}

/// The same in a few words.
pub fn briefly(summary: &CommandSummary) -> Vec<String> {
    match summary {
        CommandSummary::Try(summary) => trial::briefly(summary),
        CommandSummary::Profile(summary) => profile::verdict(summary).into_iter().collect(),
    }
}

/// One line for a list of studies.
pub fn line(summary: &CommandSummary) -> String {
    match summary {
        CommandSummary::Try(summary) => trial::line(summary),
        CommandSummary::Profile(summary) => format!("profile of {}", summary.plan.arms[0].shown),
    }
}

fn notes(notes: &[Note]) -> Option<Block> {
    Block::list(
        "",
        notes
            .iter()
            .map(|note| format!("note: {}", phrases::note(&note.kind))),
    )
}

fn machine(plan: &CommandPlan) -> Vec<Block> {
    Block::list(
        "",
        plan.environment
            .iter()
            .map(|(name, value)| format!("{name}: {value}")),
    )
    .into_iter()
    .collect()
}

/// The reason why there are no figures.
fn reason(failure: Option<&Failure>) -> String {
    let Some(Failure { kind, message }) = failure else {
        return String::new();
    };
    let sentence = phrases::sentence("failure", kind);
    message
        .as_ref()
        .map_or_else(|| sentence.clone(), |line| format!("{sentence}: {line}"))
}

/// The sign of a change, also of none.
fn sign(value: f64) -> &'static str {
    if value < 0.0 { "−" } else { "+" }
}

fn seconds(value: f64) -> String {
    let text = format_ns(value.abs() * 1e9);
    if value < 0.0 {
        format!("−{text}")
    } else {
        text
    }
}

fn bounds(amount: &Amount) -> String {
    format!("{} to {}", seconds(amount.low), seconds(amount.high))
}

fn count(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.1} k", v / 1e3),
        v => format!("{v:.0}"),
    }
}

/// A number of percent with one decimal, or none where it is large.
fn digits(percent: f64) -> String {
    let text = if percent >= 99.5 {
        format!("{percent:.0}")
    } else {
        format!("{percent:.1}")
    };
    text.replace('-', "−")
}

/// A ratio as a change in percent.
fn signed(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    format!("{}{}", sign(percent), digits(percent.abs()))
}

/// The bounds in percent, rounded away from each other.
fn interval(low: f64, high: f64) -> String {
    format!(
        "{} to {} %",
        rounded_change(low, f64::floor),
        rounded_change(high, f64::ceil)
    )
}

/// A ratio as a change in percent.
fn rounded_change(ratio: f64, round: fn(f64) -> f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    let rounded = if percent.abs() >= 99.5 {
        round(percent)
    } else {
        round(10.0 * percent) / 10.0
    };
    format!("{}{}", sign(rounded), digits(rounded.abs()))
}
