//! Runs a plan: pilot, launches in random order, stopping. The only place that decides what happens next.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::evidence::Evidence;
use crate::folder::{LaunchRecord, RunFolder, SideRecord};
use crate::guard::Guard;
use crate::judge;
use crate::launch::{self, End, Side};
use crate::machine::memory;
use crate::machine::noise::Snapshot;
use crate::method::Method;
use crate::outcome::{Outcome, Status};
use crate::plan::{Plan, Unit, compatible, group_of};
use crate::progress::Progress;
use crate::signals::Signals;
use crate::stats::interval::LEAST_LAUNCHES;
use crate::stats::orders;
use crate::stats::rng::Seeded;
use crate::stats::stopping::{Decision, Goal, Group, decide};
use crate::transcript::{self, Ending, LaunchKeys, Transcript};
use crate::workers::{self, Worker};

/// Launches that the rounds of a launch are planned for; the budget and the precision decide how many there are.
const PLANNED_LAUNCHES: f64 = 10.0;
/// Most measured rounds in one launch.
const MOST_ROUNDS: f64 = 400.0;
/// A worker that takes this many times longer than the pilot promised is given up.
const PATIENCE: f64 = 10.0;
/// The least time limit of a launch.
const LEAST_TIME_LIMIT: Duration = Duration::from_secs(60);
/// Left free when a launch's need is compared with what is available, in bytes.
const RESERVE_BYTES: u64 = 64 << 20;

