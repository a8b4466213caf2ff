//! The answers of an overview: for each question of an experiment one finding on its usual choice.

use super::conditions::{self, ConditionClauses, subject_names, subjects, too_noisy};
use super::labels::{LabelledExperiment, LabelledGroup};
use super::neighbors::is_change_possible;
use super::{numbers, wording};
use indexmap::IndexSet;
use record::outcome::{Cause, Status};
use record::summary::{CellSummary, Comparison, Ratio, Recommendation, Sureness, Verdict};
use std::collections::BTreeSet;

/// Characters of a finding from which further methods are counted instead of named: a row is one line of 100 columns.
const FINDING_ROOM: usize = 38;

/// Characters of a clause that a line of 80 columns has room for.
const LINE_SIGNS: usize = 74;

/// The answer to one question: an experiment at some parameters.
pub(crate) struct AnswerRow {
    pub kind: AnswerKind,
    /// Position of the experiment and of the group within it.
    pub place: (usize, usize),
    pub experiment: String,
    /// The experiment at its parameters: `fault 16 MiB`.
    pub question: String,
    pub usual: String,
    pub method: String,
    /// The methods that are faster, or the findings that decide.
    pub finding: String,
    /// Number of methods with a finding that is not named.
    pub further: usize,
    /// The conditions that the answer depends on, a line each.
    pub conditions: Vec<String>,
    /// The factors by which it is faster, at least and at most, where it is.
    pub factors: Option<(f64, f64)>,
    /// True if a method is faster under the usual condition, false if none is; absent where that is open.
    changes: Option<bool>,
    pub sureness: Option<Sureness>,
    /// Seconds of further launches after which an open answer is expected to be settled, if any are.
    pub further_s: Option<f64>,
    /// Distance of the surprising ratio from one, as a logarithm.
    pub surprise: f64,
}

/// The kinds of answers, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AnswerKind {
    /// A method, or each of several, is faster under every usual condition next to the question's.
    Change,
    Depends,
    Keep,
    Open,
}

/// Findings on the ranked methods of a group other than its baseline.
#[derive(Default)]
struct OtherMethods {
    /// Estimated ratios to the baseline with the findings on them, settled or not.
    compared: Vec<(f64, String)>,
    open: Vec<String>,
    /// Names of the open ones.
    open_names: Vec<String>,
    untrusted: Vec<String>,
    /// Distance of the slowest, as a logarithm.
    surprise: f64,
}

impl AnswerKind {
    /// The heading of its rows; `margin` is the smallest difference that matters.
    pub fn heading(self, margin: f64) -> String {
        let margin = wording::percent(margin);
        match self {
            AnswerKind::Change => {
                "Change: faster under every usual condition possible here".to_owned()
            }
            AnswerKind::Depends => {
                "Depends: faster only under conditions that are named".to_owned()
            }
            AnswerKind::Keep => {
                format!("Keep: no other method measured is more than {margin} faster; the nearest")
            }
            AnswerKind::Open => format!(
                "Open: another method may be more than {margin} faster under the usual condition"
            ),
        }
    }
}

/// The method that an answer names, with the finding on it.
struct NamedMethod {
    kind: AnswerKind,
    method: String,
    finding: String,
    further: usize,
    conditions: Vec<String>,
    factors: Option<(f64, f64)>,
    surprise: f64,
}

impl AnswerRow {
    /// The range of factors, empty where it is not faster: `4.7–6.0`.
    pub fn faster(&self) -> String {
        self.factors
            .map_or_else(String::new, |(least, most)| wording::factors(least, most))
    }

    /// Lines of a screen of 80 columns that it takes, about.
    pub fn lines(&self) -> usize {
        let clauses = self.conditions.iter().map(|clause| clause.chars().count());
        1 + clauses
            .map(|signs| signs.div_ceil(LINE_SIGNS))
            .sum::<usize>()
    }

    /// A change that is worth making, in a few words: `fault 16 MiB thp 3.0–3.8×`.
    pub fn briefly(&self) -> String {
        format!("{} {} {}×", self.question, self.method, self.faster())
    }

    /// The first method that it names, as `EXPERIMENT/METHOD`.
    pub fn first_method(&self) -> String {
        let name = self
            .method
            .split([' ', ',', '@'])
            .next()
            .unwrap_or_default();
        format!("{}/{name}", self.experiment)
    }

