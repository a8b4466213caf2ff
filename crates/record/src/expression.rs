//! Laws and needs as methods write them: sums and products of whole numbers and names, and relations between two of them.
//!
//! `first-touch.minor_faults == bytes / page_bytes`, `release=dontneed & bytes>=131072: fill.minor_faults >= 1`.
//! Precedence as usual; `/` is whole-number division and `%` its remainder. Names contain letters, digits, `-`, `_` and `.`,
//! so a minus sign stands between spaces.

use anyhow::{Result, bail, ensure};
use std::{collections::BTreeSet, fmt, iter::Peekable, vec::IntoIter};

/// Limit of a side's numbers, names and signs. It bounds the depth of an [`Expression`], which is read, used and freed recursively.
const MOST_TOKENS: usize = 512;
/// Limit of parentheses within each other.
const MOST_NESTED: usize = 32;

/// A sum of products over numbers and names.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A literal number.
    Number(i128),
    /// A column of a phase, a fact or a parameter.
    Name(String),
    /// Two operands and one of `+ - * / %`.
    Pair(Box<Expression>, char, Box<Expression>),
}

/// One of the five relations of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `==`
    Equal,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `>`
    Above,
}

/// A condition under which a law applies.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `key=word`
    Word(String, String),
    /// A relation of two expressions.
    Related(Expression, Relation, Expression),
}

/// One law: `[CONDITION & CONDITION:] LEFT RELATION RIGHT`.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// All of them must hold for the law to apply.
    pub when: Vec<Condition>,
    /// Left side.
    pub left: Expression,
    /// Relation between the sides.
    pub relation: Relation,
    /// Right side.
    pub right: Expression,
    /// Law as the method wrote it.
    pub text: String,
}

/// Source of the values of names.
pub trait Values {
    /// The number that `name` stands for, where there is one.
    fn number(&self, name: &str) -> Option<i128>;
    /// The word that parameter `name` has, where there is one.
    fn word(&self, name: &str) -> Option<&str>;
}

/// Reason why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing<'a> {
    /// This name stands for nothing here.
    Name(&'a str),
    /// These operands have no result.
    Value(i128, char, i128),
}

impl fmt::Display for Missing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Name(name) => f.write_str(name),
            Missing::Value(a, operator, b) => write!(f, "{a} {operator} {b}"),
        }
    }
}

/// Result of a law for one sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Holding {
    /// Its condition does not apply here.
    NotAsked,
    /// The relation holds.
    Holds,
    /// The relation is broken; the text has both sides with their figures.
    Broken(String),
}

impl Expression {
    /// Reads an expression. Errors: it is none of the grammar.
    pub fn parse(text: &str) -> Result<Expression> {
        let mut tokens = tokens(text)?;
        let expression = sum(&mut tokens)?;
        if let Some(rest) = tokens.peek() {
            bail!("unexpected {rest:?} in {text:?}");
        }
        Ok(expression)
    }

    /// The value, or what has none; division by zero and overflow count as no value.
    pub fn value(&self, values: &dyn Values) -> Result<i128, Missing<'_>> {
        match self {
            Expression::Number(n) => Ok(*n),
            Expression::Name(name) => values.number(name).ok_or(Missing::Name(name)),
            Expression::Pair(a, operator, b) => {
                let (a, b) = (a.value(values)?, b.value(values)?);
                let result = match operator {
                    '+' => a.checked_add(b),
                    '-' => a.checked_sub(b),
                    '*' => a.checked_mul(b),
                    '/' => a.checked_div(b),
                    _ => a.checked_rem(b),
                };
                result.ok_or(Missing::Value(a, *operator, b))
            }
        }
    }

    /// Adds the names in it, in the order in which they stand there.
    pub fn names<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Expression::Number(_) => {}
            Expression::Name(name) => into.push(name),
            Expression::Pair(a, _, b) => {
                a.names(into);
                b.names(into);
            }
        }
    }
}

impl Relation {
    fn parse(token: &str) -> Option<Relation> {
        Some(match token {
            "==" => Relation::Equal,
            "<=" => Relation::AtMost,
            ">=" => Relation::AtLeast,
            "<" => Relation::Below,
            ">" => Relation::Above,
            _ => return None,
        })
    }

    /// True if `a` and `b` are in this relation.
    pub fn holds(self, a: i128, b: i128) -> bool {
        match self {
            Relation::Equal => a == b,
            Relation::AtMost => a <= b,
            Relation::AtLeast => a >= b,
            Relation::Below => a < b,
            Relation::Above => a > b,
        }
    }
}

