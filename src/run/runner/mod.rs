//! Runs a plan: pilot, launches in random order, stopping. The only place that decides what happens next.

mod launching;
mod learning;
mod sizing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};
use judge::evidence::Evidence;
use record::decision::{Decision, What};
use record::folder::RunFolder;
use record::plan::{Plan, compatible, group_of};
use record::state::{GroupState, State};
use record::summary::Note;
use stats::interval::LEAST_LAUNCHES;
use stats::rng::Seeded;
use stats::stopping::{Decision as Next, Goal, Group, decide};

use crate::run::bound::Bounds;
use crate::run::captures::Inputs;
use crate::run::guard::Guard;
use crate::run::progress::Progress;
use crate::run::signals::Signals;
use crate::run::system;
use crate::worker::{self, Worker};

/// Launches that the rounds of a launch are planned for; the budget and the precision decide how many there are.
const PLANNED_LAUNCHES: f64 = 10.0;
/// Most measured rounds in one launch.
const MOST_ROUNDS: f64 = 400.0;
/// Launches of a cluster after which its rounds are chosen once more, from what was seen to vary; frozen from then on.
const LAUNCHES_SEEN: u32 = 4;
/// The block of launches that are kept but only show how long rounds take.
const PILOT: i32 = -1;

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
    started: Instant,
    next_launch: usize,
    spent_before_s: f64,
    root: PathBuf,
    /// What a sample took in the last launch that is not judged, in nanoseconds by cell.
    lengths_ns: BTreeMap<usize, f64>,
}

