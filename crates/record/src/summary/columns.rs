//! Launches of a cell as they are written down: a column a value instead of a row a launch, whose names would take most of the
//! room. Rows, as they were written before, are read as well.

use super::LaunchValues;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::collections::{BTreeMap, BTreeSet};

/// Entry i of every column is of the same launch.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct LaunchColumns {
    launch: Vec<usize>,
    block: Vec<i32>,
    rounds: Vec<usize>,
    /// Median wall time over a launch's rounds, in nanoseconds, by phase or total; null where a launch has none.
    wall_ns: BTreeMap<String, Vec<Option<f64>>>,
    /// Median CPU time over a launch's rounds, in nanoseconds, by phase or total; null where a launch has none.
    cpu_ns: BTreeMap<String, Vec<Option<f64>>>,
    /// Quantiles of a launch's single trips, in nanoseconds; left out where none were recorded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tail_ns: BTreeMap<String, Vec<Option<f64>>>,
}

type Values = fn(&LaunchValues) -> &BTreeMap<String, f64>;

fn columns(launches: &[LaunchValues], values: Values) -> BTreeMap<String, Vec<Option<f64>>> {
    let names: BTreeSet<&String> = launches.iter().flat_map(|launch| values(launch).keys()).collect();
    let column = |name: &String| launches.iter().map(|launch| values(launch).get(name).copied()).collect();
    names.into_iter().map(|name| (name.clone(), column(name))).collect()
}

fn row(columns: &BTreeMap<String, Vec<Option<f64>>>, number: usize) -> BTreeMap<String, f64> {
    columns.iter().filter_map(|(name, column)| Some((name.clone(), column[number]?))).collect()
}

/// For serde: the launches as columns.
pub fn serialize<S: Serializer>(launches: &[LaunchValues], serializer: S) -> Result<S::Ok, S::Error> {
    let columns = LaunchColumns {
        launch: launches.iter().map(|l| l.launch).collect(),
        block: launches.iter().map(|l| l.block).collect(),
        rounds: launches.iter().map(|l| l.rounds).collect(),
        wall_ns: columns(launches, |l| &l.wall_ns),
        cpu_ns: columns(launches, |l| &l.cpu_ns),
        tail_ns: columns(launches, |l| &l.tail_ns),
    };
    columns.serialize(serializer)
}

/// For serde: the launches from columns, which must be of one length, or from rows.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<LaunchValues>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Columns(LaunchColumns),
        Rows(Vec<LaunchValues>),
    }
    let columns = match Written::deserialize(deserializer)? {
        Written::Columns(columns) => columns,
        Written::Rows(rows) => return Ok(rows),
    };
    let LaunchColumns { launch, block, rounds, wall_ns, cpu_ns, tail_ns } = columns;
    let lengths = [block.len(), rounds.len()].into_iter();
    if lengths
        .chain(wall_ns.values().chain(cpu_ns.values()).chain(tail_ns.values()).map(Vec::len))
        .any(|length| length != launch.len())
    {
        return Err(D::Error::custom("columns of launches differ in length"));
    }
    let values = |number: usize| LaunchValues {
        launch: launch[number],
        block: block[number],
        rounds: rounds[number],
        wall_ns: row(&wall_ns, number),
        cpu_ns: row(&cpu_ns, number),
        tail_ns: row(&tail_ns, number),
    };
    Ok((0..launch.len()).map(values).collect())
}

#[cfg(test)]
#[path = "../../tests/unit/summary/columns.rs"]
mod tests;
