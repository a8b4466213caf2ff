//! Cost against size: groups of one experiment that differ in one number only, a line a method.

use crate::render::document::{Block, Chart};
use crate::render::plot::{Crossover, CurvePoint, Curves, Line, Scale};
use crate::sentences::labels::{LabelledExperiment, LabelledGroup};
use crate::sentences::numbers::{self, spaced};
use record::experiment::ParameterKind;
use record::outcome::Status;
use record::sizes::format_size;
use std::collections::{BTreeMap, BTreeSet};

/// The parameter that has a knee.
const THREADS: &str = "threads";
/// A step to more threads that leaves more than this share of the cost helps nobody.
const NO_HELP: f64 = 0.95;
/// Lines of one chart at most: the baseline, and those that come out ahead somewhere.
pub(super) const MOST: usize = 7;

/// A parameter whose values are numbers.
#[derive(Clone, Copy)]
pub(super) struct NumberParameter<'a> {
    key: &'a str,
    is_size: bool,
}

/// Groups that differ in one parameter only, smaller values first.
struct Family<'a> {
    experiment: LabelledExperiment<'a>,
    parameter: NumberParameter<'a>,
    groups: Vec<LabelledGroup<'a>>,
}

struct CaptionedCurves {
    caption: String,
    curves: Curves,
}

/// The side of the baseline's cost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BaselineSide {
    Cheaper,
    Dearer,
}

/// The charts of one experiment, in the order of its groups; none over the parameter `but`, and none of fewer than `least` values.
pub(crate) fn charts(
    experiment: LabelledExperiment,
    but: Option<&str>,
    least: usize,
) -> Vec<Block> {
    let groups: Vec<LabelledGroup> = experiment.groups().collect();
    let mut known = Vec::new();
    let mut blocks = Vec::new();
    for (key, definition) in &experiment.definition().parameters {
        let is_number = matches!(definition.kind, ParameterKind::Size | ParameterKind::Count);
        if !is_number || but == Some(key.as_str()) {
            continue;
        }
        let parameter = NumberParameter::new(experiment, key);
        let mut charts: Vec<CaptionedCurves> = families(&groups, &[key])
            .into_iter()
            .filter(|groups| groups.len() >= least)
            .filter_map(|groups| Family::new(experiment, parameter, groups).curves())
            .collect();
        share_scale(&mut charts);
        for CaptionedCurves { caption, curves } in charts {
            blocks.push(Chart::of_curves(caption, curves, &mut known));
        }
    }
    blocks
}

/// Groups that differ in these parameters only, all of which are numbers.
pub(super) fn families<'a>(
    groups: &[LabelledGroup<'a>],
    keys: &[&str],
) -> Vec<Vec<LabelledGroup<'a>>> {
    let mut families: Vec<(BTreeMap<&String, &String>, Vec<LabelledGroup>)> = Vec::new();
    for group in groups {
        if !keys.iter().all(|key| is_number(*group, key)) {
            continue;
        }
        let parameters = group.group.parameters.iter();
        let further = parameters
            .filter(|(key, _)| !keys.contains(&key.as_str()))
            .collect();
        match families.iter_mut().find(|(known, _)| *known == further) {
            Some((_, family)) => family.push(*group),
            None => families.push((further, vec![*group])),
        }
    }
    families.into_iter().map(|(_, family)| family).collect()
}

fn is_number(group: LabelledGroup, key: &str) -> bool {
    group.group.parameters.number(key).is_some()
}

/// Gives the charts of one parameter the scale that holds all of them, so that they can be compared by eye.
fn share_scale(charts: &mut [CaptionedCurves]) {
    let lines = charts.iter().flat_map(|chart| &chart.curves.lines);
    if let Some(upward) = Scale::times(lines.flat_map(Line::costs)) {
        for chart in charts {
            chart.curves.upward = upward.clone();
        }
    }
}

pub(super) fn value(group: LabelledGroup, key: &str) -> u64 {
    group.group.parameters.number(key).unwrap_or(0)
}

/// The parameters of the groups other than these keys, after a comma.
pub(super) fn fixed(groups: &[LabelledGroup], keys: &[&str]) -> String {
    let setting = groups.first().map_or_else(String::new, |g| g.setting());
    let further: Vec<&str> = setting
        .split(' ')
        .filter(|word| {
            word.split_once('=')
                .is_some_and(|(key, _)| !keys.contains(&key))
        })
        .collect();
    if further.is_empty() {
        String::new()
    } else {
        format!(", {}", further.join(" "))
    }
}

