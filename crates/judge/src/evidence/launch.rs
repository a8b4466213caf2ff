//! Results of one launch by itself: read from its transcripts without a look at any other launch.

use crate::evidence::checks::{Checks, DigestsSeen};
use crate::evidence::laws::PlacedLaws;
use crate::evidence::slots::{Slot, added, counts_of, overall, slots};
use record::experiment::{Content, Experiment, Total};
use record::launches::{COUNTED, LaunchRecord};
use record::method::{Method, Role};
use record::state::{Stage, State};
use record::transcript::{COLUMNS, Counts, Read, Transcript};
use record::{launches::End, machine::preflight::NoiseDelta, machine_state::LostProof};
use std::collections::{BTreeMap, BTreeSet};

/// Figures of one phase or total in one launch, round by round.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub wall_ns: Vec<f64>,
    pub cpu_ns: Vec<f64>,
    pub minor_faults: Vec<f64>,
    /// Sums over rounds of every base column, in the protocol's order.
    pub sums: [u64; 11],
}

/// One launch of one cell.
#[derive(Clone, Debug)]
pub struct CellLaunch {
    pub launch: usize,
    pub block: i32,
    /// Figures by phase or total, in the order of [`Experiment::measures`].
    pub measures: Vec<Figures>,
    /// The rounds that are there, in order; the same for all measures.
    pub rounds: Vec<i32>,
    /// Latencies: lower and upper bound of each bucket in nanoseconds, and its count.
    pub latencies: BTreeMap<(u64, u64), u64>,
    /// Share of the launch's rounds in which the process was switched out against its will in one and the same phase, the one
    /// that met it most often; zero where the cell's own processes and threads may have done it.
    pub interrupted: f64,
    pub noise: Option<NoiseDelta>,
    pub wall_s: f64,
    pub laboratory_cpu_s: f64,
}

/// Results of one launch.
#[derive(Debug, Default)]
pub struct LaunchEvidence {
    /// Errors in a transcript of a side that ended well.
    pub(crate) malformed: Vec<String>,
    pub(crate) about: Vec<(String, BTreeMap<String, String>)>,
    /// Columns that this machine cannot fill, with the reason.
    pub(crate) absent: BTreeMap<String, String>,
    /// Wall time of the first pass of each cell, if it is a pilot, in nanoseconds.
    pub(crate) first_pass_ns: Vec<(usize, f64)>,
    /// Counts of single passes, if it is a counted launch.
    pub(crate) counts: Vec<PassCount>,
    /// True if it is a replicate that was not stopped.
    pub(crate) in_block: bool,
    pub(crate) lost_state: Option<LostProof>,
    pub(crate) page_bytes: u64,
    pub(crate) cells: Vec<CellBrought>,
}

#[derive(Debug)]
pub(crate) struct PassCount {
    /// The cell's number in the plan.
    pub cell: usize,
    pub phase: String,
    /// `calls`, `minor_faults` …
    pub name: String,
    pub count: u64,
}

#[derive(Debug)]
pub(crate) struct CellBrought {
    pub cell: usize,
    pub checks: Checks,
    pub digests: Option<DigestsSeen>,
    /// Its figures; none where it had no turn.
    pub launch: Option<CellLaunch>,
}

