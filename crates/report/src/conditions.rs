//! The clauses of an answer that depends on a condition: `1.2–1.3× faster if read(2) cached the file`.

use crate::wording;
use record::experiment::Experiment;
use record::summary::{Estimate, GroupSummary, Recommendation, Summary, Verdict};

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
        let when = first.when.keys().filter_map(|key| Some((key.clone(), group.parameters.get(key)?.clone())));
        let comparison = group.comparison(cell, experiment.headline())?;
        Some((comparison.overall(), comparison.ratio.as_ref(), experiment.clause(&when.collect())))
    });
    let mut others: Vec<_> = group.conditions.iter().collect();
    others.sort_by_key(|c| (rank(c.verdict), c.group));
    let others = others.into_iter().map(|c| (c.verdict, c.ratio.as_ref(), experiment.clause(&c.when)));
    let (open, settled): (Vec<_>, Vec<_>) =
        answer.into_iter().chain(others).partition(|(verdict, ..)| matches!(verdict, Verdict::NotSettled));
    let open: Vec<String> = open.into_iter().map(|(.., when)| when).collect();
    let open = (!open.is_empty()).then(|| format!("not settled if {}", wording::either(&open)));
    let settled = settled.into_iter().map(|(verdict, ratio, when)| format!("{} if {when}", finding(verdict, ratio)));
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

fn finding(verdict: Verdict, ratio: Option<&Estimate>) -> String {
    match (verdict, ratio) {
        (Verdict::Faster { .. }, Some(ratio)) => {
            let (low, high) = wording::faster_by(ratio);
            format!("{}× faster", wording::factors(low, high))
        }
        (Verdict::Slower { .. }, Some(ratio)) => format!("{}× slower", wording::factors(ratio.low, ratio.high)),
        (Verdict::Within { margin }, _) => format!("within {}", wording::percent(margin)),
        _ => "not settled".to_owned(),
    }
}
