//! Sets of runs: the cells that runs measured, and the cost of a cell on one side against that on another. Unpaired, with
//! a run (or a node with all its runs) as the unit of inference.

pub mod across;
pub mod gallery;
pub mod gate;
pub mod machines;
pub mod outliers;
pub mod shared;

use crate::contrast::tails::P999;
use crate::contrast::verdicts::hold_among_all;
use crate::sureness;
use anyhow::{Context, Result};
use record::across::{CellHeadline, ComparedCell, GateWord, SideCost};
use record::outcome::{Outcome, Status};
use record::parameters::Parameters;
use record::plan::BATCH;
use record::summary::{CellSummary, Contrast, Doubt, Role, Summary, Verdict, WarningKind};
use stats::across::{MeasuredSide, ratio, runs_to_decide, side};
use stats::{estimate::Ratio, interval::CONFIDENCE, multiplicity::holm, quantile::midmean};
use std::collections::{BTreeMap, HashMap};

/// Place of a cell in a summary: its name and parameters, without the batch, which the pilot of each run chooses.
pub type Key = (String, Parameters);

/// The key of a cell.
pub fn key(cell: &CellSummary) -> Key {
    let parameters = cell.parameters.iter().filter(|(key, _)| *key != BATCH);
    (
        cell.cell.clone(),
        parameters.map(|(k, v)| (k.clone(), v.clone())).collect(),
    )
}

/// A cell that runs were asked for; all runs share these.
#[derive(Clone, Debug, PartialEq)]
pub struct SetQuestion {
    pub headline: CellHeadline,
    /// True for a method that may be advised: no control, lower bound or published job.
    pub advised: bool,
    pub baseline: Option<usize>,
}

/// One cell of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCell {
    pub question: usize,
    pub outcome: Outcome,
    /// Logarithms of the cost of a unit in each launch, in nanoseconds; none unless the status is ok.
    pub logs: Vec<f64>,
    /// Share of the time of its launches in which a CPU quota kept it waiting, if one did.
    pub throttled: Option<f64>,
    /// True where something else took CPUs, memory or devices from its launches.
    pub is_disturbed: bool,
}

/// Cells of one run with its own questions.
#[derive(Clone, Debug)]
pub struct MeasuredCells {
    pub(crate) questions: Vec<SetQuestion>,
    pub(crate) cells: Vec<RunCell>,
}

impl MeasuredCells {
    /// Cells of a summary that are not hidden, by their headline.
    pub fn read(summary: &Summary) -> Result<MeasuredCells> {
        let visible: Vec<usize> = (0..summary.cells.len())
            .filter(|&at| !summary.cells[at].hidden)
            .collect();
        let mut measured = MeasuredCells {
            questions: Vec::new(),
            cells: Vec::new(),
        };
        let disturbed = sureness::disturbed(summary);
        for (question, &at) in visible.iter().enumerate() {
            let cell = &summary.cells[at];
            let experiment = summary.experiment(&cell.experiment);
            let experiment = experiment
                .with_context(|| format!("its summary lacks experiment {}", cell.experiment))?;
            let baselines = summary
                .groups
                .iter()
                .filter(|group| group.cells.contains(&at))
                .filter_map(|group| group.baseline);
            let throttled = summary
                .warnings
                .iter()
                .filter(|w| w.cells.contains(&at))
                .find_map(|warning| match warning.kind {
                    WarningKind::Throttled { share } => Some(share),
                    _ => None,
                });
            let (name, parameters) = key(cell);
            let headline = CellHeadline {
                cell: name,
                parameters,
                experiment: cell.experiment.clone(),
                phase: experiment.headline.clone(),
                unit: experiment.definition.unit.clone(),
            };
            measured.questions.push(SetQuestion {
                headline,
                advised: cell.role == Role::Method && cell.group.is_empty(),
                baseline: baselines
                    .filter_map(|cell| visible.binary_search(&cell).ok())
                    .next(),
            });
            let logs = unit_logs(cell, &experiment.headline);
            measured.cells.push(RunCell {
                question,
                outcome: cell.outcome.clone(),
                logs,
                throttled,
                is_disturbed: disturbed.contains(&at),
            });
        }
        Ok(measured)
    }