impl LaunchEvidence {
    /// By what its sides wrote. Each of its cells is one of the plan's.
    pub fn by(state: &State, record: &LaunchRecord, transcripts: &Read) -> LaunchEvidence {
        let mut verified = LaunchEvidence {
            page_bytes: 4096,
            ..LaunchEvidence::default()
        };
        let tried_again = state
            .launch_groups
            .get(record.launch_group)
            .is_some_and(|group| group.stage == Stage::Split);
        for (side, transcript) in record.sides.iter().zip(transcripts) {
            verified
                .malformed
                .extend(broken(transcript).filter(|_| side.end.is_clean() && !tried_again));
        }
        for transcript in transcripts.iter().flatten() {
            verified
                .about
                .push((transcript.worker.clone(), transcript.about.clone()));
            verified.absent.extend(transcript.absent.clone());
        }
        let stopped = record.sides.iter().any(|s| s.end == End::Stopped);
        if record.block == COUNTED {
            transcripts
                .iter()
                .flatten()
                .for_each(|transcript| verified.take_counts(record, transcript));
        } else if record.block < 0 {
            verified.take_pilot(record, transcripts);
        }
        if record.block >= 0 && !stopped {
            verified.in_block = true;
            let whole = transcripts.iter().all(|t| broken(t).is_none());
            verified.lost_state = record
                .state
                .as_ref()
                .and_then(|state| state.lost.first().cloned());
            if whole
                && verified.lost_state.is_none()
                && record.sides.iter().all(|s| s.end.is_clean())
            {
                verified.take_launch(state, record, transcripts);
            }
        }
        verified
    }

    fn take_counts(&mut self, record: &LaunchRecord, transcript: &Transcript) {
        for sample in transcript.samples.iter().filter(|sample| sample.round >= 0) {
            let Some(&cell) = record.cells.get(sample.cell as usize) else {
                continue;
            };
            let phase = &transcript.phases[usize::from(sample.phase)];
            let further = transcript
                .extra_columns
                .iter()
                .map(String::as_str)
                .zip(sample.extra.iter().copied());
            let faults = [
                ("minor_faults", sample.counts.minor_faults),
                ("major_faults", sample.counts.major_faults),
            ];
            let count = |(name, count): (&str, u64)| {
                let (phase, name) = (phase.to_string(), name.to_owned());
                PassCount {
                    cell,
                    phase,
                    name,
                    count,
                }
            };
            self.counts
                .extend(faults.into_iter().chain(further).map(count));
        }
    }

    fn take_pilot(&mut self, record: &LaunchRecord, transcripts: &Read) {
        for slot in slots(transcripts).values() {
            let Some(&cell) = record.cells.get(slot.cell) else {
                continue;
            };
            let wall_ns = slot
                .phases
                .iter()
                .fold(0u64, |sum, timed| sum.saturating_add(timed.counts.wall_ns));
            self.first_pass_ns.push((cell, wall_ns as f64));
        }
    }

