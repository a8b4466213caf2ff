//! Answer to one question, for a person and for the advice file.

use super::choice::{choices, flips, segments};
use super::points::{AdviceRequest, at_size, points, ratio, repeated};
use crate::contrast::estimate::{LEVEL, of_series};
use crate::questions::claims::figure::index_of;
use crate::summarise::rounded;
use record::advice::{
    ANSWER_SCHEMA, AdviceAnswer, AdvicePoint, AdviceTime, Case, Question, Snippet, TradeOff,
};
use record::summary::{
    BestClaim, CellSummary, FactProof, GroupSummary, Ratio, Recommendation, Summary, Verdict,
    WarningKind,
};
use record::{claim::Of, machine_state::STATE, outcome::Status, sizes::format_size};
use std::collections::BTreeMap;

/// The cells of one case at the size of the question, in the first summary that has them.
struct CaseCells<'a> {
    request: &'a AdviceRequest,
    summary: &'a Summary,
    baseline: &'a CellSummary,
    methods: Vec<(&'a str, &'a CellSummary)>,
}

/// The ratio of a method to the usual choice, and what it shows.
struct JudgedMethod<'a> {
    name: &'a str,
    ratio: Ratio,
    verdict: Verdict,
}

impl<'a> CaseCells<'a> {
    fn of_summary(
        request: &'a AdviceRequest,
        settings: &BTreeMap<String, String>,
        summary: &'a Summary,
    ) -> Option<CaseCells<'a>> {
        let bytes = request.bytes;
        let baseline = at_size(summary, &request.baseline, settings, bytes)?;
        let mut methods = Vec::new();
        for (name, wanted) in &request.methods {
            if let Some(cell) = at_size(summary, wanted, settings, bytes) {
                methods.push((name.as_str(), cell));
            }
        }
        Some(CaseCells {
            request,
            summary,
            baseline,
            methods,
        })
    }

    fn measured(&self) -> usize {
        self.methods
            .iter()
            .filter(|(_, cell)| cell.outcome.status == Status::Ok)
            .count()
    }

    /// The group whose baseline is the usual choice, where the run judged the phase or total of the question.
    fn judged_group(&self) -> Option<&'a GroupSummary> {
        let experiment = self.summary.experiment(&self.request.topic.experiment)?;
        if experiment.headline != self.request.measure {
            return None;
        }
        let baseline = index_of(self.summary, self.baseline)?;
        self.summary
            .groups
            .iter()
            .find(|group| group.baseline == Some(baseline))
    }

    fn method(&self, name: &str) -> Option<&'a CellSummary> {
        let (_, cell) = self.methods.iter().find(|(method, _)| *method == name)?;
        Some(cell)
    }

    /// The name of a method by its cell's index in the summary.
    fn method_name(&self, index: usize) -> Option<String> {
        let cell = self.summary.cells.get(index)?;
        let (name, _) = self
            .methods
            .iter()
            .find(|(_, method)| std::ptr::eq(*method, cell))?;
        Some((*name).to_owned())
    }

    /// The same, or the name of the usual choice.
    fn name(&self, group: &GroupSummary, index: usize) -> Option<String> {
        if Some(index) == group.baseline {
            return Some(self.request.topic.baseline.clone());
        }
        self.method_name(index)
    }

    fn is_faster(&self, group: &GroupSummary, cell: usize) -> bool {
        group
            .comparison(cell, &self.request.measure)
            .is_some_and(|c| matches!(c.contrast.overall(), Verdict::Faster { .. }))
    }

    /// The method with the lowest ratio among those that are shown to be faster.
    fn fastest(&self, group: &GroupSummary) -> Option<(String, Ratio)> {
        group
            .comparisons
            .iter()
            .filter(|c| c.phase == self.request.measure && self.is_faster(group, c.cell))
            .filter(|c| self.summary.cells[c.cell].is_ranked())
            .filter_map(|c| Some((self.method_name(c.cell)?, c.contrast.ratio?)))
            .min_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio))
    }

    /// The method that the run's own verdict on the group advises, with its gain.
    fn advised(&self, group: &GroupSummary) -> (Option<String>, Option<Ratio>) {
        match group.recommendation {
            Recommendation::Use { cell, ratio, .. } => {
                return (self.method_name(cell), Some(ratio));
            }
            // A case is one condition: what flips it is another case.
            Recommendation::Depends { cell, ratio } if self.is_faster(group, cell) => {
                return (self.method_name(cell), ratio);
            }
            Recommendation::Nothing => return (None, None),
            // The fastest is open, but not that this is faster than the usual choice.
            Recommendation::Inconclusive { .. } => {
                if let Some((name, ratio)) = self.fastest(group) {
                    return (Some(name), Some(ratio));
                }
            }
            Recommendation::Keep { .. } | Recommendation::Depends { .. } => {}
        }
        // Where no other method was measured, nothing is known of them.
        let usual = (self.measured() > 0).then(|| self.request.topic.baseline.clone());
        (usual, None)
    }

    /// The ratio of every method by the phase of the question.
    fn judged_methods(&self, margin: f64) -> Vec<JudgedMethod<'a>> {
        let measure = &self.request.measure;
        let mut judged = Vec::new();
        for (name, cell) in &self.methods {
            if let Some(ratio) = ratio(self.summary, cell, self.baseline, measure, Of::Wall) {
                judged.push(JudgedMethod {
                    name,
                    ratio,
                    verdict: Verdict::from_interval(ratio.low, ratio.high, margin),
                });
            }
        }
        judged
    }
}

