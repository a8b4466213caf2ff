//! The command that measures outliers again.

use super::Fleet;
use std::collections::{BTreeMap, BTreeSet};

/// A line for ClusterShell that measures, on every node of the rerun list, what it was odd in. Each node names its own folder:
/// ClusterShell would replace a %h only in commands that it does not send to nodes.
pub(super) fn command(fleet: &Fleet) -> String {
    let mut what = BTreeSet::new();
    let mut set: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let again = fleet.odd.iter().filter(|node| fleet.rerun.contains(&node.node));
    for finding in again.flat_map(|node| &node.findings) {
        let (cell, parameters) = finding.cell();
        what.insert(quoted(cell));
        for (key, value) in parameters {
            set.entry(key).or_default().insert(value);
        }
    }
    let set = set.into_iter().map(|(key, values)| {
        let values: Vec<&str> = values.into_iter().collect();
        format!("--set {}", quoted(&format!("{key}={}", values.join(","))))
    });
    let run: Vec<String> = what.into_iter().chain(set).collect();
    let nodes: Vec<String> = fleet.rerun.iter().map(|node| quoted(node)).collect();
    format!("clush -w {} \"pagewise run {} --out DIR/\\$(hostname -s)-again\"", nodes.join(","), run.join(" "))
}

/// A word as a shell takes it. Names may have been written by anybody.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%_+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // Within the double quotes of the whole, so nothing is left that these would not hold.
    format!("'{}'", word.replace(['\'', '"', '`', '$', '\\', '!'], "?"))
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/fleet/rerun.rs"]
mod tests;