    /// The answer in a few words, for a row that it contradicts: `copy 16 MiB keep memcpy`.
    pub fn in_words(&self) -> String {
        match self.kind {
            AnswerKind::Change => format!("{} faster", self.briefly()),
            AnswerKind::Depends => {
                format!(
                    "{}: {} faster under some conditions",
                    self.question, self.method
                )
            }
            AnswerKind::Keep => format!("{} keep {}", self.question, self.method),
            AnswerKind::Open => format!("{} open", self.question),
        }
    }

    /// Tells whether two answers cannot both guide a reader: under its usual condition one changes what the other keeps.
    pub fn reverses(&self, other: &AnswerRow) -> bool {
        let changes = self.changes.zip(other.changes);
        self.experiment == other.experiment && changes.is_some_and(|(a, b)| a != b)
    }

    /// Tells whether two answers name the same method for the same reason.
    fn is_like(&self, other: &AnswerRow) -> bool {
        (self.kind, &self.method) == (other.kind, &other.method)
    }

    fn new(group: LabelledGroup, place: (usize, usize)) -> Option<AnswerRow> {
        let usual = group.group.baseline?;
        let named = match group.group.recommendation {
            Recommendation::Use {
                everywhere: true, ..
            } => faster(group),
            Recommendation::Inconclusive { .. } if !group.group.faster.is_empty() => any_of(group),
            Recommendation::Inconclusive { .. } if !group.group.elsewhere.is_empty() => {
                elsewhere(group)
            }
            Recommendation::Depends { cell, .. } | Recommendation::Use { cell, .. } => {
                depends(group, cell)?
            }
            Recommendation::Keep { cell } => kept(group, cell, AnswerKind::Keep),
            Recommendation::Inconclusive { cell } => kept(group, cell, AnswerKind::Open),
            Recommendation::Nothing => return None,
        };
        let experiment = group.experiment.name().to_owned();
        let question = format!("{experiment} {}", group.setting_briefly())
            .trim_end()
            .to_owned();
        // A cost that no other is compared with has no place on a line.
        let usual = match named.kind {
            AnswerKind::Open => group.name(usual),
            AnswerKind::Keep => figure(group, usual),
            AnswerKind::Change | AnswerKind::Depends => compared_with(group, usual),
        };
        Some(AnswerRow {
            kind: named.kind,
            place,
            experiment,
            question,
            usual,
            method: named.method,
            finding: named.finding,
            further: named.further,
            conditions: named.conditions,
            factors: named.factors,
            changes: changes(group),
            sureness: conditions::sureness(group).filter(|_| named.kind != AnswerKind::Open),
            further_s: group.group.further_s,
            surprise: named.surprise,
        })
    }
}

/// The answers of an experiment, the most surprising first. Its neighboring conditions are part of the answer under the usual
/// one. The first row of a method says how many questions it answers, and the range of its factors.
pub(crate) fn answers(experiment: LabelledExperiment, position: usize) -> Vec<AnswerRow> {
    let groups = experiment.groups_in_order();
    let answered_under_the_usual_condition: Vec<_> = groups
        .iter()
        .filter(|group| is_usual(**group) && is_answered(**group))
        .map(|group| group.question())
        .collect();
    let mut rows: Vec<AnswerRow> = groups
        .iter()
        .enumerate()
        .filter(|(_, group)| {
            is_usual(**group) || !answered_under_the_usual_condition.contains(&group.question())
        })
        .filter_map(|(place, group)| AnswerRow::new(*group, (position, place)))
        .collect();
    rows.sort_by(|a, b| b.surprise.total_cmp(&a.surprise));
    add_ranges(&mut rows);
    rows
}

fn is_usual(group: LabelledGroup) -> bool {
    let unusual = group.definition().unusual(&group.group.parameters).next();
    unusual.is_none()
}

fn is_answered(group: LabelledGroup) -> bool {
    group.group.recommendation != Recommendation::Nothing
}

