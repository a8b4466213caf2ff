//! Clauses on the conditions of a question: those that its answer has in common, how its methods fare under each, and under which
//! conditions that is open.

use super::labels::LabelledGroup;
use super::neighbors::{
    fixed, held, is_change_possible, is_kept, measured_neighbors, open_conditions, own_condition,
};
use super::wording;
use record::parameters::Parameters;
use record::summary::{AnswerCondition, Contrast, Ratio, Recommendation, Sureness, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// The finding on methods under one condition.
struct ConditionFinding {
    /// Names of the methods; empty for those of the answer.
    methods: String,
    /// The values of the condition that differ from those of the question's group; its own ones where it is that group's.
    when: Parameters,
    verdict: Verdict,
    /// The ratios of all methods, from the least to the most.
    ratios: (f64, f64),
    /// The degree to which its own condition's evidence is sure.
    sureness: Option<Sureness>,
    /// Findings on other methods under the same condition.
    notes: Vec<String>,
}

/// Findings on the same methods that go the same way, and whose intervals all overlap.
struct FindingLine<'a> {
    findings: Vec<&'a ConditionFinding>,
    /// The part of the ratios that all have in common.
    common: (f64, f64),
}

/// Clauses on the methods of an answer under each condition of a question.
pub(crate) struct ConditionClauses {
    /// The methods that clauses without a name are about; none where no condition says anything of one.
    method: Option<String>,
    /// Findings on those methods where they are faster: `3.0–3.8× faster if the program keeps the block`.
    faster: Vec<String>,
    /// Findings on those methods where they are not.
    not_faster: Vec<String>,
    /// Findings on other methods, which they name.
    elsewhere: Vec<String>,
    /// Methods that seem faster than those of the answer.
    maybe_faster: Option<String>,
    /// Conditions that were measured and leave it open.
    unsettled: Vec<String>,
    /// Conditions under which no method is faster.
    kept: Vec<String>,
    /// Conditions that were not measured.
    unmeasured: Vec<String>,
    /// Conditions under which the methods do not exist.
    absent: Vec<String>,
    /// The run's margin.
    margin: String,
}

impl ConditionClauses {
    /// Builds the clauses of a group; `with_its` includes its own condition among the findings.
    pub(crate) fn new(group: LabelledGroup, with_its: bool) -> ConditionClauses {
        let definition = group.definition();
        let others = findings(group);
        let here = own_finding(group).filter(|_| with_its);
        let here = here.map(|finding| ConditionFinding {
            notes: Vec::from_iter(maybe_faster(group)),
            ..finding
        });
        let mut known: Vec<Parameters> = others.iter().map(|other| other.when.clone()).collect();
        let open = |conditions: &[Parameters]| -> Vec<String> {
            let unknown = conditions.iter().filter(|when| !known.contains(when));
            unknown.map(|when| definition.clause(when)).collect()
        };
        let (kept_there, open_there): (Vec<Parameters>, Vec<Parameters>) = group
            .group
            .unsettled
            .iter()
            .cloned()
            .partition(|when| is_kept(group, when));
        let (mut kept, mut unsettled) = (open(&kept_there), open(&open_there));
        let (unmeasured, absent) = (open(&group.group.unmeasured), open(&group.group.absent));
        known.extend_from_slice(&group.group.unsettled);
        // A condition in which two things differ is no neighbor, and says less.
        for condition in group.group.conditions.iter().filter(|c| is_open(c)) {
            if condition.when.len() == 1 && !known.contains(&condition.when) {
                let list = if is_kept(group, &condition.when) {
                    &mut kept
                } else {
                    &mut unsettled
                };
                list.push(definition.clause(&condition.when));
                known.push(condition.when.clone());
            }
        }
        let is_elsewhere = is_open_here(group) && !group.group.elsewhere.is_empty();
        if is_elsewhere {
            known.extend(open_conditions(group).cloned());
            let measured = measured_neighbors(group);
            let unknown = measured.iter().filter(|when| !known.contains(when));
            kept.extend(unknown.map(|when| definition.clause(when)));
        }
        let is_depending = matches!(group.group.recommendation, Recommendation::Depends { .. });
        if with_its && here.is_none() && (is_elsewhere || is_depending) {
            // Where its method is faster, its own condition has a finding.
            let own_clause = Some(own_condition(group)).filter(|clause| !clause.is_empty());
            let list = if is_elsewhere || is_change_possible(group) {
                &mut unsettled
            } else {
                &mut kept
            };
            *list = own_clause.into_iter().chain(list.drain(..)).collect();
        }
        let maybe_faster = maybe_faster(group).filter(|_| here.is_none());
        let mut settled: Vec<ConditionFinding> = here.into_iter().chain(others).collect();
        settled.sort_by_key(|finding| rank(finding.verdict));
        let (unnamed, elsewhere): (Vec<&ConditionFinding>, Vec<&ConditionFinding>) = settled
            .iter()
            .partition(|finding| finding.methods.is_empty());
        let (faster, not_faster): (Vec<FindingLine>, Vec<FindingLine>) = merged(&unnamed)
            .into_iter()
            .partition(FindingLine::is_faster);
        let sentences = |lines: Vec<FindingLine>| -> Vec<String> {
            let lines = lines.iter();
            lines
                .map(|line| line.sentence(group, &line.amount(group)))
                .collect()
        };
        ConditionClauses {
            method: method(group),
            faster: sentences(faster),
            not_faster: sentences(not_faster),
            elsewhere: sentences(merged(&elsewhere)),
            maybe_faster,
            unsettled,
            kept,
            unmeasured,
            absent,
            margin: wording::percent(group.summary().settings.margin),
        }
    }

