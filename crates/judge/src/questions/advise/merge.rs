//! The files of several runs, or of several machines of one kind, as one.

use super::{choice::segments, pool::pooled};
use crate::summarise::rounded;
use anyhow::{Result, bail};
use record::advice::{Advice, Question};

/// The advice of several runs of one kind of machine as one; what they disagree about becomes wider.
pub fn merge(advices: &[Advice]) -> Result<Advice> {
    let [first, rest @ ..] = advices else {
        bail!("there is no advice to merge")
    };
    for advice in rest {
        let differences = advice.machine.differences(&first.machine);
        if !differences.is_empty() {
            bail!(
                "advice of different machines is not merged: {}",
                differences.join(", ")
            );
        }
    }
    let mut merged = first.clone();
    merged.margin = advices
        .iter()
        .map(|a| a.margin)
        .fold(first.margin, f64::max);
    merged.created = advices
        .iter()
        .map(|a| a.created.clone())
        .max()
        .unwrap_or_default();
    for (name, further) in rest.iter().flat_map(|advice| &advice.questions) {
        match merged.questions.get_mut(name) {
            Some(question) => add(question, name, further)?,
            None => _ = merged.questions.insert(name.clone(), further.clone()),
        }
    }
    for question in merged.questions.values_mut() {
        question.points = pooled(std::mem::take(&mut question.points));
        question.runs.sort();
        question.segments = segments(&question.points, &question.baseline, merged.margin);
    }
    Ok(rounded(merged))
}

/// Adds the figures of further runs to a question. A run that both rest on counts once.
fn add(question: &mut Question, name: &str, further: &Question) -> Result<()> {
    if question.settings != further.settings || question.baseline != further.baseline {
        bail!("the question {name} was asked of different cases, so its answers are not merged");
    }
    if further.runs.iter().any(|run| question.runs.contains(run)) {
        if further.runs.len() > question.runs.len() {
            question.clone_from(further);
        }
        return Ok(());
    }
    for (condition, segments) in &further.conditions {
        question
            .conditions
            .entry(condition.clone())
            .or_insert_with(|| segments.clone());
    }
    question.points.extend(further.points.iter().cloned());
    question.runs.extend(further.runs.iter().cloned());
    Ok(())
}
