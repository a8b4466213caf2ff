//! One cell against another: logarithms of ratios, block by block.

use stats::quantile::median;
use stats::ratio::{Basis, Paired, log_ratios};

use crate::evidence::{CellEvidence, Figures};

/// What a column costs in each round.
#[derive(Clone, Copy)]
pub(crate) enum Column {
    Wall,
    Cpu,
    Faults,
}

pub(crate) fn column(figures: &Figures, column: Column) -> &[f64] {
    match column {
        Column::Wall => &figures.wall_ns,
        Column::Cpu => &figures.cpu_ns,
        Column::Faults => &figures.minor_faults,
    }
}

/// One logarithm per block in which both cells were launched, or why there is none.
pub(crate) fn logs(
    a: &CellEvidence,
    b: &CellEvidence,
    measure: usize,
    which: Column,
) -> Option<(Vec<f64>, Vec<i32>, Basis)> {
    let mut rows: Vec<(i32, Vec<f64>, Vec<f64>)> = Vec::new();
    for mine in &b.launches {
        let Some(base) = a.launches.iter().find(|l| l.block == mine.block) else { continue };
        let (x, y) = (column(&base.measures[measure], which), column(&mine.measures[measure], which));
        if x.is_empty() || y.is_empty() {
            continue;
        }
        // Within one process rounds are paired; across processes only the launches are.
        let paired = base.launch == mine.launch && base.rounds == mine.rounds && x.len() == y.len();
        let (x, y) = if paired { (x.to_vec(), y.to_vec()) } else { (vec![middle(x)?], vec![middle(y)?]) };
        rows.push((mine.block, x, y));
    }
    let pairs: Vec<Paired> = rows.iter().map(|(_, x, y)| Paired { baseline: x, method: y }).collect();
    let (logs, basis) = log_ratios(&pairs).ok()?;
    Some((logs, rows.iter().map(|r| r.0).collect(), basis))
}

pub(crate) fn middle(values: &[f64]) -> Option<f64> {
    median(&mut values.to_vec())
}
