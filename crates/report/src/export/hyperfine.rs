//! The JSON that hyperfine writes with `--export-json`: its times are the launches' medians, in seconds.

use super::S_PER_NS;
use crate::escape::pretty_json;
use crate::view::{CellView, ExportedCells};
use anyhow::Result;
use serde::Serialize;
use std::{collections::BTreeMap, io::Write};

/// A whole file.
#[derive(Debug, Serialize)]
pub struct Hyperfine {
    pub(crate) results: Vec<Timed>,
}

/// One command or cell; times in seconds.
#[derive(Debug, Serialize)]
pub(crate) struct Timed {
    pub command: String,
    pub mean: f64,
    pub stddev: Option<f64>,
    pub median: f64,
    pub user: f64,
    pub system: f64,
    pub min: f64,
    pub max: f64,
    pub times: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory_usage_byte: Vec<u64>,
    pub exit_codes: Vec<Option<i32>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    let file = Hyperfine {
        results: taken.believed().filter_map(of_cell).collect(),
    };
    Ok(out.write_all(pretty_json(&file)?.as_bytes())?)
}

fn of_cell(cell: &CellView<'_>) -> Option<Timed> {
    let phase = cell.headline()?;
    let (mean, deviation) = phase.spread_ns?;
    let times: Vec<f64> = phase
        .launches
        .iter()
        .filter_map(|l| l.wall_ns)
        .map(|ns| ns * S_PER_NS)
        .collect();
    Some(Timed {
        command: cell.name.clone(),
        mean: mean * S_PER_NS,
        stddev: (times.len() > 1).then_some(deviation * S_PER_NS),
        median: phase.figures.wall_ns.median * S_PER_NS,
        user: phase.figures.user_ns * S_PER_NS,
        system: phase.figures.system_ns * S_PER_NS,
        min: times.iter().copied().fold(f64::INFINITY, f64::min),
        max: times.iter().copied().fold(0.0, f64::max),
        memory_usage_byte: Vec::new(),
        exit_codes: vec![Some(0); times.len()],
        parameters: cell.varying.clone(),
        times,
    })
}
