//! Figures beside the floor and beside the best possible of their group.

use anyhow::Result;
use record::experiment::Experiment;
use record::method::Role;
use record::state::State;
use record::summary::{CellSummary, GroupSummary};

use crate::compared::sound;
use crate::estimate::between;
use crate::evidence::Evidence;
use crate::groups::Group;
use crate::pairs::Column;

/// The least that this machine can take for the group's job: the fastest cell of role `limit`, or a method that is shown to
/// be faster than it, which then takes its place for the run.
pub(crate) fn best_possible(state: &State, evidence: &Evidence, group: &Group) -> Result<Option<usize>> {
    let headline = group.experiment.headline();
    let Some(measure) = group.experiment.measures().position(|m| m == headline) else { return Ok(None) };
    let (mut limits, mut others) = (Vec::new(), Vec::new());
    for &cell in &group.cells {
        let method = &state.cells[cell].method;
        let good = state.cells[cell].outcome.is_none() && evidence.cells.get(&cell).is_some_and(sound);
        match method.role {
            Role::Limit if good => limits.push(cell),
            // Who moves pages or throws bytes away does another job, and is no share of this one.
            Role::Method if good && method.group.is_empty() => others.push(cell),
            _ => {}
        }
    }
    let faster = |a: usize, b: usize| {
        let found = evidence.cells.get(&b).zip(evidence.cells.get(&a));
        found.and_then(|(b, a)| between(b, a, measure, Column::Wall))
    };
    let Some(&first) = limits.first() else { return Ok(None) };
    let mut best = first;
    for &limit in &limits[1..] {
        if faster(limit, best).is_some_and(|e| e.estimate.ratio < 1.0) {
            best = limit;
        }
    }
    for &other in &others {
        if faster(other, best).is_some_and(|e| e.estimate.high < 1.0) {
            best = other;
        }
    }
    Ok(Some(best))
}

/// Marks figures below twice the floor: nothing is resolved there.
pub(crate) fn floors(cells: &mut [CellSummary], groups: &[GroupSummary]) {
    for group in groups {
        let Some(floor) = group.floor.map(|f| cells[f].clone()) else { continue };
        for &cell in &group.cells {
            let cell = &mut cells[cell];
            if cell.role == "null" {
                continue;
            }
            for (name, phase) in &mut cell.phases {
                phase.below_floor =
                    floor.phases.get(name).is_some_and(|f| phase.wall_ns.median < 2.0 * f.wall_ns.median);
            }
        }
    }
}

/// What share of each cell's time the best possible would take, as a paired ratio with its interval.
pub(crate) fn shares(evidence: &Evidence, cells: &mut [CellSummary], groups: &[GroupSummary], all: &[Experiment]) {
    for group in groups {
        let Some(best) = group.best_possible else { continue };
        let Some(experiment) = all.iter().find(|e| e.name == group.experiment) else { continue };
        let kind = cells[best].group.clone();
        for &cell in group.cells.iter().filter(|c| **c != best) {
            if cells[cell].group != kind || cells[cell].role == "null" {
                continue;
            }
            let pair = evidence.cells.get(&cell).zip(evidence.cells.get(&best));
            for (measure, name) in experiment.measures().enumerate() {
                let share = pair.and_then(|(mine, least)| between(mine, least, measure, Column::Wall));
                if let Some(phase) = cells[cell].phases.get_mut(name) {
                    phase.of_best_possible = share.map(|e| e.estimate).filter(|e| e.ratio.is_finite());
                }
            }
        }
    }
}
