//! Nodes that are unlike their kind: in what a cell costs, or in what became of it.

use std::collections::BTreeMap;

use record::fleet::{Finding, OddNode};
use record::outcome::Status;
use stats::apart::{Apart, LEAST, apart};
use stats::multiplicity::benjamini_hochberg;

use super::MOST_WRONG;
use super::gathered::{Gathered, Node};
use super::kinds::Kind;

/// An outcome is a node's own where at least this share of the others came to another, common one.
const COMMON: f64 = 0.8;

/// The nodes of a kind by question: how each lies, and how each run of it does.
pub(super) struct Sorted {
    /// One entry a question that any node has figures for.
    pub questions: BTreeMap<usize, Vec<Lies>>,
}

/// A node in a question.
#[derive(Clone, Debug)]
pub(super) struct Lies {
    /// The node.
    pub node: usize,
    /// Its cost, as a logarithm of nanoseconds per unit.
    pub log: f64,
    /// The standard error that its launches give that.
    pub error: f64,
    /// The standard deviation of its launches; absent where no run has two.
    pub within: Option<f64>,
}

impl Sorted {
    /// The nodes of a kind.
    pub fn of(gathered: &Gathered, nodes: &[Node], kind: &Kind) -> Sorted {
        let mut questions: BTreeMap<usize, Vec<Lies>> = BTreeMap::new();
        for &node in &kind.nodes {
            for question in asked(gathered, &nodes[node]) {
                let Some(side) = nodes[node].side(gathered, question) else { continue };
                let launches = nodes[node].cells(gathered, question).map(|c| c.logs.len()).sum::<usize>();
                let within = (launches > nodes[node].runs.len())
                    .then(|| side.within * (launches as f64 / stats::location::MIDMEAN_VARIANCE).sqrt());
                let lies = Lies { node, log: side.log, error: side.within, within };
                questions.entry(question).or_default().push(lies);
            }
        }
        Sorted { questions }
    }

    /// Costs of the nodes of a question, as logarithms.
    pub fn logs(&self, question: usize) -> Vec<f64> {
        self.questions.get(&question).into_iter().flatten().map(|lies| lies.log).collect()
    }
}

