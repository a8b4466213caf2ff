//! Methods and workers named by a user, and every combination of the values of their parameters.

use super::{catalog, covering::covering, input, states, wish::Wish};
use crate::worker::{self, Worker};
use anyhow::{Context, Result, bail};
use record::cell::{Cell, Selector};
use record::concern::Concern;
use record::experiment::{Experiment, Parameter, ParameterList, is_same_value};
use record::method::{Isolation, KeyKind, Method, Role};
use record::parameters::Parameters;
use record::plan::{BATCH, Plan, PlannedCell};
use record::{machine_state::STATE, sizes};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The cells that a wish stands for, and the experiments they belong to.
pub fn cells(
    known: &[Experiment],
    workers: &[Worker],
    wish: &Wish,
) -> Result<(Vec<PlannedCell>, Vec<Experiment>)> {
    let mut experiments: Vec<Experiment> = Vec::new();
    let mut planned: Vec<PlannedCell> = Vec::new();
    let overview;
    let selectors = if wish.selectors.is_empty() {
        overview = all_selectors(known, wish.sizes);
        &overview
    } else {
        &wish.selectors
    };
    for selector in selectors {
        let mut experiment = Cow::Borrowed(catalog::find(known, &selector.experiment)?);
        if wish.sets(STATE) {
            experiment = Cow::Owned(states::with_states(&experiment));
        }
        let cells = cells_of(&experiment, workers, selector, wish)?;
        if cells.is_empty() {
            bail!(
                "no selected method of {} takes {}",
                experiment.name,
                setting_texts(wish)
            );
        }
        for cell in cells {
            if !planned.iter().any(|p| p.cell == cell.cell) {
                planned.push(cell);
            }
        }
        if !experiments.iter().any(|e| e.name == experiment.name) {
            experiments.push(experiment.into_owned());
        }
    }
    check_keys(&experiments, wish)?;
    let chosen: Vec<&Cell> = planned.iter().map(|planned| &planned.cell).collect();
    let given = wish.settings.iter().take(wish.given);
    let given = given.map(|(key, values)| (key, values.as_slice()));
    check_effects(&experiments, workers, &chosen, given)?;
    Ok((planned, experiments))
}

/// Selectors of every visible experiment, or of those of the overview.
fn all_selectors(experiments: &[Experiment], list: ParameterList) -> Vec<Selector> {
    experiments
        .iter()
        .filter(|e| !e.hidden && (e.look || list != ParameterList::Look))
        .map(|e| Selector {
            experiment: e.name.clone(),
            method: None,
            worker: None,
        })
        .collect()
}

/// The cells of one selector.
fn cells_of(
    experiment: &Experiment,
    workers: &[Worker],
    selector: &Selector,
    wish: &Wish,
) -> Result<Vec<PlannedCell>> {
    let mut planned = Vec::new();
    for (method, worker) in selected(experiment, workers, selector, wish)? {
        for parameters in grid(experiment, method, wish)? {
            let free_batch = parameters.contains_key(BATCH)
                && wish.sizes != ParameterList::Check
                && !wish.sets(BATCH);
            planned.push(PlannedCell {
                cell: Cell {
                    experiment: experiment.name.clone(),
                    method: method.name.clone(),
                    worker: worker.clone(),
                    parameters,
                },
                method: alone_if_the_other_is(method, &worker, workers),
                twin: false,
                free_batch,
                proves: false,
                outcome: None,
            });
        }
    }
    Ok(planned)
}

/// `KEY=VALUE,VALUE KEY=VALUE` of a wish.
fn setting_texts(wish: &Wish) -> String {
    let settings = wish.settings.iter();
    let texts: Vec<String> = settings
        .map(|(key, values)| format!("{key}={}", values.join(",")))
        .collect();
    texts.join(" ")
}

/// An error if a wish sets a parameter that no selected experiment has.
fn check_keys(experiments: &[Experiment], wish: &Wish) -> Result<()> {
    let known: BTreeSet<&str> = experiments
        .iter()
        .flat_map(|e| e.parameters.keys().map(String::as_str))
        .collect();
    match wish
        .settings
        .iter()
        .find(|(key, _)| !known.contains(key.as_str()))
    {
        Some((key, _)) => {
            let hint = sizes::did_you_mean(key, known.iter().copied());
            bail!("no selected experiment has the parameter \"{key}\"{hint}")
        }
        None => Ok(()),
    }
}

