//! True if the laws can fail: `check --laws` changes one count, fact or digest at a time in what workers recorded, and
//! looks whether the law that names it breaks. Where a lie about one term alone is within a bound's room, another term is
//! moved first to where the law just holds. A law that no such lie breaks proves nothing, nor does a term.

use anyhow::Result;
use judge::{evidence::Evidence, evidence::agreement::disagreements};
use record::method::{Method, Role};
use record::transcript::{COLUMNS, Counts, Read as Transcripts, Transcript};
use record::{
    cell::parameter_words, experiment::Content, expression::Law, folder::RunFolder,
    launches::LaunchRecord, state::State,
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default)]
struct LawResult {
    cells: usize,
    /// Those in which no lie broke it: how many, and the parameters of the first.
    unbroken: usize,
    example: String,
    /// Names, each with whether a lie about it alone broke the law.
    terms: BTreeMap<String, bool>,
    /// No cell met its condition; it was tried without.
    assumed: bool,
    /// It could not be tried even so: what it names was not recorded.
    untried: bool,
}

/// Everything that was found, by method and law.
#[derive(Debug, Default)]
pub(super) struct LawResults {
    laws: BTreeMap<(String, String), LawResult>,
    digests: usize,
    agreed: BTreeSet<String>,
    unbroken_digests: Vec<String>,
}

#[derive(Clone, Copy)]
enum RecordedNumber {
    /// Side, and index among the slot's facts.
    Fact(usize, usize),
    /// Side, index among the slot's samples, and column.
    Count(usize, usize, usize),
}

/// Lies about a number: one more, one less, none, half, twice and ten times as much or more, all of the cell's bytes more, and
/// a GiB, for laws that grant some MiB whatever the size.
fn lies(value: u64, bytes: u64) -> BTreeSet<u64> {
    let all = [
        value.saturating_add(1),
        value.saturating_sub(1),
        0,
        value / 2,
        value.saturating_mul(2).saturating_add(1),
        value.saturating_mul(10).saturating_add(100),
        value.saturating_add(bytes),
        value.saturating_add(1 << 30),
    ];
    all.into_iter().filter(|lie| *lie != value).collect()
}

/// Tries every law of every cell that a suite measured.
pub(super) fn check(state: &State, folder: &RunFolder, evidence: &Evidence) -> Result<LawResults> {
    let mut findings = LawResults::default();
    let mut trial = LieTest {
        state: state.clone(),
        evidence: Evidence::default(),
    };
    let mut slots: BTreeMap<String, (LaunchRecord, Transcripts)> = BTreeMap::new();
    for record in folder.launches()?.records.iter().filter(|r| r.block >= 0) {
        let transcripts = folder.transcripts(record)?;
        for (number, &cell) in record.cells.iter().enumerate() {
            let planned = &state.cells[cell];
            let slots_of_cell: BTreeSet<u32> = measured_slots(&transcripts, number).collect();
            let first = measured_slots(&transcripts, number).next();
            let Some(slot) = first.filter(|_| planned.outcome.is_none() && !planned.twin) else {
                continue;
            };
            let single = LaunchRecord {
                cells: vec![cell],
                rounds: 1,
                ..record.clone()
            };
            let recorded = kept(&transcripts, &BTreeSet::from([slot]));
            trial.cell(&mut findings, &single, &recorded, &planned.method, false)?;
            let all = LaunchRecord {
                rounds: record.turns(number),
                turns: Vec::new(),
                ..single.clone()
            };
            trial.digest(
                &mut findings,
                &all,
                &kept(&transcripts, &slots_of_cell),
                evidence,
            )?;
            slots
                .entry(planned.cell.name())
                .or_insert((single, recorded));
        }
    }
    for (name, (record, recorded)) in &slots {
        let method = &state.cells[record.cells[0]].method;
        let met = |law: &&Law| {
            findings
                .laws
                .contains_key(&(name.clone(), law.text.clone()))
        };
        let unmet: Vec<Law> = method.laws.iter().filter(|l| !met(l)).cloned().collect();
        for law in unmet {
            let body = law
                .text
                .split_once(':')
                .map_or(law.text.as_str(), |(_, body)| body)
                .trim();
            let without = Method {
                laws: vec![Law::parse(body)?].into(),
                ..method.clone()
            };
            let mut tried = LawResults::default();
            trial.cell(&mut tried, record, recorded, &without, true)?;
            let shown = tried.laws.into_values().next();
            let shown = shown.unwrap_or(LawResult {
                untried: true,
                ..LawResult::default()
            });
            findings.laws.insert(
                (name.clone(), law.text.clone()),
                LawResult {
                    assumed: true,
                    ..shown
                },
            );
        }
    }
    Ok(findings)
}

