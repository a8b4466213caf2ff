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
