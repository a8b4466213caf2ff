//! The policy of a run of claims: every comparison has the launches of an interval, then those without a verdict go on from one
//! interim analysis to the next, the cheapest to decide first. Each analysis has its price in the verdicts (`stats::looks`).

use crate::action::{Action, StepResult};
use crate::block::{ComparisonSet, LaunchBlock, Next, Until};
use crate::constants::{BATCH_TIME, BESIDE, LONGER, PLANNED_SHARE, UNLIKELY};
use crate::pilot::{Pilots, Room, Scope};
use crate::{Shared, Task, batch::BatchCalibration, names, plain, rounds::Sizing, view::View};
use anyhow::Result;
use record::{cell::Cell, decision::Ending, state::Stage};
use stats::{interval::LEAST_LAUNCHES, looks::next_look, rng::Seeded, stopping::DOUBT};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(crate) struct Claims {
    comparisons: Vec<(Vec<Cell>, bool)>,
    /// The first pass measures only what decides a claim; the second one everything, in the time left.
    second_pass: bool,
    phase: ClaimPhase,
    /// The admitted sets, experiment by experiment, each with the number of its experiment.
    sets: Vec<ComparisonSet>,
    places: Vec<usize>,
    block: Option<LaunchBlock>,
}

#[derive(Debug)]
enum ClaimPhase {
    Pilots,
    Admission,
    /// This block of the least launches: sets to come, the next one last.
    Least(u32, Vec<usize>),
    /// Launches up to the next interim analysis: sets, and the blocks that each then has.
    Batch(Vec<(usize, usize)>),
    Over,
}

impl Claims {
    pub fn new(comparisons: Vec<(Vec<Cell>, bool)>) -> Claims {
        Claims {
            comparisons,
            second_pass: false,
            phase: ClaimPhase::Pilots,
            sets: Vec::new(),
            places: Vec::new(),
            block: None,
        }
    }

    pub fn step(&mut self, view: &View, shared: &mut Shared) -> Result<StepResult> {
        loop {
            if let Some(block) = &mut self.block {
                match block.next(
                    view,
                    shared,
                    &mut self.sets[block.set],
                    Until::all(view.state.budget_s),
                ) {
                    Next::Launch(launch) => return Ok(StepResult::Do(Action::Launch(launch))),
                    Next::Full => self.phase = ClaimPhase::Over,
                    Next::Complete => {}
                }
                self.block = None;
            }
            match &mut self.phase {
                ClaimPhase::Pilots => {
                    self.phase = ClaimPhase::Admission;
                    return Ok(StepResult::After(self.pilots(view, shared)));
                }
                ClaimPhase::Admission => {
                    self.admit(view);
                    self.phase = ClaimPhase::Least(0, self.order(view, 0));
                }
                ClaimPhase::Least(block, rest) => {
                    let block = *block;
                    match rest.pop() {
                        Some(set) if self.sets[set].blocks <= block => self.begin(view, set),
                        Some(_) => {}
                        None if block as usize + 1 < LEAST_LAUNCHES => {
                            self.phase = ClaimPhase::Least(block + 1, self.order(view, block + 1));
                        }
                        None => self.phase = self.analyzed(view, shared)?,
                    }
                }
                ClaimPhase::Batch(targets) => {
                    let sets = &self.sets;
                    let lacks = |&&(set, until): &&(usize, usize)| {
                        (sets[set].blocks as usize) < until && sets[set].is_open(view)
                    };
                    let behind = targets
                        .iter()
                        .filter(lacks)
                        .min_by_key(|(set, _)| sets[*set].blocks);
                    match behind.map(|(set, _)| *set) {
                        Some(set) => self.begin(view, set),
                        None => self.phase = self.analyzed(view, shared)?,
                    }
                }
                ClaimPhase::Over => {
                    shared.finished.clear();
                    shared.waiting.clear();
                    if self.second_pass {
                        self.end(view, shared)?;
                        return Ok(StepResult::Done);
                    }
                    (self.second_pass, self.phase) = (true, ClaimPhase::Pilots);
                }
            }
        }
    }

