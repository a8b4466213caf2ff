//! Facts kept of each run: as little as the judging needs, because there may be ten thousand of them.

use super::HOST;
use crate::sets::{RunCell, SetQuestions, by_question, side_of};
use record::outliers::{Fault, KindFacts, Unread};
use stats::across::MeasuredSide;
use std::collections::{BTreeMap, HashMap};

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRun {
    pub folder: String,
    pub run: String,
    pub name: String,
    /// The hash of its machine-id, where it has one.
    pub machine: String,
    /// Facts by which its kind is known; those that are not asked for are left out later.
    pub known_by: KindFacts,
    pub cells: Vec<RunCell>,
}

/// All runs that were read.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    pub questions: SetQuestions,
    pub runs: Vec<NodeRun>,
    pub unread: Vec<Unread>,
    folders: HashMap<String, usize>,
}

impl Gathered {
    /// Takes a run, unless it was read before from another folder.
    pub fn add(&mut self, run: NodeRun) {
        match self.folders.get(&run.run) {
            Some(&known) => {
                let fault = Fault::Duplicate {
                    known: self.runs[known].folder.clone(),
                };
                self.unread.push(Unread {
                    folder: run.folder,
                    fault,
                });
            }
            None => {
                self.folders.insert(run.run.clone(), self.runs.len());
                self.runs.push(run);
            }
        }
    }

    /// The same runs, each as a node of its own that knows its host.
    pub(super) fn by_run(&self) -> Gathered {
        let mut by_run = self.clone();
        for run in &mut by_run.runs {
            let host = std::mem::replace(&mut run.name, run.folder.clone());
            run.known_by.facts.insert(HOST.to_owned(), host);
            run.machine.clear();
        }
        by_run
    }
}

pub(super) struct Node<'a> {
    pub name: String,
    pub runs: Vec<&'a NodeRun>,
    cells: BTreeMap<usize, Vec<&'a RunCell>>,
}

/// The nodes in the order of their names. Machines made from one image may share their machine-id, and machines in
/// different places their name, so a node is known by both.
pub(super) fn nodes(gathered: &Gathered) -> Vec<Node<'_>> {
    let mut by_name: BTreeMap<(&str, &str), Vec<&NodeRun>> = BTreeMap::new();
    for run in &gathered.runs {
        by_name
            .entry((&run.name, &run.machine))
            .or_default()
            .push(run);
    }
    let mut machines: HashMap<&str, usize> = HashMap::new();
    for (name, _) in by_name.keys() {
        *machines.entry(name).or_default() += 1;
    }
    let mut nodes = Vec::new();
    for ((name, machine), runs) in by_name {
        let cells = by_question(runs.iter().map(|run| &run.cells));
        nodes.push(Node {
            name: match machines[name] {
                1 => name.to_owned(),
                _ => format!("{name}#{}", machine.chars().take(8).collect::<String>()),
            },
            runs,
            cells,
        });
    }
    nodes
}

pub(super) struct NodePlace<'a> {
    /// Index into the nodes.
    pub node: usize,
    pub cells: &'a [&'a RunCell],
    pub worst: &'a RunCell,
    /// Its cost, each run counting once; `None` without figures.
    pub side: Option<MeasuredSide>,
    /// Standard deviation of its launches; `None` where no run has two.
    pub within: Option<f64>,
}

impl NodePlace<'_> {
    /// True if a CPU quota kept it waiting.
    pub fn is_throttled(&self) -> bool {
        self.cells.iter().any(|cell| cell.throttled.is_some())
    }
}

/// The nodes of a kind by question.
pub(super) type Table<'a> = BTreeMap<usize, Vec<NodePlace<'a>>>;

pub(super) fn table<'a>(nodes: &'a [Node<'a>], members: &[usize]) -> Table<'a> {
    let mut table = Table::new();
    for &node in members {
        for (&question, cells) in &nodes[node].cells {
            let Some(worst) = cells.iter().max_by_key(|cell| cell.outcome.status) else {
                continue;
            };
            let logs: Vec<Vec<f64>> = cells
                .iter()
                .map(|c| c.logs.clone())
                .filter(|logs| !logs.is_empty())
                .collect();
            let (side, launches) = (side_of(&logs), logs.iter().map(Vec::len).sum::<usize>());
            let scale = (launches as f64 / stats::quantile::MIDMEAN_VARIANCE).sqrt();
            let within = side
                .filter(|_| launches > nodes[node].runs.len())
                .map(|side| side.within * scale);
            table.entry(question).or_default().push(NodePlace {
                node,
                cells,
                worst,
                side,
                within,
            });
        }
    }
    table
}

/// Costs of nodes in a question as logarithms, with the standard error that their launches give each.
pub(super) fn figures(places: &[NodePlace]) -> (Vec<f64>, Vec<f64>) {
    places
        .iter()
        .filter_map(|place| place.side)
        .map(|side| (side.log, side.within))
        .unzip()
}
