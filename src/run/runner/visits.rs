//! How often a run comes back to each of its experiments, and how long it stays.

use anyhow::Result;
use record::summary::Note;

use super::Runner;
use super::pilot::cell_s;
use crate::run::strategy::Least;

/// What was left out is tried again with so many times the time that did not hold it.
const MORE: f64 = 1.2;

impl Runner<'_> {
    /// Every experiment in its share of the time until its ratios are as narrow as asked. Several experiments are visited more
    /// than once: what a machine does changes over minutes, and launches that all lie in one of them would know nothing of it.
    pub(super) fn until_precise(&mut self, names: &[String], notes: &mut Vec<Note>) -> Result<()> {
        let weights = self.weights(names)?;
        if !self.state.plan.first_look && names.len() > 1 {
            self.at_the_least(names, &weights)?;
        }
        let visits = Visits::new(&weights, self.left_s());
        let mut spent_s = vec![0.0; names.len()];
        for visit in 0..visits.number() {
            for (place, name) in names.iter().enumerate() {
                self.progress.begin(place + 1, names.len());
                let begun_s = self.spent_s();
                let time = visits.time(visit, place, spent_s[place], self.left_s().max(0.0));
                let until = Until { planned_s: begun_s + time.planned_s, visit_s: begun_s + time.visit_s };
                let note = self.experiment(name, until)?;
                spent_s[place] += self.spent_s() - begun_s;
                notes.retain(|n| n.experiment != *name);
                notes.extend(note);
                if self.progress.is_seen() && place + 1 < names.len() && visit == 0 {
                    let summary = judge::summarise(&self.state, &self.evidence, judge::Circumstances::default())?;
                    self.progress.learnt(report::view::View::of(&summary).look.briefly());
                }
                if self.signals.arrived().is_some() {
                    return Ok(());
                }
            }
        }
        self.take_up(names, &visits.shares_s, notes)
    }

    /// The launches without which nothing is said, of all comparisons that the budget holds, before any has more.
    fn at_the_least(&mut self, names: &[String], weights: &[f64]) -> Result<()> {
        for (place, name) in names.iter().enumerate() {
            self.progress.begin(place + 1, names.len());
            let share = weights[place] / weights[place..].iter().sum::<f64>();
            let until_s = self.spent_s() + self.left_s().max(0.0) * share;
            self.visit(name, Until::all(until_s), &mut Least)?;
            if self.signals.arrived().is_some() {
                return Ok(());
            }
        }
        self.retries = true;
        let done = self.at_the_least_again(names);
        self.retries = false;
        done
    }

    /// What an experiment's share did not hold is tried again in what the others left over, whosever it is: what is through
    /// soonest comes first, so that as much as possible fits.
    fn at_the_least_again(&mut self, names: &[String]) -> Result<()> {
        let mut lacking: Vec<(f64, usize, Vec<usize>)> = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let all = self.comparisons(name).into_iter().filter(|all| all.iter().any(|u| self.left_out.contains(u)));
            lacking.extend(all.map(|all| (self.lacks_s(&all), place, all)));
        }
        lacking.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, place, launch_groups) in lacking {
            self.progress.begin(place + 1, names.len());
            launch_groups.iter().for_each(|u| _ = self.left_out.remove(u));
            self.visit(&names[place], Until::all(self.state.budget_s), &mut Least)?;
            if self.signals.arrived().is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// What one launch of each of these should take, in seconds; by their sizes where none was made, endless where one was
    /// ended for being long.
    fn lacks_s(&self, launch_groups: &[usize]) -> f64 {
        let of = |&u: &usize| match self.one_round_s(u) {
            seen if seen.is_finite() || self.cut.contains(&u) => seen,
            _ => self.alive(u).into_iter().map(|cell| cell_s(&self.state.cells[cell])).sum(),
        };
        launch_groups.iter().map(of).sum()
    }

    /// What experiments have left over goes to comparisons that another one's share did not hold, where it is more than that
    /// was.
    fn take_up(&mut self, names: &[String], shares_s: &[f64], notes: &mut Vec<Note>) -> Result<()> {
        for (name, share_s) in names.iter().zip(shares_s) {
            let mine = self.launch_groups_of(name);
            let lacking: Vec<usize> = mine.into_iter().filter(|u| self.left_out.contains(u)).collect();
            if lacking.is_empty() || self.left_s() < MORE * share_s || self.signals.arrived().is_some() {
                continue;
            }
            lacking.iter().for_each(|u| _ = self.left_out.remove(u));
            if let Some(note) = self.experiment(name, Until::all(self.state.budget_s))? {
                notes.retain(|n| n.experiment != *name);
                notes.push(note);
            }
        }
        Ok(())
    }
}

