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
#[path = "../tests/unit/shares.rs"]
mod tests;
