//! Recommendations, in sentences: never a change that is not shown to help.

use super::labels::LabelledGroup;
use super::wording;
use record::summary::{BestClaim, CellSummary, Ratio, Recommendation, Role, Sureness, Verdict};
use record::{experiment::Experiment, outcome::Status};
use std::collections::BTreeMap;

/// The verdict on a method under one condition.
struct ConditionVerdict<'a> {
    verdict: Verdict,
    ratio: Option<&'a Ratio>,
    condition: String,
}

/// The sentences of one group: first for the ordinary methods, then for each kind that is ranked by itself.
pub(crate) fn sentences(group: LabelledGroup) -> Vec<String> {
    let ordinary = group.group.best.iter().find(|b| b.group.is_empty());
    let mut sentences: Vec<String> = ordinary
        .map(|best| recommendation(group, best))
        .or_else(|| no_recommendation(group).map(str::to_owned))
        .into_iter()
        .collect();
    let kinds = group.group.best.iter();
    let ranked = kinds.filter(|b| !b.group.is_empty() && b.ranked > 1);
    sentences.extend(ranked.map(|best| of_kind(group, best)));
    sentences
}

/// The reason why no ordinary method is best.
fn no_recommendation(group: LabelledGroup) -> Option<&'static str> {
    let mut roles = group.group.cells.iter().map(|&cell| group.cell(cell).role);
    if roles.all(|role| matches!(role, Role::Published | Role::Null)) {
        Some("no recommendation: published jobs stand as they were, none for another")
    } else if group.group.baseline.is_none() {
        Some("no recommendation: what the others are compared with was not measured")
    } else {
        None
    }
}

/// Methods of a group that are shown to be faster than its baseline: those that are ranked with it, or those that are not.
fn faster(group: LabelledGroup, is_ranked: bool) -> Vec<usize> {
    group
        .comparisons()
        .filter(|c| matches!(c.contrast.overall(), Verdict::Faster { .. }))
        .map(|c| c.cell)
        .filter(|&cell| group.cell(cell).is_ranked() == is_ranked)
        .collect()
}

/// Methods of an inconclusive answer that are shown to be faster and of which any may be the fastest, with their ratios, as
/// measured the fastest first. None where one of them is shown to be no faster under another condition of the question.
pub(crate) fn several(group: LabelledGroup) -> Vec<(usize, Ratio)> {
    if !matches!(
        group.group.recommendation,
        Recommendation::Inconclusive { .. }
    ) {
        return Vec::new();
    }
    let headline = group.definition().headline();
    let mut shown: Vec<(usize, Ratio)> = faster(group, true)
        .into_iter()
        .filter_map(|cell| {
            Some((
                cell,
                group.group.comparison(cell, headline)?.contrast.ratio?,
            ))
        })
        .collect();
    shown.sort_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
    let most = shown.first().map_or(0.0, |(_, fastest)| fastest.high);
    shown.retain(|(_, ratio)| ratio.low < most);
    if shown.iter().any(|(cell, _)| is_contradicted(group, *cell)) {
        return Vec::new();
    }
    shown
}

/// Tells whether a method is shown to be no faster in a group that asks the same question.
fn is_contradicted(group: LabelledGroup, cell: usize) -> bool {
    let definition = group.definition();
    let question = group.question();
    let asking = group
        .experiment
        .groups()
        .filter(|g| g.question() == question);
    asking
        .flat_map(|g| &g.group.comparisons)
        .filter(|c| c.phase == definition.headline())
        .filter(|c| is_same_method(definition, group.cell(c.cell), group.cell(cell)))
        .any(|c| {
            matches!(
                c.contrast.overall(),
                Verdict::Slower { .. } | Verdict::Within { .. }
            )
        })
}

