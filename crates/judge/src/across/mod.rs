//! Two sets of runs held against each other: unpaired, the run as the unit of inference.

pub mod programs;

use std::collections::{BTreeMap, BTreeSet};

use record::across::{
    COMPARED_SCHEMA, Compared, ComparedCell, ComparedRun, ComparedSide, FactDifference, GateWord, Gated, MissingCell,
    SideCost,
};
use record::claim::{Answers, Change};
use record::machine::environment::Environment;
use record::outcome::Status;
use record::plan::BATCH;
use record::summary::{CellSummary, Summary, Verdict};
use stats::across::{Side, ratio, side};
use stats::interval::CONFIDENCE;
use stats::location::midmean;
use stats::multiplicity::holm;
use stats::verdicts::verdicts;

use crate::estimate::shown;
use crate::{claims, machines};

/// A run as it takes part.
pub struct Run {
    /// Summary.
    pub summary: Summary,
    /// The machine when it began.
    pub environment: Environment,
    /// SHA-256 of each worker used.
    pub workers: BTreeMap<String, String>,
    /// Answers to claims, where it is a run of claims.
    pub answers: Option<Answers>,
}

/// Question about a comparison.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// Differences below this share are called within the margin.
    pub margin: f64,
    /// The share by which nothing may be slower.
    pub gate: Option<f64>,
    /// Fields that are meant to differ, or beginnings of them: `kernel`, `huge_pages.transparent_huge_pages`.
    pub expected: Vec<String>,
}

/// A cell's place in a summary: by its name and parameters, but not by its batch, which each run's pilot chooses.
pub(crate) type Key = (String, Vec<(String, String)>);

pub(crate) fn key(cell: &CellSummary) -> Key {
    let own = cell.parameters.iter().filter(|(key, _)| *key != BATCH);
    (cell.cell.clone(), own.map(|(k, v)| (k.clone(), v.clone())).collect())
}

/// One cell over the runs of a side.
#[derive(Default)]
struct Gathered<'a> {
    found: Vec<(&'a Summary, &'a CellSummary)>,
    logs: Vec<Vec<f64>>,
}

/// Compares `b` with `a`; each has one run at least.
pub fn compare(a: &[Run], b: &[Run], asked: &CompareOptions) -> Compared {
    let (cells_a, cells_b) = (gathered(a), gathered(b));
    let mut cells = Vec::new();
    let mut estimates = Vec::new();
    let mut missing = Vec::new();
    let order = a.iter().chain(b).flat_map(|run| run.summary.cells.iter().filter(|c| !c.hidden).map(key));
    let mut seen = BTreeSet::new();
    let none = Gathered::default();
    for key in order.filter(|key| seen.insert(key.clone())) {
        let (of_a, of_b) = (cells_a.get(&key).unwrap_or(&none), cells_b.get(&key).unwrap_or(&none));
        match compared(of_a, of_b) {
            Some((cell, estimate)) => {
                cells.push(cell);
                estimates.push(estimate);
            }
            None => missing.push(absent(&key, of_a, of_b)),
        }
    }
    say(&mut cells, &estimates, asked);
    let claims = match (&a[0].answers, &b[0].answers) {
        (Some(first), Some(second)) => claims::changes(first, second),
        _ => Vec::new(),
    };
    let differences = differences(&a[0], &b[0], &asked.expected);
    told(asked, [of_side(a), of_side(b)], differences, (cells, missing), claims)
}

/// A comparison of two sides, with the gate's word where one is asked for.
fn told(
    asked: &CompareOptions,
    [a, b]: [ComparedSide; 2],
    differences: Vec<FactDifference>,
    (cells, missing): (Vec<ComparedCell>, Vec<MissingCell>),
    claims: Vec<Change>,
) -> Compared {
    let (schema, margin, gate) = (COMPARED_SCHEMA, asked.margin, asked.gate);
    let mut compared = Compared { schema, margin, gate, a, b, differences, cells, missing, claims, gated: None };
    compared.gated = gate.map(|_| gated(&compared));
    compared
}

fn gathered(runs: &[Run]) -> BTreeMap<Key, Gathered<'_>> {
    let mut all: BTreeMap<Key, Gathered> = BTreeMap::new();
    for run in runs {
        for cell in run.summary.cells.iter().filter(|c| !c.hidden) {
            let one = all.entry(key(cell)).or_default();
            one.found.push((&run.summary, cell));
            let logs = unit_logs(&run.summary, cell);
            one.logs.extend((!logs.is_empty()).then_some(logs));
        }
    }
    all
}

