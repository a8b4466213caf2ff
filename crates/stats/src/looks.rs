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

/// Factor of a probability that is found at the last of these looks.
pub fn price(launches: usize) -> f64 {
    let k = looks(launches) as f64;
    k * (k + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_ever_further_apart() {
        let all: Vec<usize> = planned().take(6).collect();
        assert_eq!(all, [6, 9, 14, 21, 32, 48]);
        assert_eq!(
            [next_look(0), next_look(6), next_look(8), next_look(9)],
            [6, 9, 9, 14]
        );
        assert_eq!([looks(4), looks(6), looks(9), looks(40)], [1, 1, 2, 5]);
    }

    #[test]
    fn all_looks_together_spend_no_more_than_is_there() {
        let spent: f64 = planned().take(40).map(|at| 1.0 / price(at)).sum();
        assert!(spent < 1.0 && spent > 0.9, "{spent}");
        assert_eq!([price(6), price(9), price(14)], [2.0, 6.0, 12.0]);
    }
}
