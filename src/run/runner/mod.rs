//! Runs a plan: pilot, launches in random order, stopping. The only place that decides what happens next.

mod admission;
mod asking;
mod ending;
mod launching;
mod learning;
mod pilot;
#[cfg(test)]
mod simulated;
mod sizing;
mod turns;
mod visits;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use asking::Questions;
use visits::Until;

use anyhow::{Result, bail};
use judge::Width;
use judge::evidence::Evidence;
use record::decision::{Decision, What};
use record::folder::RunFolder;
use record::method::Role;
use record::plan::{Plan, compatible, group_of};
use record::state::{GroupState, State};
use record::summary::Note;
use stats::rng::Seeded;
use stats::stopping::Goal;

use crate::run::Alone;
use crate::run::bound::Bounds;
use crate::run::captures::Inputs;
use crate::run::guard::Guard;
use crate::run::launch::{Launcher, Processes};
use crate::run::progress::Progress;
use crate::run::signals::Signals;
use crate::run::strategy::{self, Ending, Precision, Standing, Step, Strategy};
use crate::run::system;
use crate::worker::environment::foreign;
use crate::worker::{self, Worker};

/// One run being made.
pub struct Runner<'a> {
    state: State,
    folder: &'a RunFolder,
    workers: &'a [Worker],
    signals: &'a Signals,
    progress: Progress,
    guard: Guard,
    evidence: Evidence,
    inputs: Inputs,
    bounds: Bounds,
    launcher: Box<dyn Launcher>,
    next_launch: usize,
    spent_before_s: f64,
    root: PathBuf,
    /// Variables that workers are not given.
    cleared: Vec<String>,
    /// What a sample took in the last launch that is not judged, in nanoseconds by cell.
    lengths_ns: BTreeMap<usize, f64>,
    /// Launch groups that the budget does not hold.
    left_out: BTreeSet<usize>,
    /// Those of them whose pilot was ended because it took too long.
    cut: BTreeSet<usize>,
    /// Whether what was left out is being tried again: then nothing is begun that does not fit.
    retries: bool,
    /// Cells that are as precise as asked: they leave the launches, so that the time goes to those that are not.
    precise: BTreeSet<usize>,
    /// Tells whether another run measures at the same time; where left out, nobody asks.
    alone: Option<&'a Alone>,
    /// What the run is made to answer, where that is more than how wide its ratios are.
    questions: Option<&'a dyn Questions>,
}

/// How much one launch holds.
#[derive(Clone, Copy, Debug)]
struct Asked {
    rounds: u32,
    warmup_rounds: u32,
    /// A launch that takes longer is ended, and nothing is learnt of its cells.
    at_most: Option<Duration>,
}

