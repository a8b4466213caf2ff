//! One moment of a run with the questions that every task asks of it, among them the one cost model.

use crate::constants::{GUESS_S, LONG_JOB_BYTES, PATIENCE, SHORT_ROUND_S};
use crate::{Facts, Moment, turns};
use anyhow::Result;
use record::cell::Cell;
use record::parameters::Parameters;
use record::plan::{compatible, group_of};
use record::state::{GroupState, LaunchCost, Stage, State};
use record::{claim::AS_PUBLISHED, decision::Width, machine_state::STATE, method::Role};
use stats::quantile::median;
use stats::rng::Seeded;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// A moment with the facts of the scheduler.
pub(crate) struct View<'a> {
    pub moment: Moment<'a>,
    pub facts: &'a Facts,
}

impl<'a> Deref for View<'a> {
    type Target = Moment<'a>;

    fn deref(&self) -> &Moment<'a> {
        &self.moment
    }
}

/// A guess at one launch before anything was launched, by its starts (seconds) and the bytes it works on.
pub fn guess_s(starts_s: f64, bytes: f64) -> f64 {
    starts_s + bytes * GUESS_S.1
}

impl View<'_> {
    pub fn left_s(&self) -> f64 {
        self.state.budget_s - self.spent_s
    }

    pub fn group(&self, launch_group: usize) -> &GroupState {
        &self.state.launch_groups[launch_group]
    }

    pub fn stage(&self, launch_group: usize) -> Stage {
        self.group(launch_group).stage
    }

    pub fn alive(&self, launch_group: usize) -> Vec<usize> {
        self.state.alive(launch_group)
    }

    pub fn is_alive(&self, launch_group: usize) -> bool {
        self.group(launch_group)
            .cells
            .iter()
            .any(|&cell| self.state.cells[cell].outcome.is_none())
    }

    pub fn groups_of(&self, experiment: &str) -> Vec<usize> {
        (0..self.state.launch_groups.len())
            .filter(|&g| self.group(g).experiment == experiment)
            .collect()
    }

    /// The forecast of the next launch of a group, in seconds; 0 if nothing is known.
    pub fn launch_s(&self, launch_group: usize) -> f64 {
        match self.stage(launch_group) {
            Stage::Sized {
                cost: Some(cost),
                rounds,
                warmup_rounds,
            } => cost.launch_s(rounds + warmup_rounds),
            _ => 0.0,
        }
    }

    /// The forecast of a launch of one round, in seconds; infinite before the pilot.
    pub fn one_round_s(&self, launch_group: usize) -> f64 {
        let rounds = self.warmup_rounds(launch_group) + 1;
        self.stage(launch_group)
            .cost()
            .map_or(f64::INFINITY, |cost| cost.launch_s(rounds))
    }

    /// A guess at one cell's turn, in seconds, by its bytes or its peak memory.
    pub fn guess_s(&self, cell: usize) -> f64 {
        let memory = self.facts.memory.get(cell).copied().unwrap_or(0.0);
        guess_s(GUESS_S.0, (self.bytes(cell) as f64).max(memory))
    }

    /// A guess at the turn of one row of these groups of an article, in whole milliseconds: by its bytes, by its start, and by the
    /// number of its sides. The most memory that a job may pile up says little of its time.
    pub fn guess_of_row_ms(&self, launch_groups: &[usize]) -> u64 {
        let cells = launch_groups.iter().flat_map(|&group| self.alive(group));
        let of_cell = |cell: usize| {
            let sides = self.state.cells[cell].cell.sides();
            let starts = sides.map(|side| {
                let start_s = if self.facts.compiling.contains(side) {
                    GUESS_S.2
                } else {
                    GUESS_S.0
                };
                guess_s(start_s, self.bytes(cell) as f64)
            });
            starts.sum::<f64>()
        };
        let guesses: Vec<f64> = cells.map(of_cell).collect();
        // Of rows in one set each is a figure: a set of four is no dearer than one of two.
        let mean_s = guesses.iter().sum::<f64>() / guesses.len().max(1) as f64;
        (1000.0 * mean_s).round() as u64
    }

    /// A guess at one launch of everything of an experiment, in seconds.
    pub fn by_size_s(&self, experiment: &str) -> f64 {
        let mine = |&cell: &usize| {
            self.state.cells[cell].cell.experiment == experiment
                && self.state.cells[cell].outcome.is_none()
        };
        (0..self.state.cells.len())
            .filter(mine)
            .map(|cell| self.guess_s(cell))
            .sum()
    }

    fn bytes(&self, cell: usize) -> u64 {
        self.state.cells[cell].cell.parameters.bytes().unwrap_or(0)
    }

    /// Tells whether a round of this group takes long; until one was measured, by the bytes of its job: a program that is
    /// started beside much memory may be short.
    pub fn is_long(&self, launch_group: usize) -> bool {
        match self.stage(launch_group).cost() {
            Some(cost) => cost.round_s >= SHORT_ROUND_S,
            None => self
                .group(launch_group)
                .cells
                .iter()
                .any(|&cell| self.bytes(cell) >= LONG_JOB_BYTES),
        }
    }

    /// Tells whether a worker of this group compiles its code while it runs.
    pub fn compiles(&self, launch_group: usize) -> bool {
        let first = self
            .group(launch_group)
            .cells
            .first()
            .map(|&cell| &self.state.cells[cell].cell);
        first
            .into_iter()
            .flat_map(|cell| cell.sides())
            .any(|worker| self.facts.compiling.contains(worker))
    }

    /// The discarded rounds of every launch of a group: its experiment's number, and at most one for long jobs. Cells that are
    /// compared have one size, so one number of rounds.
    pub fn warmup_rounds(&self, launch_group: usize) -> u32 {
        let group = self.group(launch_group);
        let Some(experiment) = self.state.plan.experiment(&group.experiment) else {
            return 0;
        };
        if group.fresh {
            return 0;
        }
        match (self.compiles(launch_group), self.is_long(launch_group)) {
            // A compiled loop of a long job may take seconds a round.
            (true, true) => experiment.warmup_rounds_compiled.min(1),
            (true, false) => experiment.warmup_rounds_compiled,
            // Where each method has its own processes, the costs that these have once are not shared.
            (false, true) => u32::from(experiment.apart),
            (false, false) => experiment.warmup_rounds,
        }
    }

    /// Launch groups in sets whose first cells are compared with each other.
    pub fn compared(
        &self,
        experiment: &str,
        launch_groups: impl IntoIterator<Item = usize>,
    ) -> Vec<Vec<usize>> {
        let mut sets: Vec<(Parameters, Vec<usize>)> = Vec::new();
        let Some(experiment) = self.state.plan.experiment(experiment) else {
            return Vec::new();
        };
        for launch_group in launch_groups {
            let Some(&first) = self.group(launch_group).cells.first() else {
                continue;
            };
            let mut parameters = group_of(experiment, &self.state.cells[first].cell);
            // An article's own jobs are a comparison by themselves, which comes before the corrected ones.
            if !self.state.plan.articles.is_empty() {
                parameters.clone_from(&self.state.cells[first].cell.parameters);
                let role = self.state.cells[first].method.role == Role::Published;
                parameters.insert(AS_PUBLISHED.to_owned(), role.to_string());
            }
            // A state and the plain machine take turns within a block: their ratio is what the run asks for.
            parameters.remove(STATE);
            match sets
                .iter_mut()
                .find(|(own, _)| compatible(own, &parameters))
            {
                Some((_, set)) => set.push(launch_group),
                None => sets.push((parameters, vec![launch_group])),
            }
        }
        sets.into_iter().map(|(_, set)| set).collect()
    }

    /// All launch groups of an experiment in such sets, in the order of the plan's cells.
    pub fn comparisons(&self, experiment: &str) -> Vec<Vec<usize>> {
        let mut launch_groups = self.groups_of(experiment);
        launch_groups.sort_by_key(|&group| self.group(group).cells.iter().min());
        self.compared(experiment, launch_groups)
    }

    /// Tells whether the first launch of a group of an article's row is not begun, because it would take longer than what is left;
    /// the first launch of a run is made whatever it takes.
    pub fn is_too_long(&self, launch_group: usize, until_s: f64) -> bool {
        !self.state.plan.articles.is_empty()
            && self.launches > 0
            && self.spent_s + self.guess_of_launch_s(launch_group) > until_s
    }

    /// Seconds after which the first launch of an article's row is ended: the table is due. None for the first launch of a run.
    pub fn longest_of_article_s(&self) -> Option<f64> {
        let is_later = !self.state.plan.articles.is_empty() && self.launches > 0;
        is_later.then(|| self.left_s().max(0.0) + PATIENCE.2)
    }

    /// A guess at the first launch of a group, in seconds: by its start and its bytes, as launches like it took so far, and by the
    /// file that is made for it.
    fn guess_of_launch_s(&self, launch_group: usize) -> f64 {
        let groups = self.groups_of(&self.group(launch_group).experiment);
        let alike = groups
            .into_iter()
            .filter(|&group| self.is_like(group, launch_group));
        let mut factors: Vec<f64> = alike
            .filter_map(|group| {
                let launch_s = self
                    .stage(group)
                    .cost()?
                    .launch_s(1 + self.warmup_rounds(group));
                Some(launch_s / self.guess_by_job_s(group))
            })
            .collect();
        let factor = median(&mut factors).unwrap_or(1.0);
        factor * self.guess_by_job_s(launch_group)
            + guess_s(0.0, self.unmade_bytes(launch_group) as f64)
    }

    fn guess_by_job_s(&self, launch_group: usize) -> f64 {
        let start_s = if self.compiles(launch_group) {
            GUESS_S.2
        } else {
            GUESS_S.0
        };
        guess_s(start_s, self.job_bytes(launch_group))
    }

    /// Tells whether the launches of a group show how long those of another take: both are short jobs of the same start, or it
    /// works on a quarter of the bytes at least.
    fn is_like(&self, launch_group: usize, other: usize) -> bool {
        let [bytes, others] = [launch_group, other].map(|group| self.job_bytes(group));
        let long = LONG_JOB_BYTES as f64;
        match (bytes < long, others < long) {
            (true, true) => self.compiles(launch_group) == self.compiles(other),
            (false, false) => 4.0 * bytes >= others,
            _ => false,
        }
    }

    /// Bytes that the sides of a group's launch work on.
    fn job_bytes(&self, launch_group: usize) -> f64 {
        let cells = self.alive(launch_group).into_iter();
        let of_cell = |cell: usize| {
            let sides = self.state.cells[cell].cell.sides().count();
            sides as f64 * self.bytes(cell) as f64
        };
        cells.map(of_cell).sum()
    }

    /// Bytes of the files that a group reads and no launched one has read.
    fn unmade_bytes(&self, launch_group: usize) -> u64 {
        let inputs = |group: usize| {
            let cells = self.group(group).cells.iter();
            cells.filter_map(move |&cell| self.facts.inputs.get(cell)?.as_ref())
        };
        let launched =
            (0..self.state.launch_groups.len()).filter(|&group| self.stage(group).cost().is_some());
        let made: BTreeSet<&str> = launched
            .flat_map(inputs)
            .map(|(name, _)| name.as_str())
            .collect();
        let unmade: BTreeMap<&str, u64> = inputs(launch_group)
            .map(|(name, bytes)| (name.as_str(), *bytes))
            .filter(|(name, _)| !made.contains(name))
            .collect();
        unmade.values().sum()
    }

    /// Tells whether a group takes part in a block: overhead does in the first one, a lower bound in one of three.
    pub fn comes(&self, launch_group: usize, block: u32) -> bool {
        let role = |&cell: &usize| self.state.cells[cell].method.role;
        let is_measured = |cell: &usize| {
            self.state.cells[*cell].outcome.is_none()
                && !matches!(role(cell), Role::Null | Role::Limit)
        };
        let experiment = &self.group(launch_group).experiment;
        let mut groups = self
            .state
            .launch_groups
            .iter()
            .filter(|group| group.experiment == *experiment);
        !groups.any(|group| group.cells.iter().any(is_measured))
            || self
                .alive(launch_group)
                .iter()
                .any(|cell| turns::comes(role(cell), block))
    }

    /// Tells whether a group takes part in a block and was not launched in it.
    pub fn lacks(&self, launch_group: usize, block: u32) -> bool {
        !self.forecast.has_launch(launch_group, block) && self.comes(launch_group, block)
    }

    /// Tells whether a group holds ranked cells or their baseline: ordinary methods of the baseline's worker.
    pub fn is_ranked(&self, launch_group: usize) -> bool {
        let group = self.group(launch_group);
        let baseline = self.state.plan.baselines.get(&group.experiment);
        let first = self.state.cells.iter().find(|planned| {
            planned.cell.experiment == group.experiment
                && Some(&planned.cell.method) == baseline
                && planned.outcome.is_none()
        });
        group
            .cells
            .iter()
            .map(|&cell| &self.state.cells[cell])
            .any(|planned| {
                first.is_none_or(|first| first.cell.worker == planned.cell.worker)
                    && planned.method.group.is_empty()
                    && matches!(planned.method.role, Role::Method | Role::Published)
            })
    }

    /// Tells whether a group is measured under another than the usual condition of its question, in the overview.
    pub fn is_neighbor(&self, launch_group: usize) -> bool {
        self.group(launch_group)
            .cells
            .first()
            .is_some_and(|&cell| self.is_beside(cell))
    }

    /// The same of a cell: what is compared with all conditions may share a group with usual ones.
    pub fn is_beside(&self, cell: usize) -> bool {
        let cell = &self.state.cells[cell].cell;
        let experiment = self
            .state
            .plan
            .experiment(&cell.experiment)
            .filter(|_| self.state.plan.usual_first);
        experiment.is_some_and(|experiment| experiment.unusual(&cell.parameters).next().is_some())
    }

    /// The order of launch groups in a block, drawn by the seed.
    pub fn shuffle(&self, set: &[usize], block: u32, order: &mut [usize]) {
        if let Some(&first) = set.first() {
            let seed = self.state.plan.seed ^ (u64::from(block) << 32) ^ ((first as u64) << 16);
            Seeded::new(seed).shuffle(order);
            // A state is made once a block and not once a launch; every other block begins with the last one's.
            if self.machine_state(first).is_some() {
                order.sort_by_key(|&group| self.machine_state(group));
                if block % 2 == 1 {
                    order.reverse();
                }
            }
        }
    }

    fn machine_state(&self, launch_group: usize) -> Option<&String> {
        self.state.cells[*self.group(launch_group).cells.first()?]
            .cell
            .parameters
            .get(STATE)
    }

    pub fn cost(&self, launch_group: usize) -> LaunchCost {
        self.stage(launch_group).cost().unwrap_or(LaunchCost {
            round_s: 0.0,
            start_s: 0.0,
        })
    }
}

/// A comparison without a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Undecided {
    /// Cells of the comparison.
    pub cells: Vec<Cell>,
    /// The launches after which it should be decided, those included that it has.
    pub launches: usize,
    /// True if the verdict on a claim rests on it.
    pub decides: bool,
    /// True if those launches should decide it; otherwise its estimate lies near an edge.
    pub likely: bool,
}

/// The results of launches, as far as the scheduler may see them.
pub trait Forecast {
    /// Tells whether a launch of this group in this block was kept.
    fn has_launch(&self, launch_group: usize, block: u32) -> bool;
    /// Kept launches of a cell, by its index.
    fn launches(&self, cell: usize) -> usize;
    /// The widths of an experiment's headline ratios.
    fn widths(&self, state: &State, experiment: &str) -> Vec<Width>;
    /// The median sample of a cell in the last launch that is not judged, in nanoseconds.
    fn sample_ns(&self, cell: usize) -> Option<f64>;
    /// The cost of reading the clock in a worker, in nanoseconds.
    fn clock_read_ns(&self, worker: &str) -> Option<f64>;
    /// The undecided comparisons of a run of claims at an interim analysis.
    fn undecided(&self, state: &State) -> Result<Vec<Undecided>>;
}
