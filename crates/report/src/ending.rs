//! A plan before it is carried out, with its time, and notes on how a run ended: the reason and the widest ratio.

use crate::document::{Block, Column, Document, Entry, Place, Table, TableCell};
use crate::wording::{count, duration};
use record::decision::{Ending, Reason, Width};
use record::plan::{Plan, PlannedCell};
use record::{state::State, summary::Note};
use stats::estimate::LEAST_POINTS;
use std::collections::BTreeMap;

/// The notes of a run that ends, with the variables that its workers did not have.
pub fn notes(state: &State, endings: &[Ending], cleared: &[String]) -> Vec<Note> {
    let names = cleared.join(", ");
    let text = format!("the workers were started without {names}; --keep-environment leaves them");
    let environment = (!cleared.is_empty()).then(|| note("environment-cleared", "", text));
    environment.into_iter().chain(endings.iter().map(|ending| ended(state, ending))).collect()
}

fn note(code: &str, experiment: &str, text: String) -> Note {
    Note { code: code.to_owned(), experiment: experiment.to_owned(), text }
}

fn ended(state: &State, ending: &Ending) -> Note {
    match ending {
        Ending::Experiment { experiment, reason, launches, widest } => {
            let (code, why) = match reason {
                Reason::Precise => ("precision-reached", "every ranked ratio is as narrow as requested"),
                Reason::BudgetSpent => ("budget-ended", "the budget ended"),
                Reason::NothingOpen => ("launches-ended", "nothing that may still be launched is wider than requested"),
            };
            let text = match widest {
                None if *reason == Reason::Precise => "nothing that is ranked could be measured".to_owned(),
                _ if *launches < LEAST_POINTS => format!(
                    "{why} after {launches} launches; intervals need {LEAST_POINTS}, so some or all ratios are not settled"
                ),
                None => format!("{why} after {launches} launches"),
                Some(widest) => format!("{why} after {launches} launches; {}", least_precise(state, widest)),
            };
            note(code, experiment, text)
        }
        Ending::Claims { likely, near_edge, launches } => {
            note("questions-ended", "", undecided(*likely, *near_edge, *launches))
        }
    }
}

fn least_precise(state: &State, width: &Width) -> String {
    let [cell, base] = [width.cell, width.base].map(|cell| &state.cells[cell].cell.method);
    let (percent, target) = (width.half_width * 100.0, state.plan.precision * 100.0);
    let aim = if percent > target && target > 0.0 { format!(" (target ±{target:.1} %)") } else { String::new() };
    format!("least precise: {cell} : {base} at ±{percent:.1} %{aim}")
}

fn undecided(likely: usize, near_edge: usize, launches: usize) -> String {
    let comparisons = |n: usize| if n == 1 { "1 comparison".to_owned() } else { format!("{n} comparisons") };
    let time = format!("{} without a word should get one in more time", comparisons(likely));
    let seem = if near_edge == 1 { "seems" } else { "seem" };
    let edge = format!("{} without a word {seem} to lie on an edge, where more time may not help", comparisons(near_edge));
    match (likely, near_edge) {
        (0, 0) => format!("every comparison has its word after {launches} launches, or had all that one may have"),
        (_, 0) => format!("after {launches} launches {time}"),
        (0, _) => format!("after {launches} launches {edge}"),
        _ => format!("after {launches} launches {time}; {edge}"),
    }
}

/// The duration of a run of jobs that take minutes each, before it begins.
pub fn long_jobs(budget_s: f64) -> String {
    let most = crate::wording::duration(budget_s);
    format!("each job takes minutes, or an hour where write-back slows its file down; the run ends after {most} (--budget)")
}

/// The plan of a new run; `least_s` as in [`too_short`].
pub fn planned(plan: &Plan, least_s: f64) -> Document {
    let mut rows: BTreeMap<String, Vec<&PlannedCell>> = BTreeMap::new();
    plan.cells.iter().filter(|p| !p.twin).for_each(|p| rows.entry(p.cell.name()).or_default().push(p));
    let row = |(name, cells): (String, Vec<&PlannedCell>)| {
        let outcomes = cells.iter().filter_map(|p| p.outcome.as_ref());
        let reason = outcomes.map(|o| format!("{}: {}", o.status.word(), o.reason)).next().unwrap_or_default();
        Entry::new(name, vec![TableCell::count(cells.len()), TableCell::text(reason)])
    };
    let cells = plan.cells.iter().filter(|p| !p.twin && p.outcome.is_none()).count();
    let columns = vec![Column::text("method"), Column::number("cells"), Column::sentences("")];
    let sentence = format!(
        "{} in {} a round of launches. Budget: {}. The least that compares all of it: about {}. Nothing was measured.",
        count(cells, "cell"),
        if plan.launch_groups.len() == 1 { "1 process".to_owned() } else { format!("{} processes", plan.launch_groups.len()) },
        duration(plan.budget_s),
        duration(least_s),
    );
    let table = Block::Table(Table::new("", columns, rows.into_iter().map(row)));
    Document::default().section("plan", "", Place::Everywhere, vec![table, Block::Answer(sentence)])
}

/// A sentence on a budget below the time in which a plan compares anything, by a guess at each launch.
pub fn too_short(plan: &Plan, least_s: f64) -> Option<String> {
    let cells = plan.cells.iter().filter(|p| !p.twin && p.outcome.is_none()).count();
    (plan.budget_s < least_s).then(|| {
        format!(
            "{} is too short to compare {}: about {} is the least; raise --budget or name fewer (--dry-run lists them)",
            duration(plan.budget_s),
            count(cells, "cell"),
            duration(least_s.ceil()),
        )
    })
}

#[cfg(test)]
#[path = "../tests/unit/ending.rs"]
mod tests;