impl<'a> NumberParameter<'a> {
    pub fn new(experiment: LabelledExperiment, key: &'a str) -> NumberParameter<'a> {
        let kind = experiment.definition().parameters[key].kind;
        NumberParameter {
            key,
            is_size: kind == ParameterKind::Size,
        }
    }

    /// A value as people write it: `4 MiB`.
    pub fn text(self, value: u64) -> String {
        if self.is_size {
            spaced(&format_size(value))
        } else {
            value.to_string()
        }
    }
}

impl<'a> Family<'a> {
    fn new(
        experiment: LabelledExperiment<'a>,
        parameter: NumberParameter<'a>,
        mut groups: Vec<LabelledGroup<'a>>,
    ) -> Family<'a> {
        groups.sort_by_key(|group| value(*group, parameter.key));
        Family {
            experiment,
            parameter,
            groups,
        }
    }

    fn curves(&self) -> Option<CaptionedCurves> {
        let key = self.parameter.key;
        let values: BTreeSet<u64> = self.groups.iter().map(|g| value(*g, key)).collect();
        let values: Vec<u64> = values.into_iter().filter(|value| *value > 0).collect();
        let baseline = self.groups.iter().find_map(|g| g.baseline_name());
        let mut lines = self.lines();
        lines.retain(|line| line.points.len() > 1);
        rank(&mut lines, baseline.as_deref());
        let left_out = lines.len().saturating_sub(MOST);
        lines.truncate(MOST);
        let upward = Scale::times(lines.iter().flat_map(Line::costs))?;
        let baseline = baseline.unwrap_or_default();
        let mut crossovers = Vec::new();
        for (at, line) in lines.iter().enumerate().skip(1) {
            crossovers.extend(self.crossovers(at, line, &baseline));
        }
        let numbered = lines.iter().enumerate();
        crossovers.extend(numbered.filter_map(|(at, line)| knee(key, at, line)));
        Some(CaptionedCurves {
            caption: self.caption(&crossovers, left_out),
            curves: Curves {
                across: Scale::values(&values, self.parameter.is_size)?,
                upward,
                crossovers,
                lines,
            },
        })
    }

    fn caption(&self, crossovers: &[Crossover], left_out: usize) -> String {
        let mut caption = format!(
            "{}, time per {}, against {}{}, log scale",
            self.experiment.headline(),
            self.experiment.work().noun(),
            self.parameter.key,
            fixed(&self.groups, &[self.parameter.key])
        );
        for crossover in crossovers {
            caption += &format!(". {}", crossover.sentence);
        }
        if left_out > 0 {
            caption += &format!(". {left_out} more methods stand in the tables");
        }
        caption
    }

    /// Every ordinary method's cost at every value.
    fn lines(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for group in &self.groups {
            for &cell in &group.group.cells {
                let Some(point) = self.point(*group, cell) else {
                    continue;
                };
                let label = group.name(cell);
                match lines.iter_mut().find(|line| line.label == label) {
                    Some(line) => line.points.push(point),
                    None => lines.push(Line {
                        label,
                        color: 0,
                        points: vec![point],
                    }),
                }
            }
        }
        lines
    }

    /// The cost of a ranked method with figures to be believed.
    fn point(&self, group: LabelledGroup, index: usize) -> Option<CurvePoint> {
        let cell = group.cell(index);
        if !cell.is_ranked() || cell.outcome.status != Status::Ok {
            return None;
        }
        let work = self.experiment.work();
        let phase = group.headline_phase(index)?;
        let cost = phase.per_unit_ns.map(|ns| ns * work.times(1.0));
        let value = value(group, self.parameter.key);
        if !cost.median.is_finite() || cost.median <= 0.0 || value == 0 {
            return None;
        }
        Some(CurvePoint {
            cell: index,
            value,
            value_words: self.parameter.text(value),
            cost: (cost.median, cost.low.zip(cost.high)),
            cost_words: format!("{} per {}", numbers::interval(&cost), work.noun()),
        })
    }

    /// The values between which a line's ratio to the baseline changes sides, where both sides are shown.
    fn crossovers(&self, at: usize, line: &Line, baseline: &str) -> Vec<Crossover> {
        let mut crossovers = Vec::new();
        let mut last: Option<(u64, BaselineSide)> = None;
        for point in &line.points {
            let Some(side) = self.side(point) else {
                continue;
            };
            if let Some((before, was)) = last.filter(|(_, was)| *was != side) {
                let sentence = format!(
                    "{} costs {} than {baseline} at {} and {} at {}: the crossover lies between them",
                    line.label,
                    was.word(),
                    self.parameter.text(before),
                    side.word(),
                    point.value_words,
                );
                crossovers.push(Crossover {
                    line: at,
                    between: (before, point.value),
                    sentence,
                });
            }
            last = Some((point.value, side));
        }
        crossovers
    }

