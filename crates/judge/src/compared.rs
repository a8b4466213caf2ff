//! Verdicts: each method of a group against its baseline, by the margin asked for and nothing else.

use record::state::State;
use record::summary::{Comparison, Verdict};
use stats::multiplicity::holm;

use crate::estimate::{Estimated, between};
use crate::evidence::{CellEvidence, Evidence};
use crate::flags::distrust;
use crate::groups::Group;
use crate::pairs::Column;

/// A word is said where it holds among all words of the run at this level (one-sided, as the limits of a 95 % interval).
const FAMILY: f64 = 0.025;

/// A comparison and the probability of its word where it is wrong.
pub(crate) struct Compared {
    pub comparison: Comparison,
    pub p: Option<f64>,
}

/// Whether a cell's figures may be compared with others'.
pub(crate) fn sound(evidence: &CellEvidence) -> bool {
    evidence.checks.outcome().is_none() && distrust(evidence).is_none()
}

pub(crate) fn compare(state: &State, evidence: &Evidence, group: &Group) -> Vec<Compared> {
    let Some((baseline, base)) = group.baseline.and_then(|b| Some((b, evidence.cells.get(&b)?))) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for &cell in group.cells.iter().filter(|c| **c != baseline) {
        let Some(mine) = evidence.cells.get(&cell) else { continue };
        let believable = sound(mine) && sound(base);
        for (measure, phase) in group.experiment.measures().enumerate() {
            let has = |e: &CellEvidence| e.launches.iter().any(|l| !l.measures[measure].wall_ns.is_empty());
            if !has(base) || !has(mine) {
                continue;
            }
            let estimate = |which| between(base, mine, measure, which).filter(|_| believable);
            let wall = estimate(Column::Wall);
            let word = |e: &Estimated| Verdict::of(e.estimate.low, e.estimate.high, state.plan.margin);
            let verdict = wall.as_ref().map_or(Verdict::NotSettled, word);
            let comparison = Comparison {
                cell,
                phase: phase.to_owned(),
                ratio: wall.map(|e| e.estimate),
                cpu_ratio: estimate(Column::Cpu).map(|e| e.estimate),
                faults_ratio: estimate(Column::Faults).map(|e| e.estimate),
                verdict,
                holds_among_all: true,
            };
            found.push(Compared { comparison, p: wall.and_then(|e| e.p_of(verdict, state.plan.margin)) });
        }
    }
    found
}

/// Marks the words that do not hold among all words of the run (Holm 1979).
pub(crate) fn adjust(all: &mut [Vec<Compared>]) {
    let words: Vec<f64> = all.iter().flatten().filter_map(|c| c.p).collect();
    let mut adjusted = holm(&words).into_iter();
    for compared in all.iter_mut().flatten().filter(|c| c.p.is_some()) {
        compared.comparison.holds_among_all = adjusted.next().is_some_and(|p| p <= FAMILY);
    }
}
