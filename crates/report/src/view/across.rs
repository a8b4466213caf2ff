//! Two sets of runs held against each other, as they are shown: the sides, in what they differ, every cell, what a gate says.

use std::collections::{BTreeMap, BTreeSet};

use record::across::{Compared, ComparedCell, ComparedSide, FactDifference, GateWord, Gated, MissingCell};
use record::cell::parameter_words;
use record::claim::{Change, Word};
use record::sizes::format_ns;
use record::summary::{Comparison, Estimate};
use stats::across::LEAST_RUNS;

use super::Axis;
use crate::{numbers, words};

/// A whole comparison.
#[derive(Clone, Debug)]
pub struct ComparedView {
    /// A and B.
    pub sides: [SideView; 2],
    /// Whether anything differs that can change a figure, in a sentence.
    pub environment: String,
    /// What differs and can change every figure.
    pub gravely: Vec<FactRow>,
    /// What differs and should change none.
    pub harmless: Vec<FactRow>,
    /// The cells, by experiment.
    pub tables: Vec<ComparedTable>,
    /// Cells that could not be compared, in sentences.
    pub missing: Vec<String>,
    /// How sure it is, in sentences.
    pub sure: Vec<String>,
    /// What the gate says, in a sentence.
    pub gate: Option<String>,
    /// What says how many cells are faster, slower, within the margin and not settled.
    pub count: String,
    /// Claims whose verdict is not the same; `None` where a side is no run of claims.
    pub turned: Option<Vec<TurnedView>>,
}

/// One side.
#[derive(Clone, Debug)]
pub struct SideView {
    /// `A` or `B`.
    pub name: &'static str,
    /// `3 runs on Intel Xeon, Linux 6.18`.
    pub what: String,
    /// Its runs' names.
    pub runs: Vec<String>,
    /// In what its runs differ among themselves; empty where in nothing.
    pub unlike: String,
}

/// A fact that differs.
#[derive(Clone, Debug)]
pub struct FactRow {
    /// Its name.
    pub field: String,
    /// On the first side.
    pub a: String,
    /// On the second.
    pub b: String,
    /// Whether it was named as what is compared.
    pub expected: bool,
}

/// The cells of one experiment.
#[derive(Clone, Debug)]
pub struct ComparedTable {
    /// The experiment.
    pub experiment: String,
    /// What is compared: `time to usable per page`.
    pub measure: String,
    /// What does not vary among its cells: `@c-O3`, `release=dontneed` …
    pub constant: Vec<String>,
    /// The axis of all ratios, with the runs'; `None` where no cell has an interval.
    pub axis: Option<Axis>,
    /// In the order of the first run.
    pub rows: Vec<ComparedRow>,
}

/// One cell.
#[derive(Clone, Debug)]
pub struct ComparedRow {
    /// `touch@c-O3 bytes=4MiB`.
    pub label: String,
    /// What a unit costs on each side, in nanoseconds and in words.
    pub cost: [(f64, String); 2],
    /// How much each side scatters from run to run, in words; empty with one run.
    pub scatter: [String; 2],
    /// B's cost relative to A's, where it has an interval.
    pub ratio: Option<Estimate>,
    /// The same in words.
    pub ratio_words: String,
    /// Each run's cost relative to the middle of A's, side by side.
    pub runs: [Vec<f64>; 2],
    /// What that says of B.
    pub said: String,
    /// `faster`, `slower`, `open` or nothing.
    pub mark: &'static str,
    /// What a gate says; empty without one.
    pub gate: &'static str,
}

/// A claim whose verdict is not the same.
#[derive(Clone, Debug)]
pub struct TurnedView {
    /// The claim.
    pub id: String,
    /// What was said.
    pub statement: String,
    /// Which comparison.
    pub job: String,
    /// The verdict on each side, in words.
    pub words: [String; 2],
    /// The figure behind it, in words; empty where there is none.
    pub figures: [String; 2],
    /// The ratio behind it; absent where the figure is a cost.
    pub ratios: [Option<Estimate>; 2],
}

impl ComparedView {
    /// Arranges a comparison; `claims` where both sides are runs of claims.
    pub fn of(compared: &Compared, claims: bool) -> ComparedView {
        let (gravely, harmless): (Vec<_>, Vec<_>) = compared.differences.iter().partition(|d| d.matters);
        let environment = match gravely.len() {
            0 => "environment: nothing differs that could change a figure",
            _ => "environment: these differ and can change every figure below",
        };
        let mut experiments: Vec<&str> = compared.cells.iter().map(|c| c.experiment.as_str()).collect();
        experiments.dedup();
        ComparedView {
            sides: [side("A", &compared.a), side("B", &compared.b)],
            environment: environment.to_owned(),
            gravely: gravely.into_iter().map(fact).collect(),
            harmless: harmless.into_iter().map(fact).collect(),
            tables: experiments.into_iter().map(|name| table(compared, name)).collect(),
            missing: compared.missing.iter().map(missing).collect(),
            sure: sure(compared),
            gate: compared.gated.zip(compared.gate).map(|(word, gate)| gated(word, gate)),
            count: count(&compared.cells),
            turned: claims.then(|| compared.claims.iter().map(TurnedView::of).collect()),
        }
    }
}

