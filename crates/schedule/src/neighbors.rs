//! Neighboring conditions: what has time for its least launches after the usual conditions, the cheapest first
//! (docs/decisions/0033-usual-conditions-first.md).

use crate::constants::NEIGHBORS;
use crate::first_launches::{Room, Scope, first_launches};
use crate::run::{ActiveRun, Step};
use crate::view::View;
use stats::estimate::LEAST_POINTS;

/// The first launches under neighboring conditions.
#[derive(Debug)]
pub(crate) struct Neighbors {
    /// Second of the run at which their least launches end.
    pub until_s: f64,
    /// Seconds that they have in all.
    room_s: f64,
    /// Comparisons to come with the place of their experiment and a guess at their block's seconds, the cheapest last.
    rest: Vec<(f64, usize, Vec<usize>)>,
    /// The experiments that have one, in the order of their first.
    pub places: Vec<usize>,
}

impl Neighbors {
    pub fn new(view: &View, names: &[String]) -> Neighbors {
        let mut rest: Vec<(f64, usize, Vec<usize>)> = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let group_s = usual_launch_s(view, name);
            let sets = view.comparisons(name).into_iter();
            let beside = sets.filter(|set| set.iter().any(|&group| view.is_neighbor(group)));
            rest.extend(beside.map(|set| (group_s * set.len() as f64, place, set)));
        }
        rest.sort_by(|a, b| b.0.total_cmp(&a.0));
        let room_s = view.left_s().max(0.0) * NEIGHBORS.share;
        Neighbors {
            until_s: view.spent_s + room_s,
            room_s,
            rest,
            places: Vec::new(),
        }
    }

    /// Seconds of a block beyond which a comparison is not gone on with: its least launches would cost those of several others.
    pub fn longest_s(&self) -> f64 {
        self.room_s * NEIGHBORS.longest
    }

    /// The first launches of the cheapest comparisons, as long as the least launches of the next one fit beside those of the ones
    /// before it, by what these took.
    pub fn first_launches(&mut self, run: &mut ActiveRun, names: &[String]) -> Step {
        while let Some((block_s, place, set)) = self.rest.pop() {
            let view = run.view();
            let launched_s: f64 = (0..view.state.launch_groups.len())
                .filter(|&group| view.is_neighbor(group) && view.stage(group).cost().is_some())
                .map(|group| view.one_round_s(group))
                .filter(|group_s| *group_s <= self.longest_s())
                .sum();
            if (launched_s + block_s) * LEAST_POINTS as f64 > self.room_s {
                break;
            }
            if !self.places.contains(&place) {
                self.places.push(place);
            }
            let room = Room::of_experiment(&view, self.until_s, false);
            first_launches(run, &names[place], &Scope::These(set), room)?;
        }
        Ok(())
    }
}

/// The mean forecast of a launch of one round under the usual conditions of an experiment, in seconds.
fn usual_launch_s(view: &View, experiment: &str) -> f64 {
    let launched: Vec<f64> = view
        .groups_of(experiment)
        .into_iter()
        .filter(|&group| !view.is_neighbor(group) && view.stage(group).cost().is_some())
        .map(|group| view.one_round_s(group))
        .collect();
    launched.iter().sum::<f64>() / launched.len().max(1) as f64
}
