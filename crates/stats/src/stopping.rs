//! When a run has launched enough: on precision, on the budget, or because the target is out of reach.
//!
//! The rule sees how wide the intervals are and never where they lie. Stopping when a difference looks significant finds
//! differences between identical programs a quarter of the time; a width carries no such news. Looking starts at
//! [`LEAST_LAUNCHES`], before which there is no interval.

use super::interval::LEAST_LAUNCHES;

/// The confidence to compute intervals and best sets with in a run that this rule ends, so that they are right in 95 % of
/// such runs.
///
/// Among many looks the one that meets the target is more often one where the launches happen to lie too close together
/// (Chow & Robbins 1965), so an interval of nominal 95 % covered in only 92.5 to 94 % of simulated runs that ended after
/// 12 to 35 launches; at this confidence it was 95.0 to 96.5 %. It is also the highest round one that six launches reach.
pub const STOPPED_CONFIDENCE: f64 = 0.968;

/// What the run is after.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// The half-width that every ratio's interval should reach, as a fraction: 0.01 for ±1 %.
    pub precision: f64,
    /// The time the run may take, in seconds.
    pub budget_seconds: f64,
}

/// How far the cells have come that are launched together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    /// How often they were launched.
    pub launches: usize,
    /// The widest half-width among their ratios (see `Ratio::half_width`); `None` while there is none, and where no ratio
    /// is defined, so that there is nothing to make narrower.
    pub half_width: Option<f64>,
    /// What one launch costs, in seconds; zero before the first.
    pub launch_seconds: f64,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// Launch this group once more: it lacks launches, or its interval is the widest.
    Continue {
        /// The group's index.
        group: usize,
    },
    /// Stop: every interval is as narrow as asked.
    Precise,
    /// Stop: the next launch would not end within the budget.
    BudgetSpent {
        /// The whole budget, in seconds, with which the target would be reached, if the noise stays as it is.
        needs_seconds: f64,
    },
    /// Stop: what is left of the budget cannot bring the intervals near the target.
    Unreachable {
        /// The whole budget that would be needed, as above.
        needs_seconds: f64,
    },
}

/// How many times too high the estimate of the launches needed may be. The width shown by six launches varies by a third
/// from run to run, so that it is easily twice what it should be and foretells four times the launches; giving up is only
/// right beyond that.
const DOUBT: f64 = 4.0;

/// Decides after a launch whether there is another, and of which group, `spent_seconds` after the run began.
///
/// Groups below [`LEAST_LAUNCHES`] come first, the least launched of them, and go on while any budget is left, because
/// without them there is no result at all; so the budget is exceeded by at most one launch. From there on a launch is
/// started only if it should end in time.
pub fn decide(goal: &Goal, groups: &[Group], spent_seconds: f64) -> Decision {
    let left = goal.budget_seconds - spent_seconds;
    let needs_seconds = spent_seconds + seconds_to_go(goal, groups, 1.0);
    let lacking = (0..groups.len()).filter(|&g| groups[g].launches < LEAST_LAUNCHES);
    if let Some(group) = lacking.min_by_key(|&g| groups[g].launches) {
        return if left > 0.0 { Decision::Continue { group } } else { Decision::BudgetSpent { needs_seconds } };
    }
    let width = |group: usize| groups[group].half_width.unwrap_or(0.0);
    let widest = (0..groups.len()).max_by(|&a, &b| width(a).total_cmp(&width(b)));
    let Some(group) = widest.filter(|&group| width(group) > goal.precision) else {
        return Decision::Precise;
    };
    if left < groups[group].launch_seconds {
        return Decision::BudgetSpent { needs_seconds };
    }
    match seconds_to_go(goal, groups, DOUBT) > left {
        true => Decision::Unreachable { needs_seconds },
        false => Decision::Continue { group },
    }
}

/// The time until every group meets the target, if it took `doubt` times fewer launches than the widths foretell.
///
/// Widths shrink with the square root of the number of launches.
fn seconds_to_go(goal: &Goal, groups: &[Group], doubt: f64) -> f64 {
    let of_group = |group: &Group| {
        let have = group.launches as f64;
        let needed = have * (group.half_width.unwrap_or(0.0) / goal.precision).powi(2) / doubt;
        (needed.max(LEAST_LAUNCHES as f64) - have).max(0.0).ceil() * group.launch_seconds
    };
    groups.iter().map(of_group).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: Goal = Goal { precision: 0.01, budget_seconds: 60.0 };

    fn group(launches: usize, half_width: f64) -> Group {
        Group { launches, half_width: Some(half_width), launch_seconds: 1.0 }
    }

    #[test]
    fn nothing_is_looked_at_before_six_launches() {
        let precise = Group { launches: 5, half_width: Some(0.0), launch_seconds: 1.0 };
        assert_eq!(decide(&GOAL, &[precise], 5.0), Decision::Continue { group: 0 });
        let fresh = Group { launches: 0, half_width: None, launch_seconds: 0.0 };
        assert_eq!(decide(&GOAL, &[precise, fresh], 5.0), Decision::Continue { group: 1 });
        assert_eq!(decide(&GOAL, &[precise, fresh], 60.0), Decision::BudgetSpent { needs_seconds: 61.0 });
    }

    #[test]
    fn the_widest_interval_gets_the_next_launch() {
        let groups = [group(8, 0.011), group(8, 0.014), group(8, 0.002)];
        assert_eq!(decide(&GOAL, &groups, 24.0), Decision::Continue { group: 1 });
    }

    #[test]
    fn precision_stops_the_run() {
        let undefined = Group { launches: 6, half_width: None, launch_seconds: 1.0 };
        assert_eq!(decide(&GOAL, &[group(6, 0.01), undefined], 12.0), Decision::Precise);
        assert_eq!(decide(&GOAL, &[], 0.0), Decision::Precise);
    }

    #[test]
    fn a_launch_that_would_not_end_in_time_is_not_started() {
        assert_eq!(decide(&GOAL, &[group(8, 0.011)], 59.0), Decision::Continue { group: 0 });
        // Eight launches at ±1.1 % need 9.7 for ±1 %, which is two more.
        assert_eq!(decide(&GOAL, &[group(8, 0.011)], 59.5), Decision::BudgetSpent { needs_seconds: 61.5 });
    }

    #[test]
    fn a_target_out_of_reach_is_named_with_its_price() {
        // Ten launches at ±5 % need 250 for ±1 %, and no more than 60 fit.
        assert_eq!(decide(&GOAL, &[group(10, 0.05)], 10.0), Decision::Unreachable { needs_seconds: 250.0 });
        // At ±4 % they need 160, which is within the doubt of what fits.
        assert_eq!(decide(&GOAL, &[group(10, 0.04)], 10.0), Decision::Continue { group: 0 });
    }

    #[test]
    fn the_overrun_is_at_most_one_launch_whatever_the_widths() {
        for (half_width, seconds) in [(0.5, 7.0), (0.012, 7.0), (0.012, 25.0), (0.012, 100.0)] {
            let mut state = Group { launches: 0, half_width: None, launch_seconds: 0.0 };
            let mut spent = 0.0;
            while let Decision::Continue { .. } = decide(&GOAL, &[state], spent) {
                spent += seconds;
                state = Group { launches: state.launches + 1, half_width: Some(half_width), launch_seconds: seconds };
            }
            assert!(spent < GOAL.budget_seconds + seconds, "{spent} {seconds}");
        }
    }
}
