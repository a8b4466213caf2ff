//! This machine's kept runs: their summaries, and the scores of their A/A checks.

use super::runs::{Entry, entries};
use super::{damage::code_of_run, runs_folder};
use crate::plan::Laboratory;
use crate::{machine, run::session::judged, worker};
use record::folder::{Damaged, RunFolder, SUMMARY};
use record::summary::Summary;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most runs whose scores are read, the newest first.
const MOST_SCORED: usize = 50;
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

/// The part of a summary that scores are read from.
#[derive(Deserialize)]
struct KeptHead {
    host: BTreeMap<String, String>,
    calibration: ScorePool,
    groups: Vec<GroupScores>,
}

#[derive(Deserialize)]
struct ScorePool {
    p: Option<f64>,
}

#[derive(Deserialize)]
struct GroupScores {
    aa: Option<CheckScores>,
}

#[derive(Deserialize)]
struct CheckScores {
    z: f64,
}

/// Scores of the A/A checks of this host's kept runs. A run whose summary does not follow from its launches has none.
pub(super) fn scores(runs: &Path, host: &BTreeMap<String, String>) -> Vec<f64> {
    let names = files::Folder::open(runs)
        .and_then(|folder| folder.names())
        .unwrap_or_default();
    let newest = names.iter().rev().take(MOST_SCORED);
    let of_host = newest
        .filter_map(|name| head(runs, name.to_str()?))
        .filter(|run| run.calibration.p.is_some() && same(&run.host, host));
    let groups = of_host.flat_map(|run| run.groups);
    groups.filter_map(|group| Some(group.aa?.z)).collect()
}

/// The head of a run's summary; `None` where the summary does not follow from the launches.
fn head(runs: &Path, name: &str) -> Option<KeptHead> {
    let folder = RunFolder::open(name, runs).ok()?.mine().ok()?;
    folder.read_result(SUMMARY).ok()
}

/// True if two hosts are one machine; it may have been started again.
fn same(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> bool {
    let facts = |host: &BTreeMap<String, String>| -> Vec<(String, String)> {
        host.iter()
            .filter(|(name, _)| *name != "boot")
            .map(|(n, w)| (n.clone(), w.clone()))
            .collect()
    };
    !facts(a).is_empty() && facts(a) == facts(b)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(runs: &Path, name: &str, host: &str, p: Option<f64>, z: f64) -> RunFolder {
        let folder = RunFolder::create(&runs.join(name)).unwrap();
        let groups = serde_json::json!([{"aa": {"z": z, "p": 1}}, {"aa": null}]);
        let host = serde_json::json!({"machine": host, "boot": name});
        let summary = serde_json::json!({"host": host, "calibration": {"p": p}, "groups": groups});
        folder.write_result(SUMMARY, &summary).unwrap();
        folder
    }

    #[test]
    fn only_sound_runs_of_this_machine_count_newest_first() {
        let place = tempfile::tempdir().unwrap();
        keep(place.path(), "1", "this", Some(0.5), 0.25);
        keep(place.path(), "2", "other", Some(0.5), 7.0);
        keep(place.path(), "3", "this", None, 8.0);
        keep(place.path(), "4", "this", Some(0.5), -1.5);
        // Launches that came after the summary.
        keep(place.path(), "5", "this", Some(0.5), 9.0)
            .append_launch(&serde_json::json!({"launch": 1}))
            .unwrap();
        std::fs::create_dir(place.path().join("6")).unwrap();
        let host = [("machine", "this"), ("boot", "now")]
            .map(|(n, w)| (n.to_owned(), w.to_owned()))
            .into();
        assert_eq!(scores(place.path(), &host), [-1.5, 0.25]);
        assert_eq!(scores(&place.path().join("nowhere"), &host), [0.0; 0]);
        assert_eq!(scores(place.path(), &BTreeMap::new()), [0.0; 0]);
    }
}
