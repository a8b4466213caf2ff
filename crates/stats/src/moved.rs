//! True if a series of launches has one value at all, or a value that moves while it is measured.

use super::interval::{Undefined, check};
use super::quantile::{MAD_TO_SD, median, median_absolute_deviation};
use statrs::distribution::{Beta, ContinuousCDF};

/// The fewest launches in which a movement can be seen.
pub const LEAST_IN_ORDER: usize = 8;
/// Neighbours that are this much too alike cost the independence of the launches: the interval is made of blocks. It is no
/// claim, so it may err in one case of ten on the side of width.
pub const BLOCKS_AT: f64 = 0.10;
/// Neighbours that are this much too alike are said to have moved.
pub const MOVED_AT: f64 = 0.01;
/// Values count no further than so many deviations from the middle.
const FURTHEST: f64 = 3.0;

/// The probability that neighbours are at least this much alike where the order of the launches means nothing.
///
/// Von Neumann's ratio, Σ(xᵢ₊₁ − xᵢ)² / Σ(xᵢ − x̄)², is 2 for values without order and small where neighbours are alike.
/// Taken over ranks it asks nothing of the distribution (Bartels 1982); its distribution is close to a beta on 0..4 with
/// the right variance. One-sided: neighbours that differ too much are harmless. `TooFew` below [`LEAST_IN_ORDER`]; 1 where
/// all values are the same.
pub fn neighbours_alike(values: &[f64]) -> Result<f64, Undefined> {
    check(values, LEAST_IN_ORDER)?;
    let ranks = mid_ranks(values);
    let n = values.len() as f64;
    let centre = (n + 1.0) / 2.0;
    let spread: f64 = ranks.iter().map(|rank| (rank - centre).powi(2)).sum();
    if spread == 0.0 {
        return Ok(1.0);
    }
    let steps: f64 = ranks
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).powi(2))
        .sum();
    let shape = 5.0 * n * (n + 1.0) * (n - 1.0).powi(2)
        / (2.0 * (n - 2.0) * (5.0 * n * n - 2.0 * n - 9.0))
        - 0.5;
    let beta = Beta::new(shape, shape).map_err(|_| Undefined::NotFinite)?;
    Ok(beta.cdf((steps / spread / 4.0).min(1.0)))
}

/// The same by the values themselves (von Neumann 1941), which sees in ten launches a step that is far larger than what lies
/// between neighbours; ranks cannot tell it from a small one.
///
/// For normal values the ratio's distribution is close to a beta on 0..4 of variance 4 (n − 2) / (n² − 1). Two outliers that
/// happen to be neighbours would look like a movement, so values count no further than three deviations (by their median) from
/// the middle. `TooFew` below [`LEAST_IN_ORDER`].
pub fn neighbours_near(values: &[f64]) -> Result<f64, Undefined> {
    check(values, LEAST_IN_ORDER)?;
    let n = values.len() as f64;
    let values = &winsorised(values);
    let centre = values.iter().sum::<f64>() / n;
    let spread: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    if spread == 0.0 {
        return Ok(1.0);
    }
    let steps: f64 = values
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).powi(2))
        .sum();
    let shape = ((n * n - 1.0) / (n - 2.0) - 1.0) / 2.0;
    let beta = Beta::new(shape, shape).map_err(|_| Undefined::NotFinite)?;
    Ok(beta.cdf((steps / spread / 4.0).min(1.0)))
}

/// The values, none further from their median than [`FURTHEST`] times what the median of such distances says of a deviation.
fn winsorised(values: &[f64]) -> Vec<f64> {
    let centre = median(&mut values.to_vec()).unwrap_or(0.0);
    let most =
        FURTHEST * MAD_TO_SD * median_absolute_deviation(&mut values.to_vec()).unwrap_or(0.0);
    values
        .iter()
        .map(|value| value.clamp(centre - most, centre + most))
        .collect()
}

/// The probability of such likeness of neighbours, by ranks or values, the smaller one doubled (Bonferroni).
pub fn alike_by_chance(values: &[f64]) -> Result<f64, Undefined> {
    Ok((2.0 * neighbours_alike(values)?.min(neighbours_near(values)?)).min(1.0))
}

/// The rank of each value, counted from one; equal values share the mean of theirs.
fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0;
    // Zero and minus zero are equal, and stand beside each other in this order.
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = below as f64 + (equal.len() as f64 + 1.0) / 2.0;
        for &index in equal {
            ranks[index] = rank;
        }
        below += equal.len();
    }
    ranks
}

/// Number of blocks of a series of launches: four, five from twenty launches on, then blocks of six, twelve at the
/// most. Each is long enough to have lost most memory of its neighbour: a block's mean says nothing of the next one's where
/// launches have a correlation of a half, but for a seventh. Longer blocks would be fewer, and of five no distance from an edge
/// convinces (Student's t with four degrees of freedom exceeds 18 once in 10⁵ times by chance).
pub fn block_count(launches: usize) -> usize {
    if launches < 20 {
        4
    } else {
        (launches / 6).clamp(5, 12)
    }
}