/// An error if one of these parameters, which a user sets to these values, has no effect in any of the cells. Its usual value is
/// taken all the same: commands that repeat a run name every parameter.
pub(super) fn check_effects<'a>(
    experiments: &[Experiment],
    workers: &[Worker],
    cells: &[&Cell],
    settings: impl IntoIterator<Item = (&'a String, &'a [String])>,
) -> Result<()> {
    for (key, values) in settings {
        let mut having = cells
            .iter()
            .filter(|cell| cell.parameters.contains_key(key))
            .peekable();
        if having.peek().is_none() {
            let methods = workers.iter().flat_map(Worker::methods).filter(|method| {
                cells
                    .iter()
                    .any(|cell| cell.experiment == method.experiment)
                    && method.key(key).is_some()
            });
            let names: BTreeSet<&str> = methods.map(|method| method.name.as_str()).collect();
            let names = Vec::from_iter(names).join(", ");
            bail!("{key} has no effect on the selected methods; those that take it: {names}");
        }
        let mut obstacle = None;
        let is_taken = having.any(|cell| {
            let experiment = experiments.iter().find(|e| e.name == cell.experiment);
            let here = experiment.and_then(|e| Some((e, e.obstacle(key, &cell.parameters)?)));
            obstacle = obstacle.or(here);
            let has = |value: &String| is_same_value(value, &cell.parameters[key]);
            here.is_none() || values.iter().all(has)
        });
        if let Some((experiment, (other, value))) = obstacle.filter(|_| !is_taken) {
            let meaning = &experiment.parameters[key].meaning;
            bail!("{key} has no effect where {other}={value}; it is: {meaning}");
        }
    }
    Ok(())
}

/// Pairs of a parameter that a user sets and of another one's value, `order=random`, with which it has no effect in some cells.
pub fn without_effect<'a>(plan: &'a Plan, keys: &'a [String]) -> BTreeSet<(&'a str, String)> {
    let mut pairs = BTreeSet::new();
    for cell in plan.cells.iter().map(|planned| &planned.cell) {
        let Some(experiment) = plan.experiment(&cell.experiment) else {
            continue;
        };
        for key in keys.iter().filter(|key| cell.parameters.contains_key(*key)) {
            let obstacle = experiment.obstacle(key, &cell.parameters);
            pairs.extend(obstacle.map(|(other, value)| (key.as_str(), format!("{other}={value}"))));
        }
    }
    pairs
}

/// The first cell of a selector with these settings.
pub(super) fn first_cell(
    experiments: &[Experiment],
    workers: &[Worker],
    here: &Wish,
    selector: Selector,
    settings: Vec<(String, Vec<String>)>,
) -> Result<PlannedCell> {
    let wish = here.for_cells(vec![selector], settings);
    let (planned, _) = cells(experiments, workers, &wish)?;
    let first = planned.into_iter().next();
    first.with_context(|| {
        let name = &wish.selectors[0].experiment;
        format!("{name} has no cell with these parameters")
    })
}

/// True if a selector names a family of workers, such as `java*`, of which there is none here.
pub(super) fn is_absent(selector: &Selector, workers: &[Worker]) -> bool {
    selector
        .worker
        .iter()
        .flat_map(|pattern| pattern.split('+'))
        .filter(|pattern| pattern.ends_with('*'))
        .any(|pattern| !workers.iter().any(|w| worker::fits(&w.name, pattern)))
}

/// A pair shares its processes with other cells only where both of its workers would.
pub(super) fn alone_if_the_other_is(method: &Method, worker: &str, workers: &[Worker]) -> Method {
    let second = worker
        .split_once('+')
        .and_then(|(_, name)| worker::find(workers, name).ok());
    let theirs = second
        .and_then(|w| w.method(&method.experiment, &method.name))
        .map(|m| m.isolation);
    let isolation = match (method.isolation, theirs) {
        (Isolation::Shared, Some(theirs)) => theirs,
        (own, _) => own,
    };
    Method {
        isolation,
        ..method.clone()
    }
}

