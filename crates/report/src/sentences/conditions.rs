//! Clauses on the conditions of a question: those that its answer has in common, how its methods fare under each, and under which
//! conditions that is open.

use super::labels::LabelledGroup;
use super::wording;
use record::experiment::{Experiment, is_same_value};
use record::parameters::Parameters;
use record::sizes::BYTES;
use record::summary::{AnswerCondition, Contrast, Recommendation, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// The finding on the methods of an answer under one condition.
struct ConditionFinding {
    /// The values of the condition that differ from those of the question's group; its own ones where it is that group's.
    when: Parameters,
    verdict: Verdict,
    /// The ratios of all methods, from the least to the most.
    ratios: (f64, f64),
}

/// Clauses on the methods of an answer under each condition of a question.
pub(crate) struct ConditionClauses {
    /// The methods that the clauses are about; none where no other condition says anything of one.
    method: Option<String>,
    /// Findings, faster ones first: `3.0–3.8× faster if the program keeps the block`.
    settled: Vec<String>,
    /// Conditions that were measured and leave it open.
    unsettled: Vec<String>,
    /// Conditions that were not measured.
    unmeasured: Vec<String>,
    /// Conditions under which the methods do not exist.
    absent: Vec<String>,
}

impl ConditionClauses {
    /// Builds the clauses of a group; `with_its` includes its own condition among the findings.
    pub(crate) fn new(group: LabelledGroup, with_its: bool) -> ConditionClauses {
        let definition = group.definition();
        let others = findings(group);
        let mut known: Vec<Parameters> = others.iter().map(|other| other.when.clone()).collect();
        let open = |conditions: &[Parameters]| -> Vec<String> {
            let unknown = conditions.iter().filter(|when| !known.contains(when));
            unknown.map(|when| definition.clause(when)).collect()
        };
        let (mut unsettled, unmeasured, absent) = (
            open(&group.group.unsettled),
            open(&group.group.unmeasured),
            open(&group.group.absent),
        );
        known.extend_from_slice(&group.group.unsettled);
        // A condition in which two things differ is no neighbor, and says less.
        for condition in group.group.conditions.iter().filter(|c| is_open(c)) {
            if condition.when.len() == 1 && !known.contains(&condition.when) {
                unsettled.push(definition.clause(&condition.when));
                known.push(condition.when.clone());
            }
        }
        let here = own_finding(group).filter(|_| with_its);
        let mut settled: Vec<ConditionFinding> = here.into_iter().chain(others).collect();
        settled.sort_by_key(|finding| rank(finding.verdict));
        let settled = settled.into_iter().map(|finding| {
            let clause = definition.clause(&finding.when);
            format!("{} if {clause}", finding.sentence(group))
        });
        ConditionClauses {
            method: method(group),
            settled: settled.collect(),
            unsettled,
            unmeasured,
            absent,
        }
    }

    /// Name of the methods that the clauses are about.
    pub(crate) fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// Clauses for a sentence on the method, with every open condition; empty where there is none.
    pub(super) fn joined(&self) -> String {
        let clauses = self.settled.iter().cloned();
        clauses.chain(self.open("")).collect::<Vec<_>>().join("; ")
    }

    /// Lines of an answer that depends: the conditions that all findings have in common, each finding with its methods, and the
    /// open conditions.
    pub(super) fn depending(&self, group: LabelledGroup) -> Vec<String> {
        let differing = differing(group);
        let common = fixed(group, |key| !differing.contains(key));
        let method = self.method.as_deref().unwrap_or_default();
        let findings = self.settled.iter();
        common
            .into_iter()
            .chain(findings.map(|clause| format!("{method} {clause}")))
            .chain(self.open(&command(group)))
            .collect()
    }

    /// Lines of an answer that is given once: the conditions under which it holds, and the open ones.
    pub(super) fn holding(&self, group: LabelledGroup) -> Vec<String> {
        let held = held(group);
        let common = fixed(group, |key| !held.contains_key(key));
        let alternatives = held.values().map(|values| {
            let conditions: Vec<String> =
                values.iter().map(|value| format!("if {value}")).collect();
            format!("the same {}", wording::all(&conditions))
        });
        let holds: Vec<String> = common.into_iter().chain(alternatives).collect();
        let holds = (!holds.is_empty()).then(|| holds.join("; "));
        holds
            .into_iter()
            .chain(self.open(&command(group)))
            .collect()
    }

    /// Clauses on the open conditions by what is known of them, after those that were not measured what would measure them.
    fn open(&self, command: &str) -> impl Iterator<Item = String> {
        let kinds = [
            ("measured but open", &self.unsettled, ""),
            ("not measured", &self.unmeasured, command),
            ("not possible", &self.absent, ""),
        ];
        kinds
            .into_iter()
            .filter(|(_, conditions, _)| !conditions.is_empty())
            .map(|(kind, conditions, command)| {
                format!("{kind} if {}{command}", wording::either(conditions))
            })
    }

    /// Last part of a sentence on the method: `; thp is 3.0–3.8× faster if …; not measured if …`.
    pub(super) fn ending(&self) -> String {
        match &self.method {
            Some(method) if !self.settled.is_empty() => format!("; {method} is {}", self.joined()),
            _ => self.open("").map(|open| format!("; {open}")).collect(),
        }
    }
}

/// The command that measures an experiment's usual conditions, with the seconds that it takes at most.
fn command(group: LabelledGroup) -> String {
    let time = wording::duration(group.definition().named_s());
    let name = group.experiment.name();
    format!(" (at most {time}: pagewise run {name})")
}

/// The methods that an answer is about, as cells of its group, as measured the fastest first: that of the recommendation with
/// those that are as good, or each of several that are faster.
pub(crate) fn subjects(group: LabelledGroup) -> Vec<usize> {
    let cell = match group.group.recommendation {
        Recommendation::Use { cell, .. } | Recommendation::Depends { cell, .. } => cell,
        _ => return group.group.faster.clone(),
    };
    let mut cells = [&[cell], group.group.alike.as_slice()].concat();
    cells.sort_by(|&a, &b| ratio(group, a).total_cmp(&ratio(group, b)));
    cells
}

/// A cell's estimated ratio to the baseline.
fn ratio(group: LabelledGroup, cell: usize) -> f64 {
    let comparison = group.comparison(cell);
    comparison
        .and_then(|c| c.contrast.ratio)
        .map_or(f64::INFINITY, |ratio| ratio.ratio)
}

/// The names of these methods: `thp or thp-populate`.
pub(crate) fn subject_names(group: LabelledGroup) -> String {
    let names: Vec<String> = subjects(group)
        .into_iter()
        .map(|cell| group.name(cell))
        .collect();
    wording::either(&names)
}

/// The names of these methods; of an answer that recommends none, the method that another condition recommends.
fn method(group: LabelledGroup) -> Option<String> {
    if subjects(group).is_empty() {
        let first = group.group.conditions.first()?;
        return Some(group.cell(first.cell).method.clone());
    }
    Some(subject_names(group))
}

/// Tells whether a condition was measured and decides nothing.
fn is_open(condition: &AnswerCondition) -> bool {
    condition.contrast.ratio.is_some() && condition.contrast.overall() == Verdict::NotSettled
}

/// The decided findings under the other conditions.
fn findings(group: LabelledGroup) -> Vec<ConditionFinding> {
    let mut by_group: BTreeMap<usize, Vec<&AnswerCondition>> = BTreeMap::new();
    for condition in &group.group.conditions {
        by_group.entry(condition.group).or_default().push(condition);
    }
    let findings = by_group.into_values().filter_map(|conditions| {
        let contrasts = conditions.iter().map(|condition| &condition.contrast);
        ConditionFinding::new(conditions[0].when.clone(), contrasts)
    });
    findings.collect()
}

/// The finding under the group's own condition, by the values in which it differs from the others.
fn own_finding(group: LabelledGroup) -> Option<ConditionFinding> {
    let differing = differing(group);
    let when: Parameters = group
        .group
        .parameters
        .iter()
        .filter(|(key, _)| differing.contains(*key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let cells = subjects(group);
    let comparisons = cells.iter().filter_map(|&cell| group.comparison(cell));
    let contrasts = comparisons.map(|comparison| &comparison.contrast);
    ConditionFinding::new(when, contrasts).filter(|finding| !finding.when.is_empty())
}

impl ConditionFinding {
    /// One finding on several methods; none where they were not measured, differ or are open.
    fn new<'a>(
        when: Parameters,
        contrasts: impl Iterator<Item = &'a Contrast>,
    ) -> Option<ConditionFinding> {
        let mut finding: Option<ConditionFinding> = None;
        for contrast in contrasts {
            let Some(ratio) = contrast.ratio else {
                continue;
            };
            let verdict = contrast.overall();
            let (low, high) = finding
                .as_ref()
                .map_or((ratio.low, ratio.high), |finding| finding.ratios);
            let is_same = finding
                .as_ref()
                .is_none_or(|finding| rank(finding.verdict) == rank(verdict));
            if !is_same || verdict == Verdict::NotSettled {
                return None;
            }
            finding = Some(ConditionFinding {
                when: when.clone(),
                verdict,
                ratios: (low.min(ratio.low), high.max(ratio.high)),
            });
        }
        finding
    }

    fn sentence(&self, group: LabelledGroup) -> String {
        let (low, high) = self.ratios;
        match self.verdict {
            Verdict::Faster { .. } => {
                format!("{}× faster", wording::factors(1.0 / high, 1.0 / low))
            }
            Verdict::Slower { .. } => format!("{}× slower", wording::factors(low, high)),
            Verdict::Within { margin } => format!(
                "within {} of {}",
                wording::percent(margin),
                group.baseline_name().unwrap_or_default()
            ),
            Verdict::NotSettled => "open".to_owned(),
        }
    }
}

/// The parameters in which the findings differ; of an answer with one finding, those of the conditions that are open.
fn differing(group: LabelledGroup) -> BTreeSet<String> {
    let decided = findings(group);
    let decided: BTreeSet<String> = decided
        .into_iter()
        .flat_map(|f| f.when.into_iter().map(|(key, _)| key))
        .collect();
    if !decided.is_empty() {
        return decided;
    }
    let measured = group.group.conditions.iter().filter(|c| is_open(c));
    open_conditions(group)
        .chain(measured.map(|condition| &condition.when))
        .flat_map(|when| when.keys().cloned())
        .collect()
}

/// Usual conditions next to a group under which its answer is not shown to hold.
fn open_conditions(group: LabelledGroup<'_>) -> impl Iterator<Item = &Parameters> {
    let group = group.group;
    let lists = [&group.unsettled, &group.unmeasured, &group.absent];
    lists.into_iter().flatten()
}

/// Clauses on the values of each condition of which the answer is shown to hold under several, its own one first.
fn held(group: LabelledGroup<'_>) -> BTreeMap<&str, Vec<String>> {
    let definition = group.definition();
    let open: Vec<&Parameters> = open_conditions(group).collect();
    let mut held: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (key, value) in definition.neighbors(&group.group.parameters) {
        let is_same = |known: &str| is_same_value(known, value);
        let mut differing = open.iter().filter_map(|when| when.get(key));
        let is_next = |other: &Parameters| {
            Experiment::are_next_to(other, &group.group.parameters, (key, value))
        };
        let mut groups = group.experiment.groups();
        let is_measured = groups.any(|other| is_next(&other.group.parameters));
        if !is_measured || differing.any(|known| is_same(known)) {
            continue;
        }
        let here = &group.group.parameters[key];
        held.entry(key)
            .or_insert_with(|| vec![clause_on(group, key, here)])
            .push(clause_on(group, key, value));
    }
    held
}

fn clause_on(group: LabelledGroup, key: &str, value: &str) -> String {
    let when = Parameters::from([(key.to_owned(), value.to_owned())]);
    group.definition().clause(&when)
}

/// The conditions of these names under which a group was measured, and its other parameters that a reader must know: those with
/// a clause, and those of which the experiment usually has several values and this run one.
fn fixed(group: LabelledGroup, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let definition = group.definition();
    let mut clauses = Vec::new();
    for (key, value) in &group.group.parameters {
        let Some(parameter) = definition.parameters.get(key) else {
            continue;
        };
        let is_one_of_several = key != BYTES
            && !group.experiment.varies(key)
            && (parameter.default.len() > 1 || parameter.look.len() > 1);
        let is_shown = if parameter.condition {
            is_wanted(key)
        } else {
            is_one_of_several || definition.clause_on(key, value).is_some()
        };
        if is_shown {
            clauses.push(clause_on(group, key, value));
        }
    }
    (!clauses.is_empty()).then(|| format!("if {}", wording::all(&clauses)))
}

/// The condition of a group, by the parameters in which other conditions of its question differ.
pub(crate) fn own_condition(group: LabelledGroup) -> String {
    let definition = group.definition();
    let others = group.group.conditions.iter();
    let differing = others.flat_map(|condition| condition.when.keys().map(String::as_str));
    let neighbors = definition.neighbors(&group.group.parameters);
    let mut when = BTreeMap::new();
    for key in differing.chain(neighbors.into_iter().map(|(key, _)| key)) {
        if let Some(value) = group.group.parameters.get(key) {
            when.insert(key.to_owned(), value.clone());
        }
    }
    definition.clause(&when)
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Faster { .. } => 0,
        Verdict::Slower { .. } => 1,
        Verdict::Within { .. } => 2,
        Verdict::NotSettled => 3,
    }
}
