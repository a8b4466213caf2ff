//! Answer to one question, for a person and for the advice file.

use super::choice::{choices, flips, segments};
use super::points::{AdviceRequest, by_size, points, ratio, repeated};
use crate::{contrast::estimate::LEVEL, summarise::rounded};
use record::advice::{ANSWER_SCHEMA, AdviceAnswer, AdvicePoint, Case, Question, Snippet};
use record::summary::{
    CellSummary, FactProof, GroupSummary, Ratio, Recommendation, Summary, Verdict,
};
use record::{claim::Of, machine_state::STATE, outcome::Status, sizes::format_size};
use std::collections::BTreeMap;

/// The cells of one case at the size asked for, in the first summary that has them.
struct CaseCells<'a> {
    summary: &'a Summary,
    obvious: &'a CellSummary,
    ways: Vec<(&'a str, &'a CellSummary)>,
}

fn here<'a>(
    request: &'a AdviceRequest,
    settings: &BTreeMap<String, String>,
    summary: &'a Summary,
) -> Option<CaseCells<'a>> {
    let cell = |wanted| {
        by_size(summary, wanted, settings)
            .get(&request.bytes)
            .copied()
    };
    let obvious = cell(&request.obvious)?;
    let ways = request
        .ways
        .iter()
        .filter_map(|(name, wanted)| Some((name.as_str(), cell(wanted)?)))
        .collect();
    Some(CaseCells {
        summary,
        obvious,
        ways,
    })
}

impl<'a> CaseCells<'a> {
    fn measured(&self) -> usize {
        self.ways
            .iter()
            .filter(|(_, cell)| cell.outcome.status == Status::Ok)
            .count()
    }

    fn index(&self, cell: &CellSummary) -> Option<usize> {
        self.summary
            .cells
            .iter()
            .position(|c| std::ptr::eq(c, cell))
    }

    fn group(&self) -> Option<&'a GroupSummary> {
        let obvious = self.index(self.obvious)?;
        self.summary
            .groups
            .iter()
            .find(|g| g.baseline == Some(obvious))
    }

    fn name_of(&self, index: usize) -> Option<&'a str> {
        self.ways
            .iter()
            .find(|(_, cell)| self.index(cell) == Some(index))
            .map(|(name, _)| *name)
    }

    fn way(&self, name: &str) -> Option<&'a CellSummary> {
        self.ways
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, cell)| *cell)
    }
}

/// Advice for one case, with the summary behind it. A way is advised only where the run's own judging does: its gain
/// lies beyond the margin, and the word holds among all words of the run.
fn case<'a>(
    request: &'a AdviceRequest,
    settings: &BTreeMap<String, String>,
    summaries: &[&'a Summary],
    margin: f64,
) -> (Case, Option<CaseCells<'a>>) {
    let of_size = |s: &&'a Summary| here(request, settings, s);
    // Of equals the last is taken, and the newest runs come first.
    let most = summaries
        .iter()
        .rev()
        .filter_map(of_size)
        .max_by_key(|h| (h.measured(), h.obvious.launches));
    let mut case = Case {
        settings: settings.clone(),
        obvious: request.topic.obvious.clone(),
        ..Case::default()
    };
    let Some(here) = most else {
        return (case, None);
    };
    let lacks = |c: &CellSummary| c.outcome.status != Status::Ok;
    let missing = here.ways.iter().filter(|(_, c)| lacks(c));
    case.missing = missing
        .map(|(name, c)| ((*name).to_owned(), c.outcome.clone()))
        .collect();
    if lacks(here.obvious) {
        case.missing
            .push((request.topic.obvious.clone(), here.obvious.outcome.clone()));
    }
    let headline = here
        .summary
        .experiment(&request.topic.experiment)
        .is_some_and(|e| e.headline == request.measure);
    match here.group().filter(|_| headline) {
        Some(group) => of_group(&mut case, request, &here, group),
        None => of_measure(&mut case, request, &here, margin),
    }
    if let Some(way) = case.way.as_deref().and_then(|name| here.way(name)) {
        case.cpu = ratio(here.summary, (way, here.obvious), &request.measure, Of::Cpu);
    }
    (case, Some(here))
}

