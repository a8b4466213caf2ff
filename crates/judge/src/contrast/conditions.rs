//! One question under several conditions of a program: an answer that another contradicts depends on it.

use record::summary::{
    AnswerCondition, CellSummary, Contrast, GroupSummary, Ratio, Recommendation, Verdict,
};
use record::{experiment::Experiment, outcome::Status, parameters::Parameters};
use std::collections::BTreeMap;

/// Gives each group its conditions, turns answers that one of them contradicts into [`Recommendation::Depends`], and tells which
/// changes hold under each usual condition.
pub(crate) fn compare(
    experiments: &[Experiment],
    cells: &[CellSummary],
    groups: &mut [GroupSummary],
    has_no_part: &HasNoPart,
) {
    for experiment in experiments {
        let mut questions: BTreeMap<Parameters, Vec<usize>> = BTreeMap::new();
        for (at, group) in groups
            .iter()
            .enumerate()
            .filter(|(_, g)| g.experiment == experiment.name)
        {
            questions
                .entry(experiment.question(&group.parameters))
                .or_default()
                .push(at);
        }
        for question in questions.into_values() {
            let conditioned = ConditionedGroups {
                experiment,
                cells,
                groups,
                members: &question,
                has_no_part,
            };
            let answers: Vec<_> = question.iter().map(|&at| conditioned.answer(at)).collect();
            for (&at, answer) in question.iter().zip(answers) {
                if let Some(answer) = answer {
                    groups[at].recommendation = answer.recommendation;
                    groups[at].conditions = answer.conditions;
                    groups[at].unmeasured = answer.others.unmeasured;
                    groups[at].unsettled = answer.others.unsettled;
                    groups[at].absent = answer.others.absent;
                    groups[at].alike = answer.alike;
                    groups[at].faster = answer.faster;
                    groups[at].maybe_faster = answer.maybe_faster;
                    groups[at].elsewhere = answer.elsewhere;
                }
            }
        }
    }
}

/// Tells whether the method of a cell takes no value of these parameters, so that it has no part under their condition.
type HasNoPart<'a> = dyn Fn(usize, &Parameters) -> bool + 'a;

/// A group's answer in the light of the other conditions.
struct ConditionedAnswer {
    recommendation: Recommendation,
    conditions: Vec<AnswerCondition>,
    others: OtherConditions,
    alike: Vec<usize>,
    faster: Vec<usize>,
    maybe_faster: Vec<usize>,
    elsewhere: Vec<AnswerCondition>,
}

/// Usual conditions next to a group under which its answer is not shown to hold: the value that differs.
#[derive(Default)]
struct OtherConditions {
    unmeasured: Vec<Parameters>,
    unsettled: Vec<Parameters>,
    absent: Vec<Parameters>,
}

/// Knowledge of a group's answer under another condition.
enum KnownThere {
    /// It is decided, whichever way.
    Decided,
    Unsettled,
    Unmeasured,
    /// The methods, or the usual choice, do not exist there: it contradicts nothing.
    Absent,
}

/// Groups of an experiment that differ in conditions alone: they ask one question.
struct ConditionedGroups<'a> {
    experiment: &'a Experiment,
    cells: &'a [CellSummary],
    groups: &'a [GroupSummary],
    /// The groups that ask it.
    members: &'a [usize],
    has_no_part: &'a HasNoPart<'a>,
}

