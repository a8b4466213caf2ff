//! Recommendations, in sentences: never a change that is not shown to help.

use crate::sentences::wording;
use record::experiment::Experiment;
use record::summary::{
    BestClaim, CellSummary, GroupSummary, Ratio, Recommendation, Role, Summary, Verdict,
};

/// The sentences of one group: first for the ordinary methods, then for each kind that is ranked by itself.
pub(crate) fn sentences(
    summary: &Summary,
    group: &GroupSummary,
    name: impl Fn(usize) -> String,
) -> Vec<String> {
    let margin = wording::percent(summary.settings.margin);
    let mut sentences = Vec::new();
    match group.best.iter().find(|b| b.group.is_empty()) {
        Some(best) => sentences.push(ordinary(summary, group, best, &margin, &name)),
        None if group
            .cells
            .iter()
            .all(|&c| matches!(summary.cells[c].role, Role::Published | Role::Null)) =>
        {
            sentences.push(
                "no recommendation: published jobs stand as they were, none for another".to_owned(),
            );
        }
        None if group.baseline.is_none() => {
            sentences.push(
                "no recommendation: what the others are compared with was not measured".to_owned(),
            );
        }
        None => {}
    }
    for best in group
        .best
        .iter()
        .filter(|b| !b.group.is_empty() && b.ranked > 1)
    {
        sentences.push(of_kind(best, &margin, &name));
    }
    sentences
}

