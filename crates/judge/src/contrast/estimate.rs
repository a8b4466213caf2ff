//! From launches to ratios with their intervals: the one place where a ratio's statistics are chosen.

use crate::contrast::groups::{Group, groups};
use crate::evidence::{CellEvidence, CellLaunch, Evidence, Figures};
use record::{decision::Width, method::Role, state::State, summary::NoteKind};
use stats::estimate::{Point, Ratio, confidence, estimate, prior};
use stats::{interval::CONFIDENCE, moderated::Prior};
use std::{borrow::Cow, collections::BTreeMap};

/// Confidence of the intervals that are shown, but where precision itself ended the run.
pub(crate) const LEVEL: f64 = CONFIDENCE;

/// The confidence of an experiment's intervals. While it runs it is the one that they have if precision ends it.
pub(crate) fn level(state: &State, experiment: &str) -> f64 {
    let by_precision = |notes: &[record::summary::Note]| {
        notes.iter().any(|note| {
            matches!(note.kind, NoteKind::PrecisionReached(_))
                && (note.experiment.is_empty() || note.experiment == experiment)
        })
    };
    confidence(
        state
            .ended
            .as_ref()
            .map_or(state.plan.precision > 0.0, |ended| {
                by_precision(&ended.notes)
            }),
    )
}

/// The ratios of cells to one of a group by one measure. Their variances are pooled; the floor's is no method's and stays out.
pub(crate) fn against(
    state: &State,
    evidence: &Evidence,
    group: &Group,
    base: usize,
    (measure, which): (usize, PairedCost),
    level: f64,
) -> BTreeMap<usize, Ratio> {
    let Some(base_evidence) = evidence.cells.get(&base) else {
        return BTreeMap::new();
    };
    let others = group
        .cells
        .iter()
        .copied()
        .chain(group.twin)
        .filter(|c| *c != base);
    let points_of = |cell: usize| {
        Some((
            cell,
            points(base_evidence, evidence.cells.get(&cell)?, measure, which)?,
        ))
    };
    let all: Vec<(usize, Vec<Point>)> = others.filter_map(points_of).collect();
    let methods = all
        .iter()
        .filter(|(cell, _)| state.cells[*cell].method.role != Role::Null);
    let common = prior(
        &methods
            .map(|(_, points)| points.clone())
            .collect::<Vec<_>>(),
    );
    let at = |points: &[Point]| {
        chosen(
            |level| estimate(points, &common, level).ok(),
            state.plan.precision,
            level,
        )
    };
    all.iter()
        .filter_map(|(cell, points)| Some((*cell, at(points)?)))
        .collect()
}

/// A ratio at its level. A cell leaves the launches as soon as its ratio is as narrow as asked, so a ratio that is has the
/// level of a run that its precision ended, however the run ended.
fn chosen(at: impl Fn(f64) -> Option<Ratio>, precision: f64, level: f64) -> Option<Ratio> {
    let stopped = at(confidence(true)).filter(|estimate| estimate.half_width() <= precision);
    stopped.or_else(|| at(level))
}

/// One cell's ratio to another by itself.
pub(crate) fn alone(
    base: &CellEvidence,
    other: &CellEvidence,
    measure: usize,
    which: PairedCost,
    level: f64,
) -> Option<Ratio> {
    estimate(&points(base, other, measure, which)?, &Prior::NONE, level).ok()
}

/// The logarithm of each ratio of two costs of the same block, in the order of `mine`; blocks of one side and costs that have
/// no finite ratio are left out.
pub(crate) fn logs_by_block<B: Ord>(
    base: impl Iterator<Item = (B, f64)>,
    mine: impl Iterator<Item = (B, f64)>,
) -> Vec<f64> {
    let mut first: BTreeMap<B, f64> = BTreeMap::new();
    for (block, cost) in base {
        first.entry(block).or_insert(cost);
    }
    mine.filter_map(|(block, cost)| Some((cost / first.get(&block)?).ln()))
        .filter(|log| log.is_finite())
        .collect()
}

/// The ratio from one logarithm a launch, in the order in which they ran, of whose rounds nothing is known.
pub(crate) fn of_series(logs: &[f64], level: f64) -> Option<Ratio> {
    let points: Vec<Point> = logs
        .iter()
        .map(|log| Point {
            log: *log,
            rounds: 1,
            round_variance: 0.0,
        })
        .collect();
    estimate(&points, &Prior::NONE, level).ok()
}

/// Place of a group's headline among the measures of its experiment.
fn headline_column(group: &Group) -> Option<usize> {
    let headline = group.experiment.headline();
    group.experiment.measures().position(|m| m == headline)
}