    fn begin(&mut self, view: &View, set: usize) {
        self.block = Some(LaunchBlock::new(view, &self.sets, set, true));
    }

    /// The pilots of everything that has a turn in this pass, and their rounds.
    fn pilots(&self, view: &View, shared: &mut Shared) -> Vec<Task> {
        if !self.second_pass {
            let deciding = self
                .comparisons
                .iter()
                .filter(|(_, decides)| *decides)
                .flat_map(|(cells, _)| cells);
            let needed: BTreeSet<usize> = deciding.filter_map(|cell| place(view, cell)).collect();
            let has_turn = |cell: &usize| needed.contains(cell) || view.state.cells[*cell].twin;
            let all = 0..view.state.launch_groups.len();
            shared.waiting = all
                .filter(|&group| !view.group(group).cells.iter().any(has_turn))
                .collect();
        }
        let room = Room::of_claims(view);
        let mut tasks = Vec::new();
        for name in names(view.state) {
            tasks.push(Task::Pilots(Pilots::new(view, &name, Scope::All, room)));
            tasks.push(Task::Calibration(BatchCalibration::new(
                &name,
                view.state.budget_s,
            )));
        }
        tasks.push(Task::Sizing(Sizing::Claims {
            without: shared.waiting.clone(),
        }));
        tasks
    }

    /// Takes the sets whose least launches fit, those first that answer most in their time.
    fn admit(&mut self, view: &View) {
        let mut all: Vec<(usize, ComparisonSet)> = Vec::new();
        for (place, name) in names(view.state).iter().enumerate() {
            all.extend(
                ComparisonSet::all(view, name)
                    .into_iter()
                    .map(|set| (place, set)),
            );
        }
        let mut worth = vec![0.0; all.len()];
        for (cells, decides) in &self.comparisons {
            let cells: Vec<usize> = cells.iter().filter_map(|cell| place(view, cell)).collect();
            let touched: Vec<usize> = (0..all.len())
                .filter(|&set| all[set].1.holds(view, &cells))
                .collect();
            let weight = if *decides { 1.0 } else { 1.0 / BESIDE };
            touched
                .iter()
                .for_each(|&set| worth[set] += weight / touched.len() as f64);
        }
        let cost_s = |set: &ComparisonSet| {
            next_s(view, set, &BTreeSet::new()) * LEAST_LAUNCHES as f64 * LONGER
        };
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| {
            (cost_s(&all[a].1) / worth[a]).total_cmp(&(cost_s(&all[b].1) / worth[b]))
        });
        let (mut held_s, room_s, mut admitted) =
            (0.0, view.left_s() * PLANNED_SHARE, BTreeSet::new());
        for set in order {
            let more_s = cost_s(&all[set].1);
            // The first is measured however long it takes, so that a run has a result.
            if all[set].1.blocks > 0 || admitted.is_empty() || held_s + more_s <= room_s {
                held_s += more_s;
                admitted.insert(set);
            }
        }
        let kept = all
            .into_iter()
            .enumerate()
            .filter(|(set, _)| admitted.contains(set));
        (self.places, self.sets) = kept.map(|(_, pair)| pair).unzip();
        // A launch group that joins a set in the second pass begins with the first block, which the others have.
        for set in &mut self.sets {
            let lacks = |&group: &usize| (0..set.blocks).find(|&block| view.lacks(group, block));
            set.blocks = set
                .launch_groups
                .iter()
                .filter_map(lacks)
                .min()
                .unwrap_or(set.blocks);
        }
    }

    /// The order of a block of the least launches: experiments one after the other, so that compared cells are near in time.
    fn order(&self, view: &View, block: u32) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sets.len()).collect();
        Seeded::new(view.state.plan.seed ^ u64::from(block)).shuffle(&mut order);
        order.sort_by_key(|&set| std::cmp::Reverse(self.places[set]));
        order
    }

    /// An interim analysis, and the launches until the next one.
    fn analyzed(&mut self, view: &View, shared: &mut Shared) -> Result<ClaimPhase> {
        let mut open = Vec::new();
        let mut lacking: BTreeSet<usize> = BTreeSet::new();
        for comparison in view.forecast.undecided(view.state)? {
            let cells: Vec<usize> = comparison
                .cells
                .iter()
                .filter_map(|cell| place(view, cell))
                .collect();
            let sets: Vec<usize> = (0..self.sets.len())
                .filter(|&set| self.sets[set].holds(view, &cells))
                .collect();
            if (comparison.likely || self.second_pass)
                && !sets.is_empty()
                && cells.len() == comparison.cells.len()
            {
                lacking.extend(cells);
                open.push(Open {
                    sets,
                    launches: comparison.launches,
                    weight: weight(&comparison),
                });
            }
        }
        shared.finished = (0..view.state.cells.len())
            .filter(|cell| !lacking.contains(cell))
            .collect();
        let progress = |set: &ComparisonSet| SetProgress {
            launches: set.blocks as usize,
            next_s: next_s(view, set, &shared.finished),
            open: set.is_open(view),
        };
        let progress: Vec<SetProgress> = self.sets.iter().map(progress).collect();
        let targets = batch(
            &progress,
            &open,
            view.left_s(),
            (view.left_s() * BATCH_TIME.0).max(BATCH_TIME.1),
        );
        Ok(if targets.is_empty() {
            ClaimPhase::Over
        } else {
            ClaimPhase::Batch(targets)
        })
    }

    fn end(&self, view: &View, shared: &mut Shared) -> Result<()> {
        let open = view.forecast.undecided(view.state)?;
        let likely = open.iter().filter(|comparison| comparison.likely).count();
        shared.endings.push(Ending::Claims {
            likely,
            near_edge: open.len() - likely,
            launches: view.launches,
        });
        Ok(())
    }
}

