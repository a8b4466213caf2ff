//! The laws of a method checked on all slots of a launch. Where a name's value stands is looked up once, not slot by
//! slot, and how a law is broken is left to the law itself to tell.

use crate::checks::LawSeen;
use crate::slots::{SlotValues, counts_of};
use record::expression::{Condition, Expression, Holding, Law};
use record::transcript::COLUMNS;
use std::collections::BTreeMap;

/// Value of a name or an expression in a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OperandValue {
    Number(i64),
    Missing,
    /// Too large, or no number: the law itself finds out.
    Unsure,
}

/// Place of the values of one name in a law.
struct Operand<'a> {
    name: &'a str,
    /// A phase and the number of its column, for slots that have the phase.
    column: Option<(&'a str, usize)>,
    /// For slots that have neither that phase nor a fact of that name.
    kept: OperandValue,
    /// The parameter's own word.
    word: Option<&'a str>,
}

/// One law with the places of the names of each of its conditions and of its sides, in the order in which they stand there.
struct Placed<'a> {
    law: &'a Law,
    when: Vec<Vec<Operand<'a>>>,
    sides: Vec<Operand<'a>>,
    seen: LawSeen,
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
        let place = |name: &'a str| Operand::named(name, parameters, about);
        let pair = |a: &'a Expression, b: &'a Expression| {
            let mut names = Vec::new();
            a.names(&mut names);
            b.names(&mut names);
            names.into_iter().map(place).collect::<Vec<_>>()
        };
        let condition = |condition: &'a Condition| match condition {
            Condition::Word(key, _) => vec![place(key)],
            Condition::Related(a, _, b) => pair(a, b),
        };
        let placed = |law: &'a Law| Placed {
            law,
            when: law.when.iter().map(condition).collect(),
            sides: pair(&law.left, &law.right),
            seen: LawSeen::default(),
        };
        PlacedLaws(laws.map(placed).collect())
    }

    /// Holds every law against one slot. In a round without proofs those that need one are not asked.
    pub fn ask(&mut self, values: &SlotValues, launch: usize, proves: bool) {
        for placed in &mut self.0 {
            let holding = placed.holding(values, proves);
            let holding =
                holding.unwrap_or_else(|| if proves { placed.law.check(values) } else { placed.law.check_recorded(values) });
            if holding != Holding::NotAsked {
                placed.seen.take(holding, launch);
            }
        }
    }

    /// The laws that were asked, by their text.
    pub fn seen(self) -> impl Iterator<Item = (String, LawSeen)> {
        let checked = self.0.into_iter().filter(|placed| placed.seen.samples > 0);
        checked.map(|placed| (placed.law.text.clone(), LawSeen { level: placed.law.is_level(), ..placed.seen }))
    }
}

impl<'a> Operand<'a> {
    fn named(
        name: &'a str,
        parameters: &'a BTreeMap<String, String>,
        about: Option<&'a BTreeMap<String, String>>,
    ) -> Operand<'a> {
        let number = |column: &str| COLUMNS.iter().position(|known| *known == column);
        let column = name.rsplit_once('.').and_then(|(phase, column)| Some((phase, number(column)?)));
        let word = parameters.get(name).map(String::as_str);
        let text = word.or_else(|| about.and_then(|a| a.get(name)).map(String::as_str));
        Operand { name, column, kept: text.map_or(OperandValue::Missing, worth), word }
    }

    fn fact<'s>(&self, values: &SlotValues<'s>) -> Option<&'s str> {
        values.slot.facts.iter().find(|(name, _)| name == self.name).map(|(_, value)| value.as_str())
    }

    fn worth(&self, values: &SlotValues) -> OperandValue {
        let counts = self.column.and_then(|(phase, column)| Some((counts_of(&values.slot.phases, phase)?, column)));
        match counts {
            Some((counts, column)) => {
                i64::try_from(counts.to_array()[column]).map_or(OperandValue::Unsure, OperandValue::Number)
            }
            None => self.fact(values).map_or(self.kept, worth),
        }
    }
}

fn worth(text: &str) -> OperandValue {
    text.parse().map_or(OperandValue::Unsure, OperandValue::Number)
}

fn both(a: &Expression, b: &Expression, places: &[Operand], values: &SlotValues) -> (OperandValue, OperandValue) {
    let mut places = places.iter();
    let mut next = || places.next().map_or(OperandValue::Unsure, |place| place.worth(values));
    (value(a, &mut next), value(b, &mut next))
}

fn value(side: &Expression, next: &mut impl FnMut() -> OperandValue) -> OperandValue {
    match side {
        Expression::Number(number) => i64::try_from(*number).map_or(OperandValue::Unsure, OperandValue::Number),
        Expression::Name(_) => next(),
        Expression::Pair(a, operator, b) => match (value(a, next), value(b, next)) {
            (OperandValue::Number(a), OperandValue::Number(b)) => {
                let result = match operator {
                    '+' => a.checked_add(b),
                    '-' => a.checked_sub(b),
                    '*' => a.checked_mul(b),
                    '/' => a.checked_div(b),
                    _ => a.checked_rem(b),
                };
                result.map_or(OperandValue::Unsure, OperandValue::Number)
            }
            (OperandValue::Unsure, _) | (_, OperandValue::Unsure) => OperandValue::Unsure,
            _ => OperandValue::Missing,
        },
    }
}

impl Placed<'_> {
    /// Tells whether it holds or is not asked; none where the law itself must tell.
    fn holding(&self, values: &SlotValues, proves: bool) -> Option<Holding> {
        // An operand without a value breaks a law in a round that proves.
        let lacking = |pair: (OperandValue, OperandValue)| {
            (!proves && pair.0 != OperandValue::Unsure && pair.1 != OperandValue::Unsure).then_some(Holding::NotAsked)
        };
        for (condition, places) in self.law.when.iter().zip(&self.when) {
            let applies = match condition {
                Condition::Word(_, word) => places[0].word.or_else(|| places[0].fact(values)) == Some(word),
                Condition::Related(a, relation, b) => match both(a, b, places, values) {
                    (OperandValue::Number(a), OperandValue::Number(b)) => relation.holds(a.into(), b.into()),
                    pair => return lacking(pair),
                },
            };
            if !applies {
                return Some(Holding::NotAsked);
            }
        }
        match both(&self.law.left, &self.law.right, &self.sides, values) {
            (OperandValue::Number(a), OperandValue::Number(b)) => {
                self.law.relation.holds(a.into(), b.into()).then_some(Holding::Holds)
            }
            pair => lacking(pair),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/laws.rs"]
mod tests;
