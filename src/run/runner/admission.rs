//! Which comparisons a budget holds. One that cannot get the launches of an interval has none, and what it was given would be
//! missing elsewhere: it is left out, with words, and a resumed run with more time takes it up.

use std::time::Duration;

use stats::estimate::LEAST_POINTS;

use super::{Asked, Runner};

/// Experiments that have less time than this take all that they can: whoever gives so little wants to see everything once.
const LEAST_TIME_S: f64 = 30.0;
/// Launches are planned for so many times what their pilot promises.
const LONGER: f64 = 1.25;
/// No pilot is cut before this many seconds.
const LEAST_PILOT_S: f64 = 5.0;

/// The time of an experiment while its pilots are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// When it ends, in seconds of the run.
    until_s: f64,
    /// What the comparisons that have been admitted need.
    held_s: f64,
    /// Whether anything is left out at all.
    chooses: bool,
    /// The longest that one pilot may take, where that is given.
    longest: Option<Duration>,
}

impl Room {
    /// Room for the pilots of everything, each within so much time; what fits is decided when all are known.
    pub(super) fn of_all(until_s: f64, longest: Duration) -> Room {
        Room { until_s, held_s: 0.0, chooses: false, longest: Some(longest) }
    }

    pub(super) fn until_s(&self) -> f64 {
        self.until_s
    }

    /// Whether anything is left out where the time does not hold it.
    pub(super) fn chooses(&self) -> bool {
        self.chooses
    }
}

impl Runner<'_> {
    pub(super) fn room(&self, until_s: f64) -> Room {
        let plan = &self.state.plan;
        let worth_it = self.retries || until_s - self.spent_s() >= LEAST_TIME_S;
        let chooses = !plan.first_look && plan.rounds.is_none() && worth_it;
        // The first comparison is let in however long it takes, unless there have been others.
        let held_s = if self.retries { f64::MIN_POSITIVE } else { 0.0 };
        Room { until_s, held_s, chooses, longest: None }
    }

    /// The launch groups of an experiment, those together whose cells are compared, in the order of the plan's cells.
    pub(super) fn comparisons(&self, name: &str) -> Vec<Vec<usize>> {
        let mut launch_groups = self.launch_groups_of(name);
        launch_groups.sort_by_key(|&u| self.state.launch_groups[u].cells.iter().min());
        self.compared(name, launch_groups).into_iter().map(|cluster| cluster.launch_groups).collect()
    }

    /// A pilot that takes longer than this shows that its comparison does not fit; `None` where all are let in.
    pub(super) fn longest_pilot(&self, room: &Room) -> Option<Duration> {
        if room.longest.is_some() {
            return room.longest;
        }
        let left_s = room.until_s - self.spent_s() - room.held_s;
        let most_s = (left_s / (LEAST_POINTS + 1) as f64).max(LEAST_PILOT_S);
        // The first comparison is measured however long it takes: a run brings something.
        (room.chooses && room.held_s > 0.0).then(|| Duration::from_secs_f64(most_s))
    }

    /// Whether nothing more can be let in.
    pub(super) fn is_full(&self, room: &Room) -> bool {
        room.chooses && room.held_s > 0.0 && room.until_s - self.spent_s() < room.held_s
    }

    /// Lets a comparison in whose pilots have been made, if its least launches fit; notes it where they do not.
    pub(super) fn let_in(&mut self, launch_groups: &[usize], room: &mut Room) {
        if !room.chooses {
            return;
        }
        // What has been let in before stays in, and its launches are made already.
        let is_in = |u: &usize| self.state.launch_groups[*u].rounds > 0;
        let timed = |u: &&usize| self.state.launch_groups[**u].timed && !self.alive(**u).is_empty() && !is_in(u);
        let block_s = launch_groups.iter().filter(timed).map(|&u| self.one_round_s(u));
        let need_s = LEAST_POINTS as f64 * LONGER * block_s.sum::<f64>();
        if launch_groups.iter().any(is_in) {
            room.held_s += need_s;
            return;
        }
        let cut = launch_groups.iter().any(|u| self.left_out.contains(u));
        if cut || room.held_s > 0.0 && room.held_s + need_s > room.until_s - self.spent_s() {
            self.left_out.extend(launch_groups);
        } else {
            room.held_s += need_s;
        }
    }

    /// How much a pilot holds that is cut where it takes too long.
    pub(super) fn pilot_within(&self, launch_group: usize, room: &Room) -> Asked {
        Asked { at_most: self.longest_pilot(room), ..self.pilot_asked(launch_group) }
    }
}