/// The correlation of neighbouring launches: the lag-one autocorrelation less its bias in short series, which is
/// −(1 + 4ρ) / n (Marriott & Pope 1954; Kendall 1954), to first order.
pub fn memory(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    autocorrelation(values, 1).map_or(0.0, |r| (r + 1.0 / n) * (1.0 + 4.0 / n))
}

/// Factor by which a correlation of neighbours raises the variance of the mean of `n` launches over s² / n, and the share of the
/// degrees of freedom that it leaves.
///
/// For a first-order series n values say as much as n / κ independent ones, κ = (1 + ρ) / (1 − ρ), and s² itself comes out too
/// small by (n − κ) / (n − 1) (Bayley & Hammersley 1946). ρ counts from 0 to 0.8, κ to n / 2.
pub fn inflation(memory: f64, n: usize) -> (f64, f64) {
    let (rho, n) = (memory.clamp(0.0, 0.8), n as f64);
    let kappa = ((1.0 + rho) / (1.0 - rho)).min(n / 2.0).max(1.0);
    (
        kappa * (n - 1.0) / (n - kappa),
        (n / kappa - 1.0) / (n - 1.0),
    )
}

/// The correlation of a series with itself `lag` rounds later, between −1 and 1; `None` where the series is no longer than
/// the lag or constant.
///
/// The usual estimator, with one mean and divisor n at every lag (Box & Jenkins 1976).
pub fn autocorrelation(values: &[f64], lag: usize) -> Option<f64> {
    // Rounding gives even a constant series a variance, so the values themselves are asked.
    let varies = values.iter().any(|value| *value != values[0]);
    let deviations = deviations(values);
    (lag < values.len() && varies)
        .then(|| lagged_product(&deviations, lag) / lagged_product(&deviations, 0))
}

fn deviations(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

fn lagged_product(deviations: &[f64], lag: usize) -> f64 {
    deviations
        .iter()
        .zip(&deviations[lag..])
        .map(|(a, b)| a * b)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_seen_and_disorder_is_not() {
        let rising: Vec<f64> = (0..12).map(f64::from).collect();
        assert!(neighbours_alike(&rising).expect("twelve") < 1e-4);
        let swinging: Vec<f64> = (0..12).map(|i| f64::from(i % 2)).collect();
        assert!(neighbours_alike(&swinging).expect("twelve") > 0.99);
        assert_eq!(neighbours_alike(&[1.0; 9]), Ok(1.0));
        assert_eq!(
            neighbours_alike(&[1.0; 7]),
            Err(Undefined::TooFew { got: 7, needed: 8 })
        );
    }

    #[test]
    fn equal_values_share_the_mean_of_their_ranks() {
        assert_eq!(
            mid_ranks(&[3.0, 0.0, 7.0, -0.0, 3.0, 3.0]),
            [4.0, 1.5, 6.0, 1.5, 4.0, 4.0]
        );
    }

    #[test]
    fn a_large_step_is_seen_in_ten_launches() {
        let step = [
            -0.36, -0.31, -0.38, -0.33, -0.35, 0.04, 0.09, 0.05, 0.08, 0.04,
        ];
        assert!(
            neighbours_alike(&step).expect("ten") > MOVED_AT,
            "ranks alone do not see it"
        );
        assert!(alike_by_chance(&step).expect("ten") < MOVED_AT);
    }

    fn unit(rng: &mut crate::rng::Seeded) -> f64 {
        (rng.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    #[test]
    fn values_without_order_are_rarely_said_to_have_one() {
        let mut rng = crate::rng::Seeded::new(7);
        let shapes: [fn(f64, f64) -> f64; 4] = [
            |u, v| (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos(),
            |u, _| (std::f64::consts::PI * (u - 0.5)).tan(),
            |u, _| if u < 0.3 { 1.0 } else { 0.0 },
            |u, v| if u < 0.05 { 9.0 * v } else { v },
        ];
        for n in [8, 10, 14, 24, 40] {
            for (number, shape) in shapes.iter().enumerate() {
                let mut said = 0;
                for _ in 0..4000 {
                    let values: Vec<f64> = (0..n)
                        .map(|_| shape(unit(&mut rng), unit(&mut rng)))
                        .collect();
                    said += u32::from(alike_by_chance(&values).expect("enough") <= MOVED_AT);
                }
                // Values of two kinds only have few ratios, and the nearest may lie beyond one in a hundred.
                let most = if number == 2 { 80 } else { 56 };
                assert!(said <= most, "{n} launches, shape {number}: {said} of 4000");
            }
        }
    }

    #[test]
    fn an_outlier_is_no_movement() {
        let mut values = [3.0, 1.0, 4.0, 1.5, 5.0, 0.9, 2.6, 5.3, 5.8, 0.7];
        let before = neighbours_alike(&values).expect("ten");
        values[8] = 1e12;
        assert_eq!(neighbours_alike(&values).expect("ten"), before);
    }
}
