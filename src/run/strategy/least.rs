//! Launches everything as often as it takes for anything to be said, and no more.

use stats::estimate::LEAST_POINTS;

use super::{Ending, Standing, Step, Strategy};

/// The least launches of every cluster, the least launched first.
#[derive(Clone, Copy, Debug)]
pub struct Least;

impl Strategy for Least {
    fn next(&mut self, standing: &Standing) -> Step {
        let of = |c: usize| &standing.clusters[c];
        let lacking = (0..standing.clusters.len()).filter(|&c| of(c).open && of(c).launches < LEAST_POINTS);
        match lacking.min_by_key(|&c| of(c).launches) {
            Some(cluster) => Step::Launch { cluster, whole: true },
            None => Step::Done(Ending::NothingOpen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cluster;
    use super::*;

    #[test]
    fn everything_has_its_least_and_nothing_more() {
        let of = |launches, open| Cluster { open, launches, step_s: 1.0, ranked: None, others: None };
        let next = |clusters: &[Cluster]| Least.next(&Standing { spent_s: 1e9, clusters: clusters.to_vec() });
        assert_eq!(next(&[of(3, true), of(1, true), of(0, false)]), Step::Launch { cluster: 1, whole: true });
        assert_eq!(next(&[of(LEAST_POINTS, true), of(9, true)]), Step::Done(Ending::NothingOpen));
    }
}
