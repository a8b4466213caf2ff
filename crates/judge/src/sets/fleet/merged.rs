//! Pooled nodes of a machine group, and groups compared with each other.

use super::gathered::{Gathered, Node, NodePlace, Table, figures};
use super::kinds::NodeKind;
use crate::contrast::verdicts::hold_among_all;
use crate::sets::machines::unlike;
use crate::sets::{Costs, SetQuestion, pairs};
use record::fleet::{KindCell, KindMethod, KindsCompared};
use record::{across::ComparedCell, summary::Contrast};
use stats::apart::{LEAST, QUARTILES};
use stats::quantile::{median, quantile};
use stats::{across::LEAST_RUNS, interval::CONFIDENCE, t::mean_and_deviation};
use std::collections::BTreeMap;

/// A kind with its figures; nodes that are not usual have no say in advice.
pub(super) fn kind(
    gathered: &Gathered,
    nodes: &[Node],
    (kind, first): (&NodeKind, &NodeKind),
    table: &Table,
    is_usual: &impl Fn(usize) -> bool,
    margin: f64,
) -> record::fleet::MachineGroup {
    record::fleet::MachineGroup {
        name: kind.name.clone(),
        facts: kind.facts(),
        nodes: kind.nodes.iter().map(|&n| nodes[n].name.clone()).collect(),
        too_few: kind.nodes.len() < LEAST,
        differences: unlike(&first.facts(), &kind.facts()),
        cells: table
            .iter()
            .filter_map(|(&q, places)| cell(&gathered.questions.all[q], places))
            .collect(),
        methods: methods(&gathered.questions.all, table, is_usual, margin),
    }
}

fn cell(question: &SetQuestion, places: &[NodePlace]) -> Option<KindCell> {
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    places.iter().for_each(|place| {
        *outcomes
            .entry(place.worst.outcome.status.word().to_owned())
            .or_default() += 1
    });
    let mut logs = figures(places).0;
    let nodes = logs.len();
    let mut within: Vec<f64> = places.iter().filter_map(|place| place.within).collect();
    let mut at = |p: f64| quantile(&mut logs, p);
    let between = at(0.75)? - at(0.25)?;
    Some(KindCell {
        headline: question.headline.clone(),
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
fn methods(
    questions: &[SetQuestion],
    table: &Table,
    is_usual: &impl Fn(usize) -> bool,
    margin: f64,
) -> Vec<KindMethod> {
    let logs = |question: usize| -> BTreeMap<usize, f64> {
        let places = table
            .get(&question)
            .into_iter()
            .flatten()
            .filter(|place| is_usual(place.node));
        places
            .filter_map(|place| Some((place.node, place.side?.log)))
            .collect()
    };
    let mut methods = Vec::new();
    for &question in table.keys() {
        let question_asked = &questions[question];
        let Some(baseline) = question_asked
            .baseline
            .filter(|b| question_asked.advised && *b != question)
        else {
            continue;
        };
        let base = logs(baseline);
        let logs: Vec<f64> = logs(question)
            .iter()
            .filter_map(|(node, log)| Some(log - base.get(node)?))
            .collect();
        let Some((mean, deviation)) =
            mean_and_deviation(&logs).filter(|_| logs.len() >= LEAST_RUNS)
        else {
            continue;
        };
        let error = (deviation / (logs.len() as f64).sqrt()).max(1e-9);
        let estimate = stats::estimate::Ratio::of_log(
            mean,
            error,
            (logs.len() - 1) as f64,
            logs.len(),
            CONFIDENCE,
        );
        let Ok(estimate) = estimate else { continue };
        methods.push(KindMethod {
            cell: question_asked.headline.cell.clone(),
            parameters: question_asked.headline.parameters.clone(),
            baseline: questions[baseline].headline.cell.clone(),
            contrast: Contrast::alone(Some(estimate), margin),
        });
    }
    hold_among_all(
        methods.iter_mut().map(|method| &mut method.contrast),
        margin,
    );
    methods
}

/// The first kind against each other kind that has enough nodes.
pub(super) fn compared(
    gathered: &Gathered,
    kinds: &[NodeKind],
    tables: &[Table],
    is_usual: &impl Fn(usize) -> bool,
    margin: f64,
) -> Vec<KindsCompared> {
    let costs = |table: &Table| -> Costs {
        let all = |place: &NodePlace| {
            place
                .cells
                .iter()
                .flat_map(|cell| cell.logs.clone())
                .collect::<Vec<f64>>()
        };
        let usual = |places: &Vec<NodePlace>| {
            places
                .iter()
                .filter(|p| is_usual(p.node))
                .map(all)
                .filter(|logs| !logs.is_empty())
                .collect()
        };
        table
            .iter()
            .map(|(&question, places)| (question, usual(places)))
            .collect()
    };
    let others = (1..kinds.len()).filter(|&at| kinds[at].nodes.len() >= LEAST_RUNS);
    let comparison = |at: usize| {
        let cells = pairs(
            &gathered.questions.all,
            &costs(&tables[0]),
            &costs(&tables[at]),
            margin,
            None,
        );
        let mut cells: Vec<ComparedCell> = cells
            .into_values()
            .filter(|cell| cell.contrast.ratio.is_some())
            .collect();
        // A figure for each of ten thousand nodes in each cell would be a page that nobody opens.
        cells
            .iter_mut()
            .flat_map(|cell| [&mut cell.a, &mut cell.b])
            .for_each(|side| side.per_run_ns.clear());
        KindsCompared {
            a: kinds[0].name.clone(),
            b: kinds[at].name.clone(),
            cells,
        }
    };
    others
        .map(comparison)
        .filter(|compared| !compared.cells.is_empty())
        .collect()
}