/// Applies the run's own verdict on the group.
fn of_group(case: &mut Case, request: &AdviceRequest, here: &CaseCells, group: &GroupSummary) {
    let is_faster = |cell: usize| {
        group
            .comparison(cell, &request.measure)
            .is_some_and(|c| matches!(c.contrast.overall(), Verdict::Faster { .. }))
    };
    let fastest = || {
        let shown = group
            .comparisons
            .iter()
            .filter(|c| c.phase == request.measure && is_faster(c.cell));
        let ranked = shown.filter(|c| here.summary.cells[c.cell].is_ranked());
        let named =
            ranked.filter_map(|c| Some((here.name_of(c.cell)?.to_owned(), c.contrast.ratio?)));
        named.min_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio))
    };
    match group.recommendation {
        Recommendation::Use { cell, ratio } => {
            case.way = here.name_of(cell).map(str::to_owned);
            case.gain = Some(ratio);
        }
        // A case is one condition: what flips it is another case.
        Recommendation::Depends { cell, ratio } if is_faster(cell) => {
            case.way = here.name_of(cell).map(str::to_owned);
            case.gain = ratio;
        }
        Recommendation::Nothing => {}
        // Which is the fastest is open, but not that this is faster than the usual choice.
        Recommendation::Inconclusive { .. } if fastest().is_some() => {
            (case.way, case.gain) = fastest().unzip()
        }
        // Where no other way was measured, nothing is known of them.
        _ if here.measured() > 0 => case.way = Some(request.topic.obvious.clone()),
        _ => {}
    }
    let name = |cell: usize| {
        if Some(cell) == group.baseline {
            Some(request.topic.obvious.clone())
        } else {
            here.name_of(cell).map(str::to_owned)
        }
    };
    if let Some(best) = group.best.iter().find(|b| b.group.is_empty()) {
        let (mut near, mut open) = (
            best.within.clone(),
            best.unsettled
                .iter()
                .map(|u| u.cell)
                .collect::<Vec<usize>>(),
        );
        near.push(best.leader);
        // Where the fastest is open, what is near it is as open.
        if case.way.is_none() || matches!(group.recommendation, Recommendation::Inconclusive { .. })
        {
            open.append(&mut near);
        }
        let others = |cells: Vec<usize>| {
            cells
                .into_iter()
                .filter_map(name)
                .filter(|n| Some(n) != case.way.as_ref())
                .collect()
        };
        (case.within, case.unsettled) = (others(near), others(open));
    }
}

/// The same where another phase than the headline is asked about, such as using memory that is there.
fn of_measure(case: &mut Case, request: &AdviceRequest, here: &CaseCells, margin: f64) {
    let outcome = |(name, way): &(&str, &CellSummary)| {
        let cost = ratio(
            here.summary,
            (way, here.obvious),
            &request.measure,
            Of::Wall,
        )?;
        Some((
            (*name).to_owned(),
            cost,
            Verdict::from_interval(cost.low, cost.high, margin),
        ))
    };
    let all: Vec<(String, Ratio, Verdict)> = here.ways.iter().filter_map(outcome).collect();
    // As many may be faster by chance as were asked: the limits are those of all together (Bonferroni).
    let tail = (1.0 - LEVEL) / 2.0 / all.len().max(1) as f64;
    let faster = |outcome: &&(String, Ratio, Verdict)| {
        let together = outcome.1.bounds(1.0 - 2.0 * tail);
        together.is_ok_and(|(_, high)| high < 1.0 / (1.0 + margin))
    };
    let best = all
        .iter()
        .filter(faster)
        .min_by(|a, b| a.1.high.total_cmp(&b.1.high));
    case.way = best
        .map(|(name, ..)| name.clone())
        .or((!all.is_empty()).then(|| request.topic.obvious.clone()));
    case.gain = best.map(|(_, cost, _)| *cost);
    let others = || {
        all.iter()
            .filter(|(name, ..)| Some(name) != case.way.as_ref())
    };
    let unsettled = others()
        .filter(|(.., v)| *v == Verdict::NotSettled)
        .map(|(name, ..)| name.clone());
    let within = others()
        .filter(|(.., v)| matches!(v, Verdict::Within { .. }))
        .map(|(name, ..)| name.clone());
    (case.unsettled, case.within) = (unsettled.collect(), within.collect());
}

/// Costs of the advised method elsewhere: facts that differ, the sentence of its topic, and the first use.
fn costs(request: &AdviceRequest, case: &Case, here: Option<&CaseCells>) -> Vec<String> {
    let Some((here, way)) = here
        .zip(case.way.as_deref())
        .filter(|(_, way)| *way != request.topic.obvious)
    else {
        return Vec::new();
    };
    let mut costs = Vec::new();
    let Some(cell) = here.way(way) else {
        return costs;
    };
    for (fact, words) in &request.topic.facts {
        let most = |c: &CellSummary| match c.proofs.get(fact)? {
            FactProof::Number { max, .. } => Some(*max),
            FactProof::Words(_) => None,
        };
        if let (Some(mine), Some(theirs)) = (most(cell), most(here.obvious))
            && mine.max(theirs) as f64 > 1.05 * mine.min(theirs) as f64
        {
            costs.push(format!(
                "{words}: {} instead of {}",
                format_size(mine),
                format_size(theirs)
            ));
        }
    }
    let method = way.split('@').next().unwrap_or(way);
    costs.extend(
        request
            .topic
            .way(method)
            .map(|w| w.costs.clone())
            .filter(|c| !c.is_empty()),
    );
    costs
}

