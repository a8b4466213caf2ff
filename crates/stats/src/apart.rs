//! Outliers among many like things, such as one machine of a fleet.
//!
//! Each value is compared with all others: their median and their spread by quantiles, which a tenth of odd values on one side
//! does not move (one in a thousand, where there are thousands). The spread is never taken to be finer than what is known of
//! the values' own errors. Every machine differs; the question is a difference beyond a margin.

use super::interval::{Undefined, check};
use super::{quantile::median, t::two_sided_p};

/// The fewest values of which one can be told apart.
pub const LEAST: usize = 5;
/// The quartiles' distance in standard deviations of a normal distribution.
pub const QUARTILES: f64 = 1.349;
/// The distance of the tenth and ninetieth percentiles, likewise; looked at from [`WITH_TAILS`] values on.
const DECILES: f64 = 2.563;
/// Number of others from which on the deciles say whether tails are heavier than the quartiles let expect.
const WITH_TAILS: usize = 20;
/// Number of others from which on the outer thousandths say it too: nothing less says how far off the farthest of thousands lie.
const WITH_FAR_TAILS: usize = 5000;
/// The distance of these in deviations of a t distribution of [`MOST_FREEDOM`] degrees of freedom: twice 3.552.
const FAR: f64 = 7.104;
/// Degrees of freedom a value: a spread by quartiles is worth 0.37 as many (Rousseeuw & Croux 1993).
const EFFICIENCY: f64 = 0.37;
/// Most degrees of freedom, however many the others are: machines are not normally distributed.
const MOST_FREEDOM: f64 = 20.0;
/// The least spread, so that exact counts can be compared.
const LEAST_SPREAD: f64 = 1e-9;

/// Position of one value relative to all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Apart {
    /// The value less the others' median, in the values' unit.
    pub by: f64,
    /// The standard deviation of the others, robustly.
    pub spread: f64,
    /// The probability of lying this far beyond the margin, on either side, for a value at its edge.
    pub p: f64,
}

/// Position of each value relative to the others. `errors` are the values' own standard errors; `margin` is the
/// distance that does not count, in the values' unit.
///
/// `TooFew` below [`LEAST`] values, `NotFinite`.
pub fn apart(values: &[f64], errors: &[f64], margin: f64) -> Result<Vec<Apart>, Undefined> {
    check(values, LEAST)?;
    check(errors, LEAST)?;
    let typical_error = median(&mut errors.to_vec()).ok_or(Undefined::NotFinite)?;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let sorted: Vec<f64> = order.iter().map(|&i| values[i]).collect();
    let mut distances = vec![
        Apart {
            by: 0.0,
            spread: 0.0,
            p: 1.0
        };
        values.len()
    ];
    for (place, &index) in order.iter().enumerate() {
        distances[index] = distance(&sorted, place, errors[index], typical_error, margin);
    }
    Ok(distances)
}

fn distance(sorted: &[f64], place: usize, error: f64, typical_error: f64, margin: f64) -> Apart {
    let others = sorted.len() - 1;
    let mut spread = (range_without(sorted, place, 0.25, 0.75) / QUARTILES)
        .max(typical_error)
        .max(LEAST_SPREAD);
    if others >= WITH_TAILS {
        spread = spread.max(range_without(sorted, place, 0.1, 0.9) / DECILES);
    }
    if others >= WITH_FAR_TAILS {
        spread = spread.max(range_without(sorted, place, 0.001, 0.999) / FAR);
    }
    let by = sorted[place] - quantile_without(sorted, place, 0.5);
    let of_median = std::f64::consts::FRAC_PI_2 / others as f64;
    let deviation = (spread.max(error).powi(2) + of_median * spread.powi(2)).sqrt();
    let freedom = (EFFICIENCY * others as f64).clamp(2.0, MOST_FREEDOM);
    let beyond = by.abs() - margin;
    let p = if beyond <= 0.0 {
        1.0
    } else {
        two_sided_p(beyond / deviation, freedom)
    };
    Apart { by, spread, p }
}

/// The quantile (type 7) of sorted values without the one at `place`.
fn quantile_without(sorted: &[f64], place: usize, p: f64) -> f64 {
    let last = sorted.len() - 2;
    let position = p * last as f64;
    let below = position.floor() as usize;
    let [low, high] = [below, (below + 1).min(last)]
        .map(|index| sorted[if index < place { index } else { index + 1 }]);
    low + (position - below as f64) * (high - low)
}

/// The distance of two quantiles of sorted values without the one at `place`.
fn range_without(sorted: &[f64], place: usize, low: f64, high: f64) -> f64 {
    quantile_without(sorted, place, high) - quantile_without(sorted, place, low)
}

#[cfg(test)]
mod tests {
    use super::super::multiplicity::benjamini_hochberg;
    use super::super::quantile::quantile;
    use super::super::rng::Seeded;
    use super::*;

    fn normal(rng: &mut Seeded) -> f64 {
        (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
    }

    #[test]
    fn quantiles_without_one_are_those_of_the_others() {
        let sorted = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        for place in 0..sorted.len() {
            let mut others: Vec<f64> = sorted.to_vec();
            others.remove(place);
            for p in [0.1, 0.25, 0.5, 0.75, 0.9] {
                assert!(
                    (quantile_without(&sorted, place, p) - quantile(&mut others, p).unwrap()).abs()
                        < 1e-12
                );
            }
        }
    }

    #[test]
    fn a_twice_as_slow_one_is_found_among_eight_and_its_company_is_not() {
        let values = [0.01, -0.02, 0.0, 0.015, 0.7, -0.01, 0.02, -0.005];
        let found = apart(&values, &[0.005; 8], 0.05).unwrap();
        assert!(
            found[4].p < 0.005 && (found[4].by - 0.7).abs() < 0.02,
            "{:?}",
            found[4]
        );
        assert!(found.iter().enumerate().all(|(i, a)| i == 4 || a.p == 1.0));
        assert_eq!(
            apart(&values[..4], &[0.0; 4], 0.05).unwrap_err(),
            Undefined::TooFew { got: 4, needed: 5 }
        );
    }

    #[test]
    fn fleets_of_like_machines_have_odd_ones_rarely_whatever_their_number() {
        for (nodes, fleets, scatter) in
            [(5, 600, 0.2), (8, 600, 0.2), (20, 300, 0.2), (200, 60, 0.2)]
        {
            let mut rng = Seeded::new(20_261_121 + nodes as u64);
            let mut wrong = 0;
            for _ in 0..fleets {
                let cells = (0..5).map(|_| {
                    (0..nodes)
                        .map(|_| scatter * normal(&mut rng))
                        .collect::<Vec<f64>>()
                });
                // Without a margin, so that nothing hides what the spread gets wrong.
                let p: Vec<f64> = cells
                    .flat_map(|v| apart(&v, &vec![0.0; nodes], 0.0).unwrap())
                    .map(|a| a.p)
                    .collect();
                wrong += usize::from(benjamini_hochberg(&p).iter().any(|p| *p <= 0.01));
            }
            assert!(
                wrong as f64 <= 0.02 * fleets as f64,
                "{wrong} of {fleets} fleets of {nodes}"
            );
        }
    }

    #[test]
    fn errors_of_their_own_are_no_oddness() {
        let values = [0.0, 0.0, 0.0, 0.0, 0.0, 0.4];
        assert!(apart(&values, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.5], 0.0).unwrap()[5].p > 0.1);
        assert!(apart(&values, &[0.001; 6], 0.0).unwrap()[5].p < 1e-4);
    }
}
