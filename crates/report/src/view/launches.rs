//! Ratios of single launches, and phases laid end to end: what lies behind a group's figures.

use crate::numbers::{self, Work, scaled};
use crate::plot::Scale;
use record::summary::{CellSummary, Summary};
use record::{experiment::Experiment, outcome::Status};
use std::collections::BTreeMap;

/// Median wall time of a phase in nanoseconds, and in words with its interval; `None` where it was not measured.
pub(super) type PhaseTime = Option<(f64, String)>;

/// The phases of a group's cells, laid end to end: a method may save in one phase and pay in another.
pub(super) struct Stack {
    /// In the order in which they pass.
    pub phases: Vec<String>,
    pub scale: Scale,
    /// Cells in the order of the comparison: the time of each phase.
    pub rows: Vec<(String, Vec<PhaseTime>)>,
}

/// Each launch over the baseline's launch of the same block.
pub(super) fn ratios(cell: &CellSummary, baseline: &CellSummary, headline: &str) -> Vec<f64> {
    let times = |cell: &CellSummary| -> BTreeMap<i32, f64> {
        cell.per_launch.iter().filter_map(|l| Some((l.block, *l.wall_ns.get(headline)?))).collect()
    };
    let (mine, theirs) = (times(cell), times(baseline));
    let both = mine.iter().filter_map(|(block, wall)| Some(wall / theirs.get(block)?));
    both.filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect()
}

/// The stack of a group's ordinary methods, each a cell and its label; `None` where phases overlap, or where there
/// are fewer than two of them or of the cells.
pub(super) fn stack(summary: &Summary, experiment: &Experiment, ordinary: &[(usize, &str)]) -> Option<Stack> {
    if experiment.totals.iter().any(|t| t.overlap) {
        return None;
    }
    let rows: Vec<_> = ordinary.iter().filter(|(cell, _)| summary.cells[*cell].status == Status::Ok).collect();
    // Another pass, such as a second use, is no part of the time that is compared.
    let headline = experiment.totals.iter().find(|total| total.headline);
    let has = |phase: &&String| {
        let median = |cell: usize| summary.cells[cell].phases.get(*phase).map_or(0.0, |p| p.wall_ns.median);
        // The other side's phases pass at the same time.
        let is_part = headline.is_none_or(|total| total.phases.contains(phase));
        is_part && !phase.ends_with(".b") && rows.iter().any(|(cell, _)| median(*cell) > 0.0)
    };
    let phases: Vec<String> = experiment.phases.iter().filter(has).cloned().collect();
    if phases.len() < 2 || rows.len() < 2 {
        return None;
    }
    let part = |cell: usize, phase: &String| {
        let phases = &summary.cells[cell].phases;
        let wall = scaled(&phases.get(phase)?.wall_ns, Work::new(experiment).scale(phases.get(experiment.headline())?));
        (wall.median.is_finite() && wall.median >= 0.0).then(|| (wall.median, numbers::interval(&wall)))
    };
    let rows: Vec<(String, Vec<_>)> =
        rows.iter().map(|&&(cell, label)| (label.to_owned(), phases.iter().map(|p| part(cell, p)).collect())).collect();
    let scale = Scale::lengths(rows.iter().map(|(_, parts)| parts.iter().flatten().map(|(wall, _)| wall).sum()))?;
    Some(Stack { phases, scale, rows })
}
