//! Finding run folders below a folder that many nodes write into.

use std::path::{Path, PathBuf};

use anyhow::Result;
use files::Folder;

/// Run folders lie at most this deep below the folder that is named: site/rack/node/run.
const DEPTH: usize = 4;

/// Files by which a folder is known to be a run's, even where its plan is lost.
const MARKS: [&str; 3] = ["plan.json", "launches.jsonl", "transcripts.zst"];

/// The run folders at and below a folder, in the order of their names. Links are not followed, hidden folders are not
/// looked into, and what cannot be read below is passed over: nodes may be writing and removing meanwhile.
pub fn folders(place: &Path) -> Result<Vec<PathBuf>> {
    let mut runs = Vec::new();
    walk(&Folder::open(place)?, place, DEPTH, &mut runs);
    runs.sort();
    Ok(runs)
}

fn walk(folder: &Folder, place: &Path, depth: usize, runs: &mut Vec<PathBuf>) {
    let names = folder.names().unwrap_or_default();
    if names.iter().any(|name| MARKS.iter().any(|mark| name == *mark)) {
        runs.push(place.to_owned());
    } else if depth > 0 {
        for name in names.iter().filter(|name| !name.to_string_lossy().starts_with('.')) {
            if let Ok(below) = folder.folder(name) {
                walk(&below, &place.join(name), depth - 1, runs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
            found.iter().map(|p| p.strip_prefix(place.path()).unwrap().display().to_string()).collect()
        };
        assert_eq!(names(folders(place.path()).unwrap()), ["n1", "n2/run"]);
        assert_eq!(names(folders(&place.path().join("n1")).unwrap()), ["n1"]);
        assert!(folders(&place.path().join("n9")).unwrap_err().to_string().contains("cannot read"));
    }
}