/// How much one launch holds.
#[derive(Clone, Copy, Debug)]
struct Asked {
    rounds: u32,
    warmup_rounds: u32,
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
        let started = Instant::now();
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
        let launches = folder.launches()?;
        if let Some(first) = launches.damage.first() {
            bail!("{} is damaged and cannot be resumed: {first}", folder.path().display());
        }
        let records = launches.records;
        let evidence = Evidence::read(&state, folder)?;
        Ok(Runner {
            folder,
            workers,
            signals,
            progress,
            guard,
            evidence,
            inputs,
            bounds,
            started,
            next_launch: folder.next_launch()?,
            spent_before_s: records.iter().map(|r| r.wall_s).sum(),
            root: PathBuf::from("/"),
            lengths_ns: BTreeMap::new(),
            state,
        })
    }

    fn spent_s(&self) -> f64 {
        self.spent_before_s + self.started.elapsed().as_secs_f64()
    }

    /// Notes a decision, then follows it. It is on the disk before anything is done by it.
    fn decide(&mut self, why: &str, what: What) -> Result<()> {
        follow(self.folder, &mut self.state, vec![(why.to_owned(), what)])
    }

    /// Runs to the end of precision, budget or patience of the user; what the run has become is returned.
    pub fn run(mut self) -> Result<(State, Evidence)> {
        let names: Vec<String> = self.state.plan.experiments.iter().map(|e| e.name.clone()).collect();
        let mut notes = Vec::new();
        // The first look gives everything the same time; otherwise an experiment that needs more gets more.
        let first_look = self.state.plan.first_look;
        let weights: Vec<f64> =
            self.state.plan.experiments.iter().map(|e| if first_look { 1.0 } else { e.needed_s() }).collect();
        for (done, name) in names.iter().enumerate() {
            let left: f64 = weights[done..].iter().sum();
            let share_s = (self.state.budget_s - self.spent_s()).max(0.0) * weights[done] / left;
            let until_s = self.spent_s() + share_s;
            if let Some(text) = self.experiment(name, until_s)? {
                notes.push(Note { code: "budget-ended".to_owned(), experiment: name.clone(), text });
            }
            if self.signals.arrived().is_some() {
                break;
            }
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

    /// How much the next launch of a group holds.
    fn asked(&self, launch_group: usize) -> Asked {
        let group = &self.state.launch_groups[launch_group];
        Asked { rounds: group.rounds, warmup_rounds: group.warmup_rounds }
    }

    /// How much its pilot holds.
    fn pilot_asked(&self, launch_group: usize) -> Asked {
        let warmup_rounds = match self.state.launch_groups[launch_group].fresh {
            true => 0,
            false if self.compiles(launch_group) => 2,
            false => 1,
        };
        Asked { rounds: 1, warmup_rounds }
    }

    fn experiment(&mut self, name: &str, until_s: f64) -> Result<Option<String>> {
        let start_s = self.spent_s();
        let piloted = self.pilot(name, until_s)?;
        self.calibrate(name, &piloted, until_s)?;
        if self.signals.arrived().is_some() {
            return Ok(None);
        }
        self.fix_rounds(name, until_s)?;
        let goal = Goal { precision: self.state.plan.precision, budget_seconds: until_s - start_s };
        let mut clusters = self.clusters(name);
        loop {
            let half_widths = judge::half_widths(&self.state, &self.evidence, name);
            let groups: Vec<Group> = clusters.iter().map(|c| c.group(&half_widths)).collect();
            let open: Vec<usize> = (0..clusters.len()).filter(|&c| self.is_open(&clusters[c])).collect();
            let widest = half_widths.iter().map(|(_, width)| *width).fold(0.0, f64::max);
            let launches = groups.iter().map(|g| g.launches).min().unwrap_or(0);
            self.progress.reached(name, launches, widest, self.state.plan.precision, until_s - self.spent_s());
            let asked: Vec<Group> = open.iter().map(|&c| groups[c]).collect();
            let next = match decide(&goal, &asked, self.spent_s() - start_s) {
                _ if asked.is_empty() => return Ok(None),
                Next::Continue { group } => open[group],
                // What is left is still worth spending: intervals narrow even where the target is out of reach.
                Next::Unreachable { .. } => widest_of(&groups, &open),
                Next::Precise => {
                    let lacking =
                        open.iter().copied().find(|&c| groups[c].launches < self.state.plan.min_launches as usize);
                    let Some(lacking) = lacking else { return Ok(None) };
                    lacking
                }
                Next::BudgetSpent { .. } => return Ok(self.budget_remark(name, launches)),
            };
            let goes_on = self.block(name, &mut clusters[next], until_s)?;
            if goes_on {
                if clusters[next].blocks == LAUNCHES_SEEN {
                    self.choose_rounds(&clusters[next], until_s)?;
                }
                self.shorten(&clusters, until_s)?;
            }
            if !goes_on {
                return Ok(self.signals.arrived().is_none().then(|| self.budget_remark(name, launches)).flatten());
            }
        }
    }

    /// Whether a cluster may be launched again.
    fn is_open(&self, cluster: &Cluster) -> bool {
        cluster.blocks < self.state.plan.max_launches
            && cluster.launch_groups.iter().any(|&u| !self.alive(u).is_empty())
    }

    /// Launch groups whose cells are compared with each other, and how often they have been launched already.
    fn clusters(&self, name: &str) -> Vec<Cluster> {
        let mut found: Vec<Cluster> = Vec::new();
        let Some(experiment) = self.state.plan.experiment(name) else { return found };
        for launch_group in self.launch_groups_of(name) {
            let Some(&first) = self.state.launch_groups[launch_group].cells.first() else { continue };
            let parameters = group_of(experiment, &self.state.cells[first].cell);
            if self.state.launch_groups[launch_group].rounds == 0 {
                continue; // The budget ended before its pilot.
            }
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
        for cluster in &mut found {
            // A launch_group may hold the cells of several groups; the cluster is as wide as the widest of them.
            let cells = cluster.launch_groups.iter().flat_map(|&u| self.state.launch_groups[u].cells.iter());
            let parameters = cells.map(|&c| group_of(experiment, &self.state.cells[c].cell));
            cluster.parameters = parameters.collect::<std::collections::BTreeSet<_>>().into_iter().collect();
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

    fn budget_remark(&self, name: &str, launches: usize) -> Option<String> {
        let widths = judge::half_widths(&self.state, &self.evidence, name);
        let widest = widths.iter().map(|(_, width)| *width).fold(0.0, f64::max);
        if widths.is_empty() || launches < LEAST_LAUNCHES {
            let have = format!("the budget ended after {launches} launches");
            return Some(format!("{have}; intervals need {LEAST_LAUNCHES}, so some or all ratios are undecided"));
        }
        let times = (widest / self.state.plan.precision).powi(2).max(1.1).ceil();
        let (widest, target) = (widest * 100.0, self.state.plan.precision * 100.0);
        let ended = format!("the budget ended at ±{widest:.1} % for the widest ratio (target ±{target:.1} %)");
        (widest > target).then(|| format!("{ended}; about {times:.0} times the budget would reach it"))
    }

    /// One launch of every group that is kept but not judged: it shows what cannot run here and how long a round takes.
    /// The groups that were launched are returned.
    fn pilot(&mut self, name: &str, until_s: f64) -> Result<Vec<usize>> {
        let mut launched = Vec::new();
        let mut next = 0;
        // Groups whose pilot dies are split; the parts are appended and get a pilot of their own.
        while next < self.state.launch_groups.len() {
            let group = &self.state.launch_groups[next];
            let waiting = group.experiment == name && !group.timed && group.rounds == 0;
            if waiting && self.signals.arrived().is_none() && self.spent_s() <= until_s {
                self.progress.step(&format!("{name}: pilot"), until_s - self.spent_s());
                self.launch(next, PILOT, self.pilot_asked(next))?;
                launched.push(next);
            }
            next += 1;
        }
        Ok(launched)
    }

    /// Shares what the budget leaves among the groups, so that about ten launches of each fit.
    fn fix_rounds(&mut self, name: &str, until_s: f64) -> Result<()> {
        let of_name = self.launch_groups_of(name);
        let timed = |u: &usize| !self.alive(*u).is_empty() && self.state.launch_groups[*u].timed;
        let begun = of_name.iter().any(|&u| self.state.launch_groups[u].rounds > 1);
        let open: Vec<usize> =
            of_name.into_iter().filter(timed).filter(|&u| self.state.launch_groups[u].rounds == 0).collect();
        let warmup: Vec<u32> =
            open.iter().map(|&u| warmup_rounds(&self.state.launch_groups[u], self.compiles(u))).collect();
        let least_s: f64 = open.iter().zip(&warmup).map(|(&u, w)| launch_s(&self.state.launch_groups[u], 1 + w)).sum();
        let adjustable = open.iter().filter(|&&u| !self.state.launch_groups[u].fresh).count();
        let spare_s = ((until_s - self.spent_s()) * 0.92 / PLANNED_LAUNCHES - least_s) / adjustable.max(1) as f64;
        for (u, warmup_rounds) in open.into_iter().zip(warmup) {
            let group = &self.state.launch_groups[u];
            let more = (spare_s / group.round_s.max(1e-6)).clamp(0.0, MOST_ROUNDS - 1.0);
            let rounds = if group.fresh || begun { 1 } else { 1 + more as u32 };
            let why = "about ten launches of every group fit into the budget";
            self.decide(why, What::Rounds { launch_group: u, rounds, warmup_rounds })?;
        }
        Ok(())
    }

    /// One launch of every launch_group of a cluster in random order; false where the budget ended before.
    fn block(&mut self, name: &str, cluster: &mut Cluster, until_s: f64) -> Result<bool> {
        let begun_s = self.spent_s();
        let mut order = cluster.launch_groups.clone();
        let block = cluster.blocks;
        let mut random =
            Seeded::new(self.state.plan.seed ^ (u64::from(block) << 32) ^ ((cluster.launch_groups[0] as u64) << 16));
        random.shuffle(&mut order);
        while let Some(launch_group) = order.pop() {
            if self.alive(launch_group).is_empty() || self.evidence.has(launch_group, block) {
                continue;
            }
            let expected_s = self.expected_launch_s(launch_group);
            if self.signals.arrived().is_some() || self.spent_s() + expected_s > until_s {
                return Ok(false);
            }
            self.progress.step(&format!("{name}: launch {}", block + 1), until_s - self.spent_s());
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

    /// What the next launch of a group should take, in seconds.
    fn expected_launch_s(&self, launch_group: usize) -> f64 {
        let group = &self.state.launch_groups[launch_group];
        launch_s(group, group.rounds + group.warmup_rounds)
    }

    /// Whether a worker of this group compiles its code while it runs.
    fn compiles(&self, launch_group: usize) -> bool {
        let first = self.state.launch_groups[launch_group].cells.first().map(|&c| &self.state.cells[c].cell);
        let mut workers =
            first.into_iter().flat_map(|cell| cell.sides()).filter_map(|name| worker::find(self.workers, name).ok());
        workers.any(Worker::compiles)
    }
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

    fn group(&self, half_widths: &[(BTreeMap<String, String>, f64)]) -> Group {
        let mine = half_widths.iter().filter(|(parameters, _)| self.holds(parameters));
        let half_width = mine.map(|(_, width)| *width).reduce(f64::max);
        Group { launches: self.blocks as usize, half_width, launch_seconds: self.block_s }
    }
}

/// The open cluster with the widest interval.
fn widest_of(groups: &[Group], open: &[usize]) -> usize {
    let width = |c: &usize| groups[*c].half_width.unwrap_or(0.0);
    let widest = open.iter().copied().max_by(|a, b| width(a).total_cmp(&width(b)));
    widest.expect("asked only while a cluster is open")
}

/// What a launch of so many rounds, discarded ones included, should take, in seconds.
fn launch_s(group: &GroupState, all_rounds: u32) -> f64 {
    group.start_s + group.round_s * f64::from(all_rounds)
}

/// The fixed rule for warm-up: the shorter a round, the more of them are discarded; a round of a second or more that prepares
/// its own backing has nothing left to warm. A virtual machine compiles a measured loop within its first few rounds, and what
/// is around it by the tenth.
fn warmup_rounds(group: &GroupState, compiles: bool) -> u32 {
    let (native, compiled) = match group.round_s {
        _ if group.fresh => (0, 0),
        s if s < 0.02 => (5, 10),
        s if s < 0.2 => (2, 10),
        s if s < 1.0 => (1, 5),
        _ => (0, 2),
    };
    if compiles { compiled } else { native }
}
