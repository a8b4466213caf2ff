//! The JSON that hyperfine writes with `--export-json`: its times are the launches' medians, in seconds.

use super::S_PER_NS;
use super::{CellView, ExportedCells};
use crate::render::escape::pretty_json;
use anyhow::Result;
use record::command::{Arm, ArmRole, CommandCost, CommandEnd, KeptCommand};
use serde::Serialize;
use stats::{quantile::median, t::mean_and_deviation};
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
    #[serde(skip_serializing_if = "record::is_default")]
    pub memory_usage_byte: Vec<u64>,
    pub exit_codes: Vec<Option<i32>>,
    #[serde(skip_serializing_if = "record::is_default")]
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

/// The measured launches in hyperfine's shape, times in seconds; the A/A arm is left out.
pub fn of_try(kept: &KeptCommand) -> Hyperfine {
    let arms = kept.plan.arms.iter().enumerate();
    let arms = arms.filter(|(_, arm)| arm.role != ArmRole::Again);
    Hyperfine {
        results: arms
            .filter_map(|(index, arm)| of_arm(kept, index, arm))
            .collect(),
    }
}

fn of_arm(kept: &KeptCommand, index: usize, arm: &Arm) -> Option<Timed> {
    let costs: Vec<&CommandCost> = kept
        .launches
        .iter()
        .filter(|launch| launch.arm == index && launch.block >= 0)
        .filter_map(|launch| launch.cost.as_ref())
        .collect();
    let times: Vec<f64> = costs
        .iter()
        .map(|cost| cost.wall_ns as f64 * S_PER_NS)
        .collect();
    let (mean, deviation) = mean_and_deviation(&times)?;
    let command = if arm.setting.is_some() {
        format!("{} [{}]", arm.shown, arm.name)
    } else {
        arm.shown.clone()
    };
    let exits = costs.iter();
    Some(Timed {
        command,
        mean,
        stddev: (times.len() > 1).then_some(deviation),
        median: median(&mut times.clone())?,
        user: mean_s(&costs, |cost| cost.user_us),
        system: mean_s(&costs, |cost| cost.system_us),
        min: times.iter().copied().fold(f64::INFINITY, f64::min),
        max: times.iter().copied().fold(0.0, f64::max),
        memory_usage_byte: costs.iter().map(|cost| cost.max_rss_kib * 1024).collect(),
        exit_codes: exits
            .map(|cost| (cost.end == CommandEnd::Exit).then_some(cost.code))
            .collect(),
        parameters: BTreeMap::new(),
        times,
    })
}

/// The mean of a counter of microseconds, in seconds.
fn mean_s(costs: &[&CommandCost], counter: fn(&CommandCost) -> u64) -> f64 {
    let sum: u64 = costs.iter().map(|cost| counter(cost)).sum();
    sum as f64 * 1e-6 / costs.len() as f64
}
