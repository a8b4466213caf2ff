//! Many machines' runs compared with each other: which kinds of node there are, which node is unlike its kind, what the kinds
//! say together. A node is the unit of inference; runs and launches are levels below it.

mod gathered;
mod kinds;
mod learn;
mod merged;
mod odd;
mod read;

use record::fleet::{FLEET_SCHEMA, Fleet};

pub use gathered::{Gathered, NodeRun};
pub use kinds::{BY, facts};
pub use learn::{check, learn};
pub use read::{OpenedFolder, explain, gather, open, read};

use gathered::{Table, table};

/// Of what is called odd, the share that may be wrongly called so (Benjamini & Hochberg), over all nodes and cells.
const MOST_WRONG: f64 = 0.01;

/// Verdicts on a fleet. A node is an outlier only where it differs by more than `margin`, a share.
pub fn judge(gathered: &Gathered, by: &[String], margin: f64) -> Fleet {
    let nodes = gathered::nodes(gathered);
    let kinds = kinds::kinds(&nodes, by);
    let tables: Vec<Table> = kinds.iter().map(|kind| table(&nodes, &kind.nodes)).collect();
    let odd = odd::odd(gathered, &nodes, &kinds, &tables, margin);
    let apart: Vec<&str> = odd.iter().map(|node| node.node.as_str()).collect();
    let is_usual = |node: usize| !apart.contains(&nodes[node].name.as_str());
    let kind = |(at, table)| merged::kind(gathered, &nodes, (&kinds[at], &kinds[0]), table, &is_usual, margin);
    let merged = tables.iter().enumerate().map(kind).collect();
    let rerun = odd.iter().filter(|n| n.confirmed != Some(true)).map(|n| n.node.clone()).collect();
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

#[cfg(test)]
#[path = "../../tests/unit/fleet/tests.rs"]
mod tests;
