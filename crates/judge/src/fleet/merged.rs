//! Pooled nodes of a machine group, and groups compared with each other.

use std::collections::BTreeMap;

use record::across::{ComparedCell, FactDifference, SideCost};
use record::fleet::{KindCell, KindMethod, KindsCompared, OddNode};
use record::summary::{Estimate, Verdict};
use stats::across::{LEAST_RUNS, Side, ratio, side};
use stats::apart::LEAST;
use stats::interval::CONFIDENCE;
use stats::quantile::{median, quantile};
use stats::t::mean_and_deviation;
use stats::verdicts::verdicts;

use super::gathered::{Gathered, Node};
use super::kinds::Kind;
use super::odd::{Sorted, asked};

/// The quartiles' distance in standard deviations of a normal distribution.
const QUARTILES: f64 = 1.349;

/// A kind with its figures; `apart` names the odd nodes, which have no say in advice.
pub(super) fn kind(
    gathered: &Gathered,
    nodes: &[Node],
    (kind, first): (&Kind, &Kind),
    sorted: &Sorted,
    apart: &[&str],
    margin: f64,
) -> record::fleet::Kind {
    let mut outcomes: BTreeMap<usize, BTreeMap<String, usize>> = BTreeMap::new();
    for &node in &kind.nodes {
        for question in asked(gathered, &nodes[node]) {
            if let Some(cell) = nodes[node].outcome(gathered, question) {
                *outcomes.entry(question).or_default().entry(cell.status.word().to_owned()).or_default() += 1;
            }
        }
    }
    let cell = |(question, outcomes)| cell(gathered, sorted, question, outcomes);
    record::fleet::Kind {
        name: kind.name.clone(),
        facts: kind.words(),
        nodes: kind.nodes.iter().map(|&n| nodes[n].name.clone()).collect(),
        too_few: kind.nodes.len() < LEAST,
        differences: differences(first, kind),
        cells: outcomes.into_iter().filter_map(cell).collect(),
        methods: methods(gathered, nodes, sorted, apart, margin),
    }
}

fn differences(first: &Kind, kind: &Kind) -> Vec<FactDifference> {
    let (a, b) = (first.words(), kind.words());
    let of = |name: &String| FactDifference {
        field: name.clone(),
        a: a.get(name).cloned().unwrap_or_else(|| "unknown".to_owned()),
        b: b.get(name).cloned().unwrap_or_else(|| "unknown".to_owned()),
        matters: true,
        expected: false,
    };
    a.keys().map(of).filter(|d| d.a != d.b).collect()
}

fn cell(gathered: &Gathered, sorted: &Sorted, question: usize, outcomes: BTreeMap<String, usize>) -> Option<KindCell> {
    let asked = &gathered.questions[question];
    let mut logs = sorted.logs(question);
    let nodes = logs.len();
    let mut within: Vec<f64> = sorted.questions.get(&question)?.iter().filter_map(|l| l.within).collect();
    let mut at = |p: f64| quantile(&mut logs, p);
    let between = at(0.75)? - at(0.25)?;
    Some(KindCell {
        cell: asked.cell.clone(),
        experiment: asked.experiment.clone(),
        parameters: asked.parameters.clone(),
        phase: asked.phase.clone(),
        unit: asked.unit.clone(),
        nodes,
        per_unit_ns: at(0.5)?.exp(),
        low_ns: at(0.05)?.exp(),
        high_ns: at(0.95)?.exp(),
        between_nodes: (nodes >= LEAST).then(|| (between / QUARTILES).exp_m1()),
        within_nodes: median(&mut within).map(f64::exp_m1),
        outcomes,
    })
}