/// The questions that a node was asked.
pub(super) fn asked(gathered: &Gathered, node: &Node) -> Vec<usize> {
    let mut all: Vec<usize> = node.runs.iter().flat_map(|&run| &gathered.runs[run].cells).map(|c| c.question).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// One test of one node.
struct Test {
    node: usize,
    kind: usize,
    question: usize,
    centre: f64,
    apart: Apart,
}

/// The odd nodes, the furthest first.
pub(super) fn odd(gathered: &Gathered, nodes: &[Node], kinds: &[Kind], sorted: &[Sorted], margin: f64) -> Vec<OddNode> {
    let tests = tests(sorted, margin);
    let p = benjamini_hochberg(&tests.iter().map(|t| t.apart.p).collect::<Vec<_>>());
    let mut found: BTreeMap<(usize, usize), Vec<(Finding, bool)>> = BTreeMap::new();
    for (test, p) in tests.iter().zip(p).filter(|(_, p)| *p <= MOST_WRONG) {
        let question = &gathered.questions[test.question];
        let finding = Finding::Cost {
            cell: question.cell.clone(),
            parameters: question.parameters.clone(),
            ratio: test.apart.by.exp(),
            spread: test.apart.spread.exp_m1(),
            p,
        };
        let each = each_run_says_so(gathered, &nodes[test.node], test, margin);
        found.entry((test.node, test.kind)).or_default().push((finding, each));
    }
    for (index, kind) in kinds.iter().enumerate() {
        for (node, finding, each) in outcomes(gathered, nodes, kind).into_iter().chain(throttled(gathered, nodes, kind))
        {
            found.entry((node, index)).or_default().push((finding, each));
        }
    }
    let mut all: Vec<OddNode> =
        found.into_iter().map(|((node, kind), f)| odd_node(gathered, &nodes[node], &kinds[kind], f)).collect();
    all.sort_by(|a, b| size(&b.findings[0]).total_cmp(&size(&a.findings[0])));
    all
}

fn odd_node(gathered: &Gathered, node: &Node, kind: &Kind, mut found: Vec<(Finding, bool)>) -> OddNode {
    found.sort_by(|a, b| size(&b.0).total_cmp(&size(&a.0)));
    OddNode {
        node: node.name.clone(),
        kind: kind.name.clone(),
        folders: node.runs.iter().map(|&run| gathered.runs[run].folder.clone()).collect(),
        confirmed: (node.runs.len() > 1).then(|| found.iter().any(|(_, each)| *each)),
        findings: found.into_iter().map(|(finding, _)| finding).collect(),
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

fn tests(sorted: &[Sorted], margin: f64) -> Vec<Test> {
    let mut tests = Vec::new();
    for (kind, sorted) in sorted.iter().enumerate() {
        for (&question, lies) in sorted.questions.iter().filter(|(_, lies)| lies.len() >= LEAST) {
            let logs: Vec<f64> = lies.iter().map(|l| l.log).collect();
            let errors: Vec<f64> = lies.iter().map(|l| l.error).collect();
            let Ok(found) = apart(&logs, &errors, margin.ln_1p()) else { continue };
            let of = |(lies, apart): (&Lies, Apart)| Test {
                node: lies.node,
                kind,
                question,
                centre: lies.log - apart.by,
                apart,
            };
            tests.extend(lies.iter().zip(found).map(of));
        }
    }
    tests
}

/// Tells whether each run of a node alone lies beyond the margin on the same side.
fn each_run_says_so(gathered: &Gathered, node: &Node, test: &Test, margin: f64) -> bool {
    let beyond = |logs: &Vec<f64>| {
        let middle = stats::location::midmean(logs).unwrap_or(test.centre);
        (middle - test.centre) * test.apart.by.signum() > margin.ln_1p()
    };
    node.cells(gathered, test.question).all(|cell| cell.logs.is_empty() || beyond(&cell.logs))
}

/// Cells that came to an end of their own on a node: the node, the finding, and whether each of its runs says so.
fn outcomes(gathered: &Gathered, nodes: &[Node], kind: &Kind) -> Vec<(usize, Finding, bool)> {
    let mut ends: BTreeMap<usize, Vec<(usize, Status)>> = BTreeMap::new();
    for &node in &kind.nodes {
        for question in asked(gathered, &nodes[node]) {
            if let Some(cell) = nodes[node].outcome(gathered, question) {
                ends.entry(question).or_default().push((node, cell.status));
            }
        }
    }
    let mut found = Vec::new();
    for (question, ends) in ends.iter().filter(|(_, ends)| ends.len() >= LEAST) {
        let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
        ends.iter().for_each(|(_, status)| *counts.entry(*status).or_default() += 1);
        let Some((&common, &count)) = counts.iter().max_by_key(|(_, count)| **count) else { continue };
        // What one node is told by is how the others ended, so it does not count among these.
        if (count as f64) < COMMON * (ends.len() - 1) as f64 {
            continue;
        }
        for &(node, status) in ends.iter().filter(|(_, status)| *status != common) {
            let Some(cell) = nodes[node].outcome(gathered, *question) else { continue };
            let each = nodes[node].cells(gathered, *question).all(|c| c.status == status);
            let asked = &gathered.questions[*question];
            let finding = Finding::Outcome {
                cell: asked.cell.clone(),
                parameters: asked.parameters.clone(),
                status,
                reason: cell.reason.clone(),
                others: common,
                nodes: count,
            };
            found.push((node, finding, each));
        }
    }
    found
}

/// Cells that a CPU quota kept waiting on a node, and on most others none did. It needs no distance from others' costs: the
/// kernel counted it. The node, the finding, and whether each of its runs says so.
fn throttled(gathered: &Gathered, nodes: &[Node], kind: &Kind) -> Vec<(usize, Finding, bool)> {
    let mut seen: BTreeMap<usize, Vec<(usize, &str, bool)>> = BTreeMap::new();
    for &node in &kind.nodes {
        for question in asked(gathered, &nodes[node]) {
            let cells = || nodes[node].cells(gathered, question);
            let words = cells().map(|c| c.throttled.as_str()).filter(|words| !words.is_empty()).last().unwrap_or("");
            let each = cells().all(|c| !c.throttled.is_empty());
            seen.entry(question).or_default().push((node, words, each));
        }
    }
    let mut found = Vec::new();
    for (question, seen) in seen.iter().filter(|(_, seen)| seen.len() >= LEAST) {
        let free = seen.iter().filter(|(_, words, _)| words.is_empty()).count();
        if (free as f64) < COMMON * (seen.len() - 1) as f64 {
            continue;
        }
        let asked = &gathered.questions[*question];
        found.extend(seen.iter().filter(|(_, words, _)| !words.is_empty()).map(|&(node, words, each)| {
            let (cell, parameters) = (asked.cell.clone(), asked.parameters.clone());
            (node, Finding::Throttled { cell, parameters, seen: words.to_owned(), nodes: free }, each)
        }));
    }
    found
}
