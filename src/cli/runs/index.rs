//! What `runs` tells of each kept run, remembered from one time to the next: a store may hold ten thousand. What is
//! remembered of a folder is believed as long as no file in it has another size or time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use record::folder::{RunFolder, bytes};
use record::plan::SCHEMA;
use serde::{Deserialize, Serialize};

use super::tags;
use crate::cli::claims::CLAIMS;
use crate::cli::{profile, trial};
use crate::worker::cache_folder;

/// Changes where what is remembered has another shape.
const SHAPE: u32 = 2;
/// More threads than these bring nothing.
const MOST_READERS: usize = 8;
/// The most of a journal's end that is read for its last line, in bytes: notes stand in it.
const TAIL_BYTES: u64 = 1 << 18;

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
    let one = |name: &String| -> (bool, (String, Entry)) {
        let (bytes, stamp) = stamp(&store.join(name));
        match known.get(name) {
            Some((own, entry)) if *own == stamp => (false, (stamp, entry.clone())),
            _ => (true, (stamp, Entry { bytes, ..read(name, store) })),
        }
    };
    // Each folder is a handful of small files: what it takes is mostly calls, and as many can be made as there are CPUs.
    let parts = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_READERS);
    let each = names.len().div_ceil(parts).max(1);
    let seen: Vec<(bool, (String, Entry))> = std::thread::scope(|scope| {
        let readers: Vec<_> =
            names.chunks(each).map(|part| scope.spawn(move || part.iter().map(one).collect::<Vec<_>>())).collect();
        readers.into_iter().flat_map(|reader| reader.join().expect("reading a folder does not panic")).collect()
    });
    let changed = known.len() != names.len() || seen.iter().any(|(new, _)| *new);
    let found: Vec<Entry> = seen.iter().map(|(_, (_, entry))| entry.clone()).collect();
    let kept = names.into_iter().zip(seen.into_iter().map(|(_, entry)| entry)).collect();
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

/// What of a run's plan the list tells. The rest is passed over, and no seal is looked at: what was changed is named by every
/// verb that judges a run, and ten thousand of them would take too long.
#[derive(Deserialize)]
struct Head {
    schema: u32,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    created: String,
    #[serde(default)]
    experiments: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// What of its environment.
#[derive(Deserialize)]
struct Place {
    identity: Identity,
}

#[derive(Deserialize)]
struct Identity {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    machine: Option<String>,
}

/// The last decision, as far as it tells whether the run has ended.
#[derive(Deserialize)]
struct Last {
    decision: String,
    #[serde(default)]
    stopped_by: Option<i32>,
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&bytes(path).ok()?).ok()
}

fn read(name: &str, store: &Path) -> Entry {
    let folder = store.join(name);
    let entry = Entry { run: name.to_owned(), tags: tags::of(&folder), ..Entry::default() };
    let of_run = |head: &Head| head.kind.is_none() && head.schema == SCHEMA;
    match json::<Head>(&folder.join("plan.json")) {
        Some(head) if of_run(&head) => of_plan(head, &folder, entry),
        // Work on somebody's own program, another version's run, or nothing that can be read.
        _ => {
            let path = folder.display().to_string();
            let told = trial::line_of_try(&path)
                .and_then(|line| line.map_or_else(|| profile::line_of_profile(&path), |l| Ok(Some(l))));
            let told = told.and_then(|line| match line {
                Some(line) => Ok(line),
                None => RunFolder::open(&path, store)?.plan().map(|plan| (plan.created, "damaged".to_owned())),
            });
            match told {
                Ok((created, words)) => Entry { created, words, ..entry },
                Err(error) => Entry { words: format!("{error:#}"), ..entry },
            }
        }
    }
}

fn of_plan(head: Head, folder: &Path, entry: Entry) -> Entry {
    let experiments: Vec<String> = head.experiments.into_iter().map(|e| e.name).collect();
    let done = last(&folder.join("decisions.jsonl")).is_some_and(|l| l.decision == "ended" && l.stopped_by.is_none());
    let kind = if folder.join(CLAIMS).is_file() { "claims on " } else { "" };
    let words = format!("{kind}{}{}", experiments.join(" "), if done { "" } else { "  (interrupted)" });
    let host = json::<Place>(&folder.join("environment.json"))
        .map(|place| [place.identity.name, place.identity.machine].into_iter().flatten().collect::<Vec<_>>().join(" "));
    Entry { created: head.created, experiments, words, host: host.unwrap_or_default(), ..entry }
}

/// The last whole line of a journal.
fn last(path: &Path) -> Option<Last> {
    let mut file = File::open(path).ok()?;
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail).ok()?;
    let whole = &tail[..tail.iter().rposition(|byte| *byte == b'\n')?];
    let line = whole.iter().rposition(|byte| *byte == b'\n').map_or(whole, |end| &whole[end + 1..]);
    serde_json::from_slice(line).ok()
}
