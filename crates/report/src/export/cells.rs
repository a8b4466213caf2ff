//! Cells as other programs take them away: each with its phases and launches, in the order in which they are shown.

use crate::render::document::Section;
use crate::render::escape;
use crate::sentences::labels::LabelledRun;
use crate::sentences::{phrases, wording};
use record::summary::{CellSummary, Comparison, GroupSummary, PhaseSummary, Ratio, Summary};
use record::{cell::parameter_words, outcome::Status};
use stats::t::mean_and_deviation;
use std::collections::{BTreeMap, BTreeSet};

/// A run as it is taken away. No text in it steers what shows it, and no figure in it is anything but finite.
#[derive(Debug)]
pub struct ExportedCells<'a> {
    pub run: String,
    pub created: String,
    pub version: String,
    pub host: BTreeMap<String, String>,
    pub environment: BTreeMap<String, String>,
    pub parameters: Vec<String>,
    /// Every cell but the A/A check's hidden duplicates.
    pub cells: Vec<CellView<'a>>,
    pub run_summary: &'a Summary,
    /// The experiments that are wanted; all where empty.
    pub wanted: Vec<String>,
    /// Tables of the articles that the run was made for.
    pub articles: Vec<Section>,
}

/// One cell.
#[derive(Debug)]
pub struct CellView<'a> {
    pub summary: &'a CellSummary,
    /// `fault/touch@c-O3 bytes=4MiB release=dontneed`.
    pub name: String,
    pub experiment: String,
    pub method: String,
    pub worker: String,
    pub status: Status,
    pub reason: String,
    pub parameters: BTreeMap<String, String>,
    /// Those that have several values within its experiment.
    pub varying: BTreeMap<String, String>,
    /// The name of the cell that it is compared with, where that is another.
    pub against: Option<String>,
    /// The headline first, then the experiment's other totals and phases in their order.
    pub phases: Vec<PhaseView<'a>>,
}

/// One phase or total of a cell.
#[derive(Debug)]
pub struct PhaseView<'a> {
    pub name: String,
    pub headline: bool,
    pub unit: String,
    pub units: f64,
    pub figures: &'a PhaseSummary,
    /// The ratio to the baseline, where it may be believed.
    pub ratio: Option<Ratio>,
    pub verdict: String,
    /// Mean and standard deviation of its launches' wall times, in nanoseconds.
    pub spread_ns: Option<(f64, f64)>,
    pub launches: Vec<LaunchView>,
}

/// One phase or total in one launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchView {
    pub launch: usize,
    pub block: i32,
    pub rounds: usize,
    /// Median wall time over its rounds, in nanoseconds.
    pub wall_ns: Option<f64>,
    /// Median CPU time over its rounds, in nanoseconds.
    pub cpu_ns: Option<f64>,
}

impl CellView<'_> {
    pub fn headline(&self) -> Option<&PhaseView<'_>> {
        self.phases.iter().find(|p| p.headline)
    }
}

impl<'a> ExportedCells<'a> {
    /// Arranges a summary; `experiments` are those that are wanted, none for all.
    pub fn new(summary: &'a Summary, experiments: &[String]) -> ExportedCells<'a> {
        let run = LabelledRun::new(summary);
        let order = in_order(summary).into_iter().filter(|(index, _)| {
            let cell = &summary.cells[*index];
            let is_wanted = experiments.is_empty() || experiments.contains(&cell.experiment);
            !cell.hidden && is_wanted
        });
        // By a table: a run may have very many cells, and to look for each among all comparisons would take their square.
        let compared: Comparisons = summary
            .comparisons()
            .map(|(_, c)| ((c.cell, c.phase.as_str()), c))
            .collect();
        let cells: Vec<CellView> = order
            .map(|(index, group)| cell(&run, index, group, &compared))
            .collect();
        let parameters: BTreeSet<&String> =
            cells.iter().flat_map(|c| c.parameters.keys()).collect();
        let parameters = parameters.into_iter().cloned().collect();
        ExportedCells {
            run: escape::terminal(&summary.run),
            created: escape::terminal(&summary.created),
            version: escape::terminal(&summary.version),
            host: all_visible(&summary.host),
            environment: all_visible(&summary.environment),
            parameters,
            cells,
            run_summary: summary,
            wanted: experiments.to_vec(),
            articles: Vec::new(),
        }
    }

    /// Cells whose figures may be believed.
    pub fn believed(&self) -> impl Iterator<Item = &CellView<'a>> {
        self.cells.iter().filter(|c| c.status == Status::Ok)
    }
}

