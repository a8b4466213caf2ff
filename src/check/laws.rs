//! True if the laws can fail: `check --laws` changes one count, fact or digest at a time in what workers recorded, and
//! looks whether the law that names it breaks. Where a lie about one term alone is within a bound's room, another term is
//! moved first to where the law just holds. A law that no such lie breaks proves nothing, nor does a term.

use anyhow::Result;
use judge::{evidence::Evidence, evidence::agreement::disagreements};
use record::method::{Method, Role};
use record::transcript::{COLUMNS, Counts, DIGEST, OVERALL, Read as Transcripts};
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
    let lies = [
        value.saturating_add(1),
        value.saturating_sub(1),
        0,
        value / 2,
        value.saturating_mul(2).saturating_add(1),
        value.saturating_mul(10).saturating_add(100),
        value.saturating_add(bytes),
        value.saturating_add(1 << 30),
    ];
    lies.into_iter().filter(|lie| *lie != value).collect()
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
            let whole = LaunchRecord {
                rounds: record.turns(number),
                turns: Vec::new(),
                ..single.clone()
            };
            trial.digest(
                &mut findings,
                &whole,
                &kept(&transcripts, &slots_of_cell),
                evidence,
            )?;
            slots
                .entry(planned.cell.name())
                .or_insert((single, recorded));
        }
    }
    for (name, (record, recorded)) in &slots {
        trial.unmet_laws(&mut findings, name, record, recorded)?;
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
    let mut narrowed = transcripts.clone();
    for transcript in narrowed.iter_mut().flatten() {
        transcript.samples.retain(|s| slots.contains(&s.slot));
        for sample in &mut transcript.samples {
            sample.cell = 0;
        }
        transcript.facts.retain(|slot, _| slots.contains(slot));
        transcript.latencies.clear();
        transcript.idle.clear();
        transcript.endings.clear();
    }
    narrowed
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
            let at = t.samples.iter().position(|sample| {
                phase == OVERALL || t.phases[usize::from(sample.phase)] == phase
            });
            if let Some(at) = at {
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

/// Place and value of the number of that name.
fn located(recorded: &Transcripts, name: &str) -> Option<(RecordedNumber, u64)> {
    let place = place_of(recorded, name)?;
    Some((place, value_at(recorded, place)?))
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

/// Effect of lies about the terms of one cell's laws.
#[derive(Default)]
struct LieEffect<'a> {
    /// Terms that broke a law, by the text of the law.
    broke: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// Texts of the laws that held at least once.
    held: BTreeSet<String>,
}

impl LieEffect<'_> {
    /// Notes the laws that are not broken.
    fn note_held(&mut self, broken: &BTreeMap<String, bool>) {
        let held = broken.iter().filter(|(_, is_broken)| !**is_broken);
        self.held.extend(held.map(|(text, _)| text.clone()));
    }

    fn is_broken_by(&self, law: &Law, term: &str) -> bool {
        let terms = self.broke.get(law.text.as_str());
        terms.is_some_and(|terms| terms.contains(term))
    }
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

    /// Tries the laws whose condition no cell of a method met, without the condition.
    fn unmet_laws(
        &mut self,
        findings: &mut LawResults,
        name: &str,
        record: &LaunchRecord,
        recorded: &Transcripts,
    ) -> Result<()> {
        let method = self.state.cells[record.cells[0]].method.clone();
        for law in method.laws.iter() {
            let key = (name.to_owned(), law.text.clone());
            if findings.laws.contains_key(&key) {
                continue;
            }
            let (_, body) = law.text.split_once(':').unwrap_or(("", &law.text));
            let unconditional = Method {
                laws: vec![Law::parse(body.trim())?].into(),
                ..method.clone()
            };
            let mut tried = LawResults::default();
            self.cell(&mut tried, record, recorded, &unconditional, true)?;
            let result = tried.laws.into_values().next().unwrap_or(LawResult {
                untried: true,
                ..LawResult::default()
            });
            findings.laws.insert(
                key,
                LawResult {
                    assumed: true,
                    ..result
                },
            );
        }
        Ok(())
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
        let effect = self.lie(record, recorded, method, &honest);
        let name = self.state.cells[cell].cell.name();
        for law in method.laws.iter().filter(|l| honest.contains_key(&l.text)) {
            let key = (name.clone(), law.text.clone());
            let result = findings.laws.entry(key).or_default();
            result.cells += 1;
            let terms = effect.broke.get(law.text.as_str());
            if terms.is_none() {
                result.unbroken += 1;
                if result.example.is_empty() {
                    result.example = parameter_words(&self.state.cells[cell].cell.parameters, None);
                }
            }
            for operand in law.operands() {
                if place_of(recorded, operand).is_some() {
                    *result.terms.entry(operand.to_owned()).or_default() |=
                        terms.is_some_and(|terms| terms.contains(operand));
                }
            }
            result.untried |= assumed && !effect.held.contains(&law.text);
        }
        Ok(())
    }

    /// Lies about each term of the laws that the honest record met, alone and, where a law that holds has some room, beside
    /// another term.
    fn lie<'a>(
        &mut self,
        record: &LaunchRecord,
        recorded: &Transcripts,
        method: &'a Method,
        honest: &BTreeMap<String, bool>,
    ) -> LieEffect<'a> {
        let parameters = &self.state.cells[record.cells[0]].cell.parameters;
        let bytes = parameters.bytes().unwrap_or(0);
        let mut laws_by_term: BTreeMap<&str, Vec<&Law>> = BTreeMap::new();
        for law in method.laws.iter().filter(|l| honest.contains_key(&l.text)) {
            for term in law.operands() {
                laws_by_term.entry(term).or_default().push(law);
            }
        }
        let mut effect = LieEffect::default();
        effect.note_held(honest);
        for (term, laws) in &laws_by_term {
            let Some((place, value)) = located(recorded, term) else {
                continue;
            };
            for lie in lies(value, bytes) {
                let broken = self.ask(record, &with_value(recorded, place, lie));
                effect.note_held(&broken);
                for law in laws {
                    if broken.get(&law.text) == Some(&true) {
                        effect.broke.entry(&law.text).or_default().insert(term);
                    }
                }
            }
        }
        for law in method.laws.iter() {
            if honest.get(&law.text) != Some(&false) {
                continue;
            }
            for term in law.operands() {
                if !effect.is_broken_by(law, term)
                    && self.decides_beside(record, recorded, law, term, bytes)
                {
                    effect.broke.entry(&law.text).or_default().insert(term);
                }
            }
        }
        effect
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
        let Some((place, value)) = located(recorded, term) else {
            return false;
        };
        for (other_place, other_value) in law
            .operands()
            .into_iter()
            .filter(|other| *other != term)
            .filter_map(|other| located(recorded, other))
        {
            let mut stands = BTreeSet::new();
            for lie in lies(other_value, bytes) {
                let mut breaks =
                    |to: u64| self.breaks(record, &with_value(recorded, other_place, to), law);
                stands.extend(if breaks(lie) {
                    border(other_value, lie, breaks).to_vec()
                } else {
                    vec![lie]
                });
            }
            for elsewhere in stands {
                let moved = with_value(recorded, other_place, elsewhere);
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
            let mut changed = evidence.clone();
            let Some(changed_cell) = changed.cells.get_mut(&cell) else {
                return Ok(());
            };
            let digests = &mut changed_cell.checks.digests;
            *digests = digests.iter().map(|d| wrong_digest(d)).collect();
            disagreements(&self.state, &changed).len() > disagreements(&self.state, evidence).len()
        };
        let is_noticed = among_cells || {
            let mut changed = recorded.clone();
            let facts = changed
                .iter_mut()
                .flatten()
                .flat_map(|t| t.facts.values_mut().flatten());
            facts
                .filter(|(name, _)| name == DIGEST)
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
        if !is_noticed {
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
        for ((name, law), result) in &self.laws {
            let recorded = !result.terms.is_empty();
            if result.untried {
                say!(
                    "untried  {name}: {law}: no cell here meets its condition, and without it it does not hold"
                );
            } else if result.unbroken > 0 {
                unbroken += 1;
                let why = if recorded {
                    "no lie broke it"
                } else {
                    "it names nothing that a worker records"
                };
                say!(
                    "UNBROKEN {name}: {law}: {why} in {} of {} cells ({})",
                    result.unbroken,
                    result.cells,
                    result.example
                );
            } else {
                broke += 1;
                assumed += usize::from(result.assumed);
            }
            for (term, _) in result
                .terms
                .iter()
                .filter(|(_, broken)| !**broken && result.unbroken == 0 && !result.untried)
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
