//! The experiments that there are: those that the binary carries, and those of the user's own.

use crate::{machine, worker, worker::carried};
use anyhow::{Context, Result};
use files::Folder;
use judge::KnownMethods;
use record::experiment::{Experiment, Title};
use record::method::{Method, Offer, Role};
use record::shared::BuiltIn;
use record::sizes;
use std::{cmp::Reverse, collections::BTreeMap, path::Path, sync::OnceLock};

fn user_folder(folder: Option<&Path>) -> Result<Vec<Experiment>> {
    let mut experiments: Vec<Experiment> = Vec::new();
    let Some(folder) = folder else {
        return Ok(experiments);
    };
    let folder = Folder::open(folder)?;
    for name in folder.names()? {
        if Path::new(&name).extension().is_some_and(|e| e == "toml") {
            let path = folder.path().join(&name);
            let text = super::text_of(&path)?;
            let experiment = Experiment::parse(&path.display().to_string(), &text)?;
            experiments.retain(|e| e.name != experiment.name);
            experiments.push(experiment);
        }
    }
    Ok(experiments)
}

/// The titles of all experiments. What the binary carries is not read any further.
pub fn titles(folder: Option<&Path>) -> Result<Vec<Title>> {
    let user: Vec<Title> = user_folder(folder)?
        .iter()
        .map(Experiment::titled)
        .collect();
    let carried = carried::EXPERIMENTS
        .iter()
        .map(|(path, text)| Title::parse(path, text));
    let mut titles: Vec<Title> = carried.collect::<Result<_>>()?;
    titles.retain(|title| user.iter().all(|o| o.name != title.name));
    titles.extend(user);
    titles.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(titles)
}

/// All experiments: those the binary carries, then those of the user's own folder, which may replace one by name.
pub fn experiments(folder: Option<&Path>) -> Result<Vec<Experiment>> {
    let mut experiments = Vec::new();
    for (path, text) in carried::EXPERIMENTS {
        experiments.push(Experiment::parse(path, text)?);
    }
    for experiment in user_folder(folder)? {
        experiments.retain(|e: &Experiment| e.name != experiment.name);
        experiments.push(experiment);
    }
    let here = machine::sizes_here(Path::new("/"));
    for experiment in &mut experiments {
        experiment.settle_sizes(&here)?;
    }
    experiments.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(experiments)
}

/// The methods of this version, by which kept runs are judged, too: those of every worker of this machine.
pub fn known_methods() -> Result<&'static KnownMethods> {
    static KNOWN: OnceLock<KnownMethods> = OnceLock::new();
    if KNOWN.get().is_none() {
        let (workers, titles) = (worker::all(&[], &[])?, titles(None)?);
        let offers: Vec<Offer> = workers
            .iter()
            .map(|worker| Offer {
                worker: &worker.name,
                methods: worker.methods(),
            })
            .collect();
        let visible = titles.iter().filter(|title| !title.hidden);
        let visible = visible.map(|title| title.name.as_str()).collect();
        let usual = worker::usual();
        let _ = KNOWN.set(KnownMethods::new(&offers, usual, &visible));
    }
    KNOWN.get().context("the methods are known")
}

/// Names that a shared run may have: those of the binary, whatever languages this machine has.
pub fn built_in() -> Result<BuiltIn> {
    let workers = worker::all(&[], &[])?;
    let methods = workers.iter().flat_map(|worker| worker.methods());
    Ok(BuiltIn {
        experiments: experiments(None)?,
        methods: methods
            .map(|method| format!("{}/{}", method.experiment, method.name))
            .collect(),
        states: super::states::names().map(str::to_owned).collect(),
    })
}

/// The experiment of that name, or an error that names the nearest one.
pub fn find<'a>(experiments: &'a [Experiment], name: &str) -> Result<&'a Experiment> {
    experiments
        .iter()
        .find(|e| e.name == name)
        .with_context(|| {
            format!(
                "there is no experiment \"{name}\"{} (pagewise list shows them)",
                hint(experiments, name)
            )
        })
}

/// The experiments with a method of this name, otherwise the nearest experiment or method.
fn hint(experiments: &[Experiment], name: &str) -> String {
    let workers = worker::all(&[], &[]).unwrap_or_default();
    let methods: Vec<&Method> = workers
        .iter()
        .flat_map(|w| w.methods())
        .filter(|m| matches!(m.role, Role::Method | Role::Published))
        .filter(|m| {
            experiments
                .iter()
                .any(|e| e.name == m.experiment && !e.hidden)
        })
        .collect();
    let having = experiments_of(&methods, name);
    if let Some(first) = having.first() {
        return format!(
            "; {name} is a method of {}: pagewise run {first}/{name}",
            having.join(", ")
        );
    }
    let near = sizes::did_you_mean(name, experiments.iter().map(|e| e.name.as_str()));
    if !near.is_empty() {
        return near;
    }
    match sizes::nearest(name, methods.iter().map(|m| m.name.as_str())) {
        Some(method) => format!(
            "; did you mean the method \"{method}\" of {}?",
            experiments_of(&methods, method).join(", ")
        ),
        None => String::new(),
    }
}

