//! Experiments: what is asked and how to read the answer, from `experiments/*.toml`.

use crate::cell::{Cell, display_value};
use crate::{concern::Concern, parameters::Parameters, sizes, table::FurtherTable};
use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;

/// Rule for the digests of one experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// The byte `seed | 1` at each page start, zeros elsewhere.
    PageMarks,
    /// The protocol's seeded pattern.
    Pattern,
    /// Every byte is `seed | 1`.
    Filled,
    /// Methods and workers must agree.
    Agree,
    /// Nothing is digested.
    None,
}

/// Phases that are added up slot by slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Total {
    /// Its name, used like a phase's.
    pub name: String,
    /// The phases added; those that a method does not have count as nothing.
    pub phases: Vec<String>,
    /// Meaning in one sentence.
    pub meaning: String,
    /// True if it is compared first.
    #[serde(default)]
    pub headline: bool,
    /// True if its wall time runs from the earliest start to the latest end of its phases, because two sides pass them at the
    /// same time. Everything else is added up all the same.
    #[serde(default)]
    pub overlap: bool,
}

impl Total {
    /// Formula: `send + receive`, or `send beside receive` where they overlap.
    pub fn formula(&self) -> String {
        self.phases
            .join(if self.overlap { " beside " } else { " + " })
    }
}

/// Kind of values of a parameter.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ParameterKind {
    /// Number of bytes, such as `64MiB`.
    Size,
    /// Whole number from one on. A worker's `number`, which may be 0, is taken for one, too (workers/PROTOCOL.md).
    #[serde(alias = "number")]
    Count,
    /// One of a list of words.
    Choice,
    /// Free text, such as a path.
    Text,
}

/// The kind of values that say what concerns something so.
fn kind_of(concern: Concern) -> ParameterKind {
    match concern {
        Concern::File => ParameterKind::Text,
        Concern::FileSize | Concern::MemoryBound | Concern::OwnMemoryBound => ParameterKind::Size,
        Concern::FilePlace | Concern::FileContent | Concern::PageCache => ParameterKind::Choice,
    }
}

/// One parameter of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Type of the values.
    pub kind: ParameterKind,
    /// Meaning in one sentence.
    pub meaning: String,
    /// All choices, or the usual grid.
    #[serde(default)]
    pub values: Vec<String>,
    /// Values of a run of this experiment.
    pub default: Vec<String>,
    /// Values of the overview; `default` where empty.
    #[serde(default)]
    pub look: Vec<String>,
    /// Values of the conformance suite; `default` where empty.
    #[serde(default)]
    pub check: Vec<String>,
    /// `page` where sizes must be whole pages.
    #[serde(default)]
    pub multiple_of: Option<String>,
    /// A method's own setting, which does not group comparisons.
    #[serde(default)]
    pub option: bool,
    /// True if its values are conditions in which a program may be, rather than choices of its author. The first value of a
    /// list is the usual condition; an answer that another one contradicts depends on it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub condition: bool,
    /// Clause for each value, as it follows "if": `read(2) cached the file`. That of `*` is for every value without one, which
    /// replaces its `{}`. Conditions need clauses; others have some where a reader must know the value.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub when: BTreeMap<String, String>,
    /// Values of other parameters with which this one has no effect, by their keys; a trailing `*` stands for any end.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub no_effect_where: BTreeMap<String, Vec<String>>,
    /// Values that change the system and need `--allow-system-changes`.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub system_changes: Vec<String>,
    /// Dimension that the laboratory acts on, if any.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub concerns: Option<Concern>,
}

/// Budget of each named experiment where neither budget nor precision is given, in seconds: its usual choice, and then the
/// neighbouring conditions.
pub const NAMED_BUDGET_S: f64 = 40.0;

/// The budget of an experiment that does not say what it needs, in seconds.
pub const USUAL_BUDGET_S: f64 = 60.0;

