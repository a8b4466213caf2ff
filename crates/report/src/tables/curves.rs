//! Cost against size, of groups of one experiment that differ in one number only; and percentiles of single operations.

use crate::render::document::{Block, Body, Chart, Column, Entry, Table, TableCell, Tone};
use crate::render::plot::{Crossover, CurvePoint, Curves, Line, Scale};
use crate::sentences::labels::Labels;
use crate::sentences::numbers::{self, Work, spaced};
use record::experiment::{Experiment, ParameterKind};
use record::outcome::Status;
use record::sizes::{format_ns, three_digits};
use record::summary::{
    CellSummary, Comparison, ExperimentSummary, GroupSummary, LatencySummary, Role, Summary,
};
use std::collections::{BTreeMap, BTreeSet};

/// The parameter that has a knee.
const THREADS: &str = "threads";
/// A step to more threads that leaves more than this share of the cost helps nobody.
const NO_HELP: f64 = 0.95;
/// Lines of one chart at most: the baseline, and those that come out ahead somewhere.
const MOST: usize = 7;

/// The charts of one experiment, in the order of its groups; none over the parameter `but`.
pub(crate) fn charts(
    summary: &Summary,
    experiment: &ExperimentSummary,
    labels: &Labels,
    but: Option<&str>,
) -> Vec<Block> {
    let groups: Vec<&GroupSummary> = summary.groups_of(&experiment.definition.name).collect();
    let is_number =
        |kind: ParameterKind| matches!(kind, ParameterKind::Size | ParameterKind::Count);
    let parameters = experiment.definition.parameters.iter();
    let numbers = parameters.filter(|(key, p)| is_number(p.kind) && but != Some(key.as_str()));
    let charts = numbers.flat_map(|(key, parameter)| {
        let bytes = parameter.kind == ParameterKind::Size;
        let families = families(&groups, &[key])
            .into_iter()
            .filter(|family| family.len() > 1);
        on_one_scale(
            families
                .filter_map(|family| curve(summary, experiment, &family, (key, bytes), labels))
                .collect(),
        )
    });
    let mut known = Vec::new();
    charts
        .map(|(caption, curves)| Chart::of_curves(caption, curves, &mut known))
        .collect()
}

/// Groups that differ in these parameters only, all of which are numbers.
pub(crate) fn families<'a>(
    groups: &[&'a GroupSummary],
    keys: &[&str],
) -> Vec<Vec<&'a GroupSummary>> {
    let is_number = |group: &GroupSummary, key: &str| {
        group
            .parameters
            .get(key)
            .is_some_and(|v| v.parse::<u64>().is_ok())
    };
    let mut families: Vec<(BTreeMap<&String, &String>, Vec<&GroupSummary>)> = Vec::new();
    for &group in groups
        .iter()
        .filter(|group| keys.iter().all(|key| is_number(group, key)))
    {
        let rest = group
            .parameters
            .iter()
            .filter(|(key, _)| !keys.contains(&key.as_str()))
            .collect();
        match families.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, family)) => family.push(group),
            None => families.push((rest, vec![group])),
        }
    }
    families.into_iter().map(|(_, family)| family).collect()
}

/// Gives the charts of one parameter the scale that holds all of them, so that they can be compared by eye.
fn on_one_scale(mut charts: Vec<(String, Curves)>) -> Vec<(String, Curves)> {
    if let Some(upward) = Scale::times(
        charts
            .iter()
            .flat_map(|(_, chart)| &chart.lines)
            .flat_map(Line::costs),
    ) {
        charts
            .iter_mut()
            .for_each(|(_, chart)| chart.upward = upward.clone());
    }
    charts
}

pub(crate) fn value(group: &GroupSummary, key: &str) -> u64 {
    group
        .parameters
        .get(key)
        .and_then(|v| v.parse().ok())
        .unwrap_or(0)
}

