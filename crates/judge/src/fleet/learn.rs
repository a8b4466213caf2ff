//! Criteria from a fleet's own runs, and the check of one node.

use super::gathered::{Gathered, NodePlace, NodeRun, figures, nodes, table};
use super::kinds::{NodeKind, fits, kinds};
use super::{judge, odd::commonest};
use crate::sets::SetQuestion;
use record::fleet::{
    CRITERIA_SCHEMA, CellCriterion, Checked, Criteria, CriteriaKind, Missed, TIMES,
};
use record::{cell::parameter_words, outcome::Status};
use stats::apart::{LEAST, QUARTILES};
use stats::quantile::{median, quantile};
use stats::t::t_quantile;
use std::collections::{BTreeMap, BTreeSet};

/// Probability that an ordinary node fails a check.
const FALSE_ALARM: f64 = 0.001;
/// A check is shorter than the runs that were learnt from: its figures scatter this many times as much about the node's own.
const SHORTER: f64 = 2.0;
/// Degrees of freedom: nodes have heavier tails than the normal distribution, and few nodes say little of the spread.
const FREEDOM: (f64, f64) = (2.0, 20.0);

/// Accepted costs, from those that are not odd. Kinds with too few nodes are left out.
pub fn learn(gathered: &Gathered, by: &[String], margin: f64) -> Criteria {
    let odd: BTreeSet<String> = judge(gathered, by, margin)
        .odd
        .into_iter()
        .map(|n| n.node)
        .collect();
    let nodes = nodes(gathered);
    let mut learnt = Vec::new();
    for mut kind in kinds(&nodes, by) {
        kind.nodes.retain(|&n| !odd.contains(&nodes[n].name));
        if kind.nodes.len() < LEAST {
            continue;
        }
        let table = table(&nodes, &kind.nodes);
        let count = kind.nodes.len();
        let cells = table.iter().filter_map(|(&question, places)| {
            let throttled = 2 * places.iter().filter(|place| place.is_throttled()).count() > count;
            Some(CellCriterion {
                throttled,
                ..criterion(&gathered.questions.all[question], places, margin)?
            })
        });
        let cells = cells.collect();
        // Many cells, each with two limits: all of them together are broken rarely.
        let NodeKind { known_by, .. } = kind;
        learnt.push(CriteriaKind {
            known_by,
            nodes: count,
            cells,
        });
    }
    let criteria: Vec<&CellCriterion> = learnt.iter().flat_map(|kind| &kind.cells).collect();
    let what: BTreeSet<String> = criteria.iter().map(|c| c.cell.clone()).collect();
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (key, value) in criteria.iter().flat_map(|c| &c.parameters) {
        values.entry(key).or_default().insert(value);
    }
    let set = values
        .into_iter()
        .map(|(key, all)| format!("{key}={}", all.into_iter().collect::<Vec<_>>().join(",")));
    Criteria {
        schema: CRITERIA_SCHEMA,
        what: what.into_iter().collect(),
        set: set.collect(),
        kinds: learnt,
        seal: None,
    }
}

fn criterion(question: &SetQuestion, places: &[NodePlace], margin: f64) -> Option<CellCriterion> {
    let status = commonest(places)?.0;
    let limits = (status == Status::Ok)
        .then(|| limits(places, margin))
        .flatten();
    // Nodes whose few launches lie far apart give limits that no node can exceed, and that are no times.
    let limits = limits.filter(|(middle, half)| {
        [middle - half, middle + half]
            .iter()
            .all(|log| TIMES.contains(&log.exp()))
    });
    Some(CellCriterion {
        cell: question.headline.cell.clone(),
        parameters: question.headline.parameters.clone(),
        status,
        per_unit_ns: limits.map(|(middle, _)| middle.exp()),
        low_ns: limits.map(|(middle, half)| (middle - half).exp()),
        high_ns: limits.map(|(middle, half)| (middle + half).exp()),
        throttled: false,
    })
}

/// The median node's logarithm, and a node's largest distance: the margin, and the scatter of nodes and short checks.
fn limits(places: &[NodePlace], margin: f64) -> Option<(f64, f64)> {
    let (mut logs, mut errors) = figures(places);
    if logs.len() < LEAST {
        return None;
    }
    let between = (quantile(&mut logs, 0.75)? - quantile(&mut logs, 0.25)?) / QUARTILES;
    let short = SHORTER * median(&mut errors)?;
    let freedom = (0.37 * (logs.len() - 1) as f64).clamp(FREEDOM.0, FREEDOM.1);
    let half = margin.ln_1p() + t_quantile(1.0 - FALSE_ALARM / 2.0, freedom) * between.hypot(short);
    Some((median(&mut logs)?, half))
}

/// One run compared with what was learnt.
pub fn check(criteria: &Criteria, gathered: &Gathered, run: &NodeRun) -> Checked {
    let Some(kind) = criteria
        .kinds
        .iter()
        .find(|kind| fits(&kind.known_by, &run.known_by))
    else {
        return Checked {
            nodes: None,
            cells: 0,
            missed: Vec::new(),
        };
    };
    let mut missed = Vec::new();
    for criterion in &kind.cells {
        let named = || {
            format!(
                "{} {}",
                criterion.cell,
                parameter_words(&criterion.parameters, None)
            )
            .trim()
            .to_owned()
        };
        let cell = run.cells.iter().find(|cell| {
            let question = &gathered.questions.all[cell.question];
            question.headline.cell == criterion.cell
                && question.headline.parameters == criterion.parameters
        });
        let Some(cell) = cell.filter(|c| c.outcome.status == criterion.status) else {
            missed.push(Missed::Outcome {
                cell: named(),
                outcome: cell.map(|c| c.outcome.clone()),
            });
            continue;
        };
        if let Some(share) = cell.throttled.filter(|_| !criterion.throttled) {
            missed.push(Missed::Throttled {
                cell: named(),
                share,
            });
            continue;
        }
        let limits = criterion
            .per_unit_ns
            .zip(criterion.low_ns.zip(criterion.high_ns));
        let (Some((middle, (low, high))), Ok(log)) = (limits, stats::quantile::midmean(&cell.logs))
        else {
            continue;
        };
        let limit = if log.exp() > high { high } else { low };
        if !(low..=high).contains(&log.exp()) {
            missed.push(Missed::Cost {
                cell: named(),
                ratio: log.exp() / middle,
                limit: limit / middle,
            });
        }
    }
    Checked {
        nodes: Some(kind.nodes),
        cells: kind.cells.len(),
        missed,
    }
}
