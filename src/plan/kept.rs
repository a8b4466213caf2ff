//! A kept plan is data. Whatever it would execute, load, open or permit must be what this command line says.

use super::{input, input::CAPTURE, states};
use crate::worker::{self, Worker};
use anyhow::{Context, Result, bail, ensure};
use record::plan::{Plan, PlannedCell};
use record::{concern::Concern, experiment::Experiment, machine_state::STATE};

/// Permissions and files of a command line.
#[derive(Debug)]
pub struct Granted<'a> {
    pub system_changes: bool,
    /// Settings, with the user's own files among them.
    pub files: &'a [(String, Vec<String>)],
}

/// Confirms the plan of a kept run, so that it can be gone on with.
/// Errors: a sentence on the first thing that differs.
pub fn confirm(
    plan: &Plan,
    experiments: &[Experiment],
    workers: &[Worker],
    granted: &Granted,
) -> Result<()> {
    ensure!(
        granted.system_changes || !plan.allow_system_changes,
        "this run was allowed to change the system; it goes on with --allow-system-changes only"
    );
    for kept in &plan.experiments {
        let here = experiments.iter().find(|here| here.name == kept.name);
        let has_states = kept.parameters.contains_key(STATE);
        let here = here.map(|here| {
            if has_states {
                states::with_states(here)
            } else {
                here.clone()
            }
        });
        let same = here.is_some_and(|here| without_lists(&here) == without_lists(kept));
        ensure!(
            same,
            "the experiment {} is another one in this Pagewise than in the run; make a new run",
            kept.name
        );
    }
    let mut settled = plan.cells.clone();
    input::settle(
        &mut settled,
        &plan.experiments,
        granted.system_changes && plan.allow_system_changes,
    );
    for (planned, settled) in plan
        .cells
        .iter()
        .zip(&settled)
        .filter(|(planned, _)| planned.outcome.is_none())
    {
        if let Some(outcome) = &settled.outcome {
            bail!(
                "{} cannot be gone on with: {}",
                planned.cell.name(),
                report::phrases::reason(outcome)
            );
        }
        confirm_cell(plan, planned, workers, granted)?;
    }
    Ok(())
}

/// An experiment without its lists of values, some of which depend on the state of the machine, and without its time, which a
/// plan of claims sets.
fn without_lists(experiment: &Experiment) -> Experiment {
    let mut bare = Experiment {
        budget_s: None,
        ..experiment.clone()
    };
    for parameter in bare.parameters.values_mut() {
        for list in [
            &mut parameter.values,
            &mut parameter.default,
            &mut parameter.look,
            &mut parameter.check,
        ] {
            list.clear();
        }
    }
    bare
}

fn confirm_cell(
    plan: &Plan,
    planned: &PlannedCell,
    workers: &[Worker],
    granted: &Granted,
) -> Result<()> {
    let cell = &planned.cell;
    let experiment = plan
        .experiment(&cell.experiment)
        .with_context(|| format!("{} is of no experiment", cell.name()))?;
    let mut sides = cell.sides();
    let first = worker::find(workers, sides.next().unwrap_or(&cell.worker))?;
    let method = first.method(&cell.experiment, &cell.method);
    let Some(method) = method.filter(|method| method.line == planned.method.line) else {
        bail!(
            "the method {} is another one in this Pagewise than in the run; make a new run",
            cell.name()
        );
    };
    for side in sides {
        let has = worker::find(workers, side)?
            .method(&cell.experiment, &cell.method)
            .is_some();
        ensure!(
            has,
            "worker {side} has no method {}/{}",
            cell.experiment,
            cell.method
        );
    }
    let mut keys = cell.parameters.keys();
    ensure!(
        keys.all(|key| key == STATE || method.key(key).is_some()),
        "{} has unknown parameters",
        cell.name()
    );
    cell.parameters
        .get(STATE)
        .map(|name| states::find(name))
        .transpose()?;
    for (key, value) in cell.parameters.iter().filter(|(key, _)| *key != STATE) {
        let kind = method.key(key).context("every parameter is known")?;
        let normal = kind.normalise(key, value, 1)?;
        ensure!(
            normal == *value,
            "{key}={value} of {} is not as a plan has it",
            cell.name()
        );
        let is_file = experiment.concern_of(key) == Some(Concern::File) && value != CAPTURE;
        ensure!(
            !is_file || names(granted, key, value),
            "this run reads {value}; name it again: --set {key}={value}"
        );
    }
    Ok(())
}

/// True if the command line names this file.
fn names(granted: &Granted, key: &str, path: &str) -> bool {
    let mut settings = granted.files.iter();
    settings.any(|(named, values)| named == key && values.iter().any(|value| is_path(value, path)))
}

/// True if a file is at this real path.
fn is_path(file: &str, path: &str) -> bool {
    let real = std::path::Path::new(file).canonicalize();
    real.is_ok_and(|real| real.as_os_str() == path)
}