fn weight(comparison: &crate::Undecided) -> f64 {
    let beside = if comparison.decides { 1.0 } else { BESIDE };
    beside * if comparison.likely { 1.0 } else { UNLIKELY }
}

/// The number of a cell in the plan, whatever its batch.
fn place(view: &View, wanted: &Cell) -> Option<usize> {
    let parameters: BTreeMap<&str, &str> = plain(wanted);
    view.state.cells.iter().position(|planned| {
        let is_candidate = !planned.twin && planned.outcome.is_none();
        is_candidate && planned.cell.name() == wanted.name() && plain(&planned.cell) == parameters
    })
}

/// The forecast of a set's next block without finished cells, in seconds.
fn next_s(view: &View, set: &ComparisonSet, finished: &BTreeSet<usize>) -> f64 {
    let group_s = |&group: &usize| {
        let Stage::Sized {
            cost: Some(cost), ..
        } = view.stage(group)
        else {
            return 0.0;
        };
        let alive = view.alive(group);
        let left = alive.iter().filter(|cell| !finished.contains(cell)).count();
        let share = left as f64 / alive.len().max(1) as f64;
        if left == 0 {
            0.0
        } else {
            cost.start_s + (view.launch_s(group) - cost.start_s) * share
        }
    };
    set.launch_groups.iter().map(group_s).sum::<f64>().max(1e-3)
}

#[derive(Clone, Copy, Debug)]
struct SetProgress {
    launches: usize,
    next_s: f64,
    open: bool,
}

/// A comparison without a verdict.
#[derive(Clone, Debug)]
struct Open {
    sets: Vec<usize>,
    launches: usize,
    weight: f64,
}