fn curve(
    summary: &Summary,
    experiment: &ExperimentSummary,
    family: &[&GroupSummary],
    (key, bytes): (&str, bool),
    labels: &Labels,
) -> Option<(String, Curves)> {
    let mut groups = family.to_vec();
    groups.sort_by_key(|group| value(group, key));
    let values: Vec<u64> = groups
        .iter()
        .map(|g| value(g, key))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .filter(|v| *v > 0)
        .collect();
    let mut lines = lines(summary, experiment, &groups, (key, bytes), labels);
    lines.retain(|line| line.points.len() > 1);
    let baseline = groups
        .iter()
        .find_map(|g| g.baseline)
        .map(|c| labels.cell(&experiment.definition, &summary.cells[c]));
    rank(&mut lines, baseline.as_deref());
    let left_out = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    let upward = Scale::times(lines.iter().flat_map(Line::costs))?;
    let setting = fixed(experiment, &groups, labels, &[key]);
    let name = baseline.as_deref().unwrap_or_default();
    let ranked = lines.iter().enumerate().skip(1);
    let knees = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| knee(key, at, line));
    let crossovers =
        ranked.flat_map(|(at, line)| crossovers(experiment, &groups, key, bytes, at, line, name));
    let crossovers: Vec<Crossover> = crossovers.chain(knees).collect();
    let (headline, unit) = (
        &experiment.headline,
        Work::new(&experiment.definition).noun(),
    );
    let mut caption = format!("{headline}, time per {unit}, against {key}{setting}, log scale");
    caption += &crossovers
        .iter()
        .map(|crossover| format!(". {}", crossover.sentence))
        .collect::<String>();
    if left_out > 0 {
        caption += &format!(". {left_out} more methods stand in the tables");
    }
    Some((
        caption,
        Curves {
            across: Scale::values(&values, bytes)?,
            upward,
            crossovers,
            lines,
        },
    ))
}

/// The parameters of the groups other than these keys, after a comma.
fn fixed(
    experiment: &ExperimentSummary,
    groups: &[&GroupSummary],
    labels: &Labels,
    keys: &[&str],
) -> String {
    let setting = groups.first().map_or_else(String::new, |group| {
        labels.setting(&experiment.definition, group)
    });
    let is_fixed = |word: &&str| {
        word.split_once('=')
            .is_some_and(|(key, _)| !keys.contains(&key))
    };
    let rest: Vec<&str> = setting.split(' ').filter(is_fixed).collect();
    if rest.is_empty() {
        String::new()
    } else {
        format!(", {}", rest.join(" "))
    }
}

/// The baseline first; the others by where they come out best, as the smallest factor to the cheapest at the same value.
fn rank(lines: &mut [Line], baseline: Option<&str>) {
    let mut cheapest: BTreeMap<u64, f64> = BTreeMap::new();
    for point in lines.iter().flat_map(|l| &l.points) {
        let known = cheapest.entry(point.value).or_insert(f64::INFINITY);
        *known = known.min(point.cost.0);
    }
    let ahead = |line: &Line| {
        line.points
            .iter()
            .map(|p| p.cost.0 / cheapest[&p.value])
            .fold(f64::INFINITY, f64::min)
    };
    let other = |line: &Line| baseline != Some(line.label.as_str());
    lines.sort_by(|a, b| other(a).cmp(&other(b)).then(ahead(a).total_cmp(&ahead(b))));
}