fn default_workers() -> Vec<String> {
    vec!["c-O3".to_owned()]
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

fn usual_warmup() -> u32 {
    2
}

/// A virtual machine compiles a measured loop within its first few rounds, and what is around it by the tenth.
fn usual_warmup_compiled() -> u32 {
    10
}

/// One question with its phases and parameters.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Name, which is the file's.
    pub name: String,
    /// Title, as lists and headings have it.
    pub title: String,
    /// Left out of the overview and of `list`, unless it is named.
    #[serde(default)]
    pub hidden: bool,
    /// Question that it answers, with a question mark.
    pub question: String,
    /// Ids of the published tables it covers.
    #[serde(default)]
    pub published: Vec<String>,
    /// Unit of the work, in the singular: `page`, `message`.
    pub unit: String,
    /// All phases in the order of tables.
    pub phases: Vec<String>,
    /// Those of the phases that stand beside the question: a worker that proves by round passes them only in rounds that prove.
    #[serde(rename = "seldom", default, skip_serializing_if = "crate::is_default")]
    pub sampled: Vec<String>,
    /// The method that others are compared with.
    pub baseline: String,
    /// Rule by which digests of methods are compared.
    pub content: Content,
    /// Workers that a run takes where none is named; a trailing `*` stands for every worker of that family.
    #[serde(default = "default_workers")]
    pub workers: Vec<String>,
    /// Seconds of a run of its default values, where more than [`USUAL_BUDGET_S`]; with less, the overview's values.
    #[serde(default)]
    #[serialize_always]
    pub budget_s: Option<f64>,
    /// A guess at one cell's turn in a launch, in seconds, where its bytes do not tell.
    pub cell_s: Option<f64>,
    /// Workers of the overview, where they are fewer.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub look_workers: Vec<String>,
    /// True if it is part of the overview.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub look: bool,
    /// Methods of the overview, where they are fewer: the usual choice and those that are likeliest to win.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub look_methods: Vec<String>,
    /// True if each method has processes of its own: what another one leaves in the caches would move its time.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub apart: bool,
    /// Discarded rounds of each launch, the same for all: a process's age is part of what is compared.
    #[serde(default = "usual_warmup")]
    pub warmup_rounds: u32,
    /// The same where a worker compiles its code while it runs.
    #[serde(default = "usual_warmup_compiled")]
    pub warmup_rounds_compiled: u32,
    /// Advice on reading the figures, as `show` prints it.
    #[serde(default)]
    pub reading: String,
    /// Mistakes that the figures are free of.
    #[serde(default)]
    pub traps: Vec<String>,
    /// Sums of phases that are figures of their own.
    #[serde(default)]
    pub totals: Vec<Total>,
    /// Further tables of its cells: resources, what each side paid.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub tables: Vec<FurtherTable>,
    /// The fact that holds a pass second by second, of which the worst second is told.
    pub seconds: Option<String>,
    /// The quantile of latencies (`p50`, `p99`, `p99.9`) that is harm to others: methods are compared by it, too.
    pub harm: Option<String>,
    /// The fact that says how many bytes lay in huge pages.
    pub huge_pages: Option<String>,
    /// Parameters by key.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
}

/// Line of an experiment in a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Title {
    /// Name of the experiment.
    pub name: String,
    /// Title, as lists and headings have it.
    pub title: String,
    /// Left out of the list, unless it is named.
    #[serde(default)]
    pub hidden: bool,
}

impl Title {
    /// Reads it from a sound file that says all of it before its question, which is all that a list needs.
    pub fn parse(path: &str, text: &str) -> Result<Title> {
        let (start, _) = text.split_once("\nquestion = ").unwrap_or((text, ""));
        toml::from_str(start)
            .map_err(|error| anyhow!("{path} does not begin with its title: {}", error.message()))
    }
}