/// The usual conditions next to a group under which one of its methods is not shown to be faster, as clauses after "if".
pub(crate) fn open_elsewhere(group: LabelledGroup, cells: &[usize]) -> Vec<String> {
    let definition = group.definition();
    let mut open = Vec::new();
    for neighbor in definition.neighbors(&group.group.parameters) {
        let there = group.experiment.groups().find(|other| {
            Experiment::are_next_to(&other.group.parameters, &group.group.parameters, neighbor)
        });
        let all_faster = there.is_some_and(|there| {
            cells
                .iter()
                .all(|&cell| is_faster_there(group, there, cell))
        });
        if !all_faster {
            let (key, value) = neighbor;
            let when = BTreeMap::from([(key.to_owned(), value.to_owned())]);
            open.push(definition.clause(&when));
        }
    }
    open
}

/// Tells whether a cell's method is shown to be faster in another group, or does not exist there.
fn is_faster_there(group: LabelledGroup, there: LabelledGroup, cell: usize) -> bool {
    let same = there
        .group
        .cells
        .iter()
        .copied()
        .find(|&other| is_same_method(group.definition(), group.cell(cell), group.cell(other)));
    same.is_some_and(|same| {
        group.cell(same).outcome.status == Status::Skipped
            || there
                .comparison(same)
                .is_some_and(|c| matches!(c.contrast.overall(), Verdict::Faster { .. }))
    })
}

/// Tells whether two cells differ in the conditions of a question at most.
fn is_same_method(definition: &Experiment, a: &CellSummary, b: &CellSummary) -> bool {
    (&a.method, &a.worker) == (&b.method, &b.worker)
        && definition.question(&a.parameters) == definition.question(&b.parameters)
}

/// Number of measured methods of the ordinary job.
fn measured_methods(group: LabelledGroup) -> usize {
    let cells = group.group.cells.iter();
    cells
        .filter_map(|&cell| group.summary().cells.get(cell))
        .filter(|cell| cell.is_ranked() && !cell.phases.is_empty())
        .count()
}

/// The sentence on the ordinary methods of a group.
fn recommendation(group: LabelledGroup, best: &BestClaim) -> String {
    let (advice, named) = match group.group.recommendation {
        Recommendation::Use {
            cell,
            ratio,
            everywhere,
        } => {
            let gain = wording::shown("faster", ratio.high, &ratio);
            let condition = if everywhere {
                String::new()
            } else {
                format!(" if {}", own_condition(group))
            };
            (
                format!("→ use {}{condition}: {gain}", group.name(cell)),
                cell,
            )
        }
        Recommendation::Depends { .. } => {
            let clauses = ConditionClauses::new(group, true);
            let method = clauses.method().unwrap_or_default();
            return format!("→ it depends: {method} is {}", clauses.joined());
        }
        Recommendation::Keep { cell } | Recommendation::Inconclusive { cell } => {
            (kept(group, cell), cell)
        }
        Recommendation::Nothing if measured_methods(group) < 2 => {
            return format!(
                "nothing to compare: only {} was measured",
                group.name(best.leader)
            );
        }
        Recommendation::Nothing => {
            return "nothing can be recommended: too few launches to compare".to_owned();
        }
    };
    let conditions = ConditionClauses::new(group, false).ending();
    let mark = match group.group.sureness {
        Some(Sureness::Settled) | None => String::new(),
        unsure => format!(" ({})", wording::sureness(unsure)),
    };
    advice + &mark + &around(group, best, named) + &conditions
}

/// Advice to keep the usual choice, or the reason why nothing is advised.
fn kept(group: LabelledGroup, usual: usize) -> String {
    let shown = faster(group, true);
    let is_open = matches!(
        group.group.recommendation,
        Recommendation::Inconclusive { .. }
    );
    let usual = group.name(usual);
    if !shown.is_empty() {
        let names = group.names(&shown);
        return format!("→ faster than {usual}: {names}; which is the fastest is open");
    }
    if is_open {
        return format!("→ open: whether another is faster than {usual}");
    }
    let other = if faster(group, false).is_empty() {
        "no other"
    } else {
        "no other that does the same job"
    };
    format!("→ keep {usual}: {other} is faster")
}