/// The widths of all headline ratios of an experiment that have one. Where none of them is ranked, all are.
pub fn half_widths(state: &State, evidence: &Evidence, experiment: &str) -> Vec<Width> {
    let mut widths = Vec::new();
    for group in groups(state, Some(experiment)) {
        let Some(measure) = headline_column(&group) else {
            continue;
        };
        let Some(base) = group.baseline else { continue };
        let ratios = against(
            state,
            evidence,
            &group,
            base,
            (measure, PairedCost::Wall),
            level(state, experiment),
        );
        // How wide the floor's ratio is does not matter: nobody chooses it.
        let is_null = |c: &usize| state.cells[*c].method.role == Role::Null;
        let others = group
            .cells
            .iter()
            .copied()
            .chain(group.twin)
            .filter(|c| *c != base);
        for cell in others.filter(|c| !is_null(c)) {
            if let Some(found) = ratios.get(&cell) {
                let (planned, first) = (&state.cells[cell], &state.cells[base].cell.worker);
                widths.push(Width {
                    base,
                    cell,
                    half_width: found.half_width(),
                    ranked: !planned.twin
                        && planned.cell.worker == *first
                        && planned.method.group.is_empty()
                        && matches!(planned.method.role, Role::Method | Role::Published),
                });
            }
        }
    }
    if !widths.iter().any(|w| w.ranked) {
        widths.iter_mut().for_each(|w| w.ranked = true);
    }
    widths
}

/// Every cell against the baseline of its group by the headline: the logarithm of each launch's ratio, in their order.
pub fn launch_logs(state: &State, evidence: &Evidence) -> Vec<(usize, Vec<f64>)> {
    let mut logs = Vec::new();
    for group in groups(state, None) {
        let measure = headline_column(&group);
        let Some((base, measure)) = group.baseline.zip(measure) else {
            continue;
        };
        let Some(base_evidence) = evidence.cells.get(&base) else {
            continue;
        };
        for cell in group
            .cells
            .iter()
            .copied()
            .chain(group.twin)
            .filter(|c| *c != base)
        {
            let all = evidence
                .cells
                .get(&cell)
                .and_then(|e| points(base_evidence, e, measure, PairedCost::Wall));
            logs.extend(all.map(|all| (cell, all.iter().map(|point| point.log).collect())));
        }
    }
    logs
}

/// Every group's baseline against its hidden duplicate, and the logarithm of each launch's ratio.
pub fn twins(state: &State, evidence: &Evidence) -> Vec<(Ratio, Vec<f64>)> {
    let mut estimates = Vec::new();
    for group in groups(state, None) {
        let measure = headline_column(&group);
        let Some(((base, twin), measure)) = group.baseline.zip(group.twin).zip(measure) else {
            continue;
        };
        let ratios = against(
            state,
            evidence,
            &group,
            base,
            (measure, PairedCost::Wall),
            level(state, &group.experiment.name),
        );
        let Some(ratio) = ratios.get(&twin) else {
            continue;
        };
        let Some((base, twin)) = evidence.cells.get(&base).zip(evidence.cells.get(&twin)) else {
            continue;
        };
        let launches = points(base, twin, measure, PairedCost::Wall).unwrap_or_default();
        estimates.push((*ratio, launches.iter().map(|point| point.log).collect()));
    }
    estimates
}

// Hidden duplicates of a run's baselines: the widths that its intervals must have, and whether it can be believed.

/// Cost of a column in each round.
#[derive(Clone, Copy)]
pub(crate) enum PairedCost {
    Wall,
    Cpu,
    Faults,
}

pub(crate) fn column(figures: &Figures, column: PairedCost) -> &[f64] {
    match column {
        PairedCost::Wall => &figures.wall_ns,
        PairedCost::Cpu => &figures.cpu_ns,
        PairedCost::Faults => &figures.minor_faults,
    }
}

/// Results of a launch for both: round by round where they shared a process, otherwise each side by itself.
struct LaunchPair<'a> {
    paired: bool,
    base: Cow<'a, [f64]>,
    mine: Cow<'a, [f64]>,
}

/// The ratio of b to a in every block in which both were launched, with the number of b's launch, in the order in which they
/// ran; `None` where a launch has no finite ratio. Where any sample is zero, all launches count by their means.
pub(crate) fn numbered(
    a: &CellEvidence,
    b: &CellEvidence,
    measure: usize,
    which: PairedCost,
) -> Option<Vec<(usize, Point)>> {
    let by_block: BTreeMap<i32, &CellLaunch> =
        a.launches.iter().rev().map(|l| (l.block, l)).collect();
    let mut rows: Vec<(usize, LaunchPair)> = Vec::new();
    for mine in &b.launches {
        let Some(base) = by_block.get(&mine.block) else {
            continue;
        };
        let row = row(base, mine, measure, which);
        if !row.base.is_empty() && !row.mine.is_empty() {
            rows.push((mine.launch, row));
        }
    }
    let by_means = rows.iter().any(|(_, row)| {
        row.base
            .iter()
            .chain(row.mine.iter())
            .any(|cost| *cost == 0.0)
    });
    rows.iter()
        .map(|(launch, row)| {
            Some((
                *launch,
                if by_means {
                    of_means(row)?
                } else {
                    of_rounds(row)?
                },
            ))
        })
        .collect()
}

