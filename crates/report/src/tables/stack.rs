//! The phases of a group's methods, laid end to end in the order in which they pass: a method may save in one phase and pay in
//! another.

use super::columns::Columns;
use crate::render::document::{Column, Key, Table, TableCell};
use crate::render::plot::{Plot, Scale};
use crate::sentences::labels::LabelledGroup;
use crate::sentences::numbers;
use record::outcome::Status;

/// A method's phases: the median of each with its text, where it has one.
struct StackRow {
    label: String,
    parts: Vec<Option<(f64, String)>>,
}

/// The stacks of these cells. `None` where phases overlap, or where there are fewer than two of them or of the cells.
pub(crate) fn table(group: LabelledGroup, cells: &[usize], caption: String) -> Option<Table> {
    if group.definition().totals.iter().any(|t| t.overlap) {
        return None;
    }
    let cells: Vec<usize> = cells
        .iter()
        .copied()
        .filter(|&cell| group.cell(cell).outcome.status == Status::Ok)
        .collect();
    let phases = phases(group, &cells);
    if phases.len() < 2 || cells.len() < 2 {
        return None;
    }
    let rows: Vec<StackRow> = cells
        .iter()
        .map(|&cell| StackRow {
            label: group.name(cell),
            parts: phases.iter().map(|p| part(group, cell, p)).collect(),
        })
        .collect();
    let lengths = rows
        .iter()
        .map(|row| row.parts.iter().flatten().map(|(wall, _)| wall).sum());
    let scale = Scale::lengths(lengths)?;
    let head = Column::plot(Plot::Times(scale.clone()));
    let columns = Columns::new("method", |row: &StackRow| row.label.clone()).column(head, |row| {
        Some(TableCell::plot(Some(Plot::Stack {
            scale: scale.clone(),
            phases: phases.clone(),
            parts: row.parts.clone(),
        })))
    });
    Some(Table {
        legend: Key::of_texts(&phases),
        ..columns.table(caption, rows)
    })
}

/// The phases of the time that is compared, which take time in any of these cells.
fn phases(group: LabelledGroup, cells: &[usize]) -> Vec<String> {
    // Another pass, such as a second use, is no part of the time that is compared.
    let headline = group.definition().totals.iter().find(|t| t.headline);
    let phases = group.definition().phases.iter();
    phases
        // The other side's phases pass at the same time.
        .filter(|phase| !phase.ends_with(".b"))
        .filter(|phase| headline.is_none_or(|total| total.phases.contains(phase)))
        .filter(|phase| takes_time(group, cells, phase))
        .cloned()
        .collect()
}

fn takes_time(group: LabelledGroup, cells: &[usize], phase: &str) -> bool {
    let mut figures = cells
        .iter()
        .filter_map(|&c| group.cell(c).phases.get(phase));
    figures.any(|figures| figures.wall_ns.median > 0.0)
}

fn part(group: LabelledGroup, cell: usize, phase: &str) -> Option<(f64, String)> {
    let phases = &group.cell(cell).phases;
    let headline = phases.get(group.definition().headline())?;
    let scale = group.work().scale(headline);
    let wall = phases.get(phase)?.wall_ns.map(|ns| ns * scale);
    (wall.median.is_finite() && wall.median >= 0.0).then(|| (wall.median, numbers::interval(&wall)))
}
