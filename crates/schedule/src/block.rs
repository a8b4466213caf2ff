//! Comparison sets and their blocks: one launch of each launch group, in random order.

use crate::{
    Shared, action::Launch, constants::NEIGHBORS, shares::SetNeed, taking_part, view::View,
};
use record::state::Stage;
use stats::interval::LEAST_LAUNCHES;

/// Launch groups whose cells are compared with each other.
#[derive(Clone, Debug)]
pub(crate) struct ComparisonSet {
    pub launch_groups: Vec<usize>,
    pub blocks: u32,
    /// Seconds of its last block in this visit.
    pub block_s: Option<f64>,
}

impl ComparisonSet {
    /// The sets of an experiment's sized groups, and how often they have been launched.
    pub fn all(view: &View, experiment: &str) -> Vec<ComparisonSet> {
        let mut sized = view.groups_of(experiment);
        sized.retain(|&group| view.stage(group).is_sized());
        // Of an article's rows that had as many launches the first comes next.
        if !view.state.plan.articles.is_empty() {
            sized.sort_by_key(|&group| view.group(group).cells.iter().min());
        }
        let set = |launch_groups: Vec<usize>| {
            let has = |group: &usize, block: u32| view.forecast.has_launch(*group, block);
            let mut blocks = (0..)
                .find(|&block| !launch_groups.iter().any(|g| has(g, block)))
                .unwrap_or(0);
            // A run that was interrupted within a block completes it first: its cells are compared with each other.
            let last = blocks.saturating_sub(1);
            if launch_groups
                .iter()
                .any(|g| view.is_alive(*g) && !has(g, last))
            {
                blocks = last;
            }
            ComparisonSet {
                launch_groups,
                blocks,
                block_s: None,
            }
        };
        view.compared(experiment, sized)
            .into_iter()
            .map(set)
            .collect()
    }

    /// Tells whether it may be launched again.
    pub fn is_open(&self, view: &View) -> bool {
        self.blocks < view.state.plan.max_launches
            && self.launch_groups.iter().any(|&group| view.is_alive(group))
    }

    /// The forecast of its next block, in seconds: the last one, or the sum of its launches.
    pub fn next_s(&self, view: &View) -> f64 {
        let forecast_s = || {
            self.launch_groups
                .iter()
                .map(|&group| view.launch_s(group))
                .sum::<f64>()
        };
        self.block_s.unwrap_or_else(forecast_s).max(1e-6)
    }

    /// Tells whether it is under another than the usual condition of its question, in the overview.
    pub fn is_neighbor(&self, view: &View) -> bool {
        self.launch_groups
            .iter()
            .any(|&group| view.is_neighbor(group))
    }

    /// Its share of the overview's time beyond the least launches (a usual condition: 1).
    pub fn share(&self, view: &View) -> f64 {
        if self.is_neighbor(view) {
            NEIGHBORS.weight
        } else {
            1.0
        }
    }

    /// Its need, where a block takes so long.
    pub fn need(&self, view: &View, launch_s: f64, wide: bool) -> SetNeed {
        let (blocks, least) = (self.blocks as usize, LEAST_LAUNCHES);
        let seconds = |launches: usize| launches as f64 * launch_s;
        let (lacking_s, beyond_s) = (
            seconds(least.saturating_sub(blocks)),
            seconds(blocks.saturating_sub(least)),
        );
        SetNeed {
            lacking_s,
            beyond_s,
            launch_s,
            share: self.share(view),
            wide,
        }
    }

    /// The needs of an experiment's sets, of the launch groups that count, before their rounds are known: of one round each.
    pub fn needs_of(view: &View, experiment: &str, counts: impl Fn(usize) -> bool) -> Vec<SetNeed> {
        let groups = view
            .groups_of(experiment)
            .into_iter()
            .filter(|&group| view.is_alive(group) && counts(group));
        let need = |launch_groups: Vec<usize>| {
            let launch_s = launch_groups
                .iter()
                .map(|&group| view.cost(group).launch_s(view.warmup_rounds(group) + 1))
                .sum();
            ComparisonSet {
                launch_groups,
                blocks: 0,
                block_s: None,
            }
            .need(view, launch_s, true)
        };
        view.compared(experiment, groups)
            .into_iter()
            .map(need)
            .collect()
    }

    /// Tells whether it has one of these cells.
    pub fn holds(&self, view: &View, cells: &[usize]) -> bool {
        self.launch_groups.iter().any(|&group| {
            cells
                .iter()
                .any(|cell| view.group(group).cells.contains(cell))
        })
    }
}

/// The end of a visit, in seconds of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    /// The end of the experiment's time if it had all of it at once: launches are planned by it.
    pub planned_s: f64,
    pub visit_s: f64,
    /// The time of a usual condition beyond its least launches, in the overview.
    pub level_s: Option<f64>,
}

impl Until {
    /// One visit for all the time left.
    pub fn all(end_s: f64) -> Until {
        Until {
            planned_s: end_s,
            visit_s: end_s,
            level_s: None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct LaunchBlock {
    pub set: usize,
    order: Vec<usize>,
    begun_s: f64,
    known_groups: usize,
}

pub(crate) enum Next {
    Launch(Launch),
    /// The next launch would not end in time.
    Full,
    Complete,
}

impl LaunchBlock {
    /// A block of all launch groups of a set, or of the ranked ones if there are some.
    pub fn new(view: &View, sets: &[ComparisonSet], set: usize, whole: bool) -> LaunchBlock {
        let ComparisonSet {
            launch_groups,
            blocks,
            ..
        } = &sets[set];
        let mut order = launch_groups.clone();
        if !whole && order.iter().any(|&group| view.is_ranked(group)) {
            order.retain(|&group| view.is_ranked(group));
        }
        view.shuffle(launch_groups, *blocks, &mut order);
        LaunchBlock {
            set,
            order,
            begun_s: view.spent_s,
            known_groups: view.state.launch_groups.len(),
        }
    }

    pub fn next(
        &mut self,
        view: &View,
        shared: &Shared,
        set: &mut ComparisonSet,
        until: Until,
    ) -> Next {
        // The cells of a launch that died are tried one by one within the same block.
        let parts = self.known_groups..view.state.launch_groups.len();
        self.known_groups = parts.end;
        set.launch_groups.extend(parts.clone());
        self.order.extend(parts);
        let block = set.blocks;
        // A block that has begun is completed beyond its visit: what it compares runs at one time.
        let until_s = if view.spent_s > self.begun_s {
            until.planned_s
        } else {
            until.visit_s
        };
        while let Some(launch_group) = self.order.pop() {
            let signed = i32::try_from(block).unwrap_or(i32::MAX);
            if !view.lacks(launch_group, block)
                || taking_part(view.state, &shared.finished, launch_group, signed).is_empty()
            {
                continue;
            }
            if view.spent_s >= until_s || view.spent_s + view.launch_s(launch_group) > until_s {
                return Next::Full;
            }
            let Stage::Sized {
                rounds,
                warmup_rounds,
                ..
            } = view.stage(launch_group)
            else {
                continue;
            };
            return Next::Launch(Launch {
                launch_group,
                block: signed,
                rounds,
                warmup_rounds,
                at_most_s: None,
            });
        }
        set.blocks += 1;
        set.block_s = Some(view.spent_s - self.begun_s).filter(|seconds| *seconds > 0.0);
        Next::Complete
    }
}