/// The same without the numbers.
pub(crate) fn points(
    a: &CellEvidence,
    b: &CellEvidence,
    measure: usize,
    which: PairedCost,
) -> Option<Vec<Point>> {
    Some(
        numbered(a, b, measure, which)?
            .into_iter()
            .map(|(_, point)| point)
            .collect(),
    )
}

fn row<'a>(
    base: &'a CellLaunch,
    mine: &'a CellLaunch,
    measure: usize,
    which: PairedCost,
) -> LaunchPair<'a> {
    let (x, y) = (
        column(&base.measures[measure], which),
        column(&mine.measures[measure], which),
    );
    let whole = x.len() == base.rounds.len() && y.len() == mine.rounds.len();
    if base.launch != mine.launch || !whole {
        return LaunchPair {
            paired: false,
            base: x.into(),
            mine: y.into(),
        };
    }
    if base.rounds == mine.rounds {
        return LaunchPair {
            paired: true,
            base: x.into(),
            mine: y.into(),
        };
    }
    // Who takes part in fewer rounds is compared with the other's figures of just these.
    let of_round: BTreeMap<i32, f64> = base.rounds.iter().copied().zip(x.iter().copied()).collect();
    let both = mine
        .rounds
        .iter()
        .zip(y)
        .filter_map(|(round, mine)| Some((*of_round.get(round)?, *mine)));
    let (base, mine): (Vec<f64>, Vec<f64>) = both.unzip();
    LaunchPair {
        paired: true,
        base: base.into(),
        mine: mine.into(),
    }
}

fn of_rounds(row: &LaunchPair) -> Option<Point> {
    let logs = |costs: &[f64]| costs.iter().map(|cost| cost.ln()).collect::<Vec<_>>();
    if row.paired {
        Point::of_rounds(
            &row.mine
                .iter()
                .zip(row.base.iter())
                .map(|(m, b)| (m / b).ln())
                .collect::<Vec<_>>(),
        )
        .ok()
    } else {
        Point::of_sides(&logs(&row.base), &logs(&row.mine)).ok()
    }
}

fn of_means(row: &LaunchPair) -> Option<Point> {
    let mean = |costs: &[f64]| costs.iter().sum::<f64>() / costs.len() as f64;
    let log = (mean(&row.mine) / mean(&row.base)).ln();
    log.is_finite().then(|| Point {
        log,
        rounds: row.base.len().min(row.mine.len()),
        round_variance: 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(launch: usize, rounds: &[i32], wall_ns: &[f64]) -> CellEvidence {
        let figures = Figures {
            wall_ns: wall_ns.to_vec(),
            ..Figures::default()
        };
        let launch = CellLaunch {
            launch,
            block: 0,
            measures: vec![figures],
            rounds: rounds.to_vec(),
            latencies: BTreeMap::new(),
            interrupted: 0.0,
            noise: None,
            wall_s: 1.0,
            laboratory_cpu_s: 0.0,
        };
        CellEvidence {
            launches: vec![launch],
            ..CellEvidence::default()
        }
    }

    fn ratio(a: &CellEvidence, b: &CellEvidence) -> Option<(f64, usize)> {
        let found = points(a, b, 0, PairedCost::Wall)?;
        Some((found.first()?.log.exp(), found[0].rounds))
    }

    #[test]
    fn who_comes_in_fewer_rounds_is_held_against_these() {
        let base = cell(0, &[0, 1, 2, 3], &[10.0, 100.0, 10.0, 100.0]);
        let (ratio, rounds) = ratio(&base, &cell(0, &[1, 3], &[200.0, 200.0])).unwrap();
        assert!((ratio - 2.0).abs() < 1e-12 && rounds == 2);
    }

    #[test]
    fn processes_of_their_own_are_compared_side_by_side() {
        let base = cell(0, &[0, 1], &[10.0, 10.0]);
        let (found, rounds) = ratio(&base, &cell(1, &[0, 1, 2], &[30.0, 30.0, 30.0])).unwrap();
        assert!((found - 3.0).abs() < 1e-12 && rounds == 2);
    }

    #[test]
    fn zeros_turn_to_means_and_nothing_has_no_ratio() {
        let base = cell(0, &[0, 1], &[0.0, 10.0]);
        assert!((ratio(&base, &cell(0, &[0, 1], &[10.0, 10.0])).unwrap().0 - 2.0).abs() < 1e-12);
        assert_eq!(ratio(&base, &cell(0, &[0, 1], &[0.0, 0.0])), None);
    }
}
