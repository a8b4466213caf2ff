//! Launches of a cell as they are written down: a column a value instead of a row a launch, whose names would take most of the
//! room. Rows, as they were written before, are read as well.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::LaunchValues;

/// Entry i of every column is of the same launch.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct LaunchColumns {
    /// Numbers of the launches, in order.
    launch: Vec<usize>,
    /// Replicates; cells of the same block are paired.
    block: Vec<i32>,
    /// Measured rounds.
    rounds: Vec<usize>,
    /// Median wall time over a launch's rounds, in nanoseconds, by phase or total; null where a launch has none.
    wall_ns: BTreeMap<String, Vec<Option<f64>>>,
    /// Median CPU time over a launch's rounds, in nanoseconds, by phase or total; null where a launch has none.
    cpu_ns: BTreeMap<String, Vec<Option<f64>>>,
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
    let LaunchColumns { launch, block, rounds, wall_ns, cpu_ns } = columns;
    let lengths = [block.len(), rounds.len()].into_iter();
    if lengths.chain(wall_ns.values().chain(cpu_ns.values()).map(Vec::len)).any(|length| length != launch.len()) {
        return Err(D::Error::custom("columns of launches differ in length"));
    }
    let one = |number: usize| LaunchValues {
        launch: launch[number],
        block: block[number],
        rounds: rounds[number],
        wall_ns: row(&wall_ns, number),
        cpu_ns: row(&cpu_ns, number),
    };
    Ok((0..launch.len()).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Cell {
        #[serde(with = "super")]
        per_launch: Vec<LaunchValues>,
    }

    fn cell() -> Cell {
        let values = |pairs: &[(&str, f64)]| pairs.iter().map(|(name, ns)| ((*name).to_owned(), *ns)).collect();
        let launch = |launch, wall: &[(&str, f64)]| LaunchValues {
            launch,
            block: launch as i32 - 1,
            rounds: 3,
            wall_ns: values(wall),
            cpu_ns: values(&[("read", 7.0)]),
        };
        Cell { per_launch: vec![launch(2, &[("open", 1.5), ("read", 8.0)]), launch(5, &[("read", 9.25)])] }
    }

    #[test]
    fn launches_come_back_from_columns_and_from_rows() {
        let text = serde_json::to_string(&cell()).unwrap();
        let expected = "{\"per_launch\":{\"launch\":[2,5],\"block\":[1,4],\"rounds\":[3,3],\
            \"wall_ns\":{\"open\":[1.5,null],\"read\":[8.0,9.25]},\"cpu_ns\":{\"read\":[7.0,7.0]}}}";
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Cell>(&text).unwrap(), cell());
        let rows = serde_json::json!({ "per_launch": cell().per_launch });
        assert_eq!(serde_json::from_value::<Cell>(rows).unwrap(), cell());
        assert!(serde_json::from_str::<Cell>(&text.replace("[1,4]", "[1]")).is_err(), "a column is short");
    }
}
