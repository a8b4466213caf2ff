//! Results of one launch by itself: read from its transcripts without a look at any other launch.

use crate::evidence::checks::{Checks, DigestsSeen};
use crate::evidence::laws::PlacedLaws;
use crate::evidence::slots::{Slot, added, counts_of, overall, slots};
use record::experiment::{Content, Experiment, Total};
use record::launches::{COUNTED, LaunchRecord};
use record::method::Role;
use record::plan::PlannedCell;
use record::state::{Stage, State};
use record::transcript::{COLUMNS, Counts, Read, Transcript};
use record::{launches::End, machine::preflight::NoiseDelta, machine_state::LostProof};
use std::collections::{BTreeMap, BTreeSet};

/// The fact by which a published job, such as a Go benchmark, says how often a sample made the whole of it. Its figures are
/// those of one time: samples of two methods that go on for as long take as long.
const ITERATIONS: &str = "iterations";

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
    /// Latencies of the same operations while nothing else of the cell ran.
    pub idle: BTreeMap<(u64, u64), u64>,
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
    pub(crate) cells: Vec<VerifiedCell>,
}

/// One count of a single pass.
#[derive(Debug)]
pub(crate) struct PassCount {
    /// The cell's number in the plan.
    pub cell: usize,
    pub phase: String,
    /// `calls`, `minor_faults` …
    pub name: String,
    pub count: u64,
}

/// One cell of a launch.
#[derive(Debug)]
pub(crate) struct VerifiedCell {
    pub cell: usize,
    pub checks: Checks,
    pub digests: Option<DigestsSeen>,
    /// Its figures; none where it had no turn.
    pub launch: Option<CellLaunch>,
}

impl LaunchEvidence {
    /// The results by what its sides wrote. Each of its cells is one of the plan's.
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
            let faults = [
                ("minor_faults", sample.counts.minor_faults),
                ("major_faults", sample.counts.major_faults),
            ];
            let extra = transcript.extra_columns.iter().map(String::as_str);
            for (name, count) in faults
                .into_iter()
                .chain(extra.zip(sample.extra.iter().copied()))
            {
                self.counts.push(PassCount {
                    cell,
                    phase: phase.to_string(),
                    name: name.to_owned(),
                    count,
                });
            }
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
        let ended: BTreeSet<usize> = transcripts
            .iter()
            .flatten()
            .flat_map(|transcript| &transcript.endings)
            .filter_map(|ending| ending.cell())
            .map(|cell| cell as usize)
            .collect();
        let about = transcripts.iter().flatten().next().map(|t| &t.about);
        if let Some(page) = about
            .and_then(|about| about.get("page_bytes"))
            .and_then(|bytes| bytes.parse().ok())
        {
            self.page_bytes = page;
        }
        for (number, &cell) in record.cells.iter().enumerate() {
            let mut slots = by_cell.remove(&number).unwrap_or_default();
            slots.sort_by_key(|slot| slot.round);
            let planned = &state.cells[cell];
            let Some(experiment) = state.plan.experiment(&planned.cell.experiment) else {
                continue;
            };
            let slots = CellSlots {
                experiment,
                planned,
                record,
                slots,
            };
            let mut checks = Checks::default();
            if !ended.contains(&number) {
                slots.check_phases(&mut checks, record.turns(number));
            }
            slots.check_proofs(&mut checks, about);
            self.cells.push(VerifiedCell {
                cell,
                checks,
                digests: slots.digests(),
                launch: slots.launch(),
            });
        }
    }
}

/// Latency counts of a slot: those beside its work, or the idle ones.
type Buckets = for<'s> fn(&'s Slot) -> &'s [(u64, u64, u64)];

/// The slots of one cell in a launch by round, with all that they are judged by.
struct CellSlots<'a> {
    experiment: &'a Experiment,
    planned: &'a PlannedCell,
    record: &'a LaunchRecord,
    slots: Vec<&'a Slot<'a>>,
}

