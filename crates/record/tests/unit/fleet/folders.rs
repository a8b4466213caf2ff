use std::fs;

use super::*;

#[test]
fn runs_are_found_at_any_depth_and_links_are_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let make = |path: &str, file: &str| {
        fs::create_dir_all(place.path().join(path)).unwrap();
        fs::write(place.path().join(path).join(file), "").unwrap();
    };
    make("n2/run", "plan.json");
    make("n1", "transcripts.zst");
    make("n3", "notes.txt");
    make(".hidden", "plan.json");
    std::os::unix::fs::symlink(place.path(), place.path().join("n4")).unwrap();
    let names = |found: Vec<PathBuf>| -> Vec<String> {
        found
            .iter()
            .map(|p| p.strip_prefix(place.path()).unwrap().display().to_string())
            .collect()
    };
    assert_eq!(names(folders(place.path()).unwrap()), ["n1", "n2/run"]);
    assert_eq!(names(folders(&place.path().join("n1")).unwrap()), ["n1"]);
    assert!(
        folders(&place.path().join("n9"))
            .unwrap_err()
            .to_string()
            .contains("cannot read")
    );
}
