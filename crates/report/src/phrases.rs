//! Sentences of facts: templates of `phrases.toml`, filled with the figures of an enum's variant.

use crate::wording::{count, percent};
use minijinja::{Environment, Error, State, UndefinedBehavior, Value, context, value::Serde};
use record::launches::{End, signal_name};
use record::outcome::Outcome;
use record::sizes::{about_size, format_ns, three_digits};
use record::summary::{NoteKind, WarningKind};
use serde::Serialize;
use stats::estimate::LEAST_POINTS;
use std::{collections::BTreeMap, sync::LazyLock};

static PHRASES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let parts: BTreeMap<String, BTreeMap<String, String>> =
        toml::from_str(include_str!("phrases.toml")).expect("the file is well formed");
    let mut phrases = Environment::new();
    phrases.set_undefined_behavior(UndefinedBehavior::Strict);
    phrases.add_filter("fixed", |value: f64, decimals: usize| {
        format!("{value:.decimals$}")
    });
    phrases.add_filter("percent", |share: f64, decimals: Option<usize>| {
        format!("{:.*} %", decimals.unwrap_or_default(), 100.0 * share)
    });
    phrases.add_filter("change", |ratio: f64| {
        format!("{:+.1}", 100.0 * (ratio - 1.0)).replace('-', "−")
    });
    phrases.add_filter("plain", |number: f64| number.to_string());
    phrases.add_filter("share", percent);
    phrases.add_filter("ns", format_ns);
    phrases.add_filter("size", about_size);
    phrases.add_filter("digits", three_digits);
    phrases.add_filter(
        "reason",
        |state: &State, cause: Value| -> Result<String, Error> {
            let Ok(word) = cause.get_attr("word") else {
                return Ok(String::new());
            };
            state
                .env()
                .get_template(&format!("reason/{word}"))?
                .render(cause)
        },
    );
    phrases.add_filter("count", |number: usize, noun: String| count(number, &noun));
    phrases.add_filter("signal", |number: i32| {
        signal_name(number).map_or_else(|| number.to_string(), str::to_owned)
    });
    phrases.add_global("least_points", LEAST_POINTS);
    for (part, sentences) in parts {
        for (name, text) in sentences {
            phrases
                .add_template_owned(format!("{part}/{name}"), text)
                .expect("a template is well formed");
        }
    }
    phrases
});

fn render(name: &str, figures: Value) -> String {
    PHRASES
        .get_template(name)
        .and_then(|phrase| phrase.render(figures))
        .expect("a phrase fits its variant")
}

/// The sentence of a part of the file for a variant with this tag.
pub(crate) fn sentence(part: &str, variant: &impl Serialize) -> String {
    let figures = Value::from(Serde(variant));
    // An older record has the sentence itself.
    if let Some(text) = figures.as_str() {
        return text.to_owned();
    }
    let tag = ["word", "code"].iter().find_map(|field| {
        figures
            .get_attr(field)
            .ok()
            .filter(|tag| !tag.is_undefined())
    });
    render(&format!("{part}/{}", tag.unwrap_or_default()), figures)
}

/// The sentence of a part of the file for a variant without figures of its own.
pub(crate) fn phrase(part: &str, variant: &impl Serialize, figures: Value) -> String {
    render(&format!("{part}/{}", Value::from(Serde(variant))), figures)
}

/// The reason of an outcome; empty for `ok`.
pub fn reason(outcome: &Outcome) -> String {
    outcome
        .cause
        .as_ref()
        .map_or_else(String::new, |cause| sentence("reason", cause))
}

/// The sentence on the end of a process.
pub fn end(end: &End, oom_killed: bool) -> String {
    render(
        "shared/end",
        context! { end => Value::from(Serde(end)), oom_killed },
    )
}

pub(crate) fn note(kind: &NoteKind) -> String {
    match kind {
        NoteKind::Written { text, .. } => text.clone(),
        kind => sentence("note", kind),
    }
}

pub(crate) fn warning(kind: &WarningKind) -> String {
    let (seen, hint) = match kind {
        WarningKind::Written { seen, hint, .. } => (seen.clone(), hint.clone()),
        kind => (sentence("fact", kind), sentence("remedy", kind)),
    };
    if hint.is_empty() {
        seen
    } else {
        format!("{seen}; {hint}")
    }
}

#[cfg(test)]
#[path = "../tests/unit/phrases.rs"]
mod tests;