impl Law {
    /// Reads a law with its conditions. Errors: it is none of the grammar.
    pub fn parse(text: &str) -> Result<Law> {
        let text = text.trim();
        let (when, body) = text.split_once(':').map_or(("", text), |(w, b)| (w, b));
        let when = when
            .split('&')
            .map(str::trim)
            .filter(|w| !w.is_empty())
            .map(parse_condition)
            .collect::<Result<_>>()?;
        let (left, relation, right) = parse_relation(body)?;
        Ok(Law {
            when,
            left,
            relation,
            right,
            text: text.to_owned(),
        })
    }

    /// Parses laws separated by `;`.
    pub fn parse_all(text: &str) -> Result<Vec<Law>> {
        text.split(';')
            .filter(|l| !l.trim().is_empty())
            .map(Law::parse)
            .collect()
    }

    /// The names on its two sides, each once; those of its conditions are left out.
    pub fn operands(&self) -> BTreeSet<&str> {
        let mut names = Vec::new();
        self.left.names(&mut names);
        self.right.names(&mut names);
        names.into_iter().collect()
    }

    /// A law about a time, or about what others did meanwhile, is a level: noise may break it now and then.
    pub fn is_level(&self) -> bool {
        self.operands()
            .iter()
            .any(|n| n.ends_with("_ns") || n.starts_with("foreign_"))
    }

    /// Holds the law against one slot's values. An operand without a value breaks it.
    pub fn check(&self, values: &dyn Values) -> Holding {
        self.against(values).unwrap_or_else(|missing| {
            Holding::Broken(format!("{}: {missing} was not recorded", self.text))
        })
    }

    /// The same where an operand may lack its value: the law is not asked then.
    pub fn check_recorded(&self, values: &dyn Values) -> Holding {
        self.against(values).unwrap_or(Holding::NotAsked)
    }

    fn against(&self, values: &dyn Values) -> Result<Holding, Missing<'_>> {
        for condition in &self.when {
            let applies = match condition {
                Condition::Word(key, word) => values.word(key) == Some(word),
                Condition::Related(a, relation, b) => {
                    relation.holds(a.value(values)?, b.value(values)?)
                }
            };
            if !applies {
                return Ok(Holding::NotAsked);
            }
        }
        let (a, b) = (self.left.value(values)?, self.right.value(values)?);
        Ok(if self.relation.holds(a, b) {
            Holding::Holds
        } else {
            Holding::Broken(format!("{}: {a} against {b}", self.text))
        })
    }
}

fn parse_condition(text: &str) -> Result<Condition> {
    if let Some((key, word)) = text.split_once('=')
        && !key.ends_with(['<', '>', '=', ' '])
        && !word.starts_with('=')
    {
        return Ok(Condition::Word(key.to_owned(), word.to_owned()));
    }
    let (left, relation, right) = parse_relation(text)?;
    Ok(Condition::Related(left, relation, right))
}

fn parse_relation(text: &str) -> Result<(Expression, Relation, Expression)> {
    let mut tokens = tokens(text)?;
    let left = sum(&mut tokens)?;
    let Some(relation) = tokens.next().and_then(Relation::parse) else {
        bail!("no relation (==, <=, >=, <, >) in {text:?}");
    };
    let right = sum(&mut tokens)?;
    match tokens.peek() {
        Some(rest) => bail!("unexpected {rest:?} in {text:?}"),
        None => Ok((left, relation, right)),
    }
}

type Tokens<'a> = Peekable<IntoIter<&'a str>>;

fn tokens(text: &str) -> Result<Tokens<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if c.is_alphanumeric() || c == '_' => rest
                .find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
                .unwrap_or(rest.len()),
            '=' | '<' | '>' => 1 + usize::from(rest[1..].starts_with('=')),
            '+' | '-' | '*' | '/' | '%' | '(' | ')' => 1,
            other => bail!("unexpected {other:?} in {text:?}"),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    let mut nested: usize = 0;
    for token in &tokens {
        match *token {
            "(" => nested += 1,
            ")" => nested = nested.saturating_sub(1),
            _ => {}
        }
        ensure!(
            nested <= MOST_NESTED,
            "more than {MOST_NESTED} parentheses are open at once"
        );
    }
    ensure!(
        tokens.len() <= MOST_TOKENS,
        "more than {MOST_TOKENS} numbers, names and signs are in one relation"
    );
    Ok(tokens.into_iter().peekable())
}

