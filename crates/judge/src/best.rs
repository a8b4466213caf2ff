//! The fastest methods of a group, and what may be claimed of them.

use crate::compared::{CellComparison, Judged};
use crate::estimate::{LEVEL, alone, shown};
use crate::pairs::{PairedCost, points};
use crate::{cells::memory_bytes, evidence::Evidence, groups::Group};
use anyhow::Result;
use record::summary::{BestClaim, Comparison, Recommendation, Unsettled, Verdict};
use record::{method::Role, state::State};
use stats::estimate::{LEAST_POINTS, RatioEstimate};
use stats::leader::{Standing, rank_contrasts, simultaneous};
use std::collections::BTreeMap;

/// The claims of a group: methods are ranked within one kind only.
pub(crate) fn claims(state: &State, evidence: &Evidence, judged: &Judged, widened: f64) -> Result<Vec<BestClaim>> {
    let group = judged.group;
    let mut by_kind: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &cell in &group.cells {
        let method = &state.cells[cell].method;
        let good = state.cells[cell].outcome.is_none() && judged.sound(evidence, cell).is_some();
        if method.role == Role::Method && good {
            by_kind.entry(method.group.clone()).or_default().push(cell);
        }
    }
    let Some(measure) = judged.headline() else { return Ok(Vec::new()) };
    let kinds = by_kind.into_iter();
    Ok(kinds.filter_map(|(kind, cells)| claim(state, evidence, judged, kind, &cells, (measure, widened))).collect())
}

/// The level of two cells' ratio: the higher of those that their ratios to the baseline have, because one that was chosen for
/// being short chose the launches of both.
fn level_of(judged: &Judged, measure: usize, pair: [usize; 2]) -> f64 {
    pair.iter().filter_map(|&cell| judged.wall(measure, cell)).map(|estimate| estimate.confidence).fold(LEVEL, f64::max)
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
    let evidence_of = |cell: usize| evidence.cells.get(&cell);
    let contrast = |a: usize, b: usize| points(evidence_of(a)?, evidence_of(b)?, measure, PairedCost::Wall);
    let reference = group.baseline.filter(|b| cells.contains(b)).or_else(|| cells.first().copied())?;
    let launched = |c: usize| contrast(reference, c).is_some_and(|points| points.len() >= LEAST_POINTS);
    let ranked: Vec<usize> = cells.iter().copied().filter(|&c| c == reference || launched(c)).collect();
    let base = ranked.iter().position(|c| Some(*c) == group.baseline);
    let pair = |a: usize, b: usize| contrast(ranked[a], ranked[b]).unwrap_or_default();
    let level = |a: usize, b: usize| level_of(judged, measure, [ranked[a], ranked[b]]);
    let ranking = rank_contrasts(ranked.len(), pair, level, base, (state.plan.margin, LEVEL), widened).ok()?;
    let leader = ranked[ranking.leader];
    // Methods of another kind are compared with the baseline of the ordinary ones.
    let outside = || {
        let baseline = group.baseline.filter(|_| base.is_none())?;
        let level = simultaneous(level_of(judged, measure, [leader, baseline]), ranked.len());
        Some(alone(evidence_of(baseline)?, evidence_of(leader)?, measure, PairedCost::Wall, level)?.widened(widened))
    };
    let over_baseline = ranking.claim.or_else(outside).map(|ratio| unmoved(&ratio));
    let (mut within, mut unsettled) = (Vec::new(), Vec::new());
    for ((&cell, standing), ratio) in ranked.iter().zip(&ranking.standings).zip(&ranking.to_leader) {
        match standing {
            Standing::Within => within.push((cell, ratio)),
            Standing::NotSettled => unsettled.push((cell, ratio)),
            Standing::Leader | Standing::Beaten => {}
        }
    }
    let log = |ratio: &&Option<RatioEstimate>| ratio.map_or(f64::INFINITY, |ratio| ratio.log);
    within.sort_by(|a, b| log(&a.1).total_cmp(&log(&b.1)));
    unsettled.sort_by(|a, b| log(&a.1).total_cmp(&log(&b.1)));
    Some(BestClaim {
        group: kind,
        leader,
        over_baseline,
        within: within.into_iter().map(|(cell, _)| cell).collect(),
        unsettled: unsettled
            .into_iter()
            .map(|(cell, ratio)| Unsettled { cell, ratio: ratio.as_ref().map(unmoved), more_s: None })
            .collect(),
        ranked: ranked.len(),
    })
}

/// As it is shown here: whether a ratio moved is told of the comparison with the baseline.
fn unmoved(estimate: &RatioEstimate) -> record::summary::Estimate {
    shown(&RatioEstimate { moved: None, ..*estimate })
}

/// Recommendation: of the methods that are as good as the fastest, and shown to be faster than the baseline, the one
/// that asks for the fewest kinds of calls, then for the least memory. Where none of these is shown to be faster but
/// another is, the fastest of the others. Nothing is recommended that is not shown to help.
pub(crate) fn recommend(state: &State, group: &Group, best: &[BestClaim], compared: &[CellComparison]) -> Recommendation {
    let Some(baseline) = group.baseline else { return Recommendation::Nothing };
    let Some(claim) = best.iter().find(|c| c.group.is_empty()) else { return Recommendation::Nothing };
    let headline = group.experiment.headline();
    let faster = |cell: usize| {
        let comparison = compared.iter().map(|c| &c.comparison).find(|c| c.cell == cell && c.phase == headline)?;
        let shown = matches!(comparison.verdict, Verdict::Faster { .. }) && comparison.holds_among_all;
        comparison.ratio.filter(|_| shown)
    };
    let ratio = |cell: usize| faster(cell).map_or(f64::INFINITY, |e| e.ratio);
    // A word that holds among all methods holds for whichever is chosen, so that none of these can be luck alone.
    let ordinary = |cell: &usize| state.cells[*cell].method.role == Role::Method && state.cells[*cell].method.group.is_empty();
    let shown: Vec<usize> = group.cells.iter().copied().filter(ordinary).filter(|&c| faster(c).is_some()).collect();
    let as_good = |cell: &usize| *cell == claim.leader || claim.within.contains(cell);
    let cost = |cell: usize| {
        let calls: usize = state.cells[cell].method.calls.values().map(Vec::len).sum();
        (calls, memory_bytes(&state.cells[cell]))
    };
    let chosen = if shown.iter().any(&as_good) {
        shown.iter().copied().filter(as_good).min_by_key(|&c| (cost(c), c != claim.leader))
    } else {
        shown.iter().copied().min_by(|a, b| ratio(*a).total_cmp(&ratio(*b)))
    };
    let may_be_faster = |c: &CellComparison| {
        let Comparison { cell, phase, ratio, .. } = &c.comparison;
        let lost = c.comparison.overall() == Verdict::NotSettled;
        phase == headline && ordinary(cell) && lost && ratio.is_some_and(|r| r.low < 1.0 / (1.0 + state.plan.margin))
    };
    match chosen.and_then(|cell| Some((cell, faster(cell)?))) {
        Some((cell, ratio)) => Recommendation::Use { cell, ratio },
        None if compared.iter().any(may_be_faster) => Recommendation::Inconclusive { cell: baseline },
        None if compared.iter().any(|c| c.comparison.ratio.is_some()) => Recommendation::Keep { cell: baseline },
        None => Recommendation::Nothing,
    }
}
