//! Heat maps: ratios to the baseline of groups that differ in two numbers, such as sizes and threads.

use super::curves::{families, value, words_of};
use super::labels::Labels;
use crate::document::{Block, Body, Column, Entry, Table, TableCell, Tone};
use record::experiment::{Experiment, ParameterKind};
use record::outcome::Status;
use record::sizes::three_digits;
use record::summary::{Comparison, ExperimentSummary, GroupSummary, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// Methods of one map at most: those that come out ahead somewhere.
const MOST: usize = 6;

/// The first two parameters of several numbers, sizes before counts: across, and downward.
pub(super) fn keys<'a>(definition: &'a Experiment, labels: &Labels) -> Option<[&'a str; 2]> {
    let of_kind = |kind| definition.parameters.iter().filter(move |(_, p)| p.kind == kind).map(|(key, _)| key.as_str());
    let numbers = of_kind(ParameterKind::Size).chain(of_kind(ParameterKind::Count));
    let mut varying = numbers.filter(|key| labels.varies(&definition.name, key));
    Some([varying.next()?, varying.next()?])
}

/// A table of colored ratios for each family of groups that differ in these parameters only.
pub(super) fn maps(summary: &Summary, experiment: &ExperimentSummary, labels: &Labels, keys: [&str; 2]) -> Vec<Block> {
    let groups: Vec<&GroupSummary> = summary.groups_of(&experiment.definition.name).collect();
    families(&groups, &keys).iter().filter_map(|family| map(summary, experiment, labels, keys, family)).collect()
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
    let values = keys.map(|key| groups.iter().map(|group| value(group, key)).collect::<BTreeSet<u64>>());
    let mut methods: BTreeMap<String, BTreeMap<[u64; 2], &Comparison>> = BTreeMap::new();
    for group in groups {
        for comparison in group.comparisons.iter().filter(|c| c.phase == experiment.headline && c.ratio.is_some()) {
            let cell = &summary.cells[comparison.cell];
            if cell.is_ranked() && cell.status == Status::Ok && Some(comparison.cell) != group.baseline {
                methods.entry(name(comparison.cell)).or_default().insert(keys.map(|key| value(group, key)), comparison);
            }
        }
    }
    let least = |fields: &BTreeMap<[u64; 2], &Comparison>| {
        fields.values().filter_map(|c| Some(c.ratio?.ratio)).fold(f64::INFINITY, f64::min)
    };
    let mut methods: Vec<_> = methods.into_iter().filter(|(_, fields)| fields.len() > 1).collect();
    methods.sort_by(|a, b| least(&a.1).total_cmp(&least(&b.1)));
    methods.truncate(MOST);
    let baseline = groups.iter().find_map(|group| group.baseline)?;
    if methods.is_empty() || values.iter().any(|values| values.len() < 2) {
        return None;
    }
    let shown = |at: usize, value: u64| words_of(value, definition.parameters[keys[at]].kind == ParameterKind::Size);
    let columns = values[0].iter().map(|across| Column::text(shown(0, *across)));
    let columns = std::iter::once(Column::text(keys[1])).chain(columns).collect();
    let bodies = methods.into_iter().map(|(heading, fields)| {
        let fields_of = |down: u64| values[0].iter().map(|across| field(fields.get(&[*across, down]).copied())).collect();
        let rows = values[1].iter().map(|down| Entry::new(shown(1, *down), fields_of(*down))).collect();
        Body { heading, aside: false, rows }
    });
    let ([across, down], headline, baseline) = (keys, &experiment.headline, name(baseline));
    let caption = format!(
        "{headline} of each method over that of {baseline}: {across} across, {down} downward. Below 1 a method takes less; in \
         brackets where that is not settled"
    );
    Some(Block::Table(Table { caption, legend: Vec::new(), columns, bodies: bodies.collect() }))
}

/// A ratio, the stronger colored the further it is from 1: each step is a factor.
fn field(comparison: Option<&Comparison>) -> TableCell {
    let Some((comparison, ratio)) = comparison.and_then(|c| Some((c, c.ratio?))) else {
        return TableCell { heat: Some(0), ..TableCell::text("–") };
    };
    let step = 1 + [1.25, 2.0, 4.0].iter().filter(|factor| ratio.ratio.ln().abs() > f64::ln(**factor)).count() as i8;
    let text = three_digits(ratio.ratio);
    let (text, heat) = match Tone::of_verdict(comparison.verdict, comparison.holds_among_all) {
        Tone::Faster => (text, -step),
        Tone::Slower => (text, step),
        Tone::Open => (format!("({text})"), 0),
        Tone::Plain | Tone::Baseline => (text, 0),
    };
    TableCell { heat: Some(heat), ..TableCell::text(text) }
}