impl<'a> Runner<'a> {
    /// Prepares a run in its folder; launches that the folder already has are taken over.
    pub fn new(
        plan: Plan,
        folder: &'a RunFolder,
        workers: &'a [Worker],
        signals: &'a Signals,
        progress: Progress,
    ) -> Result<Runner<'a>> {
        Runner::driving(plan, folder, workers, signals, progress, Box::new(Processes::default()))
    }

    /// The same, by launches of another kind.
    fn driving(
        plan: Plan,
        folder: &'a RunFolder,
        workers: &'a [Worker],
        signals: &'a Signals,
        progress: Progress,
        mut launcher: Box<dyn Launcher>,
    ) -> Result<Runner<'a>> {
        let mut guard = Guard::start()?;
        let prefix = format!("pagewise-{}", plan.run);
        guard.undo(&format!("remove-prefix /dev/shm {prefix}"))?;
        guard.undo(&format!("remove-prefix /dev/mqueue {prefix}"))?;
        // Sockets by their path lie in /tmp whatever TMPDIR says: a path of theirs is short.
        let temporary = std::env::temp_dir();
        for folder in [temporary.as_path(), Path::new("/tmp")] {
            guard.undo(&format!("remove-prefix {} {prefix}", folder.display()))?;
        }
        guard.undo(&format!("remove-prefix {} scratch-{prefix}", folder.path().display()))?;
        let mut state = State::after(plan, &folder.decisions()?)?;
        system::prepare(&state, &mut guard)?;
        let (bounds, settled) = Bounds::make(&state, &mut guard)?;
        follow(folder, &mut state, settled)?;
        let (inputs, settled) = Inputs::make(&state, &mut guard, folder, signals)?;
        follow(folder, &mut state, settled)?;
        let cleared = match state.plan.keep_environment {
            true => Vec::new(),
            false => foreign().into_keys().collect(),
        };
        let launches = folder.launches()?;
        if let Some(first) = launches.damage.first() {
            bail!("{} is damaged and cannot be resumed: {first}", folder.path().display());
        }
        let records = launches.records;
        let evidence = Evidence::read(&state, folder)?;
        // What is built or made for the run once, such as a worker or a file to read, is no part of its budget.
        launcher.begin();
        Ok(Runner {
            folder,
            workers,
            signals,
            progress,
            guard,
            evidence,
            inputs,
            bounds,
            launcher,
            cleared,
            next_launch: folder.next_launch()?,
            spent_before_s: records.iter().map(|r| r.wall_s).sum(),
            root: PathBuf::from("/"),
            lengths_ns: BTreeMap::new(),
            left_out: BTreeSet::new(),
            cut: BTreeSet::new(),
            retries: false,
            precise: BTreeSet::new(),
            alone: None,
            questions: None,
            state,
        })
    }

    /// The same, and whether another run measures at the same time is asked at every launch.
    pub fn alone_by(self, alone: &'a Alone) -> Runner<'a> {
        Runner { alone: Some(alone), ..self }
    }

    /// Notes, once, that another run was measuring.
    fn look_for_company(&mut self) -> Result<()> {
        match self.alone {
            Some(alone) if !self.state.had_company && alone.has_company() => {
                self.decide("the machine's lock was not this run's alone", What::Company)
            }
            _ => Ok(()),
        }
    }

    fn spent_s(&self) -> f64 {
        self.spent_before_s + self.launcher.elapsed().as_secs_f64()
    }

    /// What is left of the budget of the whole command, in seconds.
    fn left_s(&self) -> f64 {
        self.state.budget_s - self.spent_s()
    }

    /// Notes a decision, then follows it. It is on the disk before anything is done by it.
    fn decide(&mut self, why: &str, what: What) -> Result<()> {
        follow(self.folder, &mut self.state, vec![(why.to_owned(), what)])
    }

    /// Runs to the end of precision, budget or patience of the user; what the run has become is returned.
    pub fn run(mut self) -> Result<(State, Evidence)> {
        let names: Vec<String> = self.state.plan.experiments.iter().map(|e| e.name.clone()).collect();
        let mut notes = Vec::new();
        notes.extend(environment_note(&self.cleared));
        match self.questions {
            Some(questions) => notes.extend(self.answer(&names, questions)?),
            None => self.until_precise(&names, &mut notes)?,
        }
        self.progress.finish();
        let stopped_by = self.signals.arrived();
        let why = if stopped_by.is_some() { "a signal arrived" } else { "precision, budget or --launches is reached" };
        self.decide(why, What::Ended { stopped_by, launches: self.next_launch, notes })?;
        drop(self.guard);
        Ok((self.state, self.evidence))
    }

    fn launch_groups_of(&self, experiment: &str) -> Vec<usize> {
        (0..self.state.launch_groups.len()).filter(|&u| self.state.launch_groups[u].experiment == experiment).collect()
    }

    fn alive(&self, launch_group: usize) -> Vec<usize> {
        self.state.alive(launch_group)
    }

    /// The cells of a group that take part in a block: those that are precise do not, once there are as many launches as are
    /// made at the least. What others are held against, its duplicate, and what is not ranked stay.
    fn taking_part(&self, launch_group: usize, block: i32) -> Vec<usize> {
        let mut cells = self.alive(launch_group);
        if u32::try_from(block).is_ok_and(|block| block >= self.state.plan.min_launches) {
            cells.retain(|cell| !self.precise.contains(cell));
        }
        cells
    }

    /// How much the next launch of a group holds.
    fn asked(&self, launch_group: usize) -> Asked {
        let group = &self.state.launch_groups[launch_group];
        Asked { rounds: group.rounds, warmup_rounds: group.warmup_rounds, at_most: None }
    }

    fn experiment(&mut self, name: &str, until: Until) -> Result<Option<Note>> {
        let goal =
            Goal { precision: self.state.plan.precision, budget_seconds: (until.visit_s - self.spent_s()).max(0.0) };
        let mut strategy = Precision { goal, min_launches: self.state.plan.min_launches as usize };
        self.visit(name, until, &mut strategy)
    }

    /// One visit of an experiment: pilots of what has had none, then launches as the strategy says.
    fn visit(&mut self, name: &str, until: Until, strategy: &mut dyn Strategy) -> Result<Option<Note>> {
        let start_s = self.spent_s();
        let piloted = self.pilot(name, until.planned_s)?;
        self.calibrate(name, &piloted, until.planned_s)?;
        if self.signals.arrived().is_some() {
            return Ok(None);
        }
        self.fix_rounds(name, until.planned_s)?;
        let until_s = until.visit_s;
        let mut clusters = self.clusters(name);
        loop {
            let widths = judge::half_widths(&self.state, &self.evidence, name);
            self.precise = judge::precise(&widths, self.state.plan.precision);
            let standing = self.standing(&clusters, &widths, self.spent_s() - start_s);
            let launches = standing.clusters.iter().map(|c| c.launches).min().unwrap_or(0);
            let widest = widths.iter().filter(|w| w.ranked).map(|w| w.half_width).fold(0.0, f64::max);
            self.progress.reached(name, launches, widest, self.state.plan.precision, self.left_s());
            match strategy.next(&standing) {
                Step::Launch { cluster, whole } => {
                    if !self.block(name, &mut clusters[cluster], whole, until_s)? {
                        let stopped = self.signals.arrived().is_some();
                        return Ok((!stopped).then(|| self.note(name, launches, &widths, Ending::BudgetSpent)));
                    }
                    self.shorten(&clusters, until.planned_s)?;
                }
                Step::Done(_) if clusters.is_empty() => return Ok(None),
                Step::Done(ending) => return Ok(Some(self.note(name, launches, &widths, ending))),
            }
        }
    }

    fn standing(&self, clusters: &[Cluster], widths: &[Width], spent_s: f64) -> Standing {
        let standing = |cluster: &Cluster| {
            let widest = |ranked: bool| {
                let mine = widths.iter().filter(|w| w.ranked == ranked && cluster.holds(&w.parameters));
                mine.map(|w| w.half_width).reduce(f64::max)
            };
            strategy::Cluster {
                open: self.is_open(cluster),
                launches: cluster.blocks as usize,
                step_s: self.next_step_s(cluster),
                ranked: widest(true),
                others: widest(false),
            }
        };
        Standing { spent_s, clusters: clusters.iter().map(standing).collect() }
    }

    /// Whether a cluster may be launched again.
    fn is_open(&self, cluster: &Cluster) -> bool {
        cluster.blocks < self.state.plan.max_launches
            && cluster.launch_groups.iter().any(|&u| !self.alive(u).is_empty())
    }

    /// These launch groups of an experiment, those together whose first cells are compared with each other.
    fn compared(&self, name: &str, launch_groups: impl IntoIterator<Item = usize>) -> Vec<Cluster> {
        let mut found: Vec<Cluster> = Vec::new();
        let Some(experiment) = self.state.plan.experiment(name) else { return found };
        for launch_group in launch_groups {
            let Some(&first) = self.state.launch_groups[launch_group].cells.first() else { continue };
            let parameters = group_of(experiment, &self.state.cells[first].cell);
            match found.iter_mut().find(|c| c.holds(&parameters)) {
                Some(cluster) => cluster.launch_groups.push(launch_group),
                None => found.push(Cluster {
                    parameters: vec![parameters],
                    launch_groups: vec![launch_group],
                    blocks: 0,
                    block_s: 0.0,
                }),
            }
        }
        found
    }

    /// Launch groups whose cells are compared with each other, and how often they have been launched already.
    fn clusters(&self, name: &str) -> Vec<Cluster> {
        let Some(experiment) = self.state.plan.experiment(name) else { return Vec::new() };
        // Without rounds a group has been left out, or the budget ended before its pilot.
        let planned = self.launch_groups_of(name).into_iter().filter(|&u| self.state.launch_groups[u].rounds > 0);
        let mut found = self.compared(name, planned);
        for cluster in &mut found {
            // A launch_group may hold the cells of several groups; the cluster is as wide as the widest of them.
            let cells = cluster.launch_groups.iter().flat_map(|&u| self.state.launch_groups[u].cells.iter());
            let parameters = cells.map(|&c| group_of(experiment, &self.state.cells[c].cell));
            cluster.parameters = parameters.collect::<BTreeSet<_>>().into_iter().collect();
            let has = |launch_group: usize, block: u32| self.evidence.has(launch_group, block);
            while cluster.launch_groups.iter().any(|&u| has(u, cluster.blocks)) {
                cluster.blocks += 1;
            }
            // A run that was interrupted within a block completes that block first: its cells are compared with each other.
            let last = cluster.blocks.saturating_sub(1);
            if cluster.launch_groups.iter().any(|&u| !self.alive(u).is_empty() && !has(u, last)) {
                cluster.blocks = last;
            }
        }
        found
    }

    /// One launch of every launch group of a cluster, or of those that hold something ranked, in random order; false where the
    /// budget ended before.
    fn block(&mut self, name: &str, cluster: &mut Cluster, whole: bool, until_s: f64) -> Result<bool> {
        let begun_s = self.spent_s();
        let mut order = cluster.launch_groups.clone();
        if !whole && order.iter().any(|&u| self.ranked(u)) {
            order.retain(|&u| self.ranked(u));
        }
        let block = cluster.blocks;
        if let Some(mut random) = self.order_of(&cluster.launch_groups, block) {
            random.shuffle(&mut order);
        }
        while let Some(launch_group) = order.pop() {
            let done = self.evidence.has(launch_group, block) || !self.takes_part(launch_group, block);
            if self.taking_part(launch_group, i32::try_from(block)?).is_empty() || done {
                continue;
            }
            let expected_s = self.expected_launch_s(launch_group);
            if self.signals.arrived().is_some() || self.spent_s() + expected_s > until_s {
                return Ok(false);
            }
            self.progress.step(&format!("{name}: launch {}", block + 1), self.left_s());
            let parts_from = self.state.launch_groups.len();
            self.launch(launch_group, i32::try_from(block)?, self.asked(launch_group))?;
            // Where the launch died, its cells are tried one by one, within the same block.
            cluster.launch_groups.extend(parts_from..self.state.launch_groups.len());
            order.extend(parts_from..self.state.launch_groups.len());
        }
        cluster.blocks += 1;
        cluster.block_s = self.spent_s() - begun_s;
        Ok(true)
    }

    /// What draws the order of these launch groups in a block; nothing where there are none.
    fn order_of(&self, launch_groups: &[usize], block: u32) -> Option<Seeded> {
        let first = *launch_groups.first()? as u64;
        Some(Seeded::new(self.state.plan.seed ^ (u64::from(block) << 32) ^ (first << 16)))
    }

    /// Whether a launch group takes part in a block: the floor's own does in the first only, a best possible's in one of four.
    fn takes_part(&self, launch_group: usize, block: u32) -> bool {
        let role = |cell: usize| self.state.cells[cell].method.role;
        let experiment = &self.state.launch_groups[launch_group].experiment;
        let all = self.launch_groups_of(experiment).into_iter().flat_map(|u| self.alive(u));
        let measured = all.map(role).any(|role| !matches!(role, Role::Null | Role::Limit));
        !measured || self.alive(launch_group).into_iter().any(|cell| turns::comes(role(cell), block))
    }

    /// Whether a launch group holds cells that are ranked, or what they are held against: those of the baseline's worker that
    /// do the ordinary job.
    fn ranked(&self, launch_group: usize) -> bool {
        let group = &self.state.launch_groups[launch_group];
        let baseline = self.state.plan.baselines.get(&group.experiment);
        let first =
            self.state.cells.iter().find(|p| {
                p.cell.experiment == group.experiment && Some(&p.cell.method) == baseline && p.outcome.is_none()
            });
        group.cells.iter().map(|&c| &self.state.cells[c]).any(|planned| {
            first.is_none_or(|first| first.cell.worker == planned.cell.worker)
                && planned.method.group.is_empty()
                && matches!(planned.method.role, Role::Method | Role::Published)
        })
    }

    /// What the next launch of a group should take, in seconds.
    fn expected_launch_s(&self, launch_group: usize) -> f64 {
        let group = &self.state.launch_groups[launch_group];
        launch_s(group, group.rounds + group.warmup_rounds)
    }

    /// What a launch of one round should take, in seconds, as the pilot told; endless where there was none.
    fn one_round_s(&self, launch_group: usize) -> f64 {
        if !self.state.launch_groups[launch_group].timed {
            return f64::INFINITY;
        }
        launch_s(&self.state.launch_groups[launch_group], self.warmup_rounds(launch_group) + 1)
    }

    /// Whether a worker of this group compiles its code while it runs.
    fn compiles(&self, launch_group: usize) -> bool {
        let first = self.state.launch_groups[launch_group].cells.first().map(|&c| &self.state.cells[c].cell);
        let mut workers =
            first.into_iter().flat_map(|cell| cell.sides()).filter_map(|name| worker::find(self.workers, name).ok());
        workers.any(Worker::compiles)
    }
}