    /// Name of the methods that the clauses without a name are about.
    pub(crate) fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// A sentence on the methods under every condition; empty where nothing is known of one.
    pub(super) fn sentence(&self) -> String {
        let unnamed = [self.faster.as_slice(), self.not_faster.as_slice()].concat();
        let unnamed = unnamed.join("; ");
        let unnamed = match &self.method {
            Some(method) if !unnamed.is_empty() => vec![format!("{method} is {unnamed}")],
            _ => Vec::new(),
        };
        let clauses = unnamed.into_iter().chain(self.elsewhere.iter().cloned());
        clauses.chain(self.open("")).collect::<Vec<_>>().join("; ")
    }

    /// Lines of an answer that depends: the conditions that all findings have in common, the findings on its methods, those on
    /// others, and the open conditions.
    pub(super) fn depending(&self, group: LabelledGroup) -> Vec<String> {
        let differing = differing(group);
        let common = fixed(group, |key| !differing.contains(key));
        let measuring = command(group);
        let last = self.not_faster.iter().cloned();
        let last: Vec<String> = last.chain(self.open(&measuring)).collect();
        let mut lines = vec![self.faster.join("; ")];
        lines.extend(self.elsewhere.iter().cloned());
        lines.extend(self.maybe_faster.clone());
        lines.push(last.join("; "));
        lines.retain(|line| !line.is_empty());
        if let Some(common) = common {
            match lines.first_mut() {
                Some(first) => *first = format!("{common}: {first}"),
                None => lines.push(common),
            }
        }
        lines
    }

    /// Lines of an answer that is given once: the conditions under which it holds, other methods that another condition
    /// recommends, and the open conditions.
    pub(super) fn holding(&self, group: LabelledGroup) -> Vec<String> {
        let holds = match ranges(group) {
            Some(ranges) => {
                let differing = differing(group);
                let common = fixed(group, |key| !differing.contains(key));
                common.map_or_else(|| ranges.clone(), |common| format!("{common}: {ranges}"))
            }
            None => holds_alike(group),
        };
        let measuring = command(group);
        let open = self.open(&measuring).collect::<Vec<_>>().join("; ");
        let mut lines = self.elsewhere.clone();
        lines.extend(self.maybe_faster.clone());
        if lines.is_empty() {
            let parts = [holds, open].into_iter().filter(|part| !part.is_empty());
            lines.push(parts.collect::<Vec<_>>().join("; "));
        } else {
            lines.insert(0, holds);
            lines.push(open);
        }
        lines.retain(|line| !line.is_empty());
        lines
    }

