//! Comparison sets and their blocks: one launch of each launch group, in random order.

use crate::constants::NEIGHBORS;
use crate::launch::Launch;
use crate::run::{ActiveRun, Halt, taking_part};
use crate::{shares::SetNeed, view::View};
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

/// The end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockEnd {
    /// Every launch group was launched.
    Complete,
    /// The next launch would not end in time.
    Full,
}

/// Launches a block of a set: all of its launch groups, or its ranked ones if there are some.
pub(crate) fn launch_block(
    run: &mut ActiveRun,
    set: &mut ComparisonSet,
    whole: bool,
    until: Until,
) -> Result<BlockEnd, Halt> {
    let (begun_s, mut known_groups) = (run.view().spent_s, run.view().state.launch_groups.len());
    let block = set.blocks;
    let mut order = order(&run.view(), set, whole);
    while let Some(launch_group) = order.pop() {
        let view = run.view();
        let signed = i32::try_from(block).unwrap_or(i32::MAX);
        let cells = taking_part(view.state, &run.finished, launch_group, signed);
        if !view.lacks(launch_group, block) || cells.is_empty() {
            continue;
        }
        // A block that has begun is completed beyond its visit: what it compares runs at one time.
        let until_s = if view.spent_s > begun_s {
            until.planned_s
        } else {
            until.visit_s
        };
        if view.spent_s >= until_s || view.spent_s + view.launch_s(launch_group) > until_s {
            return Ok(BlockEnd::Full);
        }
        let Stage::Sized {
            rounds,
            warmup_rounds,
            ..
        } = view.stage(launch_group)
        else {
            continue;
        };
        run.launch(&Launch {
            launch_group,
            block: signed,
            rounds,
            warmup_rounds,
            at_most_s: None,
            cells,
        })?;
        // The cells of a launch that died are tried one by one within the same block.
        let parts = known_groups..run.view().state.launch_groups.len();
        known_groups = parts.end;
        set.launch_groups.extend(parts.clone());
        order.extend(parts);
    }
    set.blocks += 1;
    set.block_s = Some(run.view().spent_s - begun_s).filter(|seconds| *seconds > 0.0);
    Ok(BlockEnd::Complete)
}

/// The launch groups of a set's next block, the first one last.
fn order(view: &View, set: &ComparisonSet, whole: bool) -> Vec<usize> {
    let mut order = set.launch_groups.clone();
    if !whole && order.iter().any(|&group| view.is_ranked(group)) {
        order.retain(|&group| view.is_ranked(group));
    }
    view.shuffle(&set.launch_groups, set.blocks, &mut order);
    order
}