/// Methods of a case by their own time and the harm that they do to others.
fn frontier(cells: &CaseCells) -> Vec<TradeOff> {
    let Some(group) = cells.judged_group() else {
        return Vec::new();
    };
    let points = group.frontier.iter().filter_map(|point| {
        Some(TradeOff {
            method: cells.name(group, point.cell)?,
            time_ns: point.time_ns,
            harm_ns: point.harm_ns,
            to_usual: point.to_baseline,
            is_gentler: point.is_gentler,
            dominated_by: point
                .dominated_by
                .and_then(|other| cells.name(group, other)),
        })
    });
    points.collect()
}

/// Advice for one case, with the summary behind it. A method is advised only where the run's own judging does: its gain
/// lies beyond the margin, and the verdict holds among all verdicts of the run.
fn case<'a>(
    request: &'a AdviceRequest,
    settings: &BTreeMap<String, String>,
    summaries: &[&'a Summary],
    margin: f64,
) -> (Case, Option<CaseCells<'a>>) {
    // Of equals the last is taken, and the newest runs come first.
    let most = summaries
        .iter()
        .rev()
        .filter_map(|summary| CaseCells::of_summary(request, settings, summary))
        .max_by_key(|cells| (cells.measured(), cells.baseline.launches));
    let usual = &request.topic.baseline;
    let mut case = Case {
        settings: settings.clone(),
        baseline: usual.clone(),
        ..Case::default()
    };
    let Some(cells) = most else {
        return (case, None);
    };
    let sides = cells.methods.iter().copied();
    case.missing = sides
        .chain([(usual.as_str(), cells.baseline)])
        .filter(|(_, cell)| cell.outcome.status != Status::Ok)
        .map(|(name, cell)| (name.to_owned(), cell.outcome.clone()))
        .collect();
    let untaken = request.untaken(settings);
    case.missing
        .extend(untaken.map(|untaken| (untaken.method.clone(), untaken.outcome())));
    match cells.judged_group() {
        Some(group) => advise_by_group(&mut case, &cells, group),
        None => advise_by_measure(&mut case, &cells, margin),
    }
    if let Some(method) = case.way.as_deref().and_then(|name| cells.method(name)) {
        let (summary, measure) = (cells.summary, &request.measure);
        case.cpu = ratio(summary, method, cells.baseline, measure, Of::Cpu);
    }
    (case, Some(cells))
}

