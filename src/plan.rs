//! What a run measures: its cells, which of them share a process, how often and in which random order.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::catalog::{self, Experiment};
use crate::cell::{Cell, Selector};
use crate::method::{Isolation, Kind, Method, Role};
use crate::outcome::{Outcome, Status};
use crate::sizes;
use crate::workers::{self, Worker};

/// Version of everything in a run folder; a reader refuses any other.
pub const SCHEMA: u32 = 1;

/// The fewest and the most launches of a unit unless the user says otherwise. The budget usually ends a run at about ten; the
/// rounds of a launch are chosen from what varies, and where processes differ, many short launches are better than few long.
pub const LAUNCHES: (u32, u32) = (6, 40);

/// The key of methods that do their work several times in one sample, because once is too short to time.
pub const BATCH: &str = "batch";

/// One cell of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedCell {
    /// Which.
    pub cell: Cell,
    /// The `--list` line of its method, by which it is judged for as long as the run is kept.
    pub method: String,
    /// The hidden duplicate of the baseline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub twin: bool,
    /// Its `batch` is not the user's: the pilot chooses it and notes it here in the plan.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free_batch: bool,
    /// Set where it cannot be measured at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// Cells that take turns in one process; a launch is one such process (or pair).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Unit {
    /// The experiment of all its cells.
    pub experiment: String,
    /// Indices into the plan's cells.
    pub cells: Vec<usize>,
    /// Measured rounds a launch; 0 until the pilot has fixed them.
    pub rounds: u32,
    /// Discarded rounds a launch.
    pub warmup_rounds: u32,
    /// One sample a process.
    pub fresh: bool,
    /// What one round took in the pilot, in seconds.
    pub round_s: f64,
    /// What starting and ending a launch took in the pilot, in seconds.
    pub start_s: f64,
    /// The unit whose launch died, where this one tries a cell of it by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_from: Option<usize>,
}

/// Everything that is decided before measuring.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Name of the run.
    pub run: String,
    /// When it was made, RFC 3339.
    pub created: String,
    /// Version of Pagewise.
    pub version: String,
    /// Seed of every order and of all data.
    pub seed: u64,
    /// Time budget in seconds.
    pub budget_s: f64,
    /// Half-width of a ratio's interval at which an experiment is done, as a share.
    pub precision: f64,
    /// Differences below this share are called equivalent.
    pub margin: f64,
    /// Longest time that one launch may take, in seconds; where left out, it follows from what the pilot took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_s: Option<f64>,
    /// Launches after which precision is looked at first.
    pub min_launches: u32,
    /// Most launches of a unit.
    pub max_launches: u32,
    /// Whether this is the first look at everything.
    pub first_look: bool,
    /// Whether the budget is less than the default values of its experiments need.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub short: bool,
    /// Whether the user allowed changes of the system.
    pub allow_system_changes: bool,
    /// Baseline method by experiment.
    pub baselines: BTreeMap<String, String>,
    /// SHA-256 of each worker used.
    pub workers: BTreeMap<String, String>,
    /// The experiments as they were when the run was made.
    pub experiments: Vec<Experiment>,
    /// All cells.
    pub cells: Vec<PlannedCell>,
    /// All units.
    pub units: Vec<Unit>,
}

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Nothing selected means the first look.
    pub selectors: Vec<Selector>,
    /// `--set`.
    pub settings: Vec<(String, Vec<String>)>,
    /// `--baseline`.
    pub baseline: Option<String>,
    /// Which list of an experiment's parameters is taken where `--set` says nothing.
    pub sizes: ParameterList,
    /// CPUs online, which `N` stands for.
    pub cpus: usize,
    /// Base page in bytes.
    pub page_bytes: u64,
}

/// Which of a parameter's lists is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterList {
    /// `default`
    Default,
    /// `look`
    Look,
    /// `check`
    Check,
    /// `default`, or `look` for experiments that say what their default values need: the budget is less.
    Short,
}

impl Plan {
    /// The experiment of a name that the plan surely has.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|e| e.name == name)
    }
}