    fn take_launch(&mut self, state: &State, record: &LaunchRecord, transcripts: &Read) {
        let slots = slots(transcripts);
        let mut by_cell: BTreeMap<usize, Vec<&Slot>> = BTreeMap::new();
        for slot in slots.values().filter(|s| s.round >= 0) {
            by_cell.entry(slot.cell).or_default().push(slot);
        }
        let endings = transcripts.iter().flatten().flat_map(|t| &t.endings);
        let ended: BTreeSet<usize> = endings
            .filter_map(|e| e.cell())
            .map(|cell| cell as usize)
            .collect();
        let about = transcripts.iter().flatten().next().map(|t| &t.about);
        if let Some(page) = about
            .and_then(|a| a.get("page_bytes"))
            .and_then(|v| v.parse().ok())
        {
            self.page_bytes = page;
        }
        for (number, &cell) in record.cells.iter().enumerate() {
            let mut slots = by_cell.remove(&number).unwrap_or_default();
            slots.sort_by_key(|s| s.round);
            let planned = &state.cells[cell];
            let Some(experiment) = state.plan.experiment(&planned.cell.experiment) else {
                continue;
            };
            let (method, parameters) = (&planned.method, &planned.cell.parameters);
            let mut checks = Checks::default();
            if !ended.contains(&number) {
                checks.rounds(slots.len(), record.turns(number), record.launch);
                for slot in &slots {
                    let may_lack = if record.proves(slot.round) {
                        &[]
                    } else {
                        experiment.seldom.as_slice()
                    };
                    checks.phases(
                        method,
                        (slot.phases.as_slice(), slot.twice),
                        may_lack,
                        record.launch,
                    );
                }
            }
            let has_content = matches!(method.role, Role::Method | Role::Published)
                && experiment.content != Content::None;
            let mut digests = (has_content && !slots.is_empty()).then(DigestsSeen::default);
            let relieved = record
                .state
                .as_ref()
                .map_or(&[][..], |state| &state.relieves);
            let applying = method.laws.iter().filter(|law| {
                !relieved
                    .iter()
                    .any(|fact| law.operands().contains(fact.as_str()))
            });
            let mut laws = PlacedLaws::placed(applying, parameters, about);
            for slot in &slots {
                let proves = record.proves(slot.round);
                laws.ask(slot, record.launch, proves);
                checks.facts(slot.facts.iter().copied());
                if let Some(digests) = digests.as_mut().filter(|_| proves) {
                    digests.take(slot.facts.iter().copied());
                }
            }
            checks.laws(laws.seen());
            let launch = (!slots.is_empty()).then(|| {
                let mut launch = figures(experiment, method, &slots, record);
                launch.noise = launch.noise.map(|noise| noise.without(relieved));
                if planned.cell.has_company() || method.has_helpers() {
                    launch.interrupted = 0.0;
                }
                launch
            });
            self.cells.push(CellBrought {
                cell,
                checks,
                digests,
                launch,
            });
        }
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

fn figures(
    experiment: &Experiment,
    method: &Method,
    slots: &[&Slot],
    record: &LaunchRecord,
) -> CellLaunch {
    // A total counts only where all of it was passed.
    let seldom: Vec<&String> = experiment
        .seldom
        .iter()
        .filter(|p| method.phases.contains(p))
        .collect();
    let total = |name| experiment.totals.iter().find(|t| t.name == name);
    let names: Vec<(&str, Option<&Total>)> = experiment
        .measures()
        .map(|name| (name, total(name)))
        .collect();
    let mut measures = vec![Figures::default(); names.len()];
    let mut latencies = BTreeMap::new();
    let mut interrupted: BTreeMap<&str, u32> = BTreeMap::new();
    for slot in slots {
        for ((name, total), into) in names.iter().zip(&mut measures) {
            let lacks = |total: &Total| {
                seldom
                    .iter()
                    .any(|p| total.phases.contains(p) && counts_of(&slot.phases, p).is_none())
            };
            let counts = match total {
                Some(total) if lacks(total) => None,
                Some(total) => {
                    let mut parts = total
                        .phases
                        .iter()
                        .filter_map(|p| counts_of(&slot.phases, p))
                        .copied()
                        .peekable();
                    if total.overlap && parts.peek().is_some() {
                        let parts: Vec<Counts> = parts.collect();
                        into.take(&overall(parts.iter()));
                        continue;
                    }
                    parts.reduce(|a, b| {
                        added(
                            Counts {
                                ops: a.ops.max(b.ops),
                                bytes: a.bytes.max(b.bytes),
                                ..a
                            },
                            b,
                        )
                    })
                }
                None => counts_of(&slot.phases, name).copied(),
            };
            if let Some(counts) = counts {
                into.take(&counts);
            }
        }
        for timed in slot
            .phases
            .iter()
            .filter(|timed| timed.counts.involuntary_switches > 0)
        {
            *interrupted.entry(&timed.name).or_insert(0) += 1;
        }
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
        interrupted: f64::from(interrupted.into_values().max().unwrap_or(0))
            / slots.len().max(1) as f64,
        noise: record.noise.clone(),
        wall_s: record.wall_s,
        laboratory_cpu_s: record.laboratory_cpu_s,
    }
}

impl Figures {
    pub(crate) fn take(&mut self, counts: &Counts) {
        self.wall_ns.push(counts.wall_ns as f64);
        self.cpu_ns.push(counts.cpu_ns as f64);
        self.minor_faults.push(counts.minor_faults as f64);
        for (sum, value) in self.sums.iter_mut().zip(counts.to_array()) {
            *sum = sum.wrapping_add(value);
        }
    }

    pub fn mean(&self, column: &str) -> Option<f64> {
        let index = COLUMNS.iter().position(|c| *c == column)?;
        (!self.wall_ns.is_empty()).then(|| self.sums[index] as f64 / self.wall_ns.len() as f64)
    }
}