/// The measured slots of one cell, once a sample.
fn measured_slots(transcripts: &Transcripts, number: usize) -> impl Iterator<Item = u32> {
    let samples = transcripts.iter().flatten().flat_map(|t| &t.samples);
    samples
        .filter(move |s| s.cell as usize == number && s.round >= 0)
        .map(|s| s.slot)
}

/// Records of these slots, as those of a request with one cell.
fn kept(transcripts: &Transcripts, slots: &BTreeSet<u32>) -> Transcripts {
    let kept = |t: &Transcript| {
        let mut samples: Vec<_> = t
            .samples
            .iter()
            .filter(|s| slots.contains(&s.slot))
            .cloned()
            .collect();
        samples.iter_mut().for_each(|s| s.cell = 0);
        Transcript {
            samples,
            facts: t
                .facts
                .iter()
                .filter(|(n, _)| slots.contains(n))
                .map(|(n, f)| (*n, f.clone()))
                .collect(),
            latencies: BTreeMap::new(),
            endings: Vec::new(),
            ..t.clone()
        }
    };
    transcripts
        .iter()
        .map(|t| t.as_ref().map(kept).map_err(Clone::clone))
        .collect()
}

/// Place of the number of that name, as the judging does; none where it is given, not recorded.
fn place_of(recorded: &Transcripts, name: &str) -> Option<RecordedNumber> {
    let sides = || {
        recorded
            .iter()
            .enumerate()
            .filter_map(|(i, t)| Some((i, t.as_ref().ok()?)))
    };
    if let Some((phase, column)) = name.rsplit_once('.')
        && let Some(column) = COLUMNS.iter().position(|c| *c == column)
    {
        let (phase, least) = phase
            .strip_suffix(".b")
            .map_or((phase, 0), |phase| (phase, 1));
        for (side, t) in sides().filter(|(side, _)| *side >= least) {
            let is_phase = |s: &record::transcript::Sample| {
                phase == "overall" || t.phases[usize::from(s.phase)] == phase
            };
            if let Some(at) = t.samples.iter().position(is_phase) {
                return Some(RecordedNumber::Count(side, at, column));
            }
        }
    }
    sides().find_map(|(side, t)| {
        let at = t
            .facts
            .values()
            .next()?
            .iter()
            .position(|(fact, value)| fact == name && value.parse::<u64>().is_ok())?;
        Some(RecordedNumber::Fact(side, at))
    })
}

fn value_at(recorded: &Transcripts, place: RecordedNumber) -> Option<u64> {
    match place {
        RecordedNumber::Fact(side, at) => recorded[side]
            .as_ref()
            .ok()?
            .facts
            .values()
            .next()?
            .get(at)?
            .1
            .parse()
            .ok(),
        RecordedNumber::Count(side, at, column) => {
            Some(recorded[side].as_ref().ok()?.samples[at].counts.to_array()[column])
        }
    }
}

fn with_value(recorded: &Transcripts, place: RecordedNumber, value: u64) -> Transcripts {
    let mut changed = recorded.clone();
    match place {
        RecordedNumber::Fact(side, at) => {
            let facts = changed[side]
                .as_mut()
                .ok()
                .and_then(|t| t.facts.values_mut().next());
            facts
                .into_iter()
                .for_each(|facts| facts[at].1 = value.to_string());
        }
        RecordedNumber::Count(side, at, column) => {
            if let Ok(transcript) = &mut changed[side] {
                let mut counts = transcript.samples[at].counts.to_array();
                counts[column] = value;
                transcript.samples[at].counts = Counts::from_array(counts);
            }
        }
    }
    changed
}

/// Judges what a slot would have recorded. Kept between slots, because content is expected anew only once a cell.
struct LieTest {
    state: State,
    evidence: Evidence,
}

impl LieTest {
    fn ask(&mut self, record: &LaunchRecord, recorded: &Transcripts) -> BTreeMap<String, bool> {
        self.evidence.cells.clear();
        self.evidence.add(&self.state, record, recorded);
        let cell = self.evidence.cells.get(&record.cells[0]);
        let laws = cell.into_iter().flat_map(|c| &c.checks.laws);
        laws.map(|(text, seen)| (text.clone(), seen.broken > 0))
            .collect()
    }