    /// Clauses on the conditions without a finding by what is known of them, after those that were not measured what would
    /// measure them.
    fn open(&self, command: &str) -> impl Iterator<Item = String> {
        let kept = format!("none is more than {} faster", self.margin);
        let kinds = [
            (kept, &self.kept, ""),
            ("open".to_owned(), &self.unsettled, ""),
            ("not measured".to_owned(), &self.unmeasured, command),
            ("not possible".to_owned(), &self.absent, ""),
        ];
        kinds
            .into_iter()
            .filter(|(_, conditions, _)| !conditions.is_empty())
            .map(|(kind, conditions, command)| {
                format!("{kind} if {}{command}", wording::alternatives(conditions))
            })
    }

    /// Last part of a sentence on the method: `; thp is 3.0–3.8× faster if …; not measured if …`.
    pub(super) fn ending(&self) -> String {
        match self.sentence() {
            sentence if sentence.is_empty() => sentence,
            sentence => format!("; {sentence}"),
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

/// The names of these methods; none where the group's own condition settles nothing.
fn method(group: LabelledGroup) -> Option<String> {
    Some(subject_names(group)).filter(|names| !names.is_empty())
}

/// Tells whether nothing is settled under the group's own condition.
pub(crate) fn is_open_here(group: LabelledGroup) -> bool {
    let is_open = matches!(
        group.group.recommendation,
        Recommendation::Inconclusive { .. }
    );
    is_open && group.group.faster.is_empty()
}

/// A sentence on the methods that look faster under a group's own condition where noise leaves that open; none without one.
pub(crate) fn too_noisy(group: LabelledGroup) -> Option<String> {
    let margin = group.summary().settings.margin;
    let leads = group.comparisons().filter_map(|comparison| {
        let is_ranked = group.cell(comparison.cell).is_ranked();
        Some((
            comparison.cell,
            comparison.noisy_lead(margin).filter(|_| is_ranked)?,
        ))
    });
    let (cells, ratios): (Vec<usize>, Vec<Ratio>) = leads.unzip();
    let names: Vec<String> = cells.iter().map(|&cell| group.name(cell)).collect();
    wording::too_noisy(&names, ratios.iter())
}

/// The degree to which an answer is sure: the least of the conditions of which it says something.
pub(crate) fn sureness(group: LabelledGroup) -> Option<Sureness> {
    let here = group.group.sureness.filter(|_| !is_open_here(group));
    let elsewhere = findings(group).into_iter().map(|finding| finding.sureness);
    let is_kept = matches!(group.group.recommendation, Recommendation::Keep { .. });
    let held = held(group).into_values().flatten();
    let held = held.filter(|_| is_kept).map(|(degree, _)| degree);
    here.into_iter()
        .chain(elsewhere.chain(held).flatten())
        .min()
}

/// A sentence on methods that seem faster than those of the answer.
fn maybe_faster(group: LabelledGroup) -> Option<String> {
    let names: Vec<String> = group
        .group
        .maybe_faster
        .iter()
        .map(|&cell| group.name(cell))
        .collect();
    (!names.is_empty()).then(|| format!("{} may be faster still", wording::either(&names)))
}

/// Tells whether a condition was measured and decides nothing.
fn is_open(condition: &AnswerCondition) -> bool {
    condition.contrast.ratio.is_some() && condition.contrast.overall() == Verdict::NotSettled
}

/// The decided findings under the other conditions.
fn findings(group: LabelledGroup) -> Vec<ConditionFinding> {
    let mut by_group: BTreeMap<usize, [Vec<&AnswerCondition>; 2]> = BTreeMap::new();
    for condition in &group.group.conditions {
        by_group.entry(condition.group).or_default()[0].push(condition);
    }
    for condition in &group.group.elsewhere {
        by_group.entry(condition.group).or_default()[1].push(condition);
    }
    let findings = by_group
        .into_iter()
        .filter_map(|(there, [subjects, better])| {
            let finding = if better.is_empty() {
                finding_on_subjects(group, &subjects)
            } else {
                finding_on_others(group, &subjects, &better)
            };
            let there = group.summary().groups.get(there);
            Some(ConditionFinding {
                sureness: there.and_then(|there| there.sureness),
                ..finding?
            })
        });
    findings.collect()
}

/// The finding on the methods of the answer under another condition; none where they were not measured, differ or are open.
fn finding_on_subjects(
    group: LabelledGroup,
    conditions: &[&AnswerCondition],
) -> Option<ConditionFinding> {
    let first = conditions.first()?;
    let contrasts = conditions.iter().map(|condition| &condition.contrast);
    let is_named = subjects(group).is_empty();
    let finding = ConditionFinding::new(first.when.clone(), contrasts)?;
    let is_faster = matches!(finding.verdict, Verdict::Faster { .. });
    let others = rivals(group, first.group).filter(|_| !is_faster);
    Some(ConditionFinding {
        methods: if is_named {
            group.name(first.cell)
        } else {
            String::new()
        },
        notes: Vec::from_iter(others),
        ..finding
    })
}

/// A note on the methods that may be faster than the usual choice under a condition of which nothing is settled; none where one is.
fn rivals(group: LabelledGroup, there: usize) -> Option<String> {
    let there = LabelledGroup {
        group: group.summary().groups.get(there)?,
        ..group
    };
    if !is_open_here(there) {
        return None;
    }
    let margin = group.summary().settings.margin;
    let names: Vec<String> = there
        .comparisons()
        .filter(|c| there.cell(c.cell).is_ranked() && c.may_be_faster(margin))
        .map(|c| there.name(c.cell))
        .collect();
    Some(match names.len() {
        0 => "which method is the fastest is open".to_owned(),
        1 | 2 => format!("open: {} may be faster", wording::either(&names)),
        count => format!("open: {count} others may be faster"),
    })
}

/// The finding on methods that another condition recommends, with what is known there of those of the answer.
fn finding_on_others(
    group: LabelledGroup,
    subjects: &[&AnswerCondition],
    better: &[&AnswerCondition],
) -> Option<ConditionFinding> {
    let names: Vec<String> = better.iter().map(|entry| group.name(entry.cell)).collect();
    let names = wording::either(&names);
    let contrasts = better.iter().map(|entry| &entry.contrast);
    let finding = ConditionFinding::new(better.first()?.when.clone(), contrasts)?;
    let is_other =
        |subject: &&&AnswerCondition| better.iter().all(|entry| entry.cell != subject.cell);
    let notes = subjects
        .iter()
        .filter(is_other)
        .filter_map(|subject| beside(group, subject, finding.ratios.1));
    Some(ConditionFinding {
        notes: notes.collect(),
        methods: if names == subject_names(group) {
            String::new()
        } else {
            names
        },
        ..finding
    })
}

/// The finding on a method of the answer under a condition that recommends others; `slowest` is the highest ratio of those.
fn beside(group: LabelledGroup, subject: &AnswerCondition, slowest: f64) -> Option<String> {
    let ratio = subject.contrast.ratio?;
    let name = group.name(subject.cell);
    Some(match subject.contrast.overall() {
        Verdict::NotSettled if ratio.low < slowest => format!("{name} may be faster still"),
        Verdict::NotSettled => format!("{name} is open"),
        verdict => format!("{name} {}", amount(group, verdict, (ratio.low, ratio.high))),
    })
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
    let finding = ConditionFinding::new(when, contrasts)?;
    (!finding.when.is_empty()).then_some(ConditionFinding {
        sureness: group.group.sureness,
        ..finding
    })
}

/// The amount of a finding: `3.0–3.8× faster`.
fn amount(group: LabelledGroup, verdict: Verdict, (low, high): (f64, f64)) -> String {
    match verdict {
        Verdict::Faster { .. } | Verdict::Slower { .. } => wording::range(low, high),
        Verdict::Within { margin } => format!(
            "within {} of {}",
            wording::percent(margin),
            group.baseline_name().unwrap_or_default()
        ),
        Verdict::NotSettled => "open".to_owned(),
    }
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
                methods: String::new(),
                when: when.clone(),
                verdict,
                ratios: (low.min(ratio.low), high.max(ratio.high)),
                sureness: None,
                notes: Vec::new(),
            });
        }
        finding
    }
}

