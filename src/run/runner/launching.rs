//! One launch: whether it fits, what it is asked, its processes, its record.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::turns::{Turns, turns};
use super::{Asked, Runner, launch_s};
use crate::machine::memory;
use crate::machine::noise::Snapshot;
use crate::run::launch::Side;
use crate::run::need::{heap_needed, memory_needed};
use crate::run::patience::TimeLimit;
use crate::worker;
use record::end::End;
use record::folder::Part;
use record::launches::{Frame, LaunchRecord, SideRecord};
use record::method::Role;
use record::outcome::{Outcome, Status};
use record::request::{self, LaunchKeys};

/// A worker that takes this many times longer than the pilot promised is given up.
const PATIENCE: f64 = 10.0;
/// The least time limit of a launch.
const LEAST_TIME_LIMIT: Duration = Duration::from_secs(60);
/// Left free when a launch's need is compared with what is available, in bytes.
const RESERVE_BYTES: u64 = 64 << 20;

impl Runner<'_> {
    /// Refuses the cells that would not fit into memory, with both figures.
    fn admit(&mut self, launch_group: usize, asked: Asked) -> Result<()> {
        for cell in self.alive(launch_group) {
            let planned = &self.state.cells[cell];
            let rounds = asked.rounds + asked.warmup_rounds;
            let needed = memory_needed(planned, rounds)?;
            let sides = planned.cell.sides().count() as u64;
            if let Err(refusal) = memory::fits(&self.root, needed.saturating_mul(sides), RESERVE_BYTES) {
                self.settle(cell, Outcome::of(Status::Refused, refusal.to_string()))?;
            }
        }
        Ok(())
    }

    pub(super) fn launch(&mut self, launch_group: usize, block: i32, asked: Asked) -> Result<()> {
        self.admit(launch_group, asked)?;
        let cells = self.taking_part(launch_group, block);
        if cells.is_empty() {
            return Ok(());
        }
        let number = self.next_launch;
        self.next_launch += 1;
        let turns = self.turns(launch_group, block, &cells, asked);
        let prepared = self.prepare(launch_group, number, &cells, asked, &turns)?;
        let before = Snapshot::take(&self.root);
        let cpu_before = laboratory_cpu();
        let sides: Vec<Side> = prepared.iter().map(|p| p.side(&self.cleared)).collect();
        let time_limit = self.time_limit(launch_group, asked);
        let result = self.launcher.launch(&sides, time_limit, self.signals);
        let parts: Vec<Part> = prepared.iter().flat_map(Prepared::parts).collect();
        let first_lines: Vec<String> = prepared.iter().map(|p| first_line(&p.messages)).collect();
        let full = is_full(&self.scratch());
        let _ = std::fs::remove_dir_all(self.scratch());
        let ended = result?;
        if full && !ended.ends.iter().all(End::is_clean) {
            bail!("cannot write into {}: No space left on device", self.folder.path().display());
        }
        let noise = Snapshot::take(&self.root).delta(&before);
        let sides = prepared.iter().zip(&ended.ends).zip(first_lines).map(|((p, end), message)| SideRecord {
            worker: p.worker.clone(),
            transcript: p.name.clone(),
            end: end.clone(),
            message: if end.is_clean() { String::new() } else { message },
        });
        let mut record = LaunchRecord {
            launch: number,
            launch_group,
            block,
            cells: cells.clone(),
            rounds: asked.rounds,
            turns: turns.uneven(cells.len()),
            proofs: turns.proofs,
            wall_s: ended.wall.as_secs_f64(),
            laboratory_cpu_s: (laboratory_cpu().saturating_sub(cpu_before)).as_secs_f64(),
            sides: sides.collect(),
            decisions: self.state.decisions,
            frame: Frame::default(),
            oom_killed: noise.oom_kills() > 0,
            noise: Some(noise),
        };
        self.folder.keep_launch(&mut record, &parts)?;
        self.look_for_company()?;
        let too_long = record.sides.iter().any(|s| matches!(s.end, End::TimeLimit(_) | End::Deaf(_)));
        if too_long && asked.at_most.is_some_and(|most| most < LEAST_TIME_LIMIT) {
            self.left_out.insert(launch_group);
            self.cut.insert(launch_group);
            let transcripts = self.folder.transcripts(&record)?;
            self.evidence.add(&self.state, &record, &transcripts);
            return Ok(());
        }
        self.learn(&record, asked)
    }

    fn time_limit(&self, launch_group: usize, asked: Asked) -> TimeLimit {
        let group = &self.state.launch_groups[launch_group];
        let usual = || {
            LEAST_TIME_LIMIT
                .max(Duration::from_secs_f64(PATIENCE * launch_s(group, asked.rounds + asked.warmup_rounds)))
        };
        match self.state.time_limit_s {
            Some(seconds) => TimeLimit::Strict(Duration::from_secs_f64(seconds)),
            None => TimeLimit::Able(asked.at_most.map_or_else(usual, |most| most.min(usual()))),
        }
    }

    fn scratch(&self) -> PathBuf {
        self.folder.file(&format!("scratch-pagewise-{}", self.state.plan.run))
    }

    /// Who takes part in which round of a launch, and which rounds carry proofs.
    fn turns(&self, launch_group: usize, block: i32, cells: &[usize], asked: Asked) -> Turns {
        let seed =
            self.state.plan.seed ^ ((launch_group as u64) << 40) ^ (i64::from(block) as u64).wrapping_mul(0x9E37);
        let roles: Vec<Role> = cells.iter().map(|&c| self.state.cells[c].method.role).collect();
        // The conformance suite, whose rounds are given, proves everything always; so does a pilot of one round. One of several
        // shows how long a round takes in the launches that come.
        let given = self.state.plan.rounds.is_some();
        let everything = given || block < 0;
        let by_round = |name: &str| worker::find(self.workers, name).is_ok_and(|w| w.proves_by_round());
        let few = !given && (block >= 0 || asked.rounds > 1);
        let sparing = few && self.state.cells[cells[0]].cell.sides().all(by_round);
        turns(&roles, block, (asked.warmup_rounds, asked.rounds), seed, everything, sparing)
    }

    /// Writes the requests of a launch and says how its processes are to be started.
    fn prepare(
        &mut self,
        launch_group: usize,
        number: usize,
        cells: &[usize],
        asked: Asked,
        turns: &Turns,
    ) -> Result<Vec<Prepared>> {
        let planned = &self.state.cells[cells[0]];
        let method = &planned.method;
        let scratch = self.scratch();
        std::fs::create_dir_all(&scratch).with_context(|| format!("cannot make {}", scratch.display()))?;
        let directory = scratch.to_string_lossy().into_owned();
        let name = format!("pagewise-{}-{number}", self.state.plan.run);
        let rendezvous = std::env::temp_dir().join(format!("pagewise-{}-{number}.socket", self.state.plan.run));
        let rendezvous = rendezvous.to_string_lossy().into_owned();
        let group = &self.state.launch_groups[launch_group];
        let heap = heap_needed(cells.iter().map(|&c| &self.state.cells[c]), asked.rounds + asked.warmup_rounds)?;
        let told: Vec<_> =
            cells.iter().map(|&c| self.inputs.resolved(&self.state.plan, &self.state.cells[c].cell)).collect();
        let selected: Vec<_> = told.iter().collect();
        let roles: Vec<Option<char>> = if method.two_sided { vec![Some('a'), Some('b')] } else { vec![None] };
        let mut sides = planned.cell.sides();
        let mut prepared = Vec::new();
        for role in roles {
            let worker = sides.next().unwrap_or(&planned.cell.worker).to_owned();
            let suffix = role.map_or_else(String::new, |r| format!(".{r}"));
            let keys = LaunchKeys {
                experiment: &group.experiment,
                launch: number,
                seed: self.state.plan.seed,
                role,
                rendezvous: role.map(|_| rendezvous.as_str()),
                directory: Some(&directory),
                name: Some(&name),
                proofs: &turns.proofs,
                trace_marks: false,
            };
            let place = |what: &str| scratch.join(format!("{what}{suffix}"));
            let file = place("request");
            std::fs::write(&file, request::request(&keys, &selected, &turns.warmup, &turns.rounds))
                .with_context(|| format!("cannot write {}", file.display()))?;
            let started = worker::find(self.workers, &worker)?.start().map_err(|reason| anyhow::anyhow!("{reason}"))?;
            let mut options = Vec::new();
            if let Some((library, _)) = &method.preload
                && let Some(path) = worker::find_library(library)?
            {
                options.extend([OsString::from("--preload"), path.into()]);
            }
            let bound = cells.iter().find_map(|&c| self.bounds.cgroup(&self.state.plan, &self.state.cells[c].cell));
            if let Some(cgroup) = bound {
                options.extend([OsString::from("--cgroup"), cgroup.into()]);
            }
            prepared.push(Prepared {
                worker,
                command: started.command_with_heap(heap),
                options,
                request: file,
                name: format!("transcript{suffix}"),
                transcript: place("transcript"),
                messages: place("messages"),
            });
        }
        Ok(prepared)
    }
}

/// Whether the file system of a folder has no room left: what a worker could not write there is nobody's fault but its.
fn is_full(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|about| about.f_bavail < 4)
}

fn laboratory_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

fn first_line(path: &Path) -> String {
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
    /// Its request, its transcript and, where it said anything, its messages.
    fn parts(&self) -> Vec<Part> {
        let files = [&self.request, &self.transcript, &self.messages];
        let part = |path: &&PathBuf| Part {
            name: path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
            bytes: std::fs::read(path).unwrap_or_default(),
        };
        files.iter().map(part).filter(|p| !(p.name.starts_with("messages") && p.bytes.is_empty())).collect()
    }

    fn side<'a>(&'a self, without: &'a [String]) -> Side<'a> {
        Side {
            command: &self.command,
            options: self.options.clone(),
            without,
            request: &self.request,
            transcript: &self.transcript,
            messages: &self.messages,
        }
    }
}
