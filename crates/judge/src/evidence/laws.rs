//! The laws of a method checked on all slots of a launch. The place of a name's value is looked up once, not slot by slot.

use crate::evidence::checks::LawSeen;
use crate::evidence::slots::{Slot, counts_of};
use record::expression::{Condition, Holding, Law, Values};
use record::parameters::Parameters;
use record::transcript::COLUMNS;
use std::collections::BTreeMap;

/// All laws of a method in one launch.
pub(crate) struct PlacedLaws<'a>(Vec<Placed<'a>>);

/// Place of the values of one name in a law.
struct Operand<'a> {
    name: &'a str,
    /// A phase and the number of its column, for slots that have the phase.
    column: Option<(&'a str, usize)>,
    /// Value in slots that have neither that phase nor a fact of that name.
    kept: Option<i128>,
    /// The parameter's value as text.
    word: Option<&'a str>,
}

/// One law with the places of its names.
struct Placed<'a> {
    law: &'a Law,
    operands: Vec<Operand<'a>>,
    seen: LawSeen,
}

/// Values of the names of one law in one slot.
struct PlacedValues<'s> {
    operands: &'s [Operand<'s>],
    slot: &'s Slot<'s>,
}

impl<'a> PlacedLaws<'a> {
    /// The laws for slots of a cell with these parameters, of a worker that said this of itself.
    pub fn placed(
        laws: impl Iterator<Item = &'a Law>,
        parameters: &'a Parameters,
        about: Option<&'a BTreeMap<String, String>>,
    ) -> PlacedLaws<'a> {
        PlacedLaws(
            laws.map(|law| Placed::new(law, parameters, about))
                .collect(),
        )
    }

    /// Checks every law on one slot. In a round without proofs those that need one are not asked.
    pub fn ask(&mut self, slot: &Slot, launch: usize, proves: bool) {
        for Placed {
            law,
            operands,
            seen,
        } in &mut self.0
        {
            let values = PlacedValues { operands, slot };
            let holding = if proves {
                law.check(&values)
            } else {
                law.check_recorded(&values)
            };
            if holding != Holding::NotAsked {
                seen.take(holding, launch);
            }
        }
    }

    /// The laws that were asked, by their text.
    pub fn seen(self) -> impl Iterator<Item = (String, LawSeen)> {
        let checked = self.0.into_iter().filter(|placed| placed.seen.samples > 0);
        checked.map(|placed| {
            (
                placed.law.text.clone(),
                LawSeen {
                    level: placed.law.is_level(),
                    ..placed.seen
                },
            )
        })
    }
}

impl<'a> Placed<'a> {
    fn new(
        law: &'a Law,
        parameters: &'a Parameters,
        about: Option<&'a BTreeMap<String, String>>,
    ) -> Placed<'a> {
        let mut names = Vec::new();
        for condition in &law.when {
            match condition {
                Condition::Word(key, _) => names.push(key.as_str()),
                Condition::Related(a, _, b) => {
                    a.names(&mut names);
                    b.names(&mut names);
                }
            }
        }
        law.left.names(&mut names);
        law.right.names(&mut names);
        Placed {
            law,
            operands: names
                .into_iter()
                .map(|name| Operand::named(name, parameters, about))
                .collect(),
            seen: LawSeen::default(),
        }
    }
}

impl<'a> Operand<'a> {
    fn named(
        name: &'a str,
        parameters: &'a Parameters,
        about: Option<&'a BTreeMap<String, String>>,
    ) -> Operand<'a> {
        let column = name.rsplit_once('.').and_then(|(phase, column)| {
            let number = COLUMNS.iter().position(|known| *known == column)?;
            Some((phase, number))
        });
        let word = parameters.word(name);
        let kept = match word {
            Some(_) => parameters.number(name).map(i128::from),
            None => about.and_then(|a| a.get(name)?.parse().ok()),
        };
        Operand {
            name,
            column,
            kept,
            word,
        }
    }
}

impl PlacedValues<'_> {
    fn operand(&self, name: &str) -> Option<&Operand<'_>> {
        self.operands.iter().find(|operand| operand.name == name)
    }

    fn fact(&self, name: &str) -> Option<&str> {
        self.slot
            .facts
            .iter()
            .find(|(fact, _)| fact == name)
            .map(|(_, value)| value.as_str())
    }
}

impl Values for PlacedValues<'_> {
    fn number(&self, name: &str) -> Option<i128> {
        let operand = self.operand(name)?;
        let counts = operand
            .column
            .and_then(|(phase, column)| Some((counts_of(&self.slot.phases, phase)?, column)));
        match counts {
            Some((counts, column)) => Some(counts.to_array()[column].into()),
            None => self
                .fact(name)
                .map_or(operand.kept, |fact| fact.parse().ok()),
        }
    }

    fn word(&self, name: &str) -> Option<&str> {
        self.operand(name)?.word.or_else(|| self.fact(name))
    }
}

