//! True if a launch had settled: its first third against its last, and the change points between.

use super::change_points::{ChangeRule, change_points};
use super::interval::{Undefined, check};
use super::quantile::median;
use serde::{Deserialize, Serialize};

/// The change of level, as a fraction, from which a launch does not count as steady, unless the caller names another.
/// It is wider than the margin of a verdict because a drift common to all cells of a round cancels in their ratio.
pub const TOLERANCE: f64 = 0.05;
/// The fewest rounds that can be judged: thirds of ten.
pub const LEAST_ROUNDS: usize = 30;
/// A launch is condensed to this many medians of consecutive rounds, so that ticks vanish and the cost stays bounded.
const BLOCKS: usize = 60;

/// Course of the cost during one launch.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Label {
    /// One level, within the smallest change that counts.
    Steady,
    /// The level moved, gradually or through more than two levels: there is no steady state.
    Drifting,
    /// Two levels with steps between them, such as two frequencies or recycled and fresh memory.
    TwoLevel,
    /// Fewer than [`LEAST_ROUNDS`] rounds: nothing can be said.
    Short,
}

impl Label {
    /// Word of JSON and of tables.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// The finding for one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// Course of the launch.
    pub label: Label,
    /// The median of the last third divided by that of the first, without unit; absent for a short launch.
    pub shift: Option<f64>,
    /// The rounds at which a new level begins, exact to a sixtieth of the launch.
    pub change_points: Vec<usize>,
}

/// Judges the costs of one cell in the rounds of one launch, in the order they were run and after warm-up.
///
/// Changes of less than `tolerance` (a fraction) are ignored. A steady launch is called otherwise where noise with long
/// memory moves its level by more than that; the label then tells the truth about what was measured.
/// `NotFinite`, `Negative` and `Zero` name a cost that has no logarithm.
pub fn steadiness(rounds: &[f64], tolerance: f64, seed: u64) -> Result<Steadiness, Undefined> {
    check(rounds, 0)?;
    let smallest = rounds.iter().copied().fold(f64::INFINITY, f64::min);
    if smallest <= 0.0 {
        return Err(if smallest < 0.0 {
            Undefined::Negative
        } else {
            Undefined::Zero
        });
    }
    if rounds.len() < LEAST_ROUNDS {
        return Ok(Steadiness {
            label: Label::Short,
            shift: None,
            change_points: Vec::new(),
        });
    }
    let logs: Vec<f64> = rounds.iter().map(|cost| cost.ln()).collect();
    let third = logs.len() / 3;
    let shift = middle(&logs[logs.len() - third..]) - middle(&logs[..third]);
    let least_shift = tolerance.ln_1p();
    let blocks = logs.len().min(BLOCKS);
    let starts: Vec<usize> = (0..=blocks)
        .map(|block| block * logs.len() / blocks)
        .collect();
    let levels: Vec<f64> = starts
        .windows(2)
        .map(|bounds| middle(&logs[bounds[0]..bounds[1]]))
        .collect();
    let change = ChangeRule {
        least_length: 5,
        least_shift,
        level: 0.01,
        permutations: 199,
    };
    let shifts = change_points(&levels, &change, seed);
    let label = match shifts.is_empty() {
        true if shift.abs() < least_shift => Label::Steady,
        false if has_two_levels(&levels, &shifts) => Label::TwoLevel,
        _ => Label::Drifting,
    };
    Ok(Steadiness {
        label,
        shift: Some(shift.exp()),
        change_points: shifts.into_iter().map(|block| starts[block]).collect(),
    })
}

