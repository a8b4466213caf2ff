//! What a launch teaches: cells that are settled, how long a round takes, whom a death is blamed on.

use anyhow::Result;
use judge::brought;
use record::decision::What;
use record::end::End;
use record::launches::{LaunchRecord, SideRecord};
use record::outcome::{Outcome, Status};
use record::plan::PlannedCell;
use record::transcript::{Ending, Read};

use super::{Asked, Runner};

impl Runner<'_> {
    /// A cell that will not be launched again.
    pub(super) fn settle(&mut self, cell: usize, outcome: Outcome) -> Result<()> {
        // The hidden twin would only meet the same end; a hang would cost its time limit once more.
        let settled = &self.state.cells[cell].cell;
        let same = |index: usize, planned: &PlannedCell| index == cell || planned.twin && planned.cell == *settled;
        let all = self.state.cells.iter().enumerate().filter(|(index, p)| p.outcome.is_none() && same(*index, p));
        let cells: Vec<usize> = all.map(|(index, _)| index).collect();
        if cells.is_empty() {
            return Ok(());
        }
        self.decide("a launch showed it", What::Settled { cells, outcome })
    }

    /// Takes what a launch brought: samples, endings, deaths; the pilot's times.
    pub(super) fn learn(&mut self, record: &LaunchRecord, asked: Asked) -> Result<()> {
        let transcripts = self.folder.transcripts(record)?;
        let stopped = record.sides.iter().any(|s| s.end == End::Stopped);
        if (record.block < 0 || !self.state.launch_groups[record.launch_group].timed) && !stopped {
            self.learn_times(record, &transcripts, asked)?;
        }
        let bereft = record.sides.len() > 1 && record.sides.iter().any(killed);
        if let ([_], true) = (&record.cells[..], bereft) {
            self.blame(record, None)?;
        }
        let mut named = false;
        // What the survivor of a pair complains of is not why the pair ended.
        let heard = record.sides.iter().zip(&transcripts).filter(|(side, _)| !bereft || killed(side));
        for (side, transcript) in heard {
            for ending in transcript.iter().flat_map(|t| &t.endings) {
                let outcome = outcome_of(ending, side, record.oom_killed);
                if let Some(&cell) = ending.cell().and_then(|c| record.cells.get(c as usize)) {
                    // A skip explains the end of a pair, whose other side cannot go on, but not that of a single process.
                    named |= record.sides.len() > 1 || !matches!(ending, Ending::Skip { .. });
                    self.settle(cell, outcome)?;
                }
            }
        }
        let died = record.sides.iter().any(|s| !s.end.is_clean());
        let broken = transcripts.iter().find_map(brought::broken);
        if (died && !named || broken.is_some() && !died) && !stopped {
            self.blame(record, broken.as_deref())?;
        }
        self.evidence.add(&self.state, record, &transcripts);
        Ok(())
    }

    fn learn_times(&mut self, record: &LaunchRecord, transcripts: &Read, asked: Asked) -> Result<()> {
        let launch_group = record.launch_group;
        let samples = transcripts.iter().flatten().flat_map(|t| &t.samples);
        let measured = samples.filter(|s| s.round >= 0);
        let (mut first, mut last) = (u64::MAX, 0);
        for sample in measured {
            first = first.min(sample.counts.start_ns);
            last = last.max(sample.counts.start_ns.saturating_add(sample.counts.wall_ns));
        }
        self.learn_lengths(record, transcripts);
        let group = &self.state.launch_groups[launch_group];
        let (round_s, start_s) = if group.fresh || first >= last {
            (record.wall_s, group.start_s)
        } else {
            let round_s = (last - first) as f64 / 1e9 / f64::from(asked.rounds.max(1));
            (round_s, (record.wall_s - round_s * f64::from(asked.rounds + asked.warmup_rounds)).max(0.0))
        };
        self.decide("a launch that is not judged took as long", What::Timed { launch_group, round_s, start_s })
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
        let why = "a launch of these cells died and did not say which of them it was";
        self.decide(why, What::Split { launch_group: record.launch_group, cells: record.cells.clone() })
    }
}

/// What SIGBUS says.
const BEHIND_THE_MAPPING: &str =
    ": nothing was behind a mapped page; its file was cut, its device failed, or its file system or pool was exhausted";

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