/// What workers were not given of the user's variables.
fn environment_note(cleared: &[String]) -> Option<Note> {
    let names = cleared.join(", ");
    let text = format!("the workers were started without {names}; --keep-environment leaves them");
    (!cleared.is_empty()).then(|| Note { code: "environment-cleared".to_owned(), experiment: String::new(), text })
}

/// Notes decisions, then follows them.
fn follow(folder: &RunFolder, state: &mut State, decisions: Vec<(String, What)>) -> Result<()> {
    for (why, what) in decisions {
        let time = jiff::Timestamp::now().to_string();
        folder.append_decision(&Decision { time, why, what: what.clone() })?;
        state.apply(&what)?;
    }
    Ok(())
}

/// Launch groups whose cells are compared with each other; a block is one launch of each.
struct Cluster {
    parameters: Vec<BTreeMap<String, String>>,
    launch_groups: Vec<usize>,
    blocks: u32,
    block_s: f64,
}

impl Cluster {
    fn holds(&self, parameters: &BTreeMap<String, String>) -> bool {
        self.parameters.iter().any(|own| compatible(own, parameters))
    }
}

/// What a launch of so many rounds, discarded ones included, should take, in seconds.
fn launch_s(group: &GroupState, all_rounds: u32) -> f64 {
    group.start_s + group.round_s * f64::from(all_rounds)
}
