//! Clauses on the conditions of a question: how a method fares under each, and under which nothing is known yet.

use super::labels::LabelledGroup;
use super::wording;
use record::plan::NAMED_BUDGET_S;
use record::summary::{Ratio, Recommendation, Verdict};
use std::collections::BTreeMap;

/// The verdict on a method under one condition.
struct ConditionVerdict<'a> {
    verdict: Verdict,
    ratio: Option<&'a Ratio>,
    condition: String,
}

/// Verdicts on a method under each condition of a question.
pub(crate) struct ConditionClauses {
    /// The method whose verdict flips, or was checked; none where no other condition says anything of one.
    method: Option<String>,
    /// Findings, faster ones first: `3.0–3.8× faster if the program keeps the block`.
    settled: Vec<String>,
    /// The conditions of which nothing is known yet.
    open: Vec<String>,
}

impl ConditionClauses {
    /// Builds the clauses of a group; `with_its` includes its own condition.
    pub(crate) fn new(group: LabelledGroup, with_its: bool) -> ConditionClauses {
        let definition = group.definition();
        let cell = match group.group.recommendation {
            Recommendation::Use { cell, .. } | Recommendation::Depends { cell, .. } => Some(cell),
            _ => None,
        };
        let first = group.group.conditions.first();
        let method = cell.map(|cell| group.name(cell));
        let method = method.or_else(|| Some(group.cell(first?.cell).method.clone()));
        let mut conditions: Vec<_> = group.group.conditions.iter().collect();
        conditions.sort_by_key(|c| (rank(c.contrast.overall()), c.group));
        let conditions = conditions.into_iter().map(|c| ConditionVerdict {
            verdict: c.contrast.overall(),
            ratio: c.contrast.ratio.as_ref(),
            condition: definition.clause(&c.when),
        });
        let (open, settled): (Vec<_>, Vec<_>) = cell
            .filter(|_| with_its)
            .and_then(|cell| under_its_own_condition(group, cell))
            .into_iter()
            .chain(conditions)
            .partition(|answer| answer.verdict == Verdict::NotSettled);
        let mut open: Vec<String> = open.into_iter().map(|answer| answer.condition).collect();
        let conditions = &group.group.conditions;
        for unmeasured in &group.group.unmeasured {
            if !conditions.iter().any(|other| other.when == *unmeasured) {
                open.push(definition.clause(unmeasured));
            }
        }
        let settled = settled.into_iter().map(|answer| {
            let finding = finding(answer.verdict, answer.ratio);
            format!("{finding} if {}", answer.condition)
        });
        ConditionClauses {
            method,
            settled: settled.collect(),
            open,
        }
    }

    /// Name of the method that the clauses are about.
    pub(crate) fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// Clauses for a sentence on the method, with every open condition; empty where there is none.
    pub(super) fn joined(&self) -> String {
        let clauses = self.settled.iter().cloned().chain(self.open_clause());
        clauses.collect::<Vec<_>>().join("; ")
    }

    /// The clauses, each for a line of its own; many open conditions share one.
    pub(super) fn lines(&self, experiment: &str) -> Vec<String> {
        let open = open_briefly(&self.open, experiment);
        self.settled.iter().cloned().chain(open).collect()
    }

    fn open_clause(&self) -> Option<String> {
        match self.open.as_slice() {
            [] => None,
            [_] | [_, _] => Some(format!("not known yet if {}", wording::either(&self.open))),
            several => Some(format!(
                "not known yet under {} other conditions",
                several.len()
            )),
        }
    }

    /// Lines after a finding on other methods: the first settled clauses, and the open ones counted.
    pub(crate) fn beside(&self, settled: usize, experiment: &str) -> Vec<String> {
        let method = self.method.as_deref().unwrap_or_default();
        let settled = self.settled[..settled].iter();
        settled
            .map(|clause| format!("{method} {clause}"))
            .chain(open_briefly(&self.open, experiment))
            .collect()
    }

    /// Last part of a sentence on the method: `; thp is 3.0–3.8× faster if …; not known yet if …`.
    pub(super) fn ending(&self) -> String {
        match &self.method {
            Some(method) if !self.settled.is_empty() => format!("; {method} is {}", self.joined()),
            _ => self
                .open_clause()
                .map_or_else(String::new, |open| format!("; {open}")),
        }
    }
}

/// Conditions of which nothing is known yet, with the command that measures them: one by its clause, several by their number.
fn open_briefly(open: &[String], experiment: &str) -> Option<String> {
    let conditions = match open {
        [] => return None,
        [condition] => format!("if {condition}"),
        several => format!("under {} other conditions", several.len()),
    };
    let time = wording::duration(NAMED_BUDGET_S);
    Some(format!(
        "not known yet {conditions} ({time}: pagewise run {experiment})"
    ))
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

/// The verdict on a method in its own group.
fn under_its_own_condition(group: LabelledGroup, cell: usize) -> Option<ConditionVerdict> {
    if group.group.conditions.is_empty() && group.group.unmeasured.is_empty() {
        return None;
    }
    let comparison = group
        .group
        .comparison(cell, group.definition().headline())?;
    Some(ConditionVerdict {
        verdict: comparison.contrast.overall(),
        ratio: comparison.contrast.ratio.as_ref(),
        condition: own_condition(group),
    })
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Faster { .. } => 0,
        Verdict::Slower { .. } => 1,
        Verdict::Within { .. } => 2,
        Verdict::NotSettled => 3,
    }
}

fn finding(verdict: Verdict, ratio: Option<&Ratio>) -> String {
    match (verdict, ratio) {
        (Verdict::Faster { .. }, Some(ratio)) => {
            let (low, high) = wording::faster_by(ratio);
            format!("{}× faster", wording::factors(low, high))
        }
        (Verdict::Slower { .. }, Some(ratio)) => {
            format!("{}× slower", wording::factors(ratio.low, ratio.high))
        }
        (Verdict::Within { margin }, _) => format!("within {}", wording::percent(margin)),
        _ => "not settled".to_owned(),
    }
}