/// Adds to the first row of a method how many questions of its experiment the method answers, and the range of its factors.
fn add_ranges(rows: &mut [AnswerRow]) {
    for at in 0..rows.len() {
        let is_first = !rows[..at].iter().any(|row| row.is_like(&rows[at]));
        let factors: Vec<(f64, f64)> = rows
            .iter()
            .filter(|row| row.is_like(&rows[at]))
            .filter_map(|row| row.factors)
            .collect();
        if is_first && factors.len() > 1 {
            let (least, most) = hull(&factors);
            let range = wording::factors(least, most);
            rows[at].finding += &format!("; 1 of {}, range {range}×", factors.len());
        }
    }
}

/// The smallest and the largest of several factors.
fn hull(factors: &[(f64, f64)]) -> (f64, f64) {
    (
        factors.iter().map(|f| f.0).fold(f64::INFINITY, f64::min),
        factors.iter().map(|f| f.1).fold(0.0, f64::max),
    )
}

/// The answer after the first one that says something else, a conditional one before others.
pub(crate) fn second_answer(first: &AnswerRow, further: Vec<AnswerRow>) -> Option<AnswerRow> {
    let (conditional, plain): (Vec<_>, Vec<_>) = further
        .into_iter()
        .filter(|row| !row.is_like(first))
        .partition(|row| row.kind == AnswerKind::Depends);
    conditional.into_iter().chain(plain).next()
}

/// A method with its median cost; its name alone where it has none to be believed.
fn figure(group: LabelledGroup, cell: usize) -> String {
    let name = group.name(cell);
    let believed = Some(group.cell(cell)).filter(|cell| cell.outcome.status == Status::Ok);
    let launches = believed.map_or(0, |cell| cell.launches);
    let Some(phase) = group.headline_phase(cell).filter(|_| believed.is_some()) else {
        return name;
    };
    let work = group.work();
    if phase.levels.is_some() {
        return format!("{name} {}{}", work.cost(phase).0, work.per());
    }
    let cost = work.figure(phase.per_unit_ns.median);
    let spread = work
        .rough_spread(&phase.per_unit_ns)
        .unwrap_or_else(|| format!(" ({})", wording::count(launches, "launch")));
    format!("{name} {cost}{}{spread}", work.per())
}

/// Tells whether a method is shown to be faster under a group's own condition, or shown that none is.
fn changes(group: LabelledGroup) -> Option<bool> {
    if is_faster_here(group) {
        Some(true)
    } else if is_change_possible(group) {
        None
    } else {
        Some(false)
    }
}

/// Tells whether a method of the answer is faster under a group's own condition.
fn is_faster_here(group: LabelledGroup) -> bool {
    let mut compared = subjects(group)
        .into_iter()
        .filter_map(|cell| group.comparison(cell));
    compared.any(|comparison| matches!(comparison.contrast.overall(), Verdict::Faster { .. }))
}

/// The usual choice with its cost under the conditions whose factors the answer has: one cost, or the least and the most of them.
fn compared_with(group: LabelledGroup, usual: usize) -> String {
    let entries = group.group.conditions.iter().chain(&group.group.elsewhere);
    let faster = entries.filter(|c| matches!(c.contrast.overall(), Verdict::Faster { .. }));
    let there = faster.filter_map(|entry| group.summary().groups[entry.group].baseline);
    let here = Some(usual).filter(|_| is_faster_here(group));
    let baselines: IndexSet<usize> = there.chain(here).collect();
    let costs = baselines.iter().filter_map(|&cell| {
        let phase = group.headline_phase(cell)?;
        Some((cell, phase.per_unit_ns.median)).filter(|_| is_shown(group, cell))
    });
    let mut costs: Vec<(usize, f64)> = costs.collect();
    costs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let work = group.work();
    let [(least, first), .., (_, last)] = *costs else {
        return figure(group, costs.first().map_or(usual, |(cell, _)| *cell));
    };
    // A rate falls as the cost grows.
    let ends = if work.is_rate() {
        [last, first]
    } else {
        [first, last]
    };
    let ends = ends.map(|cost| work.figure(cost));
    if ends[0] == ends[1] {
        return figure(group, least);
    }
    let range = numbers::between(&ends[0], &ends[1]);
    format!("{} {range}{}", group.name(usual), work.per())
}

/// Tells whether a cell has figures to be believed.
fn is_shown(group: LabelledGroup, cell: usize) -> bool {
    group.cell(cell).outcome.status == Status::Ok
}

