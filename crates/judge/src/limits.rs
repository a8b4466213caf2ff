//! Figures beside the floor and beside the lower bound of their group.

use crate::estimate::{LEVEL, against, alone, level, shown};
use crate::{compared::sound, evidence::Evidence, groups::Group, pairs::PairedCost};
use anyhow::Result;
use record::summary::{CellSummary, GroupSummary, Recommendation};
use record::{kind::Kind, method::Role, state::State};
use stats::{estimate::RatioEstimate, leader::simultaneous, quantile::median};

/// The least that this machine can take for the group's job: the fastest cell of role `limit`, or a method that is shown to
/// be faster than it, which then takes its place for the run.
pub(crate) fn best_possible(state: &State, evidence: &Evidence, group: &Group, widened: f64) -> Result<Option<usize>> {
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
    // Any of the others may be the one that seems faster, so that each interval must hold together with theirs.
    let level = simultaneous(LEVEL, others.len());
    let against = |a: usize, b: usize| {
        let (b, a) = evidence.cells.get(&b).zip(evidence.cells.get(&a))?;
        Some(alone(b, a, measure, PairedCost::Wall, level)?.widened(widened))
    };
    let Some(&first) = limits.first() else { return Ok(None) };
    // Limits are candidates for one place and take part in few launches: which is the least needs no interval.
    let typical = |cell: usize| {
        let launches = evidence.cells.get(&cell)?.launches.iter();
        median(&mut launches.filter_map(|l| median(&mut l.measures[measure].wall_ns.clone())).collect::<Vec<_>>())
    };
    let mut best = first;
    for &limit in &limits[1..] {
        let ratio = against(limit, best).map(|e| e.ratio).or_else(|| Some(typical(limit)? / typical(best)?));
        if ratio.is_some_and(|ratio| ratio < 1.0) {
            best = limit;
        }
    }
    for &other in &others {
        if against(other, best).is_some_and(|e| e.high < 1.0) {
            best = other;
        }
    }
    Ok(Some(best))
}

/// Marks figures below twice the floor: nothing is resolved there. A user's function there is not recommended: the compiler may
/// have removed its loop.
pub(crate) fn floors(state: &State, cells: &mut [CellSummary], groups: &mut [GroupSummary]) {
    for group in groups {
        let Some(floor) = group.floor.map(|f| cells[f].clone()) else { continue };
        for &cell in &group.cells {
            let cell = &mut cells[cell];
            if cell.role == Role::Null {
                continue;
            }
            for (name, phase) in &mut cell.phases {
                phase.below_floor = floor.phases.get(name).is_some_and(|f| phase.wall_ns.median < 2.0 * f.wall_ns.median);
            }
        }
        let headline = state.plan.experiment(&group.experiment).map_or("", |experiment| experiment.headline());
        if let Recommendation::Use { cell, .. } = group.recommendation
            && state.plan.kind == Kind::Bench
            && cells[cell].phases.get(headline).is_some_and(|phase| phase.below_floor)
        {
            group.recommendation = Recommendation::Nothing;
        }
    }
}

/// Share of each cell's time that the lower bound would take, as a paired ratio with its interval.
pub(crate) fn shares(
    state: &State,
    evidence: &Evidence,
    cells: &mut [CellSummary],
    summaries: &[GroupSummary],
    all: &[Group],
    widened: f64,
) {
    for (summary, group) in summaries.iter().zip(all) {
        let Some(best) = summary.best_possible else { continue };
        let kind = cells[best].group.clone();
        let level = level(state, &summary.experiment);
        for (measure, name) in group.experiment.measures().enumerate() {
            let ratios = against(state, evidence, group, best, (measure, PairedCost::Wall), level);
            for (cell, ratio) in ratios {
                if cells[cell].group == kind
                    && cells[cell].role != Role::Null
                    && summary.cells.contains(&cell)
                    && let Some(phase) = cells[cell].phases.get_mut(name)
                {
                    let share = turned(ratio.widened(widened));
                    phase.of_best_possible = Some(shown(&share)).filter(|e| e.ratio.is_finite());
                }
            }
        }
    }
}

/// The ratio the other way round; whether it moved is told of the comparison with the baseline only.
fn turned(estimate: RatioEstimate) -> RatioEstimate {
    RatioEstimate {
        ratio: 1.0 / estimate.ratio,
        low: 1.0 / estimate.high,
        high: 1.0 / estimate.low,
        log: -estimate.log,
        moved: None,
        ..estimate
    }
}