/// Position in a text: `line 3, column 5`, both from one.
fn place(text: &str, at: usize) -> String {
    let before = &text[..at.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    format!("line {line}, column {column}")
}

/// Position of a quoted word behind the first line that begins with `after`.
fn place_of(text: &str, after: &str, word: &str) -> String {
    let from = text.find(after).unwrap_or(0);
    let at = text[from..]
        .find(&format!("\"{word}\""))
        .map_or(from, |at| from + at);
    place(text, at)
}

impl Experiment {
    /// Reads one file; an error names its path, line and column.
    pub fn parse(path: &str, text: &str) -> Result<Experiment> {
        let experiment: Experiment = toml::from_str(text).map_err(|error| {
            let at = place(text, error.span().map_or(0, |span| span.start));
            anyhow!(
                "{path} is not an experiment: {at}: {}",
                error.message().replace('\n', "; ")
            )
        })?;
        for total in &experiment.totals {
            if let Some(unknown) = total.phases.iter().find(|p| !experiment.phases.contains(p)) {
                let at = place_of(text, "[[totals]]", unknown);
                bail!(
                    "{path}: {at}: total {} names the phase {unknown:?}, which the experiment has not",
                    total.name
                );
            }
        }
        if let Some(wrong) = experiment
            .sampled
            .iter()
            .find(|p| !experiment.may_be_seldom(p))
        {
            let at = place_of(text, "seldom", wrong);
            bail!(
                "{path}: {at}: {wrong:?} is no phase that may be left out of most rounds: it is what is compared first"
            );
        }
        if !experiment.takes(&experiment.baseline, ParameterList::Look) {
            bail!(
                "{path}: look_methods lacks the baseline {}, with which the others are compared",
                experiment.baseline
            );
        }
        experiment.check_tables().map_err(|(word, wrong)| {
            anyhow!("{path}: {}: {wrong}", place_of(text, "[[tables]]", &word))
        })?;
        experiment.check_concerns().map_err(|(key, wrong)| {
            let at = text.find(&format!("[parameters.{key}]")).unwrap_or(0);
            anyhow!("{path}: {}: {wrong}", place(text, at))
        })?;
        if let Some((name, _)) = experiment
            .parameters
            .iter()
            .find(|(_, p)| p.default.is_empty())
        {
            bail!("{path}: parameter {name} has no default");
        }
        if let Some(harm) = &experiment.harm
            && !["p50", "p99", "p99.9"].contains(&harm.as_str())
        {
            bail!("{path}: harm is p50, p99 or p99.9, and not {harm}");
        }
        if let Some(unknown) = experiment
            .parameters
            .values()
            .flat_map(|p| p.no_effect_where.keys())
            .find(|other| !experiment.parameters.contains_key(*other))
        {
            let at = place(text, text.find("no_effect_where").unwrap_or(0));
            bail!(
                "{path}: {at}: no_effect_where names {unknown:?}, which is no parameter of the experiment"
            );
        }
        let unsaid = |p: &Parameter| {
            p.condition
                && p.default
                    .iter()
                    .chain(&p.look)
                    .any(|v| !p.when.contains_key(v) && !p.when.contains_key(EVERY_VALUE))
        };
        if let Some((name, _)) = experiment
            .parameters
            .iter()
            .find(|(_, p)| unsaid(p) || p.condition && p.option)
        {
            bail!(
                "{path}: condition {name} needs a clause in `when` for each value, and groups comparisons"
            );
        }
        Ok(experiment)
    }

    /// Tells whether every column of the further tables can be filled: the word that stands wrongly, and what is wrong.
    fn check_tables(&self) -> std::result::Result<(), (String, String)> {
        for table in &self.tables {
            for column in &table.columns {
                let title = &column.title;
                let unknown = column
                    .phase
                    .as_ref()
                    .filter(|phase| !self.measures().any(|m| m == *phase));
                if let Some(phase) = unknown {
                    let wrong = format!(
                        "column {title:?} names {phase:?}, which is no phase or total of the experiment"
                    );
                    return Err((phase.clone(), wrong));
                }
                if column.figure.is_some() == column.fact.is_some() {
                    return Err((
                        title.clone(),
                        format!("column {title:?} needs a figure or a fact, and not both"),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Line of this experiment in a list.
    pub fn titled(&self) -> Title {
        Title {
            name: self.name.clone(),
            title: self.title.clone(),
            hidden: self.hidden,
        }
    }

    /// Dimension that a parameter sets, if any.
    pub fn concern_of(&self, key: &str) -> Option<Concern> {
        self.parameters.get(key)?.concerns
    }

    /// The key that concerns this; there is one at the most.
    pub fn key(&self, concern: Concern) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        parameters
            .find(|(_, parameter)| parameter.concerns == Some(concern))
            .map(|(key, _)| key.as_str())
    }

    /// Value of this dimension in a cell of the experiment.
    pub fn value<'a>(&self, cell: &'a Cell, concern: Concern) -> Option<&'a str> {
        cell.parameters.get(self.key(concern)?).map(String::as_str)
    }

    /// Tells whether concerns have keys that can say them, one each: the key that stands wrongly, and what is wrong.
    fn check_concerns(&self) -> std::result::Result<(), (String, String)> {
        for (key, parameter) in &self.parameters {
            let Some(concern) = parameter.concerns else {
                continue;
            };
            let wrong = |why: String| Err((key.clone(), format!("parameter {key} {why}")));
            if parameter.kind != kind_of(concern) {
                let [wanted, kind] = [kind_of(concern), parameter.kind].map(<&str>::from);
                return wrong(format!("concerns what a {wanted} says, and is a {kind}"));
            }
            if let Some(first) = self.key(concern).filter(|first| first != key) {
                return wrong(format!("concerns the same as {first}; one parameter can"));
            }
        }
        Ok(())
    }

    /// The total or phase that is compared first.
    pub fn headline(&self) -> &str {
        let total = self
            .totals
            .iter()
            .find(|t| t.headline)
            .or(self.totals.first());
        total.map_or_else(|| self.phases[0].as_str(), |t| t.name.as_str())
    }

    /// Tells whether a word is a phase of the experiment that has no part in what is compared first.
    fn may_be_seldom(&self, phase: &str) -> bool {
        let headline = self.headline();
        let total = self.totals.iter().find(|t| t.name == headline);
        let first = total.map_or(headline == phase, |t| t.phases.iter().any(|p| p == phase));
        !first && self.phases.iter().any(|p| p == phase)
    }

    /// Tells whether a phase, or one of a total's, is measured only in rounds that prove.
    pub fn is_sampled(&self, name: &str) -> bool {
        let phases = self
            .totals
            .iter()
            .find(|t| t.name == name)
            .map_or(&[][..], |t| &t.phases);
        self.sampled
            .iter()
            .any(|phase| phase == name || phases.contains(phase))
    }

    /// Time of a run of its default values, in seconds.
    pub fn needed_s(&self) -> f64 {
        self.budget_s.unwrap_or(USUAL_BUDGET_S)
    }

    /// Phases, then totals: everything a figure can be given for.
    pub fn measures(&self) -> impl Iterator<Item = &str> {
        self.phases
            .iter()
            .map(String::as_str)
            .chain(self.totals.iter().map(|t| t.name.as_str()))
    }

    /// Workers that a run takes where none is named.
    pub fn usual_workers(&self, list: ParameterList) -> &[String] {
        match list {
            ParameterList::Look if !self.look_workers.is_empty() => &self.look_workers,
            _ => &self.workers,
        }
    }

    /// Tells whether a method is taken where none is named.
    pub fn takes(&self, method: &str, list: ParameterList) -> bool {
        list != ParameterList::Look
            || self.look_methods.is_empty()
            || self.look_methods.iter().any(|m| m == method)
    }

    /// Puts a machine's sizes for those that the lists of its parameters give in huge pages or caches, see [`sizes::here`].
    pub fn settle_sizes(&mut self, here: &sizes::Here) -> Result<()> {
        let sized = self
            .parameters
            .iter_mut()
            .filter(|(_, p)| p.kind == ParameterKind::Size);
        for (name, p) in sized {
            for word in [&mut p.values, &mut p.default, &mut p.look, &mut p.check]
                .into_iter()
                .flatten()
            {
                let settled = sizes::here(word, here);
                *word = settled
                    .with_context(|| format!("experiment {}, parameter {name}", self.name))?;
            }
        }
        Ok(())
    }

    /// The key and the value among these parameters with which a parameter has no effect; `None` where it has one.
    pub fn obstacle<'a>(
        &'a self,
        key: &str,
        parameters: &'a Parameters,
    ) -> Option<(&'a str, &'a str)> {
        let others = &self.parameters.get(key)?.no_effect_where;
        others.iter().find_map(|(other, without)| {
            let value = parameters.get(other)?;
            let is_without = |word: &String| match word.strip_suffix('*') {
                Some(start) => value.starts_with(start),
                None => is_same_value(word, value),
            };
            let is_named = without.iter().any(is_without);
            is_named.then_some((other.as_str(), value.as_str()))
        })
    }

    /// Tells whether a parameter is a condition in which a program may be.
    pub fn is_condition(&self, key: &str) -> bool {
        self.parameters.get(key).is_some_and(|p| p.condition)
    }

    /// The parameters that are no conditions: those that a question keeps under all of its conditions.
    pub fn question(&self, parameters: &Parameters) -> Parameters {
        parameters
            .iter()
            .filter(|(key, _)| !self.is_condition(key))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }

    /// Tells whether a condition has its usual value among these parameters.
    pub fn is_usual(&self, key: &str, parameters: &Parameters) -> bool {
        let usual = self
            .parameters
            .get(key)
            .and_then(|p| p.look.first().or(p.default.first()));
        usual
            .zip(parameters.get(key))
            .is_none_or(|(usual, value)| is_same_value(usual, value))
    }

    /// Conditions that do not have their usual value among these parameters.
    pub fn unusual<'a>(&'a self, parameters: &'a Parameters) -> impl Iterator<Item = &'a str> {
        let conditions = self
            .parameters
            .iter()
            .filter(|(_, p)| p.condition)
            .map(|(key, _)| key.as_str());
        conditions.filter(|key| !self.is_usual(key, parameters))
    }

    /// The usual conditions next to these parameters, as the one value that differs: what an answer has to hold under before it may
    /// be given without its condition.
    pub fn neighbors(&self, parameters: &Parameters) -> Vec<(&str, &str)> {
        let mut neighbors = Vec::new();
        for (key, parameter) in self.parameters.iter().filter(|(_, p)| p.condition) {
            let usual = if parameter.look.is_empty() {
                &parameter.default
            } else {
                &parameter.look
            };
            let Some(here) = parameters.get(key) else {
                continue;
            };
            let others = usual.iter().filter(|value| !is_same_value(value, here));
            neighbors.extend(others.map(|value| (key.as_str(), value.as_str())));
        }
        neighbors
    }

    /// Tells whether parameters differ from others in this value of this key alone.
    pub fn are_next_to(
        parameters: &Parameters,
        others: &Parameters,
        (key, value): (&str, &str),
    ) -> bool {
        parameters.len() == others.len()
            && parameters.iter().all(|(known, there)| {
                if known == key {
                    is_same_value(there, value)
                } else {
                    others.get(known) == Some(there)
                }
            })
    }

    /// Clause that follows "if" for values of conditions: `a mapping cached the file and its pages are small`.
    pub fn clause(&self, when: &BTreeMap<String, String>) -> String {
        let clauses = when.iter().map(|(key, value)| {
            self.clause_on(key, value)
                .unwrap_or_else(|| format!("{key}={value}"))
        });
        clauses.collect::<Vec<_>>().join(" and ")
    }

    /// Clause on one value of a parameter, where its author wrote one.
    pub fn clause_on(&self, key: &str, value: &str) -> Option<String> {
        let parameter = self.parameters.get(key)?;
        let mut clauses = parameter.when.iter();
        if let Some((_, clause)) = clauses.find(|(known, _)| is_same_value(known, value)) {
            return Some(clause.clone());
        }
        let is_size = parameter.kind == ParameterKind::Size;
        let value_words = sizes::spaced(&display_value(value, is_size));
        Some(parameter.when.get(EVERY_VALUE)?.replace("{}", &value_words))
    }

    /// Seconds that a run of this experiment takes at most where it is named and no budget is given.
    pub fn named_s(&self) -> f64 {
        self.needed_s().min(NAMED_BUDGET_S)
    }

    /// True if cells with different values of the parameter are in different groups.
    pub fn groups_by(&self, parameter: &str) -> bool {
        self.parameters.get(parameter).is_none_or(|p| !p.option)
    }
}

/// The key of a clause for every value that has none of its own.
const EVERY_VALUE: &str = "*";

/// Tells whether two words are one value: `1MiB` and `1048576` are.
pub fn is_same_value(value: &str, other: &str) -> bool {
    let size = |word: &str| sizes::parse_size(word).ok();
    value == other || size(value).is_some_and(|bytes| Some(bytes) == size(other))
}

/// Choice among a parameter's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterList {
    /// Values of a run without `--set`.
    Default,
    /// Values of the overview.
    Look,
    /// Values of the conformance suite.
    Check,
    /// `default`, or `look` for experiments that say what their default values need: the budget is less.
    Short,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
name = "x"
title = "x"
question = "x?"
unit = "byte"
phases = ["send", "receive"]
baseline = "a"
content = "none"
[[tables]]
title = "each side"
needs = "send.calls"
columns = [
{ title = "send CPU", phase = "send", figure = "cpu-ns" },
{ title = "calls", fact = "send.calls", per = "MiB" },
]
"#;

    #[test]
    fn further_tables_are_read() {
        let experiment = Experiment::parse("x.toml", TEXT).unwrap();
        assert_eq!(
            experiment.tables[0].columns[1].fact.as_deref(),
            Some("send.calls")
        );
    }

    #[test]
    fn what_is_wrong_in_a_table_is_named_with_line_and_column() {
        for (right, wrong, said) in [
            (
                "phase = \"send\"",
                "phase = \"sned\"",
                "column \"send CPU\" names \"sned\"",
            ),
            ("cpu-ns", "cpu", "unknown variant `cpu`"),
            (
                "fact = \"send.calls\", per = \"MiB\"",
                "per = \"MiB\"",
                "column \"calls\" needs a figure",
            ),
            ("per = \"MiB\"", "per = \"GiB\"", "unknown variant `GiB`"),
            ("needs =", "need =", "unknown field `need`"),
        ] {
            let error = Experiment::parse("x.toml", &TEXT.replace(right, wrong))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(said) && error.contains("line 1") && error.contains("column "),
                "{error}, not {said}"
            );
        }
    }
}
