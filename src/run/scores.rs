//! Scores of the A/A checks of kept runs.

use record::folder::{RunFolder, SUMMARY};
use serde::Deserialize;
use std::{collections::BTreeMap, path::Path};

/// Most runs whose scores are read, the newest first.
const MOST_SCORED: usize = 50;

/// The part of a summary that scores are read from.
#[derive(Deserialize)]
struct KeptHead {
    host: BTreeMap<String, String>,
    calibration: ScorePool,
    groups: Vec<GroupScores>,
}

record::read_from_json!(KeptHead);

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