/// The experiments that have a method of this name, the one that most workers have first: it is likely meant.
fn experiments_of<'a>(methods: &[&'a Method], name: &str) -> Vec<&'a str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for method in methods.iter().filter(|m| m.name == name) {
        *counts.entry(&method.experiment).or_default() += 1;
    }
    let mut names: Vec<&str> = counts.keys().copied().collect();
    names.sort_by_key(|name| Reverse(counts[name]));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sizes::BYTES;
    use std::collections::BTreeSet;

    #[test]
    fn every_carried_experiment_is_sound() {
        for experiment in experiments(None).unwrap() {
            assert!(
                !experiment.question.trim().is_empty() && !experiment.phases.is_empty(),
                "{}",
                experiment.name
            );
            assert!(
                experiment.measures().any(|m| m == experiment.headline()),
                "{}",
                experiment.name
            );
            assert!(
                experiment.totals.iter().filter(|t| t.headline).count() <= 1,
                "{}",
                experiment.name
            );
        }
    }

    /// A row shows what a value means, never `key=value` that a reader must look up: options are part of a method's name, and sizes
    /// have their unit.
    #[test]
    fn every_value_that_a_row_may_show_has_a_clause() {
        let mut seen = 0;
        for experiment in experiments(None).unwrap().iter().filter(|e| !e.hidden) {
            for (key, parameter) in &experiment.parameters {
                let lists = [&parameter.default, &parameter.look];
                let is_shown = lists.iter().any(|values| values.len() > 1);
                if !is_shown || parameter.option || key == BYTES {
                    continue;
                }
                for value in lists.into_iter().flatten() {
                    let clause = experiment.clause_on(key, value);
                    assert!(clause.is_some(), "{}: {key}={value}", experiment.name);
                    seen += 1;
                }
            }
        }
        assert!(seen > 40, "{seen}");
    }

    /// The words of a clause that carry its meaning.
    fn content(clause: &str) -> BTreeSet<&str> {
        const SMALL: [&str; 16] = [
            "a", "an", "and", "are", "from", "has", "in", "is", "its", "of", "on", "that", "the",
            "to", "was", "were",
        ];
        let parts = clause.split(|sign: char| !sign.is_alphanumeric());
        parts
            .filter(|word| !word.is_empty() && !SMALL.contains(word))
            .collect()
    }

    #[test]
    fn clauses_of_different_parameters_say_different_things() {
        for experiment in experiments(None).unwrap() {
            let mut clauses: Vec<(&str, &str)> = Vec::new();
            for (key, parameter) in &experiment.parameters {
                clauses.extend(
                    parameter
                        .when
                        .values()
                        .map(|clause| (key.as_str(), clause.as_str())),
                );
            }
            for (at, (key, clause)) in clauses.iter().enumerate() {
                for (other_key, other) in &clauses[at + 1..] {
                    let (first, second) = (content(clause), content(other));
                    let shared = first.intersection(&second).count();
                    let is_near = 2 * shared > first.union(&second).count();
                    assert!(
                        key == other_key || !is_near,
                        "{}: {key}: {clause:?}; {other_key}: {other:?}",
                        experiment.name
                    );
                    assert!(clause != other, "{}: {clause:?}", experiment.name);
                }
            }
        }
    }

    #[test]
    fn titles_are_those_of_the_experiments_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (_, carried) = carried::EXPERIMENTS[0];
        let own = carried.replacen("title = \"", "title = \"one's own: ", 1);
        std::fs::write(folder.path().join("own.toml"), own).unwrap();
        for folder in [None, Some(folder.path())] {
            let whole: Vec<Title> = experiments(folder)
                .unwrap()
                .iter()
                .map(Experiment::titled)
                .collect();
            assert_eq!(titles(folder).unwrap(), whole);
            assert_eq!(
                whole.iter().any(|t| t.title.starts_with("one's own: ")),
                folder.is_some()
            );
        }
    }

    #[test]
    fn an_unknown_experiment_is_answered_with_the_nearest() {
        let all = experiments(None).unwrap();
        let error = find(&all, "falt").unwrap_err().to_string();
        assert!(error.contains("did you mean \"fault\"?"), "{error}");
    }
}
