//! Results of a run's launches, verified: figures by cell, phase and launch; laws, facts and digests with them.

pub mod agreement;
pub mod checks;
pub mod content;
pub mod flags;
pub mod launch;
pub(crate) mod laws;
pub(crate) mod pairs;
pub mod reused;
pub(crate) mod slots;

use crate::evidence::checks::Checks;
use crate::evidence::content::Expected;
pub use crate::evidence::launch::{CellLaunch, Figures};
use crate::evidence::launch::{LaunchEvidence, PassCount};
use crate::evidence::pairs::Pairs;
use anyhow::Result;
use record::folder::{Damaged, RunFolder, lost};
use record::{
    launches::LaunchRecord, machine::preflight::Preflight, machine_state::LostProof, method::Role,
    outcome::LaunchFault, state::State, summary::CountSummary, transcript::Read,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Everything known of one cell.
#[derive(Clone, Debug, Default)]
pub struct CellEvidence {
    pub launches: Vec<CellLaunch>,
    pub checks: Checks,
    /// Counts of single passes by phase and name.
    pub counts: BTreeMap<String, BTreeMap<String, CountSummary>>,
}

/// Everything known of a run.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Evidence by cell of the plan.
    pub cells: BTreeMap<usize, CellEvidence>,
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
    /// Launches of each cell whose state the machine lost, with the first broken proof. They are not judged.
    pub lost_states: BTreeMap<usize, (usize, LostProof)>,
    pub preflight: Option<Preflight>,
    seen: BTreeSet<(usize, i32)>,
    expected: HashMap<Expected, Option<u64>>,
    pairs: Pairs,
}

/// The file in which a run folder keeps the look that was taken before the run.
pub const PREFLIGHT: &str = "preflight.json";

/// Reads one launch of a run, by its place among them.
pub type ReadOne<'a> = &'a (dyn Fn(usize) -> Result<LaunchEvidence> + Sync);

/// Reads so many launches and gives their results in their order. Who may use threads shares them out.
pub type Reading<'a> = dyn Fn(usize, ReadOne) -> Vec<Result<LaunchEvidence>> + 'a;

/// Each launch in its turn.
pub fn one_by_one(launches: usize, read: ReadOne) -> Vec<Result<LaunchEvidence>> {
    (0..launches).map(read).collect()
}

/// A cell of a launch that the plan does not have.
fn unplanned(state: &State, record: &LaunchRecord) -> Option<usize> {
    let mut cells = record.cells.iter().copied();
    cells.find(|cell| *cell >= state.cells.len())
}

impl Evidence {
    /// Reads the launches that a folder has. What is damaged is named and left out.
    pub fn read(state: &State, folder: &RunFolder) -> Result<Evidence> {
        Evidence::read_by(state, folder, &one_by_one)
    }

    /// The same where somebody else decides in what order and by how many threads the launches are read.
    pub fn read_by(state: &State, folder: &RunFolder, reading: &Reading) -> Result<Evidence> {
        let mut evidence = Evidence {
            preflight: folder
                .read_sealed(PREFLIGHT)
                .ok()
                .filter(Preflight::has_looked),
            ..Evidence::default()
        };
        let launches = folder.launches()?;
        let unlisted = folder.unlisted(&launches);
        evidence.damage = launches.damage;
        evidence.count(state, launches.records.len(), &unlisted);
        let (records, reader) = (&launches.records, folder.reader());
        let verified = reading(records.len(), &|number| {
            let record = &records[number];
            if unplanned(state, record).is_some() {
                return Ok(LaunchEvidence::default());
            }
            let transcripts = reader.transcripts(record)?;
            Ok(LaunchEvidence::by(state, record, &transcripts))
        });
        for (record, verified) in records.iter().zip(verified) {
            if record.decisions > state.decisions {
                let seen = format!(
                    "decisions.jsonl has fewer lines than launch {} saw",
                    record.launch
                );
                return Err(Damaged {
                    path: folder.path().to_owned(),
                    seen,
                }
                .into());
            }
            if let Some(cell) = unplanned(state, record) {
                evidence.damage.push(format!(
                    "launch {}: no cell {cell} is planned",
                    record.launch
                ));
                continue;
            }
            match verified {
                Ok(verified) => evidence.take(state, record, verified),
                Err(error) => {
                    evidence
                        .damage
                        .push(format!("launch {}: {error:#}", record.launch));
                    evidence.damaged_cells.extend(&record.cells);
                }
            }
        }
        Ok(evidence)
    }

