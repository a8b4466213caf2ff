//! What comes before the launches that are judged: short ones that show how long things take, and from them, once and for
//! all, how much a launch holds and what each experiment needs of the budget.

use anyhow::Result;
use record::decision::What;
use record::plan::PlannedCell;
use record::state::GroupState;

use super::admission::Room;
use super::{Asked, Runner, launch_s};
use crate::run::need::memory_needed;

/// The block of launches that are kept but only show how long rounds take.
const PILOT: i32 = -1;
/// A round below this many seconds is shown by several: one alone is mostly the first touch of everything.
pub(super) const SHORT_ROUND_S: f64 = 0.1;
/// Where cells work on so many bytes nothing is discarded before: what a process pays once is nothing to them.
const LONG_JOB_BYTES: u64 = 64 << 20;
/// Most rounds that are discarded there by a worker that compiles: each may take seconds. Java's methods of `share` have their
/// loops compiled on little memory before; what is compiled later is for a method's law to tell.
const LONG_JOB_COMPILED: u32 = 1;
/// What a cell's turn takes whatever its size, and the bytes that one is through with in a second, checked and cleaned up: a
/// guess that only shares out a budget which does not hold everything.
const CELL_S: f64 = 0.3;
const BYTES_PER_S: f64 = 3e8;
/// Rounds of the second pilot of such a group.
const SECOND_PILOT_ROUNDS: u32 = 5;
/// Launches that the rounds of a launch are planned for, where a plan does not ask for more; the budget and the precision
/// decide how many there are.
const PLANNED_LAUNCHES: f64 = 10.0;
/// The share of the time that is planned with.
const PLANNED_SHARE: f64 = 0.92;
/// Most measured rounds in one launch.
pub(super) const MOST_ROUNDS: f64 = 400.0;
/// Measured rounds should take so many times what start and warm-up of their launch take.
const WORTH: f64 = 3.0;
/// Rounds are cheap while they take this share of what start and warm-up of their launch take.
const CHEAP: f64 = 0.25;
/// Rounds that a launch should have where one is shorter than [`SHORT_ROUND_S`]: their middle then feels no single tick.
const SHORT_ROUNDS: f64 = 20.0;
/// Launches of one sample each that an experiment of fresh processes should have.
const FRESH_LAUNCHES: f64 = 25.0;

