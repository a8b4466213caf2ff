//! The policy of a run of claims: every comparison has the launches of an interval, then those without a verdict go on from one
//! interim analysis to the next, the cheapest to decide first. Each analysis has its price in the verdicts (`stats::looks`).

use crate::batch::calibrate;
use crate::block::{BlockEnd, ComparisonSet, Until, launch_block};
use crate::constants::{BATCH_TIME, BESIDE, LONGER, PLANNED_SHARE, UNLIKELY};
use crate::first_launches::{Room, Scope, first_launches};
use crate::rounds::fix_for_claims;
use crate::run::{ActiveRun, Halt, Step, names, plain};
use crate::view::View;
use record::{cell::Cell, decision::Ending, state::Stage};
use stats::{interval::LEAST_LAUNCHES, looks::next_look, rng::Seeded, stopping::DOUBT};
use std::collections::{BTreeMap, BTreeSet};

/// Measures what decides a claim, then everything in the time left. Of a comparison: its cells, and true if the claim's own
/// verdict rests on it.
pub(crate) fn decide_claims(run: &mut ActiveRun, comparisons: &[(Vec<Cell>, bool)]) -> Step {
    for everything in [false, true] {
        prepare(run, comparisons, everything)?;
        let mut pass = Pass::admit(&run.view(), comparisons, everything);
        pass.measure(run)?;
        run.finished.clear();
        run.waiting.clear();
    }
    let view = run.view();
    let open = view.forecast.undecided(view.state)?;
    let likely = open.iter().filter(|comparison| comparison.likely).count();
    let ending = Ending::Claims {
        likely,
        near_edge: open.len() - likely,
        launches: view.launches,
    };
    run.endings.push(ending);
    Ok(())
}

/// Makes the first launches of everything that has a turn in this pass, and fixes the size of the next ones.
fn prepare(run: &mut ActiveRun, comparisons: &[(Vec<Cell>, bool)], everything: bool) -> Step {
    let view = run.view();
    let (room, budget_s) = (Room::of_claims(&view), view.state.budget_s);
    let names = names(view.state);
    if !everything {
        let waiting = without_claims(&view, comparisons);
        run.waiting = waiting;
    }
    for name in names {
        first_launches(run, &name, &Scope::All, room)?;
        calibrate(run, &name, budget_s)?;
    }
    fix_for_claims(run)
}

/// The launch groups on which no claim's verdict rests.
fn without_claims(view: &View, comparisons: &[(Vec<Cell>, bool)]) -> BTreeSet<usize> {
    let deciding = comparisons
        .iter()
        .filter(|(_, decides)| *decides)
        .flat_map(|(cells, _)| cells);
    let needed: BTreeSet<usize> = deciding.filter_map(|cell| place(view, cell)).collect();
    let has_turn = |cell: &usize| needed.contains(cell) || view.state.cells[*cell].twin;
    (0..view.state.launch_groups.len())
        .filter(|&group| !view.group(group).cells.iter().any(has_turn))
        .collect()
}

/// The launches of one pass after the first ones.
struct Pass {
    /// The admitted sets, experiment by experiment.
    sets: Vec<ComparisonSet>,
    /// The number of each set's experiment.
    places: Vec<usize>,
    /// True for what does not decide a claim, and for estimates near an edge.
    everything: bool,
}

