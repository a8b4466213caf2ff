//! The files of several runs, or of several machines of one kind, as one.

use super::{choice::segments, pool::pooled};
use crate::summarise::rounded;
use anyhow::{Result, bail};
use record::advice::Advice;

/// The advice of several runs of one kind of machine as one; what they disagree about becomes wider.
pub fn merge(all: &[Advice]) -> Result<Advice> {
    let [first, rest @ ..] = all else {
        bail!("there is no advice to merge")
    };
    for other in rest {
        let differences = other.machine.differences(&first.machine);
        if !differences.is_empty() {
            bail!(
                "advice of different machines is not merged: {}",
                differences.join(", ")
            );
        }
    }
    let mut whole = first.clone();
    whole.margin = all.iter().map(|a| a.margin).fold(first.margin, f64::max);
    whole.created = all
        .iter()
        .map(|a| a.created.clone())
        .max()
        .unwrap_or_default();
    for (name, other) in rest.iter().flat_map(|advice| &advice.questions) {
        let Some(mine) = whole.questions.get_mut(name) else {
            whole.questions.insert(name.clone(), other.clone());
            continue;
        };
        if mine.settings != other.settings || mine.obvious != other.obvious {
            bail!(
                "the question {name} was asked of different cases, so its answers are not merged"
            );
        }
        // A run that both rest on counts once.
        if other.runs.iter().any(|run| mine.runs.contains(run)) {
            if other.runs.len() > mine.runs.len() {
                mine.clone_from(other);
            }
            continue;
        }
        for (condition, segments) in &other.conditions {
            mine.conditions
                .entry(condition.clone())
                .or_insert_with(|| segments.clone());
        }
        mine.points.extend(other.points.iter().cloned());
        mine.runs.extend(other.runs.iter().cloned());
    }
    for question in whole.questions.values_mut() {
        question.points = pooled(std::mem::take(&mut question.points));
        question.runs.sort();
        question.segments = segments(&question.points, &question.obvious, whole.margin);
    }
    Ok(rounded(whole))
}