/// Findings as lines: those that say the same are one.
fn merged<'a>(findings: &[&'a ConditionFinding]) -> Vec<FindingLine<'a>> {
    let mut lines: Vec<FindingLine> = Vec::new();
    for &finding in findings {
        match lines.iter_mut().find(|line| line.takes(finding)) {
            Some(line) => line.push(finding),
            None => lines.push(FindingLine {
                findings: vec![finding],
                common: finding.ratios,
            }),
        }
    }
    lines
}

impl<'a> FindingLine<'a> {
    fn first(&self) -> &'a ConditionFinding {
        self.findings[0]
    }

    fn is_faster(&self) -> bool {
        matches!(self.first().verdict, Verdict::Faster { .. })
    }

    /// Tells whether a finding says the same under another condition.
    fn takes(&self, finding: &ConditionFinding) -> bool {
        let first = self.first();
        let (low, high) = self.common;
        first.methods == finding.methods
            && first.sureness == finding.sureness
            && rank(first.verdict) == rank(finding.verdict)
            && first.notes.is_empty()
            && finding.notes.is_empty()
            && low.max(finding.ratios.0) <= high.min(finding.ratios.1)
    }

    fn push(&mut self, finding: &'a ConditionFinding) {
        let (low, high) = self.common;
        self.common = (low.max(finding.ratios.0), high.min(finding.ratios.1));
        self.findings.push(finding);
    }

    /// Its amount, over all of its conditions.
    fn amount(&self, group: LabelledGroup) -> String {
        let ratios = self.findings.iter().map(|finding| finding.ratios);
        let hull = ratios.reduce(|hull, ratios| (hull.0.min(ratios.0), hull.1.max(ratios.1)));
        amount(group, self.first().verdict, hull.unwrap_or(self.common))
    }

    /// The clauses on its conditions.
    fn clauses(&self, group: LabelledGroup) -> String {
        let definition = group.definition();
        let findings = self.findings.iter();
        let clauses: Vec<String> = findings.map(|f| definition.clause(&f.when)).collect();
        wording::alternatives(&clauses)
    }

    /// The factors by which it is faster, as the row of an overview has them.
    fn factors(&self) -> String {
        let ratios = self.findings.iter().map(|finding| finding.ratios);
        let (low, high) = ratios.fold(self.common, |hull, ratios| {
            (hull.0.min(ratios.0), hull.1.max(ratios.1))
        });
        format!("{}× faster", wording::factors(1.0 / high, 1.0 / low))
    }

    /// `mmap 3.0–3.8× faster (early) if the program keeps the block (read is open)`.
    fn sentence(&self, group: LabelledGroup, amount: &str) -> String {
        let first = self.first();
        let methods = match first.methods.as_str() {
            "" => String::new(),
            names => format!("{names} "),
        };
        let notes = match first.notes.as_slice() {
            [] => String::new(),
            notes => format!(" ({})", notes.join("; ")),
        };
        let clauses = self.clauses(group);
        let mark = wording::sureness_mark(first.sureness, sureness(group));
        format!("{methods}{amount}{mark} if {clauses}{notes}")
    }
}

