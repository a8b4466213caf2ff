//! One cell against another: what each launch says of their ratio.

use crate::evidence::{CellEvidence, CellLaunch, Figures};
use stats::estimate::Point;
use std::borrow::Cow;
use std::collections::BTreeMap;

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
pub(crate) fn numbered(a: &CellEvidence, b: &CellEvidence, measure: usize, which: PairedCost) -> Option<Vec<(usize, Point)>> {
    let by_block: BTreeMap<i32, &CellLaunch> = a.launches.iter().rev().map(|l| (l.block, l)).collect();
    let mut rows: Vec<(usize, LaunchPair)> = Vec::new();
    for mine in &b.launches {
        let Some(base) = by_block.get(&mine.block) else { continue };
        let row = row(base, mine, measure, which);
        if !row.base.is_empty() && !row.mine.is_empty() {
            rows.push((mine.launch, row));
        }
    }
    let by_means = rows.iter().any(|(_, row)| row.base.iter().chain(row.mine.iter()).any(|cost| *cost == 0.0));
    rows.iter().map(|(launch, row)| Some((*launch, if by_means { of_means(row)? } else { of_rounds(row)? }))).collect()
}

/// The same without the numbers.
pub(crate) fn points(a: &CellEvidence, b: &CellEvidence, measure: usize, which: PairedCost) -> Option<Vec<Point>> {
    Some(numbered(a, b, measure, which)?.into_iter().map(|(_, point)| point).collect())
}

fn row<'a>(base: &'a CellLaunch, mine: &'a CellLaunch, measure: usize, which: PairedCost) -> LaunchPair<'a> {
    let (x, y) = (column(&base.measures[measure], which), column(&mine.measures[measure], which));
    let whole = x.len() == base.rounds.len() && y.len() == mine.rounds.len();
    if base.launch != mine.launch || !whole {
        return LaunchPair { paired: false, base: x.into(), mine: y.into() };
    }
    if base.rounds == mine.rounds {
        return LaunchPair { paired: true, base: x.into(), mine: y.into() };
    }
    // Who takes part in fewer rounds is compared with the other's figures of just these.
    let of_round: BTreeMap<i32, f64> = base.rounds.iter().copied().zip(x.iter().copied()).collect();
    let both = mine.rounds.iter().zip(y).filter_map(|(round, mine)| Some((*of_round.get(round)?, *mine)));
    let (base, mine): (Vec<f64>, Vec<f64>) = both.unzip();
    LaunchPair { paired: true, base: base.into(), mine: mine.into() }
}

fn of_rounds(row: &LaunchPair) -> Option<Point> {
    let logs = |costs: &[f64]| costs.iter().map(|cost| cost.ln()).collect::<Vec<_>>();
    if row.paired {
        Point::of_rounds(&row.mine.iter().zip(row.base.iter()).map(|(m, b)| (m / b).ln()).collect::<Vec<_>>()).ok()
    } else {
        Point::of_sides(&logs(&row.base), &logs(&row.mine)).ok()
    }
}

fn of_means(row: &LaunchPair) -> Option<Point> {
    let mean = |costs: &[f64]| costs.iter().sum::<f64>() / costs.len() as f64;
    let log = (mean(&row.mine) / mean(&row.base)).ln();
    log.is_finite().then(|| Point { log, rounds: row.base.len().min(row.mine.len()), round_variance: 0.0 })
}

#[cfg(test)]
#[path = "../tests/unit/pairs.rs"]
mod tests;