/// Logarithms of what a unit cost in each launch, by the headline; none where the cell may not be believed.
fn unit_logs(summary: &Summary, cell: &CellSummary) -> Vec<f64> {
    let Some(experiment) = summary.experiment(&cell.experiment).filter(|_| cell.status == Status::Ok) else {
        return Vec::new();
    };
    let Some(phase) = cell.phases.get(&experiment.headline) else { return Vec::new() };
    let units = phase.wall_ns.median / phase.per_unit_ns.median;
    let wall = cell.per_launch.iter().filter_map(|l| l.wall_ns.get(&experiment.headline));
    wall.map(|ns| (ns / units).ln()).filter(|log| log.is_finite()).collect()
}

fn compared(a: &Gathered, b: &Gathered) -> Option<(ComparedCell, Option<stats::estimate::Estimate>)> {
    let (side_a, side_b) = (side(&a.logs).ok()?, side(&b.logs).ok()?);
    let (summary, cell) = a.found.first()?;
    let experiment = summary.experiment(&cell.experiment)?;
    let estimate = ratio(&side_a, &side_b, CONFIDENCE).ok();
    let cell = ComparedCell {
        cell: cell.cell.clone(),
        experiment: cell.experiment.clone(),
        parameters: key(cell).1.into_iter().collect(),
        phase: experiment.headline.clone(),
        unit: experiment.definition.unit.clone(),
        a: cost(&side_a, &a.logs),
        b: cost(&side_b, &b.logs),
        ratio: (side_b.log - side_a.log).exp(),
        estimate: estimate.as_ref().map(shown),
        verdict: Verdict::NotSettled,
        holds_among_all: false,
        gate: None,
    };
    Some((cell, estimate))
}

fn cost(side: &Side, logs: &[Vec<f64>]) -> SideCost {
    SideCost {
        per_unit_ns: side.log.exp(),
        runs: side.runs,
        launches: logs.iter().map(Vec::len).sum(),
        between_runs: side.between.map(f64::exp_m1),
        // A side with a run that has no middle is no side, and does not come here.
        per_run_ns: logs.iter().filter_map(|run| midmean(run).ok()).map(f64::exp).collect(),
    }
}

/// The words of all cells, adjusted for how many they are.
fn say(cells: &mut [ComparedCell], estimates: &[Option<stats::estimate::Estimate>], asked: &CompareOptions) {
    let with: Vec<usize> = (0..cells.len()).filter(|&i| estimates[i].is_some()).collect();
    let found: Vec<stats::estimate::Estimate> = estimates.iter().flatten().copied().collect();
    let pairs: Vec<_> = found.iter().map(|e| (*e, asked.margin)).collect();
    for (&index, word) in with.iter().zip(verdicts(&pairs, CONFIDENCE)) {
        let cell = &mut cells[index];
        cell.holds_among_all = word.verdict == word.alone;
        if let Some(e) = &cell.estimate {
            cell.verdict = Verdict::from_interval(e.low, e.high, asked.margin);
        }
    }
    let Some(gate) = asked.gate else { return };
    let edge = 1.0 + gate;
    // One word wrongly called a regression is too many, so these are adjusted; a gate is passed by all cells or not at all.
    let slower = holm(&found.iter().map(|e| (2.0 * e.p_above(edge)).min(1.0)).collect::<Vec<_>>());
    for cell in cells.iter_mut() {
        cell.gate = Some(GateWord::Undecided);
    }
    for ((&index, one), slower) in with.iter().zip(&found).zip(slower) {
        if slower <= 1.0 - CONFIDENCE {
            cells[index].gate = Some(GateWord::Regression);
        } else if 2.0 * one.p_below(edge) <= 1.0 - CONFIDENCE {
            cells[index].gate = Some(GateWord::Passes);
        }
    }
}

