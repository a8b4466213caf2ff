//! The fastest methods of a group, what may be claimed of them, and figures beside its overhead and its lower bound.

use crate::contrast::estimate::{LEVEL, against, alone};
use crate::contrast::verdicts::{CellComparison, Judged, sound};
use crate::evidence::pairs::Metric;
use crate::{contrast::groups::Group, evidence::Evidence};
use anyhow::Result;
use record::parameters::Parameters;
use record::summary::{
    BestClaim, CellSummary, Comparison, GroupSummary, Recommendation, Unsettled, Verdict,
};
use record::{expression::Values, kind::Kind, method::Role, plan::PlannedCell, state::State};
use stats::estimate::{LEAST_POINTS, Point, Ratio};
use stats::leader::{RankingTerms, Standing, rank_contrasts, simultaneous};
use stats::quantile::median;
use std::collections::BTreeMap;

/// The claims of a group: methods are ranked within one kind only.
pub(crate) fn claims(
    state: &State,
    evidence: &Evidence,
    judged: &Judged,
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
    let Some(measure) = group.headline_measure() else {
        return Ok(Vec::new());
    };
    let contest = Contest {
        evidence,
        judged,
        measure,
        margin: state.plan.margin,
    };
    Ok(by_kind
        .into_iter()
        .filter_map(|(kind, cells)| contest.claim(kind, &cells))
        .collect())
}

/// Ranking of a group's methods by its headline.
struct Contest<'a> {
    evidence: &'a Evidence,
    judged: &'a Judged<'a>,
    measure: usize,
    margin: f64,
}

impl Contest<'_> {
    /// The claim on methods of one kind.
    fn claim(&self, kind: String, cells: &[usize]) -> Option<BestClaim> {
        let baseline = self.judged.group.baseline;
        let reference = baseline
            .filter(|b| cells.contains(b))
            .or_else(|| cells.first().copied())?;
        let ranked: Vec<usize> = cells
            .iter()
            .copied()
            .filter(|&cell| cell == reference || self.points(reference, cell).len() >= LEAST_POINTS)
            .collect();
        let ranking = rank_contrasts(
            ranked.len(),
            |a, b| self.points(ranked[a], ranked[b]),
            |a, b| self.level(ranked[a]).max(self.level(ranked[b])),
            ranked.iter().position(|cell| Some(*cell) == baseline),
            RankingTerms {
                margin: self.margin,
                confidence: LEVEL,
                widening: self.judged.widened,
            },
        )
        .ok()?;
        let mut fastest_first: Vec<usize> = (0..ranked.len()).collect();
        fastest_first.sort_by(|&a, &b| {
            let [a, b] = [a, b].map(|at| log_or_infinity(&ranking.to_leader[at]));
            a.total_cmp(&b)
        });
        let (mut within, mut unsettled) = (Vec::new(), Vec::new());
        for at in fastest_first {
            match ranking.standings[at] {
                Standing::Within => within.push(ranked[at]),
                Standing::NotSettled => unsettled.push(Unsettled {
                    cell: ranked[at],
                    ratio: ranking.to_leader[at].as_ref().map(Ratio::undrifted),
                }),
                Standing::Leader | Standing::Beaten => {}
            }
        }
        Some(BestClaim {
            group: kind,
            leader: ranked[ranking.leader],
            within,
            unsettled,
            ranked: ranked.len(),
        })
    }

    /// The launches of a pair of cells; none where a launch has no finite ratio.
    fn points(&self, base: usize, cell: usize) -> Vec<Point> {
        self.evidence
            .points(base, cell, Metric::wall(self.measure))
            .unwrap_or_default()
    }

    /// The level of a cell's ratio. A pair has the higher one of its cells, since a short one chose the launches of both.
    fn level(&self, cell: usize) -> f64 {
        self.judged
            .wall(self.measure, cell)
            .map_or(LEVEL, |ratio| ratio.level.max(LEVEL))
    }
}

fn log_or_infinity(ratio: &Option<Ratio>) -> f64 {
    ratio.map_or(f64::INFINITY, |ratio| ratio.log())
}

/// Ratio to the fastest up to which the simplest is named: which of two so near is the faster would change from run to run, and
/// the word with it (docs/evidence/flips.md).
const NEAR: f64 = 1.05;