impl ConditionedGroups<'_> {
    /// The answer of a group that all conditions allow, its methods under the other conditions, and those that nothing is known of.
    fn answer(&self, group: usize) -> Option<ConditionedAnswer> {
        let mut recommendation = self.groups[group].recommendation;
        let faster = self.faster(group);
        let mut alike = self.alike(group);
        let contradiction = self.contradiction(group, &faster);
        if contradiction.is_some() {
            alike.clear();
        }
        let subject = contradiction.or_else(|| self.subject(group));
        let subjects: Vec<usize> = if faster.is_empty() {
            subject.into_iter().chain(alike.iter().copied()).collect()
        } else {
            faster.clone()
        };
        let conditions = subjects
            .iter()
            .flat_map(|&cell| self.conditions(group, cell));
        let conditions: Vec<AnswerCondition> = conditions.collect();
        let mut shown_here = subjects.clone();
        shown_here.retain(|&cell| self.is_shown_faster(group, cell));
        let elsewhere = self.elsewhere(group, &shown_here);
        let others = match recommendation {
            Recommendation::Keep { .. } => self.others(group, |there| self.known_any(there)),
            Recommendation::Use { .. } => self.others(group, |there| self.known(there, &subjects)),
            _ if !shown_here.is_empty() => {
                self.others(group, |there| self.known(there, &shown_here))
            }
            _ if !elsewhere.is_empty() => self.others(group, |there| self.known_any(there)),
            _ => OtherConditions::default(),
        };
        let maybe_faster = self.maybe_faster(group, &shown_here);
        if let Some(cell) = contradiction {
            let cell = self.same_method(group, cell)?;
            let ratio = self.contrast(group, cell).ratio;
            recommendation = Recommendation::Depends { cell, ratio };
        } else if let Recommendation::Use { everywhere, .. } = &mut recommendation {
            *everywhere = others.unmeasured.is_empty() && others.unsettled.is_empty();
        }
        Some(ConditionedAnswer {
            recommendation,
            conditions,
            others,
            alike,
            faster,
            maybe_faster,
            elsewhere,
        })
    }

    /// The method whose verdict under another condition contradicts the answer of a group: that of its recommendation, or the
    /// fastest of several of which each is contradicted.
    fn contradiction(&self, group: usize, faster: &[usize]) -> Option<usize> {
        let recommendation = self.groups[group].recommendation;
        if matches!(recommendation, Recommendation::Inconclusive { .. }) {
            let fastest = self.may_be_fastest(group).into_iter().next();
            return fastest.filter(|_| faster.is_empty());
        }
        self.subject(group).filter(|&cell| {
            let mut conditions = self.conditions(group, cell);
            conditions.any(|other| contradicts(&recommendation, &other))
        })
    }

    /// A method under each of the other conditions.
    fn conditions(&self, group: usize, cell: usize) -> impl Iterator<Item = AnswerCondition> {
        self.under_other_conditions(group)
            .filter_map(move |other| self.condition(group, other, cell))
    }

    /// Methods that are as good as a recommended one, but for those that another condition of the question shows to be no faster.
    fn alike(&self, group: usize) -> Vec<usize> {
        let mut alike = self.groups[group].alike.clone();
        alike.retain(|&cell| !self.is_contradicted(group, cell));
        alike
    }

    /// Methods of an inconclusive answer that are each shown to be faster and of which any may be the fastest, but for those that
    /// another condition of the question shows to be no faster; as measured the fastest first.
    fn faster(&self, group: usize) -> Vec<usize> {
        let answer = &self.groups[group];
        if !matches!(answer.recommendation, Recommendation::Inconclusive { .. }) {
            return Vec::new();
        }
        let mut faster = self.may_be_fastest(group);
        faster.retain(|&cell| !self.is_contradicted(group, cell));
        faster
    }

    /// Methods of a group that are each shown to be faster and of which any may be the fastest; as measured the fastest first.
    fn may_be_fastest(&self, group: usize) -> Vec<usize> {
        let mut faster: Vec<(usize, Ratio)> = self.shown_faster(group).collect();
        faster.sort_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
        let most = faster.first().map_or(0.0, |(_, fastest)| fastest.high);
        faster.retain(|(_, ratio)| ratio.low < most);
        faster.into_iter().map(|(cell, _)| cell).collect()
    }

    /// The methods that a group recommends by itself, the fastest first.
    fn recommended_methods(&self, group: usize) -> Vec<usize> {
        let answer = &self.groups[group];
        match answer.recommendation {
            Recommendation::Use { cell, .. } => {
                let mut cells = [&[cell], answer.alike.as_slice()].concat();
                let ratio = |cell: usize| self.contrast(group, cell).ratio.map(|known| known.log());
                cells.sort_by(|&a, &b| {
                    let [a, b] = [a, b].map(|cell| ratio(cell).unwrap_or(0.0));
                    a.total_cmp(&b)
                });
                cells
            }
            Recommendation::Inconclusive { .. } => self.may_be_fastest(group),
            _ => Vec::new(),
        }
    }

    /// Methods that the other conditions recommend, but for conditions under which these methods are all shown to be faster and one
    /// of them is recommended.
    fn elsewhere(&self, group: usize, cells: &[usize]) -> Vec<AnswerCondition> {
        if self.groups[group].recommendation == Recommendation::Nothing {
            return Vec::new();
        }
        let others = self.under_other_conditions(group);
        let elsewhere = others.flat_map(|there| {
            let mut recommended = self.recommended_methods(there);
            let same = cells.iter().map(|&cell| self.same_method(there, cell));
            let same: Option<Vec<usize>> = same.collect();
            let is_named = same.is_some_and(|same| {
                same.iter().any(|cell| recommended.contains(cell))
                    && same.iter().all(|&cell| self.is_shown_faster(there, cell))
            });
            if is_named {
                recommended.clear();
            }
            recommended
                .into_iter()
                .filter_map(move |cell| self.condition(group, there, cell))
        });
        elsewhere.collect()
    }

    /// Other methods of an inconclusive answer that were measured to be faster than those that it names, the fastest first.
    fn maybe_faster(&self, group: usize, named: &[usize]) -> Vec<usize> {
        let answer = &self.groups[group];
        let named_ratios = named
            .iter()
            .filter_map(|&cell| self.contrast(group, cell).ratio);
        let fastest = named_ratios.map(|ratio| ratio.ratio).reduce(f64::min);
        let is_open = matches!(answer.recommendation, Recommendation::Inconclusive { .. });
        let Some(fastest) = fastest.filter(|_| is_open) else {
            return Vec::new();
        };
        let comparisons = answer.comparisons.iter();
        let mut faster: Vec<(usize, f64)> = comparisons
            .filter(|c| c.phase == self.experiment.headline() && self.cells[c.cell].is_ranked())
            .filter(|c| !named.contains(&c.cell))
            .filter_map(|c| Some((c.cell, c.contrast.ratio?.ratio)))
            .filter(|(_, ratio)| *ratio < fastest)
            .collect();
        faster.sort_by(|a, b| a.1.total_cmp(&b.1));
        faster.into_iter().map(|(cell, _)| cell).collect()
    }

    fn is_shown_faster(&self, group: usize, cell: usize) -> bool {
        let verdict = self.contrast(group, cell).overall();
        matches!(verdict, Verdict::Faster { .. })
    }

    /// Ranked methods of a group that are shown to be faster than its baseline.
    fn shown_faster(&self, group: usize) -> impl Iterator<Item = (usize, Ratio)> {
        let comparisons = self.groups[group].comparisons.iter();
        comparisons
            .filter(|c| c.phase == self.experiment.headline() && self.cells[c.cell].is_ranked())
            .filter(|c| matches!(c.contrast.overall(), Verdict::Faster { .. }))
            .filter_map(|c| Some((c.cell, c.contrast.ratio?)))
    }

    /// Tells whether a method is shown to be no faster under another condition.
    fn is_contradicted(&self, group: usize, cell: usize) -> bool {
        self.under_other_conditions(group).any(|there| {
            let same = self.same_method(there, cell);
            same.is_some_and(|same| {
                let verdict = self.contrast(there, same).overall();
                matches!(verdict, Verdict::Slower { .. } | Verdict::Within { .. })
            })
        })
    }

    /// The value in which a neighbor differs, as its group writes it: a size may have another notation in the experiment's lists.
    fn differing(&self, there: Option<usize>, key: &str, value: &str) -> Parameters {
        let value = there.map_or(value, |there| self.groups[there].parameters[key].as_str());
        [(key, value)].into()
    }

    /// Usual conditions next to a group under which its answer is not shown to hold, by what is known of them.
    fn others(&self, group: usize, known: impl Fn(usize) -> KnownThere) -> OtherConditions {
        let mut others = OtherConditions::default();
        for (key, value) in self.experiment.neighbors(&self.groups[group].parameters) {
            let there = self.next_to(group, (key, value));
            let list = match there.map_or(KnownThere::Unmeasured, &known) {
                KnownThere::Decided => continue,
                KnownThere::Unsettled => &mut others.unsettled,
                KnownThere::Unmeasured => &mut others.unmeasured,
                KnownThere::Absent => &mut others.absent,
            };
            list.push(self.differing(there, key, value));
        }
        others
    }

    /// The group that differs from another in this value alone.
    fn next_to(&self, group: usize, neighbor: (&str, &str)) -> Option<usize> {
        let here = &self.groups[group].parameters;
        let is_next = |other: &usize| {
            Experiment::are_next_to(&self.groups[*other].parameters, here, neighbor)
        };
        self.members.iter().copied().find(is_next)
    }

    /// Tells what a group knows of the methods of these cells.
    fn known(&self, there: usize, cells: &[usize]) -> KnownThere {
        let parameters = &self.groups[there].parameters;
        let same: Vec<Option<usize>> = cells
            .iter()
            .map(|&cell| (cell, self.same_method(there, cell)))
            .filter(|(cell, same)| match same {
                Some(same) => !self.is_skipped(*same),
                None => !(self.has_no_part)(*cell, parameters),
            })
            .map(|(_, same)| same)
            .collect();
        if self.has_no_baseline(there) || same.is_empty() {
            return KnownThere::Absent;
        }
        let verdicts = same.iter().map(|same| {
            let contrast = self.contrast(there, (*same)?);
            contrast.ratio.map(|_| contrast.overall())
        });
        let verdicts: Option<Vec<Verdict>> = verdicts.collect();
        match verdicts {
            None => KnownThere::Unmeasured,
            Some(all) if all.contains(&Verdict::NotSettled) => KnownThere::Unsettled,
            Some(_) => KnownThere::Decided,
        }
    }

    /// Tells whether a group keeps its usual choice, by its own answer: what is kept there is not open here.
    fn known_kept(&self, there: usize) -> KnownThere {
        let group = &self.groups[there];
        let others = group.cells.iter().copied().filter(|&cell| {
            group.baseline != Some(cell) && self.cells[cell].is_ranked() && !self.is_skipped(cell)
        });
        let others: Vec<usize> = others.collect();
        let is_measured = |cell: &usize| self.contrast(there, *cell).ratio.is_some();
        if self.has_no_baseline(there) || others.is_empty() {
            KnownThere::Absent
        } else if !others.iter().any(is_measured) {
            KnownThere::Unmeasured
        } else if matches!(group.recommendation, Recommendation::Keep { .. }) {
            KnownThere::Decided
        } else {
            KnownThere::Unsettled
        }
    }

    /// Tells whether anything is settled in a group: a method is shown to be faster, or none may be.
    fn known_any(&self, there: usize) -> KnownThere {
        if self.recommended_methods(there).is_empty() {
            self.known_kept(there)
        } else {
            KnownThere::Decided
        }
    }

    /// Tells whether the usual choice does not exist in a group.
    fn has_no_baseline(&self, group: usize) -> bool {
        let there = &self.groups[group];
        match there.baseline {
            Some(baseline) => self.is_skipped(baseline),
            None => there.cells.iter().all(|&cell| self.is_skipped(cell)),
        }
    }

    fn is_skipped(&self, cell: usize) -> bool {
        self.cells[cell].outcome.status == Status::Skipped
    }

    fn under_other_conditions(&self, group: usize) -> impl Iterator<Item = usize> {
        self.members
            .iter()
            .copied()
            .filter(move |&other| other != group)
    }

    /// The cell of the answer, or the one that another condition recommends most clearly; of a usual choice that is kept also one
    /// of several that are each faster elsewhere.
    fn subject(&self, group: usize) -> Option<usize> {
        let clearest = |a: &(usize, Ratio), b: &(usize, Ratio)| a.1.high.total_cmp(&b.1.high);
        let recommended = self.recommended(group).or_else(|| {
            self.under_other_conditions(group)
                .filter_map(|other| self.recommended(other))
                .min_by(clearest)
        });
        let is_kept = matches!(
            self.groups[group].recommendation,
            Recommendation::Keep { .. }
        );
        let subject = recommended.or_else(|| {
            self.under_other_conditions(group)
                .filter(|_| is_kept)
                .flat_map(|other| self.shown_faster(other))
                .min_by(clearest)
        });
        subject.map(|(cell, _)| cell)
    }

    fn recommended(&self, group: usize) -> Option<(usize, Ratio)> {
        match self.groups[group].recommendation {
            Recommendation::Use { cell, ratio, .. } => Some((cell, ratio)),
            _ => None,
        }
    }

    /// The cell of a group that has the method and the worker of another cell, and its parameters but for conditions.
    fn same_method(&self, group: usize, cell: usize) -> Option<usize> {
        let wanted = &self.cells[cell];
        let parameters = self.experiment.question(&wanted.parameters);
        self.groups[group].cells.iter().copied().find(|&member| {
            let member = &self.cells[member];
            member.method == wanted.method
                && member.worker == wanted.worker
                && self.experiment.question(&member.parameters) == parameters
        })
    }

    fn contrast(&self, group: usize, cell: usize) -> Contrast {
        self.groups[group]
            .comparison(cell, self.experiment.headline())
            .map_or(Contrast::alone(None, 0.0), |comparison| comparison.contrast)
    }

    /// The method of a cell in `other`, and the conditions in which that group differs from `group`.
    fn condition(&self, group: usize, other: usize, cell: usize) -> Option<AnswerCondition> {
        let cell = self.same_method(other, cell)?;
        let parameters = &self.groups[group].parameters;
        let when = self.groups[other]
            .parameters
            .iter()
            .filter(|(key, value)| {
                self.experiment.is_condition(key) && parameters.get(*key) != Some(*value)
            })
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Some(AnswerCondition {
            when,
            group: other,
            cell,
            contrast: self.contrast(other, cell),
        })
    }
}