/// The cells that a wish stands for, and the experiments they belong to.
pub fn cells(all: &[Experiment], workers: &[Worker], wish: &Wish) -> Result<(Vec<PlannedCell>, Vec<Experiment>)> {
    let mut selectors = wish.selectors.clone();
    if selectors.is_empty() {
        let shown = all.iter().filter(|e| !e.hidden);
        selectors = shown.map(|e| Selector { experiment: e.name.clone(), method: None, worker: None }).collect();
    }
    let mut experiments: Vec<Experiment> = Vec::new();
    let mut planned: Vec<PlannedCell> = Vec::new();
    for selector in &selectors {
        let experiment = catalog::find(all, &selector.experiment)?;
        for (method, worker) in selected(experiment, workers, selector, wish)? {
            for parameters in grid(experiment, method, wish)? {
                let cell = Cell {
                    experiment: experiment.name.clone(),
                    method: method.name.clone(),
                    worker: worker.clone(),
                    parameters,
                };
                if !planned.iter().any(|p| p.cell == cell) {
                    let free_batch = cell.parameters.contains_key(BATCH)
                        && wish.sizes != ParameterList::Check
                        && !wish.settings.iter().any(|(key, _)| key == BATCH);
                    let method = method.line.clone();
                    planned.push(PlannedCell { cell, method, twin: false, free_batch, outcome: None });
                }
            }
        }
        if !experiments.iter().any(|e| e.name == experiment.name) {
            experiments.push(experiment.clone());
        }
    }
    for (key, _) in &wish.settings {
        let known: BTreeSet<&str> = experiments.iter().flat_map(|e| e.parameters.keys().map(String::as_str)).collect();
        if !known.contains(key.as_str()) {
            let hint = sizes::did_you_mean(key, known.iter().copied());
            bail!("no selected experiment has the parameter \"{key}\"{hint}");
        }
    }
    Ok((planned, experiments))
}

/// Methods and workers that one selector stands for.
fn selected<'a>(
    experiment: &Experiment,
    workers: &'a [Worker],
    selector: &Selector,
    wish: &Wish,
) -> Result<Vec<(&'a Method, String)>> {
    let names: Vec<String> = match &selector.worker {
        Some(pattern) if pattern.contains('*') => {
            matching_workers(std::slice::from_ref(pattern), experiment, workers, selector.method.as_deref())
        }
        Some(words) => vec![words.clone()],
        None => matching_workers(experiment.usual_workers(wish.sizes), experiment, workers, selector.method.as_deref()),
    };
    let mut found = Vec::new();
    for words in &names {
        let mut sides = words.split('+');
        let first = workers::find(workers, sides.next().unwrap_or(words))?;
        let second = sides.next().map(|s| workers::find(workers, s)).transpose()?;
        for method in first.methods.iter().filter(|m| m.experiment == experiment.name) {
            let asked = selector.method.as_ref().map_or_else(
                || !(wish.sizes == ParameterList::Look && method.role == Role::Published),
                |name| *name == method.name,
            );
            let other = second.unwrap_or(first);
            if asked && (method.two_sided || second.is_none()) {
                let both = other.method(&experiment.name, &method.name).is_some();
                match method.two_sided {
                    true if both => found.push((method, format!("{}+{}", first.name, other.name))),
                    false => found.push((method, first.name.clone())),
                    true => {}
                }
            }
        }
    }
    if found.is_empty() {
        return Err(nothing_selected(experiment, workers, selector));
    }
    Ok(found)
}

/// The workers, and pairs of them, that these patterns stand for and that have methods of the experiment (or the one method).
fn matching_workers(
    patterns: &[String],
    experiment: &Experiment,
    workers: &[Worker],
    method: Option<&str>,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for pattern in patterns {
        let matching = |w: &&Worker| match pattern.strip_suffix('*') {
            Some(start) => w.name.starts_with(start),
            None => w.name == *pattern,
        };
        let has = |w: &&Worker| {
            w.methods.iter().any(|m| m.experiment == experiment.name && method.is_none_or(|name| name == m.name))
        };
        if pattern.contains('+') {
            let (a, b) = pattern.split_once('+').unwrap_or((pattern, ""));
            let family = |side: &str, name: &str| match side.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == side,
            };
            for first in workers.iter().filter(has).filter(|w| family(a, &w.name)) {
                let seconds = workers.iter().filter(has).filter(|w| family(b, &w.name));
                names.extend(seconds.map(|w| format!("{}+{}", first.name, w.name)));
            }
        } else {
            names.extend(workers.iter().filter(matching).filter(has).map(|w| w.name.clone()));
        }
    }
    names
}

