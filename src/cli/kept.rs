//! This machine's kept runs, as far as they answer what is asked now.

use super::damage::{code_of_program, code_of_run};
use super::runs::{Entry, entries};
use super::runs_folder;
use crate::plan::Laboratory;
use crate::{machine, run::session::judged, worker};
use record::command::{Amount, CommandPlan, KeptCommand};
use record::folder::{Damaged, RunFolder, peek};
use record::{kind::Kind, summary::Summary};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most runs whose summaries are held, the newest first: half a megabyte each.
const MOST_RUNS: usize = 150;
/// Facts that must be the same for a kept run to be one of this machine.
const MACHINE: [&str; 10] = [
    "cpu",
    "cpus",
    "kernel",
    "architecture",
    "hypervisor",
    "memory",
    "page",
    "thp",
    "governor",
    "clocksource",
];

/// Summaries of the newest kept runs of these experiments that this machine made with the same workers and version. A
/// summary that does not follow from its launches is judged again; a damaged run is named and left out.
pub(super) fn summaries(laboratory: &Laboratory, experiments: &[&str]) -> Vec<Summary> {
    let machine = machine::capture(Path::new("/"));
    let mut search = KeptSearch {
        laboratory,
        store: runs_folder(),
        facts: machine.headline(),
        identity: machine.identity.labels(),
        hashes: BTreeMap::new(),
    };
    entries(&runs_folder())
        .into_iter()
        .rev()
        .filter(|entry| is_about(entry, experiments))
        .filter_map(|entry| search.summary(&entry))
        .take(MOST_RUNS)
        .collect()
}

/// Tells whether facts on a machine are those of this one.
pub(super) fn is_here(facts: &BTreeMap<String, String>) -> bool {
    let here = machine::capture(Path::new("/")).headline();
    MACHINE.iter().all(|key| facts.get(*key) == here.get(*key))
}

/// True for a whole run of this version with one of the experiments.
fn is_about(entry: &Entry, experiments: &[&str]) -> bool {
    let mut measured = entry.experiments.iter();
    measured.any(|name| experiments.contains(&name.as_str()))
        && entry.ended
        && entry.version == env!("CARGO_PKG_VERSION")
}

/// Search for kept runs of this machine.
struct KeptSearch<'a> {
    laboratory: &'a Laboratory,
    store: PathBuf,
    facts: BTreeMap<String, String>,
    identity: BTreeMap<String, String>,
    /// Hashes of the workers as they are now; `None` for one that cannot be had.
    hashes: BTreeMap<String, Option<String>>,
}

impl KeptSearch<'_> {
    fn summary(&mut self, entry: &Entry) -> Option<Summary> {
        let folder = RunFolder::open(&entry.run, &self.store)
            .and_then(RunFolder::mine)
            .ok()?;
        let plan = folder.plan().inspect_err(name_damage).ok()?;
        if !plan
            .workers
            .iter()
            .all(|(name, hash)| self.is_same_worker(name, hash))
        {
            return None;
        }
        let summary = judged(&folder).inspect_err(name_damage).ok()?;
        let is_here = MACHINE
            .iter()
            .all(|key| summary.environment.get(*key) == self.facts.get(*key))
            && summary.host.get("machine") == self.identity.get("machine");
        (is_here && (summary.damage().next().is_none() || code_of_run(&summary, 0) == 0))
            .then_some(summary)
    }

    fn is_same_worker(&mut self, name: &str, hash: &str) -> bool {
        let workers = &self.laboratory.workers;
        let now = self.hashes.entry(name.to_owned()).or_insert_with(|| {
            let worker = worker::find(workers, name).ok()?;
            Some(worker.start().ok()?.hash.clone())
        });
        now.as_deref() == Some(hash)
    }
}

fn name_damage(error: &anyhow::Error) {
    if error.is::<Damaged>() {
        remark!("pagewise: {error:#}; it answers nothing");
    }
}

/// Name of the newest kept profile of the same command in the same folder, and its prediction for each setting.
pub(super) fn predictions(plan: &CommandPlan) -> Option<(String, BTreeMap<String, Amount>)> {
    let store = runs_folder();
    let names = files::Folder::open(&store).ok()?.names().ok()?;
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    let profiles: Vec<String> = names.filter(|name| name.contains("-profile-")).collect();
    profiles
        .into_iter()
        .rev()
        .filter(|name| is_profile_of(plan, &store.join(name)))
        .find_map(|name| {
            let kept = whole_profile(&name, &store)?;
            let summary = judge::program::profile::judge(&kept.plan, &kept.launches);
            let predicted = judge::program::profile::predictions(&summary);
            (!predicted.is_empty()).then_some((kept.plan.run, predicted))
        })
}

/// True if a folder has a profile of the command of a plan.
fn is_profile_of(plan: &CommandPlan, folder: &Path) -> bool {
    let profile = peek::<CommandPlan>(folder, "plan.json");
    profile.is_some_and(|profile| {
        profile.kind == Kind::Profile
            && profile.directory == plan.directory
            && profile.input == plan.input
            && profile
                .arms
                .first()
                .is_some_and(|arm| arm.command == plan.arms[0].command)
    })
}

/// A kept profile of this user. One that is damaged or cannot be read predicts nothing, which is no reason not to try.
fn whole_profile(name: &str, store: &Path) -> Option<KeptCommand> {
    let folder = RunFolder::open(name, store).and_then(|folder| folder.mine()?.whole());
    let kept: KeptCommand = folder
        .inspect_err(|error| remark!("pagewise: {error:#}; it predicts nothing"))
        .ok()?;
    (code_of_program(&kept, 0) == 0).then_some(kept)
}
