//! A plan before it is carried out, with its time.

use crate::render::document::{Block, Column, Document, Entry, Place, Table, TableCell};
use crate::sentences::{
    phrases,
    wording::{count, duration},
};
use record::plan::{Plan, PlannedCell};
use std::collections::BTreeMap;

/// The duration of a run of jobs that take minutes each, before it begins.
pub fn long_jobs(budget_s: f64) -> String {
    let most = crate::sentences::wording::duration(budget_s);
    format!(
        "each job takes minutes, or an hour where write-back slows its file down; the run ends after {most} (--budget)"
    )
}

/// The plan of a new run; `least_s` as in [`too_short`].
pub fn planned(plan: &Plan, least_s: f64) -> Document {
    let mut rows: BTreeMap<String, Vec<&PlannedCell>> = BTreeMap::new();
    plan.cells
        .iter()
        .filter(|p| !p.twin)
        .for_each(|p| rows.entry(p.cell.name()).or_default().push(p));
    let row = |(name, cells): (String, Vec<&PlannedCell>)| {
        let outcomes = cells.iter().filter_map(|p| p.outcome.as_ref());
        let reason = outcomes
            .map(|o| format!("{}: {}", o.status.word(), phrases::reason(o)))
            .next()
            .unwrap_or_default();
        Entry::new(
            name,
            vec![TableCell::count(cells.len()), TableCell::text(reason)],
        )
    };
    let cells = plan
        .cells
        .iter()
        .filter(|p| !p.twin && p.outcome.is_none())
        .count();
    let columns = vec![
        Column::text("method"),
        Column::number("cells"),
        Column::sentences(""),
    ];
    let sentence = format!(
        "{} in {} a round of launches. Budget: {}. The least that compares all of it: about {}. Nothing was measured.",
        count(cells, "cell"),
        if plan.launch_groups.len() == 1 {
            "1 process".to_owned()
        } else {
            format!("{} processes", plan.launch_groups.len())
        },
        duration(plan.budget_s),
        duration(least_s),
    );
    let table = Block::Table(Table::new("", columns, rows.into_iter().map(row)));
    Document::default().section(
        "plan",
        "",
        Place::Everywhere,
        vec![table, Block::Answer(sentence)],
    )
}

/// A sentence on a budget below the time in which a plan compares anything, by a guess at each launch.
pub fn too_short(plan: &Plan, least_s: f64) -> Option<String> {
    let cells = plan
        .cells
        .iter()
        .filter(|p| !p.twin && p.outcome.is_none())
        .count();
    (plan.budget_s < least_s).then(|| {
        format!(
            "{} is too short to compare {}: about {} is the least; raise --budget or name fewer (--dry-run lists them)",
            duration(plan.budget_s),
            count(cells, "cell"),
            duration(least_s.ceil()),
        )
    })
}
