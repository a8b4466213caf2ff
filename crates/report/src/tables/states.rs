//! The plain machine against its states: a table of methods by states, and a sentence on the answer of each state.

use crate::render::document::{Block, Column, Entry, Table, TableCell, Tone};
use crate::sentences::labels::Labels;
use crate::sentences::numbers::{Work, with_limits};
use crate::sentences::wording;
use record::summary::{
    ExperimentSummary, GroupSummary, StateAnswer, StateEffect, StateRatio, Summary,
};
use record::{machine_state::STATE, outcome::Status};

pub(crate) fn blocks(
    summary: &Summary,
    experiment: &ExperimentSummary,
    labels: &Labels,
) -> Vec<Block> {
    let name = experiment.definition.name.as_str();
    let plain = (0..summary.groups.len()).filter(|&at| summary.groups[at].experiment == name);
    plain
        .flat_map(|plain| of_plain(summary, experiment, labels, plain))
        .collect()
}

fn of_plain(
    summary: &Summary,
    experiment: &ExperimentSummary,
    labels: &Labels,
    plain: usize,
) -> Vec<Block> {
    let answered = summary
        .groups
        .iter()
        .filter_map(|group| Some((group, group.state.as_ref()?)));
    let all = answered.filter(|(_, answer)| answer.plain == plain);
    let is_measured =
        |state: &(_, &StateAnswer)| state.1.ratios.iter().any(|ratio| ratio.ratio.is_some());
    let (states, others): (Vec<_>, Vec<(&GroupSummary, _)>) = all.partition(is_measured);
    if states.is_empty() && others.is_empty() {
        return Vec::new();
    }
    let (definition, group) = (&experiment.definition, &summary.groups[plain]);
    let work = Work::new(definition);
    let state_of = |group: &GroupSummary| group.parameters.get(STATE).cloned().unwrap_or_default();
    let ratio = |ratio: Option<&StateRatio>| match ratio.and_then(|ratio| ratio.ratio) {
        Some(estimate) => TableCell::number(with_limits(&estimate), Some(estimate.ratio)),
        None => TableCell::text("–"),
    };
    let entry = |&cell: &usize| {
        let cost = summary.cells[cell].phases.get(&experiment.headline)?;
        let ratios: Vec<Option<&StateRatio>> = states
            .iter()
            .map(|(_, answer)| answer.ratios.iter().find(|ratio| ratio.plain == cell))
            .collect();
        let tone = match ratios[..] {
            [Some(only)] => Tone::of_verdict(only.verdict, true),
            _ => Tone::Plain,
        };
        let cells = std::iter::once(TableCell::cost(work, &cost.per_unit_ns))
            .chain(ratios.into_iter().map(ratio));
        let name = labels.cell(definition, &summary.cells[cell]);
        Some(Entry {
            cell: Some(cell),
            tone,
            ..Entry::new(name, cells.collect())
        })
    };
    let rows: Vec<Entry> = group.cells.iter().filter_map(entry).collect();
    let columns = [
        Column::text("state : plain"),
        Column::number(format!("plain, {}", work.heading())),
    ];
    let columns = columns.into_iter().chain(
        states
            .iter()
            .map(|(group, _)| Column::number(state_of(group))),
    );
    let setting = group
        .parameters
        .iter()
        .filter(|(key, _)| *key != STATE && labels.varies(&definition.name, key));
    let setting: Vec<String> = setting
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let mut blocks = vec![Block::Heading(
        format!("States of the machine {}", setting.join(" "))
            .trim_end()
            .to_owned(),
    )];
    if !states.is_empty() {
        blocks.push(Block::Table(Table::new(
            "cost in a state over the cost on the plain machine",
            columns.collect(),
            rows,
        )));
    }
    blocks.extend(states.iter().map(|(group, answer)| {
        let name = |cell: usize| labels.cell(definition, &summary.cells[cell]);
        Block::Answer(format!("{}: {}", state_of(group), effect(answer, name)))
    }));
    let is_ok = |group: &GroupSummary| {
        group
            .cells
            .iter()
            .any(|&cell| summary.cells[cell].outcome.status == Status::Ok)
    };
    let others: Vec<String> = others
        .iter()
        .filter(|(group, _)| is_ok(group))
        .map(|(group, _)| state_of(group))
        .collect();
    if !others.is_empty() {
        blocks.push(Block::Answer(format!(
            "too few launches for an interval: {}",
            others.join(", ")
        )));
    }
    blocks
}

fn effect(answer: &StateAnswer, name: impl Fn(usize) -> String) -> String {
    let best = match answer.best {
        StateEffect::Same { cell } => format!("the best method stays {}", name(cell)),
        StateEffect::Changes { from, to } => format!(
            "the best method changes from {} to {}",
            name(from),
            name(to)
        ),
        StateEffect::Inconclusive => "no verdict on whether the best method changes".to_owned(),
    };
    let distance = |ratio: &&StateRatio| {
        ratio
            .ratio
            .map_or(0.0, |estimate| estimate.ratio.ln().abs())
    };
    let settled = answer.ratios.iter().filter(|ratio| ratio.verdict.differs());
    let most = settled.max_by(|a, b| distance(a).total_cmp(&distance(b)));
    let Some(most) = most else { return best };
    format!(
        "{best}; {} is {}",
        name(most.cell),
        wording::finding(most.ratio.as_ref(), most.verdict, true)
    )
}