    /// Lies about everything that the laws of one cell name, one at a time. `assumed`: a law that does not hold at first must
    /// be made to hold by a lie as well.
    fn cell(
        &mut self,
        findings: &mut LawResults,
        record: &LaunchRecord,
        recorded: &Transcripts,
        method: &Method,
        assumed: bool,
    ) -> Result<()> {
        let cell = record.cells[0];
        method.clone_into(&mut self.state.cells[cell].method);
        let honest = self.ask(record, recorded);
        let bytes = self.state.cells[cell]
            .cell
            .parameters
            .get("bytes")
            .and_then(|b| b.parse().ok())
            .unwrap_or(0);
        let mut names: BTreeMap<&str, Vec<&Law>> = BTreeMap::new();
        for law in method.laws.iter().filter(|l| honest.contains_key(&l.text)) {
            law.operands()
                .into_iter()
                .for_each(|name| names.entry(name).or_default().push(law));
        }
        let mut broke: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut held: BTreeSet<String> = honest
            .iter()
            .filter(|(_, b)| !**b)
            .map(|(text, _)| text.clone())
            .collect();
        for (name, laws) in &names {
            let Some((place, value)) =
                place_of(recorded, name).and_then(|p| Some((p, value_at(recorded, p)?)))
            else {
                continue;
            };
            for lie in lies(value, bytes) {
                let laws_broken = self.ask(record, &with_value(recorded, place, lie));
                held.extend(
                    laws_broken
                        .iter()
                        .filter(|(_, broken)| !**broken)
                        .map(|(text, _)| text.clone()),
                );
                for law in laws
                    .iter()
                    .filter(|l| laws_broken.get(&l.text) == Some(&true))
                {
                    broke.entry(law.text.as_str()).or_default().insert(name);
                }
            }
        }
        for law in method
            .laws
            .iter()
            .filter(|l| honest.get(&l.text) == Some(&false))
        {
            for term in law.operands() {
                let known = broke
                    .get(law.text.as_str())
                    .is_some_and(|by| by.contains(term));
                if !known && self.decides_beside(record, recorded, law, term, bytes) {
                    broke.entry(law.text.as_str()).or_default().insert(term);
                }
            }
        }
        let name = self.state.cells[cell].cell.name();
        for law in method.laws.iter().filter(|l| honest.contains_key(&l.text)) {
            let shown = findings
                .laws
                .entry((name.clone(), law.text.clone()))
                .or_default();
            shown.cells += 1;
            let by = broke.get(law.text.as_str());
            if by.is_none() {
                shown.unbroken += 1;
                if shown.example.is_empty() {
                    shown.example = parameter_words(&self.state.cells[cell].cell.parameters, None);
                }
            }
            for operand in law
                .operands()
                .into_iter()
                .filter(|n| place_of(recorded, n).is_some())
            {
                *shown.terms.entry(operand.to_owned()).or_default() |=
                    by.is_some_and(|by| by.contains(operand));
            }
            shown.untried |= assumed && !held.contains(&law.text);
        }
        Ok(())
    }

    /// Tells whether a lie about one term decides a law once another of its terms stands elsewhere: just where the law holds or
    /// breaks, or where the law alone does not notice it. Bounds with some room and sums have such terms.
    fn decides_beside(
        &mut self,
        record: &LaunchRecord,
        recorded: &Transcripts,
        law: &Law,
        term: &str,
        bytes: u64,
    ) -> bool {
        let located =
            |name: &str| place_of(recorded, name).and_then(|p| Some((p, value_at(recorded, p)?)));
        let Some((place, value)) = located(term) else {
            return false;
        };
        for (beside, known) in law
            .operands()
            .into_iter()
            .filter(|o| *o != term)
            .filter_map(located)
        {
            let mut stands = BTreeSet::new();
            for lie in lies(known, bytes) {
                let mut breaks =
                    |to: u64| self.breaks(record, &with_value(recorded, beside, to), law);
                stands.extend(if breaks(lie) {
                    border(known, lie, breaks).to_vec()
                } else {
                    vec![lie]
                });
            }
            for elsewhere in stands {
                let moved = with_value(recorded, beside, elsewhere);
                let before = self.breaks(record, &moved, law);
                let mut lied = lies(value, bytes)
                    .into_iter()
                    .map(|lie| with_value(&moved, place, lie));
                if lied.any(|lied| self.breaks(record, &lied, law) != before) {
                    return true;
                }
            }
        }
        false
    }

    fn breaks(&mut self, record: &LaunchRecord, recorded: &Transcripts, law: &Law) -> bool {
        self.ask(record, recorded).get(&law.text) == Some(&true)
    }