/// The amounts of an answer by condition, where their intervals do not all overlap; none where one range says the same.
fn ranges(group: LabelledGroup) -> Option<String> {
    let all: Vec<ConditionFinding> = own_finding(group)
        .into_iter()
        .chain(findings(group))
        .collect();
    let of_subjects: Vec<&ConditionFinding> = all
        .iter()
        .filter(|finding| finding.methods.is_empty())
        .collect();
    let lines = merged(&of_subjects);
    if lines.len() < 2 || !lines.iter().all(FindingLine::is_faster) {
        return None;
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|line| line.sentence(group, &line.factors()))
        .collect();
    Some(lines.join("; "))
}

/// The conditions under which an answer holds by the same amount, those of one degree of sureness together.
fn holds_alike(group: LabelledGroup) -> String {
    let held = held(group);
    let mut holds = Vec::from_iter(fixed(group, |key| !held.contains_key(key)));
    for clauses in held.values() {
        let by_degree = clauses
            .iter()
            .map(|(degree, clause)| (clause.clone(), *degree));
        for (degree, clauses) in wording::together(by_degree) {
            let mark = wording::sureness_mark(degree, sureness(group));
            holds.push(format!(
                "the same{mark} if {}",
                wording::alternatives(&clauses)
            ));
        }
    }
    holds.join("; ")
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

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Faster { .. } => 0,
        Verdict::Slower { .. } => 1,
        Verdict::Within { .. } => 2,
        Verdict::NotSettled => 3,
    }
}
