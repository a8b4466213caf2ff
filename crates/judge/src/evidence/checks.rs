//! Proof that a figure may be believed: laws on counters and facts, digests, phases. Anything broken makes a cell untrusted.

use crate::evidence::slots::{Slot, counts_of};
use record::outcome::{BrokenLaw, Cause, LaunchFault, Outcome, Status};
use record::transcript::{DIGEST, OVERALL};
use record::{expression::Holding, method::Method};
use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

/// The share of samples that may break a level (a law about a time) before the cell is untrusted.
const LEVEL_TOLERANCE: f64 = 0.25;

/// A fact over all slots of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum FactSeen {
    /// The smallest and the largest number, and how often it was recorded.
    Numbers(u64, u64, u64),
    Words(BTreeSet<String>),
}

/// Checks and violations of one law.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LawSeen {
    pub samples: u64,
    pub broken: u64,
    pub first: String,
    /// A law about a time.
    pub level: bool,
}

/// All that was checked of one cell.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    pub laws: BTreeMap<String, LawSeen>,
    pub facts: BTreeMap<String, FactSeen>,
    pub digests: BTreeSet<String>,
    wrong: Option<(usize, LaunchFault)>,
}

/// Digests of one cell's slots in a launch.
#[derive(Debug, Default)]
pub(crate) struct DigestsSeen {
    digests: BTreeSet<String>,
    /// True if a slot that must have one has none.
    lacking: bool,
}

impl DigestsSeen {
    pub fn take<'a>(&mut self, facts: impl IntoIterator<Item = &'a (String, String)>) {
        let mut digests = facts
            .into_iter()
            .filter(|(name, _)| name == DIGEST)
            .peekable();
        self.lacking |= digests.peek().is_none();
        for (_, digest) in digests {
            if !self.digests.contains(digest) {
                self.digests.insert(digest.clone());
            }
        }
    }
}

impl FactSeen {
    /// Joins the values of a further launch. A fact that was text once is text from then on.
    fn join(&mut self, further: FactSeen) {
        match (&mut *self, further) {
            (FactSeen::Numbers(low, high, count), FactSeen::Numbers(least, most, more)) => {
                (*low, *high, *count) = (least.min(*low), most.max(*high), *count + more);
            }
            (FactSeen::Words(words), FactSeen::Words(more)) => words.extend(more),
            (FactSeen::Words(words), FactSeen::Numbers(least, most, _)) => {
                words.extend([least, most].map(|number| number.to_string()));
            }
            (numbers, words) => *numbers = words,
        }
    }
}

impl LawSeen {
    pub(crate) fn take(&mut self, holding: Holding, launch: usize) {
        self.samples += 1;
        if let Holding::Broken(how) = holding {
            if self.broken == 0 {
                self.first = format!("launch {launch}: {how}");
            }
            self.broken += 1;
        }
    }

    /// Tells whether a timing law is broken in more samples than noise breaks it in.
    fn is_level_broken(&self) -> bool {
        self.level && self.broken as f64 > LEVEL_TOLERANCE * self.samples as f64
    }
}

impl Checks {
    /// Notes a fault of a launch; the first one stays.
    pub fn wrong(&mut self, launch: usize, fault: LaunchFault) {
        self.wrong.get_or_insert((launch, fault));
    }

    /// Each cell of a launch must have had as many turns as were asked for.
    pub fn rounds(&mut self, seen: usize, planned: u32, launch: usize) {
        if seen != planned as usize {
            self.wrong(launch, LaunchFault::Rounds { seen, planned });
        }
    }

    /// A slot has its method's phases, all but those that `may_lack`, each timed once (`overall` is the laboratory's).
    pub(crate) fn phases(
        &mut self,
        method: &Method,
        slot: &Slot,
        may_lack: &[String],
        launch: usize,
    ) {
        if let Some(unknown) = slot
            .phases
            .iter()
            .find(|timed| !is_planned(method, &timed.name))
        {
            let phase = unknown.name.to_string();
            self.wrong(launch, LaunchFault::UnknownPhase { phase });
        }
        if let Some(missing) = method.phases.iter().find(|phase| {
            *phase != OVERALL
                && counts_of(&slot.phases, phase).is_none()
                && !may_lack.contains(phase)
        }) {
            let phase = missing.clone();
            self.wrong(launch, LaunchFault::MissingPhase { phase });
        }
        if let Some(twice) = slot.twice {
            let phase = twice.to_owned();
            self.wrong(launch, LaunchFault::DoublePhase { phase });
        }
    }

    pub(crate) fn laws(&mut self, laws: impl IntoIterator<Item = (String, LawSeen)>) {
        for (text, law) in laws {
            let seen = self.laws.entry(text).or_insert_with(|| LawSeen {
                level: law.level,
                ..LawSeen::default()
            });
            if seen.broken == 0 {
                seen.first = law.first;
            }
            (seen.samples, seen.broken) = (seen.samples + law.samples, seen.broken + law.broken);
        }
    }

