//! A fleet for other programs: a line a kind and cell and a line an outlier as NDJSON; gauges for node_exporter.

use super::S_PER_NS;
use super::openmetrics::{head, sample};
use crate::render::escape;
use anyhow::Result;
use record::fleet::{Finding, Fleet};
use serde_json::json;
use std::{collections::BTreeMap, io::Write};

/// One JSON object a line, each with its `row`: kind, odd, unread.
pub fn ndjson(fleet: &Fleet, out: &mut dyn Write) -> Result<()> {
    for kind in &fleet.kinds {
        for cell in &kind.cells {
            let row =
                json!({ "row": "kind", "kind": kind.name, "facts": kind.facts, "figures": cell });
            writeln!(out, "{}", escape::json(&row.to_string()))?;
        }
    }
    for node in &fleet.odd {
        writeln!(
            out,
            "{}",
            escape::json(&json!({ "row": "odd", "node": node }).to_string())
        )?;
    }
    for folder in &fleet.unread {
        writeln!(
            out,
            "{}",
            escape::json(&json!({ "row": "unread", "folder": folder }).to_string())
        )?;
    }
    Ok(())
}

/// OpenMetrics text of the part that node_exporter's textfile collector reads as well.
pub fn openmetrics(fleet: &Fleet, out: &mut dyn Write) -> Result<()> {
    let counts = [
        ("nodes", "Nodes with a run.", fleet.nodes),
        (
            "odd_nodes",
            "Nodes that are unlike their kind.",
            fleet.odd.len(),
        ),
        (
            "unread_folders",
            "Run folders that take no part.",
            fleet.unread.len(),
        ),
    ];
    for (name, help, count) in counts {
        let name = format!("pagewise_fleet_{name}");
        head(out, &name, "", help)?;
        sample::<&str>(out, &name, &[], count as f64)?;
    }
    units(fleet, out)?;
    odd(fleet, out)?;
    Ok(writeln!(out, "# EOF")?)
}

fn units(fleet: &Fleet, out: &mut dyn Write) -> Result<()> {
    head(
        out,
        "pagewise_fleet_unit_seconds",
        "seconds",
        "Wall time of one unit, by the share of nodes that take less.",
    )?;
    for kind in &fleet.kinds {
        for cell in &kind.cells {
            for (share, ns) in [
                ("0.05", cell.low_ns),
                ("0.5", cell.per_unit_ns),
                ("0.95", cell.high_ns),
            ] {
                let mut labels = labels(&cell.headline.cell, &cell.headline.parameters);
                labels.push(("kind".to_owned(), kind.name.clone()));
                // `quantile` is reserved for summaries.
                labels.push(("share_of_nodes".to_owned(), share.to_owned()));
                sample(out, "pagewise_fleet_unit_seconds", &labels, ns * S_PER_NS)?;
            }
        }
    }
    Ok(())
}

fn odd(fleet: &Fleet, out: &mut dyn Write) -> Result<()> {
    head(
        out,
        "pagewise_fleet_odd_ratio",
        "",
        "Cost on an outlier relative to its kind.",
    )?;
    for node in &fleet.odd {
        for finding in &node.findings {
            let Finding::Cost {
                cell,
                parameters,
                ratio,
                ..
            } = finding
            else {
                continue;
            };
            let mut labels = labels(cell, parameters);
            labels.push(("node".to_owned(), escape::terminal(&node.node)));
            sample(out, "pagewise_fleet_odd_ratio", &labels, *ratio)?;
        }
    }
    Ok(())
}

fn labels(cell: &str, parameters: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let labels = parameters.iter().map(|(key, value)| {
        (
            format!("parameter_{}", escape::name(key)),
            escape::terminal(value),
        )
    });
    std::iter::once(("cell".to_owned(), escape::terminal(cell)))
        .chain(labels)
        .collect()
}