/// An ordinary method that was compared with the baseline, with the calls and the bytes of memory that it asks for.
struct Rival {
    cell: usize,
    ratio: Ratio,
    verdict: Verdict,
    may_be_faster: bool,
    cost: (usize, u64),
}

impl Rival {
    /// A comparison of an ordinary method by the group's headline, if it has a ratio.
    fn new(state: &State, group: &Group, comparison: &Comparison) -> Option<Rival> {
        let planned = &state.cells[comparison.cell];
        let method = &planned.method;
        if !is_rival(state, group, comparison) {
            return None;
        }
        Some(Rival {
            cell: comparison.cell,
            ratio: comparison.contrast.ratio?,
            verdict: comparison.contrast.overall(),
            may_be_faster: comparison.may_be_faster(state.plan.margin),
            cost: (
                method.calls.values().map(Vec::len).sum(),
                memory_bytes(planned),
            ),
        })
    }

    fn is_faster(&self) -> bool {
        matches!(self.verdict, Verdict::Faster { .. })
    }
}

/// Tells whether an ordinary method is compared by the headline.
fn is_rival(state: &State, group: &Group, comparison: &Comparison) -> bool {
    let method = &state.cells[comparison.cell].method;
    let is_ordinary = method.role == Role::Method && method.group.is_empty();
    is_ordinary && comparison.phase == group.experiment.headline()
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
    near.filter(|rival| rival.cell == may_be_near.cell && rival.is_faster() && fastest.is_faster())
}

/// A method to recommend, and the other methods that are as good.
struct BestSet<'a> {
    named: &'a Rival,
    alike: Vec<usize>,
}

/// The best methods of these: the simplest, and those about as fast that are not set apart from it, the fastest first. `None`
/// where none is to be named, or where one that is not set apart from it and seems faster is not shown to beat the baseline.
fn best_set<'a>(
    rivals: &'a [Rival],
    are_apart: impl Fn(usize, usize) -> bool,
) -> Option<BestSet<'a>> {
    let named = simplest(rivals)?;
    let mut alike: Vec<&Rival> = rivals
        .iter()
        .filter(|r| r.cell != named.cell && r.ratio.ratio < NEAR * named.ratio.ratio)
        .filter(|r| !are_apart(named.cell, r.cell))
        .collect();
    let seems_faster = |r: &&Rival| r.ratio.ratio < named.ratio.ratio;
    if alike
        .iter()
        .filter(|r| seems_faster(r))
        .any(|r| !r.is_faster())
    {
        return None;
    }
    alike.retain(|r| r.is_faster());
    alike.sort_by(|a, b| a.ratio.ratio.total_cmp(&b.ratio.ratio));
    let alike = alike.into_iter().map(|r| r.cell).collect();
    Some(BestSet { named, alike })
}

/// Tells whether launches set two methods apart: their ratio by itself is beyond the margin.
fn are_apart(state: &State, evidence: &Evidence, judged: &Judged, cells: (usize, usize)) -> bool {
    let ratio = judged
        .group
        .headline_measure()
        .and_then(|measure| ratio(evidence, cells.1, cells.0, measure, LEVEL));
    ratio.is_some_and(|ratio| {
        let ratio = ratio.widened(judged.widened);
        Verdict::from_interval(ratio.low, ratio.high, state.plan.margin).differs()
    })
}

/// Recommendation for a group, with the methods that are as good as a recommended one. A word that holds among all methods holds
/// for whichever is chosen, so that none is luck alone.
pub(crate) fn recommend(
    state: &State,
    evidence: &Evidence,
    judged: &Judged,
    compared: &[CellComparison],
) -> (Recommendation, Vec<usize>) {
    let group = judged.group;
    let Some(baseline) = group.baseline else {
        return (Recommendation::Nothing, Vec::new());
    };
    let rivals: Vec<Rival> = compared
        .iter()
        .filter_map(|c| Rival::new(state, group, &c.comparison))
        .collect();
    // A believed method with too few launches for an interval may be anything.
    let is_unknown = |c: &CellComparison| {
        let comparison = &c.comparison;
        let cells = [comparison.cell, baseline];
        is_rival(state, group, comparison)
            && comparison.contrast.ratio.is_none()
            && cells
                .iter()
                .all(|&cell| judged.sound(evidence, cell).is_some())
    };
    let may_be_faster = rivals.iter().any(|rival| rival.may_be_faster);
    let best = best_set(&rivals, |a, b| are_apart(state, evidence, judged, (a, b)));
    let recommendation = match &best {
        Some(BestSet { named, .. }) => Recommendation::Use {
            cell: named.cell,
            ratio: named.ratio,
            everywhere: true,
        },
        None if rivals.is_empty() => Recommendation::Nothing,
        None if may_be_faster || compared.iter().any(is_unknown) => {
            Recommendation::Inconclusive { cell: baseline }
        }
        None => Recommendation::Keep { cell: baseline },
    };
    (
        recommendation,
        best.map_or_else(Vec::new, |best| best.alike),
    )
}