impl Runner<'_> {
    /// How the budget is shared: by what each experiment says that it needs; in the first look by what their pilots took.
    pub(super) fn weights(&mut self, names: &[String]) -> Result<Vec<f64>> {
        if !self.state.plan.first_look {
            let needed: Vec<f64> = self.state.plan.experiments.iter().map(|e| e.needed_s()).collect();
            let fits = needed.iter().sum::<f64>() <= self.state.budget_s;
            return Ok(if fits { needed } else { names.iter().map(|name| self.by_size(name)).collect() });
        }
        for name in names {
            self.pilot(name, self.state.budget_s)?;
        }
        let left_s = self.left_s() * PLANNED_SHARE;
        let needs: Vec<Needs> = names.iter().map(|name| self.needs(name)).collect();
        let (least, worth) = needs.iter().fold((0.0, 0.0), |(l, w), n| (l + n.least_s, w + n.worth_s));
        // Everything gets its least; what is over goes to what makes a launch worth its start.
        let share = ((left_s - least) / (worth - least).max(1e-9)).max(0.0);
        Ok(needs.iter().map(|n| n.least_s + share * (n.worth_s - n.least_s) + 1e-3).collect())
    }

    /// What a launch of everything of an experiment should take, in seconds, as far as the sizes tell.
    fn by_size(&self, name: &str) -> f64 {
        let cells = self.state.cells.iter().filter(|p| p.cell.experiment == name && p.outcome.is_none());
        cells.map(cell_s).sum()
    }

    /// Whether the pilots of an experiment's long jobs are their first launches: its time holds few of these as it is, so they
    /// have one round each, and a pilot of one round after the same warm-up is a launch like every other. Told by sizes and
    /// time alone.
    fn pilots_count(&self, name: &str, room: &Room) -> bool {
        room.chooses() && PLANNED_LAUNCHES * self.by_size(name) > room.until_s() - self.spent_s()
    }

    fn needs(&self, name: &str) -> Needs {
        let mut needs = Needs { least_s: 0.0, worth_s: 0.0 };
        for launch_group in self.launch_groups_of(name) {
            if self.alive(launch_group).is_empty() {
                continue;
            }
            let group = &self.state.launch_groups[launch_group];
            let warmup = self.warmup_rounds(launch_group);
            needs.least_s += PLANNED_LAUNCHES * launch_s(group, warmup + 1);
            needs.worth_s += match group.fresh {
                true => FRESH_LAUNCHES * launch_s(group, 1),
                false => PLANNED_LAUNCHES * launch_s(group, warmup + worth_rounds(group, warmup) as u32),
            };
        }
        needs
    }

    /// How much the pilot of a group holds.
    pub(super) fn pilot_asked(&self, launch_group: usize) -> Asked {
        let warmup_rounds = match self.state.launch_groups[launch_group].fresh {
            true => 0,
            false if self.compiles(launch_group) && self.largest(launch_group) < LONG_JOB_BYTES => 2,
            false if self.largest(launch_group) >= LONG_JOB_BYTES => 0,
            false => 1,
        };
        Asked { rounds: 1, warmup_rounds, at_most: None }
    }

    /// One launch of every group, two where rounds are short, that is kept but not judged, except where
    /// [`Runner::pilots_count`]: it shows what cannot run here and how long a round takes. The groups that have been launched
    /// so are returned.
    pub(super) fn pilot(&mut self, name: &str, until_s: f64) -> Result<Vec<usize>> {
        let room = self.room(until_s);
        self.pilot_in(name, room)
    }

    /// The same within a room.
    pub(super) fn pilot_in(&mut self, name: &str, mut room: Room) -> Result<Vec<usize>> {
        let mut launched = Vec::new();
        let counts = self.pilots_count(name, &room);
        let mut all = self.comparisons(name);
        // Of what has had its pilots before, what is through soonest comes first; what is not known yet keeps its order.
        let one_s = |all: &[usize]| all.iter().map(|&u| self.one_round_s(u)).sum::<f64>();
        all.sort_by(|a, b| one_s(a).total_cmp(&one_s(b)));
        for mut comparison in all {
            if self.is_full(&room) {
                self.left_out.extend(&comparison);
                continue;
            }
            // Pilots that count are the first block, whose order is drawn as every block's is.
            if let Some(mut random) = self.order_of(&comparison, 0).filter(|_| counts) {
                random.shuffle(&mut comparison);
            }
            let mut next = 0;
            while next < comparison.len() {
                let parts_from = self.state.launch_groups.len();
                self.pilot_of(name, comparison[next], &room, counts)?;
                // Groups whose pilot dies are split; the parts get a pilot of their own.
                comparison.extend(parts_from..self.state.launch_groups.len());
                next += 1;
            }
            self.let_in(&comparison, &mut room);
            let piloted = |u: &usize| {
                let group = &self.state.launch_groups[*u];
                group.rounds == 0 && group.timed && !self.left_out.contains(u)
            };
            launched.extend(comparison.into_iter().filter(piloted));
        }
        Ok(launched)
    }

    fn pilot_of(&mut self, name: &str, launch_group: usize, room: &Room, counts: bool) -> Result<()> {
        let group = &self.state.launch_groups[launch_group];
        let stopped = |runner: &Self| runner.signals.arrived().is_some() || runner.left_out.contains(&launch_group);
        if group.rounds > 0 || group.timed || stopped(self) || self.spent_s() > room.until_s() {
            return Ok(());
        }
        self.progress.step(&format!("{name}: pilot"), self.left_s());
        let mut asked = self.pilot_within(launch_group, room);
        let batched = group.cells.iter().any(|&c| self.state.cells[c].free_batch);
        let counts = counts && !batched && self.largest(launch_group) >= LONG_JOB_BYTES;
        if counts {
            asked.warmup_rounds = self.warmup_rounds(launch_group);
        }
        // What is skipped ends a pair's launch, which then says nothing of the others.
        let mut alive = usize::MAX;
        while self.alive(launch_group).len() < alive && !self.alive(launch_group).is_empty() && !stopped(self) {
            alive = self.alive(launch_group).len();
            self.launch(launch_group, if counts { 0 } else { PILOT }, asked)?;
            if self.is_launched(launch_group) {
                return Ok(());
            }
        }
        let group = &self.state.launch_groups[launch_group];
        // A single round proves, which may take longer than what is measured: several show what a round is.
        let measured_s = group.cells.iter().filter_map(|cell| self.lengths_ns.get(cell)).sum::<f64>() / 1e9;
        let short = group.round_s < SHORT_ROUND_S || measured_s > 0.0 && measured_s < SHORT_ROUND_S;
        let again = !group.fresh && group.timed && short;
        if again && !self.alive(launch_group).is_empty() && !stopped(self) {
            self.launch(launch_group, PILOT, Asked { rounds: SECOND_PILOT_ROUNDS, ..asked })?;
        }
        Ok(())
    }

    /// Whether each cell of a group has had a launch that is judged.
    fn is_launched(&self, launch_group: usize) -> bool {
        let has_one = |cell: &usize| self.evidence.cells.get(cell).is_some_and(|of| !of.launches.is_empty());
        self.alive(launch_group).iter().all(has_one)
    }

    /// The most bytes that a cell of a group works on.
    fn largest(&self, launch_group: usize) -> u64 {
        let cells = self.state.launch_groups[launch_group].cells.iter().map(|&c| &self.state.cells[c].cell);
        cells.filter_map(|cell| cell.parameters.get("bytes")?.parse().ok()).max().unwrap_or(0)
    }

    /// The rounds to discard in every launch of a group, as its experiment says; none where a job is so large that what a
    /// process pays once is nothing to it. Cells that are compared have one size, so one number of rounds.
    pub(super) fn warmup_rounds(&self, launch_group: usize) -> u32 {
        let group = &self.state.launch_groups[launch_group];
        let Some(experiment) = self.state.plan.experiment(&group.experiment) else { return 0 };
        match (group.fresh, self.compiles(launch_group)) {
            (true, _) => 0,
            (false, true) if self.largest(launch_group) >= LONG_JOB_BYTES => {
                experiment.warmup_rounds_compiled.min(LONG_JOB_COMPILED)
            }
            (false, true) => experiment.warmup_rounds_compiled,
            (false, false) if self.largest(launch_group) >= LONG_JOB_BYTES => 0,
            (false, false) => experiment.warmup_rounds,
        }
    }

    /// Fixes how much every further launch holds: as many rounds as make it worth its start, so that at least about ten
    /// launches of each group fit into the budget and as few as the run may have fill it.
    pub(super) fn fix_rounds(&mut self, name: &str, until_s: f64) -> Result<()> {
        let of_name = self.launch_groups_of(name);
        let timed =
            |u: &usize| !self.alive(*u).is_empty() && self.state.launch_groups[*u].timed && !self.left_out.contains(u);
        let begun = of_name.iter().any(|&u| self.state.launch_groups[u].rounds > 1);
        let open: Vec<usize> =
            of_name.into_iter().filter(timed).filter(|&u| self.state.launch_groups[u].rounds == 0).collect();
        let warmup: Vec<u32> = open.iter().map(|&u| self.warmup_rounds(u)).collect();
        let least_s: f64 = open.iter().zip(&warmup).map(|(&u, w)| launch_s(&self.state.launch_groups[u], 1 + w)).sum();
        let adjustable = open.iter().filter(|&&u| !self.state.launch_groups[u].fresh).count().max(1) as f64;
        let left_s = (until_s - self.spent_s()) * PLANNED_SHARE;
        let spare_s = |launches: f64| (left_s / launches - least_s) / adjustable;
        let plan = &self.state.plan;
        let planned = PLANNED_LAUNCHES.max(f64::from(plan.min_launches));
        let (most_s, fewest_s) = (spare_s(planned), spare_s(f64::from(plan.max_launches)));
        for (u, warmup_rounds) in open.into_iter().zip(warmup) {
            let group = &self.state.launch_groups[u];
            let worth = worth_rounds(group, warmup_rounds);
            let rounds = match group.fresh || self.is_launched(u) {
                true => 1,
                false if begun => cheap_rounds(group, warmup_rounds),
                false => chosen_rounds(group.round_s, worth, fewest_s, most_s).max(cheap_rounds(group, warmup_rounds)),
            };
            let why = "a launch is worth its start, and about ten of every group fit into the budget";
            self.decide(why, What::Rounds { launch_group: u, rounds, warmup_rounds })?;
        }
        Ok(())
    }
}