fn absent(key: &Key, a: &Gathered, b: &Gathered) -> MissingCell {
    // The gravest outcome of a side's runs stands for it.
    let status = |side: &Gathered| side.found.iter().map(|(_, cell)| cell.status).max();
    let lacking = a.found.iter().chain(&b.found).find(|(_, cell)| cell.status != Status::Ok);
    let reason = lacking.map_or_else(
        || {
            if a.found.is_empty() || b.found.is_empty() { "only one side asked for it" } else { "it has no launches" }
                .to_owned()
        },
        |(_, cell)| format!("{}: {}", cell.status.word(), cell.reason),
    );
    let words: Vec<String> = key.1.iter().map(|(name, value)| format!("{name}={value}")).collect();
    MissingCell {
        cell: format!("{} {}", key.0, words.join(" ")).trim_end().to_owned(),
        a: status(a),
        b: status(b),
        reason,
    }
}

fn of_side(runs: &[Run]) -> ComparedSide {
    let mut unlike: Vec<String> =
        runs[1..].iter().flat_map(|run| facts(&runs[0], run)).filter(|d| d.matters).map(|d| d.field).collect();
    unlike.sort();
    unlike.dedup();
    let name = |run: &Run| ComparedRun {
        run: run.summary.run.clone(),
        created: run.summary.created.clone(),
        interrupted: run.summary.is_interrupted(),
        damage: run.summary.damage().map(str::to_owned).collect(),
    };
    ComparedSide { runs: runs.iter().map(name).collect(), environment: runs[0].summary.environment.clone(), unlike }
}

/// In what two runs differ besides what they measured.
fn facts(a: &Run, b: &Run) -> Vec<FactDifference> {
    let mut found: Vec<FactDifference> = machines::differences(&a.environment, &b.environment)
        .into_iter()
        .map(|d| FactDifference { field: d.field, a: d.a, b: d.b, matters: d.matters, expected: false })
        .collect();
    let mut told = |field: String, a: &str, b: &str| {
        if a != b {
            found.push(FactDifference { field, a: a.to_owned(), b: b.to_owned(), matters: true, expected: false });
        }
    };
    told("version".to_owned(), &a.summary.version, &b.summary.version);
    // A worker that only one side used has no cell in common with the other.
    for (name, hash) in &a.workers {
        told(format!("worker.{name}"), hash, b.workers.get(name).unwrap_or(hash));
    }
    found.sort_by(|x, y| (!x.matters, &x.field).cmp(&(!y.matters, &y.field)));
    found
}

impl Run {
    /// Names of the facts in which another run may differ, parts joined by dots.
    pub fn fields(&self) -> BTreeSet<String> {
        let workers = self.workers.keys().map(|name| format!("worker.{name}"));
        machines::fields(&self.environment).into_iter().chain(workers).chain(["version".to_owned()]).collect()
    }
}

/// The first of these words that names neither a field nor the beginning of one up to a dot.
pub fn unknown_fact<'a>(expected: &'a [String], fields: &BTreeSet<String>) -> Option<&'a String> {
    let names = |word: &str, field: &String| {
        field.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    expected.iter().find(|word| !fields.iter().any(|field| names(word, field)))
}

fn differences(a: &Run, b: &Run, expected: &[String]) -> Vec<FactDifference> {
    let mut found = facts(a, b);
    for difference in &mut found {
        let below = |word: &String| {
            difference.field.strip_prefix(word.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        difference.expected = expected.iter().any(below);
    }
    found
}

fn gated(compared: &Compared) -> Gated {
    let word = |wanted: GateWord| compared.cells.iter().any(|c| c.gate == Some(wanted));
    let doubtful =
        |m: &&MissingCell| [m.a, m.b].iter().flatten().any(|s| matches!(s, Status::Untrusted | Status::Damaged));
    let lost = |m: &&MissingCell| m.a == Some(Status::Ok) && m.b != Some(Status::Ok);
    let differs = compared.differences.iter().any(|d| d.matters && !d.expected);
    let damaged = [&compared.a, &compared.b].iter().any(|side| side.runs.iter().any(|run| !run.damage.is_empty()));
    if damaged {
        Gated::Damaged
    } else if differs {
        Gated::NotComparable
    } else if word(GateWord::Regression) {
        Gated::Regression
    } else if compared.missing.iter().any(|m| lost(&m) && !doubtful(&m)) || compared.cells.is_empty() {
        Gated::NotComparable
    } else if word(GateWord::Undecided) || compared.missing.iter().any(|m| doubtful(&m)) {
        Gated::Undecided
    } else {
        Gated::Passes
    }
}

#[cfg(test)]
#[path = "../../tests/unit/across/tests.rs"]
mod tests;