/// Tells whether an answer is not true under another condition.
fn contradicts(answer: &Recommendation, condition: &AnswerCondition) -> bool {
    let verdict = condition.contrast.overall();
    match answer {
        Recommendation::Use { .. } => {
            matches!(verdict, Verdict::Slower { .. } | Verdict::Within { .. })
        }
        Recommendation::Keep { .. } => matches!(verdict, Verdict::Faster { .. }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    //! Answers under several conditions, from a recorded summary whose groups are put under conditions.

    use super::*;
    use crate::sureness::withhold;
    use proptest::prelude::*;
    use record::experiment::{Experiment, Parameter, ParameterKind};
    use record::summary::{Comparison, Summary};

    const VALUES: [&str; 3] = ["read", "mapping", "write"];
    const MARGIN: f64 = 0.02;

    /// Compares groups whose methods all have a part under each condition.
    fn compare(experiments: &[Experiment], cells: &[CellSummary], groups: &mut [GroupSummary]) {
        super::compare(experiments, cells, groups, &|_, _| false);
    }

    fn recorded() -> Summary {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/runs/ordinary/summary.json"
        );
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn ratio(low: f64, high: f64) -> Ratio {
        Ratio {
            ratio: (low * high).sqrt(),
            low,
            high,
            level: 0.95,
            launches: 10,
            error: (high / low).ln() / 4.52,
            freedom: 9.0,
            drift: None,
        }
    }

    fn condition() -> Parameter {
        let values = VALUES.map(str::to_owned).to_vec();
        Parameter {
            kind: ParameterKind::Choice,
            meaning: String::new(),
            values: values.clone(),
            default: values,
            look: Vec::new(),
            check: Vec::new(),
            multiple_of: None,
            option: false,
            condition: true,
            when: VALUES
                .map(|value| (value.to_owned(), format!("{value} cached it")))
                .into(),
            concerns: None,
            system_changes: Vec::new(),
            no_effect_where: BTreeMap::new(),
        }
    }

    /// One question under a condition for each interval: the first method other than the baseline has it.
    fn question(
        intervals: &[(f64, f64)],
        holds: bool,
    ) -> (Experiment, Vec<CellSummary>, Vec<GroupSummary>) {
        let intervals: Vec<Vec<(f64, f64)>> = intervals.iter().map(|&known| vec![known]).collect();
        question_with(&intervals, holds)
    }

    /// One question under a condition for each list: further methods have its intervals.
    fn question_with(
        intervals: &[Vec<(f64, f64)>],
        holds: bool,
    ) -> (Experiment, Vec<CellSummary>, Vec<GroupSummary>) {
        let summary = recorded();
        let mut experiment = summary.experiments[0].definition.clone();
        let conditions = experiment.parameters.values_mut();
        conditions.for_each(|parameter| parameter.condition = false);
        experiment
            .parameters
            .insert("cached".to_owned(), condition());
        let group = summary
            .groups
            .iter()
            .find(|g| g.baseline.is_some())
            .unwrap();
        let baseline = group.baseline.unwrap();
        let method = *group
            .cells
            .iter()
            .find(|&&c| c != baseline && summary.cells[c].is_ranked())
            .unwrap();
        let (mut cells, mut groups) = (Vec::new(), Vec::new());
        for (methods, value) in intervals.iter().zip(VALUES) {
            let (shift, mut conditioned) = (cells.len(), group.clone());
            for number in 0..=methods.len() {
                let known = if number == 0 { baseline } else { method };
                let mut cell = summary.cells[known].clone();
                cell.method = format!("{}{number}", cell.method);
                cell.parameters
                    .insert("cached".to_owned(), value.to_owned());
                cells.push(cell);
            }
            conditioned
                .parameters
                .insert("cached".to_owned(), value.to_owned());
            conditioned.cells = (shift..cells.len()).collect();
            conditioned.alike.clear();
            conditioned.baseline = Some(shift);
            let compared = methods
                .iter()
                .enumerate()
                .map(|(at, &(low, high))| Comparison {
                    cell: shift + 1 + at,
                    phase: experiment.headline().to_owned(),
                    contrast: Contrast {
                        holds_among_all: holds,
                        ..Contrast::alone(Some(ratio(low, high)), MARGIN)
                    },
                    cpu_ratio: None,
                    faults_ratio: None,
                    doubt: None,
                });
            conditioned.comparisons = compared.collect();
            conditioned.recommendation = recommended(&conditioned.comparisons, shift);
            groups.push(conditioned);
        }
        (experiment, cells, groups)
    }

    /// The answer of a group by itself: the fastest method where that is shown to be faster.
    fn recommended(compared: &[Comparison], baseline: usize) -> Recommendation {
        let known = |comparison: &Comparison| comparison.contrast.ratio.unwrap();
        let fastest = compared
            .iter()
            .min_by(|a, b| known(a).ratio.total_cmp(&known(b).ratio))
            .unwrap();
        let may_be_faster = |comparison: &Comparison| match comparison.contrast.verdict {
            Verdict::Faster { .. } => true,
            Verdict::NotSettled => known(comparison).low < 1.0 / (1.0 + MARGIN),
            _ => false,
        };
        match fastest.contrast.overall() {
            Verdict::Faster { .. } => Recommendation::Use {
                cell: fastest.cell,
                ratio: known(fastest),
                everywhere: true,
            },
            _ if !compared.iter().any(may_be_faster) => Recommendation::Keep { cell: baseline },
            _ => Recommendation::Inconclusive { cell: baseline },
        }
    }

    fn judged(intervals: &[(f64, f64)], holds: bool) -> Vec<GroupSummary> {
        let (experiment, cells, mut groups) = question(intervals, holds);
        compare(&[experiment], &cells, &mut groups);
        groups
    }

    #[test]
    fn an_answer_that_another_condition_contradicts_depends_on_it() {
        // mmap against read: faster where read(2) cached the file, slower where a mapping did.
        let groups = judged(&[(0.78, 0.84), (1.12, 1.16)], true);
        for (group, other) in [(0, 1), (1, 0)] {
            let Recommendation::Depends { cell, ratio } = groups[group].recommendation else {
                panic!("{group}")
            };
            assert_eq!(cell, 2 * group + 1);
            assert!(
                ratio.is_some_and(
                    |ratio| ratio == groups[group].comparisons[0].contrast.ratio.unwrap()
                )
            );
            let [condition] = &groups[group].conditions[..] else {
                panic!("{:?}", groups[group].conditions)
            };
            assert_eq!((condition.group, condition.cell), (other, 2 * other + 1));
            assert_eq!(condition.when["cached"], VALUES[other]);
        }
    }

    #[test]
    fn keeping_depends_where_another_condition_recommends_a_change() {
        // eventfd takes .45 of unix-stream where both sides share a CPU, and more where they do not.
        let groups = judged(&[(1.3, 1.5), (0.43, 0.47)], true);
        assert!(matches!(
            groups[0].recommendation,
            Recommendation::Depends { cell: 1, .. }
        ));
        assert!(matches!(
            groups[0].conditions[0].contrast.verdict,
            Verdict::Faster { .. }
        ));
    }

    #[test]
    fn no_gain_elsewhere_is_a_contradiction_and_an_open_interval_is_none() {
        let within = judged(&[(0.7, 0.8), (0.99, 1.01)], true);
        assert!(matches!(
            within[0].recommendation,
            Recommendation::Depends { .. }
        ));
        let open = judged(&[(0.7, 0.8), (0.7, 1.4), (0.6, 0.7)], true);
        assert!(matches!(
            open[0].recommendation,
            Recommendation::Use { cell: 1, .. }
        ));
        assert_eq!(
            open[0]
                .conditions
                .iter()
                .map(|c| c.contrast.verdict)
                .filter(|v| *v == Verdict::NotSettled)
                .count(),
            1
        );
        // The condition that is not settled itself knows what the others say, and says no more of itself.
        assert!(matches!(
            open[1].recommendation,
            Recommendation::Inconclusive { .. }
        ));
        assert_eq!(open[1].conditions.len(), 2);
    }

    /// Three conditions, of which each may be shown faster, slower, the same or open, or not be measured at all.
    #[test]
    fn no_change_is_recommended_without_its_condition_unless_all_usual_neighbors_agree() {
        const FASTER: (f64, f64) = (0.6, 0.7);
        const OPEN: (f64, f64) = (0.7, 1.4);
        let kinds = [
            Some(FASTER),
            Some((1.2, 1.3)),
            Some((0.99, 1.01)),
            Some(OPEN),
            None,
        ];
        let combinations = kinds
            .iter()
            .flat_map(|second| kinds.iter().map(move |third| [*second, *third]));
        let mut everywhere_once = false;
        for others in combinations {
            let (experiment, cells, mut groups) = question(
                &[
                    FASTER,
                    others[0].unwrap_or(FASTER),
                    others[1].unwrap_or(FASTER),
                ],
                true,
            );
            for (group, interval) in groups[1..].iter_mut().zip(others) {
                if interval.is_none() {
                    group.comparisons[0].contrast = Contrast::alone(None, 0.02);
                    group.recommendation = Recommendation::Nothing;
                }
            }
            compare(&[experiment], &cells, &mut groups);
            let agree = others.iter().all(|other| *other == Some(FASTER));
            let unmeasured = others.iter().filter(|other| other.is_none()).count();
            let open = others.iter().filter(|other| **other == Some(OPEN)).count();
            match groups[0].recommendation {
                Recommendation::Use { everywhere, .. } => {
                    assert_eq!(everywhere, agree, "{others:?}");
                    assert_eq!(groups[0].unmeasured.len(), unmeasured, "{others:?}");
                    assert_eq!(groups[0].unsettled.len(), open, "{others:?}");
                    everywhere_once |= everywhere;
                }
                Recommendation::Depends { .. } => assert!(!agree, "{others:?}"),
                other => panic!("{others:?}: {other:?}"),
            }
        }
        assert!(everywhere_once);
        // A condition that has no group at all is as unknown.
        let [alone] = &judged(&[FASTER], true)[..] else {
            panic!()
        };
        assert!(matches!(
            alone.recommendation,
            Recommendation::Use {
                everywhere: false,
                ..
            }
        ));
        let unmeasured: Vec<&str> = alone
            .unmeasured
            .iter()
            .map(|u| u["cached"].as_str())
            .collect();
        assert_eq!(unmeasured, &VALUES[1..]);
    }

    proptest! {
        /// Two methods under three conditions, of which any may be noisy: what is noisy is open, here and next to it.
        #[test]
        fn no_noisy_condition_recommends_a_method(
            logs in prop::collection::vec((-0.9f64..0.4, 0.01f64..0.2), 6),
            noisy in prop::collection::vec(any::<bool>(), 3),
        ) {
            let bounds = |(log, half): &(f64, f64)| ((log - half).exp(), (log + half).exp());
            let intervals: Vec<Vec<(f64, f64)>> =
                logs.chunks(2).map(|pair| pair.iter().map(bounds).collect()).collect();
            let (experiment, cells, mut groups) = question_with(&intervals, true);
            let disturbed = groups.iter().zip(&noisy).filter(|(_, noisy)| **noisy);
            let disturbed = disturbed.filter_map(|(group, _)| group.baseline).collect();
            for group in &mut groups {
                let baseline = group.baseline;
                withhold(&disturbed, &cells, baseline, group.comparisons.iter_mut().collect());
                group.recommendation = recommended(&group.comparisons, baseline.unwrap());
            }
            compare(&[experiment], &cells, &mut groups);
            for (group, &is_noisy) in groups.iter().zip(&noisy) {
                let is_change = matches!(group.recommendation, Recommendation::Use { .. });
                prop_assert!(!(is_noisy && (is_change || !group.faster.is_empty())));
                let is_everywhere = matches!(
                    group.recommendation,
                    Recommendation::Use { everywhere: true, .. }
                );
                prop_assert!(!(is_everywhere && noisy.contains(&true)));
                let others = group.conditions.iter().chain(&group.elsewhere);
                for other in others.filter(|other| noisy[other.group]) {
                    let verdict = other.contrast.overall();
                    let is_faster = matches!(verdict, Verdict::Faster { .. });
                    prop_assert!(!is_faster);
                }
            }
        }
    }

    /// A usual choice that is kept, under three conditions of which two may be anything.
    #[test]
    fn a_usual_choice_is_kept_with_the_conditions_under_which_that_is_open() {
        const SLOWER: (f64, f64) = (1.2, 1.3);
        for (others, open) in [
            ([SLOWER, (0.99, 1.01)], 0),
            // Whether it is slower is open, and not that it is kept.
            ([SLOWER, (1.0, 1.1)], 0),
            ([SLOWER, (0.7, 1.4)], 1),
            ([(0.7, 1.1), (0.9, 1.4)], 2),
        ] {
            let group = judged(&[SLOWER, others[0], others[1]], true).swap_remove(0);
            assert!(matches!(group.recommendation, Recommendation::Keep { .. }));
            assert_eq!(group.unsettled.len(), open, "{others:?}");
            assert!(group.unmeasured.is_empty(), "{others:?}");
        }
    }

    /// A method that is faster while the fastest is open, under three conditions of which two may be anything.
    #[test]
    fn several_faster_methods_are_named_unless_a_condition_contradicts_one() {
        const FASTER: (f64, f64) = (0.6, 0.7);
        let judged = |others: [(f64, f64); 2]| {
            let (experiment, cells, mut groups) = question(&[FASTER, others[0], others[1]], true);
            groups[0].recommendation = Recommendation::Inconclusive { cell: 0 };
            compare(&[experiment], &cells, &mut groups);
            groups.swap_remove(0)
        };
        let all = judged([FASTER, FASTER]);
        // Its range is that of all conditions, so each method has an entry for each.
        assert_eq!((all.faster, all.conditions.len()), (vec![1], 2));
        assert!(all.unsettled.is_empty() && all.unmeasured.is_empty());
        let open = judged([FASTER, (0.7, 1.4)]);
        assert_eq!(open.faster, [1]);
        assert_eq!(open.unsettled, [Parameters::from([("cached", VALUES[2])])]);
        for no_faster in [(1.2, 1.3), (0.99, 1.01)] {
            let depends = judged([FASTER, no_faster]);
            assert!(depends.faster.is_empty());
            assert!(matches!(
                depends.recommendation,
                Recommendation::Depends { cell: 1, .. }
            ));
        }
    }

    /// Two methods under three conditions: the first of them is `named` under the first condition.
    #[test]
    fn a_method_that_another_condition_recommends_is_named_with_that_condition() {
        const FASTER: (f64, f64) = (0.6, 0.7);
        const OPEN: (f64, f64) = (0.6, 1.4);
        const SLOWER: (f64, f64) = (1.2, 1.3);
        let named_under = |intervals: [[(f64, f64); 2]; 2]| {
            let intervals = intervals.map(|methods| methods.to_vec());
            let (experiment, cells, mut groups) = question_with(&intervals, true);
            compare(&[experiment], &cells, &mut groups);
            groups.swap_remove(0)
        };
        let elsewhere = |group: &GroupSummary| -> Vec<(usize, usize)> {
            let entries = group.elsewhere.iter();
            entries.map(|entry| (entry.group, entry.cell)).collect()
        };
        // Nothing is settled under its own condition, and the second method elsewhere.
        let open = named_under([[OPEN, OPEN], [SLOWER, FASTER]]);
        assert!(matches!(
            open.recommendation,
            Recommendation::Inconclusive { .. }
        ));
        assert_eq!(elsewhere(&open), [(1, 5)]);
        assert!(open.unsettled.is_empty() && open.unmeasured.len() == 1);
        // The recommended method is open elsewhere, where the other one is settled.
        let unsettled = named_under([[FASTER, OPEN], [OPEN, FASTER]]);
        assert!(matches!(
            unsettled.recommendation,
            Recommendation::Use {
                cell: 1,
                everywhere: false,
                ..
            }
        ));
        assert_eq!(elsewhere(&unsettled), [(1, 5)]);
        assert_eq!(unsettled.unsettled.len(), 1);
        // It is faster there, too, and another one is faster still.
        let faster_still = named_under([[FASTER, SLOWER], [FASTER, (0.1, 0.2)]]);
        assert_eq!(elsewhere(&faster_still), [(1, 5)]);
        // It is recommended there.
        let agreed = named_under([[FASTER, SLOWER], [(0.1, 0.2), FASTER]]);
        assert!(agreed.elsewhere.is_empty());
    }

    /// A method that seems the fastest and is not shown to beat the baseline hides none that is.
    #[test]
    fn a_method_that_seems_faster_than_a_settled_one_is_named_beside_it() {
        let (experiment, cells, mut groups) = question_with(&[vec![(0.6, 0.7), (0.2, 1.3)]], true);
        compare(&[experiment], &cells, &mut groups);
        assert!(matches!(
            groups[0].recommendation,
            Recommendation::Inconclusive { .. }
        ));
        assert_eq!(
            (&groups[0].faster[..], &groups[0].maybe_faster[..]),
            (&[1][..], &[2][..])
        );
    }

    /// Intervals of a method, and whether a group leaves open which of its faster methods is the fastest.
    fn drawn_intervals() -> impl Strategy<Value = Vec<(Vec<(f64, f64)>, bool)>> {
        let known = prop::sample::select(vec![
            (0.1, 0.2),
            (0.15, 0.65),
            (0.6, 0.7),
            (0.3, 1.4),
            (0.9, 1.1),
            (0.99, 1.01),
            (1.2, 1.3),
        ]);
        let group = (prop::collection::vec(known, 2), any::<bool>());
        prop::collection::vec(group, 1..=VALUES.len())
    }

    proptest! {
        /// A method that is settled and faster under any condition of a question is never left unnamed, and none is named
        /// that is not.
        #[test]
        fn each_condition_with_a_settled_faster_method_has_one_that_the_answer_names(drawn in drawn_intervals()) {
            let intervals: Vec<Vec<(f64, f64)>> = drawn.iter().map(|group| group.0.clone()).collect();
            let (experiment, cells, mut groups) = question_with(&intervals, true);
            for (group, (_, is_open)) in groups.iter_mut().zip(&drawn) {
                if *is_open && matches!(group.recommendation, Recommendation::Use { .. }) {
                    group.recommendation = Recommendation::Inconclusive { cell: group.baseline.unwrap() };
                }
            }
            compare(&[experiment], &cells, &mut groups);
            let is_faster = |group: &GroupSummary, cell: usize| {
                let mut compared = group.comparisons.iter();
                compared.any(|c| c.cell == cell && matches!(c.contrast.overall(), Verdict::Faster { .. }))
            };
            for (at, group) in groups.iter().enumerate() {
                let named: Vec<usize> = match group.recommendation {
                    Recommendation::Use { cell, .. } | Recommendation::Depends { cell, .. } => vec![cell],
                    _ => group.faster.clone(),
                };
                let named_here = named.iter().filter(|&&cell| is_faster(group, cell)).count();
                let is_any_faster = group.cells.iter().any(|&cell| is_faster(group, cell));
                prop_assert_eq!(named_here > 0, is_any_faster);
                // Nothing is recommended without its condition unless every usual condition was measured and agrees.
                if let Recommendation::Use { cell, everywhere: true, .. } = group.recommendation {
                    let mut others = groups.iter().enumerate().filter(|(there, _)| *there != at);
                    let agree = others.all(|(_, other)| is_faster(other, other.cells[0] + (cell - group.cells[0])));
                    prop_assert!(agree && groups.len() == VALUES.len(), "{:?}", drawn);
                }
                for entry in &group.elsewhere {
                    prop_assert!(entry.group != at && is_faster(&groups[entry.group], entry.cell));
                    prop_assert_eq!(entry.contrast.overall(), groups[entry.group].comparisons.iter().find(|c| c.cell == entry.cell).unwrap().contrast.overall());
                }
                for (there, other) in groups.iter().enumerate().filter(|(there, _)| *there != at) {
                    let same = |cell: usize| other.cells[0] + (cell - group.cells[0]);
                    let are_faster = named_here > 0 && named.iter().all(|&cell| is_faster(other, same(cell)));
                    let is_elsewhere = group.elsewhere.iter().any(|entry| entry.group == there);
                    let is_any_faster = other.cells.iter().any(|&cell| is_faster(other, cell));
                    prop_assert!(!is_any_faster || are_faster || is_elsewhere, "{}: {:?}", there, group.elsewhere);
                }
                for &cell in &group.faster {
                    let contradicted = groups.iter().enumerate().any(|(there, other)| {
                        let cell = other.cells[0] + (cell - group.cells[0]);
                        let mut compared = other.comparisons.iter();
                        there != at && compared.any(|c| {
                            let verdict = c.contrast.overall();
                            c.cell == cell && matches!(verdict, Verdict::Slower { .. } | Verdict::Within { .. })
                        })
                    });
                    prop_assert!(!contradicted);
                }
            }
        }
    }

    #[test]
    fn a_usual_choice_is_not_kept_plainly_where_another_condition_has_several_faster_methods() {
        let (experiment, cells, mut groups) = question(&[(1.2, 1.3), (0.6, 0.7)], true);
        groups[1].recommendation = Recommendation::Inconclusive { cell: 2 };
        compare(&[experiment], &cells, &mut groups);
        assert!(matches!(
            groups[0].recommendation,
            Recommendation::Depends { cell: 1, .. }
        ));
    }

    /// A condition under which the method does not exist contradicts nothing, and is named as such.
    #[test]
    fn a_method_that_does_not_exist_under_a_condition_is_neither_open_nor_unmeasured_there() {
        let intervals = [(0.6, 0.7), (0.6, 0.7), (0.6, 0.7)];
        let (experiment, mut cells, mut groups) = question(&intervals, true);
        cells[3].outcome.status = Status::Skipped;
        groups[1].comparisons.clear();
        compare(&[experiment], &cells, &mut groups);
        assert!(matches!(
            groups[0].recommendation,
            Recommendation::Use {
                everywhere: true,
                ..
            }
        ));
        assert_eq!(groups[0].absent[0]["cached"], VALUES[1]);
        assert!(groups[0].unsettled.is_empty() && groups[0].unmeasured.is_empty());
    }

    /// A condition in which the method has no part was not left out for want of time.
    #[test]
    fn a_condition_in_which_a_method_has_no_part_is_neither_open_nor_unmeasured() {
        let judged = |has_no_part: bool| {
            let intervals = [(0.6, 0.7), (0.6, 0.7), (0.6, 0.7)];
            let (experiment, cells, mut groups) = question(&intervals, true);
            groups[1].cells.truncate(1);
            groups[1].comparisons.clear();
            let is_without = |cell: usize, there: &Parameters| {
                has_no_part && cell % 2 == 1 && there.is("cached", VALUES[1])
            };
            super::compare(&[experiment], &cells, &mut groups, &is_without);
            groups.swap_remove(0)
        };
        let group = judged(true);
        assert!(matches!(
            group.recommendation,
            Recommendation::Use {
                everywhere: true,
                ..
            }
        ));
        assert_eq!(group.absent[0]["cached"], VALUES[1]);
        assert!(group.unsettled.is_empty() && group.unmeasured.is_empty());
        let group = judged(false);
        assert_eq!(group.unmeasured[0]["cached"], VALUES[1]);
        assert!(group.absent.is_empty());
    }

    #[test]
    fn a_verdict_that_does_not_hold_among_all_contradicts_nothing() {
        let (experiment, cells, mut groups) = question(&[(0.7, 0.8), (1.2, 1.3)], true);
        groups[1].comparisons[0].contrast.holds_among_all = false;
        compare(&[experiment], &cells, &mut groups);
        assert!(matches!(
            groups[0].recommendation,
            Recommendation::Use { .. }
        ));
        assert_eq!(
            groups[0].conditions[0].contrast.overall(),
            Verdict::NotSettled
        );
    }

    #[test]
    fn parameters_that_are_no_conditions_are_other_questions() {
        let (mut experiment, cells, mut groups) = question(&[(0.7, 0.8), (1.2, 1.3)], true);
        experiment.parameters.get_mut("cached").unwrap().condition = false;
        compare(&[experiment], &cells, &mut groups);
        assert!(matches!(
            groups[0].recommendation,
            Recommendation::Use { .. }
        ));
        assert!(groups.iter().all(|group| group.conditions.is_empty()));
    }
}
