//! The laws of a method checked on all slots of a launch. The place of a name's value is looked up once, not slot by slot.

use crate::checks::LawSeen;
use crate::slots::{Slot, counts_of};
use record::expression::{Condition, Holding, Law, Values};
use record::transcript::COLUMNS;
use std::collections::BTreeMap;

/// Place of the values of one name in a law.
struct Operand<'a> {
    name: &'a str,
    /// A phase and the number of its column, for slots that have the phase.
    column: Option<(&'a str, usize)>,
    /// For slots that have neither that phase nor a fact of that name.
    kept: Option<i128>,
    /// The parameter's own word.
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

/// All laws of a method in one launch.
pub(crate) struct PlacedLaws<'a>(Vec<Placed<'a>>);

impl<'a> PlacedLaws<'a> {
    /// The laws for slots of a cell with these parameters, of a worker that said this of itself.
    pub fn placed(
        laws: impl Iterator<Item = &'a Law>,
        parameters: &'a BTreeMap<String, String>,
        about: Option<&'a BTreeMap<String, String>>,
    ) -> PlacedLaws<'a> {
        let placed = |law: &'a Law| {
            let mut names = Vec::new();
            for condition in &law.when {
                match condition {
                    Condition::Word(key, _) => names.push(key.as_str()),
                    Condition::Related(a, _, b) => {
                        [a, b].iter().for_each(|side| side.names(&mut names))
                    }
                }
            }
            [&law.left, &law.right]
                .iter()
                .for_each(|side| side.names(&mut names));
            let operands = names
                .into_iter()
                .map(|name| Operand::named(name, parameters, about))
                .collect();
            Placed {
                law,
                operands,
                seen: LawSeen::default(),
            }
        };
        PlacedLaws(laws.map(placed).collect())
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

impl<'a> Operand<'a> {
    fn named(
        name: &'a str,
        parameters: &'a BTreeMap<String, String>,
        about: Option<&'a BTreeMap<String, String>>,
    ) -> Operand<'a> {
        let number = |column: &str| COLUMNS.iter().position(|known| *known == column);
        let column = name
            .rsplit_once('.')
            .and_then(|(phase, column)| Some((phase, number(column)?)));
        let word = parameters.get(name).map(String::as_str);
        let text = word.or_else(|| about.and_then(|a| a.get(name)).map(String::as_str));
        Operand {
            name,
            column,
            kept: text.and_then(|text| text.parse().ok()),
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
#[path = "../tests/unit/laws.rs"]
mod tests;