/// Each method against its baseline: the ratio on each node, and the interval over nodes.
fn methods(gathered: &Gathered, nodes: &[Node], sorted: &Sorted, apart: &[&str], margin: f64) -> Vec<KindMethod> {
    let mut found = Vec::new();
    let mut estimates = Vec::new();
    for (&question, lies) in &sorted.questions {
        let asked = &gathered.questions[question];
        let Some(baseline) = asked.baseline.filter(|b| asked.advised && *b != question) else { continue };
        let base: BTreeMap<usize, f64> =
            sorted.questions.get(&baseline).into_iter().flatten().map(|l| (l.node, l.log)).collect();
        let usual = lies.iter().filter(|l| !apart.contains(&nodes[l.node].name.as_str()));
        let logs: Vec<f64> = usual.filter_map(|l| Some(l.log - base.get(&l.node)?)).collect();
        let Some((mean, deviation)) = mean_and_deviation(&logs).filter(|_| logs.len() >= LEAST_RUNS) else { continue };
        let error = (deviation / (logs.len() as f64).sqrt()).max(1e-9);
        let estimate = stats::estimate::Estimate::of_log(mean, error, (logs.len() - 1) as f64, logs.len(), CONFIDENCE);
        let Ok(estimate) = estimate else { continue };
        found.push(KindMethod {
            cell: asked.cell.clone(),
            parameters: asked.parameters.clone(),
            baseline: gathered.questions[baseline].cell.clone(),
            ratio: stored(&estimate),
            verdict: Verdict::from_interval(estimate.low, estimate.high, margin),
            holds_among_all: false,
        });
        estimates.push((estimate, margin));
    }
    for (method, word) in found.iter_mut().zip(verdicts(&estimates, CONFIDENCE)) {
        method.holds_among_all = word.verdict == word.alone;
    }
    found
}

fn stored(e: &stats::estimate::Estimate) -> Estimate {
    Estimate { ratio: e.ratio, low: e.low, high: e.high, level: e.confidence, launches: e.n, moved: None }
}

/// The first kind against each other kind that has enough nodes.
pub(super) fn compared(
    gathered: &Gathered,
    nodes: &[Node],
    kinds: &[Kind],
    odd: &[OddNode],
    margin: f64,
) -> Vec<KindsCompared> {
    let apart: Vec<&str> = odd.iter().map(|n| n.node.as_str()).collect();
    let sides = |kind: &Kind| -> BTreeMap<usize, (Side, usize)> {
        let mut runs: BTreeMap<usize, Vec<Vec<f64>>> = BTreeMap::new();
        for node in kind.nodes.iter().map(|&n| &nodes[n]).filter(|n| !apart.contains(&n.name.as_str())) {
            for question in asked(gathered, node) {
                let logs: Vec<f64> = node.cells(gathered, question).flat_map(|c| c.logs.clone()).collect();
                runs.entry(question).or_default().extend((!logs.is_empty()).then_some(logs));
            }
        }
        let launches = |runs: &Vec<Vec<f64>>| runs.iter().map(Vec::len).sum();
        runs.iter().filter_map(|(&q, runs)| Some((q, (side(runs).ok()?, launches(runs))))).collect()
    };
    let Some((first, others)) = kinds.split_first() else { return Vec::new() };
    let a = sides(first);
    let of = |kind: &Kind| KindsCompared {
        a: first.name.clone(),
        b: kind.name.clone(),
        cells: pairs(gathered, &a, &sides(kind), margin),
    };
    let all = others.iter().filter(|kind| kind.nodes.len() >= LEAST_RUNS).map(of);
    all.filter(|compared| !compared.cells.is_empty()).collect()
}

fn pairs(
    gathered: &Gathered,
    a: &BTreeMap<usize, (Side, usize)>,
    b: &BTreeMap<usize, (Side, usize)>,
    margin: f64,
) -> Vec<ComparedCell> {
    let mut cells = Vec::new();
    let mut estimates = Vec::new();
    for (question, of_a) in a {
        let Some(of_b) = b.get(question) else { continue };
        let Ok(estimate) = ratio(&of_a.0, &of_b.0, CONFIDENCE) else { continue };
        let asked = &gathered.questions[*question];
        cells.push(ComparedCell {
            cell: asked.cell.clone(),
            experiment: asked.experiment.clone(),
            parameters: asked.parameters.clone(),
            phase: asked.phase.clone(),
            unit: asked.unit.clone(),
            a: cost(of_a),
            b: cost(of_b),
            ratio: estimate.ratio,
            estimate: Some(stored(&estimate)),
            verdict: Verdict::from_interval(estimate.low, estimate.high, margin),
            holds_among_all: false,
            gate: None,
        });
        estimates.push((estimate, margin));
    }
    for (cell, word) in cells.iter_mut().zip(verdicts(&estimates, CONFIDENCE)) {
        cell.holds_among_all = word.verdict == word.alone;
    }
    cells
}

fn cost((side, launches): &(Side, usize)) -> SideCost {
    SideCost {
        per_unit_ns: side.log.exp(),
        runs: side.runs,
        launches: *launches,
        between_runs: side.between.map(f64::exp_m1),
        per_run_ns: Vec::new(),
    }
}
