//! States of the machine as a parameter of every experiment, and cells whose state cannot be had.

use super::wish::Wish;
use crate::plan::input::CAPTURE;
use crate::worker::carried;
use anyhow::{Result, bail};
use record::cell::Cell;
use record::concern::{Concern, TMPFS};
use record::experiment::{Experiment, Parameter, ParameterKind};
use record::machine_state::{MachineState, PLAIN, STATE};
use record::outcome::{Cause, Outcome, Status};
use record::{plan::PlannedCell, sizes};
use std::{collections::BTreeMap, path::Path, sync::LazyLock};

static STATES: LazyLock<Vec<MachineState>> = LazyLock::new(|| {
    carried::STATES
        .iter()
        .map(|(path, text)| MachineState::parse(path, text))
        .collect::<Result<_>>()
        .expect("a test parses every carried state")
});

/// Names of all states, the plain one among them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    STATES
        .iter()
        .map(|state| state.name.as_str())
        .chain([PLAIN])
}

/// The state of a name; `None` for the plain one.
pub fn find(name: &str) -> Result<Option<&'static MachineState>> {
    if name == PLAIN {
        return Ok(None);
    }
    let Some(state) = STATES.iter().find(|state| state.name == name) else {
        let hint = sizes::did_you_mean(name, names());
        bail!("there is no state \"{name}\" of a machine{hint}");
    };
    Ok(Some(state))
}

pub(super) fn with_states(experiment: &Experiment) -> Experiment {
    let mut experiment = experiment.clone();
    let states = STATES
        .iter()
        .filter(|state| state.experiments.contains(&experiment.name));
    let plain = (
        PLAIN.to_owned(),
        "the machine is as it was found".to_owned(),
    );
    let parameter = Parameter {
        kind: ParameterKind::Choice,
        meaning: "state of the machine, which is made for each launch, proved and undone"
            .to_owned(),
        values: [PLAIN]
            .into_iter()
            .chain(states.map(|state| state.name.as_str()))
            .map(str::to_owned)
            .collect(),
        default: vec![PLAIN.to_owned()],
        look: Vec::new(),
        check: Vec::new(),
        multiple_of: None,
        option: false,
        condition: true,
        when: STATES
            .iter()
            .map(|state| (state.name.clone(), state.when.clone()))
            .chain([plain])
            .collect(),
        no_effect_where: BTreeMap::new(),
        system_changes: STATES.iter().map(|state| state.name.clone()).collect(),
        concerns: None,
    };
    experiment.parameters.insert(STATE.to_owned(), parameter);
    experiment
}

/// The experiment with these states as its condition: `all` stands for those that matter to it. Without any it stays as it is.
pub(super) fn among(experiment: &Experiment, names: &[String]) -> Result<Experiment> {
    let [first, ..] = names else {
        return Ok(experiment.clone());
    };
    let mut experiment = with_states(experiment);
    let parameter = experiment
        .parameters
        .get_mut(STATE)
        .expect("with_states has just put it there");
    parameter.look = if first == "all" {
        parameter.values.clone()
    } else {
        names.to_vec()
    };
    parameter
        .look
        .iter()
        .try_for_each(|name| find(name).map(drop))?;
    Ok(experiment)
}

/// The states that a wish asks for; `None` where it says nothing of states.
pub(super) fn wished<'a>(
    experiment: &'a Experiment,
    wish: &'a Wish,
) -> Result<Option<&'a [String]>> {
    let Some((_, values)) = wish.settings.iter().find(|(key, _)| key == STATE) else {
        return Ok(None);
    };
    values
        .iter()
        .filter(|value| *value != "all")
        .try_for_each(|value| find(value).map(drop))?;
    let every = experiment
        .parameters
        .get(STATE)
        .filter(|_| values.iter().any(|value| value == "all"));
    Ok(Some(every.map_or(values, |parameter| &parameter.values)))
}