/// Clauses on the fastest method, and on those that are as fast or not settled; the one that is `named` needs no second mention.
fn around(group: LabelledGroup, best: &BestClaim, named: usize) -> String {
    let margin = wording::percent(group.summary().settings.margin);
    let leader = best.leader;
    let within: Vec<usize> = except(named, best.within.iter().copied());
    let unsettled: Vec<usize> = except(named, best.unsettled.iter().map(|u| u.cell));
    let fastest = if leader == named {
        "it".to_owned()
    } else {
        group.name(leader)
    };
    let mut text = String::new();
    if leader != named && best.within.contains(&named) {
        text += &format!("; within {margin} of the fastest, {fastest}");
    } else if leader != named {
        let is_open = best.unsettled.iter().any(|u| u.cell == named);
        let doubt = if is_open {
            ", which is not settled"
        } else {
            ""
        };
        text += &format!("; {fastest} was the fastest{doubt}");
    }
    if !within.is_empty() {
        text += &format!("; within {margin} of {fastest}: {}", group.names(&within));
    }
    if !unsettled.is_empty() {
        text += &format!(
            "; not settled against {fastest}: {}",
            group.names(&unsettled)
        );
    }
    text
}

fn except(named: usize, cells: impl Iterator<Item = usize>) -> Vec<usize> {
    cells.filter(|&cell| cell != named).collect()
}

/// Moves, handovers and the like: the fastest of them, without advice.
fn of_kind(group: LabelledGroup, best: &BestClaim) -> String {
    let margin = wording::percent(group.summary().settings.margin);
    let unsettled: Vec<usize> = best.unsettled.iter().map(|u| u.cell).collect();
    let (kind, leader) = (&best.group, group.name(best.leader));
    let is = if best.within.is_empty() && unsettled.is_empty() {
        "is shown to be"
    } else {
        "was"
    };
    let mut text = format!("{kind}: {leader} {is} the fastest of {}", best.ranked);
    if !best.within.is_empty() {
        text += &format!("; within {margin} of it: {}", group.names(&best.within));
    }
    if !unsettled.is_empty() {
        text += &format!("; not settled against it: {}", group.names(&unsettled));
    }
    text
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
    /// Those of a group; `with_its` says whether its own condition is among them.
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
        for unmeasured in &group.group.unmeasured {
            let clause = definition.clause(unmeasured);
            if !open.contains(&clause) {
                open.push(clause);
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

    pub(crate) fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// The findings as the end of a sentence on their method; empty where there is none.
    fn joined(&self) -> String {
        let open = self.open_clause();
        let all: Vec<&str> = self
            .settled
            .iter()
            .chain(&open)
            .map(String::as_str)
            .collect();
        all.join("; ")
    }

    fn open_clause(&self) -> Option<String> {
        (!self.open.is_empty()).then(|| format!("not known yet if {}", wording::either(&self.open)))
    }

    /// The findings on a line of its own, where many open conditions are counted.
    pub(crate) fn briefly(&self) -> String {
        let open = open_briefly(&self.open);
        let all: Vec<&str> = self
            .settled
            .iter()
            .chain(&open)
            .map(String::as_str)
            .collect();
        all.join("; ")
    }

    /// The first findings, and the conditions that are open, each as a clause of its own after a semicolon.
    pub(crate) fn beside(&self, settled: usize) -> String {
        let method = self.method.as_deref().unwrap_or_default();
        let settled = self.settled[..settled].iter();
        let mut text: String = settled
            .map(|clause| format!("; {method} {clause}"))
            .collect();
        if let Some(open) = open_briefly(&self.open) {
            text += &format!("; {open}");
        }
        text
    }

    /// The same as a sentence's last part: `; thp is 3.0–3.8× faster if …; not known yet if …`.
    fn ending(&self) -> String {
        match &self.method {
            Some(method) if !self.settled.is_empty() => format!("; {method} is {}", self.joined()),
            _ => self
                .open_clause()
                .map_or_else(String::new, |open| format!("; {open}")),
        }
    }
}

/// Conditions of which nothing is known yet: one by its clause, several by their number.
pub(crate) fn open_briefly(open: &[String]) -> Option<String> {
    match open {
        [] => None,
        [condition] => Some(format!("not known yet if {condition}")),
        several => Some(format!(
            "not known yet under {} other conditions",
            several.len()
        )),
    }
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