fn names(cells: &[usize], name: &impl Fn(usize) -> String) -> String {
    cells
        .iter()
        .map(|&c| name(c))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Methods of a group that are shown to be faster than its baseline: those that are ranked with it, or the others.
fn faster(summary: &Summary, group: &GroupSummary, is_ranked: bool) -> Vec<usize> {
    let headline = summary
        .experiment(&group.experiment)
        .map_or("", |e| e.headline.as_str());
    let shown = group
        .comparisons
        .iter()
        .filter(|c| c.phase == headline && matches!(c.overall(), Verdict::Faster { .. }));
    shown
        .map(|c| c.cell)
        .filter(|&cell| summary.cells[cell].is_ranked() == is_ranked)
        .collect()
}

/// Methods of an inconclusive answer that are shown to be faster and of which any may be the fastest, with their ratios, as
/// measured the fastest first. None where one of them is shown to be no faster under another condition of the question.
pub(crate) fn several(
    summary: &Summary,
    experiment: &Experiment,
    group: &GroupSummary,
) -> Vec<(usize, Ratio)> {
    if !matches!(group.recommendation, Recommendation::Inconclusive { .. }) {
        return Vec::new();
    }
    let ratio = |cell: usize| Some((cell, group.comparison(cell, experiment.headline())?.ratio?));
    let mut shown: Vec<(usize, Ratio)> = faster(summary, group, true)
        .into_iter()
        .filter_map(ratio)
        .collect();
    shown.sort_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
    let most = shown.first().map_or(0.0, |(_, fastest)| fastest.high);
    shown.retain(|(_, ratio)| ratio.low < most);
    let question = experiment.question(&group.parameters);
    let asks_it = |g: &&GroupSummary| {
        g.experiment == group.experiment && experiment.question(&g.parameters) == question
    };
    let name = |cell: usize| {
        let cell = &summary.cells[cell];
        (
            &cell.method,
            &cell.worker,
            experiment.question(&cell.parameters),
        )
    };
    let contradicted = shown.iter().any(|&(cell, _)| {
        let all = summary
            .groups
            .iter()
            .filter(asks_it)
            .flat_map(|g| g.comparisons.iter());
        let mut same =
            all.filter(|c| c.phase == experiment.headline() && name(c.cell) == name(cell));
        same.any(|c| matches!(c.overall(), Verdict::Slower { .. } | Verdict::Within { .. }))
    });
    if contradicted { Vec::new() } else { shown }
}

/// Number of measured methods of the ordinary job.
fn ways(summary: &Summary, group: &GroupSummary) -> usize {
    let ordinary = |c: &&CellSummary| c.is_ranked() && !c.phases.is_empty();
    group
        .cells
        .iter()
        .filter_map(|&c| summary.cells.get(c))
        .filter(ordinary)
        .count()
}

fn ordinary(
    summary: &Summary,
    group: &GroupSummary,
    best: &BestClaim,
    margin: &str,
    name: &impl Fn(usize) -> String,
) -> String {
    // Methods beside the one that is named: those that are no faster than it need not be told of twice.
    let beside = |named: usize| {
        best.within
            .iter()
            .copied()
            .filter(|&c| c != named)
            .collect::<Vec<usize>>()
    };
    let open = |named: usize| {
        best.unsettled
            .iter()
            .map(|u| u.cell)
            .filter(|&c| c != named)
            .collect::<Vec<usize>>()
    };
    let (mut text, named) = match group.recommendation {
        Recommendation::Use { cell, ratio } => (
            format!(
                "→ use {}: {}",
                name(cell),
                wording::shown("faster", ratio.high, &ratio)
            ),
            cell,
        ),
        Recommendation::Depends { .. } => {
            let experiment = summary.experiment(&group.experiment).map(|e| &e.definition);
            let known = experiment.and_then(|e| clauses(summary, e, group, name));
            return known.map_or_else(String::new, |(method, clauses)| {
                format!("→ it depends: {method} is {}", clauses.join("; "))
            });
        }
        Recommendation::Keep { cell } | Recommendation::Inconclusive { cell } => {
            let what = if faster(summary, group, false).is_empty() {
                "nothing"
            } else {
                "nothing that is ranked with it"
            };
            let shown = faster(summary, group, true);
            match shown.as_slice() {
                [] => (
                    format!("→ keep {}: {what} is shown to be faster", name(cell)),
                    cell,
                ),
                _ => (
                    format!(
                        "→ not settled: {} shown to be faster than {}",
                        names(&shown, name),
                        name(cell)
                    ),
                    cell,
                ),
            }
        }
        Recommendation::Nothing if ways(summary, group) < 2 => {
            return format!(
                "nothing to compare: only {} was measured",
                name(best.leader)
            );
        }
        Recommendation::Nothing => {
            return "nothing can be recommended: too few launches to compare".to_owned();
        }
    };
    let leader = best.leader;
    let whom = if leader == named {
        "it".to_owned()
    } else {
        name(leader)
    };
    let (within, open) = (beside(named), open(named));
    if leader != named && best.within.contains(&named) {
        text += &format!("; within {margin} of the fastest, {}", name(leader));
    } else if leader != named {
        let is_open = best.unsettled.iter().any(|u| u.cell == named);
        text += &format!(
            "; {} was the fastest{}",
            name(leader),
            if is_open {
                ", which is not settled"
            } else {
                ""
            }
        );
    }
    if !within.is_empty() {
        text += &format!("; within {margin} of {whom}: {}", names(&within, name));
    }
    if !open.is_empty() {
        text += &format!("; not settled against {whom}: {}", names(&open, name));
    }
    let experiment = summary.experiment(&group.experiment).map(|e| &e.definition);
    if let Some((method, clauses)) = experiment.and_then(|e| clauses(summary, e, group, name)) {
        text += &format!("; {method} is {}", clauses.join("; "));
    }
    text
}

/// Moves, handovers and the like: which of them is the fastest, without advice.
fn of_kind(best: &BestClaim, margin: &str, name: &impl Fn(usize) -> String) -> String {
    let open: Vec<usize> = best.unsettled.iter().map(|u| u.cell).collect();
    let mut text = match (best.within.is_empty(), open.is_empty()) {
        (true, true) => format!(
            "{}: {} is shown to be the fastest of {}",
            best.group,
            name(best.leader),
            best.ranked
        ),
        _ => format!(
            "{}: {} was the fastest of {}",
            best.group,
            name(best.leader),
            best.ranked
        ),
    };
    if !best.within.is_empty() {
        text += &format!("; within {margin} of it: {}", names(&best.within, name));
    }
    if !open.is_empty() {
        text += &format!("; not settled against it: {}", names(&open, name));
    }
    text
}

/// The name of the method whose verdict flips, or was checked, and its verdict under each condition: faster ones first, and
/// last, in one clause, the conditions under which nothing is settled. `None` where no other condition was measured.
pub(crate) fn clauses(
    summary: &Summary,
    experiment: &Experiment,
    group: &GroupSummary,
    name: impl Fn(usize) -> String,
) -> Option<(String, Vec<String>)> {
    let cell = match group.recommendation {
        Recommendation::Use { cell, .. } | Recommendation::Depends { cell, .. } => Some(cell),
        _ => None,
    };
    let first = group.conditions.first()?;
    let method = cell.map_or_else(|| summary.cells[first.cell].method.clone(), name);
    let answer = cell.and_then(|cell| {
        let when = first
            .when
            .keys()
            .filter_map(|key| Some((key.clone(), group.parameters.get(key)?.clone())));
        let comparison = group.comparison(cell, experiment.headline())?;
        Some((
            comparison.overall(),
            comparison.ratio.as_ref(),
            experiment.clause(&when.collect()),
        ))
    });
    let mut others: Vec<_> = group.conditions.iter().collect();
    others.sort_by_key(|c| (rank(c.verdict), c.group));
    let others = others
        .into_iter()
        .map(|c| (c.verdict, c.ratio.as_ref(), experiment.clause(&c.when)));
    let (open, settled): (Vec<_>, Vec<_>) = answer
        .into_iter()
        .chain(others)
        .partition(|(verdict, ..)| matches!(verdict, Verdict::NotSettled));
    let open: Vec<String> = open.into_iter().map(|(.., when)| when).collect();
    let open = (!open.is_empty()).then(|| format!("not settled if {}", wording::either(&open)));
    let settled = settled
        .into_iter()
        .map(|(verdict, ratio, when)| format!("{} if {when}", finding(verdict, ratio)));
    Some((method, settled.chain(open).collect()))
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