    /// Lies about the digest of one slot, or of one cell where the cells of a group must agree.
    fn digest(
        &mut self,
        findings: &mut LawResults,
        record: &LaunchRecord,
        recorded: &Transcripts,
        evidence: &Evidence,
    ) -> Result<()> {
        let cell = record.cells[0];
        let planned = &self.state.cells[cell];
        let method = &planned.method;
        let content = self
            .state
            .plan
            .experiment(&planned.cell.experiment)
            .map_or(Content::None, |e| e.content);
        if !matches!(method.role, Role::Method | Role::Published) || content == Content::None {
            return Ok(());
        }
        let agree = content == Content::Agree;
        if agree && !findings.agreed.insert(planned.cell.name()) {
            return Ok(()); // Every cell is compared with all others: one of each method is enough.
        }
        findings.digests += 1;
        // What differs from other cells is noticed; so is what differs from the cell's own other slots and launches.
        let among_cells = agree && {
            let mut other = evidence.clone();
            let Some(mine) = other.cells.get_mut(&cell) else {
                return Ok(());
            };
            mine.checks.digests = mine
                .checks
                .digests
                .iter()
                .map(|d| wrong_digest(d))
                .collect();
            disagreements(&self.state, &other).len() > disagreements(&self.state, evidence).len()
        };
        let noticed = among_cells || {
            let mut changed = recorded.clone();
            let facts = changed
                .iter_mut()
                .flatten()
                .flat_map(|t| t.facts.values_mut().flatten());
            facts
                .filter(|(name, _)| name == "digest")
                .take(1)
                .for_each(|(_, d)| *d = wrong_digest(d));
            let mut outcome = |recorded: &Transcripts| {
                self.ask(record, recorded);
                self.evidence
                    .cells
                    .get(&cell)
                    .and_then(|c| c.checks.outcome())
            };
            outcome(&changed) != outcome(recorded)
        };
        if !noticed {
            let parameters = parameter_words(&self.state.cells[cell].cell.parameters, None);
            findings.unbroken_digests.push(format!(
                "{} ({parameters})",
                self.state.cells[cell].cell.name()
            ));
        }
        Ok(())
    }
}

/// The last number that holds and the first that breaks a law, on the way from one to the other.
fn border(mut holds: u64, mut breaks: u64, mut is_broken: impl FnMut(u64) -> bool) -> [u64; 2] {
    while holds.abs_diff(breaks) > 1 {
        let middle = holds.min(breaks) + holds.abs_diff(breaks) / 2;
        *(if is_broken(middle) {
            &mut breaks
        } else {
            &mut holds
        }) = middle;
    }
    [holds, breaks]
}

/// A digest with its last digit changed.
fn wrong_digest(digest: &str) -> String {
    let (start, last) = digest.split_at(digest.len().saturating_sub(1));
    format!("{start}{}", if last == "0" { "1" } else { "0" })
}

impl LawResults {
    /// Prints what was found; how many laws and digests never broke.
    pub(super) fn report(&self) -> usize {
        let (mut broke, mut unbroken, mut assumed) = (0, self.unbroken_digests.len(), 0);
        for ((name, law), shown) in &self.laws {
            let recorded = !shown.terms.is_empty();
            if shown.untried {
                say!(
                    "untried  {name}: {law}: no cell here meets its condition, and without it it does not hold"
                );
            } else if shown.unbroken > 0 {
                unbroken += 1;
                let why = if recorded {
                    "no lie broke it"
                } else {
                    "it names nothing that a worker records"
                };
                say!(
                    "UNBROKEN {name}: {law}: {why} in {} of {} cells ({})",
                    shown.unbroken,
                    shown.cells,
                    shown.example
                );
            } else {
                broke += 1;
                assumed += usize::from(shown.assumed);
            }
            for (term, _) in shown
                .terms
                .iter()
                .filter(|(_, broken)| !**broken && shown.unbroken == 0 && !shown.untried)
            {
                say!("loose    {name}: {law}: no lie about {term} broke it");
            }
        }
        for cell in &self.unbroken_digests {
            say!("UNBROKEN {cell}: a wrong digest was not noticed");
        }
        say!(
            "{broke} laws broke ({assumed} of them tried without their condition), as did {} digests; {unbroken} never broke",
            self.digests - self.unbroken_digests.len()
        );
        unbroken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lies_differ_from_the_truth_and_some_are_gross() {
        assert_eq!(lies(0, 0), BTreeSet::from([1, 100, 1 << 30]));
        assert_eq!(
            lies(8, 64),
            BTreeSet::from([0, 4, 7, 9, 17, 72, 180, (1 << 30) + 8])
        );
        assert!(!lies(u64::MAX, 1).contains(&u64::MAX));
    }

    #[test]
    fn the_border_of_a_law_is_found_from_either_side() {
        assert_eq!(border(8, 1 << 40, |n| n > 1029), [1029, 1030]);
        assert_eq!(border(8, 0, |n| n < 3), [3, 2]);
        assert_eq!(border(8, 9, |n| n > 8), [8, 9]);
    }

    #[test]
    fn a_changed_digest_is_another() {
        assert_eq!(wrong_digest("00a0"), "00a1");
        assert_eq!(wrong_digest("00af"), "00a0");
    }
}
