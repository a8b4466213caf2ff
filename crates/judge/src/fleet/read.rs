//! From run folders to what is kept of them. A folder that cannot be read is listed with its reason, never fatal.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use record::across::FactDifference;
use record::fleet::{Fault, Fleet, Unread};
use record::folder::{Damaged, RunFolder, SUMMARY};
use record::machine::environment::Environment;
use record::outcome::Status;
use record::plan::BATCH;
use record::summary::{LaunchValues, Role};
use serde::Deserialize;

use super::gathered::{Gathered, NodeCell, NodeRun, Question};
use super::kinds::facts;
use crate::machines;
use crate::warnings::{DAMAGED, THROTTLED};

/// Odd nodes whose facts are looked at: reading them again takes time.
const EXPLAINED: usize = 50;

/// Needed part of a summary; the rest of it is passed over, which makes ten thousand of them quick to read.
#[derive(Deserialize)]
struct Head {
    run: String,
    version: String,
    experiments: Vec<HeadExperiment>,
    groups: Vec<HeadGroup>,
    cells: Vec<HeadCell>,
    #[serde(default)]
    warnings: Vec<HeadWarning>,
}

#[derive(Deserialize)]
struct HeadExperiment {
    name: String,
    headline: String,
    unit: String,
}

#[derive(Deserialize)]
struct HeadGroup {
    cells: Vec<usize>,
    baseline: Option<usize>,
}

#[derive(Deserialize)]
struct HeadCell {
    cell: String,
    experiment: String,
    role: Role,
    group: String,
    parameters: BTreeMap<String, String>,
    #[serde(default)]
    hidden: bool,
    status: Status,
    reason: String,
    #[serde(deserialize_with = "record::summary::columns::deserialize")]
    per_launch: Vec<LaunchValues>,
    phases: BTreeMap<String, HeadPhase>,
}

#[derive(Deserialize)]
struct HeadWarning {
    code: String,
    #[serde(default)]
    cells: Vec<usize>,
    seen: String,
}

#[derive(Deserialize)]
struct HeadPhase {
    wall_ns: HeadMedian,
    per_unit_ns: HeadMedian,
}

#[derive(Deserialize)]
struct HeadMedian {
    median: f64,
}

/// One run folder as it was read, before it is gathered: folders may be read side by side.
pub struct Opened {
    folder: String,
    read: Result<(Head, Environment), (Fault, String)>,
}

/// Reads one run folder: its summary if that follows from its launches, else, or with `again`, its transcripts.
pub fn open(path: &Path, again: bool) -> Opened {
    let read = take(path, again).map_err(|(what, error)| (what, format!("{error:#}")));
    Opened { folder: path.display().to_string(), read }
}

/// Takes a folder into what was gathered.
pub fn gather(gathered: &mut Gathered, opened: Opened) {
    let Opened { folder, read } = opened;
    let run = read.and_then(|(head, environment)| {
        node_run(gathered, &folder, head, &environment).map_err(|error| (Fault::Damaged, format!("{error:#}")))
    });
    match run {
        Ok(run) => gathered.add(run),
        Err((what, reason)) => gathered.unread.push(Unread { folder, what, reason }),
    }
}

/// Reads one run folder into what was gathered.
pub fn read(gathered: &mut Gathered, path: &Path, again: bool) {
    gather(gathered, open(path, again));
}

fn take(path: &Path, again: bool) -> Result<(Head, Environment), (Fault, anyhow::Error)> {
    let damaged = |error| (Fault::Damaged, error);
    let folder = opened(path).map_err(damaged)?;
    if folder.is_only_begun() {
        return Err((Fault::Begun, anyhow::anyhow!("its run has only begun")));
    }
    // A run of another version is another fault than a damaged one.
    folder.plan().map_err(|error| (if error.is::<Damaged>() { Fault::Damaged } else { Fault::Foreign }, error))?;
    let environment: Environment = folder.read_sealed("environment.json").map_err(damaged)?;
    let judged = if again { None } else { folder.read_result(SUMMARY).ok() };
    let head: Head = match judged {
        Some(head) => head,
        None => replayed(&folder).map_err(damaged)?,
    };
    if let Some(warning) = head.warnings.iter().find(|warning| warning.code == DAMAGED) {
        return Err(damaged(anyhow::anyhow!("{}", warning.seen)));
    }
    if head.cells.iter().all(|cell| cell.per_launch.is_empty()) {
        let fault = if folder.has(SUMMARY) { Fault::Damaged } else { Fault::Begun };
        return Err((fault, anyhow::anyhow!("no launch has ended yet")));
    }
    Ok((head, environment))
}

fn opened(path: &Path) -> Result<RunFolder> {
    let name = path.to_str().context("its name is no text")?;
    RunFolder::open(name, Path::new("/nonexistent"))
        .ok()
        .with_context(|| "it has no plan.json, which is a run's first file")
}

