//! Runs a plan: pilot, launches in random order, stopping. The only place that decides what happens next.

mod launching;
mod learning;
mod sizing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;

use crate::run::bound::Bounds;
use crate::run::captures::Inputs;
use crate::run::guard::Guard;
use crate::run::progress::Progress;
use crate::run::signals::Signals;
use crate::run::system;
use crate::worker::{self, Worker};
use judge::evidence::Evidence;
use record::folder::RunFolder;
use record::plan::{Plan, Unit, compatible, group_of};
use record::summary::Note;
use stats::interval::LEAST_LAUNCHES;
use stats::rng::Seeded;
use stats::stopping::{Decision, Goal, Group, decide};

/// Launches that the rounds of a launch are planned for; the budget and the precision decide how many there are.
const PLANNED_LAUNCHES: f64 = 10.0;
/// Most measured rounds in one launch.
const MOST_ROUNDS: f64 = 400.0;
/// Launches of a cluster after which its rounds are chosen once more, from what was seen to vary; frozen from then on.
const LAUNCHES_SEEN: u32 = 4;
/// The block of launches that are kept but only show how long rounds take.
const PILOT: i32 = -1;

/// The code of the note of a run that did not come to its end.
pub const INTERRUPTED: &str = "interrupted";

/// One run being made.
pub struct Runner<'a> {
    plan: Plan,
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

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// The signal that stopped it.
    pub stopped_by: Option<i32>,
    /// What is to be told about budget and precision.
    pub notes: Vec<Note>,
}

