//! A plan before it is carried out, with its time.

use crate::render::document::{Block, Document, Place, TableCell};
use crate::sentences::{
    phrases,
    wording::{count, duration},
};
use crate::tables::columns::Columns;
use record::plan::{Plan, PlannedCell};
use std::collections::BTreeMap;

/// The duration of a run of jobs that take minutes each, before it begins.
pub fn long_jobs(budget_s: f64) -> String {
    let most = duration(budget_s);
    format!(
        "each job takes minutes, or an hour where write-back slows its file down; the run ends after {most} (--budget)"
    )
}

/// The plan of a new run; `least_s` as in [`too_short`].
pub fn planned(plan: &Plan, least_s: f64) -> Document {
    let mut methods: BTreeMap<String, Vec<&PlannedCell>> = BTreeMap::new();
    for cell in plan.cells.iter().filter(|cell| !cell.twin) {
        methods.entry(cell.cell.name()).or_default().push(cell);
    }
    let table = Columns::new("method", |(name, _): &PlannedMethod| name.clone())
        .number("cells", |(_, cells)| TableCell::count(cells.len()))
        .sentences("", |(_, cells)| {
            let outcome = cells.iter().find_map(|cell| cell.outcome.as_ref());
            outcome.map_or_else(String::new, |outcome| {
                format!("{}: {}", outcome.status.word(), phrases::reason(outcome))
            })
        })
        .table("", methods);
    let processes = match plan.launch_groups.len() {
        1 => "1 process".to_owned(),
        processes => format!("{processes} processes"),
    };
    let sentence = format!(
        "{} in {processes} a round of launches. Budget: {}. The least that compares all of it: about {}. Nothing was measured.",
        count(measurable(plan), "cell"),
        duration(plan.budget_s),
        duration(least_s.ceil()),
    );
    Document::default().section(
        "plan",
        "",
        Place::Everywhere,
        vec![Block::Table(table), Block::Answer(sentence)],
    )
}

/// A method's name with its cells.
type PlannedMethod<'a> = (String, Vec<&'a PlannedCell>);

/// Number of cells that will be measured.
fn measurable(plan: &Plan) -> usize {
    let cells = plan.cells.iter();
    cells
        .filter(|cell| !cell.twin && cell.outcome.is_none())
        .count()
}

/// A sentence on a budget below the time in which a plan compares anything, by a guess at each launch.
pub fn too_short(plan: &Plan, least_s: f64) -> Option<String> {
    (plan.budget_s < least_s).then(|| {
        format!(
            "{} is too short to compare {}: about {} is the least; raise --budget or name fewer (--dry-run lists them)",
            duration(plan.budget_s),
            count(measurable(plan), "cell"),
            duration(least_s.ceil()),
        )
    })
}