fn nothing_selected(experiment: &Experiment, workers: &[Worker], selector: &Selector) -> anyhow::Error {
    let methods = || workers.iter().flat_map(|w| &w.methods).filter(|m| m.experiment == experiment.name);
    match (&selector.method, &selector.worker) {
        (Some(name), _) if !methods().any(|m| m.name == *name) => {
            let hint = sizes::did_you_mean(name, methods().map(|m| m.name.as_str()));
            anyhow::anyhow!("experiment {} has no method \"{name}\"{hint}", experiment.name)
        }
        (Some(name), Some(worker)) => anyhow::anyhow!("worker {worker} has no method {}/{name}", experiment.name),
        (_, Some(worker)) => anyhow::anyhow!("worker {worker} has no methods of experiment {}", experiment.name),
        _ => anyhow::anyhow!("no worker has methods of experiment {}", experiment.name),
    }
}

/// Every combination of the values of a method's keys.
fn grid(experiment: &Experiment, method: &Method, wish: &Wish) -> Result<Vec<BTreeMap<String, String>>> {
    let mut combinations = vec![BTreeMap::new()];
    for (key, kind) in &method.keys {
        let parameter = experiment.parameters.get(key).with_context(|| {
            format!(
                "method {}/{} has the key {key}, which the experiment does not describe",
                experiment.name, method.name
            )
        })?;
        let set = wish.settings.iter().rev().find(|(k, _)| k == key).map(|(_, values)| values.as_slice());
        let usual = match wish.sizes {
            ParameterList::Look if !parameter.look.is_empty() => &parameter.look,
            ParameterList::Check if !parameter.check.is_empty() => &parameter.check,
            ParameterList::Short if experiment.budget_s.is_some() && !parameter.look.is_empty() => &parameter.look,
            _ => &parameter.default,
        };
        let words = match set {
            Some([all]) if all == "all" => &parameter.values[..],
            Some(values) => values,
            None => usual,
        };
        let mut values = BTreeSet::new();
        let mut ordered = Vec::new();
        for word in words {
            let chosen_here = set.is_none() && matches!(kind, Kind::Choice(known) if !known.contains(word));
            if chosen_here {
                continue; // The experiment's default is not one of this method's choices; its others are.
            }
            let value = normalise(key, word, kind, parameter.multiple_of.as_deref(), wish)?;
            if values.insert(value.clone()) {
                ordered.push(value);
            }
        }
        combinations = ordered
            .iter()
            .flat_map(|value| {
                combinations.iter().map(move |c: &BTreeMap<String, String>| {
                    let mut longer = c.clone();
                    longer.insert(key.clone(), value.clone());
                    longer
                })
            })
            .collect();
    }
    Ok(combinations)
}

fn normalise(key: &str, word: &str, kind: &Kind, multiple_of: Option<&str>, wish: &Wish) -> Result<String> {
    let value = kind.normalise(key, word, wish.cpus)?;
    if multiple_of == Some("page")
        && let Ok(bytes) = value.parse::<u64>()
        && !bytes.is_multiple_of(wish.page_bytes)
    {
        bail!("{key}={word} is not a multiple of the page size ({} bytes)", wish.page_bytes);
    }
    Ok(value)
}