impl CellSlots<'_> {
    /// Checks that the cell had its turns, and the phases of its method in each.
    fn check_phases(&self, checks: &mut Checks, turns: u32) {
        checks.rounds(self.slots.len(), turns, self.record.launch);
        for slot in &self.slots {
            let may_lack = if self.record.proves(slot.round) {
                &[]
            } else {
                self.experiment.sampled.as_slice()
            };
            checks.phases(&self.planned.method, slot, may_lack, self.record.launch);
        }
    }

    /// Checks the laws of the method and collects the facts, of a worker that said this of itself.
    fn check_proofs(&self, checks: &mut Checks, about: Option<&BTreeMap<String, String>>) {
        let relieved = self.relieved();
        let laws = self.planned.method.laws.iter().filter(|law| {
            !relieved
                .iter()
                .any(|fact| law.operands().contains(fact.as_str()))
        });
        let mut laws = PlacedLaws::placed(laws, &self.planned.cell.parameters, about);
        for slot in &self.slots {
            laws.ask(slot, self.record.launch, self.record.proves(slot.round));
            checks.facts(slot.facts.iter().copied());
        }
        checks.laws(laws.seen());
    }

    /// Facts and counters that the state of the machine takes from the method.
    fn relieved(&self) -> &[String] {
        self.record
            .state
            .as_ref()
            .map_or(&[], |state| &state.relieves)
    }

    /// The digests of the rounds that prove, of a cell whose content is compared.
    fn digests(&self) -> Option<DigestsSeen> {
        let has_content = matches!(self.planned.method.role, Role::Method | Role::Published)
            && self.experiment.content != Content::None;
        if !has_content || self.slots.is_empty() {
            return None;
        }
        let mut digests = DigestsSeen::default();
        for slot in &self.slots {
            if self.record.proves(slot.round) {
                digests.take(slot.facts.iter().copied());
            }
        }
        Some(digests)
    }

    /// The cell's figures; none where it had no turn.
    fn launch(&self) -> Option<CellLaunch> {
        if self.slots.is_empty() {
            return None;
        }
        let noise = self.record.noise.clone();
        Some(CellLaunch {
            launch: self.record.launch,
            block: self.record.block,
            measures: self.measures(),
            rounds: self.slots.iter().map(|slot| slot.round).collect(),
            latencies: self.buckets(|slot| &slot.latencies),
            idle: self.buckets(|slot| &slot.idle),
            interrupted: self.interrupted_share(),
            noise: noise.map(|noise| noise.without(self.relieved())),
            wall_s: self.record.wall_s,
            laboratory_cpu_s: self.record.laboratory_cpu_s,
        })
    }

    fn measures(&self) -> Vec<Figures> {
        let mut sampled: Vec<&String> = self.experiment.sampled.iter().collect();
        sampled.retain(|phase| self.planned.method.phases.contains(phase));
        let totals = &self.experiment.totals;
        self.experiment
            .measures()
            .map(|name| {
                let total = totals.iter().find(|total| total.name == name);
                let mut figures = Figures::default();
                for slot in &self.slots {
                    let counts = match total {
                        Some(total) => total_counts(total, slot, &sampled),
                        None => counts_of(&slot.phases, name).copied(),
                    };
                    if let Some(counts) = counts {
                        figures.take(&of_each(counts, self.times(slot)));
                    }
                }
                figures
            })
            .collect()
    }

    /// Number of times that a sample of a published job made the whole of it.
    fn times(&self, slot: &Slot) -> u64 {
        let is_published = self.planned.method.role == Role::Published;
        let fact = slot.facts.iter().find(|(name, _)| name == ITERATIONS);
        let times = fact.filter(|_| is_published).map(|(_, number)| number);
        times
            .and_then(|number| number.parse().ok())
            .unwrap_or(1)
            .max(1)
    }

    /// Latencies of all slots together.
    fn buckets(&self, kind: Buckets) -> BTreeMap<(u64, u64), u64> {
        let mut buckets = BTreeMap::new();
        for &(low, high, count) in self.slots.iter().flat_map(|slot| kind(slot)) {
            let sum: &mut u64 = buckets.entry((low, high)).or_insert(0);
            *sum = sum.saturating_add(count);
        }
        buckets
    }

    /// The share of rounds in which one and the same phase was switched out against its will; zero where the cell's own
    /// processes and threads may have done it.
    fn interrupted_share(&self) -> f64 {
        if self.planned.cell.is_concurrent() || self.planned.method.has_helpers() {
            return 0.0;
        }
        let mut interrupted: BTreeMap<&str, u32> = BTreeMap::new();
        for timed in self.slots.iter().flat_map(|slot| &slot.phases) {
            if is_interrupted(&timed.counts) {
                *interrupted.entry(&timed.name).or_insert(0) += 1;
            }
        }
        let most = interrupted.into_values().max().unwrap_or(0);
        f64::from(most) / self.slots.len().max(1) as f64
    }
}

