//! Many machines' runs compared with each other: which kinds of node there are, which node is unlike its kind, what the kinds
//! say together. A node is the unit of inference; runs and launches are levels below it.

use crate::{machines, sets::MeasuredCells};
use anyhow::{Context, Result};
use gathered::{Table, table};
use record::fleet::{FLEET_SCHEMA, Fault, Fleet, Unread};
use record::folder::{Damaged, RunFolder, SUMMARY};
use record::{machine::environment::Environment, summary::Summary};
use std::{collections::BTreeMap, path::Path};

mod gathered;
mod kinds;
mod learn;
mod merged;
mod odd;

pub use gathered::{Gathered, NodeRun};
pub use kinds::{BY, facts};
pub use learn::{check, learn};

/// Of what is called odd, the share that may be wrongly called so (Benjamini & Hochberg), over all nodes and cells.
const MOST_WRONG: f64 = 0.01;

/// Verdicts on a fleet. A node is an outlier only where it differs by more than `margin`, a share.
pub fn judge(gathered: &Gathered, by: &[String], margin: f64) -> Fleet {
    let nodes = gathered::nodes(gathered);
    let kinds = kinds::kinds(&nodes, by);
    let tables: Vec<Table> = kinds
        .iter()
        .map(|kind| table(&nodes, &kind.nodes))
        .collect();
    let odd = odd::odd(gathered, &nodes, &kinds, &tables, margin);
    let apart: Vec<&str> = odd.iter().map(|node| node.node.as_str()).collect();
    let is_usual = |node: usize| !apart.contains(&nodes[node].name.as_str());
    let kind = |(at, table)| {
        merged::kind(
            gathered,
            &nodes,
            (&kinds[at], &kinds[0]),
            table,
            &is_usual,
            margin,
        )
    };
    let merged = tables.iter().enumerate().map(kind).collect();
    let rerun = odd
        .iter()
        .filter(|n| n.confirmed != Some(true))
        .map(|n| n.node.clone())
        .collect();
    Fleet {
        schema: FLEET_SCHEMA,
        margin,
        nodes: nodes.len(),
        runs: gathered.runs.len(),
        kinds: merged,
        compared: merged::compared(gathered, &kinds, &tables, &is_usual, margin),
        odd,
        rerun,
        unread: gathered.unread.clone(),
    }
}

/// Outliers whose facts are looked at: reading them again takes time.
const EXPLAINED: usize = 50;

/// One run folder as it was read, before it is gathered: folders may be read side by side. Its run has no cells yet.
pub struct OpenedFolder {
    folder: String,
    read: Result<(NodeRun, MeasuredCells), Fault>,
}

/// Reads one run folder: its summary if that follows from its launches, else, or with `again`, its transcripts.
pub fn open(path: &Path, again: bool) -> OpenedFolder {
    OpenedFolder {
        folder: path.display().to_string(),
        read: take(path, again),
    }
}

/// Takes a folder into what was gathered.
pub fn gather(gathered: &mut Gathered, OpenedFolder { folder, read }: OpenedFolder) {
    match read {
        Ok((run, measured)) => {
            let cells = gathered.questions.take(&measured);
            gathered.add(NodeRun {
                folder,
                cells,
                ..run
            });
        }
        Err(fault) => gathered.unread.push(Unread { folder, fault }),
    }
}

/// Reads one run folder into what was gathered.
pub fn read(gathered: &mut Gathered, path: &Path, again: bool) {
    gather(gathered, open(path, again));
}

fn take(path: &Path, again: bool) -> Result<(NodeRun, MeasuredCells), Fault> {
    let damaged = |error: anyhow::Error| Fault::Damaged {
        error: format!("{error:#}"),
    };
    let folder = opened(path).map_err(damaged)?;
    if folder.is_only_begun() {
        return Err(Fault::Begun);
    }
    // A run of another version is another fault than a damaged one.
    let foreign = |error: anyhow::Error| Fault::Foreign {
        error: format!("{error:#}"),
    };
    folder.plan().map_err(|error| {
        if error.is::<Damaged>() {
            damaged(error)
        } else {
            foreign(error)
        }
    })?;
    let environment: Environment = folder.read_sealed("environment.json").map_err(damaged)?;
    let judged: Option<Summary> = if again {
        None
    } else {
        folder.read_result(SUMMARY).ok()
    };
    let summary = judged
        .map_or_else(|| crate::replay(&folder).map(|(_, summary)| summary), Ok)
        .map_err(damaged)?;
    if let Some(seen) = summary.damage().next() {
        return Err(Fault::Damaged {
            error: seen.to_owned(),
        });
    }
    if summary.cells.iter().all(|cell| cell.per_launch.is_empty()) {
        return Err(if folder.has(SUMMARY) {
            Fault::Empty
        } else {
            Fault::NoLaunch
        });
    }
    let host = &environment.identity;
    let known = host
        .node
        .clone()
        .or_else(|| host.name.clone())
        .or_else(|| host.machine.clone());
    let measured = MeasuredCells::read(&summary).map_err(damaged)?;
    let run = NodeRun {
        folder: String::new(),
        known_by: facts(&environment, &summary.version),
        run: summary.run,
        name: known.unwrap_or_else(|| "unknown".to_owned()),
        machine: host.machine.clone().unwrap_or_default(),
        cells: Vec::new(),
    };
    Ok((run, measured))
}

fn opened(path: &Path) -> Result<RunFolder> {
    let name = path.to_str().context("its name is no text")?;
    RunFolder::open(name, Path::new("/nonexistent"))
        .ok()
        .with_context(|| "it has no plan.json, which is a run's first file")
}

/// Adds the facts in which outliers differ from an ordinary node of their kind, as far as these can be read.
pub fn explain(fleet: &mut Fleet, gathered: &Gathered) {
    let names: Vec<String> = fleet.odd.iter().map(|n| n.node.clone()).collect();
    let environment = |folder: &str| -> Option<Environment> {
        opened(Path::new(folder))
            .ok()?
            .read_sealed("environment.json")
            .ok()
    };
    let mut usual: BTreeMap<String, Option<Environment>> = BTreeMap::new();
    for node in fleet.odd.iter_mut().take(EXPLAINED) {
        let ordinary = usual.entry(node.kind.clone()).or_insert_with(|| {
            let kind = fleet.kinds.iter().find(|kind| kind.name == node.kind)?;
            let name = kind.nodes.iter().find(|name| !names.contains(name))?;
            let run = gathered::nodes(gathered)
                .into_iter()
                .find(|n| n.name == *name)?
                .runs[0];
            environment(&run.folder)
        });
        let node_facts = node.folders.last().and_then(|folder| environment(folder));
        let Some((ordinary, node_facts)) = ordinary.as_ref().zip(node_facts) else {
            continue;
        };
        let differ = machines::differences(ordinary, &node_facts).into_iter();
        node.facts = differ
            .filter(|d| d.matters && !d.field.starts_with("identity."))
            .collect();
    }
}

#[cfg(test)]
#[path = "../../tests/unit/fleet/tests.rs"]
mod tests;