/// When a visit ends, in seconds of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    /// When the experiment's time would end if it had all of it at once: what a launch holds is planned by it.
    pub planned_s: f64,
    /// When this visit ends.
    pub visit_s: f64,
}

impl Until {
    /// One visit for all that is left.
    pub fn all(end_s: f64) -> Until {
        Until { planned_s: end_s, visit_s: end_s }
    }
}

/// The time of one visit, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Time {
    /// What the experiment has left in all.
    pub planned_s: f64,
    /// What it has until it is left again.
    pub visit_s: f64,
}

/// From this budget on there are more visits: less than half a minute each would be mostly starts.
const LONG_S: f64 = 300.0;
/// The share of its time that an experiment has had when a visit ends. The first is the longest: whoever ends a run early sees
/// intervals of what was visited.
const SHORT: [f64; 2] = [0.6, 1.0];
const LONG: [f64; 4] = [0.4, 0.6, 0.8, 1.0];

/// The visits of one run.
#[derive(Clone, Debug)]
pub(super) struct Visits {
    weights: Vec<f64>,
    /// The share of each experiment, in seconds.
    pub shares_s: Vec<f64>,
    ends: &'static [f64],
}

impl Visits {
    /// The time that is left, shared out by these weights.
    pub fn new(weights: &[f64], left_s: f64) -> Visits {
        let all: f64 = weights.iter().sum();
        let left_s = left_s.max(0.0);
        let ends: &'static [f64] = match weights.len() {
            0 | 1 => &[1.0],
            _ if left_s < LONG_S => &SHORT,
            _ => &LONG,
        };
        let shares_s = weights.iter().map(|w| left_s * w / all).collect();
        Visits { weights: weights.to_vec(), shares_s, ends }
    }

    /// How many there are of each experiment.
    pub fn number(&self) -> usize {
        self.ends.len()
    }

    /// The time of a visit of the experiment at this place, which has had so much before, while so much is left of the run. In
    /// the last visits what others left over is shared out too.
    pub fn time(&self, visit: usize, place: usize, spent_s: f64, left_s: f64) -> Time {
        if visit + 1 == self.ends.len() {
            let rest: f64 = self.weights[place..].iter().sum();
            let owed = |other: usize| self.shares_s[other] * (1.0 - self.ends[visit.saturating_sub(1)]);
            let all = match visit {
                0 => self.weights[place] / rest,
                _ => {
                    let mine = owed(place).max(self.shares_s[place] - spent_s);
                    mine / (mine + (place + 1..self.weights.len()).map(owed).sum::<f64>()).max(1e-9)
                }
            };
            return Time { planned_s: left_s * all, visit_s: left_s * all };
        }
        let planned_s = (self.shares_s[place] - spent_s).max(0.0);
        let visit_s = (self.shares_s[place] * self.ends[visit] - spent_s).max(0.0);
        Time { planned_s: planned_s.min(left_s), visit_s: visit_s.min(left_s) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each experiment got of a run whose experiments all take the time they are given, or a part of it.
    fn spent(weights: &[f64], budget_s: f64, takes: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let visits = Visits::new(weights, budget_s);
        let (mut spent_s, mut left_s) = (vec![0.0; weights.len()], budget_s);
        let mut each = vec![Vec::new(); weights.len()];
        for visit in 0..visits.number() {
            for place in 0..weights.len() {
                let time = visits.time(visit, place, spent_s[place], left_s);
                assert!(time.visit_s <= time.planned_s + 1e-9 && time.visit_s <= left_s + 1e-9, "{time:?}");
                let took = time.visit_s * takes[place];
                spent_s[place] += took;
                left_s -= took;
                each[place].push(took);
            }
        }
        (spent_s, each)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn one_experiment_has_all_the_time_at_once() {
        let (spent, each) = spent(&[3.0], 60.0, &[1.0]);
        assert!(near(spent[0], 60.0) && each[0].len() == 1);
    }

    #[test]
    fn each_is_visited_again_and_gets_its_share() {
        let (all, each) = spent(&[1.0, 3.0], 100.0, &[1.0, 1.0]);
        assert!(near(all[0], 25.0) && near(all[1], 75.0), "{all:?}");
        assert!(near(each[1][0], 45.0) && near(each[1][1], 30.0), "{each:?}");
        assert_eq!(spent(&[1.0, 3.0], 1000.0, &[1.0, 1.0]).1[0].len(), 4);
    }

    #[test]
    fn what_one_leaves_over_goes_to_the_others_that_come_after() {
        let (all, _) = spent(&[1.0, 1.0, 1.0], 90.0, &[0.5, 1.0, 1.0]);
        assert!(near(all.iter().sum(), 90.0) && all[2] > 30.0 && all[0] < 30.0, "{all:?}");
    }
}