impl Pass {
    /// Takes the sets whose least launches fit, those first that answer most in their time.
    fn admit(view: &View, comparisons: &[(Vec<Cell>, bool)], everything: bool) -> Pass {
        let mut candidates: Vec<(usize, ComparisonSet)> = Vec::new();
        for (place, name) in names(view.state).iter().enumerate() {
            let sets = ComparisonSet::all(view, name).into_iter();
            candidates.extend(sets.map(|set| (place, set)));
        }
        let mut worth = vec![0.0; candidates.len()];
        for (cells, decides) in comparisons {
            let cells: Vec<usize> = cells.iter().filter_map(|cell| place(view, cell)).collect();
            let touched: Vec<usize> = (0..candidates.len())
                .filter(|&set| candidates[set].1.holds(view, &cells))
                .collect();
            let weight = if *decides { 1.0 } else { 1.0 / BESIDE };
            touched
                .iter()
                .for_each(|&set| worth[set] += weight / touched.len() as f64);
        }
        let cost_s = |set: &ComparisonSet| {
            next_s(view, set, &BTreeSet::new()) * LEAST_LAUNCHES as f64 * LONGER
        };
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|&a, &b| {
            (cost_s(&candidates[a].1) / worth[a]).total_cmp(&(cost_s(&candidates[b].1) / worth[b]))
        });
        let (mut held_s, room_s, mut admitted) =
            (0.0, view.left_s() * PLANNED_SHARE, BTreeSet::new());
        for set in order {
            let more_s = cost_s(&candidates[set].1);
            // The first is measured however long it takes, so that a run has a result.
            if candidates[set].1.blocks > 0 || admitted.is_empty() || held_s + more_s <= room_s {
                held_s += more_s;
                admitted.insert(set);
            }
        }
        let kept = candidates
            .into_iter()
            .enumerate()
            .filter(|(set, _)| admitted.contains(set));
        let (places, mut sets): (Vec<usize>, Vec<ComparisonSet>) =
            kept.map(|(_, pair)| pair).unzip();
        // A launch group that joins a set in the second pass begins with the first block, which the others have.
        for set in &mut sets {
            let lacks = |&group: &usize| (0..set.blocks).find(|&block| view.lacks(group, block));
            set.blocks = set
                .launch_groups
                .iter()
                .filter_map(lacks)
                .min()
                .unwrap_or(set.blocks);
        }
        Pass {
            sets,
            places,
            everything,
        }
    }

    /// Launches the least blocks of every set, then goes from one interim analysis to the next, until no comparison can be
    /// decided in the time left.
    fn measure(&mut self, run: &mut ActiveRun) -> Step {
        for block in 0..LEAST_LAUNCHES as u32 {
            for set in self.order(&run.view(), block) {
                if self.sets[set].blocks <= block && self.launch(run, set)? == BlockEnd::Full {
                    return Ok(());
                }
            }
        }
        loop {
            let targets = self.analyze(run)?;
            if targets.is_empty() {
                return Ok(());
            }
            while let Some(set) = self.behind(&run.view(), &targets) {
                if self.launch(run, set)? == BlockEnd::Full {
                    return Ok(());
                }
            }
        }
    }

    fn launch(&mut self, run: &mut ActiveRun, set: usize) -> Result<BlockEnd, Halt> {
        let until = Until::all(run.view().state.budget_s);
        launch_block(run, &mut self.sets[set], true, until)
    }

    /// The order of a block of the least launches: experiments one after the other, so that compared cells are near in time.
    fn order(&self, view: &View, block: u32) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sets.len()).collect();
        Seeded::new(view.state.plan.seed ^ u64::from(block)).shuffle(&mut order);
        order.sort_by_key(|&set| self.places[set]);
        order
    }

    /// The set with the fewest blocks of those that lack some until the next analysis.
    fn behind(&self, view: &View, targets: &[SetTarget]) -> Option<usize> {
        let lacking = targets.iter().filter(|target| {
            let set = &self.sets[target.set];
            (set.blocks as usize) < target.blocks && set.is_open(view)
        });
        lacking
            .map(|target| target.set)
            .min_by_key(|&set| self.sets[set].blocks)
    }

    /// An interim analysis, and the launches until the next one.
    fn analyze(&self, run: &mut ActiveRun) -> Result<Vec<SetTarget>, Halt> {
        let view = run.view();
        let mut open = Vec::new();
        let mut lacking: BTreeSet<usize> = BTreeSet::new();
        for comparison in view.forecast.undecided(view.state)? {
            let cells: Vec<usize> = comparison
                .cells
                .iter()
                .filter_map(|cell| place(&view, cell))
                .collect();
            let sets: Vec<usize> = (0..self.sets.len())
                .filter(|&set| self.sets[set].holds(&view, &cells))
                .collect();
            if (comparison.likely || self.everything)
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
        let finished: BTreeSet<usize> = (0..view.state.cells.len())
            .filter(|cell| !lacking.contains(cell))
            .collect();
        let progress = |set: &ComparisonSet| SetProgress {
            launches: set.blocks as usize,
            next_s: next_s(&view, set, &finished),
            open: set.is_open(&view),
        };
        let progress: Vec<SetProgress> = self.sets.iter().map(progress).collect();
        let (left_s, (share, least_s)) = (view.left_s(), BATCH_TIME);
        run.finished = finished;
        Ok(batch(
            &progress,
            &open,
            left_s,
            (left_s * share).max(least_s),
        ))
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

/// The blocks that a set has at the next interim analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SetTarget {
    set: usize,
    blocks: usize,
}

/// The launches until the next interim analysis. Empty if no comparison can be decided
/// in the time left. A batch ends after about `batch_s` seconds.
fn batch(sets: &[SetProgress], open: &[Open], left_s: f64, batch_s: f64) -> Vec<SetTarget> {
    let mut targets: Vec<SetTarget> = Vec::new();
    let mut rest: Vec<&Open> = open
        .iter()
        .filter(|question| question.sets.iter().all(|&set| sets[set].open))
        .collect();
    let mut planned_s = 0.0;
    while planned_s < batch_s {
        let lacking_s = |set: usize, until: usize| {
            let have = targets
                .iter()
                .find(|target| target.set == set)
                .map_or(sets[set].launches, |target| target.blocks);
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
            match targets.iter_mut().find(|target| target.set == set) {
                Some(target) => target.blocks = target.blocks.max(until),
                None => targets.push(SetTarget { set, blocks: until }),
            }
        }
    }
    targets.retain(|target| target.blocks > sets[target.set].launches);
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

    fn targets(pairs: &[(usize, usize)]) -> Vec<SetTarget> {
        let target = |&(set, blocks): &(usize, usize)| SetTarget { set, blocks };
        pairs.iter().map(target).collect()
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
        assert_eq!(batch(&sets, &all, 100.0, 0.1), targets(&[(1, 9)]));
        assert_eq!(batch(&sets, &all, 100.0, 5.0), targets(&[(1, 9), (0, 9)]));
        let weighted = [
            Open {
                weight: BESIDE,
                ..open(&[0], 9)
            },
            open(&[1], 9),
        ];
        assert_eq!(
            batch(&[at(6, 1.0), at(6, 2.0)], &weighted, 100.0, 1.0),
            targets(&[(1, 9)])
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
            targets(&[(0, 9)])
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
            targets(&[(0, 9)])
        );
        assert_eq!(
            batch(&[at(9, 0.1), at(9, 0.1)], &comparison, 100.0, 0.1),
            targets(&[(0, 14), (1, 14)])
        );
    }
}