fn side(name: &'static str, side: &ComparedSide) -> SideView {
    let count = if side.runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", side.runs.len()) };
    let fact = |key: &str| side.environment.get(key).filter(|v| *v != "unknown").cloned();
    let machine = [fact("cpu"), fact("kernel").map(|k| format!("Linux {k}"))];
    let machine = machine.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let unlike = match side.unlike.is_empty() {
        true => String::new(),
        false => format!("its runs differ among themselves in {}", side.unlike.join(", ")),
    };
    let what = if machine.is_empty() { count } else { format!("{count} on {machine}") };
    SideView { name, what, runs: side.runs.iter().map(|r| r.run.clone()).collect(), unlike }
}

fn fact(difference: &FactDifference) -> FactRow {
    let FactDifference { field, a, b, expected, .. } = difference.clone();
    FactRow { field, a, b, expected }
}

fn table(compared: &Compared, experiment: &str) -> ComparedTable {
    let own: Vec<&ComparedCell> = compared.cells.iter().filter(|c| c.experiment == experiment).collect();
    let labels = Constant::of(&own);
    ComparedTable {
        constant: labels.said(),
        experiment: experiment.to_owned(),
        measure: own.first().map_or_else(String::new, |c| format!("{} per {}", c.phase, c.unit)),
        axis: Axis::over(own.iter().filter_map(|c| c.estimate.as_ref())),
        rows: own.into_iter().map(|cell| row(cell, labels.label(cell))).collect(),
    }
}

/// What all cells of an experiment have in common, which is said once.
struct Constant<'a> {
    worker: Option<&'a str>,
    parameters: BTreeMap<String, String>,
}

impl<'a> Constant<'a> {
    fn of(cells: &[&'a ComparedCell]) -> Constant<'a> {
        let mut values: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
        cells.iter().flat_map(|cell| &cell.parameters).for_each(|(key, value)| {
            values.entry(key).or_default().insert(value);
        });
        let only = values.into_iter().filter(|(_, all)| all.len() == 1);
        let workers: BTreeSet<Option<&str>> = cells.iter().map(|cell| worker(cell)).collect();
        Constant {
            worker: workers.first().copied().flatten().filter(|_| workers.len() == 1),
            parameters: only.flat_map(|(key, all)| all.into_iter().map(|v| (key.clone(), v.clone()))).collect(),
        }
    }

    /// `@c-O3`, `release=dontneed` …
    fn said(&self) -> Vec<String> {
        let words = parameter_words(&self.parameters, None);
        let parameters = words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned);
        self.worker.iter().map(|name| format!("@{name}")).chain(parameters).collect()
    }

    /// A cell by its method and what varies.
    fn label(&self, cell: &ComparedCell) -> String {
        let name = cell.cell.split_once('/').map_or(cell.cell.as_str(), |(_, name)| name);
        let name = match self.worker {
            Some(worker) => name.strip_suffix(worker).and_then(|name| name.strip_suffix('@')).unwrap_or(name),
            None => name,
        };
        let varies = |(key, _): &(&String, &String)| !self.parameters.contains_key(*key);
        let own: BTreeMap<String, String> =
            cell.parameters.iter().filter(varies).map(|(key, value)| (key.clone(), value.clone())).collect();
        format!("{name} {}", parameter_words(&own, None)).trim_end().to_owned()
    }
}

/// The worker of a cell.
fn worker(cell: &ComparedCell) -> Option<&str> {
    cell.cell.split_once('@').map(|(_, worker)| worker)
}

fn row(cell: &ComparedCell, label: String) -> ComparedRow {
    let gate = match cell.gate {
        None => "",
        Some(GateWord::Passes) => "passes",
        Some(GateWord::Regression) => "REGRESSION",
        Some(GateWord::Undecided) => "undecided",
    };
    let scatter = |share: Option<f64>| share.map_or_else(String::new, |s| format!("±{}", words::percent(s)));
    let relative = |runs: &[f64]| -> Vec<f64> {
        let ratios = runs.iter().map(|ns| ns / cell.a.per_unit_ns);
        ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect()
    };
    ComparedRow {
        label,
        cost: [&cell.a, &cell.b].map(|side| (side.per_unit_ns, format_ns(side.per_unit_ns))),
        scatter: [&cell.a, &cell.b].map(|side| scatter(side.between_runs)),
        ratio: cell.estimate,
        ratio_words: cell.estimate.as_ref().map_or_else(String::new, numbers::ratio_words),
        runs: [relative(&cell.a.per_run_ns), relative(&cell.b.per_run_ns)],
        said: said(cell),
        mark: mark(cell),
        gate,
    }
}

/// A cell's comparison as words know it.
fn comparison(cell: &ComparedCell) -> Comparison {
    Comparison {
        cell: 0,
        phase: cell.phase.clone(),
        ratio: cell.estimate,
        cpu_ratio: None,
        faults_ratio: None,
        verdict: cell.verdict,
        holds_among_all: cell.holds_among_all,
    }
}

/// What may be said of one cell; with too few runs its figure, and that it is no verdict.
fn said(cell: &ComparedCell) -> String {
    match cell.estimate {
        None => format!("{:.2} × A; too few runs for a verdict", cell.ratio),
        Some(_) => words::verdict_briefly(&comparison(cell)),
    }
}

/// What is shown of a cell, as a word that styles know.
fn mark(cell: &ComparedCell) -> &'static str {
    use record::summary::Verdict;
    match cell.verdict {
        _ if cell.estimate.is_none() => "",
        _ if !cell.holds_among_all => "open",
        Verdict::Faster { .. } => "faster",
        Verdict::Slower { .. } => "slower",
        Verdict::NotSettled => "open",
        Verdict::Within { .. } => "",
    }
}