    pub fn facts<'a>(&mut self, facts: impl IntoIterator<Item = &'a (String, String)>) {
        for (name, value) in facts.into_iter().filter(|(name, _)| name != DIGEST) {
            match (value.parse::<u64>(), self.facts.get_mut(name)) {
                (Ok(v), Some(FactSeen::Numbers(low, high, count))) => {
                    *low = v.min(*low);
                    *high = v.max(*high);
                    *count += 1;
                }
                (_, Some(FactSeen::Words(words))) => {
                    if !words.contains(value) {
                        words.insert(value.clone());
                    }
                }
                (Ok(v), None) => {
                    self.facts.insert(name.clone(), FactSeen::Numbers(v, v, 1));
                }
                (Err(_), _) => {
                    self.facts.insert(
                        name.clone(),
                        FactSeen::Words(BTreeSet::from([value.clone()])),
                    );
                }
            }
        }
    }

    /// Joins the checks of a further launch, all but its digests.
    pub(crate) fn join(&mut self, further: Checks) {
        self.laws(further.laws);
        for (name, fact) in further.facts {
            match self.facts.entry(name) {
                Entry::Vacant(place) => _ = place.insert(fact),
                Entry::Occupied(mut seen) => seen.get_mut().join(fact),
            }
        }
        self.wrong = self.wrong.take().or(further.wrong);
    }

    /// The digests of a launch (one a side at most in each slot) must be there and right.
    pub(crate) fn digests(&mut self, seen: DigestsSeen, expected: Option<u64>, launch: usize) {
        if seen.lacking {
            self.wrong(launch, LaunchFault::NoDigest);
        }
        let right = expected.map(|expected| format!("{expected:016x}"));
        for digest in seen.digests {
            if let Some(right) = right.as_ref().filter(|right| **right != digest) {
                self.wrong(
                    launch,
                    LaunchFault::WrongDigest {
                        digest: digest.clone(),
                        right: right.clone(),
                    },
                );
            }
            self.digests.insert(digest);
        }
        if self.digests.len() > 1 && expected.is_none() {
            let digests = self.digests.iter().cloned().collect();
            self.wrong(launch, LaunchFault::UnequalDigests { digests });
        }
    }

    /// Violations apart from timing laws, which noise may break: the conformance suite asserts no time.
    pub fn exact_outcome(&self) -> Option<Outcome> {
        let levels_only = self.wrong.is_none()
            && self
                .laws
                .values()
                .all(|seen| seen.level || seen.broken == 0);
        if levels_only { None } else { self.outcome() }
    }

    pub fn outcome(&self) -> Option<Outcome> {
        // Exact laws speak before levels.
        let exact = self
            .laws
            .values()
            .find(|seen| !seen.level && seen.broken > 0);
        let broken = exact.or_else(|| self.laws.values().find(|seen| seen.is_level_broken()));
        let law = broken.map(|seen| BrokenLaw {
            first: seen.first.clone(),
            broken: seen.broken,
            samples: seen.samples,
        });
        // A wrong digest says that content is wrong; the law on the first wrong byte says where.
        let cause = match self.wrong.clone() {
            Some((launch, fault)) => Cause::Broken { launch, fault, law },
            None => Cause::Law(law?),
        };
        Some(Outcome::because(Status::Untrusted, cause))
    }
}

/// Tells whether a method has a phase; each side of it may time one, and `overall` is the laboratory's.
fn is_planned(method: &Method, name: &str) -> bool {
    let base = name.strip_suffix(".b").unwrap_or(name);
    name == OVERALL || method.phases.iter().any(|phase| phase == base)
}

#[cfg(test)]
mod tests {
    use record::transcript::Counts;

    use super::*;
    use crate::evidence::slots::TimedPhase;

    fn wrong(phases: &[&str], may_lack: &[String]) -> bool {
        let method = Method::parse("method\tx\ty\tphases=touch refault\tkeys=bytes:size").unwrap();
        let phases = phases
            .iter()
            .map(|phase| TimedPhase::by_laboratory(phase, Counts::default()))
            .collect();
        let slot = Slot {
            phases,
            ..Slot::default()
        };
        let mut checks = Checks::default();
        checks.phases(&method, &slot, may_lack, 0);
        checks.outcome().is_some()
    }

    #[test]
    fn launches_that_are_joined_are_as_if_taken_one_after_the_other() {
        let launches = [
            [("faults", "3"), ("page", "12")],
            [("faults", "9"), ("page", "ab")],
            [("faults", "1"), ("page", "7")],
        ];
        let launches =
            launches.map(|facts| facts.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let (mut joined, mut taken) = (Checks::default(), Checks::default());
        for facts in &launches {
            let mut launch = Checks::default();
            launch.facts(facts);
            joined.join(launch);
            taken.facts(facts);
        }
        assert_eq!(joined.facts, taken.facts);
        assert_eq!(joined.facts["faults"], FactSeen::Numbers(1, 9, 3));
    }

    #[test]
    fn only_what_stands_beside_the_question_may_be_left_out() {
        let sampled = ["refault".to_owned()];
        assert!(!wrong(&["touch", "refault"], &[]) && !wrong(&["touch"], &sampled));
        assert!(
            wrong(&["touch"], &[]),
            "a round that proves passes all of them"
        );
        assert!(
            wrong(&["refault"], &sampled),
            "the question itself is never left out"
        );
        assert!(
            wrong(&["touch", "release"], &sampled),
            "and nothing is passed that was not declared"
        );
    }
}
