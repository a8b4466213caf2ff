//! Many machines' runs held against each other: which kinds of node there are, which node is unlike its kind, what the kinds
//! say together. A node is the unit of inference; runs and launches are levels below it.

mod gathered;
mod kinds;
mod learn;
mod merged;
mod odd;
mod read;

use record::fleet::{FLEET_SCHEMA, Fleet};

pub use gathered::{Gathered, NodeCell, NodeRun, Question};
pub use kinds::{BY, facts};
pub use learn::{check, learn};
pub use read::{Opened, explain, gather, open, read};

use odd::Sorted;

/// Of what is called odd, the share that may be wrongly called so (Benjamini & Hochberg), over all nodes and cells.
const MOST_WRONG: f64 = 0.01;

/// Verdicts on a fleet. A node is an outlier only where it differs by more than `margin`, a share.
pub fn judge(gathered: &Gathered, by: &[String], margin: f64) -> Fleet {
    let nodes = gathered::nodes(gathered);
    let kinds = kinds::kinds(gathered, &nodes, by);
    let sorted: Vec<Sorted> = kinds.iter().map(|kind| Sorted::of(gathered, &nodes, kind)).collect();
    let odd = odd::odd(gathered, &nodes, &kinds, &sorted, margin);
    let rerun = odd.iter().filter(|n| n.confirmed != Some(true)).map(|n| n.node.clone()).collect();
    let merged = kinds.iter().zip(&sorted).map(|(kind, sorted)| {
        let apart: Vec<&str> = odd.iter().map(|n| n.node.as_str()).collect();
        merged::kind(gathered, &nodes, (kind, &kinds[0]), sorted, &apart, margin)
    });
    Fleet {
        schema: FLEET_SCHEMA,
        margin,
        nodes: nodes.len(),
        runs: gathered.runs.len(),
        kinds: merged.collect(),
        compared: merged::compared(gathered, &nodes, &kinds, &odd, margin),
        odd,
        rerun,
        unread: gathered.unread.clone(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/fleet/tests.rs"]
mod tests;
