//! Recommendations, in sentences: never a change that is not shown to help.

use super::conditions::{ConditionClauses, subject_names, subjects, sureness, too_noisy};
use super::labels::LabelledGroup;
use super::neighbors::{is_change_possible, own_condition};
use super::overview::partly;
use super::wording;
use record::outcome::Status;
use record::summary::{BestClaim, Ratio, Recommendation, Role, Sureness, Verdict};

/// The sentences of one group: first for the ordinary methods, then for each kind that is ranked by itself.
pub(crate) fn sentences(group: LabelledGroup) -> Vec<String> {
    let ordinary = group.group.best.iter().find(|b| b.group.is_empty());
    let mut sentences: Vec<String> = ordinary
        .map(|best| recommendation(group, best))
        .or_else(|| no_recommendation(group).map(str::to_owned))
        .into_iter()
        .collect();
    let is_change = match group.group.recommendation {
        Recommendation::Use { .. } | Recommendation::Depends { .. } => true,
        Recommendation::Inconclusive { .. } => {
            !group.group.faster.is_empty() || !group.group.elsewhere.is_empty()
        }
        Recommendation::Keep { .. } | Recommendation::Nothing => false,
    };
    sentences.extend(partly(group).filter(|_| is_change));
    let kinds = group.group.best.iter();
    let ranked = kinds.filter(|b| !b.group.is_empty() && b.ranked > 1);
    sentences.extend(ranked.map(|best| of_kind(group, best)));
    sentences
}

/// The finding under a group's own condition in a few words, shown after the condition.
pub(crate) fn in_short(group: LabelledGroup) -> String {
    let Some(usual) = group.baseline_name() else {
        return String::new();
    };
    let ranked = group
        .comparisons()
        .filter(|c| group.cell(c.cell).is_ranked());
    let ranked = ranked.filter_map(|c| Some((c.contrast.ratio?.ratio, c)));
    let mut faster: Vec<_> = ranked
        .filter(|(_, comparison)| matches!(comparison.contrast.overall(), Verdict::Faster { .. }))
        .collect();
    faster.sort_by(|a, b| a.0.total_cmp(&b.0));
    let margin = margin(group);
    let finding = match faster.as_slice() {
        [] if is_change_possible(group) => too_noisy(group).map_or_else(
            || format!("open: whether another is more than {margin} faster than {usual}"),
            |noisy| format!("open: {noisy}"),
        ),
        [] => format!("keep {usual}: none is more than {margin} faster"),
        [(_, fastest), more @ ..] => {
            let finding = wording::verdict_briefly(fastest);
            let more = match more.len() {
                0 => String::new(),
                1 => "; 1 more is faster too".to_owned(),
                count => format!("; {count} more are faster too"),
            };
            format!("{} {finding} than {usual}{more}", group.name(fastest.cell))
        }
    };
    finding + &mark(group.group.sureness)
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
            ratio, everywhere, ..
        } => {
            let condition = if everywhere {
                String::new()
            } else {
                format!(" if {}", own_condition(group))
            };
            let (methods, gain) = (subject_names(group), gain(group, ratio));
            (
                format!("→ use {methods}{condition}: {gain}"),
                subjects(group),
            )
        }
        Recommendation::Depends { .. } => {
            let clauses = ConditionClauses::new(group, true);
            let mark = mark(sureness(group));
            return format!("→ it depends{mark}: {}", clauses.sentence());
        }
        Recommendation::Keep { cell } | Recommendation::Inconclusive { cell } => {
            (kept(group, cell), vec![cell])
        }
        Recommendation::Nothing if measured_methods(group) < 2 => {
            return format!(
                "nothing to compare: only {} was measured",
                group.name(best.leader)
            );
        }
        Recommendation::Nothing => return why_nothing(group),
    };
    let conditions = ConditionClauses::new(group, false).ending();
    advice + &mark(sureness(group)) + &around(group, best, &named) + &conditions
}

/// The gain of a recommended method; of several the range of all their intervals.
fn gain(group: LabelledGroup, ratio: Ratio) -> String {
    if group.group.alike.is_empty() {
        return wording::effect(wording::Direction::Faster, &ratio);
    }
    let contrasts = subjects(group)
        .into_iter()
        .filter_map(|cell| group.comparison(cell));
    let ratios = contrasts.filter_map(|comparison| comparison.contrast.ratio);
    let hull = ratios.reduce(|hull, other| Ratio {
        low: hull.low.min(other.low),
        high: hull.high.max(other.high),
        ..hull
    });
    let hull = hull.unwrap_or(ratio);
    format!("{} (95 % CI of all)", wording::between_briefly(&hull))
}

