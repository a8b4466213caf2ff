//! Change points of a series: energy statistics with a permutation test, by repeated division.
//!
//! This is E-divisive (Matteson & James, A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data,
//! 2014) with exponent 1, and with one rule added: a change smaller than asked for is not looked for. Benchmark series have
//! long memory, which a permutation test takes for endless small changes.

use super::{quantile::median, rng::Seeded};

/// Criterion of a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeRule {
    /// The fewest values between two change points.
    pub least_length: usize,
    /// The smallest difference between the medians of the two sides, in the values' unit.
    pub least_shift: f64,
    /// Largest p value at which a change is accepted, 0 to 1.
    pub level: f64,
    /// The number of permutations behind a p value; the smallest p value is one over this number plus one.
    pub permutations: usize,
}

/// The indices at which a new level begins, in ascending order.
///
/// Time and memory grow with the square of the length, so a long series should be condensed first. Values must be finite.
pub fn change_points(values: &[f64], change: &ChangeRule, seed: u64) -> Vec<usize> {
    let mut rng = Seeded::new(seed);
    let mut points = Vec::new();
    let mut open = vec![(0, values.len())];
    while let Some((start, end)) = open.pop() {
        if let Some(length) = divide(&values[start..end], change, &mut rng) {
            let middle = start + length;
            points.push(middle);
            open.extend([(middle, end), (start, middle)]);
        }
    }
    points.sort_unstable();
    points
}

/// The length of the first part where dividing the segment once is justified.
fn divide(segment: &[f64], change: &ChangeRule, rng: &mut Seeded) -> Option<usize> {
    let best = best_division(segment, change.least_length)?;
    let left = median(&mut segment[..best.middle].to_vec())?;
    let right = median(&mut segment[best.middle..best.end].to_vec())?;
    if (right - left).abs() < change.least_shift {
        return None;
    }
    // The test ends as soon as it cannot succeed any more, which is almost at once where nothing changed.
    let allowed = (change.level * (change.permutations + 1) as f64).floor() as usize;
    let mut shuffled = segment.to_vec();
    let mut reached = 1;
    for _ in 0..change.permutations {
        rng.shuffle(&mut shuffled);
        reached +=
            usize::from(best_division(&shuffled, change.least_length)?.energy >= best.energy);
        if reached > allowed {
            return None;
        }
    }
    (reached <= allowed).then_some(best.middle)
}

/// Two neighbouring parts, `0..middle` and `middle..end`, and how far apart they are.
struct Division {
    middle: usize,
    end: usize,
    energy: f64,
}

/// The division with the highest energy statistic. The second part may end before the segment does: a level that comes
/// and goes would otherwise hide behind what follows it.
fn best_division(values: &[f64], least_length: usize) -> Option<Division> {
    let least = least_length.max(2);
    let sums = DistanceSums::new(values);
    let mut best: Option<Division> = None;
    for end in 2 * least..=values.len() {
        for middle in least..=end - least {
            let energy = sums.energy(middle, end);
            if best.as_ref().is_none_or(|b| energy > b.energy) {
                best = Some(Division {
                    middle,
                    end,
                    energy,
                });
            }
        }
    }
    best
}

/// Sums of |a - b| over the first values by the first values, so that the sum over any two ranges takes four look-ups.
struct DistanceSums {
    sums: Vec<f64>,
    width: usize,
}

impl DistanceSums {
    fn new(values: &[f64]) -> Self {
        let width = values.len() + 1;
        let mut sums = vec![0.0; width * width];
        for (i, a) in values.iter().enumerate() {
            let mut row = 0.0;
            for (j, b) in values.iter().enumerate() {
                row += (a - b).abs();
                sums[(i + 1) * width + j + 1] = sums[i * width + j + 1] + row;
            }
        }
        Self { sums, width }
    }

    fn first(&self, rows: usize, columns: usize) -> f64 {
        self.sums[rows * self.width + columns]
    }

    /// Székely & Rizzo's energy of `0..middle` against `middle..end`: lr/(l+r) times twice the mean distance between them
    /// less the mean distances within each.
    fn energy(&self, middle: usize, end: usize) -> f64 {
        let (l, r) = (middle as f64, (end - middle) as f64);
        let within_left = self.first(middle, middle);
        let between = self.first(middle, end) - within_left;
        let within_right = self.first(end, end) - within_left - 2.0 * between;
        let distance = 2.0 * between / (l * r)
            - within_left / (l * (l - 1.0))
            - within_right / (r * (r - 1.0));
        l * r / (l + r) * distance
    }
}
