//! The fastest methods of a group, what may be claimed of them, and figures beside its overhead and its lower bound.

use crate::contrast::estimate::{LEVEL, PairedCost, against, alone, level, points};
use crate::contrast::verdicts::{CellComparison, Judged, sound};
use crate::{contrast::groups::Group, evidence::Evidence};
use anyhow::Result;
use record::summary::{
    BestClaim, CellSummary, Comparison, GroupSummary, Recommendation, Unsettled, Verdict,
};
use record::{expression::Values, kind::Kind, method::Role, plan::PlannedCell, state::State};
use stats::estimate::{LEAST_POINTS, Ratio};
use stats::leader::{Standing, rank_contrasts, simultaneous};
use stats::quantile::median;
use std::collections::BTreeMap;

/// The claims of a group: methods are ranked within one kind only.
pub(crate) fn claims(
    state: &State,
    evidence: &Evidence,
    judged: &Judged,
    widened: f64,
) -> Result<Vec<BestClaim>> {
    let group = judged.group;
    let mut by_kind: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &cell in &group.cells {
        let method = &state.cells[cell].method;
        let good = state.cells[cell].outcome.is_none() && judged.sound(evidence, cell).is_some();
        if method.role == Role::Method && good {
            by_kind.entry(method.group.clone()).or_default().push(cell);
        }
    }
    let Some(measure) = judged.headline() else {
        return Ok(Vec::new());
    };
    let kinds = by_kind.into_iter();
    Ok(kinds
        .filter_map(|(kind, cells)| {
            claim(state, evidence, judged, kind, &cells, (measure, widened))
        })
        .collect())
}

fn claim(
    state: &State,
    evidence: &Evidence,
    judged: &Judged,
    kind: String,
    cells: &[usize],
    (measure, widened): (usize, f64),
) -> Option<BestClaim> {
    let group = judged.group;
    let contrast = |a: usize, b: usize| {
        points(
            evidence.cells.get(&a)?,
            evidence.cells.get(&b)?,
            measure,
            PairedCost::Wall,
        )
    };
    let reference = group
        .baseline
        .filter(|b| cells.contains(b))
        .or_else(|| cells.first().copied())?;
    let launched =
        |c: usize| contrast(reference, c).is_some_and(|points| points.len() >= LEAST_POINTS);
    let ranked: Vec<usize> = cells
        .iter()
        .copied()
        .filter(|&c| c == reference || launched(c))
        .collect();
    let base = ranked.iter().position(|c| Some(*c) == group.baseline);
    let pair = |a: usize, b: usize| contrast(ranked[a], ranked[b]).unwrap_or_default();
    // The higher of two cells' levels, since a short one chose the launches of both.
    let level_of = |at: usize| {
        judged
            .wall(measure, ranked[at])
            .map_or(LEVEL, |estimate| estimate.level)
    };
    let level = |a: usize, b: usize| level_of(a).max(level_of(b)).max(LEVEL);
    let ranking = rank_contrasts(
        ranked.len(),
        pair,
        level,
        base,
        (state.plan.margin, LEVEL),
        widened,
    )
    .ok()?;
    let leader = ranked[ranking.leader];
    let log = |ratio: &Option<Ratio>| ratio.map_or(f64::INFINITY, |ratio| ratio.log());
    let mut others: Vec<_> = ranked
        .iter()
        .zip(&ranking.standings)
        .zip(&ranking.to_leader)
        .collect();
    others.sort_by(|a, b| log(a.1).total_cmp(&log(b.1)));
    let standing = |wanted| {
        others
            .iter()
            .filter(move |((_, standing), _)| **standing == wanted)
    };
    let open = |&((cell, _), ratio): &((&usize, _), &Option<_>)| Unsettled {
        cell: *cell,
        ratio: ratio.as_ref().map(Ratio::undrifted),
    };
    Some(BestClaim {
        group: kind,
        leader,
        within: standing(Standing::Within)
            .map(|((cell, _), _)| **cell)
            .collect(),
        unsettled: standing(Standing::NotSettled).map(open).collect(),
        ranked: ranked.len(),
    })
}

/// Ratio to the fastest up to which the simplest is named: which of two so near is the faster would change from run to run, and
/// the word with it (docs/evidence/flips.md).
const NEAR: f64 = 1.05;