/// The launches until the next interim analysis: sets with the blocks that each then has. Empty if no comparison can be decided
/// in the time left. A batch ends after about `batch_s` seconds.
fn batch(sets: &[SetProgress], open: &[Open], left_s: f64, batch_s: f64) -> Vec<(usize, usize)> {
    let mut targets: Vec<(usize, usize)> = Vec::new();
    let mut rest: Vec<&Open> = open
        .iter()
        .filter(|question| question.sets.iter().all(|&set| sets[set].open))
        .collect();
    let mut planned_s = 0.0;
    while planned_s < batch_s {
        let lacking_s = |set: usize, until: usize| {
            let have = targets
                .iter()
                .find(|(other, _)| *other == set)
                .map_or(sets[set].launches, |(_, at)| *at);
            until.saturating_sub(have) as f64 * sets[set].next_s
        };
        let cost_s = |question: &Open| {
            question
                .sets
                .iter()
                .map(|&set| lacking_s(set, question.launches))
                .sum::<f64>()
        };
        let weighted = |&index: &usize| cost_s(rest[index]) * rest[index].weight;
        let affordable =
            (0..rest.len()).filter(|&index| cost_s(rest[index]) <= (left_s - planned_s) * DOUBT);
        let Some(cheapest) = affordable.min_by(|a, b| weighted(a).total_cmp(&weighted(b))) else {
            break;
        };
        let comparison = rest.remove(cheapest);
        // Its sets come to the same analysis, so that their launches take turns.
        let have = comparison
            .sets
            .iter()
            .map(|&set| sets[set].launches)
            .min()
            .unwrap_or(0);
        let until = next_look(have).min(comparison.launches.max(have + 1));
        let next_s: f64 = comparison
            .sets
            .iter()
            .map(|&set| lacking_s(set, until))
            .sum();
        if next_s > left_s - planned_s {
            continue;
        }
        planned_s += next_s;
        for &set in &comparison.sets {
            match targets.iter_mut().find(|(other, _)| *other == set) {
                Some((_, at)) => *at = (*at).max(until),
                None => targets.push((set, until)),
            }
        }
    }
    targets.retain(|(set, until)| *until > sets[*set].launches);
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(launches: usize, next_s: f64) -> SetProgress {
        SetProgress {
            launches,
            next_s,
            open: true,
        }
    }

    fn open(sets: &[usize], launches: usize) -> Open {
        Open {
            sets: sets.to_vec(),
            launches,
            weight: 1.0,
        }
    }

    #[test]
    fn the_cheapest_comparison_goes_first_and_only_to_its_next_analysis() {
        let (sets, all) = ([at(6, 1.0), at(6, 0.1)], [open(&[0], 14), open(&[1], 21)]);
        assert_eq!(batch(&sets, &all, 100.0, 0.1), [(1, 9)]);
        assert_eq!(batch(&sets, &all, 100.0, 5.0), [(1, 9), (0, 9)]);
        let weighted = [
            Open {
                weight: BESIDE,
                ..open(&[0], 9)
            },
            open(&[1], 9),
        ];
        assert_eq!(
            batch(&[at(6, 1.0), at(6, 2.0)], &weighted, 100.0, 1.0),
            [(1, 9)]
        );
        assert_eq!(
            batch(
                &[at(6, 1.0)],
                &[Open {
                    weight: UNLIKELY,
                    ..open(&[0], 9)
                }],
                100.0,
                1.0
            ),
            [(0, 9)]
        );
    }

    #[test]
    fn a_comparison_that_cannot_be_decided_in_the_time_left_is_not_begun() {
        let sets = [at(6, 10.0)];
        assert!(batch(&sets, &[open(&[0], 48)], 60.0, 5.0).is_empty());
        assert!(
            batch(&sets, &[open(&[0], 9)], 20.0, 5.0).is_empty(),
            "an analysis that does not fit"
        );
        assert!(batch(&sets, &[], 60.0, 5.0).is_empty());
        assert!(
            batch(
                &[SetProgress {
                    open: false,
                    ..sets[0]
                }],
                &[open(&[0], 9)],
                600.0,
                5.0
            )
            .is_empty()
        );
    }

    #[test]
    fn a_comparison_of_two_sets_has_both_at_the_same_analysis() {
        let comparison = [open(&[0, 1], 14)];
        assert_eq!(
            batch(&[at(6, 0.1), at(9, 0.1)], &comparison, 100.0, 0.1),
            [(0, 9)]
        );
        assert_eq!(
            batch(&[at(9, 0.1), at(9, 0.1)], &comparison, 100.0, 0.1),
            [(0, 14), (1, 14)]
        );
    }
}
