//! Launches whatever is widest until all is as narrow as asked. What is ranked counts; the rest gets a share of the launches
//! and what is left.

use stats::interval::LEAST_LAUNCHES;
use stats::stopping::{Decision, Goal, Group, decide};

use super::{Cluster, Ending, Standing, Step, Strategy};

/// Beyond the least launches, what is not ranked takes part in one step of so many.
const OTHERS_EVERY: usize = 3;
/// What is not ranked is precise at so many times the width.
const OTHERS_WIDTH: f64 = 5.0;

/// Until every ranked ratio is as narrow as asked, or the budget ends.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    /// The width asked for, and the time.
    pub goal: Goal,
    /// Launches before anything is called precise.
    pub min_launches: usize,
}

impl Strategy for Precision {
    fn next(&mut self, standing: &Standing) -> Step {
        let open: Vec<usize> = (0..standing.clusters.len()).filter(|&c| standing.clusters[c].open).collect();
        if open.is_empty() {
            return Step::Done(Ending::NothingOpen);
        }
        let of = |index: &usize| &standing.clusters[*index];
        let groups: Vec<Group> = open.iter().map(|c| ranked(of(c))).collect();
        match decide(&self.goal, &groups, standing.spent_s) {
            Decision::Continue { group } => launch(open[group], of(&open[group])),
            // What is left is still worth spending: intervals narrow even where the target is out of reach.
            Decision::Unreachable { .. } => {
                let width = |c: &usize| of(c).ranked.unwrap_or(0.0);
                let widest = open.iter().copied().max_by(|a, b| width(a).total_cmp(&width(b))).unwrap_or(open[0]);
                launch(widest, of(&widest))
            }
            Decision::Precise => self.rest(standing, &open),
            Decision::BudgetSpent { .. } => Step::Done(Ending::BudgetSpent),
        }
    }
}

impl Precision {
    /// What is launched once all that is ranked is precise.
    fn rest(&self, standing: &Standing, open: &[usize]) -> Step {
        let of = |index: &usize| &standing.clusters[*index];
        if let Some(cluster) = open.iter().copied().find(|c| of(c).launches < self.min_launches) {
            return Step::Launch { cluster, whole: true };
        }
        let left_s = self.goal.budget_seconds - standing.spent_s;
        let width = |c: &usize| of(c).others.unwrap_or(0.0);
        let wide = open.iter().copied().filter(|c| width(c) > OTHERS_WIDTH * self.goal.precision);
        match wide.max_by(|a, b| width(a).total_cmp(&width(b))) {
            Some(cluster) if of(&cluster).step_s < left_s => Step::Launch { cluster, whole: true },
            _ => Step::Done(Ending::Precise),
        }
    }
}

fn ranked(cluster: &Cluster) -> Group {
    Group { launches: cluster.launches, half_width: cluster.ranked, launch_seconds: cluster.step_s }
}

fn launch(cluster: usize, of: &Cluster) -> Step {
    Step::Launch { cluster, whole: of.launches < LEAST_LAUNCHES || of.launches.is_multiple_of(OTHERS_EVERY) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(clusters: &[Cluster], spent_s: f64) -> Step {
        let goal = Goal { precision: 0.01, budget_seconds: 60.0 };
        let standing = Standing { spent_s, clusters: clusters.to_vec() };
        Precision { goal, min_launches: LEAST_LAUNCHES }.next(&standing)
    }

    fn cluster(launches: usize, ranked: f64, others: f64) -> Cluster {
        Cluster { open: true, launches, step_s: 1.0, ranked: Some(ranked), others: Some(others) }
    }

    #[test]
    fn what_is_ranked_is_launched_first_and_the_rest_takes_part_now_and_then() {
        let all = [cluster(7, 0.02, 0.3), cluster(7, 0.005, 0.9)];
        assert_eq!(next(&all, 10.0), Step::Launch { cluster: 0, whole: false });
        let all = [cluster(9, 0.02, 0.3), cluster(9, 0.005, 0.9)];
        assert_eq!(next(&all, 10.0), Step::Launch { cluster: 0, whole: true });
        assert_eq!(next(&[cluster(3, 0.02, 0.3)], 10.0), Step::Launch { cluster: 0, whole: true });
    }

    #[test]
    fn what_is_left_goes_to_the_rest_whose_width_is_its_own() {
        assert_eq!(next(&[cluster(7, 0.009, 0.3)], 10.0), Step::Launch { cluster: 0, whole: true });
        assert_eq!(next(&[cluster(7, 0.009, 0.04)], 10.0), Step::Done(Ending::Precise));
        assert_eq!(next(&[cluster(7, 0.009, 0.3)], 59.5), Step::Done(Ending::Precise));
    }

    #[test]
    fn every_end_has_its_reason() {
        let closed = Cluster { open: false, ..cluster(40, 0.2, 0.2) };
        assert_eq!(next(&[closed], 10.0), Step::Done(Ending::NothingOpen));
        assert_eq!(next(&[cluster(7, 0.2, 0.2)], 59.5), Step::Done(Ending::BudgetSpent));
        assert_eq!(
            next(&[cluster(7, 0.2, 0.2)], 30.0),
            Step::Launch { cluster: 0, whole: false },
            "out of reach, still spent"
        );
    }
}