/// One run being made.
pub struct Runner<'a> {
    plan: Plan,
    folder: &'a RunFolder,
    workers: &'a [Worker],
    signals: &'a Signals,
    progress: Progress,
    guard: Guard,
    evidence: Evidence,
    started: Instant,
    next_launch: usize,
    spent_before_s: f64,
    root: PathBuf,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// The signal that stopped it.
    pub stopped_by: Option<i32>,
    /// What is to be told about budget and precision, one sentence an experiment.
    pub remarks: Vec<String>,
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
        let mut guard = Guard::start()?;
        let prefix = format!("pagewise-{}", plan.run);
        guard.undo(&format!("remove-prefix /dev/shm {prefix}"))?;
        guard.undo(&format!("remove-prefix /dev/mqueue {prefix}"))?;
        guard.undo(&format!("remove-prefix {} {prefix}", std::env::temp_dir().display()))?;
        guard.undo(&format!("remove-prefix {} scratch-{prefix}", folder.path().display()))?;
        crate::system::prepare(&plan, &mut guard)?;
        let records = folder.launches()?;
        let evidence = Evidence::read(&plan, folder, &records)?;
        Ok(Runner {
            folder,
            workers,
            signals,
            progress,
            guard,
            evidence,
            started: Instant::now(),
            next_launch: records.iter().map(|r| r.launch + 1).max().unwrap_or(0),
            spent_before_s: records.iter().map(|r| r.wall_s).sum(),
            root: PathBuf::from("/"),
            plan,
        })
    }

    fn spent_s(&self) -> f64 {
        self.spent_before_s + self.started.elapsed().as_secs_f64()
    }

    /// Runs to the end of precision, budget or patience of the user. The plan as it has become is returned with it.
    pub fn run(mut self) -> Result<(Plan, Evidence, RunEnd)> {
        let names: Vec<String> = self.plan.experiments.iter().map(|e| e.name.clone()).collect();
        let mut remarks = Vec::new();
        for (done, name) in names.iter().enumerate() {
            let share_s = (self.plan.budget_s - self.spent_s()).max(0.0) / (names.len() - done) as f64;
            let until_s = self.spent_s() + share_s;
            if let Some(remark) = self.experiment(name, until_s)? {
                remarks.push(remark);
            }
            if self.signals.arrived().is_some() {
                break;
            }
        }
        self.progress.finish();
        self.folder.write_json("plan.json", &self.plan)?;
        drop(self.guard);
        let end = RunEnd { stopped_by: self.signals.arrived(), remarks };
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
        self.pilot(name, until_s)?;
        self.fix_rounds(name, until_s)?;
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
            if !self.block(name, &mut clusters[next], until_s)? {
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
            match found.iter_mut().find(|c| compatible(&c.parameters, &parameters)) {
                Some(cluster) => cluster.units.push(unit),
                None => found.push(Cluster { parameters, units: vec![unit], blocks: 0, block_s: 0.0 }),
            }
        }
        for cluster in &mut found {
            while cluster.units.iter().any(|&u| self.evidence.has(u, cluster.blocks)) {
                cluster.blocks += 1;
            }
        }
        found
    }

    fn budget_remark(&self, name: &str, launches: usize) -> Option<String> {
        let widths = judge::half_widths(&self.plan, &self.evidence, name);
        let widest = widths.iter().map(|(_, width)| *width).fold(0.0, f64::max);
        if widths.is_empty() || launches < LEAST_LAUNCHES {
            let have = format!("{name}: the budget ended after {launches} launches");
            return Some(format!("{have}; intervals need {LEAST_LAUNCHES}, so some or all ratios are undecided"));
        }
        let times = (widest / self.plan.precision).powi(2).max(1.1).ceil();
        let (widest, target) = (widest * 100.0, self.plan.precision * 100.0);
        let ended = format!("{name}: the budget ended at ±{widest:.1} % for the widest ratio (target ±{target:.1} %)");
        (widest > target).then(|| format!("{ended}; about {times:.0} times the budget would reach it"))
    }

    /// One launch of every unit that is kept but not judged: it shows what cannot run here and how long a round takes.
    fn pilot(&mut self, name: &str, until_s: f64) -> Result<()> {
        for unit in self.units_of(name) {
            if self.plan.units[unit].rounds > 0 {
                continue; // A resumed run: the pilot has spoken already.
            }
            let rounds = if self.compiles(unit) { 2 } else { 1 };
            let warmup = if self.plan.units[unit].fresh { 0 } else { rounds };
            self.plan.units[unit].rounds = 1;
            self.plan.units[unit].warmup_rounds = warmup;
            self.progress.step(&format!("{name}: pilot"), until_s - self.spent_s());
            if self.signals.arrived().is_some() || self.spent_s() > until_s {
                self.plan.units[unit].rounds = 0;
                continue;
            }
            self.launch(unit, -1)?;
        }
        Ok(())
    }

    /// Shares what the budget leaves among the units, so that about ten launches of each fit.
    fn fix_rounds(&mut self, name: &str, until_s: f64) -> Result<()> {
        let units: Vec<usize> = self.units_of(name).into_iter().filter(|&u| !self.alive(u).is_empty()).collect();
        if units.iter().any(|&u| self.plan.units[u].rounds > 1) {
            return Ok(());
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
        Ok(())
    }

    /// One launch of every unit of a cluster in random order; false where the budget ended before.
    fn block(&mut self, name: &str, cluster: &mut Cluster, until_s: f64) -> Result<bool> {
        let begun_s = self.spent_s();
        let mut order = cluster.units.clone();
        let block = cluster.blocks;
        let mut random = Seeded::new(self.plan.seed ^ (u64::from(block) << 32) ^ ((cluster.units[0] as u64) << 16));
        random.shuffle(&mut order);
        for unit in order {
            if self.alive(unit).is_empty() || self.evidence.has(unit, block) {
                continue;
            }
            let expected_s = launch_s(&self.plan.units[unit], self.plan.units[unit].rounds);
            if self.signals.arrived().is_some() || self.spent_s() + expected_s > until_s {
                return Ok(false);
            }
            self.progress.step(&format!("{name}: launch {}", block + 1), until_s - self.spent_s());
            self.launch(unit, i32::try_from(block)?)?;
        }
        // A unit whose launch died was split; its cells are tried one by one with the next block.
        let known = cluster.units.clone();
        let split = self.units_of(name).into_iter().filter(|u| !known.contains(u) && self.is_split_of(*u, &known));
        cluster.units.extend(split.collect::<Vec<_>>());
        cluster.blocks += 1;
        cluster.block_s = self.spent_s() - begun_s;
        Ok(true)
    }

    fn is_split_of(&self, unit: usize, of: &[usize]) -> bool {
        self.plan.units[unit].split_from.is_some_and(|from| of.contains(&from))
    }

    /// Refuses the cells that would not fit into memory, with both figures.
    fn admit(&mut self, unit: usize) -> Result<()> {
        for cell in self.alive(unit) {
            let planned = &self.plan.cells[cell];
            let rounds = self.plan.units[unit].rounds + self.plan.units[unit].warmup_rounds;
            let needed = judge::memory_needed(planned, rounds)?;
            let sides = planned.cell.sides().count() as u64;
            if let Err(refusal) = memory::fits(&self.root, needed.saturating_mul(sides), RESERVE_BYTES) {
                self.plan.cells[cell].outcome = Some(Outcome::of(Status::Refused, refusal.to_string()));
            }
        }
        Ok(())
    }

    fn launch(&mut self, unit: usize, block: i32) -> Result<()> {
        self.admit(unit)?;
        let cells = self.alive(unit);
        if cells.is_empty() {
            return Ok(());
        }
        let number = self.next_launch;
        self.next_launch += 1;
        let prepared = self.prepare(unit, block, number, &cells)?;
        let before = Snapshot::take(&self.root);
        let cpu_before = laboratory_cpu();
        let sides: Vec<Side> = prepared.iter().map(Prepared::side).collect();
        let result = launch::launch(&sides, self.time_limit(unit), self.signals);
        let _ = std::fs::remove_dir_all(self.scratch());
        let ended = result?;
        let noise = Snapshot::take(&self.root).delta(&before);
        let sides = prepared.iter().zip(&ended.ends).map(|(p, end)| SideRecord {
            worker: p.worker.clone(),
            transcript: p.name.clone(),
            end: end.clone(),
            message: if end.is_clean() { String::new() } else { first_line(&p.messages) },
        });
        let record = LaunchRecord {
            launch: number,
            unit,
            block,
            cells: cells.clone(),
            rounds: self.plan.units[unit].rounds,
            wall_s: ended.wall.as_secs_f64(),
            laboratory_cpu_s: (laboratory_cpu().saturating_sub(cpu_before)).as_secs_f64(),
            sides: sides.collect(),
            oom_killed: noise.oom_kills() > 0,
            noise: Some(noise),
        };
        for p in &prepared {
            if std::fs::metadata(&p.messages).is_ok_and(|m| m.len() == 0) {
                let _ = std::fs::remove_file(&p.messages);
            }
        }
        self.folder.append_launch(&record)?;
        self.learn(&record)
    }

    /// Whether a worker of this unit compiles its code while it runs.
    fn compiles(&self, unit: usize) -> bool {
        let first = self.plan.units[unit].cells.first().map(|&c| &self.plan.cells[c].cell);
        let workers = first.into_iter().flat_map(|cell| cell.sides()).filter_map(|name| workers::find(self.workers, name).ok());
        workers.into_iter().any(Worker::compiles)
    }

    fn time_limit(&self, unit: usize) -> Duration {
        let unit = &self.plan.units[unit];
        LEAST_TIME_LIMIT.max(Duration::from_secs_f64(PATIENCE * launch_s(unit, unit.rounds)))
    }

    fn scratch(&self) -> PathBuf {
        self.folder.file(&format!("scratch-pagewise-{}", self.plan.run))
    }

    /// Writes the requests of a launch and says how its processes are to be started.
    fn prepare(&mut self, unit: usize, block: i32, number: usize, cells: &[usize]) -> Result<Vec<Prepared>> {
        let planned = &self.plan.cells[cells[0]];
        let method = Method::parse(&planned.method)?;
        let scratch = self.scratch();
        std::fs::create_dir_all(&scratch).with_context(|| format!("cannot make {}", scratch.display()))?;
        let directory = scratch.to_string_lossy().into_owned();
        let name = format!("pagewise-{}-{number}", self.plan.run);
        let rendezvous = std::env::temp_dir().join(format!("pagewise-{}-{number}.socket", self.plan.run));
        let rendezvous = rendezvous.to_string_lossy().into_owned();
        let seed = self.plan.seed ^ ((unit as u64) << 40) ^ (i64::from(block) as u64).wrapping_mul(0x9E37);
        let unit_plan = &self.plan.units[unit];
        let warmup = orders::rounds(cells.len(), unit_plan.warmup_rounds as usize, seed ^ 1);
        let rounds = orders::rounds(cells.len(), unit_plan.rounds as usize, seed);
        let heap = judge::heap_needed(cells.iter().map(|&c| &self.plan.cells[c]), unit_plan.rounds + unit_plan.warmup_rounds)?;
        let selected: Vec<_> = cells.iter().map(|&c| &self.plan.cells[c].cell).collect();
        let roles: Vec<Option<char>> = if method.two_sided { vec![Some('a'), Some('b')] } else { vec![None] };
        let mut sides = planned.cell.sides();
        let mut prepared = Vec::new();
        for role in roles {
            let worker = sides.next().unwrap_or(&planned.cell.worker).to_owned();
            let suffix = role.map_or_else(String::new, |r| format!(".{r}"));
            let keys = LaunchKeys {
                experiment: &unit_plan.experiment,
                launch: number,
                seed: self.plan.seed,
                role,
                rendezvous: role.map(|_| rendezvous.as_str()),
                directory: Some(&directory),
                name: Some(&name),
                trace_marks: false,
            };
            let request = self.folder.file(&format!("{number:03}{suffix}.request"));
            std::fs::write(&request, transcript::request(&keys, &selected, &warmup, &rounds))
                .with_context(|| format!("cannot write {}", request.display()))?;
            let started =
                workers::find(self.workers, &worker)?.start().map_err(|reason| anyhow::anyhow!("{reason}"))?;
            let mut options = Vec::new();
            if let Some((library, _)) = &method.preload
                && let Some(path) = workers::find_library(library)?
            {
                options.extend([OsString::from("--preload"), path.into()]);
            }
            prepared.push(Prepared {
                worker,
                command: started.command_with_heap(heap),
                options,
                request,
                name: format!("{number:03}{suffix}.transcript"),
                transcript: self.folder.file(&format!("{number:03}{suffix}.transcript")),
                messages: self.folder.file(&format!("{number:03}{suffix}.messages")),
            });
        }
        Ok(prepared)
    }

    /// Takes what a launch brought: samples, endings, deaths; the pilot's times.
    fn learn(&mut self, record: &LaunchRecord) -> Result<()> {
        let transcripts = self.evidence.add(&self.plan, self.folder, record)?;
        if record.block < 0 {
            self.learn_times(record, &transcripts);
        }
        let mut named = false;
        for (side, transcript) in record.sides.iter().zip(&transcripts) {
            for ending in transcript.iter().flat_map(|t| &t.endings) {
                let (cell, outcome) = match ending {
                    Ending::Skip { cell, reason } => (Some(*cell), Outcome::of(Status::Skipped, reason)),
                    Ending::Fail { cell, reason } => (Some(*cell), Outcome::of(Status::Failed, reason)),
                    Ending::Crash { cell, phase, signal } => {
                        let place = if phase == "-" { "between phases".into() } else { format!("in phase {phase}") };
                        let how = if signal == "SIGTERM" {
                            side.end.words(record.oom_killed)
                        } else {
                            format!("{signal} in the worker")
                        };
                        (*cell, Outcome::of(Status::Failed, format!("{how}, {place}")))
                    }
                };
                if let Some(index) = cell.and_then(|c| record.cells.get(c as usize)) {
                    self.plan.cells[*index].outcome.get_or_insert(outcome);
                    named = true;
                }
            }
        }
        let stopped = record.sides.iter().any(|s| s.end == End::Stopped);
        let died = record.sides.iter().any(|s| !s.end.is_clean())
            || transcripts.iter().any(|t| !t.as_ref().is_some_and(|t| t.done));
        if died && !named && !stopped {
            self.blame(record);
        }
        Ok(())
    }

    fn learn_times(&mut self, record: &LaunchRecord, transcripts: &[Option<Transcript>]) {
        let unit = &mut self.plan.units[record.unit];
        let samples = transcripts.iter().flatten().flat_map(|t| &t.samples);
        let measured = samples.filter(|s| s.round >= 0);
        let (mut first, mut last) = (u64::MAX, 0);
        for sample in measured {
            first = first.min(sample.counts.start_ns);
            last = last.max(sample.counts.start_ns + sample.counts.wall_ns);
        }
        if unit.fresh || first >= last {
            unit.round_s = record.wall_s;
        } else {
            unit.round_s = (last - first) as f64 / 1e9;
            unit.start_s = (record.wall_s - 2.0 * unit.round_s).max(0.0);
        }
    }

    /// A launch died and named no cell. Where there was one cell, it is the one; else each is tried by itself from now on.
    fn blame(&mut self, record: &LaunchRecord) {
        if let [only] = record.cells[..] {
            let side = record.sides.iter().find(|s| !s.end.is_clean() && s.end != End::OtherSide);
            let how = side.map_or_else(|| "the transcript is truncated".to_owned(), |s| s.end.words(record.oom_killed));
            let message = side.map(|s| s.message.as_str()).filter(|m| !m.is_empty());
            let reason = message.map_or_else(|| how.clone(), |m| format!("{how}: {m}"));
            self.plan.cells[only].outcome.get_or_insert(Outcome::of(Status::Failed, reason));
            return;
        }
        let unit = self.plan.units[record.unit].clone();
        self.plan.units[record.unit].cells.clear();
        for &cell in &record.cells {
            let split_from = Some(record.unit);
            self.plan.units.push(Unit { cells: vec![cell], rounds: unit.rounds.max(1), split_from, ..unit.clone() });
        }
    }
}

/// Units whose cells are compared with each other; a block is one launch of each.
struct Cluster {
    parameters: BTreeMap<String, String>,
    units: Vec<usize>,
    blocks: u32,
    block_s: f64,
}

impl Cluster {
    fn group(&self, half_widths: &[(BTreeMap<String, String>, f64)]) -> Group {
        let mine = half_widths.iter().filter(|(parameters, _)| compatible(parameters, &self.parameters));
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

fn laboratory_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

fn first_line(path: &std::path::Path) -> String {
    let text = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().chars().take(300).collect()
}

struct Prepared {
    worker: String,
    command: Vec<OsString>,
    options: Vec<OsString>,
    request: PathBuf,
    name: String,
    transcript: PathBuf,
    messages: PathBuf,
}

impl Prepared {
    fn side(&self) -> Side<'_> {
        Side {
            command: &self.command,
            options: self.options.clone(),
            request: &self.request,
            transcript: &self.transcript,
            messages: &self.messages,
        }
    }
}