    /// The side of the baseline on which a point is shown to be.
    fn side(&self, point: &CurvePoint) -> Option<BaselineSide> {
        let group = self.groups.iter().find(|group| {
            value(**group, self.parameter.key) == point.value
                && group.group.cells.contains(&point.cell)
        })?;
        let contrast = group.comparison(point.cell)?.contrast;
        let ratio = contrast.ratio.filter(|_| contrast.holds_among_all)?;
        if ratio.low > 1.0 {
            Some(BaselineSide::Dearer)
        } else if ratio.high < 1.0 {
            Some(BaselineSide::Cheaper)
        } else {
            None
        }
    }
}

impl BaselineSide {
    fn word(self) -> &'static str {
        match self {
            BaselineSide::Cheaper => "less",
            BaselineSide::Dearer => "more",
        }
    }
}

/// The baseline first; the others by where they come out best, as the smallest factor to the cheapest at the same value.
fn rank(lines: &mut [Line], baseline: Option<&str>) {
    let mut cheapest: BTreeMap<u64, f64> = BTreeMap::new();
    for point in lines.iter().flat_map(|l| &l.points) {
        let known = cheapest.entry(point.value).or_insert(f64::INFINITY);
        *known = known.min(point.cost.0);
    }
    lines.sort_by(|a, b| {
        let is_other = [a, b].map(|line| baseline != Some(line.label.as_str()));
        let factor = [a, b].map(|line| least_factor(line, &cheapest));
        is_other[0]
            .cmp(&is_other[1])
            .then(factor[0].total_cmp(&factor[1]))
    });
}

/// The smallest factor of a line's costs to the cheapest at the same value.
fn least_factor(line: &Line, cheapest: &BTreeMap<u64, f64>) -> f64 {
    line.points
        .iter()
        .map(|point| point.cost.0 / cheapest[&point.value])
        .fold(f64::INFINITY, f64::min)
}

/// The numbers of threads between which further ones cease to make a method cheaper; none where none ever did, or all do.
fn knee(key: &str, at: usize, line: &Line) -> Option<Crossover> {
    if key != THREADS {
        return None;
    }
    let steps: Vec<&[CurvePoint]> = line.points.windows(2).collect();
    let no_help = steps
        .iter()
        .find(|step| low(&step[1]) > high(&step[0]) * NO_HELP)?;
    let end = no_help[1].value;
    let before = steps.iter().take_while(|step| step[1].value < end);
    let helpful = before.filter(|step| high(&step[1]) < low(&step[0]) * NO_HELP);
    let last = helpful.last()?[1].value;
    let sentence = format!(
        "{} costs less with more threads up to {last}, and no less at {end}: the knee lies between them",
        line.label
    );
    Some(Crossover {
        line: at,
        between: (last, end),
        sentence,
    })
}

fn low(point: &CurvePoint) -> f64 {
    point.cost.1.map_or(point.cost.0, |(low, _)| low)
}

fn high(point: &CurvePoint) -> f64 {
    point.cost.1.map_or(point.cost.0, |(_, high)| high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method's cost at 1, 2, 4 … threads, each within this share.
    fn line(costs: &[f64], share: f64) -> Line {
        let point = |(at, &cost): (usize, &f64)| CurvePoint {
            cell: 0,
            value: 1 << at,
            value_words: String::new(),
            cost: (cost, Some((cost * (1.0 - share), cost * (1.0 + share)))),
            cost_words: String::new(),
        };
        Line {
            label: "touch".to_owned(),
            color: 0,
            points: costs.iter().enumerate().map(point).collect(),
        }
    }

    fn between(costs: &[f64], share: f64) -> Option<(u64, u64)> {
        knee(THREADS, 0, &line(costs, share)).map(|knee| knee.between)
    }

    #[test]
    fn the_knee_lies_behind_the_last_step_that_helps() {
        assert_eq!(
            between(&[800.0, 400.0, 200.0, 200.0, 210.0], 0.02),
            Some((4, 8))
        );
        assert_eq!(
            between(&[800.0, 400.0, 420.0, 900.0], 0.02),
            Some((2, 4)),
            "a cost that rises again"
        );
        assert_eq!(
            between(&[800.0, 420.0, 330.0, 310.0, 309.0], 0.01),
            Some((4, 16)),
            "Amdahl's law"
        );
    }

    #[test]
    fn an_undecided_step_widens_the_knee() {
        assert_eq!(between(&[800.0, 400.0, 370.0, 370.0], 0.02), Some((2, 8)));
    }

    #[test]
    fn no_knee_where_all_steps_help_or_none_does() {
        assert_eq!(between(&[800.0, 400.0, 200.0, 100.0], 0.02), None);
        assert_eq!(between(&[800.0, 820.0, 830.0], 0.02), None);
        assert_eq!(knee("bytes", 0, &line(&[800.0, 400.0, 400.0], 0.02)), None);
    }
}