/// What one cell's turn should take, in seconds, by the bytes that it works on or needs at its peak.
pub(super) fn cell_s(planned: &PlannedCell) -> f64 {
    let bytes = planned.cell.parameters.get("bytes").and_then(|b| b.parse::<f64>().ok()).unwrap_or(0.0);
    let needed = memory_needed(planned, 1).map_or(0.0, |needed| needed as f64);
    CELL_S + bytes.max(needed) / BYTES_PER_S
}

/// What ten launches of an experiment take, in seconds.
struct Needs {
    /// With one round each.
    least_s: f64,
    /// With as many as are worth it.
    worth_s: f64,
}

/// The rounds with which a launch is worth its start.
fn worth_rounds(group: &GroupState, warmup_rounds: u32) -> f64 {
    let round_s = group.round_s.max(1e-6);
    let short = if round_s < SHORT_ROUND_S { SHORT_ROUNDS } else { 1.0 };
    (WORTH * launch_s(group, warmup_rounds) / round_s).max(short).min(MOST_ROUNDS).ceil()
}

/// Rounds that make a launch longer by a share of what its start and warm-up take: they are had for little however short the
/// time is, where a launch of fewer would be mostly start. One at the least.
pub(super) fn cheap_rounds(group: &GroupState, warmup_rounds: u32) -> u32 {
    let that_take = CHEAP * launch_s(group, warmup_rounds) / group.round_s.max(1e-6);
    that_take.clamp(1.0, SHORT_ROUNDS) as u32
}

