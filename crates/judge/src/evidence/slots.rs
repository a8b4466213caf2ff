//! The slots of a launch: all that each turn of a cell timed and recorded, those of both sides together.

use record::transcript::{Counts, OVERALL, Read};
use std::{borrow::Cow, collections::BTreeMap};

/// A phase that a slot timed.
#[derive(Clone, Debug)]
pub(crate) struct TimedPhase<'a> {
    /// Its name; `PHASE.b` where both sides timed it and this is the second's.
    pub name: Cow<'a, str>,
    pub counts: Counts,
    /// The side that timed it and its number there; none where the laboratory made it of others.
    by: Option<(usize, u16)>,
}

impl<'a> TimedPhase<'a> {
    pub fn by_laboratory(name: &'a str, counts: Counts) -> TimedPhase<'a> {
        TimedPhase {
            name: Cow::Borrowed(name),
            counts,
            by: None,
        }
    }
}

/// A phase by its name. A slot has a handful of them.
pub(crate) fn counts_of<'s>(phases: &'s [TimedPhase], name: &str) -> Option<&'s Counts> {
    phases
        .iter()
        .find(|timed| timed.name == name)
        .map(|timed| &timed.counts)
}

/// One turn of a cell.
#[derive(Default)]
pub(crate) struct Slot<'a> {
    pub round: i32,
    pub cell: usize,
    pub phases: Vec<TimedPhase<'a>>,
    pub twice: Option<&'a str>,
    pub facts: Vec<&'a (String, String)>,
    pub latencies: Vec<(u64, u64, u64)>,
    pub idle: Vec<(u64, u64, u64)>,
}

/// Groups the samples of all sides by slot. A phase that both sides timed is side a's; side b's is kept as `PHASE.b`. With two
/// sides, `overall` runs from the earliest start to the latest end.
pub(crate) fn slots(transcripts: &Read) -> BTreeMap<u32, Slot<'_>> {
    let mut slots: BTreeMap<u32, Slot> = BTreeMap::new();
    for (side, transcript) in transcripts.iter().enumerate() {
        let Ok(transcript) = transcript else { continue };
        for sample in &transcript.samples {
            let slot = slots.entry(sample.slot).or_default();
            slot.round = sample.round;
            slot.cell = sample.cell as usize;
            slot.take(
                &transcript.phases[usize::from(sample.phase)],
                sample.counts,
                (side, sample.phase),
            );
        }
        for (number, facts) in &transcript.facts {
            if let Some(slot) = slots.get_mut(number) {
                slot.facts.extend(facts);
            }
        }
        for (number, buckets) in &transcript.latencies {
            if let Some(slot) = slots.get_mut(number) {
                slot.latencies.extend(buckets);
            }
        }
        for (number, buckets) in &transcript.idle {
            if let Some(slot) = slots.get_mut(number) {
                slot.idle.extend(buckets);
            }
        }
    }
    if transcripts.len() > 1 {
        for slot in slots.values_mut() {
            let overall = TimedPhase::by_laboratory(
                OVERALL,
                overall(slot.phases.iter().map(|timed| &timed.counts)),
            );
            slot.phases.retain(|timed| timed.name != OVERALL);
            slot.phases.push(overall);
        }
    }
    slots
}

impl<'a> Slot<'a> {
    fn take(&mut self, name: &'a str, counts: Counts, by: (usize, u16)) {
        if self.phases.iter().any(|timed| timed.by == Some(by)) {
            self.twice.get_or_insert(name);
            return;
        }
        let second = by.0 > 0 && counts_of(&self.phases, name).is_some();
        let name = if second {
            Cow::Owned(format!("{name}.b"))
        } else {
            Cow::Borrowed(name)
        };
        self.phases.push(TimedPhase {
            name,
            counts,
            by: Some(by),
        });
    }
}

/// Counts from the earliest start to the latest end of what ran side by side.
pub(crate) fn overall<'a>(phases: impl Iterator<Item = &'a Counts>) -> Counts {
    let mut sum = Counts {
        start_ns: u64::MAX,
        ..Counts::default()
    };
    let mut end = 0;
    for counts in phases {
        end = end.max(counts.start_ns.saturating_add(counts.wall_ns));
        sum.start_ns = sum.start_ns.min(counts.start_ns);
        sum = Counts {
            ops: sum.ops.max(counts.ops),
            bytes: sum.bytes.max(counts.bytes),
            ..added(sum, *counts)
        };
    }
    sum.start_ns = sum.start_ns.min(end);
    sum.wall_ns = end - sum.start_ns;
    sum
}

/// Adds what is spent; start, ops and bytes stay the first's.
pub(crate) fn added(a: Counts, b: Counts) -> Counts {
    let (x, y) = (a.to_array(), b.to_array());
    let mut sum = x;
    for i in 3..sum.len() {
        sum[i] = x[i].saturating_add(y[i]);
    }
    Counts::from_array(sum)
}