fn chain(
    tokens: &mut Tokens,
    operators: &str,
    operand: fn(&mut Tokens) -> Result<Expression>,
) -> Result<Expression> {
    let mut left = operand(tokens)?;
    while let Some(operator) = tokens.next_if(|t| t.len() == 1 && operators.contains(*t)) {
        let right = operand(tokens)?;
        left = Expression::Pair(
            Box::new(left),
            operator.as_bytes()[0] as char,
            Box::new(right),
        );
    }
    Ok(left)
}

fn sum(tokens: &mut Tokens) -> Result<Expression> {
    chain(tokens, "+-", |tokens| chain(tokens, "*/%", atom))
}

fn atom(tokens: &mut Tokens) -> Result<Expression> {
    let Some(token) = tokens.next() else {
        bail!("an expression ends too early")
    };
    if token == "(" {
        let inner = sum(tokens)?;
        if tokens.next() != Some(")") {
            bail!("a parenthesis is not closed");
        }
        return Ok(inner);
    }
    if token.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Expression::Number(token.parse()?));
    }
    if token.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return Ok(Expression::Name(token.to_owned()));
    }
    bail!("unexpected {token:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Fixed;
    impl Values for Fixed {
        fn number(&self, name: &str) -> Option<i128> {
            match name {
                "bytes" => Some(5 << 20),
                "page_bytes" => Some(4096),
                "huge_page_bytes" => Some(2 << 20),
                "first-touch.minor_faults" => Some(258),
                "first-touch.wall_ns" => Some(1000),
                _ => None,
            }
        }
        fn word(&self, name: &str) -> Option<&str> {
            (name == "release").then_some("free")
        }
    }

    fn check(text: &str) -> Holding {
        Law::parse(text).unwrap().check(&Fixed)
    }

    #[test]
    fn laws_follow_the_usual_precedence() {
        let tail = "first-touch.minor_faults == bytes / huge_page_bytes + bytes % huge_page_bytes / page_bytes";
        assert_eq!(check(tail), Holding::Holds);
        assert_eq!(
            check("first-touch.minor_faults == 2 * (100 + 29)"),
            Holding::Holds
        );
        assert!(matches!(
            check("first-touch.minor_faults == 2"),
            Holding::Broken(_)
        ));
    }

    #[test]
    fn conditions_decide_whether_a_law_is_asked() {
        assert_eq!(check("release=dontneed: bytes == 1"), Holding::NotAsked);
        assert_eq!(
            check("release=free & bytes >= 6000000: bytes == 1"),
            Holding::NotAsked
        );
        assert!(matches!(
            check("release=free & bytes>=4096: bytes == 1"),
            Holding::Broken(_)
        ));
    }

    #[test]
    fn an_operand_that_was_not_recorded_breaks_the_law() {
        assert_eq!(
            check("ghost == 0"),
            Holding::Broken("ghost == 0: ghost was not recorded".into())
        );
        assert!(matches!(check("bytes / 0 == 1"), Holding::Broken(_)));
    }

    #[test]
    fn laws_on_times_are_levels() {
        assert!(Law::parse("first-touch.wall_ns <= 3").unwrap().is_level());
        assert!(Law::parse("8 * foreign_bytes <= bytes").unwrap().is_level());
        assert!(!Law::parse("bytes <= 3").unwrap().is_level());
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "", "1 ==", "== 1", "1 = 1", "1 == 1 1", "(1 == 1", "a ! b", "1 + == 2",
        ] {
            assert!(Law::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn deep_and_long_expressions_are_refused_before_they_are_read() {
        let nested = |depth: usize| format!("{}1{} == 1", "(".repeat(depth), ")".repeat(depth));
        let long = |terms: usize| format!("1 == {}1", "1 + ".repeat(terms));
        assert_eq!(check(&nested(MOST_NESTED)), Holding::Holds);
        assert!(matches!(
            check(&long(MOST_TOKENS / 2 - 2)),
            Holding::Broken(_)
        ));
        for text in [
            nested(MOST_NESTED + 1),
            nested(200_000),
            "(".repeat(200_000),
            long(MOST_TOKENS),
            long(2_000_000),
            format!("{}: 1 == 1", nested(200_000)),
        ] {
            let error = Law::parse(&text).unwrap_err().to_string();
            assert!(
                error.starts_with("more than") && error.len() < 100,
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,40}") {
            let _ = Law::parse(&text);
            let _ = Expression::parse(&text);
        }
    }
}