/// The rounds that are worth it, kept between those that fill the budget with the most launches and with about ten.
fn chosen_rounds(round_s: f64, worth: f64, fewest_s: f64, most_s: f64) -> u32 {
    let that_take = |seconds: f64| 1.0 + (seconds / round_s.max(1e-6)).max(0.0);
    worth.max(that_take(fewest_s)).min(that_take(most_s)).min(MOST_ROUNDS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(round_s: f64, start_s: f64) -> GroupState {
        GroupState {
            experiment: "x".to_owned(),
            cells: vec![0],
            fresh: false,
            split_from: None,
            timed: true,
            round_s,
            start_s,
            rounds: 0,
            warmup_rounds: 0,
        }
    }

    #[test]
    fn rounds_pay_for_the_start_and_short_ones_are_many() {
        assert_eq!(worth_rounds(&group(0.5, 1.0), 2), 12.0);
        assert_eq!(worth_rounds(&group(0.01, 0.01), 2), 20.0);
        assert_eq!(worth_rounds(&group(1e-5, 10.0), 2), MOST_ROUNDS);
    }

    #[test]
    fn a_launch_that_is_mostly_start_has_the_rounds_that_cost_little() {
        assert_eq!(cheap_rounds(&group(0.01, 0.5), 24), 18, "a quarter of 0.74 s");
        assert_eq!(cheap_rounds(&group(1e-4, 0.5), 24), 20);
        assert_eq!(cheap_rounds(&group(0.01, 0.002), 1), 1);
    }

    #[test]
    fn a_launch_is_never_empty_and_the_budget_bounds_it() {
        assert_eq!(chosen_rounds(0.1, 20.0, 0.0, 10.0), 20);
        assert_eq!(chosen_rounds(0.1, 20.0, 5.0, 10.0), 51, "the most launches must fill the budget");
        assert_eq!(chosen_rounds(0.1, 20.0, 0.0, 0.5), 6, "ten launches must fit");
        assert_eq!(chosen_rounds(0.1, 20.0, -3.0, -1.0), 1);
    }
}