/// The time that is compared, where it has a shorter part by itself, and the amounts by which methods are faster in that part.
pub(super) fn partly(group: LabelledGroup) -> Option<String> {
    let totals = &group.definition().totals;
    let whole = totals
        .iter()
        .find(|total| total.name == group.experiment.headline())?;
    let part = totals.iter().find(|total| {
        let is_part = total.phases.len() < whole.phases.len();
        is_part && whole.phases.starts_with(&total.phases)
    })?;
    let entries = group.group.conditions.iter().chain(&group.group.elsewhere);
    let faster = entries.filter(|c| matches!(c.contrast.overall(), Verdict::Faster { .. }));
    let elsewhere = faster.map(|entry| (&group.summary().groups[entry.group], entry.cell));
    let here = subjects(group).into_iter().filter(|&cell| {
        let comparison = group.comparison(cell);
        comparison.is_some_and(|c| matches!(c.contrast.overall(), Verdict::Faster { .. }))
    });
    let here = here.map(|cell| (group.group, cell));
    let ratios = here
        .chain(elsewhere)
        .map(|(group, cell)| group.comparison(cell, &part.name)?.contrast.ratio);
    let ratios: Option<Vec<Ratio>> = ratios.collect();
    let hull = ratios.into_iter().flatten().reduce(|hull, other| Ratio {
        low: hull.low.min(other.low),
        high: hull.high.max(other.high),
        ..hull
    });
    let partly = hull.map(|hull| {
        let amount = wording::between_briefly(&hull);
        format!("{amount} {}; ", part.meaning)
    });
    let partly = partly.unwrap_or_default();
    Some(format!("{partly}the answer compares {}", whole.formula()))
}

/// Number of the ranked methods that were measured, of those that the experiment has: `4 of 9 methods measured`.
fn measured(group: LabelledGroup) -> Option<String> {
    let all = group.summary().offered.get(group.experiment.name())?;
    let cells = group.group.cells.iter().map(|&cell| group.cell(cell));
    let known = cells.filter(|cell| cell.is_ranked() && cell.outcome.status == Status::Ok);
    let names: BTreeSet<&str> = known.map(|cell| cell.method.as_str()).collect();
    Some(format!("{} of {all} methods measured", names.len()))
}

/// The smallest and the largest factor by which the methods of an answer are faster, over all conditions under which they are.
fn factors(group: LabelledGroup) -> (f64, f64) {
    let cells = subjects(group).into_iter();
    let here = cells.filter_map(|cell| Some(&group.comparison(cell)?.contrast));
    let conditions = group.group.conditions.iter();
    let factors: Vec<(f64, f64)> = here
        .chain(conditions.map(|condition| &condition.contrast))
        .filter(|contrast| matches!(contrast.overall(), Verdict::Faster { .. }))
        .filter_map(|contrast| contrast.ratio)
        .map(|ratio| wording::faster_by(&ratio))
        .collect();
    hull(&factors)
}

/// Methods that are faster under every usual condition, each as good as the others, by the factors of all conditions.
fn faster(group: LabelledGroup) -> NamedMethod {
    let factors = factors(group);
    let methods = subjects(group);
    let mut names = methods.into_iter().map(|cell| group.name(cell));
    let first = names.next().unwrap_or_default();
    let others: Vec<String> = names.collect();
    let (finding, further) = with_further(first, " or ", &others, others.len());
    NamedMethod {
        kind: AnswerKind::Change,
        method: subject_names(group),
        finding,
        further,
        conditions: with_part(ConditionClauses::new(group, false).holding(group), group),
        factors: Some(factors),
        surprise: factors.0.ln(),
    }
}

/// Methods of which each is shown to be faster.
fn any_of(group: LabelledGroup) -> NamedMethod {
    if group.group.unmeasured.is_empty() && group.group.unsettled.is_empty() {
        return faster(group);
    }
    let method = subject_names(group);
    NamedMethod {
        kind: AnswerKind::Depends,
        finding: method.clone(),
        further: 0,
        method,
        conditions: with_part(ConditionClauses::new(group, true).depending(group), group),
        factors: None,
        surprise: factors(group).0.ln(),
    }
}