/// How many cells carry which verdict.
fn count(cells: &[ComparedCell]) -> String {
    if cells.is_empty() {
        return "No cell was measured on both sides.".to_owned();
    }
    let with = |wanted: &str| cells.iter().filter(|c| c.estimate.is_some() && mark(c) == wanted).count();
    let too_few = cells.iter().filter(|c| c.estimate.is_none()).count();
    let words = [
        (with("faster"), "faster on B"),
        (with("slower"), "slower on B"),
        (with(""), "within the margin"),
        (with("open"), "not settled"),
        (too_few, "with too few runs for a verdict"),
    ];
    let parts = words.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}"));
    let of = if cells.len() == 1 { "1 cell".to_owned() } else { format!("{} cells", cells.len()) };
    format!("Of {of}: {}.", parts.collect::<Vec<_>>().join(", "))
}

fn missing(missing: &MissingCell) -> String {
    let side = |status: Option<record::outcome::Status>| status.map_or("absent", |s| s.word());
    format!("not compared: {} (A {}, B {}): {}", missing.cell, side(missing.a), side(missing.b), missing.reason)
}

fn sure(compared: &Compared) -> Vec<String> {
    let (a, b) = (compared.a.runs.len(), compared.b.runs.len());
    let mut said = vec![match a.min(b) < LEAST_RUNS {
        true => format!(
            "a verdict needs {LEAST_RUNS} runs a side, best made in turns (A B A B …): between two runs everything else may differ too"
        ),
        false => format!(
            "unpaired: {a} and {b} runs, intervals over runs (95 %), margin {}",
            words::percent(compared.margin)
        ),
    }];
    let scatter = compared.cells.iter().flat_map(|c| [c.a.between_runs, c.b.between_runs]).flatten();
    if let Some(noise) = scatter.reduce(f64::max) {
        said.push(format!("from run to run one side's costs scatter by up to {}", words::percent(noise)));
    }
    if compared.cells.iter().any(|c| c.estimate.is_some() && !c.holds_among_all) {
        said.push(words::AMONG_ALL.to_owned());
    }
    said
}

fn gated(gated: Gated, gate: f64) -> String {
    let word = match gated {
        Gated::Passes => "passed: nothing is slower by that",
        Gated::Regression => "closed: at least one cell is slower by more",
        Gated::Undecided => "undecided: not everything is shown, more runs may",
        Gated::NotComparable => "closed: the sides cannot be compared (--expect FIELD names what is meant to differ)",
    };
    format!("gate {}: {word}", words::percent(gate))
}

impl TurnedView {
    /// Arranges one claim.
    pub fn of(change: &Change) -> TurnedView {
        let word = |word: Option<Word>| word.map_or("not asked", Word::words).to_owned();
        let ratios = [change.ratios.0, change.ratios.1];
        let unit = if change.unit.is_empty() { String::new() } else { format!(" {}", change.unit) };
        let figure =
            |e: Option<Estimate>| e.map_or_else(String::new, |e| format!("{}{unit}", numbers::with_limits(&e)));
        TurnedView {
            id: change.id.clone(),
            statement: change.statement.clone(),
            job: change.job.clone(),
            words: [word(change.first), word(change.second)],
            figures: ratios.map(figure),
            ratios: if change.unit.is_empty() { ratios } else { [None, None] },
        }
    }
}
