//! Looking several times, and what that costs.
//!
//! Repeated interim analyses spend error. Looks are planned: after six launches, then whenever there are half as many more. Of
//! the error that is allowed, the k-th look may spend 1 / (k (k + 1)); all of these together come to one, so that no more is
//! spent than one look would have (Bonferroni; looks that share launches agree, so that it is less).

use super::interval::LEAST_LAUNCHES;

/// True if a launch more brings a look is decided by this share of what there is.
const MORE: f64 = 1.5;

/// The launches after which is looked, ascending.
fn planned() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(LEAST_LAUNCHES), |at| {
        Some((*at as f64 * MORE).ceil() as usize)
    })
}

/// The next look of a comparison that has so many launches.
pub fn next_look(launches: usize) -> usize {
    planned().find(|at| *at > launches).unwrap_or(launches + 1)
}

/// Number of interim analyses of a comparison of so many launches; one at the least, which is the one that is asked for.
pub fn looks(launches: usize) -> usize {
    planned().take_while(|at| *at <= launches).count().max(1)
}

/// By what a probability is multiplied that is found at the last of these looks.
pub fn price(launches: usize) -> f64 {
    let k = looks(launches) as f64;
    k * (k + 1.0)
}

#[cfg(test)]
#[path = "../tests/unit/looks.rs"]
mod tests;