fn replayed(folder: &RunFolder) -> Result<Head> {
    let (_, summary) = crate::replay(folder)?;
    Ok(serde_json::from_value(serde_json::to_value(&summary)?)?)
}

fn node_run(gathered: &mut Gathered, folder: &str, head: Head, environment: &Environment) -> Result<NodeRun> {
    let host = &environment.identity;
    let known = host.node.clone().or_else(|| host.name.clone()).or_else(|| host.machine.clone());
    let mut run = NodeRun {
        folder: folder.to_owned(),
        run: head.run.clone(),
        name: known.unwrap_or_else(|| "unknown".to_owned()),
        machine: host.machine.clone().unwrap_or_default(),
        known_by: facts(environment, &head.version),
        cells: Vec::new(),
    };
    let mut questions: Vec<Option<usize>> = Vec::new();
    for (index, cell) in head.cells.iter().enumerate() {
        let asked = if cell.hidden { None } else { Some(question(gathered, &head, cell)?) };
        questions.push(asked);
        if let Some(question) = asked {
            let logs = unit_logs(&head, cell);
            let (status, reason) = (cell.status, cell.reason.clone());
            run.cells.push(NodeCell { question, status, reason, logs, throttled: throttled(&head, index) });
        }
    }
    for group in &head.groups {
        let of = |cell: usize| questions.get(cell).copied().flatten();
        let Some(baseline) = group.baseline.and_then(of) else { continue };
        for question in group.cells.iter().filter_map(|&cell| of(cell)) {
            gathered.questions[question].baseline.get_or_insert(baseline);
        }
    }
    Ok(run)
}

/// Quota that kept this cell waiting.
fn throttled(head: &Head, cell: usize) -> String {
    let mut all = head.warnings.iter().filter(|w| w.code == THROTTLED && w.cells.contains(&cell));
    all.next().map_or_else(String::new, |warning| warning.seen.clone())
}

fn experiment<'a>(head: &'a Head, cell: &HeadCell) -> Option<&'a HeadExperiment> {
    head.experiments.iter().find(|e| e.name == cell.experiment)
}

fn question(gathered: &mut Gathered, head: &Head, cell: &HeadCell) -> Result<usize> {
    let Some(experiment) = experiment(head, cell) else { bail!("its summary does not tell of {}", cell.experiment) };
    let parameters = cell.parameters.iter().filter(|(key, _)| *key != BATCH);
    Ok(gathered.question(Question {
        cell: cell.cell.clone(),
        experiment: cell.experiment.clone(),
        parameters: parameters.map(|(k, v)| (k.clone(), v.clone())).collect(),
        phase: experiment.headline.clone(),
        unit: experiment.unit.clone(),
        advised: cell.role == Role::Method && cell.group.is_empty(),
        baseline: None,
    }))
}

/// Logarithms of what a unit cost in each launch, by the headline; none where the cell may not be believed.
fn unit_logs(head: &Head, cell: &HeadCell) -> Vec<f64> {
    let headline = experiment(head, cell).filter(|_| cell.status == Status::Ok).map(|e| &e.headline);
    let Some((name, phase)) = headline.and_then(|name| Some((name, cell.phases.get(name)?))) else {
        return Vec::new();
    };
    let units = phase.wall_ns.median / phase.per_unit_ns.median;
    let wall = cell.per_launch.iter().filter_map(|l| l.wall_ns.get(name));
    wall.map(|ns| (ns / units).ln()).filter(|log| log.is_finite()).collect()
}

/// Adds the facts in which odd nodes differ from an ordinary node of their kind, as far as these can be read.
pub fn explain(fleet: &mut Fleet, gathered: &Gathered) {
    let names: Vec<String> = fleet.odd.iter().map(|n| n.node.clone()).collect();
    let environment =
        |folder: &str| -> Option<Environment> { opened(Path::new(folder)).ok()?.read_sealed("environment.json").ok() };
    let mut usual: BTreeMap<String, Option<Environment>> = BTreeMap::new();
    for node in fleet.odd.iter_mut().take(EXPLAINED) {
        let ordinary = usual.entry(node.kind.clone()).or_insert_with(|| {
            let kind = fleet.kinds.iter().find(|kind| kind.name == node.kind)?;
            let name = kind.nodes.iter().find(|name| !names.contains(name))?;
            let run = super::gathered::nodes(gathered).into_iter().find(|n| n.name == *name)?.runs[0];
            environment(&gathered.runs[run].folder)
        });
        let own = node.folders.last().and_then(|folder| environment(folder));
        let Some((ordinary, own)) = ordinary.as_ref().zip(own) else { continue };
        let differ = machines::differences(ordinary, &own).into_iter();
        let told = differ.filter(|d| d.matters && !d.field.starts_with("identity."));
        node.facts = told
            .map(|d| FactDifference { field: d.field, a: d.a, b: d.b, matters: d.matters, expected: false })
            .collect();
    }
}
