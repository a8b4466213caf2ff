//! What is to be told of a run as a whole.

use record::experiment::Experiment;
use record::state::State;

/// The notes of a run, one sentence each.
pub fn notes(state: &State) -> Vec<String> {
    let mut notes = state.ended.as_ref().map_or_else(Vec::new, |ended| ended.notes.clone());
    if state.ended.as_ref().is_none_or(|ended| ended.stopped_by.is_some()) {
        notes.push(format!("this run was interrupted; pagewise run --resume {} completes it", state.plan.run));
    }
    notes.extend(short(state));
    notes
}

/// Which experiments were given less than their default values need.
fn short(state: &State) -> impl Iterator<Item = String> {
    let needed_s: f64 = state.plan.experiments.iter().map(Experiment::needed_s).sum();
    let short = state.plan.experiments.iter().filter(|e| state.plan.short && e.budget_s.is_some());
    short.map(move |e| {
        let name = &e.name;
        format!(
            "{name}: its usual values need --budget {needed_s:.0}s; those of the first look were taken where --set says nothing"
        )
    })
}