/// Methods and workers that one selector stands for.
fn selected<'a>(
    experiment: &Experiment,
    workers: &'a [Worker],
    selector: &Selector,
    wish: &Wish,
) -> Result<Vec<(&'a Method, String)>> {
    // Usual conditions alone are those of the usual workers.
    let list = if wish.conditions {
        wish.sizes
    } else {
        ParameterList::Look
    };
    let names: Vec<String> = match &selector.worker {
        Some(pattern) if pattern.contains('*') => matching_workers(
            std::slice::from_ref(pattern),
            experiment,
            workers,
            selector.method.as_deref(),
        ),
        Some(name) => vec![name.clone()],
        None => matching_workers(
            experiment.usual_workers(list),
            experiment,
            workers,
            selector.method.as_deref(),
        ),
    };
    let mut methods = Vec::new();
    for name in &names {
        let mut sides = name.split('+');
        let first = worker::find(workers, sides.next().unwrap_or(name))?;
        let second = sides.next().map(|s| worker::find(workers, s)).transpose()?;
        for method in first
            .methods()
            .iter()
            .filter(|m| m.experiment == experiment.name)
        {
            let is_chosen = selector.method.as_ref().map_or_else(
                || {
                    experiment.takes(&method.name, wish.sizes)
                        && !(wish.sizes == ParameterList::Look && method.role == Role::Published)
                },
                |name| *name == method.name,
            );
            let other = second.unwrap_or(first);
            if is_chosen && (method.two_sided || second.is_none()) {
                let both = other.method(&experiment.name, &method.name).is_some();
                if !method.two_sided {
                    methods.push((method, first.name.clone()));
                } else if both {
                    methods.push((method, format!("{}+{}", first.name, other.name)));
                }
            }
        }
    }
    if methods.is_empty() {
        return Err(nothing_selected(experiment, workers, selector));
    }
    Ok(methods)
}

/// The workers, and pairs of them, that these patterns stand for and that have methods of the experiment (or the one method).
fn matching_workers(
    patterns: &[String],
    experiment: &Experiment,
    workers: &[Worker],
    method: Option<&str>,
) -> Vec<String> {
    let having: Vec<&str> = workers
        .iter()
        .filter(|w| {
            let mut methods = w.methods().iter();
            methods.any(|m| {
                m.experiment == experiment.name && method.is_none_or(|name| name == m.name)
            })
        })
        .map(|w| w.name.as_str())
        .collect();
    let mut names: Vec<String> = Vec::new();
    for pattern in patterns {
        let (first, second) = match pattern.split_once('+') {
            Some((first, second)) => (first, Some(second)),
            None => (pattern.as_str(), None),
        };
        for worker in having.iter().filter(|name| worker::fits(name, first)) {
            let Some(second) = second else {
                names.push((*worker).to_owned());
                continue;
            };
            let seconds = having.iter().filter(|name| worker::fits(name, second));
            names.extend(seconds.map(|second| format!("{worker}+{second}")));
        }
    }
    names
}

/// Why nothing is measured by a selector: there is no such method, or its worker does not have it.
pub fn nothing_selected(
    experiment: &Experiment,
    workers: &[Worker],
    selector: &Selector,
) -> anyhow::Error {
    let names: Vec<&str> = workers
        .iter()
        .flat_map(|w| w.methods().iter())
        .filter(|m| m.experiment == experiment.name)
        .map(|m| m.name.as_str())
        .collect();
    match (&selector.method, &selector.worker) {
        (Some(name), _) if !names.contains(&name.as_str()) => {
            let hint = sizes::did_you_mean(name, names.iter().copied());
            anyhow::anyhow!(
                "experiment {} has no method \"{name}\"{hint}",
                experiment.name
            )
        }
        (Some(name), Some(worker)) => {
            let having = workers
                .iter()
                .filter(|w| w.method(&experiment.name, name).is_some());
            let having = having
                .map(|w| w.name.as_str())
                .collect::<Vec<_>>()
                .join(", ");
            anyhow::anyhow!(
                "worker {worker} has no method {}/{name}; it is measured by {having}",
                experiment.name
            )
        }
        (_, Some(worker)) => anyhow::anyhow!(
            "worker {worker} has no methods of experiment {}",
            experiment.name
        ),
        _ => anyhow::anyhow!("no worker has methods of experiment {}", experiment.name),
    }
}