/// True if a phase was switched out against its will by others. One that also waited has a partner (a pipe's reader, a device),
/// which takes the CPU when it is woken.
fn is_interrupted(counts: &Counts) -> bool {
    counts.involuntary_switches > 0 && counts.voluntary_switches == 0
}

/// The phases of a total added up, where the slot passed all of it: those that are sampled may be missing.
fn total_counts(total: &Total, slot: &Slot, sampled: &[&String]) -> Option<Counts> {
    let is_missing = sampled
        .iter()
        .any(|phase| total.phases.contains(phase) && counts_of(&slot.phases, phase).is_none());
    if is_missing {
        return None;
    }
    let mut parts = total
        .phases
        .iter()
        .filter_map(|phase| counts_of(&slot.phases, phase))
        .peekable();
    if total.overlap && parts.peek().is_some() {
        return Some(overall(parts));
    }
    parts.copied().reduce(one_after_the_other)
}

/// Counts of one of so many times that a job was made.
fn of_each(counts: Counts, times: u64) -> Counts {
    let mut values = counts.to_array();
    for (name, value) in COLUMNS.iter().zip(&mut values) {
        if *name != "start_ns" {
            *value /= times;
        }
    }
    Counts::from_array(values)
}

/// Counts of two phases together, on the same work.
fn one_after_the_other(a: Counts, b: Counts) -> Counts {
    let first = Counts {
        ops: a.ops.max(b.ops),
        bytes: a.bytes.max(b.bytes),
        ..a
    };
    added(first, b)
}

/// The reason why a transcript cannot be used, if it cannot.
pub fn broken(transcript: &Result<Transcript, String>) -> Option<String> {
    match transcript {
        Err(reason) => Some(reason.clone()),
        Ok(transcript) if !transcript.done => {
            Some("the transcript is truncated: it does not end with \"done\"".to_owned())
        }
        Ok(_) => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_several_times_counts_for_one() {
        let counts = Counts {
            ops: 1024,
            start_ns: 77,
            wall_ns: 10_000,
            minor_faults: 1025,
            ..Counts::default()
        };
        let once = of_each(counts, 4);
        assert_eq!(
            (once.ops, once.wall_ns, once.minor_faults),
            (256, 2500, 256)
        );
        assert_eq!((once.start_ns, of_each(counts, 1)), (77, counts));
    }

    /// The second is a writer into a pipe, whose reader takes the CPU at each write (seen with vmsplice: 837 to 29).
    #[test]
    fn a_phase_that_also_waits_is_not_interrupted_by_others() {
        let counts = |involuntary_switches, voluntary_switches| Counts {
            involuntary_switches,
            voluntary_switches,
            ..Counts::default()
        };
        let cases = [(1, 0), (837, 29), (0, 5), (0, 0)];
        let interrupted = cases.map(|(by_force, waits)| is_interrupted(&counts(by_force, waits)));
        assert_eq!(interrupted, [true, false, false, false]);
    }
}
