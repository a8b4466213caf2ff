//! Facts kept of each run of a fleet: as little as the judging needs, because there may be ten thousand of them.

use std::collections::{BTreeMap, HashMap};

use record::fleet::{Fault, KindFacts, Unread};
use record::outcome::Status;
use stats::across::{Side, side};

/// A cell that nodes were asked for; all runs share these.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// `fault/touch@c-O3`.
    pub cell: String,
    /// The experiment.
    pub experiment: String,
    /// Its parameters, without the batch that each run chooses.
    pub parameters: BTreeMap<String, String>,
    /// The headline.
    pub phase: String,
    /// Unit of work.
    pub unit: String,
    /// True if it may be advised: an ordinary method, no floor, best possible or published job.
    pub advised: bool,
    /// The question that it is compared with.
    pub baseline: Option<usize>,
}

/// One cell of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCell {
    /// Index into the questions.
    pub question: usize,
    /// Outcome.
    pub status: Status,
    /// Why.
    pub reason: String,
    /// Logarithms of what a unit cost in each launch, in nanoseconds; none where it may not be believed.
    pub logs: Vec<f64>,
    /// CPU quota that kept it waiting; empty where none did.
    pub throttled: String,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRun {
    /// Its folder.
    pub folder: String,
    /// Its name.
    pub run: String,
    /// Name of the node.
    pub name: String,
    /// The hash of its machine-id, where it has one.
    pub machine: String,
    /// By what its kind is known; the facts that are not asked for are left out later.
    pub known_by: KindFacts,
    /// Its cells.
    pub cells: Vec<NodeCell>,
}

/// All runs that were read.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The cells of all runs.
    pub questions: Vec<Question>,
    /// The runs.
    pub runs: Vec<NodeRun>,
    /// Folders that take no part.
    pub unread: Vec<Unread>,
    known: HashMap<(String, Vec<(String, String)>), usize>,
    folders: HashMap<String, usize>,
}

impl Gathered {
    /// The index of a question, new or known.
    pub fn question(&mut self, question: Question) -> usize {
        let own = question.parameters.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        let next = self.questions.len();
        let index = *self.known.entry((question.cell.clone(), own)).or_insert(next);
        if index == next {
            self.questions.push(question);
        } else if self.questions[index].baseline.is_none() {
            self.questions[index].baseline = question.baseline;
        }
        index
    }

    /// Takes a run, unless it was read before from another folder.
    pub fn add(&mut self, run: NodeRun) {
        match self.folders.get(&run.run) {
            Some(&known) => {
                let reason = format!("the same run as {}", self.runs[known].folder);
                self.unread.push(Unread { folder: run.folder, what: Fault::Duplicate, reason });
            }
            None => {
                self.folders.insert(run.run.clone(), self.runs.len());
                self.runs.push(run);
            }
        }
    }
}

/// A node and its runs.
pub(super) struct Node {
    /// A name that no other node has.
    pub name: String,
    /// Indices into the runs.
    pub runs: Vec<usize>,
}

/// The nodes in the order of their names. Machines made from one image may share their machine-id, and machines in
/// different places their name, so a node is known by both.
pub(super) fn nodes(gathered: &Gathered) -> Vec<Node> {
    let mut found: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (index, run) in gathered.runs.iter().enumerate() {
        found.entry((&run.name, &run.machine)).or_default().push(index);
    }
    let mut named: HashMap<&str, usize> = HashMap::new();
    found.keys().for_each(|(name, _)| *named.entry(name).or_default() += 1);
    let called = |name: &str, machine: &str| match named[name] {
        1 => name.to_owned(),
        _ => format!("{name}#{}", machine.chars().take(8).collect::<String>()),
    };
    found.iter().map(|((name, machine), runs)| Node { name: called(name, machine), runs: runs.clone() }).collect()
}

impl Node {
    /// Its runs' cells of a question.
    pub fn cells<'a>(&'a self, gathered: &'a Gathered, question: usize) -> impl Iterator<Item = &'a NodeCell> {
        self.runs.iter().filter_map(move |&run| gathered.runs[run].cells.iter().find(|c| c.question == question))
    }

    /// Estimate for a question, each run counting once; `None` without figures.
    pub fn side(&self, gathered: &Gathered, question: usize) -> Option<Side> {
        let logs: Vec<Vec<f64>> =
            self.cells(gathered, question).filter(|c| !c.logs.is_empty()).map(|c| c.logs.clone()).collect();
        side(&logs).ok()
    }

    /// Its gravest outcome in a question, with the reason.
    pub fn outcome<'a>(&'a self, gathered: &'a Gathered, question: usize) -> Option<&'a NodeCell> {
        self.cells(gathered, question).max_by_key(|c| c.status)
    }
}