/// Pools all runs of the size, where one of them alone does not settle it.
fn together(case: &mut Case, request: &AdviceRequest, points: &[AdvicePoint], margin: f64) {
    let all = choices(points, &request.topic.obvious, margin);
    let Some(way) = all
        .into_iter()
        .find(|(bytes, _)| *bytes == request.bytes)
        .and_then(|(_, way)| way)
    else {
        return;
    };
    case.gain = points
        .iter()
        .find(|p| p.bytes == request.bytes && p.way == way)
        .map(|p| p.cost);
    case.missing.retain(|(name, _)| *name != way);
    [&mut case.within, &mut case.unsettled]
        .into_iter()
        .for_each(|others| others.retain(|name| *name != way));
    case.way = Some(way);
}

/// Takes the advice back unless its interval lies below 1: whatever a record says, no costlier way is advised.
fn keep_to_gains(case: &mut Case) {
    let other = case.way.as_ref().is_some_and(|way| *way != case.obvious);
    if other
        && case
            .gain
            .is_none_or(|gain| gain.high >= 1.0 || gain.ratio >= 1.0)
    {
        (case.way, case.gain) = (None, None);
    }
}

/// Gives the cases their conditions: whether one of them contradicts the first answer.
fn conditions<'a>(
    request: &AdviceRequest,
    first: &mut Case,
    also: impl Iterator<Item = &'a mut Case>,
) -> bool {
    let mut flipped: BTreeMap<String, String> = BTreeMap::new();
    for case in also {
        let unusual = request.unusual(&case.settings);
        case.condition = request.experiment.clause(&unusual);
        if !unusual.is_empty() && contradicts(first, case) {
            flipped.extend(unusual);
        }
    }
    let usual = flipped
        .keys()
        .filter_map(|key| Some((key.clone(), request.open[key].first()?.clone())));
    first.condition = request.experiment.clause(&usual.collect());
    !flipped.is_empty()
}

/// Tells whether two cases advise what is shown to be worse in the other one.
pub(super) fn contradicts(case: &Case, other: &Case) -> bool {
    let is_near =
        |case: &Case, way: &String| case.within.contains(way) || case.unsettled.contains(way);
    let both = case.way.as_ref().zip(other.way.as_ref());
    both.is_some_and(|(a, b)| a != b && !is_near(case, b) && !is_near(other, a))
}

/// The whole answer. `cases` are the settings of the other cases; `made` are the runs that were made for it.
pub fn answer(
    request: &AdviceRequest,
    cases: &[BTreeMap<String, String>],
    summaries: &[&Summary],
    made: &[String],
    margin: f64,
    snippets: impl Fn(&str) -> Vec<Snippet>,
) -> AdviceAnswer {
    let (mut first, here) = case(request, &request.settings, summaries, margin);
    let mut also: Vec<(Case, Option<CaseCells>)> = cases
        .iter()
        .map(|s| case(request, s, summaries, margin))
        .collect();
    let (points, mut runs) = points(request, summaries);
    // A way that is measured at one size only has no place among those whose sizes are searched.
    let searched: Vec<AdvicePoint> = points
        .iter()
        .filter(|p| !request.topic.is_only_asked(&p.way))
        .cloned()
        .collect();
    let segments = segments(&searched, &request.topic.obvious, margin);
    if first.gain.is_none() {
        together(&mut first, request, &points, margin);
    }
    [&mut first]
        .into_iter()
        .chain(also.iter_mut().map(|(case, _)| case))
        .for_each(keep_to_gains);
    let depends = conditions(request, &mut first, also.iter_mut().map(|(case, _)| case));
    runs.extend(
        [&here]
            .into_iter()
            .chain(also.iter().map(|(_, h)| h))
            .flatten()
            .map(|h| h.summary.run.clone()),
    );
    runs.sort();
    runs.dedup();
    let measured = points
        .first()
        .zip(points.last())
        .map(|(a, b)| (a.bytes, b.bytes));
    rounded(AdviceAnswer {
        schema: ANSWER_SCHEMA,
        question: request.topic.id.clone(),
        does: request.topic.does.clone(),
        bytes: request.bytes,
        costs: costs(request, &first, here.as_ref()),
        flips: flips(&searched, &segments, &request.topic.obvious),
        segments,
        measured: measured.filter(|(a, b)| a < b && request.topic.by_size),
        uses: here
            .as_ref()
            .map_or_else(Vec::new, |h| repeated(request, h.summary)),
        also: also.into_iter().map(|(case, _)| case).collect(),
        snippets: snippets(first.way.as_deref().unwrap_or(&request.topic.obvious)),
        points,
        depends,
        reused: runs.iter().filter(|r| !made.contains(r)).cloned().collect(),
        runs: made.to_vec(),
        margin,
        case: first,
    })
}

/// Entry of the advice file for a question.
pub fn question(request: &AdviceRequest, summaries: &[&Summary], margin: f64) -> Question {
    let (points, mut runs) = points(request, summaries);
    // In one order, whoever measured first: the file is canonical.
    runs.sort();
    let mut settings = request.settings.clone();
    settings.remove(STATE);
    rounded(Question {
        does: request.topic.does.clone(),
        experiment: request.topic.experiment.clone(),
        settings,
        obvious: request.topic.obvious.clone(),
        segments: segments(&points, &request.topic.obvious, margin),
        conditions: BTreeMap::new(),
        points,
        runs,
    })
}
