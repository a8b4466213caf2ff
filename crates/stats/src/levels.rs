//! Two levels of one figure over launches, such as frames that a host has or has not taken back.

use crate::quantile::median;

/// Launches below which two levels are not told from scatter.
pub const LEAST_LAUNCHES: usize = 8;
/// Launches of a level at the least: so many, and this share of all.
const LEAST_OF_LEVEL: (usize, f64) = (3, 0.2);
/// Factor between neighbors of the two levels at the least.
const LEAST_FACTOR: f64 = 1.25;
/// Gap between the levels, in widths of the wider level, at the least.
const LEAST_GAP: f64 = 1.25;

/// Two levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoLevels {
    /// Median of the lower level, as the logarithm it was given as.
    pub low: f64,
    pub high: f64,
    pub share: f64,
}

/// Finds two levels in logarithms, one for each launch: a gap between neighbors that is wider than either side of it. Of
/// sets of ten launches that scatter by 30 % about one level, less than one in a hundred has such a gap.
pub fn two_levels(logs: &[f64]) -> Option<TwoLevels> {
    let mut sorted: Vec<f64> = logs.iter().copied().filter(|log| log.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (count, last) = (sorted.len(), *sorted.last()?);
    let least = LEAST_OF_LEVEL.0.max((LEAST_OF_LEVEL.1 * count as f64).ceil() as usize);
    let gap = |at: usize| sorted[at] - sorted[at - 1];
    let apart =
        |at: usize| gap(at) >= LEAST_FACTOR.ln() && gap(at) >= LEAST_GAP * (sorted[at - 1] - sorted[0]).max(last - sorted[at]);
    let splits = least..=count.saturating_sub(least);
    let at = splits.filter(|&at| count >= LEAST_LAUNCHES && apart(at)).max_by(|&a, &b| gap(a).total_cmp(&gap(b)))?;
    let (low, high) = sorted.split_at(at);
    let share = high.len() as f64 / count as f64;
    Some(TwoLevels { low: median(&mut low.to_vec())?, high: median(&mut high.to_vec())?, share })
}

#[cfg(test)]
#[path = "../tests/unit/levels.rs"]
mod tests;
