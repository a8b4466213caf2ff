//! The fastest methods of a group, and what may be claimed of them.

use std::collections::BTreeMap;

use anyhow::Result;
use record::method::Role;
use record::state::State;
use record::summary::{BestClaim, Recommendation, Unsettled, Verdict};

use crate::compared::{Compared, sound};
use crate::estimate::{Estimated, LEVEL, between, between_at};
use crate::evidence::{CellEvidence, Evidence};
use crate::footprint::memory_bytes;
use crate::groups::Group;
use crate::pairs::Column;

/// How many times narrower an interval may have to become before nothing is foretold of it.
const MOST_NARROWER: f64 = 12.0;

/// The claims of a group: methods are ranked within one kind only.
pub(crate) fn claims(state: &State, evidence: &Evidence, group: &Group) -> Result<Vec<BestClaim>> {
    let mut by_kind: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &cell in &group.cells {
        let method = &state.cells[cell].method;
        let good = state.cells[cell].outcome.is_none() && evidence.cells.get(&cell).is_some_and(sound);
        if method.role == Role::Method && good {
            by_kind.entry(method.group.clone()).or_default().push(cell);
        }
    }
    let headline = group.experiment.headline();
    let Some(measure) = group.experiment.measures().position(|m| m == headline) else { return Ok(Vec::new()) };
    let kinds = by_kind.into_iter();
    Ok(kinds.filter_map(|(kind, cells)| claim(state, evidence, group, kind, &cells, measure)).collect())
}

fn claim(
    state: &State,
    evidence: &Evidence,
    group: &Group,
    kind: String,
    cells: &[usize],
    measure: usize,
) -> Option<BestClaim> {
    let of = |cell: usize| evidence.cells.get(&cell);
    let reference = group.baseline.filter(|b| cells.contains(b)).or_else(|| cells.first().copied())?;
    let log = |cell: usize| match cell == reference {
        true => Some(0.0),
        false => between(of(reference)?, of(cell)?, measure, Column::Wall).map(|e| e.estimate.ratio.ln()),
    };
    let mut ranked: Vec<(usize, f64)> = cells.iter().filter_map(|&c| Some((c, log(c)?))).collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (leader, _) = *ranked.first()?;
    // The leader was chosen as the best of so many, so that its interval must hold for any of them (Bonferroni).
    let together = 1.0 - (1.0 - LEVEL) / (ranked.len() as f64 - 1.0).max(1.0);
    let over_baseline = group
        .baseline
        .filter(|b| *b != leader)
        .and_then(|b| between_at(of(b)?, of(leader)?, measure, Column::Wall, together))
        .map(|e| e.estimate);
    let (mut within, mut unsettled) = (Vec::new(), Vec::new());
    for &(cell, _) in &ranked[1..] {
        let pair = of(leader).zip(of(cell));
        let estimated = pair.and_then(|(a, b)| between_at(a, b, measure, Column::Wall, together));
        let word = estimated.map(|e| Verdict::of(e.estimate.low, e.estimate.high, state.plan.margin));
        match word {
            Some(Verdict::Within { .. }) => within.push(cell),
            Some(Verdict::Slower { .. }) => {}
            _ => unsettled.push(Unsettled {
                cell,
                ratio: estimated.map(|e| e.estimate),
                more_s: estimated.zip(pair).and_then(|(e, (a, b))| seconds_to_settle(&e, state.plan.margin, a, b)),
            }),
        }
    }
    Some(BestClaim { group: kind, leader, over_baseline, within, unsettled, ranked: ranked.len() })
}

/// Seconds of launching this pair alone until its interval should lie on one side of the margin's edge, if the spread stays
/// what it is: widths shrink with the root of the number of launches.
fn seconds_to_settle(pair: &Estimated, margin: f64, a: &CellEvidence, b: &CellEvidence) -> Option<f64> {
    let half = (pair.estimate.high / pair.estimate.low).ln() / 2.0;
    let clearance = (pair.estimate.ratio.ln().abs() - (1.0 + margin).ln()).abs();
    let times = half / clearance;
    if !times.is_finite() || times > MOST_NARROWER {
        return None;
    }
    let mut seconds: BTreeMap<usize, f64> = BTreeMap::new();
    a.launches.iter().chain(&b.launches).for_each(|l| {
        seconds.insert(l.launch, l.wall_s);
    });
    Some((times * times - 1.0).max(0.1) * seconds.values().sum::<f64>())
}

/// What to do: of the methods that are as good as the fastest, and shown to be faster than the baseline, the one that asks for
/// the fewest kinds of calls, then for the least memory. Nothing is recommended that is not shown to help.
pub(crate) fn recommend(state: &State, group: &Group, best: &[BestClaim], compared: &[Compared]) -> Recommendation {
    let Some(baseline) = group.baseline else { return Recommendation::Nothing };
    let Some(claim) = best.iter().find(|c| c.group.is_empty()) else { return Recommendation::Nothing };
    let headline = group.experiment.headline();
    let faster = |cell: usize| {
        let found = compared.iter().map(|c| &c.comparison).find(|c| c.cell == cell && c.phase == headline)?;
        let shown = matches!(found.verdict, Verdict::Faster { .. }) && found.holds_among_all;
        found.ratio.filter(|_| shown)
    };
    let leads = claim.over_baseline.is_some_and(|e| e.high < 1.0 / (1.0 + state.plan.margin));
    let leader = (leads && faster(claim.leader).is_some()).then_some(claim.leader);
    let cost = |cell: usize| {
        let calls: usize = state.cells[cell].method.calls.values().map(Vec::len).sum();
        (calls, memory_bytes(&state.cells[cell]))
    };
    let as_good = leader.into_iter().chain(claim.within.iter().copied().filter(|_| leader.is_some()));
    let chosen = as_good.filter(|&c| faster(c).is_some()).min_by_key(|&c| (cost(c), c != claim.leader));
    match chosen.and_then(|cell| Some((cell, faster(cell)?))) {
        Some((cell, ratio)) => Recommendation::Use { cell, ratio },
        None if compared.iter().any(|c| c.comparison.ratio.is_some()) => Recommendation::Keep { cell: baseline },
        None => Recommendation::Nothing,
    }
}
