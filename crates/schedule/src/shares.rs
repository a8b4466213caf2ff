//! The overview's time: every comparison has its least launches, and the rest goes to those that are wide, in even shares.

use crate::constants::LONGER;

/// The need of a comparison at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetNeed {
    /// The seconds of the least launches that it lacks.
    pub lacking_s: f64,
    /// The seconds that it has had beyond them.
    pub beyond_s: f64,
    /// The seconds of its next launch, of all its launch groups.
    pub launch_s: f64,
    /// Its share of the time beyond the least launches (a usual condition: 1).
    pub share: f64,
    /// True if its interval is wider than requested, or absent.
    pub wide: bool,
}

impl SetNeed {
    /// The seconds that it is due in so many visits, where a usual condition has `level_s` beyond its least launches. What is
    /// narrow is launched once in each visit, for the machine may be another by then.
    pub fn due_s(&self, level_s: f64, visits: usize) -> f64 {
        let again_s = LONGER * self.launch_s * visits as f64;
        self.lacking_s
            + if self.wide {
                (level_s * self.share - self.beyond_s).max(0.0)
            } else {
                again_s
            }
    }
}

/// The seconds of a usual condition beyond its least launches with which all of these are due `left_s`.
pub(crate) fn level_s<'a>(
    needs: impl Iterator<Item = &'a SetNeed> + Clone,
    visits: usize,
    left_s: f64,
) -> f64 {
    let due_s = |level_s: f64| {
        needs
            .clone()
            .map(|need| need.due_s(level_s, visits))
            .sum::<f64>()
    };
    let (mut low, mut high) = (
        0.0,
        left_s.max(0.0) + needs.clone().map(|need| need.beyond_s).fold(0.0, f64::max),
    );
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if due_s(middle) < left_s {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::{SetNeed, level_s};

    const NEW: SetNeed = SetNeed {
        lacking_s: 6.0,
        beyond_s: 0.0,
        launch_s: 1.0,
        share: 1.0,
        wide: true,
    };

    #[test]
    fn every_comparison_has_its_least_launches_and_the_rest_goes_by_share() {
        let neighbor = SetNeed {
            share: 0.1,
            lacking_s: 2.0,
            ..NEW
        };
        let level = level_s([NEW, neighbor].iter(), 6, 30.0);
        assert!((level - 20.0).abs() < 1e-6, "{level}");
        assert!(
            (NEW.due_s(level, 6) - 26.0).abs() < 1e-6
                && (neighbor.due_s(level, 6) - 4.0).abs() < 1e-6
        );
    }

    #[test]
    fn what_is_narrow_has_a_launch_in_each_visit_and_what_had_more_waits() {
        let narrow = SetNeed {
            lacking_s: 0.0,
            beyond_s: 3.0,
            wide: false,
            ..NEW
        };
        let [ahead, behind] = [8.0, 1.0].map(|beyond_s| SetNeed {
            lacking_s: 0.0,
            beyond_s,
            ..NEW
        });
        let needs = [narrow, ahead, behind];
        let level = level_s(needs.iter(), 2, 6.5);
        assert_eq!(
            needs.map(|need| need.due_s(level, 2).round()),
            [3.0, 0.0, 4.0]
        );
        let level = level_s(needs.iter(), 2, 19.5);
        assert_eq!(
            needs.map(|need| need.due_s(level, 2).round()),
            [3.0, 5.0, 12.0]
        );
    }

    #[test]
    fn without_time_nobody_has_more_than_the_least() {
        assert!(level_s([NEW].iter(), 6, 3.0) < 1e-6);
    }
}