/// The least that this machine can take for the group's job: the fastest cell of role `limit`, or a method that is shown to
/// be faster than it, which then takes its place for the run.
pub(crate) fn best_possible(
    state: &State,
    evidence: &Evidence,
    judged: &Judged,
) -> Result<Option<usize>> {
    let group = judged.group;
    let Some(measure) = group.headline_measure() else {
        return Ok(None);
    };
    let (mut limits, mut methods) = (Vec::new(), Vec::new());
    for &cell in &group.cells {
        let method = &state.cells[cell].method;
        let good =
            state.cells[cell].outcome.is_none() && evidence.cells.get(&cell).is_some_and(sound);
        match method.role {
            Role::Limit if good => limits.push(cell),
            // Who moves pages or throws bytes away does another job, and is no share of this one.
            Role::Method if good && method.group.is_empty() => methods.push(cell),
            _ => {}
        }
    }
    let Some(&first) = limits.first() else {
        return Ok(None);
    };
    // Any of the methods may be the one that seems faster, so that each interval must hold together with theirs.
    let level = simultaneous(LEVEL, methods.len());
    let mut best = first;
    for &limit in &limits[1..] {
        // Limits are candidates for one place and take part in few launches: which is the least needs no interval.
        let quotient = ratio(evidence, limit, best, measure, level)
            .map(|ratio| ratio.widened(judged.widened).ratio)
            .or_else(|| {
                Some(typical(evidence, limit, measure)? / typical(evidence, best, measure)?)
            });
        if quotient.is_some_and(|quotient| quotient < 1.0) {
            best = limit;
        }
    }
    for &method in &methods {
        let ratio = ratio(evidence, method, best, measure, level);
        if ratio.is_some_and(|ratio| ratio.widened(judged.widened).high < 1.0) {
            best = method;
        }
    }
    Ok(Some(best))
}

fn ratio(
    evidence: &Evidence,
    cell: usize,
    base: usize,
    measure: usize,
    level: f64,
) -> Option<Ratio> {
    alone(evidence, base, cell, Metric::wall(measure), level)
}

/// The median of a cell's launches, each by its median round, in nanoseconds.
fn typical(evidence: &Evidence, cell: usize, measure: usize) -> Option<f64> {
    let mut launches: Vec<f64> = evidence
        .cells
        .get(&cell)?
        .launches
        .iter()
        .filter_map(|launch| median(&mut launch.measures[measure].wall_ns.clone()))
        .collect();
    median(&mut launches)
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
                // A phase with two levels costs more than the floor on the upper one at least.
                phase.below_floor = phase.levels.is_none()
                    && floor
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
            group.alike.clear();
        }
    }
}

/// Share of each cell's time that the lower bound would take, as a paired ratio with its interval.
pub(crate) fn shares(
    state: &State,
    evidence: &Evidence,
    cells: &mut [CellSummary],
    summaries: &[GroupSummary],
    judged: &[Judged],
) {
    for (summary, judged) in summaries.iter().zip(judged) {
        let Some(best) = summary.best_possible else {
            continue;
        };
        let kind = cells[best].group.clone();
        for (measure, name) in judged.group.experiment.measures().enumerate() {
            let ratios = against(state, evidence, judged.group, best, Metric::wall(measure));
            for (cell, ratio) in ratios {
                if cells[cell].group == kind
                    && cells[cell].role != Role::Null
                    && summary.cells.contains(&cell)
                    && let Some(phase) = cells[cell].phases.get_mut(name)
                {
                    let share = ratio.widened(judged.widened).inverse().undrifted();
                    phase.of_best_possible = Some(share).filter(|e| e.ratio.is_finite());
                }
            }
        }
    }
}

/// A cell's parameters as operands; pages are of the usual size, which is near enough to rank by.
struct Operands<'a>(&'a Parameters);