    /// Those of them that recorded single operations, by the p99.9 of each launch.
    pub fn tails(summary: &Summary) -> Result<MeasuredCells> {
        let mut measured = MeasuredCells::read(summary)?;
        let logs: Vec<Vec<f64>> = summary
            .cells
            .iter()
            .filter(|cell| !cell.hidden)
            .map(tail_logs)
            .collect();
        measured
            .cells
            .retain(|cell| !logs[cell.question].is_empty());
        measured
            .cells
            .iter_mut()
            .for_each(|cell| cell.logs.clone_from(&logs[cell.question]));
        for SetQuestion { headline, .. } in &mut measured.questions {
            (headline.phase, headline.unit) = (P999.to_owned(), "operation".to_owned());
        }
        Ok(measured)
    }
}

fn unit_logs(cell: &CellSummary, headline: &str) -> Vec<f64> {
    let Some(phase) = cell
        .phases
        .get(headline)
        .filter(|_| cell.outcome.status == Status::Ok)
    else {
        return Vec::new();
    };
    let units = phase.wall_ns.median / phase.per_unit_ns.median;
    let wall = cell
        .per_launch
        .iter()
        .filter_map(|launch| launch.wall_ns.get(headline));
    wall.map(|ns| (ns / units).ln())
        .filter(|log| log.is_finite())
        .collect()
}

fn tail_logs(cell: &CellSummary) -> Vec<f64> {
    let tails = cell
        .per_launch
        .iter()
        .filter(|_| cell.outcome.status == Status::Ok);
    tails
        .filter_map(|launch| launch.tail_ns.get(P999))
        .map(|ns| ns.ln())
        .filter(|log| log.is_finite())
        .collect()
}

/// The questions of all runs of a set, each once.
#[derive(Clone, Debug, Default)]
pub struct SetQuestions {
    /// The questions in the order in which they were first met.
    pub list: Vec<SetQuestion>,
    known: HashMap<(String, Key), usize>,
}

impl SetQuestions {
    pub fn index(&mut self, question: SetQuestion) -> usize {
        let CellHeadline {
            cell,
            experiment,
            parameters,
            ..
        } = question.headline.clone();
        let key = (experiment, (cell, parameters));
        let index = *self.known.entry(key).or_insert(self.list.len());
        if index == self.list.len() {
            self.list.push(question);
        }
        index
    }

    /// The cells of a run by these questions.
    pub(crate) fn take(&mut self, measured: &MeasuredCells) -> Vec<RunCell> {
        let mut indices = Vec::with_capacity(measured.questions.len());
        for question in &measured.questions {
            indices.push(self.index(SetQuestion {
                baseline: None,
                ..question.clone()
            }));
        }
        for (&index, question) in indices.iter().zip(&measured.questions) {
            if let Some(baseline) = question.baseline {
                self.list[index].baseline.get_or_insert(indices[baseline]);
            }
        }
        measured
            .cells
            .iter()
            .map(|cell| RunCell {
                question: indices[cell.question],
                ..cell.clone()
            })
            .collect()
    }
}

/// The cells of several runs by question.
pub(crate) fn by_question<'a>(
    runs: impl Iterator<Item = &'a Vec<RunCell>>,
) -> BTreeMap<usize, Vec<&'a RunCell>> {
    let mut cells: BTreeMap<usize, Vec<&RunCell>> = BTreeMap::new();
    for cell in runs.flatten() {
        cells.entry(cell.question).or_default().push(cell);
    }
    cells
}

/// The logarithms of each unit of a side (run or node), by question.
pub(crate) type Costs = BTreeMap<usize, Vec<Vec<f64>>>;