/// Methods that only other conditions recommend.
fn elsewhere(group: LabelledGroup) -> NamedMethod {
    let entries = &group.group.elsewhere;
    let names: IndexSet<String> = entries.iter().map(|entry| group.name(entry.cell)).collect();
    let names: Vec<String> = names.into_iter().collect();
    let ratios = entries.iter().filter_map(|entry| entry.contrast.ratio);
    let first = names.first().cloned().unwrap_or_default();
    let (finding, further) = with_further(first, " or ", &names[1..], names.len() - 1);
    NamedMethod {
        kind: AnswerKind::Depends,
        method: wording::either(&names),
        finding,
        further,
        conditions: with_part(ConditionClauses::new(group, true).depending(group), group),
        factors: None,
        surprise: ratios.map(|ratio| ratio.log().abs()).fold(0.0, f64::max),
    }
}

/// A method whose verdict flips with a condition.
fn depends(group: LabelledGroup, cell: usize) -> Option<NamedMethod> {
    let conditions = group.group.conditions.iter();
    let surprise = conditions
        .filter_map(|condition| condition.contrast.ratio)
        .chain(group.comparison(cell)?.contrast.ratio)
        .map(|ratio| ratio.ratio.ln().abs())
        .fold(0.0f64, f64::max);
    let clauses = ConditionClauses::new(group, true);
    let method = clauses.method()?.to_owned();
    Some(NamedMethod {
        kind: AnswerKind::Depends,
        finding: method.clone(),
        further: 0,
        conditions: with_part(clauses.depending(group), group),
        method,
        factors: None,
        surprise,
    })
}

/// The usual choice, where it is kept or nothing is settled.
fn kept(group: LabelledGroup, cell: usize, kind: AnswerKind) -> NamedMethod {
    let mut others = OtherMethods::new(group);
    let surprise = others.surprise;
    // Nothing but noise is said of an open question that a condition could limit.
    let mut conditions = Vec::new();
    let (finding, further) = if kind == AnswerKind::Keep {
        let nearest = others.take_nearest();
        let mut holding = ConditionClauses::new(group, true)
            .holding(group)
            .into_iter();
        let clauses = measured(group).into_iter().chain(others.undecided());
        let first: Vec<String> = clauses.chain(holding.next()).collect();
        conditions.extend((!first.is_empty()).then(|| first.join("; ")));
        conditions.extend(holding);
        (nearest, others.compared.len())
    } else {
        conditions.extend(too_noisy(group));
        others.finding()
    };
    NamedMethod {
        kind,
        method: group.name(cell),
        finding,
        further,
        conditions,
        factors: None,
        surprise,
    }
}

/// Lines of an answer behind one on a shorter part of what is compared, where the experiment has one.
fn with_part(lines: Vec<String>, group: LabelledGroup) -> Vec<String> {
    partly(group).into_iter().chain(lines).collect()
}

impl OtherMethods {
    fn new(group: LabelledGroup) -> OtherMethods {
        let mut methods = OtherMethods::default();
        let compared = group.group.by_cell(group.experiment.headline());
        let cells = group.group.cells.iter().copied();
        for cell in cells.filter(|&cell| Some(cell) != group.group.baseline) {
            if group.cell(cell).is_ranked() {
                methods.add(group, cell, compared.get(&cell).copied());
            }
        }
        methods
    }

    fn add(&mut self, group: LabelledGroup, cell: usize, comparison: Option<&Comparison>) {
        let name = group.name(cell);
        let verdict = comparison.map_or(Verdict::NotSettled, |c| c.contrast.overall());
        let ratio = comparison.and_then(|c| c.contrast.ratio);
        let finding = match (group.cell(cell).outcome.status, verdict, ratio) {
            (Status::Ok, Verdict::Slower { .. }, Some(ratio)) => {
                self.surprise = self.surprise.max(ratio.low.ln());
                format!("{name} {}", wording::range(ratio.low, ratio.high))
            }
            (Status::Ok, Verdict::Within { margin }, _) => {
                let margin = wording::percent(margin);
                format!("{name} within {margin}")
            }
            (Status::Ok, ..) => {
                let finding = open(&name, comparison);
                self.open.push(finding.clone());
                self.open_names.push(name);
                finding
            }
            (Status::Untrusted, ..) => return self.untrusted.push(format!("{name} untrusted")),
            _ => return,
        };
        let estimate = ratio.map_or(f64::INFINITY, |ratio| ratio.ratio);
        self.compared.push((estimate, finding));
    }

