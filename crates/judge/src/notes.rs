//! Notes on a run as a whole.

use record::{command::KeptCommand, experiment::Experiment, state::State, summary::Note};

const INTERRUPTED: &str = "interrupted";

/// The notes of a run.
pub fn notes(state: &State) -> Vec<Note> {
    let mut notes = state.ended.as_ref().map_or_else(Vec::new, |ended| ended.notes.clone());
    if state.ended.as_ref().is_none_or(|ended| ended.stopped_by.is_some()) {
        let text = format!("this run was interrupted; pagewise run --resume {} completes it", state.plan.run);
        notes.push(Note { code: INTERRUPTED.to_owned(), experiment: String::new(), text });
    }
    notes.extend(short(state));
    notes
}

/// Notes on each damage of a kept study of a command, and on its early end.
pub(crate) fn of_command(kept: &KeptCommand) -> impl Iterator<Item = Note> {
    let note = |code: &str, text| Note { code: code.to_owned(), experiment: String::new(), text };
    let damaged = kept.damage.iter().map(move |seen| note("damaged", format!("the record is damaged: {seen}")));
    let (kind, name) = (kept.plan.kind.word(), kept.path.file_name().unwrap_or_default().display());
    let text = format!("this {kind} was interrupted; pagewise {kind} --resume {name} with its command completes it");
    damaged.chain(kept.interrupted.then(|| note(INTERRUPTED, text)))
}

/// Experiments with less time than their default values need.
fn short(state: &State) -> impl Iterator<Item = Note> {
    let needed_s: f64 = state.plan.experiments.iter().map(Experiment::needed_s).sum();
    let short = state.plan.experiments.iter().filter(|e| state.plan.short && e.budget_s.is_some());
    short.map(move |e| {
        let text =
            format!("full grid: --budget {needed_s:.0}s; without it, and without --set, the overview's values are taken");
        Note { code: "short-budget".to_owned(), experiment: e.name.clone(), text }
    })
}