/// The parameters that group comparisons: two cells are compared where none of these differs.
pub fn group_of(experiment: &Experiment, cell: &Cell) -> BTreeMap<String, String> {
    let grouping = cell.parameters.iter().filter(|(key, _)| experiment.groups_by(key));
    grouping.map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// Whether two groups contradict each other nowhere; a parameter that one of them lacks does not matter to it.
pub fn compatible(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> bool {
    a.iter().all(|(key, value)| b.get(key).is_none_or(|other| other == value))
}

/// Adds the twins and puts the cells into units.
pub fn units(
    cells: &mut Vec<PlannedCell>,
    experiments: &[Experiment],
    baselines: &BTreeMap<String, String>,
) -> Result<Vec<Unit>> {
    add_twins(cells, experiments, baselines)?;
    let mut units: Vec<(String, Unit)> = Vec::new();
    // Cells with fewer parameters (limits, floors) come last, so that they find the unit of the cells they belong to.
    let mut order: Vec<usize> = (0..cells.len()).filter(|&i| cells[i].outcome.is_none()).collect();
    let grouping = |i: usize| {
        let experiment = experiments.iter().find(|e| e.name == cells[i].cell.experiment);
        experiment.map_or_else(BTreeMap::new, |e| group_of(e, &cells[i].cell))
    };
    order.sort_by_key(|&i| std::cmp::Reverse(grouping(i).len()));
    let mut groups: Vec<BTreeMap<String, String>> = Vec::new();
    for i in order {
        let method = Method::parse(&cells[i].method)?;
        let group = grouping(i);
        let key = format!("{} {} {:?}", cells[i].cell.experiment, cells[i].cell.worker, method.isolation);
        let preloaded = method.preload.is_some();
        let home = (method.isolation == Isolation::Shared && !preloaded)
            .then(|| (0..units.len()).find(|&u| units[u].0 == key && compatible(&group, &groups[u])))
            .flatten();
        match home {
            Some(u) => units[u].1.cells.push(i),
            None => {
                let fresh = method.isolation == Isolation::Fresh;
                let experiment = cells[i].cell.experiment.clone();
                let unit = Unit {
                    experiment,
                    cells: vec![i],
                    rounds: 0,
                    warmup_rounds: 0,
                    fresh,
                    round_s: 0.0,
                    start_s: 0.0,
                    split_from: None,
                };
                units.push((key, unit));
                groups.push(group);
            }
        }
    }
    Ok(units.into_iter().map(|(_, unit)| unit).collect())
}

fn add_twins(
    cells: &mut Vec<PlannedCell>,
    experiments: &[Experiment],
    baselines: &BTreeMap<String, String>,
) -> Result<()> {
    let mut seen = BTreeSet::new();
    let mut twins = Vec::new();
    for planned in cells.iter().filter(|p| p.outcome.is_none() && !p.twin) {
        let Some(experiment) = experiments.iter().find(|e| e.name == planned.cell.experiment) else { continue };
        let group = group_of(experiment, &planned.cell);
        let is_baseline = baselines.get(&experiment.name) == Some(&planned.cell.method);
        if is_baseline && seen.insert((experiment.name.clone(), planned.cell.worker.clone(), group)) {
            twins.push(PlannedCell { twin: true, ..planned.clone() });
        }
    }
    cells.extend(twins);
    Ok(())
}

/// The baseline of each experiment: the wish's where it names a method of that experiment.
pub fn baselines(experiments: &[Experiment], cells: &[PlannedCell], wish: &Wish) -> Result<BTreeMap<String, String>> {
    let mut chosen = BTreeMap::new();
    for experiment in experiments {
        let has = |name: &str| cells.iter().any(|p| p.cell.experiment == experiment.name && p.cell.method == name);
        let own = wish.baseline.as_deref().filter(|b| has(b));
        let first = || cells.iter().find(|p| p.cell.experiment == experiment.name).map(|p| p.cell.method.clone());
        let usual = has(&experiment.baseline).then(|| experiment.baseline.clone());
        if let Some(name) = own.map(str::to_owned).or(usual).or_else(first) {
            chosen.insert(experiment.name.clone(), name);
        }
    }
    if let Some(baseline) = &wish.baseline
        && !chosen.values().any(|b| b == baseline)
    {
        let hint = sizes::did_you_mean(baseline, cells.iter().map(|p| p.cell.method.as_str()));
        bail!("--baseline: no selected cell has the method \"{baseline}\"{hint}");
    }
    Ok(chosen)
}

/// Marks the cells whose worker, library or toolchain is missing, with the reason.
pub fn settle_missing(cells: &mut [PlannedCell], all: &[Worker]) -> Result<BTreeMap<String, String>> {
    let mut hashes = BTreeMap::new();
    for planned in cells.iter_mut() {
        let method = Method::parse(&planned.method)?;
        for side in planned.cell.sides() {
            let worker = workers::find(all, side)?;
            if let Some(reason) = method.needs.as_deref().and_then(|needs| worker.lacks(needs)) {
                planned.outcome = Some(Outcome::of(Status::Skipped, reason));
                continue;
            }
            match worker.start() {
                Ok(started) => {
                    hashes.insert(worker.name.clone(), started.hash.clone());
                }
                Err(reason) => planned.outcome = Some(Outcome::of(Status::Skipped, reason)),
            }
        }
        if let Some((library, package)) = &method.preload
            && workers::find_library(library)?.is_none()
        {
            let reason = format!("{library} is not installed; the package {package} has it");
            planned.outcome = Some(Outcome::of(Status::Skipped, reason));
        }
    }
    Ok(hashes)
}
