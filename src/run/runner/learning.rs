//! What a launch teaches: cells that are settled, how long a round takes, whom a death is blamed on.

use anyhow::Result;

use super::Runner;
use judge::evidence;
use record::end::End;
use record::launches::{LaunchRecord, SideRecord};
use record::outcome::{Outcome, Status};
use record::plan::{PlannedCell, Unit};
use record::transcript::Ending;
use record::transcript::Read;

impl Runner<'_> {
    /// A cell that will not be launched again. The plan is written at once, so that a killed run knows it too.
    pub(super) fn settle(&mut self, cell: usize, outcome: Outcome) -> Result<()> {
        // The hidden twin would only meet the same end; a hang would cost its time limit once more.
        let settled = self.plan.cells[cell].cell.clone();
        let same =
            |(index, planned): &(usize, &mut PlannedCell)| *index == cell || planned.twin && planned.cell == settled;
        for (_, planned) in self.plan.cells.iter_mut().enumerate().filter(same) {
            planned.outcome.get_or_insert_with(|| outcome.clone());
        }
        self.folder.write_json("plan.json", &self.plan)
    }

    /// Takes what a launch brought: samples, endings, deaths; the pilot's times.
    pub(super) fn learn(&mut self, record: &LaunchRecord) -> Result<()> {
        let transcripts = self.folder.transcripts(record);
        if record.block < 0 {
            self.learn_times(record, &transcripts);
        }
        // What the survivor of a pair complains of is not why the pair ended.
        if let ([_], [_, _]) = (&record.cells[..], &record.sides[..])
            && record.sides.iter().any(killed)
        {
            self.blame(record, None)?;
        }
        let mut named = false;
        for (side, transcript) in record.sides.iter().zip(&transcripts) {
            for ending in transcript.iter().flat_map(|t| &t.endings) {
                let outcome = outcome_of(ending, side, record.oom_killed);
                if let Some(&cell) = ending.cell().and_then(|c| record.cells.get(c as usize)) {
                    // A skip explains the end of a pair, whose other side cannot go on, but not that of a single process.
                    named |= record.sides.len() > 1 || !matches!(ending, Ending::Skip { .. });
                    self.settle(cell, outcome)?;
                }
            }
        }
        let stopped = record.sides.iter().any(|s| s.end == End::Stopped);
        let died = record.sides.iter().any(|s| !s.end.is_clean());
        let broken = transcripts.iter().find_map(evidence::broken);
        if (died && !named || broken.is_some() && !died) && !stopped {
            self.blame(record, broken.as_deref())?;
        }
        self.evidence.add(&self.plan, record, &transcripts)
    }

    fn learn_times(&mut self, record: &LaunchRecord, transcripts: &Read) {
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
            unit.round_s = (last - first) as f64 / 1e9 / f64::from(unit.rounds.max(1));
            unit.start_s = (record.wall_s - unit.round_s * f64::from(unit.rounds + unit.warmup_rounds)).max(0.0);
        }
        self.learn_lengths(record, transcripts);
    }

    /// A launch died or broke the protocol and named no cell. Where there was one cell, it is the one; else each is tried by
    /// itself from now on.
    fn blame(&mut self, record: &LaunchRecord, broken: Option<&str>) -> Result<()> {
        if let [only] = record.cells[..] {
            let other = || record.sides.iter().find(|s| !s.end.is_clean() && s.end != End::OtherSide);
            let side = record.sides.iter().find(|s| killed(s)).or_else(other);
            let outcome = match side.map(|s| (how(s, record), s.message.as_str())) {
                Some((how, "")) => Outcome::of(Status::Failed, how),
                Some((how, message)) => Outcome::of(Status::Failed, format!("{how}: {message}")),
                None => Outcome::of(Status::Untrusted, broken.unwrap_or("the launch ended early")),
            };
            return self.settle(only, outcome);
        }
        let unit = self.plan.units[record.unit].clone();
        self.plan.units[record.unit].cells.clear();
        let rounds = if record.block < 0 { 0 } else { unit.rounds };
        for &cell in &record.cells {
            let split_from = Some(record.unit);
            self.plan.units.push(Unit { cells: vec![cell], rounds, split_from, ..unit.clone() });
        }
        self.folder.write_json("plan.json", &self.plan)
    }
}

/// What SIGBUS says.
const BEHIND_THE_MAPPING: &str =
    ": nothing was behind a mapped page; its file was cut, or its file system or pool was exhausted";

/// Whether a side ended, or hung, through no doing of the other.
fn killed(side: &SideRecord) -> bool {
    matches!(side.end, End::Signal(_) | End::Deaf(_))
}

/// How a process ended; of a pair also which of the two it was.
fn how(side: &SideRecord, record: &LaunchRecord) -> String {
    let words = side.end.words(record.oom_killed);
    let role = record.sides.iter().zip(["a", "b"]).find(|(s, _)| s.transcript == side.transcript);
    match role {
        Some((_, role)) if record.sides.len() > 1 => format!("side {role}, {}: {words}", side.worker),
        _ => words,
    }
}

/// What a worker's own account of a cell means for it.
fn outcome_of(ending: &Ending, side: &SideRecord, oom_killed: bool) -> Outcome {
    match ending {
        Ending::Skip { reason, .. } => Outcome::of(Status::Skipped, reason),
        Ending::Fail { reason, .. } => Outcome::of(Status::Failed, reason),
        Ending::Crash { phase, signal, .. } => {
            let place = if phase == "-" { "between phases".into() } else { format!("in phase {phase}") };
            let how = if signal == "SIGTERM" { side.end.words(oom_killed) } else { format!("{signal} in the worker") };
            // The kernel has no other way to say it to a process that stores into a mapping.
            let why = if signal == "SIGBUS" { BEHIND_THE_MAPPING } else { "" };
            Outcome::of(Status::Failed, format!("{how}, {place}{why}"))
        }
    }
}
