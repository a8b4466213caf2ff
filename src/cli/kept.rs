//! This machine's kept runs: what they measured, and what their A/A checks said, which tells whether its intervals are as
//! wide as they must be.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use record::folder::{RunFolder, bytes};
use record::summary::{SUMMARY_SCHEMA, Summary};
use serde::Deserialize;

use super::{Laboratory, runs_folder};
use crate::{machine, worker};

/// No more runs than this are read, the newest first.
const MOST_RUNS: usize = 50;

/// What must be the same for a kept run to be one of this machine.
const MACHINE: [&str; 10] =
    ["cpu", "cpus", "kernel", "architecture", "hypervisor", "memory", "page", "thp", "governor", "clocksource"];

/// What of a summary is needed; the rest of it is passed over.
#[derive(Deserialize)]
struct Head {
    schema: u32,
    host: BTreeMap<String, String>,
    calibration: Pool,
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Pool {
    p: Option<f64>,
}

#[derive(Deserialize)]
struct Group {
    aa: Option<Check>,
}

#[derive(Deserialize)]
struct Check {
    z: f64,
}

/// The scores of the A/A checks of runs that are kept below `runs` and were made on this host, in whichever boot.
/// Runs that were
/// judged before there was a calibration have scores of another kind, and none that can be read has none.
pub(super) fn scores(runs: &Path, host: &BTreeMap<String, String>) -> Vec<f64> {
    let mut kept: Vec<PathBuf> = fs::read_dir(runs).into_iter().flatten().flatten().map(|e| e.path()).collect();
    kept.sort();
    let read = |path: &PathBuf| serde_json::from_slice::<Head>(&bytes(&path.join("summary.json")).ok()?).ok();
    let newest = kept.iter().rev().take(MOST_RUNS).filter_map(read);
    let alike =
        newest.filter(|run| run.schema == SUMMARY_SCHEMA && run.calibration.p.is_some() && same(&run.host, host));
    alike.flat_map(|run| run.groups.into_iter().filter_map(|group| Some(group.aa?.z))).collect()
}

/// Whether two hosts are one machine; it may have been started again.
fn same(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> bool {
    let words = |host: &BTreeMap<String, String>| -> Vec<(String, String)> {
        host.iter().filter(|(name, _)| *name != "boot").map(|(n, w)| (n.clone(), w.clone())).collect()
    };
    !words(a).is_empty() && words(a) == words(b)
}

/// The summaries of kept runs that this machine made with the same workers, the newest first.
pub(super) fn summaries(laboratory: &Laboratory) -> Vec<Summary> {
    let here = machine::capture(std::path::Path::new("/"));
    let (facts, identity) = (here.headline(), here.identity.words());
    let kept = runs_folder();
    let mut names: Vec<_> = std::fs::read_dir(&kept).into_iter().flatten().flatten().map(|e| e.file_name()).collect();
    names.sort();
    let mut hashes: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut same_worker = |name: &str, hash: &str| {
        let now = hashes.entry(name.to_owned()).or_insert_with(|| {
            worker::find(&laboratory.workers, name).ok().and_then(|w| Some(w.start().ok()?.hash.clone()))
        });
        now.as_deref() == Some(hash)
    };
    let one = |name: std::ffi::OsString| -> Option<Summary> {
        let folder = RunFolder::open(name.to_str()?, &kept).ok()?;
        let plan = folder.plan().ok()?;
        let summary: Summary = folder.read_json("summary.json").ok()?;
        let same = MACHINE.iter().all(|key| summary.environment.get(*key) == facts.get(*key))
            && summary.host.get("machine") == identity.get("machine");
        let workers = plan.workers.iter().all(|(name, hash)| same_worker(name, hash));
        (same && workers && summary.version == env!("CARGO_PKG_VERSION")).then_some(summary)
    };
    names.into_iter().rev().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(runs: &Path, name: &str, host: &str, p: &str, z: f64) {
        let folder = runs.join(name);
        fs::create_dir(&folder).unwrap();
        let text = format!(
            r#"{{"schema": {SUMMARY_SCHEMA}, "host": {{"machine": "{host}", "boot": "{name}"}}, "calibration": {{"p": {p}}},
            "groups": [{{"aa": {{"z": {z}, "p": 1}}}}, {{"aa": null}}]}}"#
        );
        fs::write(folder.join("summary.json"), text).unwrap();
    }

    #[test]
    fn only_this_machine_s_runs_count_newest_first() {
        let place = tempfile::tempdir().unwrap();
        keep(place.path(), "1", "this", "0.5", 0.25);
        keep(place.path(), "2", "other", "0.5", 7.0);
        keep(place.path(), "3", "this", "null", 8.0);
        keep(place.path(), "4", "this", "0.5", -1.5);
        fs::create_dir(place.path().join("5")).unwrap();
        let host = [("machine", "this"), ("boot", "now")].map(|(n, w)| (n.to_owned(), w.to_owned())).into();
        assert_eq!(scores(place.path(), &host), [-1.5, 0.25]);
        assert_eq!(scores(&place.path().join("nowhere"), &host), [0.0; 0]);
        assert_eq!(scores(place.path(), &BTreeMap::new()), [0.0; 0]);
    }
}
