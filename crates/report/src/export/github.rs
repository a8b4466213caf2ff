//! Format of github-action-benchmark, `customSmallerIsBetter`: an array of names with values.

use super::{CellView, ExportedCells};
use crate::render::escape::pretty_json;
use anyhow::Result;
use serde::Serialize;
use serde_with::skip_serializing_none;
use std::io::Write;

#[skip_serializing_none]
#[derive(Serialize)]
struct GithubEntry {
    name: String,
    unit: &'static str,
    value: f64,
    range: Option<String>,
    extra: String,
}

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    let entries: Vec<GithubEntry> = taken
        .believed()
        .filter_map(|cell| entry(taken, cell))
        .collect();
    Ok(out.write_all(pretty_json(&entries)?.as_bytes())?)
}

fn entry(taken: &ExportedCells<'_>, cell: &CellView<'_>) -> Option<GithubEntry> {
    let phase = cell.headline()?;
    let wall = phase.figures.per_unit_ns;
    let range = wall
        .low
        .zip(wall.high)
        .map(|(low, high)| format!("{low:.1}–{high:.1} (95 %)"));
    let verdict = match (&cell.against, phase.verdict.as_str()) {
        (Some(against), words) if !words.is_empty() => format!("against {against}: {words}\n"),
        _ => String::new(),
    };
    wall.median.is_finite().then(|| GithubEntry {
        name: cell.name.clone(),
        unit: "ns",
        value: wall.median,
        range,
        extra: format!(
            "{verdict}{}, {} launches, run {}",
            phase.name, cell.summary.launches, taken.run
        ),
    })
}