    /// The finding of an open answer: what decides, and the number of further methods. As many are named as a line has room for.
    fn finding(self) -> (String, usize) {
        let findings = [self.open, self.untrusted].concat();
        let names: Vec<String> = self.open_names.into_iter().skip(1).collect();
        let Some(first) = findings.first() else {
            return (String::new(), 0);
        };
        with_further(first.clone(), ", ", &names, findings.len() - 1)
    }

    /// Takes the finding on the method that comes nearest to a usual choice that is kept; empty where there is none.
    fn take_nearest(&mut self) -> String {
        let methods = 0..self.compared.len();
        let nearest = methods.min_by(|&a, &b| self.compared[a].0.total_cmp(&self.compared[b].0));
        let Some((_, finding)) = nearest.map(|at| self.compared.remove(at)) else {
            return String::new();
        };
        self.open.retain(|open| *open != finding);
        finding
    }

    /// A clause on the methods of which nothing is settled, and on those that are not believed.
    fn undecided(&self) -> Option<String> {
        let open = (!self.open.is_empty()).then(|| format!("open: {}", self.open.join(", ")));
        let clauses: Vec<String> = open.into_iter().chain(self.untrusted.clone()).collect();
        (!clauses.is_empty()).then(|| clauses.join(", "))
    }
}

/// A finding with the names of as many further methods as a line has room for, each after a `joint`, and the number of the others.
fn with_further(
    mut finding: String,
    joint: &str,
    names: &[String],
    mut further: usize,
) -> (String, usize) {
    for name in names {
        if finding.chars().count() + name.chars().count() > FINDING_ROOM {
            break;
        }
        finding += &format!("{joint}{name}");
        further -= 1;
    }
    (finding, further)
}

/// A method of which nothing is settled, with the doubt or the interval.
fn open(name: &str, comparison: Option<&Comparison>) -> String {
    if let Some(doubt) = comparison.and_then(|c| c.doubt) {
        return format!("{name} ({})", wording::doubt(&doubt));
    }
    let is_alone = comparison.is_some_and(|c| !c.contrast.holds_among_all);
    let alone = if is_alone { " by itself" } else { "" };
    match comparison.and_then(|c| c.contrast.ratio) {
        // A wider interval says no more than the name does.
        Some(ratio) if ratio.half_width() < 1.0 => {
            format!("{name} ({}{alone})", wording::between_briefly(&ratio))
        }
        _ => name.to_owned(),
    }
}

/// The reason why an experiment has no answer: the outcome of most of its cells.
pub(crate) fn why_unanswered(experiment: LabelledExperiment) -> Option<String> {
    let cells: Vec<&CellSummary> = experiment.cells().map(|(_, cell)| cell).collect();
    let methods: BTreeSet<&str> = cells
        .iter()
        .filter(|c| c.outcome.status == Status::Ok && c.is_ranked())
        .map(|c| c.cell.as_str())
        .collect();
    let untrusted = count(&cells, Status::Untrusted);
    let why = if cells.is_empty() {
        return None;
    } else if untrusted > 0 {
        let disturbance = disturbed_by(&cells, untrusted);
        format!(
            "{untrusted} of {} cells untrusted{disturbance}",
            cells.len()
        )
    } else if methods.len() == 1 {
        "only one way was measured".to_owned()
    } else if count(&cells, Status::Ok) > 0 {
        "too few launches".to_owned()
    } else {
        "nothing was measured".to_owned()
    };
    Some(format!("{}: {why}", experiment.name()))
}

fn count(cells: &[&CellSummary], status: Status) -> usize {
    cells
        .iter()
        .filter(|cell| cell.outcome.status == status)
        .count()
}

/// The disturbance of most untrusted cells; nothing where a law broke, which has its own words.
fn disturbed_by(cells: &[&CellSummary], untrusted: usize) -> &'static str {
    let (mut disk, mut processors) = (0, 0);
    for cell in cells
        .iter()
        .filter(|cell| cell.outcome.status == Status::Untrusted)
    {
        let cause = cell.outcome.cause.as_ref();
        disk += usize::from(matches!(cause, Some(Cause::OthersOnDisk { .. })));
        processors += usize::from(matches!(cause, Some(Cause::SwitchedOut { .. })));
    }
    match untrusted - disk - processors {
        others if others >= disk.max(processors) => "",
        _ if disk >= processors => ": others used the disk",
        _ => ": others used the CPUs",
    }
}
