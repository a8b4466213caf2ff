//! Pooled nodes of a machine group, and groups compared with each other.

use super::gathered::{Gathered, Node, NodePlace, Table, figures};
use super::kinds::NodeKind;
use crate::contrast::verdicts::hold_among_all;
use crate::sets::machines::unlike;
use crate::sets::{Costs, SetQuestion, pairs};
use record::outliers::{KindCell, KindMethod, KindsCompared, MachineGroup};
use record::{across::ComparedCell, summary::Contrast};
use stats::apart::{LEAST, QUARTILES};
use stats::estimate::Ratio;
use stats::quantile::{median, quantile};
use stats::{across::LEAST_RUNS, interval::CONFIDENCE, t::mean_and_deviation};
use std::collections::BTreeMap;

/// Machines whose outliers are known.
pub(super) struct Merging<'a> {
    pub gathered: &'a Gathered,
    pub nodes: &'a [Node<'a>],
    pub kinds: &'a [NodeKind],
    /// The nodes of each kind by question.
    pub tables: &'a [Table<'a>],
    /// Names of the outliers, which have no say in advice.
    pub odd: Vec<&'a str>,
    pub margin: f64,
}

impl Merging<'_> {
    fn is_usual(&self, node: usize) -> bool {
        !self.odd.contains(&self.nodes[node].name.as_str())
    }

    /// The kinds with their figures.
    pub fn groups(&self) -> Vec<MachineGroup> {
        let mut groups = Vec::new();
        for (kind, table) in self.kinds.iter().zip(self.tables) {
            groups.push(MachineGroup {
                name: kind.name.clone(),
                facts: kind.facts(),
                nodes: kind
                    .nodes
                    .iter()
                    .map(|&node| self.nodes[node].name.clone())
                    .collect(),
                too_few: kind.nodes.len() < LEAST,
                differences: unlike(&self.kinds[0].facts(), &kind.facts()),
                cells: table
                    .iter()
                    .filter_map(|(&question, places)| cell(self.question(question), places))
                    .collect(),
                methods: self.methods(table),
            });
        }
        groups
    }

    fn question(&self, index: usize) -> &SetQuestion {
        &self.gathered.questions.list[index]
    }

    /// Each method against its baseline: the ratio on each node, and the interval over nodes.
    fn methods(&self, table: &Table) -> Vec<KindMethod> {
        let mut methods = Vec::new();
        for &index in table.keys() {
            let question = self.question(index);
            let Some(baseline) = question
                .baseline
                .filter(|baseline| question.advised && *baseline != index)
            else {
                continue;
            };
            let Some(ratio) = over_nodes(
                &self.usual_logs(table, baseline),
                &self.usual_logs(table, index),
            ) else {
                continue;
            };
            methods.push(KindMethod {
                cell: question.headline.cell.clone(),
                parameters: question.headline.parameters.clone(),
                baseline: self.question(baseline).headline.cell.clone(),
                contrast: Contrast::alone(Some(ratio), self.margin),
            });
        }
        hold_among_all(
            methods.iter_mut().map(|method| &mut method.contrast),
            self.margin,
        );
        methods
    }

    /// The cost on each usual node as a logarithm.
    fn usual_logs(&self, table: &Table, question: usize) -> BTreeMap<usize, f64> {
        let mut logs = BTreeMap::new();
        for place in table.get(&question).into_iter().flatten() {
            if let Some(side) = place.side.filter(|_| self.is_usual(place.node)) {
                logs.insert(place.node, side.log);
            }
        }
        logs
    }

    /// The first kind against each other kind that has enough nodes.
    pub fn compared(&self) -> Vec<KindsCompared> {
        let mut compared = Vec::new();
        for (kind, table) in self.kinds.iter().zip(self.tables).skip(1) {
            if kind.nodes.len() < LEAST_RUNS {
                continue;
            }
            let cells = pairs(
                &self.gathered.questions.list,
                &self.costs(&self.tables[0]),
                &self.costs(table),
                self.margin,
                None,
            );
            let mut cells: Vec<ComparedCell> = cells
                .into_values()
                .filter(|cell| cell.contrast.ratio.is_some())
                .collect();
            if cells.is_empty() {
                continue;
            }
            // A figure for each of ten thousand nodes in each cell would be a page that nobody opens.
            for cell in &mut cells {
                cell.a.per_run_ns.clear();
                cell.b.per_run_ns.clear();
            }
            compared.push(KindsCompared {
                a: self.kinds[0].name.clone(),
                b: kind.name.clone(),
                cells,
            });
        }
        compared
    }

    /// The launches of each usual node, by question.
    fn costs(&self, table: &Table) -> Costs {
        let mut costs = Costs::new();
        for (&question, places) in table {
            let logs = places
                .iter()
                .filter(|place| self.is_usual(place.node))
                .map(|place| {
                    place
                        .cells
                        .iter()
                        .flat_map(|cell| cell.logs.clone())
                        .collect()
                })
                .filter(|logs: &Vec<f64>| !logs.is_empty());
            costs.insert(question, logs.collect());
        }
        costs
    }
}

/// The ratio of a method to its baseline over the nodes that have both; none where they are few.
fn over_nodes(base: &BTreeMap<usize, f64>, method: &BTreeMap<usize, f64>) -> Option<Ratio> {
    let logs: Vec<f64> = method
        .iter()
        .filter_map(|(node, log)| Some(log - base.get(node)?))
        .collect();
    let (mean, deviation) = mean_and_deviation(&logs).filter(|_| logs.len() >= LEAST_RUNS)?;
    let error = (deviation / (logs.len() as f64).sqrt()).max(1e-9);
    let freedom = (logs.len() - 1) as f64;
    Ratio::of_log(mean, error, freedom, logs.len(), CONFIDENCE).ok()
}

fn cell(question: &SetQuestion, places: &[NodePlace]) -> Option<KindCell> {
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for place in places {
        let word = place.worst.outcome.status.word().to_owned();
        *outcomes.entry(word).or_default() += 1;
    }
    let mut logs = figures(places).0;
    let nodes = logs.len();
    let mut within: Vec<f64> = places.iter().filter_map(|place| place.within).collect();
    let between = quantile(&mut logs, 0.75)? - quantile(&mut logs, 0.25)?;
    Some(KindCell {
        headline: question.headline.clone(),
        nodes,
        per_unit_ns: quantile(&mut logs, 0.5)?.exp(),
        low_ns: quantile(&mut logs, 0.05)?.exp(),
        high_ns: quantile(&mut logs, 0.95)?.exp(),
        between_nodes: (nodes >= LEAST).then(|| (between / QUARTILES).exp_m1()),
        within_nodes: median(&mut within).map(f64::exp_m1),
        outcomes,
    })
}
