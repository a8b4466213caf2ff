//! What `runs` tells of each kept run, remembered from one time to the next: a store may hold ten thousand. What is
//! remembered of a folder is believed as long as no file in it has another size or time.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use record::folder::RunFolder;
use record::machine::environment::Environment;
use serde::{Deserialize, Serialize};

use super::tags;
use crate::cli::{profile, trial};
use crate::worker::cache_folder;

/// Changes where what is remembered has another shape.
const SHAPE: u32 = 1;

/// One kept run in a few words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Its name in the store.
    pub run: String,
    /// When it was made, RFC 3339; empty where that cannot be read.
    pub created: String,
    /// The experiments that took part.
    pub experiments: Vec<String>,
    /// What it is, in words.
    pub words: String,
    /// Name of the machine, and the hash by which it is known.
    pub host: String,
    /// Tags.
    pub tags: Vec<String>,
    /// Size of all its files.
    pub bytes: u64,
}

#[derive(Default, Serialize, Deserialize)]
struct Index {
    shape: u32,
    entries: BTreeMap<String, (String, Entry)>,
}

fn path(store: &Path) -> PathBuf {
    let name = record::folder::sha256_hex(&[store.as_os_str().as_encoded_bytes()]);
    cache_folder().join(format!("runs-{}.json", &name[..16]))
}

/// Size of all files of a folder, and a stamp that changes with any of them.
fn stamp(folder: &Path) -> (u64, String) {
    let (mut bytes, mut newest, mut files) = (0, (0, 0), 0);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(found) = entry.metadata() else { continue };
        bytes += found.len();
        newest = newest.max((found.mtime(), found.mtime_nsec()));
        files += 1;
    }
    (bytes, format!("{bytes} {files} {}.{:09}", newest.0, newest.1))
}

/// Every run of a store, by name, which begins with its time.
pub(super) fn entries(store: &Path) -> Vec<Entry> {
    let mut names: Vec<String> = fs::read_dir(store)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let known: Index = fs::read(path(store)).ok().and_then(|b| serde_json::from_slice(&b).ok()).unwrap_or_default();
    let known = if known.shape == SHAPE { known.entries } else { BTreeMap::new() };
    let mut changed = known.len() != names.len();
    let mut kept = BTreeMap::new();
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let folder = store.join(&name);
        let (bytes, stamp) = stamp(&folder);
        let entry = match known.get(&name) {
            Some((own, entry)) if *own == stamp => entry.clone(),
            _ => {
                changed = true;
                Entry { bytes, ..read(&name, store) }
            }
        };
        kept.insert(name, (stamp, entry.clone()));
        found.push(entry);
    }
    if changed {
        remember(store, &Index { shape: SHAPE, entries: kept });
    }
    found
}

/// What cannot be remembered is read again the next time.
fn remember(store: &Path, index: &Index) {
    let path = path(store);
    let part = path.with_extension(format!("{}.part", std::process::id()));
    let written = path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok())
        && serde_json::to_vec(index).is_ok_and(|bytes| fs::write(&part, bytes).is_ok())
        && fs::rename(&part, &path).is_ok();
    if !written {
        let _ = fs::remove_file(&part);
    }
}

fn read(name: &str, store: &Path) -> Entry {
    let entry = Entry { run: name.to_owned(), tags: tags::of(&store.join(name)), ..Entry::default() };
    let path = store.join(name).display().to_string();
    match trial::line_of_try(&path)
        .and_then(|line| line.map_or_else(|| profile::line_of_profile(&path), |l| Ok(Some(l))))
    {
        Ok(Some((created, words))) => return Entry { created, words, ..entry },
        Ok(None) => {}
        Err(error) => return Entry { words: format!("{error:#}"), ..entry },
    }
    let opened = RunFolder::open(&store.join(name).display().to_string(), store);
    let state = match opened.and_then(|folder| Ok((folder.state()?, folder))) {
        Ok(state) => state,
        Err(error) => return Entry { words: format!("{error:#}"), ..entry },
    };
    let (state, folder) = state;
    let experiments: Vec<String> = state.plan.experiments.iter().map(|e| e.name.clone()).collect();
    let done = state.ended.is_some_and(|ended| ended.stopped_by.is_none());
    let kind = if folder.file("answers.json").is_file() { "claims on " } else { "" };
    let words = format!("{kind}{}{}", experiments.join(" "), if done { "" } else { "  (interrupted)" });
    let host = folder
        .read_sealed::<Environment>("environment.json")
        .map(|e| [e.identity.name, e.identity.machine].into_iter().flatten().collect::<Vec<_>>().join(" "));
    Entry { created: state.plan.created, experiments, words, host: host.unwrap_or_default(), ..entry }
}
