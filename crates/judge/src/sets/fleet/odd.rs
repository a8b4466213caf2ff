//! Nodes that are unlike their kind: in what a cell costs, or in what became of it.

use super::gathered::{Gathered, Node, NodePlace, Table, figures};
use super::{MOST_WRONG, kinds::NodeKind};
use crate::sets::SetQuestion;
use record::fleet::{Finding, OddNode};
use record::outcome::Status;
use stats::apart::{Apart, LEAST, apart};
use stats::multiplicity::benjamini_hochberg;
use std::collections::BTreeMap;

/// An outcome is a node's own where at least this share of the others came to another, common one.
const COMMON: f64 = 0.8;

/// A finding on a node, and whether each of its runs alone shows it.
type Found = (usize, Finding, bool);

/// The outliers, the furthest first.
pub(super) fn odd(
    gathered: &Gathered,
    nodes: &[Node],
    kinds: &[NodeKind],
    tables: &[Table],
    margin: f64,
) -> Vec<OddNode> {
    let questions = &gathered.questions.all;
    let mut by_node: BTreeMap<(usize, usize), Vec<(Finding, bool)>> = BTreeMap::new();
    let mut all = costs(questions, tables, margin);
    for (kind, table) in tables.iter().enumerate() {
        for (&question, places) in table.iter().filter(|(_, places)| places.len() >= LEAST) {
            let seen = outcomes(&questions[question], places)
                .into_iter()
                .chain(throttled(&questions[question], places));
            all.extend(seen.map(|finding| (kind, finding)));
        }
    }
    for (kind, (node, finding, each)) in all {
        by_node
            .entry((node, kind))
            .or_default()
            .push((finding, each));
    }
    let mut all: Vec<OddNode> = by_node
        .into_iter()
        .map(|((node, kind), f)| odd_node(&nodes[node], &kinds[kind], f))
        .collect();
    all.sort_by(|a, b| size(&b.findings[0]).total_cmp(&size(&a.findings[0])));
    all
}

fn odd_node(node: &Node, kind: &NodeKind, mut findings: Vec<(Finding, bool)>) -> OddNode {
    findings.sort_by(|a, b| size(&b.0).total_cmp(&size(&a.0)));
    OddNode {
        node: node.name.clone(),
        kind: kind.name.clone(),
        folders: node.runs.iter().map(|run| run.folder.clone()).collect(),
        confirmed: (node.runs.len() > 1).then(|| findings.iter().any(|(_, each)| *each)),
        findings: findings.into_iter().map(|(finding, _)| finding).collect(),
        facts: Vec::new(),
    }
}

/// Severity of a finding: another outcome first, then a quota that was seen at work, then by how far the cost is off.
fn size(finding: &Finding) -> f64 {
    match finding {
        Finding::Outcome { .. } => f64::INFINITY,
        Finding::Throttled { .. } => f64::MAX,
        Finding::Cost { ratio, .. } => ratio.ln().abs(),
    }
}

/// Costs apart from those of the other nodes, adjusted for all nodes and cells; each with its kind.
fn costs(questions: &[SetQuestion], tables: &[Table], margin: f64) -> Vec<(usize, Found)> {
    let mut tests: Vec<(usize, usize, &NodePlace, Apart)> = Vec::new();
    for (kind, table) in tables.iter().enumerate() {
        for (&question, places) in table {
            let (logs, errors) = figures(places);
            let Ok(all) = apart(&logs, &errors, margin.ln_1p()) else {
                continue;
            };
            let with = places.iter().filter(|place| place.side.is_some());
            tests.extend(
                with.zip(all)
                    .map(|(place, apart)| (kind, question, place, apart)),
            );
        }
    }
    let p = benjamini_hochberg(&tests.iter().map(|(.., apart)| apart.p).collect::<Vec<_>>());
    let significant = tests.iter().zip(p).filter(|(_, p)| *p <= MOST_WRONG);
    significant
        .map(|(&(kind, question, place, apart), p)| {
            let headline = &questions[question].headline;
            let finding = Finding::Cost {
                cell: headline.cell.clone(),
                parameters: headline.parameters.clone(),
                ratio: apart.by.exp(),
                spread: apart.spread.exp_m1(),
                p,
            };
            (
                kind,
                (place.node, finding, each_run_says_so(place, apart, margin)),
            )
        })
        .collect()
}

/// Tells whether each run of a node alone lies beyond the margin on the same side.
fn each_run_says_so(place: &NodePlace, apart: Apart, margin: f64) -> bool {
    let Some(centre) = place.side.map(|side| side.log - apart.by) else {
        return false;
    };
    let beyond = |logs: &[f64]| {
        let middle = stats::quantile::midmean(logs).unwrap_or(centre);
        (middle - centre) * apart.by.signum() > margin.ln_1p()
    };
    place
        .cells
        .iter()
        .all(|cell| cell.logs.is_empty() || beyond(&cell.logs))
}

/// Nodes on which a cell came to another end than on most others.
fn outcomes(question: &SetQuestion, places: &[NodePlace]) -> Vec<Found> {
    let Some((common, count)) = commonest(places) else {
        return Vec::new();
    };
    // A node is compared with how the others ended, so it does not count among these.
    if (count as f64) < COMMON * (places.len() - 1) as f64 {
        return Vec::new();
    }
    let unlike = places
        .iter()
        .filter(|place| place.worst.outcome.status != common);
    let outcome = |place: &NodePlace| {
        let finding = Finding::Outcome {
            cell: question.headline.cell.clone(),
            parameters: question.headline.parameters.clone(),
            outcome: place.worst.outcome.clone(),
            others: common,
            nodes: count,
        };
        (
            place.node,
            finding,
            place
                .cells
                .iter()
                .all(|cell| cell.outcome.status == place.worst.outcome.status),
        )
    };
    unlike.map(outcome).collect()
}

/// The outcome of most nodes, with their number.
pub(super) fn commonest(places: &[NodePlace]) -> Option<(Status, usize)> {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    places
        .iter()
        .for_each(|place| *counts.entry(place.worst.outcome.status).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count)
}

/// Nodes on which a CPU quota kept a cell waiting, unlike most others. The kernel counted it, so no distance is needed.
fn throttled(question: &SetQuestion, places: &[NodePlace]) -> Vec<Found> {
    let (held, free): (Vec<_>, Vec<_>) = places.iter().partition(|place| place.is_throttled());
    if (free.len() as f64) < COMMON * (places.len() - 1) as f64 {
        return Vec::new();
    }
    let outcome = |place: &NodePlace| {
        let finding = Finding::Throttled {
            cell: question.headline.cell.clone(),
            parameters: question.headline.parameters.clone(),
            share: place
                .cells
                .iter()
                .rev()
                .find_map(|cell| cell.throttled)
                .unwrap_or_default(),
            nodes: free.len(),
        };
        (
            place.node,
            finding,
            place.cells.iter().all(|cell| cell.throttled.is_some()),
        )
    };
    held.into_iter().map(outcome).collect()
}