/// Skips cells whose state this machine or their worker cannot have.
pub(super) fn settle(cells: &mut [PlannedCell], experiments: &[Experiment]) -> Result<()> {
    for planned in cells.iter_mut().filter(|p| p.outcome.is_none()) {
        let state = planned
            .cell
            .parameters
            .get(STATE)
            .map(|name| find(name))
            .transpose()?
            .flatten();
        let Some(state) = state else { continue };
        let is_other =
            !state.bound.is_empty() && !state.bound.contains_key(&planned.cell.experiment);
        let foreign = state.inside.is_some() && !planned.cell.sides().all(is_native);
        let foreign = foreign.then(|| Cause::NativeOnly {
            state: state.name.clone(),
        });
        let elsewhere = state.files.is_some() && lies_elsewhere(&planned.cell, experiments);
        let other = (is_other || elsewhere).then(|| Cause::Lacks {
            text: state.only_reason.clone(),
        });
        if let Some(cause) = lacking(state).or(other).or(foreign) {
            planned.outcome = Some(Outcome::because(Status::Skipped, cause));
        }
    }
    Ok(())
}

/// Tells whether a cell reads the user's own file, or one in memory.
fn lies_elsewhere(cell: &Cell, experiments: &[Experiment]) -> bool {
    let value = |concern| {
        let mut all = experiments.iter();
        all.find(|e| e.name == cell.experiment)?
            .value(cell, concern)
    };
    value(Concern::File).is_some_and(|file| file != CAPTURE)
        || value(Concern::FilePlace) == Some(TMPFS)
}

/// Tells whether the state of a cell gives the folder for its files.
pub fn gives_files(cell: &Cell) -> bool {
    let name = cell.parameters.get(STATE);
    let state = name.and_then(|name| find(name).ok().flatten());
    state.is_some_and(|state| state.files.is_some())
}

/// The cause for which this machine cannot be in the state, by the files that are there.
pub fn lacking(state: &MachineState) -> Option<Cause> {
    state
        .needs
        .iter()
        .find(|(need, _)| match need.strip_prefix('!') {
            Some(path) => Path::new(path).exists(),
            None => !Path::new(need).exists(),
        })
        .map(|(_, text)| Cause::Lacks { text: text.clone() })
}

fn is_native(worker: &str) -> bool {
    let mut native = carried::NATIVE_WORKERS.iter();
    native.any(|(name, _)| *name == worker)
}

#[cfg(test)]
mod tests {
    use record::experiment::ParameterList;

    use super::*;
    use crate::plan::catalog;

    #[test]
    fn every_carried_state_is_sound() {
        let experiments = catalog::experiments(None).expect("experiments");
        for state in STATES.iter() {
            for name in state.experiments.iter().chain(state.bound.keys()) {
                assert!(
                    experiments.iter().any(|e| e.name == *name),
                    "{}: {name} is no experiment",
                    state.name
                );
            }
            assert!(
                !state.when.ends_with('.') && !state.title.ends_with('.'),
                "{}",
                state.name
            );
            assert_eq!(
                state.bound.is_empty() && state.files.is_none(),
                state.only_reason.is_empty(),
                "{}",
                state.name
            );
        }
        let names: Vec<&str> = STATES.iter().map(|state| state.name.as_str()).collect();
        let mut unique = names.clone();
        unique.dedup();
        assert_eq!(names, unique);
    }

    #[test]
    fn a_state_that_there_is_not_is_named_with_the_nearest() {
        let wish = Wish {
            settings: vec![(
                STATE.to_owned(),
                vec!["plain".to_owned(), "swap-zramm".to_owned()],
            )],
            cpus: 2,
            page_bytes: 4096,
            ..Wish::new(Vec::new(), ParameterList::Default)
        };
        let fault = catalog::experiments(None)
            .expect("experiments")
            .into_iter()
            .find(|e| e.name == "fault")
            .expect("fault");
        let fault = with_states(&fault);
        let error = wished(&fault, &wish)
            .expect_err("no such state")
            .to_string();
        assert!(error.contains("swap-zram\""), "{error}");
        let every = Wish {
            settings: vec![(STATE.to_owned(), vec!["all".to_owned()])],
            ..wish
        };
        let values = wished(&fault, &every).expect("states").expect("some");
        assert_eq!(values[0], PLAIN);
        assert!(values.iter().any(|value| value == "fragmented-movable"));
        assert!(
            !values.iter().any(|value| value == "writeback"),
            "{values:?}"
        );
    }
}