/// Applies the run's own verdict on the group.
fn advise_by_group(case: &mut Case, cells: &CaseCells, group: &GroupSummary) {
    (case.way, case.gain) = cells.advised(group);
    let alike = group.alike.iter();
    case.alike = alike.filter_map(|&cell| cells.method_name(cell)).collect();
    if let Some(best) = group.best.iter().find(|best| best.group.is_empty()) {
        note_near(case, cells, group, best);
    }
    if case.gain.is_none() {
        let margin = cells.summary.settings.margin;
        let headlines = group.comparisons.iter();
        let headlines = headlines.filter(|c| c.phase == cells.request.measure);
        case.noisy = headlines
            .filter_map(|c| Some((cells.method_name(c.cell)?, c.noisy_lead(margin)?)))
            .collect();
    }
}

/// Notes which methods are as fast as the fastest, and which may be.
fn note_near(case: &mut Case, cells: &CaseCells, group: &GroupSummary, best: &BestClaim) {
    let mut near = best.within.clone();
    near.push(best.leader);
    let mut open: Vec<usize> = best.unsettled.iter().map(|open| open.cell).collect();
    // Where the fastest is open, what is near it is as open.
    let is_open = matches!(group.recommendation, Recommendation::Inconclusive { .. });
    if case.way.is_none() || is_open {
        open.append(&mut near);
    }
    for (indexes, names) in [(near, &mut case.within), (open, &mut case.unsettled)] {
        *names = indexes
            .into_iter()
            .filter_map(|index| cells.name(group, index))
            .filter(|name| Some(name) != case.way.as_ref() && !case.alike.contains(name))
            .collect();
    }
}

/// Advises where another phase than the headline is asked about, such as using memory that is there.
fn advise_by_measure(case: &mut Case, cells: &CaseCells, margin: f64) {
    let judged = cells.judged_methods(margin);
    // As many may be faster by chance as were asked: the bounds are those of all together (Bonferroni).
    let tail = (1.0 - LEVEL) / 2.0 / judged.len().max(1) as f64;
    let best = judged
        .iter()
        .filter(|method| {
            let together = method.ratio.bounds(1.0 - 2.0 * tail);
            together.is_ok_and(|(_, high)| high < 1.0 / (1.0 + margin))
        })
        .min_by(|a, b| a.ratio.high.total_cmp(&b.ratio.high));
    let usual = cells.request.topic.baseline.as_str();
    let advised = best.map_or(usual, |best| best.name);
    case.gain = best.map(|best| best.ratio);
    case.way = (!judged.is_empty()).then(|| advised.to_owned());
    for method in judged.iter().filter(|method| method.name != advised) {
        match method.verdict {
            Verdict::NotSettled => case.unsettled.push(method.name.to_owned()),
            Verdict::Within { .. } => case.within.push(method.name.to_owned()),
            _ => {}
        }
    }
}

/// Costs of the advised method elsewhere: facts that differ, the sentence of its topic, and the first use.
fn costs(request: &AdviceRequest, case: &Case, cells: Option<&CaseCells>) -> Vec<String> {
    let (topic, mut costs) = (&request.topic, Vec::new());
    let Some((cells, name)) = cells
        .zip(case.way.as_deref())
        .filter(|(_, name)| *name != topic.baseline)
    else {
        return costs;
    };
    let Some(cell) = cells.method(name) else {
        return costs;
    };
    for (fact, noun) in &topic.facts {
        if let (Some(here), Some(usual)) = (most(cell, fact), most(cells.baseline, fact))
            && here.max(usual) as f64 > 1.05 * here.min(usual) as f64
        {
            let (here, usual) = (format_size(here), format_size(usual));
            costs.push(format!("{noun}: {here} instead of {usual}"));
        }
    }
    let method = name.split('@').next().unwrap_or(name);
    costs.extend(
        topic
            .way(method)
            .map(|method| method.costs.clone())
            .filter(|sentence| !sentence.is_empty()),
    );
    costs
}

