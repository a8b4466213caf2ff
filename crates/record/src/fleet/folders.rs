//! Finding run folders below a folder that many nodes write into.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Run folders lie at most this deep below the folder that is named: site/rack/node/run.
const DEPTH: usize = 4;

/// Files by which a folder is known to be a run's, even where its plan is lost.
const MARKS: [&str; 3] = ["plan.json", "launches.jsonl", "transcripts.zst"];

/// The run folders at and below a folder, in the order of their names. Links are not followed, hidden folders are not
/// looked into, and what cannot be read below is passed over: nodes may be writing and removing meanwhile.
pub fn folders(place: &Path) -> Result<Vec<PathBuf>> {
    fs::read_dir(place).with_context(|| format!("cannot read {}", place.display()))?;
    let mut found = Vec::new();
    walk(place, DEPTH, &mut found);
    found.sort();
    Ok(found)
}

fn walk(place: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let mut below = Vec::new();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if MARKS.iter().any(|mark| name == *mark) {
            found.push(place.to_owned());
            return;
        }
        let hidden = name.to_string_lossy().starts_with('.');
        if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below.push(entry.path());
        }
    }
    if depth > 0 {
        below.iter().for_each(|path| walk(path, depth - 1, found));
    }
}

#[cfg(test)]
mod tests {
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