#[cfg(test)]
mod tests {
    use record::transcript::Counts;

    use super::*;
    use crate::evidence::slots::{Slot, TimedPhase};

    const LAWS: &str = "touch.minor_faults == bytes / page_bytes; touch.minor_faults <= 2; ghosts == 1; refault.ops > 0; \
    release=dontneed: touch.ops >= 1; release=free: ghosts == 1; kind=huge: huge_bytes == bytes; \
    kind=small: huge_bytes == 0; bytes>=8192 & release=dontneed: touch.wall_ns < 10; \
    bytes / (page_bytes - 4096) == 1; ghosts > 1 & bytes > 1: bytes == 1; \
    touch.bytes * touch.bytes > 1; touch.bytes + 1 > touch.ops; touch.size == 7; release == 1; huge_bytes - bytes < 0; \
    touch.bytes % page_bytes == bytes; libc > 1; 170141183460469231731687303715884105727 > bytes";

    /// A law's operands, looked up anew by each name.
    struct SlotValues<'a> {
        slot: &'a Slot<'a>,
        parameters: &'a Parameters,
        about: Option<&'a BTreeMap<String, String>>,
    }

    impl Values for SlotValues<'_> {
        fn number(&self, name: &str) -> Option<i128> {
            if let Some((phase, column)) = name.rsplit_once('.')
                && let Some(counts) = counts_of(&self.slot.phases, phase)
                && let Some(value) = counts.column(column)
            {
                return Some(i128::from(value));
            }
            let fact = self
                .slot
                .facts
                .iter()
                .find(|(n, _)| n == name)
                .map(|(_, value)| value);
            let text = fact
                .or_else(|| self.parameters.get(name))
                .or_else(|| self.about.and_then(|a| a.get(name)));
            text.and_then(|t| t.parse().ok())
        }

        fn word(&self, name: &str) -> Option<&str> {
            let fact = self
                .slot
                .facts
                .iter()
                .find(|(n, _)| n == name)
                .map(|(_, value)| value.as_str());
            self.parameters.word(name).or(fact)
        }
    }

    fn texts<T: FromIterator<(String, String)>>(pairs: &[(&str, &str)]) -> T {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    /// The laws that are asked of a slot, each looked up by itself.
    fn seen_alone(laws: &[Law], values: &SlotValues, proves: bool) -> BTreeMap<String, LawSeen> {
        let mut alone = BTreeMap::new();
        for law in laws {
            let holding = if proves {
                law.check(values)
            } else {
                law.check_recorded(values)
            };
            if holding != Holding::NotAsked {
                let mut seen = LawSeen {
                    level: law.is_level(),
                    ..LawSeen::default()
                };
                seen.take(holding, 7);
                alone.insert(law.text.clone(), seen);
            }
        }
        alone
    }

    #[test]
    fn every_law_says_of_every_slot_what_it_says_by_itself() {
        let parameters = texts(&[("bytes", "8192"), ("release", "dontneed")]);
        let about = texts(&[
            ("page_bytes", "4096"),
            ("libc", "glibc 2.36"),
            ("bytes", "1"),
        ]);
        let facts = [
            vec![],
            vec![
                ("kind", "huge"),
                ("huge_bytes", "8192"),
                ("touch.size", "7"),
            ],
            vec![
                ("kind", "small"),
                ("huge_bytes", "many"),
                ("ghosts", "1"),
                ("page_bytes", "0"),
                ("release", "free"),
            ],
            vec![
                ("ghosts", "99999999999999999999"),
                ("bytes", "18446744073709551615"),
                ("refault.ops", "3"),
            ],
        ];
        let laws = Law::parse_all(LAWS).unwrap();
        for (facts, ops) in facts.iter().zip([0, 1, 2, u64::MAX]) {
            let facts: Vec<(String, String)> = facts
                .iter()
                .map(|(n, v)| ((*n).into(), (*v).into()))
                .collect();
            let counts = Counts {
                ops,
                bytes: ops,
                minor_faults: 2,
                wall_ns: 9 + ops / 2,
                ..Counts::default()
            };
            let phases = vec![TimedPhase::by_laboratory("touch", counts)];
            let slot = Slot {
                phases,
                facts: facts.iter().collect(),
                ..Slot::default()
            };
            for (about, proves) in [
                (Some(&about), true),
                (Some(&about), false),
                (None, true),
                (None, false),
            ] {
                let values = SlotValues {
                    slot: &slot,
                    parameters: &parameters,
                    about,
                };
                let mut placed = PlacedLaws::placed(laws.iter(), &parameters, about);
                placed.ask(&slot, 7, proves);
                let together: BTreeMap<String, LawSeen> = placed.seen().collect();
                let alone = seen_alone(&laws, &values, proves);
                assert_eq!(together, alone);
                assert!(!alone.is_empty() && alone.len() < laws.len());
            }
        }
    }
}