fn most(cell: &CellSummary, fact: &str) -> Option<u64> {
    match cell.proofs.get(fact)? {
        FactProof::Number { max, .. } => Some(*max),
        FactProof::Words(_) => None,
    }
}

/// Pools all runs of the size, where no run alone settles it.
fn together(case: &mut Case, request: &AdviceRequest, points: &[AdvicePoint], margin: f64) {
    let choices = choices(points, &request.topic.baseline, margin);
    let Some(method) = choices
        .into_iter()
        .find(|(bytes, _)| *bytes == request.bytes)
        .and_then(|(_, method)| method)
    else {
        return;
    };
    case.gain = points
        .iter()
        .find(|p| p.bytes == request.bytes && p.way == method)
        .map(|p| p.cost);
    case.missing.retain(|(name, _)| *name != method);
    case.within.retain(|name| *name != method);
    case.unsettled.retain(|name| *name != method);
    case.noisy.clear();
    case.way = Some(method);
}

/// Takes the advice back unless its interval lies below 1: whatever a record says, no costlier method is advised.
fn keep_to_gains(case: &mut Case) {
    let is_change = case.way.as_ref().is_some_and(|way| *way != case.baseline);
    if is_change
        && case
            .gain
            .is_none_or(|gain| gain.high >= 1.0 || gain.ratio >= 1.0)
    {
        (case.way, case.gain) = (None, None);
    }
}

/// Gives the cases their conditions. It is true if one of them contradicts the first answer. A change that one of them does not
/// agree with has its condition, too.
pub(super) fn conditions(request: &AdviceRequest, first: &mut Case, also: &mut [Case]) -> bool {
    let mut depends = false;
    let mut differing: BTreeMap<String, String> = BTreeMap::new();
    for case in also {
        let unusual = request.unusual(&case.settings);
        case.condition = request.experiment.clause(&unusual);
        if unusual.is_empty() {
            continue;
        }
        let contradicted = contradicts(first, case);
        depends |= contradicted;
        if contradicted || is_open_under(first, case) {
            differing.extend(unusual);
        }
    }
    let usual = differing
        .keys()
        .filter_map(|key| Some((key.clone(), request.open[key].first()?.clone())));
    first.condition = request.experiment.clause(&usual.collect());
    depends
}

/// Tells whether a case advises a change that another case does not show to be as good.
fn is_open_under(case: &Case, other: &Case) -> bool {
    let change = case.way.as_ref().filter(|way| **way != case.baseline);
    change.is_some_and(|way| other.way.as_ref() != Some(way) && !other.within.contains(way))
}

/// Tells whether two cases advise what is shown to be worse in the other one.
pub(super) fn contradicts(case: &Case, other: &Case) -> bool {
    case.way
        .as_ref()
        .zip(other.way.as_ref())
        .is_some_and(|(a, b)| a != b && !is_near(case, b) && !is_near(other, a))
}

/// Tells whether a method may be as fast as the advised one.
fn is_near(case: &Case, method: &String) -> bool {
    case.within.contains(method) || case.unsettled.contains(method)
}

/// Time of the advised method, or of the usual choice, for the bytes asked about: one launch says one time.
fn time(request: &AdviceRequest, case: &Case, cells: &CaseCells) -> Option<AdviceTime> {
    let method = case.way.as_ref().filter(|_| request.topic.proportional)?;
    let cell = cells.method(method).unwrap_or(cells.baseline);
    let times = cell
        .per_launch
        .iter()
        .filter_map(|launch| launch.wall_ns.get(&request.measure));
    let logs: Vec<f64> = times.map(|ns| ns.ln()).collect();
    let mut time_ns = of_series(&logs, LEVEL)?;
    let scale = request.asked_bytes as f64 / request.bytes as f64;
    for figure in [&mut time_ns.ratio, &mut time_ns.low, &mut time_ns.high] {
        *figure *= scale;
    }
    let experiment = &request.experiment;
    let conditions = cell.parameters.iter();
    let conditions = conditions.filter(|(key, _)| experiment.is_condition(key));
    let conditions = conditions.map(|(key, value)| (key.clone(), value.clone()));
    Some(AdviceTime {
        method: method.clone(),
        bytes: request.asked_bytes,
        measured_bytes: request.bytes,
        condition: experiment.clause(&conditions.collect()),
        time_ns,
    })
}

