//! Launches everything as often as it takes for anything to be said, and no more.

use stats::estimate::LEAST_POINTS;

use super::{Ending, Standing, Step, Strategy};

/// The least launches of every cluster: each once, then those that are through soonest, so that what the time does not hold is
/// one long comparison and not the last launch of all.
#[derive(Clone, Copy, Debug)]
pub struct Least;

impl Strategy for Least {
    fn next(&mut self, standing: &Standing) -> Step {
        let of = |c: usize| &standing.clusters[c];
        let lacking = (0..standing.clusters.len()).filter(|&c| of(c).open && of(c).launches < LEAST_POINTS);
        let rest_s = |c: usize| match of(c).launches {
            0 => -1.0,
            launches => (LEAST_POINTS - launches) as f64 * of(c).step_s,
        };
        match lacking.min_by(|&a, &b| rest_s(a).total_cmp(&rest_s(b))) {
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
        let of = |launches, open| Cluster { open, launches, step_s: launches as f64, ranked: None, others: None };
        let next = |clusters: &[Cluster]| Least.next(&Standing { spent_s: 1e9, clusters: clusters.to_vec() });
        let launch = |cluster| Step::Launch { cluster, whole: true };
        assert_eq!(next(&[of(3, true), of(0, true), of(0, false)]), launch(1), "what has none comes first");
        assert_eq!(
            next(&[of(1, true), of(2, true), of(3, true)]),
            launch(0),
            "three launches of 1 s, two of 2, one of 3"
        );
        assert_eq!(next(&[of(2, true), of(1, true)]), launch(1));
        assert_eq!(next(&[of(LEAST_POINTS, true), of(9, true)]), Step::Done(Ending::NothingOpen));
    }
}