/// Tells whether the segments between change points lie at two levels and are flat: neither the segments of one level
/// differ nor does any segment move within itself by more than a third of the step. A straight ramp that is cut once
/// moves within each half by half of the step between the halves, and cut more often it has more than two levels.
fn has_two_levels(values: &[f64], change_points: &[usize]) -> bool {
    let starts = std::iter::once(0).chain(change_points.iter().copied());
    let ends = change_points.iter().copied().chain([values.len()]);
    let segments: Vec<&[f64]> = starts
        .zip(ends)
        .map(|(start, end)| &values[start..end])
        .collect();
    let mut levels: Vec<f64> = segments.iter().map(|segment| middle(segment)).collect();
    levels.sort_by(f64::total_cmp);
    let step = levels
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(0.0, f64::max);
    let spread = levels[levels.len() - 1] - levels[0] - step;
    let is_flat = segments.iter().all(|segment| {
        let (first, second) = segment.split_at(segment.len() / 2);
        (middle(second) - middle(first)).abs() <= step / 3.0
    });
    spread <= step / 3.0 && is_flat
}

/// The median of finite values, of which there is at least one.
fn middle(values: &[f64]) -> f64 {
    median(&mut values.to_vec()).unwrap_or(f64::NAN)
}

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
    /// Median of the upper level, as a logarithm.
    pub high: f64,
    /// Share of values in the upper level, 0 to 1.
    pub share: f64,
}

/// Finds two levels in logarithms, one for each launch: a gap between neighbors that is wider than either side of it. Of
/// sets of ten launches that scatter by 30 % about one level, less than one in a hundred has such a gap.
pub fn two_levels(logs: &[f64]) -> Option<TwoLevels> {
    let mut sorted: Vec<f64> = logs.iter().copied().filter(|log| log.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let least = LEAST_OF_LEVEL
        .0
        .max((LEAST_OF_LEVEL.1 * count as f64).ceil() as usize);
    if count < LEAST_LAUNCHES {
        return None;
    }
    let (_, split) = (least..=count.saturating_sub(least))
        .filter_map(|split| Some((gap(&sorted, split)?, split)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (low, high) = sorted.split_at(split);
    let share = high.len() as f64 / count as f64;
    Some(TwoLevels {
        low: median(&mut low.to_vec())?,
        high: median(&mut high.to_vec())?,
        share,
    })
}

/// The gap of sorted values before `split`, if it is wider than either side of it.
fn gap(sorted: &[f64], split: usize) -> Option<f64> {
    let (low, high) = sorted.split_at(split);
    let (least, most) = (low.first()?, high.last()?);
    let (below, above) = (low.last()?, high.first()?);
    let gap = above - below;
    let widest = (below - least).max(most - above);
    (gap >= LEAST_FACTOR.ln() && gap >= LEAST_GAP * widest).then_some(gap)
}

#[cfg(test)]
mod tests {
    use super::two_levels;
    use crate::rng::Seeded;

    #[test]
    fn launches_that_get_frames_back_from_the_host_are_a_second_level() {
        let ms = [
            215.0, 221.0, 600.0, 236.0, 228.0, 1157.0, 219.0, 790.0, 222.0, 840.0,
        ];
        let logs: Vec<f64> = ms.iter().map(|ms: &f64| ms.ln()).collect();
        let found = two_levels(&logs).unwrap();
        assert!((found.share - 0.4).abs() < 1e-12);
        assert!(
            (found.low.exp() - 221.5).abs() < 1.0 && found.high.exp() > 800.0,
            "{found:?}"
        );
        // Two far launches of ten are no level, and so few launches as seven show none.
        assert_eq!(two_levels(&logs[..7]), None);
        let two: Vec<f64> = ms
            .map(|ms| if ms > 800.0 { ms } else { 220.0 })
            .iter()
            .map(|ms| ms.ln())
            .collect();
        assert_eq!(two_levels(&two), None);
    }

    fn noise(seeded: &mut Seeded) -> f64 {
        (0..12)
            .map(|_| seeded.below(1 << 20) as f64 / f64::from(1 << 20))
            .sum::<f64>()
            - 6.0
    }

    #[test]
    fn one_scattered_level_is_seldom_called_two() {
        let mut seeded = Seeded::new(7);
        for count in [8, 10, 20, 100] {
            let mut wrong = 0;
            for _ in 0..400 {
                let set: Vec<f64> = (0..count).map(|_| 0.3 * noise(&mut seeded)).collect();
                wrong += usize::from(two_levels(&set).is_some());
            }
            assert!(wrong <= 16, "{wrong} of 400 with {count} launches");
        }
    }
}