impl<'a> Runner<'a> {
    /// Prepares a run in its folder; launches that the folder already has are taken over.
    pub fn new(
        mut plan: Plan,
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
        system::prepare(&plan, &mut guard)?;
        let bounds = Bounds::make(&mut plan, &mut guard)?;
        let inputs = Inputs::make(&mut plan, &mut guard, folder, signals)?;
        let records = folder.launches()?;
        let evidence = Evidence::read(&plan, folder, &records)?;
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
            plan,
        })
    }

    fn spent_s(&self) -> f64 {
        self.spent_before_s + self.started.elapsed().as_secs_f64()
    }

    /// Runs to the end of precision, budget or patience of the user. The plan as it has become is returned with it.
    pub fn run(mut self) -> Result<(Plan, Evidence, RunEnd)> {
        let names: Vec<String> = self.plan.experiments.iter().map(|e| e.name.clone()).collect();
        let mut notes = Vec::new();
        // The first look gives everything the same time; otherwise an experiment that needs more gets more.
        let first_look = self.plan.first_look;
        let weights: Vec<f64> =
            self.plan.experiments.iter().map(|e| if first_look { 1.0 } else { e.needed_s() }).collect();
        for (done, name) in names.iter().enumerate() {
            let left: f64 = weights[done..].iter().sum();
            let share_s = (self.plan.budget_s - self.spent_s()).max(0.0) * weights[done] / left;
            let until_s = self.spent_s() + share_s;
            if let Some(remark) = self.experiment(name, until_s)? {
                notes.push(Note { code: "budget-ended".to_owned(), experiment: name.clone(), text: remark });
            }
            if self.signals.arrived().is_some() {
                break;
            }
        }
        self.progress.finish();
        self.folder.write_json("plan.json", &self.plan)?;
        drop(self.guard);
        let stopped_by = self.signals.arrived();
        notes.extend(stopped_by.map(|_| interrupted(&self.plan.run)));
        let end = RunEnd { stopped_by, notes };
        Ok((self.plan, self.evidence, end))
    }

    fn units_of(&self, experiment: &str) -> Vec<usize> {
        (0..self.plan.units.len()).filter(|&u| self.plan.units[u].experiment == experiment).collect()
    }

    fn alive(&self, unit: usize) -> Vec<usize> {
        let cells = self.plan.units[unit].cells.iter().copied();
        cells.filter(|&c| self.plan.cells[c].outcome.is_none()).collect()
    }

    fn experiment(&mut self, name: &str, until_s: f64) -> Result<Option<String>> {
        let start_s = self.spent_s();
        let piloted = self.pilot(name, until_s)?;
        self.calibrate(name, &piloted, until_s)?;
        if self.signals.arrived().is_some() {
            return Ok(None);
        }
        self.fix_rounds(name, until_s);
        self.folder.write_json("plan.json", &self.plan)?;
        let goal = Goal { precision: self.plan.precision, budget_seconds: until_s - start_s };
        let mut clusters = self.clusters(name);
        loop {
            let half_widths = judge::half_widths(&self.plan, &self.evidence, name);
            let groups: Vec<Group> = clusters.iter().map(|c| c.group(&half_widths)).collect();
            let open: Vec<usize> = (0..clusters.len()).filter(|&c| self.is_open(&clusters[c])).collect();
            let widest = half_widths.iter().map(|(_, width)| *width).fold(0.0, f64::max);
            let launches = groups.iter().map(|g| g.launches).min().unwrap_or(0);
            self.progress.reached(name, launches, widest, self.plan.precision, until_s - self.spent_s());
            let asked: Vec<Group> = open.iter().map(|&c| groups[c]).collect();
            let next = match decide(&goal, &asked, self.spent_s() - start_s) {
                _ if asked.is_empty() => return Ok(None),
                Decision::Continue { group } => open[group],
                // What is left is still worth spending: intervals narrow even where the target is out of reach.
                Decision::Unreachable { .. } => widest_of(&groups, &open),
                Decision::Precise => {
                    let lacking = open.iter().copied().find(|&c| groups[c].launches < self.plan.min_launches as usize);
                    let Some(lacking) = lacking else { return Ok(None) };
                    lacking
                }
                Decision::BudgetSpent { .. } => return Ok(self.budget_remark(name, launches)),
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
        cluster.blocks < self.plan.max_launches && cluster.units.iter().any(|&u| !self.alive(u).is_empty())
    }

    /// Units whose cells are compared with each other, and how often they have been launched already.
    fn clusters(&self, name: &str) -> Vec<Cluster> {
        let mut found: Vec<Cluster> = Vec::new();
        let Some(experiment) = self.plan.experiment(name) else { return found };
        for unit in self.units_of(name) {
            let Some(&first) = self.plan.units[unit].cells.first() else { continue };
            let parameters = group_of(experiment, &self.plan.cells[first].cell);
            if self.plan.units[unit].rounds == 0 {
                continue; // The budget ended before its pilot.
            }
            match found.iter_mut().find(|c| c.holds(&parameters)) {
                Some(cluster) => cluster.units.push(unit),
                None => {
                    found.push(Cluster { parameters: vec![parameters], units: vec![unit], blocks: 0, block_s: 0.0 })
                }
            }
        }
        for cluster in &mut found {
            // A unit may hold the cells of several groups; the cluster is as wide as the widest of them.
            let cells = cluster.units.iter().flat_map(|&u| self.plan.units[u].cells.iter());
            let parameters = cells.map(|&c| group_of(experiment, &self.plan.cells[c].cell));
            cluster.parameters = parameters.collect::<std::collections::BTreeSet<_>>().into_iter().collect();
            let has = |unit: usize, block: u32| self.evidence.has(unit, block);
            while cluster.units.iter().any(|&u| has(u, cluster.blocks)) {
                cluster.blocks += 1;
            }
            // A run that was interrupted within a block completes that block first: its cells are compared with each other.
            let last = cluster.blocks.saturating_sub(1);
            if cluster.units.iter().any(|&u| !self.alive(u).is_empty() && !has(u, last)) {
                cluster.blocks = last;
            }
        }
        found
    }

    fn budget_remark(&self, name: &str, launches: usize) -> Option<String> {
        let widths = judge::half_widths(&self.plan, &self.evidence, name);
        let widest = widths.iter().map(|(_, width)| *width).fold(0.0, f64::max);
        if widths.is_empty() || launches < LEAST_LAUNCHES {
            let have = format!("the budget ended after {launches} launches");
            return Some(format!("{have}; intervals need {LEAST_LAUNCHES}, so some or all ratios are undecided"));
        }
        let times = (widest / self.plan.precision).powi(2).max(1.1).ceil();
        let (widest, target) = (widest * 100.0, self.plan.precision * 100.0);
        let ended = format!("the budget ended at ±{widest:.1} % for the widest ratio (target ±{target:.1} %)");
        (widest > target).then(|| format!("{ended}; about {times:.0} times the budget would reach it"))
    }

    /// One launch of every unit that is kept but not judged: it shows what cannot run here and how long a round takes.
    /// The units that were launched are returned.
    fn pilot(&mut self, name: &str, until_s: f64) -> Result<Vec<usize>> {
        let mut launched = Vec::new();
        let mut unit = 0;
        // Units whose pilot dies are split; the parts are appended and get a pilot of their own.
        while unit < self.plan.units.len() {
            let waiting = self.plan.units[unit].experiment == name && self.plan.units[unit].rounds == 0;
            if waiting && self.signals.arrived().is_none() && self.spent_s() <= until_s {
                let rounds = if self.compiles(unit) { 2 } else { 1 };
                let warmup = if self.plan.units[unit].fresh { 0 } else { rounds };
                self.plan.units[unit].rounds = 1;
                self.plan.units[unit].warmup_rounds = warmup;
                self.progress.step(&format!("{name}: pilot"), until_s - self.spent_s());
                self.launch(unit, PILOT)?;
                launched.push(unit);
                if self.signals.arrived().is_some() {
                    self.plan.units[unit].rounds = 0;
                }
            }
            unit += 1;
        }
        Ok(launched)
    }

    /// Shares what the budget leaves among the units, so that about ten launches of each fit.
    fn fix_rounds(&mut self, name: &str, until_s: f64) {
        let piloted = |u: &usize| !self.alive(*u).is_empty() && self.plan.units[*u].rounds > 0;
        let units: Vec<usize> = self.units_of(name).into_iter().filter(piloted).collect();
        if units.iter().any(|&u| self.plan.units[u].rounds > 1) {
            return;
        }
        for &u in &units {
            let compiles = self.compiles(u);
            self.plan.units[u].warmup_rounds = warmup_rounds(&self.plan.units[u], compiles);
        }
        let least_s: f64 = units.iter().map(|&u| launch_s(&self.plan.units[u], 1)).sum();
        let adjustable: Vec<usize> = units.iter().copied().filter(|&u| !self.plan.units[u].fresh).collect();
        let spare_s = ((until_s - self.spent_s()) * 0.92 / PLANNED_LAUNCHES - least_s) / adjustable.len().max(1) as f64;
        for u in adjustable {
            let unit = &mut self.plan.units[u];
            let more = (spare_s / unit.round_s.max(1e-6)).clamp(0.0, MOST_ROUNDS - 1.0);
            unit.rounds = 1 + more as u32;
        }
    }

    /// One launch of every unit of a cluster in random order; false where the budget ended before.
    fn block(&mut self, name: &str, cluster: &mut Cluster, until_s: f64) -> Result<bool> {
        let begun_s = self.spent_s();
        let mut order = cluster.units.clone();
        let block = cluster.blocks;
        let mut random = Seeded::new(self.plan.seed ^ (u64::from(block) << 32) ^ ((cluster.units[0] as u64) << 16));
        random.shuffle(&mut order);
        while let Some(unit) = order.pop() {
            if self.alive(unit).is_empty() || self.evidence.has(unit, block) {
                continue;
            }
            let expected_s = launch_s(&self.plan.units[unit], self.plan.units[unit].rounds);
            if self.signals.arrived().is_some() || self.spent_s() + expected_s > until_s {
                return Ok(false);
            }
            self.progress.step(&format!("{name}: launch {}", block + 1), until_s - self.spent_s());
            let parts_from = self.plan.units.len();
            self.launch(unit, i32::try_from(block)?)?;
            // Where the launch died, its cells are tried one by one, within the same block.
            cluster.units.extend(parts_from..self.plan.units.len());
            order.extend(parts_from..self.plan.units.len());
        }
        cluster.blocks += 1;
        cluster.block_s = self.spent_s() - begun_s;
        Ok(true)
    }

    /// Whether a worker of this unit compiles its code while it runs.
    fn compiles(&self, unit: usize) -> bool {
        let first = self.plan.units[unit].cells.first().map(|&c| &self.plan.cells[c].cell);
        let mut workers =
            first.into_iter().flat_map(|cell| cell.sides()).filter_map(|name| worker::find(self.workers, name).ok());
        workers.any(Worker::compiles)
    }
}

/// The note of a run that did not come to its end.
pub fn interrupted(run: &str) -> Note {
    let text = format!("this run was interrupted; pagewise run --resume {run} completes it");
    Note { code: INTERRUPTED.to_owned(), experiment: String::new(), text }
}

/// Units whose cells are compared with each other; a block is one launch of each.
struct Cluster {
    parameters: Vec<BTreeMap<String, String>>,
    units: Vec<usize>,
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

/// What a launch of so many rounds should take, in seconds.
fn launch_s(unit: &Unit, rounds: u32) -> f64 {
    unit.start_s + unit.round_s * f64::from(rounds + unit.warmup_rounds)
}

/// The fixed rule for warm-up: the shorter a round, the more of them are discarded; a round of a second or more that prepares
/// its own backing has nothing left to warm. A virtual machine compiles a measured loop within its first few rounds, and what
/// is around it by the tenth.
fn warmup_rounds(unit: &Unit, compiles: bool) -> u32 {
    let (native, compiled) = match unit.round_s {
        _ if unit.fresh => (0, 0),
        s if s < 0.02 => (5, 10),
        s if s < 0.2 => (2, 10),
        s if s < 1.0 => (1, 5),
        _ => (0, 2),
    };
    if compiles { compiled } else { native }
}