/// The smallest difference that matters in the run.
fn margin(group: LabelledGroup) -> String {
    wording::percent(group.summary().settings.margin)
}

/// The mark of an answer or a finding that is not sure.
fn mark(degree: Option<Sureness>) -> String {
    wording::sureness_mark(degree, Some(Sureness::Settled))
}

/// The reason why several methods were measured and none is recommended.
fn why_nothing(group: LabelledGroup) -> String {
    let cells = group.group.cells.iter().copied();
    let not_believed: Vec<usize> = cells
        .filter(|&cell| {
            let cell = group.cell(cell);
            cell.is_ranked() && cell.outcome.status != Status::Ok && !cell.phases.is_empty()
        })
        .collect();
    let baseline = group.group.baseline;
    match not_believed.as_slice() {
        [] => "nothing can be recommended: too few launches to compare".to_owned(),
        all if all.iter().any(|cell| Some(*cell) == baseline) => format!(
            "nothing can be recommended: {}, which the others are compared with, is untrusted",
            group.names(&Vec::from_iter(baseline))
        ),
        all => format!(
            "nothing can be recommended: {} {} untrusted",
            group.names(all),
            if all.len() == 1 { "is" } else { "are" }
        ),
    }
}

/// Advice to keep the usual choice, or the reason why nothing is advised.
fn kept(group: LabelledGroup, usual: usize) -> String {
    let faster_methods = faster(group, true);
    let is_open = matches!(
        group.group.recommendation,
        Recommendation::Inconclusive { .. }
    );
    let (usual, margin) = (group.name(usual), margin(group));
    if !faster_methods.is_empty() {
        let names = group.names(&faster_methods);
        return format!("→ faster than {usual}: {names}; which is the fastest is open");
    }
    if is_open {
        return too_noisy(group).map_or_else(
            || format!("→ open: whether another is more than {margin} faster than {usual}"),
            |noisy| format!("→ open: {noisy}"),
        );
    }
    let job = if faster(group, false).is_empty() {
        ""
    } else {
        " for the same job"
    };
    match measured_methods(group).saturating_sub(1) {
        1 => format!(
            "→ keep {usual}: the other one measured here{job} is not more than {margin} faster"
        ),
        others => format!(
            "→ keep {usual}: none of the {others} others measured here{job} is more than {margin} faster"
        ),
    }
}

/// Clauses on the fastest method, and on those that are as fast or not settled; the one that is `named` needs no second mention.
fn around(group: LabelledGroup, best: &BestClaim, named: &[usize]) -> String {
    let margin = margin(group);
    let leader = best.leader;
    let within: Vec<usize> = except(named, best.within.iter().copied());
    let unsettled: Vec<usize> = except(named, best.unsettled.iter().map(|u| u.cell));
    let is_alone = named == [leader];
    let fastest = if is_alone {
        "it".to_owned()
    } else {
        group.name(leader)
    };
    let mut text = String::new();
    let is_leader_named = named.contains(&leader);
    if !is_leader_named && named.iter().all(|cell| best.within.contains(cell)) {
        text += &format!("; within {margin} of the fastest, {fastest}");
    } else if !is_leader_named {
        // Where it is open which of them is the faster, the order of the rows says as much.
        if !best.unsettled.iter().any(|u| named.contains(&u.cell)) {
            text += &format!("; {fastest} was the fastest");
        }
    }
    if !within.is_empty() {
        text += &format!("; within {margin} of {fastest}: {}", group.names(&within));
    }
    if !unsettled.is_empty() {
        text += &format!("; open against {fastest}: {}", group.names(&unsettled));
    }
    text
}

fn except(named: &[usize], cells: impl Iterator<Item = usize>) -> Vec<usize> {
    cells.filter(|cell| !named.contains(cell)).collect()
}

/// Moves, handovers and the like: the fastest of them, without advice.
fn of_kind(group: LabelledGroup, best: &BestClaim) -> String {
    let margin = margin(group);
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
        text += &format!("; open against it: {}", group.names(&unsettled));
    }
    text
}
