//! Time that a cell took in kept runs, so that the next run of claims is planned by it.

use super::figure;
use record::cell::Cell;
use record::summary::{CellSummary, ExperimentSummary, Summary};

/// Time of one launch of a cell in the first summary that has it, in seconds: its share of its experiment's launches, by
/// the time of its phases. What proofs, starts and warm-up took is in it.
pub fn launch_s(wanted: &Cell, summaries: &[&Summary]) -> Option<f64> {
    let seconds = |summary: &&Summary| {
        let cell = figure::cell(summary, wanted).filter(|c| c.launches > 0)?;
        let experiment = summary.experiment(&wanted.experiment)?;
        let mine = summary.cells.iter().filter(|c| c.experiment == wanted.experiment);
        let all: f64 = mine.map(|c| phases_ns(c, experiment)).sum();
        let seconds = experiment.launch_s * phases_ns(cell, experiment) / all / cell.launches as f64;
        (seconds.is_finite() && seconds > 0.0).then_some(seconds)
    };
    summaries.iter().find_map(seconds)
}

fn phases_ns(cell: &CellSummary, experiment: &ExperimentSummary) -> f64 {
    let phases = || experiment.definition.phases.iter();
    let launch_ns =
        |l: &record::summary::LaunchValues| phases().filter_map(|p| l.wall_ns.get(p)).sum::<f64>() * l.rounds as f64;
    cell.per_launch.iter().map(launch_ns).sum()
}