/// Every ordinary method's cost at every value.
fn lines(
    summary: &Summary,
    experiment: &ExperimentSummary,
    groups: &[&GroupSummary],
    (key, bytes): (&str, bool),
    labels: &Labels,
) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for group in groups {
        for &cell in &group.cells {
            let planned = &summary.cells[cell];
            let ranked = planned.is_ranked() && planned.outcome.status == Status::Ok;
            let Some(phase) = planned.phases.get(&experiment.headline).filter(|_| ranked) else {
                continue;
            };
            let work = Work::new(&experiment.definition);
            let (cost, at) = (
                phase.per_unit_ns.map(|ns| ns * work.times(1.0)),
                value(group, key),
            );
            if !(cost.median.is_finite() && cost.median > 0.0) || at == 0 {
                continue;
            }
            let point = CurvePoint {
                cell,
                value: at,
                value_words: words_of(at, bytes),
                cost: (cost.median, cost.low.zip(cost.high)),
                cost_words: format!("{} per {}", numbers::interval(&cost), work.noun()),
            };
            let label = labels.cell(&experiment.definition, planned);
            match lines.iter_mut().find(|l| l.label == label) {
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

pub(crate) fn words_of(value: u64, bytes: bool) -> String {
    if bytes {
        spaced(&record::sizes::format_size(value))
    } else {
        value.to_string()
    }
}

/// The values between which a line's ratio to the baseline changes sides, where both sides are shown.
fn crossovers(
    experiment: &ExperimentSummary,
    groups: &[&GroupSummary],
    key: &str,
    bytes: bool,
    at: usize,
    line: &Line,
    baseline: &str,
) -> Vec<Crossover> {
    let mut crossovers = Vec::new();
    let mut last: Option<(u64, bool)> = None;
    for point in &line.points {
        let group = groups
            .iter()
            .find(|g| value(g, key) == point.value && g.cells.contains(&point.cell));
        let comparison = group.and_then(|g| g.comparison(point.cell, &experiment.headline));
        let Some(ratio) = comparison
            .filter(|c| c.holds_among_all)
            .and_then(|c| c.ratio)
        else {
            continue;
        };
        let cheaper = match (ratio.low > 1.0, ratio.high < 1.0) {
            (true, _) => false,
            (_, true) => true,
            _ => continue,
        };
        if let Some((before, was)) = last.filter(|(_, was)| *was != cheaper) {
            let word = |cheaper: bool| if cheaper { "less" } else { "more" };
            let sentence = format!(
                "{} costs {} than {baseline} at {} and {} at {}: the crossover lies between them",
                line.label,
                word(was),
                words_of(before, bytes),
                word(cheaper),
                point.value_words,
            );
            crossovers.push(Crossover {
                line: at,
                between: (before, point.value),
                sentence,
            });
        }
        last = Some((point.value, cheaper));
    }
    crossovers
}

/// The numbers of threads between which further ones cease to make a method cheaper; none where none ever did, or all do.
fn knee(key: &str, at: usize, line: &Line) -> Option<Crossover> {
    let bounds = |point: &CurvePoint| point.cost.1.unwrap_or((point.cost.0, point.cost.0));
    let steps = || line.points.windows(2).filter(|_| key == THREADS);
    let end = steps().find(|step| bounds(&step[1]).0 > bounds(&step[0]).1 * NO_HELP)?[1].value;
    let helps = |step: &&[CurvePoint]| bounds(&step[1]).1 < bounds(&step[0]).0 * NO_HELP;
    let last = steps()
        .take_while(|step| step[1].value < end)
        .filter(helps)
        .last()?[1]
        .value;
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

// Percentiles of single operations. Equal steps leave a tenth of the operations each: the tail has as much room.

/// Operations beyond the last percentile at least.
const BEYOND: u64 = 10;
/// Operations of which one lies beyond: 2 is the median, 1000 is p99.9.
const PLACES: [u64; 15] = [
    2, 4, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000,
];

/// The chart of a group's methods, the baseline first; `None` where none recorded single operations.
pub(crate) fn chart(
    cells: &[(String, &CellSummary)],
    baseline: Option<&str>,
    setting: &str,
) -> Option<Block> {
    let ranked = cells.iter().filter(|(_, cell)| cell.role == Role::Method);
    let mut lines: Vec<Line> = ranked
        .filter_map(|(label, cell)| line(label, cell.latency_ns.as_ref()?))
        .collect();
    lines.retain(|line| line.points.len() > 1);
    let last = |line: &Line| line.points.last().map_or(0.0, |point| point.cost.0);
    let other = |line: &Line| baseline != Some(line.label.as_str());
    lines.sort_by(|a, b| other(a).cmp(&other(b)).then(last(a).total_cmp(&last(b))));
    lines.truncate(MOST);
    let mut places: Vec<u64> = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point.value)
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut across = Scale::values(&places, false)?;
    let is_written = |at: &&u64| **at == 2 || 10_u64.pow(at.ilog10()) == **at;
    across.ticks = places
        .iter()
        .filter(is_written)
        .map(|&at| (at as f64, percentile(at)))
        .collect();
    let upward = Scale::times(lines.iter().flat_map(Line::costs))?;
    let caption = format!(
        "Percentiles of single operations {setting}: all launches, as far as {BEYOND} operations lie beyond. Both scales are \
         logarithmic; thick lines are 95 % limits of the median launch"
    );
    let curves = Curves {
        across,
        upward,
        lines,
        crossovers: Vec::new(),
    };
    Some(Chart::of_curves(
        caption.replace(" :", ":"),
        curves,
        &mut Vec::new(),
    ))
}

/// `p99.9` for one operation of a thousand beyond.
fn percentile(one_of: u64) -> String {
    let text = format!("{:.4}", 100.0 - 100.0 / one_of as f64);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}

fn line(label: &str, latency: &LatencySummary) -> Option<Line> {
    let point = |&value: &u64| {
        let name = percentile(value);
        let ns = quantile(latency, value).filter(|ns| ns.is_finite() && *ns > 0.0)?;
        let over = latency
            .over_launches
            .get(&name)
            .and_then(|q| q.low.zip(q.high));
        Some(CurvePoint {
            cell: 0,
            value,
            value_words: name,
            cost: (ns, over),
            cost_words: format_ns(ns),
        })
    };
    let places = PLACES
        .iter()
        .filter(|at| at.saturating_mul(BEYOND) <= latency.trips);
    Some(Line {
        label: label.to_owned(),
        color: 0,
        points: places.filter_map(point).collect(),
    })
}

/// The time that all but one of so many operations kept within.
fn quantile(latency: &LatencySummary, one_of: u64) -> Option<f64> {
    if latency.histogram.is_empty() {
        return [
            (2, latency.median),
            (100, latency.p99),
            (1000, latency.p999),
        ]
        .into_iter()
        .find(|q| q.0 == one_of)
        .map(|q| q.1);
    }
    let within = latency.trips - latency.trips / one_of;
    let mut seen = 0_u64;
    let bucket = latency.histogram.iter().find(|(_, count)| {
        seen = seen.saturating_add(*count);
        seen >= within
    });
    bucket.map(|(ns, _)| *ns as f64)
}

/// Methods of one map at most: those that come out ahead somewhere.
const MOST_MAPPED: usize = 6;

/// The first two parameters of several numbers, sizes before counts: across, and downward.
pub(crate) fn keys<'a>(definition: &'a Experiment, labels: &Labels) -> Option<[&'a str; 2]> {
    let of_kind = |kind| {
        definition
            .parameters
            .iter()
            .filter(move |(_, p)| p.kind == kind)
            .map(|(key, _)| key.as_str())
    };
    let numbers = of_kind(ParameterKind::Size).chain(of_kind(ParameterKind::Count));
    let mut varying = numbers.filter(|key| labels.varies(&definition.name, key));
    Some([varying.next()?, varying.next()?])
}

/// A table of colored ratios for each family of groups that differ in these parameters only.
pub(crate) fn maps(
    summary: &Summary,
    experiment: &ExperimentSummary,
    labels: &Labels,
    keys: [&str; 2],
) -> Vec<Block> {
    let groups: Vec<&GroupSummary> = summary.groups_of(&experiment.definition.name).collect();
    families(&groups, &keys)
        .iter()
        .filter_map(|family| map(summary, experiment, labels, keys, family))
        .collect()
}

fn map(
    summary: &Summary,
    experiment: &ExperimentSummary,
    labels: &Labels,
    keys: [&str; 2],
    groups: &[&GroupSummary],
) -> Option<Block> {
    let definition = &experiment.definition;
    let name = |cell: usize| labels.cell(definition, &summary.cells[cell]);
    let values = keys.map(|key| {
        groups
            .iter()
            .map(|group| value(group, key))
            .collect::<BTreeSet<u64>>()
    });
    let mut methods: BTreeMap<String, BTreeMap<[u64; 2], &Comparison>> = BTreeMap::new();
    for group in groups {
        for comparison in group
            .comparisons
            .iter()
            .filter(|c| c.phase == experiment.headline && c.ratio.is_some())
        {
            let cell = &summary.cells[comparison.cell];
            if cell.is_ranked()
                && cell.outcome.status == Status::Ok
                && Some(comparison.cell) != group.baseline
            {
                methods
                    .entry(name(comparison.cell))
                    .or_default()
                    .insert(keys.map(|key| value(group, key)), comparison);
            }
        }
    }
    let least = |fields: &BTreeMap<[u64; 2], &Comparison>| {
        fields
            .values()
            .filter_map(|c| Some(c.ratio?.ratio))
            .fold(f64::INFINITY, f64::min)
    };
    let mut methods: Vec<_> = methods
        .into_iter()
        .filter(|(_, fields)| fields.len() > 1)
        .collect();
    methods.sort_by(|a, b| least(&a.1).total_cmp(&least(&b.1)));
    methods.truncate(MOST_MAPPED);
    let baseline = groups.iter().find_map(|group| group.baseline)?;
    if methods.is_empty() || values.iter().any(|values| values.len() < 2) {
        return None;
    }
    let shown = |at: usize, value: u64| {
        words_of(
            value,
            definition.parameters[keys[at]].kind == ParameterKind::Size,
        )
    };
    let columns = values[0]
        .iter()
        .map(|across| Column::text(shown(0, *across)));
    let columns = std::iter::once(Column::text(keys[1]))
        .chain(columns)
        .collect();
    let bodies = methods.into_iter().map(|(heading, fields)| {
        let fields_of = |down: u64| {
            values[0]
                .iter()
                .map(|across| field(fields.get(&[*across, down]).copied()))
                .collect()
        };
        let rows = values[1]
            .iter()
            .map(|down| Entry::new(shown(1, *down), fields_of(*down)))
            .collect();
        Body {
            heading,
            aside: false,
            rows,
        }
    });
    let ([across, down], headline, baseline) = (keys, &experiment.headline, name(baseline));
    let setting = fixed(experiment, groups, labels, &keys);
    let caption = format!(
        "{headline} of each method over that of {baseline}{setting}: {across} across, {down} downward. Below 1 a method takes \
         less; in brackets where that is not settled"
    );
    Some(Block::Table(Table {
        caption,
        columns,
        bodies: bodies.collect(),
        ..Table::default()
    }))
}

/// A ratio, the stronger colored the further it is from 1: each step is a factor.
fn field(comparison: Option<&Comparison>) -> TableCell {
    let Some((comparison, ratio)) = comparison.and_then(|c| Some((c, c.ratio?))) else {
        return TableCell {
            heat: Some(0),
            ..TableCell::text("–")
        };
    };
    let step = 1 + [1.25, 2.0, 4.0]
        .iter()
        .filter(|factor| ratio.ratio.ln().abs() > f64::ln(**factor))
        .count() as i8;
    let text = three_digits(ratio.ratio);
    let (text, heat) = match Tone::of_verdict(comparison.verdict, comparison.holds_among_all) {
        Tone::Faster => (text, -step),
        Tone::Slower => (text, step),
        Tone::Open => (format!("({text})"), 0),
        Tone::Plain | Tone::Baseline => (text, 0),
    };
    TableCell {
        heat: Some(heat),
        ..TableCell::text(text)
    }
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