/// Indices of all cells in the order in which they are shown, each with its group.
fn in_order(summary: &Summary) -> Vec<(usize, Option<&GroupSummary>)> {
    let mut order: Vec<(usize, Option<&GroupSummary>)> = Vec::new();
    let mut ordered = BTreeSet::new();
    for group in &summary.groups {
        for &cell in &group.cells {
            if ordered.insert(cell) {
                order.push((cell, Some(group)));
            }
        }
    }
    let further = (0..summary.cells.len()).filter(|cell| !ordered.contains(cell));
    order.extend(further.map(|cell| (cell, None)));
    order
}

/// Comparisons by cell and phase.
type Comparisons<'a> = BTreeMap<(usize, &'a str), &'a Comparison>;

fn all_visible(facts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    facts
        .iter()
        .map(|(name, value)| (escape::terminal(name), escape::terminal(value)))
        .collect()
}

fn name(cell: &CellSummary) -> String {
    let parameters = parameter_words(&cell.parameters, None);
    escape::terminal(&if parameters.is_empty() {
        cell.cell.clone()
    } else {
        format!("{} {parameters}", cell.cell)
    })
}

fn cell<'a>(
    run: &LabelledRun<'a>,
    index: usize,
    group: Option<&GroupSummary>,
    compared: &Comparisons,
) -> CellView<'a> {
    let summary = run.summary;
    let cell = &summary.cells[index];
    let varying = cell
        .parameters
        .iter()
        .filter(|(key, _)| run.varies(&cell.experiment, key));
    let baseline = group.and_then(|group| group.baseline);
    let against = baseline.filter(|baseline| *baseline != index);
    CellView {
        summary: cell,
        name: name(cell),
        experiment: escape::terminal(&cell.experiment),
        method: escape::terminal(&cell.method),
        worker: escape::terminal(&cell.worker),
        status: cell.outcome.status,
        reason: escape::terminal(&phrases::reason(&cell.outcome)),
        parameters: all_visible(&cell.parameters),
        varying: varying
            .map(|(key, value)| (escape::terminal(key), escape::terminal(value)))
            .collect(),
        against: against.and_then(|cell| summary.cells.get(cell)).map(name),
        phases: phases(summary, index, compared),
    }
}

/// The phases of a cell: the headline first, then totals and phases in the order of their definition.
fn phases<'a>(summary: &'a Summary, index: usize, compared: &Comparisons) -> Vec<PhaseView<'a>> {
    let cell = &summary.cells[index];
    let experiment = summary.experiment(&cell.experiment);
    let headline = experiment.map_or("", |e| e.headline.as_str());
    let order: Vec<&str> = experiment.map_or_else(Vec::new, |experiment| {
        let totals = experiment.definition.totals.iter().map(|t| t.name.as_str());
        let phases = experiment.definition.phases.iter().map(String::as_str);
        totals.chain(phases).collect()
    });
    let mut names: Vec<&String> = cell.phases.keys().collect();
    names.sort_by_key(|name| {
        let place = order.iter().position(|known| known == name);
        (*name != headline, place.unwrap_or(order.len()))
    });
    names
        .into_iter()
        .map(|name| PhaseView {
            headline: name == headline,
            unit: experiment.map_or_else(String::new, |e| escape::terminal(&e.definition.unit)),
            ..PhaseView::new(cell, name, compared.get(&(index, name)).copied())
        })
        .collect()
}

impl<'a> PhaseView<'a> {
    fn new(cell: &'a CellSummary, name: &str, comparison: Option<&Comparison>) -> PhaseView<'a> {
        let comparison = comparison.filter(|_| cell.outcome.status == Status::Ok);
        let launches = launches(cell, name);
        let walls: Vec<f64> = launches.iter().filter_map(|l| l.wall_ns).collect();
        PhaseView {
            name: escape::terminal(name),
            headline: false,
            unit: String::new(),
            units: operations(&cell.phases[name]),
            figures: &cell.phases[name],
            ratio: comparison.and_then(|c| c.contrast.ratio),
            verdict: comparison.map_or_else(String::new, wording::verdict),
            spread_ns: mean_and_deviation(&walls),
            launches,
        }
    }
}

/// Operations of one sample; 1 where that is not known.
fn operations(phase: &PhaseSummary) -> f64 {
    let units = phase.wall_ns.median / phase.per_unit_ns.median;
    if units.is_finite() && units > 0.0 {
        units
    } else {
        1.0
    }
}

fn launches(cell: &CellSummary, phase: &str) -> Vec<LaunchView> {
    cell.per_launch
        .iter()
        .map(|launch| LaunchView {
            launch: launch.launch,
            block: launch.block,
            rounds: launch.rounds,
            wall_ns: finite(launch.wall_ns.get(phase)),
            cpu_ns: finite(launch.cpu_ns.get(phase)),
        })
        .filter(|launch| launch.wall_ns.is_some() || launch.cpu_ns.is_some())
        .collect()
}

fn finite(value: Option<&f64>) -> Option<f64> {
    value.copied().filter(|value| value.is_finite())
}
