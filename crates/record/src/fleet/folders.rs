//! Finding run folders below a folder that many nodes write into.

use anyhow::Result;
use files::Folder;
use std::path::{Path, PathBuf};

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
#[path = "../../tests/unit/fleet/folders.rs"]
mod tests;
