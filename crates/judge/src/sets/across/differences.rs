//! Facts in which two runs differ, and whether that was meant.

use super::run::{Run, WORKER};
use crate::sets::machines::unlike;
use record::across::FactDifference;
use std::collections::BTreeSet;

/// The facts that differ between two runs, those that can change a figure first.
pub(super) fn differences(a: &Run, b: &Run, expected: &[String]) -> Vec<FactDifference> {
    let mut differing = unlike(&a.facts, &b.facts);
    // A worker that only one side used has no cell in common with the other.
    differing.retain(|fact| {
        let is_on_both = a.facts.contains_key(&fact.field) && b.facts.contains_key(&fact.field);
        is_on_both || !fact.field.starts_with(WORKER)
    });
    for fact in &mut differing {
        fact.expected = expected.iter().any(|word| names(word, &fact.field));
    }
    differing.sort_by(|x, y| (!x.matters, &x.field).cmp(&(!y.matters, &y.field)));
    differing
}

/// Tells whether a word is a field or the beginning of one up to a dot.
fn names(word: &str, field: &str) -> bool {
    field
        .strip_prefix(word)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The first of these words that names no field of the runs.
pub fn unknown_fact<'a>(expected: &'a [String], fields: &BTreeSet<&String>) -> Option<&'a String> {
    expected
        .iter()
        .find(|word| !fields.iter().any(|field| names(word, field)))
}