    /// Notes which launches are missing between what was kept and what has a line.
    fn count(&mut self, state: &State, listed: usize, unlisted: &[usize]) {
        match unlisted[..] {
            // Where a line is damaged, its launch is named already; the end of a run says how many there were.
            _ if !self.damage.is_empty() || state.ended.is_some() => {}
            [] => {}
            [only] => self.lost = Some(only),
            [first, .., last] => self
                .damage
                .push(format!("launches.jsonl: the lines of launch {first} to {last} in transcripts.zst are not there")),
        }
        let counted = state.ended.as_ref().map(|ended| ended.launches);
        self.damage
            .extend(counted.and_then(|counted| lost(listed + self.damage.len(), counted)));
    }

    /// Tells whether a unit's launch in a block is there already.
    pub fn has(&self, unit: usize, block: u32) -> bool {
        i32::try_from(block).is_ok_and(|block| self.seen.contains(&(unit, block)))
    }

    /// Leaves a cell out that is not judged.
    pub(crate) fn leave_out(&mut self, cell: usize) {
        self.cells.remove(&cell);
        self.damaged_cells.remove(&cell);
        self.lost_states.remove(&cell);
        self.first_pass_ns.remove(&cell);
    }

    /// Adds one launch. What is wrong with a transcript is noted against its cells, unless they have been tried one by one.
    pub fn add(&mut self, state: &State, record: &LaunchRecord, transcripts: &Read) {
        self.take(
            state,
            record,
            LaunchEvidence::by(state, record, transcripts),
        );
    }

    fn take(&mut self, state: &State, record: &LaunchRecord, verified: LaunchEvidence) {
        self.lost = self.lost.filter(|lost| *lost != record.launch);
        if let Some(error) = verified.malformed.first() {
            for &cell in &record.cells {
                let fault = LaunchFault::Transcript {
                    error: error.clone(),
                };
                self.cells
                    .entry(cell)
                    .or_default()
                    .checks
                    .wrong(record.launch, fault);
            }
        }
        for (worker, about) in verified.about {
            self.about.entry(worker).or_insert(about);
        }
        self.absent.extend(verified.absent);
        for (cell, wall_ns) in verified.first_pass_ns {
            self.first_pass_ns.entry(cell).or_insert(wall_ns);
        }
        for PassCount {
            cell,
            phase,
            name,
            count,
        } in verified.counts
        {
            let phases = &mut self.cells.entry(cell).or_default().counts;
            phases
                .entry(phase)
                .or_default()
                .entry(name)
                .or_default()
                .add(count);
        }
        if let Some(lost) = verified.lost_state {
            for &cell in &record.cells {
                self.lost_states
                    .entry(cell)
                    .or_insert_with(|| (0, lost.clone()))
                    .0 += 1;
            }
        }
        if verified.in_block {
            self.seen.insert((record.launch_group, record.block));
        }
        for cell in verified.cells {
            let expected = cell
                .digests
                .as_ref()
                .and_then(|_| self.expected(state, cell.cell, verified.page_bytes));
            let evidence = self.cells.entry(cell.cell).or_default();
            evidence.checks.join(cell.checks);
            if let Some(digests) = cell.digests {
                evidence.checks.digests(digests, expected, record.launch);
            }
            evidence.launches.extend(cell.launch);
        }
    }

    /// The digest that a cell's content must have, computed once for all cells of the same content.
    fn expected(&mut self, state: &State, cell: usize, page_bytes: u64) -> Option<u64> {
        let planned = &state.cells[cell];
        if matches!(planned.method.role, Role::Null | Role::Limit) {
            return None;
        }
        let experiment = state.plan.experiment(&planned.cell.experiment)?;
        let parameters = &planned.cell.parameters;
        let expected = Expected {
            content: experiment.content,
            bytes: parameters.bytes()?,
            seed: state.plan.seed,
            page_bytes,
            processes: parameters.number("processes").unwrap_or(1),
        };
        let digest = || expected.digest();
        *self.expected.entry(expected).or_insert_with(digest)
    }
}