/// The questions that both sides have costs for, with the cost on `b` relative to that on `a` and verdicts adjusted for
/// their number; with a verdict on `gate`, the share by which nothing may be slower, where there is one.
pub(crate) fn pairs(
    questions: &[SetQuestion],
    a: &Costs,
    b: &Costs,
    margin: f64,
    gate: Option<f64>,
) -> BTreeMap<usize, ComparedCell> {
    let mut cells: BTreeMap<usize, ComparedCell> = BTreeMap::new();
    for (&question, logs_a) in a {
        let Some(logs_b) = b.get(&question) else {
            continue;
        };
        let (Some(side_a), Some(side_b)) = (side_of(logs_a), side_of(logs_b)) else {
            continue;
        };
        let contrast = Contrast::alone(ratio(&side_a, &side_b, CONFIDENCE).ok(), margin);
        let is_open = contrast.verdict == Verdict::NotSettled;
        let cell = ComparedCell {
            headline: questions[question].headline.clone(),
            a: cost(&side_a, logs_a),
            b: cost(&side_b, logs_b),
            quotient: (side_b.log - side_a.log).exp(),
            contrast,
            gate: gate.map(|_| GateWord::Undecided),
            runs_needed: runs_to_decide(&side_a, &side_b, margin, CONFIDENCE).filter(|_| is_open),
            doubt: None,
        };
        cells.insert(question, cell);
    }
    settle(cells.values_mut().collect(), margin, gate);
    cells
}

/// Gives cells with a ratio the verdicts that hold among all together, and those on the gate.
pub(crate) fn settle(mut cells: Vec<&mut ComparedCell>, margin: f64, gate: Option<f64>) {
    cells.retain(|cell| cell.contrast.ratio.is_some());
    hold_among_all(cells.iter_mut().map(|cell| &mut cell.contrast), margin);
    let Some(gate) = gate else { return };
    let ratios: Vec<Ratio> = cells
        .iter()
        .filter_map(|cell| cell.contrast.ratio)
        .collect();
    for (cell, word) in cells.into_iter().zip(gates(&ratios, 1.0 + gate)) {
        cell.gate = Some(word);
    }
}

/// Takes the verdicts of cells with other work in their launches, also those on a gate: what is noisy is open.
pub(crate) fn withhold<'a>(cells: impl Iterator<Item = &'a mut ComparedCell>) {
    for cell in cells.filter(|cell| cell.contrast.ratio.is_some()) {
        cell.doubt = Some(Doubt::Disturbed);
        (cell.contrast.verdict, cell.contrast.holds_among_all) = (Verdict::NotSettled, true);
        cell.gate = cell.gate.map(|_| GateWord::Undecided);
        cell.runs_needed = None;
    }
}

/// Regressions are adjusted for their number; to pass needs no adjustment, because all cells pass or the gate does not.
fn gates(ratios: &[Ratio], edge: f64) -> Vec<GateWord> {
    let above: Vec<f64> = ratios
        .iter()
        .map(|ratio| (2.0 * ratio.p_above(edge)).min(1.0))
        .collect();
    let mut verdicts = Vec::with_capacity(ratios.len());
    for (ratio, adjusted) in ratios.iter().zip(holm(&above)) {
        verdicts.push(if adjusted <= 1.0 - CONFIDENCE {
            GateWord::Regression
        } else if 2.0 * ratio.p_below(edge) <= 1.0 - CONFIDENCE {
            GateWord::Passes
        } else {
            GateWord::Undecided
        });
    }
    verdicts
}

/// `None` without costs, and where one is zero, which has no ratio.
pub(crate) fn side_of(logs: &[Vec<f64>]) -> Option<MeasuredSide> {
    if logs.iter().flatten().all(|log| log.is_finite()) {
        side(logs).ok()
    } else {
        None
    }
}

fn cost(side: &MeasuredSide, logs: &[Vec<f64>]) -> SideCost {
    SideCost {
        per_unit_ns: side.log.exp(),
        runs: side.runs,
        launches: logs.iter().map(Vec::len).sum(),
        between_runs: side.between.map(f64::exp_m1),
        per_run_ns: logs
            .iter()
            .filter_map(|run| midmean(run).ok())
            .map(f64::exp)
            .collect(),
    }
}
