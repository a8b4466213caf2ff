//! What the launches of a run brought, verified: figures by cell, phase and launch; laws, facts and digests beside them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Result, bail};
use record::end::End;
use record::experiment::{Content, Experiment, Total};
use record::folder::RunFolder;
use record::launches::LaunchRecord;
use record::machine::noise::NoiseDelta;
use record::machine::preflight::Preflight;
use record::method::{Method, Role};
use record::state::State;
use record::transcript::{COLUMNS, Counts, Read, Transcript};

use crate::checks::Checks;
use crate::content;
use crate::slots::{Slot, SlotValues, added, of, overall, slots};

/// Figures of one phase or total in one launch, round by round.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Wall time of each round, in nanoseconds.
    pub wall_ns: Vec<f64>,
    /// CPU time of each round, in nanoseconds.
    pub cpu_ns: Vec<f64>,
    /// Minor faults of each round.
    pub minor_faults: Vec<f64>,
    /// Sums over rounds of every base column, in the protocol's order.
    pub sums: [u64; 11],
}

/// One launch of one cell.
#[derive(Clone, Debug)]
pub struct CellLaunch {
    /// Number of the launch.
    pub launch: usize,
    /// Replicate; cells of the same block are paired.
    pub block: i32,
    /// Figures by phase or total, in the order of [`Experiment::measures`].
    pub measures: Vec<Figures>,
    /// The rounds that are there, in order; the same for all measures.
    pub rounds: Vec<i32>,
    /// Latencies: lower and upper bound of each bucket in nanoseconds, and its count.
    pub latencies: BTreeMap<(u64, u64), u64>,
    /// Share of the launch's rounds in which the process was switched out against its will; zero where the cell's own
    /// processes and threads may have done it.
    pub interrupted: f64,
    /// What the machine did besides.
    pub noise: Option<NoiseDelta>,
    /// From the start of the launch to its end, in seconds.
    pub wall_s: f64,
    /// CPU time of the laboratory meanwhile, in seconds.
    pub laboratory_cpu_s: f64,
}

/// Everything known of one cell.
#[derive(Clone, Debug, Default)]
pub struct CellEvidence {
    /// Its launches, in order.
    pub launches: Vec<CellLaunch>,
    /// Laws, facts and digests.
    pub checks: Checks,
}

/// Everything known of a run.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// By cell of the state.plan.
    pub cells: BTreeMap<usize, CellEvidence>,
    /// What workers said of themselves.
    pub about: BTreeMap<String, BTreeMap<String, String>>,
    /// Columns that this machine cannot fill, with the reason.
    pub absent: BTreeMap<String, String>,
    /// Wall time of each cell's very first pass, which is its pilot's, summed over phases, in nanoseconds.
    pub first_pass_ns: BTreeMap<usize, f64>,
    /// A sentence for each part of the record that is not as it was written and is left out.
    pub damage: Vec<String>,
    /// The launch that was being kept when the run was killed, which is left out until it is made again.
    pub lost: Option<usize>,
    /// Cells of launches that are left out for it.
    pub damaged_cells: BTreeSet<usize>,
    /// What disturbed the machine before the run.
    pub preflight: Option<Preflight>,
    seen: BTreeSet<(usize, i32)>,
    expected: HashMap<(usize, u64), Option<u64>>,
}

/// The file in which a run folder keeps the look that was taken before the run.
pub const PREFLIGHT: &str = "preflight.json";

impl Evidence {
    /// Reads the launches that a folder has. What is damaged is named and left out.
    pub fn read(state: &State, folder: &RunFolder) -> Result<Evidence> {
        let mut evidence = Evidence { preflight: folder.read_sealed(PREFLIGHT).ok(), ..Evidence::default() };
        let launches = folder.launches()?;
        let unlisted = folder.unlisted(&launches);
        evidence.damage = launches.damage;
        evidence.count(state, launches.records.len(), &unlisted);
        for record in &launches.records {
            if record.decisions > state.decisions {
                bail!(
                    "{} is damaged: decisions.jsonl has fewer lines than launch {} saw",
                    folder.path().display(),
                    record.launch
                );
            }
            if let Some(cell) = record.cells.iter().find(|cell| **cell >= state.cells.len()) {
                evidence.damage.push(format!("launch {}: no cell {cell} is planned", record.launch));
                continue;
            }
            match folder.transcripts(record) {
                Ok(transcripts) => evidence.add(state, record, &transcripts)?,
                Err(error) => {
                    evidence.damage.push(format!("launch {}: {error:#}", record.launch));
                    evidence.damaged_cells.extend(&record.cells);
                }
            }
        }
        Ok(evidence)
    }

