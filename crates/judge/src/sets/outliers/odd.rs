//! Nodes that are unlike their kind: in what a cell costs, or in what became of it.

use super::gathered::{Gathered, Node, NodePlace, Table, figures};
use super::{MOST_WRONG, kinds::NodeKind};
use crate::sets::SetQuestion;
use record::outcome::Status;
use record::outliers::{Finding, OddNode};
use stats::apart::{Apart, LEAST, apart};
use stats::{multiplicity::benjamini_hochberg, quantile::midmean};
use std::collections::BTreeMap;

/// An outcome is a node's own where at least this share of the others came to another, common one.
const COMMON: f64 = 0.8;

/// A finding on a node.
struct NodeFinding {
    node: usize,
    finding: Finding,
    /// True if each of the node's runs alone shows it.
    in_each_run: bool,
}

/// The outliers, the furthest first.
pub(super) fn odd(
    gathered: &Gathered,
    nodes: &[Node],
    kinds: &[NodeKind],
    tables: &[Table],
    margin: f64,
) -> Vec<OddNode> {
    let questions = &gathered.questions.list;
    let mut by_node: BTreeMap<(usize, usize), Vec<NodeFinding>> = BTreeMap::new();
    for (kind, finding) in costs(questions, tables, margin) {
        by_node
            .entry((finding.node, kind))
            .or_default()
            .push(finding);
    }
    for (kind, table) in tables.iter().enumerate() {
        for (&question, places) in table.iter().filter(|(_, places)| places.len() >= LEAST) {
            let outcomes = outcomes(&questions[question], places);
            let throttled = throttled(&questions[question], places);
            for finding in outcomes.into_iter().chain(throttled) {
                by_node
                    .entry((finding.node, kind))
                    .or_default()
                    .push(finding);
            }
        }
    }
    let mut odd: Vec<OddNode> = by_node
        .into_iter()
        .map(|((node, kind), findings)| odd_node(&nodes[node], &kinds[kind], findings))
        .collect();
    odd.sort_by(|a, b| size(&b.findings[0]).total_cmp(&size(&a.findings[0])));
    odd
}

fn odd_node(node: &Node, kind: &NodeKind, mut findings: Vec<NodeFinding>) -> OddNode {
    findings.sort_by(|a, b| size(&b.finding).total_cmp(&size(&a.finding)));
    let confirmed = findings.iter().any(|finding| finding.in_each_run);
    OddNode {
        node: node.name.clone(),
        kind: kind.name.clone(),
        folders: node.runs.iter().map(|run| run.folder.clone()).collect(),
        confirmed: (node.runs.len() > 1).then_some(confirmed),
        findings: findings.into_iter().map(|f| f.finding).collect(),
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
fn costs(questions: &[SetQuestion], tables: &[Table], margin: f64) -> Vec<(usize, NodeFinding)> {
    let mut tests: Vec<(usize, usize, &NodePlace, Apart)> = Vec::new();
    for (kind, table) in tables.iter().enumerate() {
        for (&question, places) in table {
            let (logs, errors) = figures(places);
            let Ok(distances) = apart(&logs, &errors, margin.ln_1p()) else {
                continue;
            };
            let with_costs = places.iter().filter(|place| place.side.is_some());
            tests.extend(
                with_costs
                    .zip(distances)
                    .map(|(place, apart)| (kind, question, place, apart)),
            );
        }
    }
    let p = benjamini_hochberg(&tests.iter().map(|(.., apart)| apart.p).collect::<Vec<_>>());
    let mut findings = Vec::new();
    for ((kind, question, place, apart), p) in tests.into_iter().zip(p) {
        if p <= MOST_WRONG {
            let headline = &questions[question].headline;
            let finding = NodeFinding {
                node: place.node,
                finding: Finding::Cost {
                    cell: headline.cell.clone(),
                    parameters: headline.parameters.clone(),
                    ratio: apart.by.exp(),
                    spread: apart.spread.exp_m1(),
                    p,
                },
                in_each_run: each_run_says_so(place, apart, margin),
            };
            findings.push((kind, finding));
        }
    }
    findings
}

/// Tells whether each run of a node alone lies beyond the margin on the same side.
fn each_run_says_so(place: &NodePlace, apart: Apart, margin: f64) -> bool {
    let Some(centre) = place.side.map(|side| side.log - apart.by) else {
        return false;
    };
    place.cells.iter().all(|cell| {
        let middle = midmean(&cell.logs).unwrap_or(centre);
        cell.logs.is_empty() || (middle - centre) * apart.by.signum() > margin.ln_1p()
    })
}

/// Nodes on which a cell came to another end than on most others.
fn outcomes(question: &SetQuestion, places: &[NodePlace]) -> Vec<NodeFinding> {
    let Some((common, count)) = commonest(places) else {
        return Vec::new();
    };
    // A node is compared with how the others ended, so it does not count among these.
    if (count as f64) < COMMON * (places.len() - 1) as f64 {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for place in places {
        let outcome = &place.worst.outcome;
        if outcome.status != common {
            findings.push(NodeFinding {
                node: place.node,
                finding: Finding::Outcome {
                    cell: question.headline.cell.clone(),
                    parameters: question.headline.parameters.clone(),
                    outcome: outcome.clone(),
                    others: common,
                    nodes: count,
                },
                in_each_run: place
                    .cells
                    .iter()
                    .all(|cell| cell.outcome.status == outcome.status),
            });
        }
    }
    findings
}

/// The outcome of most nodes, with their number.
pub(super) fn commonest(places: &[NodePlace]) -> Option<(Status, usize)> {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    for place in places {
        *counts.entry(place.worst.outcome.status).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count)
}

/// Nodes on which a CPU quota kept a cell waiting, unlike most others. The kernel counted it, so no distance is needed.
fn throttled(question: &SetQuestion, places: &[NodePlace]) -> Vec<NodeFinding> {
    let (held, free): (Vec<_>, Vec<_>) = places.iter().partition(|place| place.is_throttled());
    if (free.len() as f64) < COMMON * (places.len() - 1) as f64 {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for place in held {
        let latest = place.cells.iter().rev().find_map(|cell| cell.throttled);
        findings.push(NodeFinding {
            node: place.node,
            finding: Finding::Throttled {
                cell: question.headline.cell.clone(),
                parameters: question.headline.parameters.clone(),
                share: latest.unwrap_or_default(),
                nodes: free.len(),
            },
            in_each_run: place.cells.iter().all(|cell| cell.throttled.is_some()),
        });
    }
    findings
}
