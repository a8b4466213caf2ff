//! The answers of an overview: for each question of an experiment one finding on its usual choice.

use super::conditions::{self, ConditionClauses, subject_names, subjects};
use super::labels::{LabelledExperiment, LabelledGroup};
use super::wording;
use indexmap::IndexSet;
use record::outcome::{Cause, Status};
use record::summary::{CellSummary, Comparison, Doubt, Recommendation, Sureness, Verdict};
use std::collections::BTreeSet;

/// Characters of a finding from which further methods are counted instead of named: a row is one line of 100 columns.
const FINDING_ROOM: usize = 38;

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
    pub sureness: Option<Sureness>,
    /// Seconds of further launches after which an open answer is expected to be settled, if any are.
    pub further_s: Option<f64>,
    /// Launches of one of its methods lie on two levels, which no time makes one.
    pub has_levels: bool,
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
    settled: Vec<String>,
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
                "Change: faster under every usual condition possible here, by so much (95 % CI)"
                    .to_owned()
            }
            AnswerKind::Depends => {
                "Depends: faster only under conditions that are named".to_owned()
            }
            AnswerKind::Keep => format!("Keep: no other method is more than {margin} faster"),
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
        let usual = if named.kind == AnswerKind::Open {
            group.name(usual)
        } else {
            figure(group, usual)
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
            sureness: conditions::sureness(group).filter(|_| named.kind != AnswerKind::Open),
            further_s: group.group.further_s,
            has_levels: group.comparisons().any(has_levels),
            surprise: named.surprise,
        })
    }
}

fn has_levels(comparison: &Comparison) -> bool {
    matches!(comparison.doubt, Some(Doubt::TwoLevels(_)))
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
    let is_believed = group.cell(cell).outcome.status == Status::Ok;
    match group.headline_phase(cell).filter(|_| is_believed) {
        Some(phase) => {
            let cost = group.work().figure(phase.per_unit_ns.median);
            format!("{name} {cost}{}", group.work().per())
        }
        None => name,
    }
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
        conditions: ConditionClauses::new(group, false).holding(group),
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
        conditions: ConditionClauses::new(group, true).depending(group),
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
        conditions: ConditionClauses::new(group, true).depending(group),
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
        conditions: clauses.depending(group),
        method,
        factors: None,
        surprise,
    })
}

/// The usual choice, where it is kept or nothing is settled.
fn kept(group: LabelledGroup, cell: usize, kind: AnswerKind) -> NamedMethod {
    let others = OtherMethods::new(group);
    let surprise = others.surprise;
    let (finding, further) = others.finding(kind);
    NamedMethod {
        kind,
        method: group.name(cell),
        finding,
        further,
        // Nothing is said of an open question that a condition could limit.
        conditions: if kind == AnswerKind::Keep {
            ConditionClauses::new(group, true).holding(group)
        } else {
            Vec::new()
        },
        factors: None,
        surprise,
    }
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
        match (group.cell(cell).outcome.status, verdict, ratio) {
            (Status::Ok, Verdict::Slower { .. }, Some(ratio)) => {
                self.surprise = self.surprise.max(ratio.low.ln());
                let factors = wording::factors(ratio.low, ratio.high);
                self.settled.push(format!("{name} {factors}× slower"));
            }
            (Status::Ok, Verdict::Within { margin }, _) => {
                let margin = wording::percent(margin);
                self.settled.push(format!("{name} within {margin}"));
            }
            (Status::Ok, ..) => {
                self.open.push(open(&name, comparison));
                self.open_names.push(name);
            }
            (Status::Untrusted, ..) => self.untrusted.push(format!("{name} untrusted")),
            _ => {}
        }
    }

    /// The finding of an answer: what decides, and the number of further methods. Of those that may be faster as many are named as
    /// a line has room for.
    fn finding(self, kind: AnswerKind) -> (String, usize) {
        let (findings, names): (Vec<String>, Vec<String>) = if kind == AnswerKind::Open {
            (
                [self.open, self.untrusted].concat(),
                self.open_names.into_iter().skip(1).collect(),
            )
        } else {
            (
                [self.settled, self.open, self.untrusted].concat(),
                Vec::new(),
            )
        };
        let Some(first) = findings.first() else {
            return (String::new(), 0);
        };
        with_further(first.clone(), ", ", &names, findings.len() - 1)
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
    match comparison.and_then(|c| c.contrast.ratio) {
        // A wider interval says no more than the name does.
        Some(ratio) if ratio.half_width() < 1.0 => {
            format!("{name} ({})", wording::between_briefly(&ratio))
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