    /// Notes which launches are missing between what was kept and what has a line.
    fn count(&mut self, state: &State, listed: usize, unlisted: &[usize]) {
        match unlisted[..] {
            // Where a line is damaged, its launch is told already; the end of a run tells how many there were.
            _ if !self.damage.is_empty() || state.ended.is_some() => {}
            [] => {}
            [only] => self.lost = Some(only),
            [first, .., last] => self.damage.push(format!(
                "launches.jsonl: the lines of launch {first} to {last} in transcripts.zst are not there"
            )),
        }
        let (kept, said) = (listed + self.damage.len(), state.ended.as_ref().map(|e| e.launches));
        if let Some(said) = said.filter(|said| *said > kept) {
            self.damage.push(format!("launches.jsonl: {said} launches were kept and {kept} lines are there"));
        }
    }

    /// Whether a unit's launch in a block is there already.
    pub fn has(&self, unit: usize, block: u32) -> bool {
        i32::try_from(block).is_ok_and(|block| self.seen.contains(&(unit, block)))
    }

    /// Adds one launch. What is wrong with a transcript is noted against its cells, unless they have been tried one by one.
    pub fn add(&mut self, state: &State, record: &LaunchRecord, transcripts: &Read) -> Result<()> {
        self.lost = self.lost.filter(|lost| *lost != record.launch);
        let tried_again = state.launch_groups.get(record.launch_group).is_some_and(|unit| unit.cells.is_empty());
        for (side, transcript) in record.sides.iter().zip(transcripts) {
            if let Some(reason) = broken(transcript)
                && side.end.is_clean()
                && !tried_again
            {
                for &cell in &record.cells {
                    self.cells
                        .entry(cell)
                        .or_default()
                        .checks
                        .malformed(&format!("launch {}: {reason}", record.launch));
                }
            }
        }
        for transcript in transcripts.iter().flatten() {
            self.about.entry(transcript.worker.clone()).or_insert_with(|| transcript.about.clone());
            self.absent.extend(transcript.absent.clone());
        }
        let stopped = record.sides.iter().any(|s| s.end == End::Stopped);
        if record.block < 0 {
            self.take_pilot(record, transcripts);
        }
        if record.block >= 0 && !stopped {
            self.seen.insert((record.launch_group, record.block));
            let whole = transcripts.iter().all(|t| broken(t).is_none());
            if whole && record.sides.iter().all(|s| s.end.is_clean()) {
                self.take_launch(state, record, transcripts)?;
            }
        }
        Ok(())
    }

    fn take_pilot(&mut self, record: &LaunchRecord, transcripts: &Read) {
        for slot in slots(transcripts).values() {
            let Some(&cell) = record.cells.get(slot.cell) else { continue };
            let wall_ns = slot.phases.iter().fold(0u64, |sum, timed| sum.saturating_add(timed.counts.wall_ns));
            self.first_pass_ns.entry(cell).or_insert(wall_ns as f64);
        }
    }

    fn take_launch(&mut self, state: &State, record: &LaunchRecord, transcripts: &Read) -> Result<()> {
        let slots = slots(transcripts);
        let mut by_cell: BTreeMap<usize, Vec<&Slot>> = BTreeMap::new();
        for slot in slots.values().filter(|s| s.round >= 0) {
            by_cell.entry(slot.cell).or_default().push(slot);
        }
        let endings = transcripts.iter().flatten().flat_map(|t| &t.endings);
        let ended: BTreeSet<usize> = endings.filter_map(|e| e.cell()).map(|cell| cell as usize).collect();
        let about = transcripts.iter().flatten().next().map(|t| &t.about);
        for (number, &cell) in record.cells.iter().enumerate() {
            let mut slots = by_cell.remove(&number).unwrap_or_default();
            slots.sort_by_key(|s| s.round);
            let planned = &state.cells[cell];
            let Some(experiment) = state.plan.experiment(&planned.cell.experiment) else { continue };
            let method = &planned.method;
            let expected = self.expected(state, cell, experiment, method, about);
            let evidence = self.cells.entry(cell).or_default();
            if !ended.contains(&number) {
                evidence.checks.rounds(slots.len(), record.turns(number), record.launch);
                for slot in &slots {
                    let may_lack = if record.proves(slot.round) { &[] } else { experiment.seldom.as_slice() };
                    let seen = (slot.phases.as_slice(), slot.twice);
                    evidence.checks.phases(method, seen, may_lack, record.launch);
                }
            }
            if slots.is_empty() {
                continue;
            }
            for slot in &slots {
                let values = SlotValues { slot, parameters: &planned.cell.parameters, about };
                let proves = record.proves(slot.round);
                evidence.checks.laws(method, &values, record.launch, proves);
                evidence.checks.facts(slot.facts.iter().copied());
                let has_content = matches!(method.role, Role::Method | Role::Published);
                if proves && has_content && experiment.content != Content::None {
                    evidence.checks.digest(slot.facts.iter().copied(), expected, record.launch);
                }
            }
            let mut launch = figures(experiment, method, &slots, record);
            if planned.cell.has_company() {
                launch.interrupted = 0.0;
            }
            evidence.launches.push(launch);
        }
        Ok(())
    }