/// Every combination of the values of a method's keys; in a check, as many as let every three values meet.
pub(super) fn grid(
    experiment: &Experiment,
    method: &Method,
    wish: &Wish,
) -> Result<Vec<Parameters>> {
    let mut combinations = vec![Parameters::default()];
    for (key, kind) in &method.keys {
        let parameter = experiment.parameters.get(key).with_context(|| {
            format!(
                "method {}/{} has the key {key}, which the experiment does not describe",
                experiment.name, method.name
            )
        })?;
        let set = wish
            .settings
            .iter()
            .rev()
            .find(|(k, _)| k == key)
            .map(|(_, values)| values.as_slice());
        let usual = usual_values(experiment, parameter, wish);
        let chosen = match set {
            Some([all]) if all == "all" => &parameter.values[..],
            Some(values) => values,
            None => usual,
        };
        let mut values = BTreeSet::new();
        let mut ordered = Vec::new();
        for word in chosen {
            if kind.lacks(word).is_some() && (set.is_none() || parameter.values.contains(word)) {
                continue; // One of the experiment's values that is none of this method's choices.
            }
            let value = if parameter.concerns == Some(Concern::MemoryBound) {
                input::bound_in_bytes(key, word)?
            } else if parameter.concerns == Some(Concern::File) {
                word.clone() // a path, which may have a line break
            } else {
                normalise(key, word, kind, parameter.multiple_of.as_deref(), wish)?
            };
            if values.insert(value.clone()) {
                ordered.push(value);
            }
        }
        combinations = with_values(&combinations, key, &ordered);
    }
    if let Some(names) = states::wished(experiment, wish)? {
        combinations = with_values(&combinations, STATE, names);
    }
    let mut combinations = with_usual_without_effect(experiment, method, wish, combinations)?;
    // Conditions vary one at a time: a question has its usual condition and its neighbors.
    let most = usize::from(wish.conditions);
    combinations.retain(|combination| {
        let unusual = experiment.unusual(combination);
        let unset = unusual.filter(|key| !(wish.sets(key) && (*key != STATE || !wish.conditions)));
        unset.count() <= most
    });
    Ok(if wish.sizes == ParameterList::Check {
        covering(combinations)
    } else {
        combinations
    })
}

/// Values of a parameter that is not set.
fn usual_values<'a>(
    experiment: &Experiment,
    parameter: &'a Parameter,
    wish: &Wish,
) -> &'a [String] {
    match wish.sizes {
        ParameterList::Look if !parameter.look.is_empty() => &parameter.look,
        ParameterList::Check if !parameter.check.is_empty() => &parameter.check,
        ParameterList::Short if experiment.budget_s.is_some() && !parameter.look.is_empty() => {
            &parameter.look
        }
        _ => &parameter.default,
    }
}

/// These combinations with the usual value for each parameter that has no effect: its other values would be the same cell once
/// more.
fn with_usual_without_effect(
    experiment: &Experiment,
    method: &Method,
    wish: &Wish,
    combinations: Vec<Parameters>,
) -> Result<Vec<Parameters>> {
    let mut different: Vec<Parameters> = Vec::new();
    for mut combination in combinations {
        for (key, kind) in &method.keys {
            if experiment.obstacle(key, &combination).is_none() {
                continue;
            }
            let parameter = &experiment.parameters[key];
            let mut usual = usual_values(experiment, parameter, wish).iter();
            if let Some(word) = usual.find(|word| kind.lacks(word).is_none()) {
                let value = normalise(key, word, kind, None, wish)?;
                combination.insert(key.clone(), value);
            }
        }
        if !different.contains(&combination) {
            different.push(combination);
        }
    }
    Ok(different)
}

/// Each combination with each of these values of one key.
fn with_values(combinations: &[Parameters], key: &str, values: &[String]) -> Vec<Parameters> {
    let mut extended = Vec::new();
    for value in values {
        for combination in combinations {
            let mut combination = combination.clone();
            combination.insert(key.to_owned(), value.clone());
            extended.push(combination);
        }
    }
    extended
}

fn normalise(
    key: &str,
    word: &str,
    kind: &KeyKind,
    multiple_of: Option<&str>,
    wish: &Wish,
) -> Result<String> {
    let value = kind.normalise(key, word, wish.cpus)?;
    if multiple_of == Some("page")
        && let Ok(bytes) = value.parse::<u64>()
        && !bytes.is_multiple_of(wish.page_bytes)
    {
        bail!(
            "{key}={word} is not a multiple of the page size ({} bytes)",
            wish.page_bytes
        );
    }
    Ok(value)
}