/// An ordinary method that was compared with the baseline, with the calls and the bytes of memory that it asks for.
struct Rival {
    cell: usize,
    ratio: Ratio,
    verdict: Verdict,
    cost: (usize, u64),
}

fn is_faster(rival: &Rival) -> bool {
    matches!(rival.verdict, Verdict::Faster { .. })
}

/// Of the methods within [`NEAR`] of the fastest as measured, that of fewest kinds of calls, then of least memory; `None` if a
/// simpler one may be so near by the intervals' ends, or unless it and the fastest are shown to beat the baseline.
fn simplest(rivals: &[Rival]) -> Option<&Rival> {
    let fastest = rivals
        .iter()
        .min_by(|a, b| a.ratio.ratio.total_cmp(&b.ratio.ratio))?;
    let near = rivals
        .iter()
        .filter(|r| r.ratio.ratio < NEAR * fastest.ratio.ratio)
        .min_by_key(|r| r.cost);
    let may_be_near = rivals
        .iter()
        .filter(|r| r.ratio.low < NEAR * fastest.ratio.high)
        .min_by_key(|r| r.cost)?;
    near.filter(|rival| rival.cell == may_be_near.cell && is_faster(rival) && is_faster(fastest))
}

/// Recommendation for a group. A word that holds among all methods holds for whichever is chosen, so that none is luck alone.
pub(crate) fn recommend(
    state: &State,
    group: &Group,
    compared: &[CellComparison],
) -> Recommendation {
    let Some(baseline) = group.baseline else {
        return Recommendation::Nothing;
    };
    let rival = |c: &Comparison| {
        let planned = &state.cells[c.cell];
        let is_ordinary = planned.method.role == Role::Method && planned.method.group.is_empty();
        let ratio = c
            .contrast
            .ratio
            .filter(|_| is_ordinary && c.phase == group.experiment.headline())?;
        let cost = (
            planned.method.calls.values().map(Vec::len).sum(),
            memory_bytes(planned),
        );
        Some(Rival {
            cell: c.cell,
            ratio,
            verdict: c.contrast.overall(),
            cost,
        })
    };
    let rivals: Vec<Rival> = compared
        .iter()
        .filter_map(|c| rival(&c.comparison))
        .collect();
    let may_be_faster = |r: &Rival| {
        r.verdict == Verdict::NotSettled && r.ratio.low < 1.0 / (1.0 + state.plan.margin)
    };
    match simplest(&rivals) {
        Some(rival) => Recommendation::Use {
            cell: rival.cell,
            ratio: rival.ratio,
        },
        None if rivals.is_empty() => Recommendation::Nothing,
        None if rivals.iter().any(|r| is_faster(r) || may_be_faster(r)) => {
            Recommendation::Inconclusive { cell: baseline }
        }
        None => Recommendation::Keep { cell: baseline },
    }
}