    /// The digest that a cell's content must have, computed once per cell.
    fn expected(
        &mut self,
        state: &State,
        cell: usize,
        experiment: &Experiment,
        method: &Method,
        about: Option<&BTreeMap<String, String>>,
    ) -> Option<u64> {
        if method.role == Role::Null || method.role == Role::Limit {
            return None;
        }
        let parameters = &state.cells[cell].cell.parameters;
        let number = |key: &str| parameters.get(key).and_then(|v| v.parse::<u64>().ok());
        let bytes = number("bytes")?;
        let page = about.and_then(|a| a.get("page_bytes")).and_then(|v| v.parse().ok()).unwrap_or(4096);
        *self.expected.entry((cell, bytes)).or_insert_with(|| {
            content::expected(experiment.content, bytes, state.plan.seed, page, number("processes").unwrap_or(1))
        })
    }
}

/// Why a transcript cannot be used, if it cannot.
pub fn broken(transcript: &Result<Transcript, String>) -> Option<String> {
    match transcript {
        Err(reason) => Some(reason.clone()),
        Ok(transcript) if !transcript.done => {
            Some("the transcript is truncated: it does not end with \"done\"".to_owned())
        }
        Ok(_) => None,
    }
}

fn figures(experiment: &Experiment, method: &Method, slots: &[&Slot], record: &LaunchRecord) -> CellLaunch {
    // A total counts only where all of it was passed.
    let seldom: Vec<&String> = experiment.seldom.iter().filter(|p| method.phases.contains(p)).collect();
    let total = |name| experiment.totals.iter().find(|t| t.name == name);
    let names: Vec<(&str, Option<&Total>)> = experiment.measures().map(|name| (name, total(name))).collect();
    let mut measures = vec![Figures::default(); names.len()];
    let mut latencies = BTreeMap::new();
    let mut interrupted = 0;
    for slot in slots {
        for ((name, total), into) in names.iter().zip(&mut measures) {
            let lacks =
                |total: &Total| seldom.iter().any(|p| total.phases.contains(p) && of(&slot.phases, p).is_none());
            let counts = match total {
                Some(total) if lacks(total) => None,
                Some(total) => {
                    let mut parts = total.phases.iter().filter_map(|p| of(&slot.phases, p)).copied().peekable();
                    if total.overlap && parts.peek().is_some() {
                        let parts: Vec<Counts> = parts.collect();
                        into.take(&overall(parts.iter()));
                        continue;
                    }
                    parts.reduce(|a, b| added(Counts { ops: a.ops.max(b.ops), bytes: a.bytes.max(b.bytes), ..a }, b))
                }
                None => of(&slot.phases, name).copied(),
            };
            if let Some(counts) = counts {
                into.take(&counts);
            }
        }
        interrupted += u32::from(slot.phases.iter().any(|timed| timed.counts.involuntary_switches > 0));
        for &(low, high, count) in &slot.latencies {
            let sum: &mut u64 = latencies.entry((low, high)).or_insert(0);
            *sum = sum.saturating_add(count);
        }
    }
    CellLaunch {
        launch: record.launch,
        block: record.block,
        measures,
        rounds: slots.iter().map(|s| s.round).collect(),
        latencies,
        interrupted: f64::from(interrupted) / slots.len().max(1) as f64,
        noise: record.noise.clone(),
        wall_s: record.wall_s,
        laboratory_cpu_s: record.laboratory_cpu_s,
    }
}

impl Figures {
    fn take(&mut self, counts: &Counts) {
        self.wall_ns.push(counts.wall_ns as f64);
        self.cpu_ns.push(counts.cpu_ns as f64);
        self.minor_faults.push(counts.minor_faults as f64);
        for (sum, value) in self.sums.iter_mut().zip(counts.to_array()) {
            *sum = sum.wrapping_add(value);
        }
    }

    /// The mean of a column over the rounds.
    pub fn mean(&self, column: &str) -> Option<f64> {
        let index = COLUMNS.iter().position(|c| *c == column)?;
        (!self.wall_ns.is_empty()).then(|| self.sums[index] as f64 / self.wall_ns.len() as f64)
    }
}