/// Disturbances of an experiment in runs of these names, the worst of each kind.
fn disturbances(experiment: &str, runs: &[String], summaries: &[&Summary]) -> Vec<WarningKind> {
    let mut worst: BTreeMap<&str, &WarningKind> = BTreeMap::new();
    let behind = summaries
        .iter()
        .filter(|summary| runs.contains(&summary.run));
    let warnings = behind.flat_map(|summary| {
        let is_behind = |&cell: &usize| summary.cells[cell].experiment == experiment;
        let warnings = summary.warnings.iter();
        warnings
            .filter(move |warning| warning.cells.is_empty() || warning.cells.iter().any(is_behind))
    });
    for kind in warnings.map(|warning| &warning.kind) {
        let known = worst.entry(kind.code()).or_insert(kind);
        if kind.severity() > known.severity() {
            *known = kind;
        }
    }
    let worst = worst.into_values().filter(|kind| kind.is_disturbance());
    worst.cloned().collect()
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
    let topic = &request.topic;
    let (mut first, cells) = case(request, &request.settings, summaries, margin);
    let (mut also, also_cells): (Vec<Case>, Vec<Option<CaseCells>>) = cases
        .iter()
        .map(|settings| case(request, settings, summaries, margin))
        .unzip();
    let (points, mut runs) = points(request, summaries);
    // A method that is measured at one size only has no place among those whose sizes are searched.
    let mut searched = points.clone();
    searched.retain(|point| !topic.is_only_asked(&point.way));
    let segments = segments(&searched, &topic.baseline, margin);
    if first.gain.is_none() {
        together(&mut first, request, &points, margin);
    }
    keep_to_gains(&mut first);
    also.iter_mut().for_each(keep_to_gains);
    let depends = conditions(request, &mut first, &mut also);
    let behind = also_cells.iter().chain([&cells]).flatten();
    runs.extend(behind.map(|cells| cells.summary.run.clone()));
    runs.sort();
    runs.dedup();
    let frontier = cells.as_ref().map_or_else(Vec::new, frontier);
    // Where others are harmed, the code is that of the method that harms them least.
    let gentlest = frontier
        .iter()
        .find(|way| way.is_gentler && way.dominated_by.is_none());
    let method = gentlest
        .map(|way| way.method.as_str())
        .or(first.way.as_deref())
        .unwrap_or(&topic.baseline);
    let snippets = snippets(method);
    let measured = points
        .first()
        .zip(points.last())
        .map(|(first, last)| (first.bytes, last.bytes));
    rounded(AdviceAnswer {
        schema: ANSWER_SCHEMA,
        question: topic.id.clone(),
        does: topic.does.clone(),
        bytes: request.bytes,
        costs: costs(request, &first, cells.as_ref()),
        flips: flips(&searched, &segments, &topic.baseline),
        segments,
        measured: measured.filter(|(first, last)| first < last && topic.by_size),
        uses: cells
            .as_ref()
            .map_or_else(Vec::new, |cells| repeated(request, cells.summary)),
        also,
        snippets,
        frontier,
        points,
        time: cells
            .as_ref()
            .and_then(|cells| time(request, &first, cells)),
        depends,
        disturbances: disturbances(&topic.experiment, &runs, summaries),
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
        baseline: request.topic.baseline.clone(),
        segments: segments(&points, &request.topic.baseline, margin),
        conditions: BTreeMap::new(),
        points,
        runs,
    })
}