impl Values for Operands<'_> {
    fn number(&self, name: &str) -> Option<i128> {
        match name {
            "rounds" => Some(1),
            "page_bytes" => Some(4096),
            "huge_page_bytes" => Some(2 << 20),
            _ => self.0.number(name).map(i128::from),
        }
    }

    fn word(&self, name: &str) -> Option<&str> {
        self.0.word(name)
    }
}

/// Bytes that a cell needs at its peak for one round, by its method's own word; the most there is where that cannot be told.
fn memory_bytes(planned: &PlannedCell) -> u64 {
    let bytes = planned
        .method
        .memory
        .value(&Operands(&planned.cell.parameters))
        .ok();
    bytes
        .and_then(|b| u64::try_from(b.max(0)).ok())
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The cell that is named of these.
    fn named(rivals: &[Rival]) -> Option<usize> {
        simplest(rivals).map(|rival| rival.cell)
    }

    /// A cell with a ratio, kinds of calls, and whether it is shown to be faster than the baseline.
    fn rival(cell: usize, ratio: f64, calls: usize, shown: bool) -> Rival {
        Rival {
            cell,
            ratio: Ratio {
                ratio,
                low: ratio * 0.9,
                high: ratio * 1.1,
                level: 0.95,
                launches: 10,
                error: 0.04,
                freedom: 9.0,
                drift: None,
            },
            verdict: if shown {
                Verdict::Faster { at_least: 0.1 }
            } else {
                Verdict::NotSettled
            },
            may_be_faster: true,
            cost: (calls, 0),
        }
    }

    #[test]
    fn the_simplest_near_the_fastest_is_named_if_both_are_shown_to_be_faster() {
        let fastest = rival(0, 0.50, 3, true);
        let near = rival(1, 0.52, 1, true);
        let far = rival(2, 0.80, 0, true);
        assert_eq!(named(&[fastest, near, far]), Some(1));
        assert_eq!(
            named(&[rival(0, 0.50, 3, true), rival(1, 0.60, 1, true)]),
            None,
            "may be near: 0.54 is within 5 % of 0.55"
        );
        assert_eq!(
            named(&[rival(0, 0.50, 3, true), rival(1, 0.80, 1, true)]),
            Some(0)
        );
        // Which of two simple ones it is must not depend on how exactly the one was measured.
        assert_eq!(
            named(&[rival(0, 0.50, 3, true), rival(1, 0.52, 1, false)]),
            None
        );
        assert_eq!(
            named(&[rival(0, 0.40, 3, false), rival(1, 0.50, 1, true)]),
            None
        );
        assert_eq!(named(&[]), None);
    }

    #[test]
    fn methods_that_are_not_set_apart_from_the_named_one_are_named_with_it() {
        // thp-populate seems a hair faster than thp, which makes fewer calls.
        let rivals = [
            rival(1, 0.225, 1, true),
            rival(2, 0.22, 2, true),
            rival(3, 0.40, 1, true),
        ];
        let set = best_set(&rivals, |_, _| false).unwrap();
        assert_eq!((set.named.cell, set.alike), (1, vec![2]));
        let set = best_set(&rivals, |_, _| true).unwrap();
        assert_eq!((set.named.cell, set.alike), (1, vec![]));
    }

    proptest! {
        /// No method is recommended alone, nor at all without it, where another seems faster and is not set apart from it.
        #[test]
        fn a_recommended_method_is_never_alone_where_one_not_set_apart_seems_faster(
            drawn in prop::collection::vec((0.1f64..1.1, 0usize..4, any::<bool>(), any::<bool>()), 1..7),
        ) {
            let rivals: Vec<Rival> = drawn
                .iter()
                .enumerate()
                .map(|(cell, &(ratio, calls, shown, _))| rival(cell, ratio, calls, shown))
                .collect();
            let are_apart = |a: usize, b: usize| drawn[a].3 != drawn[b].3;
            let Some(set) = best_set(&rivals, are_apart) else {
                return Ok(());
            };
            let named = set.named;
            for other in rivals.iter().filter(|r| r.ratio.ratio < named.ratio.ratio) {
                let is_named = set.alike.contains(&other.cell);
                prop_assert!(are_apart(named.cell, other.cell) || is_named);
            }
            let named_too = set.alike.iter().map(|&cell| &rivals[cell]);
            for other in named_too {
                prop_assert!(other.cell != named.cell && other.is_faster());
            }
        }
    }
}