/// The least that this machine can take for the group's job: the fastest cell of role `limit`, or a method that is shown to
/// be faster than it, which then takes its place for the run.
pub(crate) fn best_possible(
    state: &State,
    evidence: &Evidence,
    group: &Group,
    widened: f64,
) -> Result<Option<usize>> {
    let headline = group.experiment.headline();
    let Some(measure) = group.experiment.measures().position(|m| m == headline) else {
        return Ok(None);
    };
    let (mut limits, mut others) = (Vec::new(), Vec::new());
    for &cell in &group.cells {
        let method = &state.cells[cell].method;
        let good =
            state.cells[cell].outcome.is_none() && evidence.cells.get(&cell).is_some_and(sound);
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
    let Some(&first) = limits.first() else {
        return Ok(None);
    };
    // Limits are candidates for one place and take part in few launches: which is the least needs no interval.
    let typical = |cell: usize| {
        let launches = evidence.cells.get(&cell)?.launches.iter();
        median(
            &mut launches
                .filter_map(|l| median(&mut l.measures[measure].wall_ns.clone()))
                .collect::<Vec<_>>(),
        )
    };
    let mut best = first;
    for &limit in &limits[1..] {
        let ratio = against(limit, best)
            .map(|e| e.ratio)
            .or_else(|| Some(typical(limit)? / typical(best)?));
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

/// Marks figures below twice the floor, which resolves nothing. A user's function there may have lost its loop.
pub(crate) fn floors(state: &State, cells: &mut [CellSummary], groups: &mut [GroupSummary]) {
    for group in groups {
        let Some(floor) = group.floor.map(|f| cells[f].clone()) else {
            continue;
        };
        for &cell in &group.cells {
            let cell = &mut cells[cell];
            if cell.role == Role::Null {
                continue;
            }
            for (name, phase) in &mut cell.phases {
                phase.below_floor = floor
                    .phases
                    .get(name)
                    .is_some_and(|f| phase.wall_ns.median < 2.0 * f.wall_ns.median);
            }
        }
        let headline = state
            .plan
            .experiment(&group.experiment)
            .map_or("", |experiment| experiment.headline());
        if let Recommendation::Use { cell, .. } = group.recommendation
            && state.plan.kind == Kind::Bench
            && cells[cell]
                .phases
                .get(headline)
                .is_some_and(|phase| phase.below_floor)
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
        let Some(best) = summary.best_possible else {
            continue;
        };
        let kind = cells[best].group.clone();
        let level = level(state, &summary.experiment);
        for (measure, name) in group.experiment.measures().enumerate() {
            let ratios = against(
                state,
                evidence,
                group,
                best,
                (measure, PairedCost::Wall),
                level,
            );
            for (cell, ratio) in ratios {
                if cells[cell].group == kind
                    && cells[cell].role != Role::Null
                    && summary.cells.contains(&cell)
                    && let Some(phase) = cells[cell].phases.get_mut(name)
                {
                    let share = ratio.widened(widened).inverse().undrifted();
                    phase.of_best_possible = Some(share).filter(|e| e.ratio.is_finite());
                }
            }
        }
    }
}

/// A cell's parameters as operands; pages are of the usual size, which is near enough to rank by.
struct Parameters<'a>(&'a BTreeMap<String, String>);

impl Values for Parameters<'_> {
    fn number(&self, name: &str) -> Option<i128> {
        match name {
            "rounds" => Some(1),
            "page_bytes" => Some(4096),
            "huge_page_bytes" => Some(2 << 20),
            _ => self.0.get(name).and_then(|v| v.parse().ok()),
        }
    }

    fn word(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Bytes that a cell needs at its peak for one round, by its method's own word; the most there is where that cannot be told.
fn memory_bytes(planned: &PlannedCell) -> u64 {
    let bytes = planned
        .method
        .memory
        .value(&Parameters(&planned.cell.parameters))
        .ok();
    bytes
        .and_then(|b| u64::try_from(b.max(0)).ok())
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The method that is named, of methods with a ratio, a cost and whether it is shown to be faster than the baseline.
    fn named(rivals: &[(f64, usize, bool)]) -> Option<usize> {
        let verdict = |shown| {
            if shown {
                Verdict::Faster { at_least: 0.1 }
            } else {
                Verdict::NotSettled
            }
        };
        let ratio = |ratio| Ratio {
            ratio,
            low: ratio * 0.9,
            high: ratio * 1.1,
            level: 0.95,
            launches: 10,
            error: 0.04,
            freedom: 9.0,
            drift: None,
        };
        let rival = |(cell, &(r, calls, shown)): (usize, &(f64, usize, bool))| Rival {
            cell,
            ratio: ratio(r),
            verdict: verdict(shown),
            cost: (calls, 0),
        };
        let rivals: Vec<Rival> = rivals.iter().enumerate().map(rival).collect();
        simplest(&rivals).map(|rival| rival.cell)
    }

    #[test]
    fn the_simplest_near_the_fastest_is_named_if_both_are_shown_to_be_faster() {
        assert_eq!(
            named(&[(0.50, 3, true), (0.52, 1, true), (0.80, 0, true)]),
            Some(1)
        );
        assert_eq!(
            named(&[(0.50, 3, true), (0.60, 1, true)]),
            None,
            "may be near: 0.54 is within 5 % of 0.55"
        );
        assert_eq!(named(&[(0.50, 3, true), (0.80, 1, true)]), Some(0));
        // Which of two simple ones it is must not depend on how exactly the one was measured.
        assert_eq!(named(&[(0.50, 3, true), (0.52, 1, false)]), None);
        assert_eq!(named(&[(0.40, 3, false), (0.50, 1, true)]), None);
        assert_eq!(named(&[]), None);
    }
}
