//! Index of kept runs for `runs`: a store may hold ten thousand. What is
//! remembered of a folder is believed as long as no file in it has another size or time.

use crate::cli::opened::{Opened, open};
use crate::{
    cli::tags,
    machine::threads::{MOST_READERS, side_by_side},
    worker::private_cache,
};
use files::Folder;
use record::folder::peek;
use record::{kind::Kind, machine::environment::Identity, plan::SCHEMA};
use serde::{Deserialize, Serialize};
use std::io::{Read, Seek, SeekFrom};
use std::{collections::BTreeMap, path::Path, time::SystemTime};

/// Changes where what is remembered has another shape.
const SHAPE: u32 = 4;
/// The most of a journal's end that is read for its last line, in bytes: notes stand in it.
const TAIL_BYTES: u64 = 1 << 18;
/// Limit of the index, in bytes: a kilobyte for each of 100,000 runs.
const MOST_BYTES: u64 = 100 << 20;

/// One kept run in a few words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::cli) struct Entry {
    pub run: String,
    /// When it was made, RFC 3339; empty where that cannot be read.
    pub created: String,
    pub version: String,
    /// True if it came to its end.
    pub ended: bool,
    pub experiments: Vec<String>,
    #[serde(rename = "words")]
    pub description: String,
    /// Name of the machine, and the hash by which it is known.
    pub host: String,
    pub tags: Vec<String>,
    /// Size of all its files.
    pub bytes: u64,
}

#[derive(Default, Serialize, Deserialize)]
struct Index {
    shape: u32,
    entries: BTreeMap<String, (String, Entry)>,
}

fn name(store: &Path) -> String {
    let hash = record::folder::sha256_hex(&[store.as_os_str().as_encoded_bytes()]);
    format!("runs-{}.json", &hash[..16])
}

/// Size of all files of a folder, and a stamp that changes with any of them.
fn stamp(folder: &Path) -> (u64, String) {
    let (mut bytes, mut newest, mut files) = (0, SystemTime::UNIX_EPOCH, 0);
    for entry in Folder::open(folder)
        .and_then(|folder| folder.entries())
        .unwrap_or_default()
    {
        bytes += entry.bytes;
        newest = newest.max(entry.modified);
        files += 1;
    }
    (
        bytes,
        format!(
            "{bytes} {files} {}",
            newest
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default()
                .as_nanos()
        ),
    )
}

/// Every run of a store, by name, which begins with its time.
pub(in crate::cli) fn entries(store: &Path) -> Vec<Entry> {
    let stored = crate::cli::named::store()
        .and_then(|store| store.entries().ok())
        .unwrap_or_default()
        .into_iter();
    let folders = stored.filter(|entry| entry.kind == files::EntryKind::Folder);
    let names: Vec<String> = folders
        .map(|entry| entry.name.to_string_lossy().into_owned())
        .collect();
    let index = private_cache("")
        .ok()
        .and_then(|cache| cache.read(name(store), MOST_BYTES).ok());
    let known: Index = index
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let known = if known.shape == SHAPE {
        known.entries
    } else {
        BTreeMap::new()
    };
    let stamped = |name: &String| -> (bool, (String, Entry)) {
        let (bytes, stamp) = stamp(&store.join(name));
        match known.get(name) {
            Some((own, entry)) if *own == stamp => (false, (stamp, entry.clone())),
            _ => (
                true,
                (
                    stamp,
                    Entry {
                        bytes,
                        ..read(name, store)
                    },
                ),
            ),
        }
    };
    // Each folder is a handful of small files: what it takes is mostly calls, and as many can be made as there are CPUs.
    let stamped_runs = side_by_side(&names, MOST_READERS, stamped);
    let changed = known.len() != names.len() || stamped_runs.iter().any(|(new, _)| *new);
    let entries: Vec<Entry> = stamped_runs
        .iter()
        .map(|(_, (_, entry))| entry.clone())
        .collect();
    let kept = names
        .into_iter()
        .zip(stamped_runs.into_iter().map(|(_, entry)| entry))
        .collect();
    if changed {
        remember(
            store,
            &Index {
                shape: SHAPE,
                entries: kept,
            },
        );
    }
    entries
}

/// Stores the index; a failure costs time only.
fn remember(store: &Path, index: &Index) {
    if let (Ok(bytes), Ok(cache)) = (serde_json::to_vec(index), private_cache("")) {
        let _ = cache.write(name(store), &bytes);
    }
}

/// Part of a run's plan in the list. The rest is passed over, and no seal is looked at: what was changed is named by every
/// verb that judges a run, and ten thousand of them would take too long.
#[derive(Deserialize)]
struct IndexHead {
    schema: u32,
    #[serde(default)]
    kind: Option<Kind>,
    #[serde(default)]
    version: String,
    #[serde(default)]
    created: String,
    #[serde(default)]
    experiments: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Part of its environment.
#[derive(Deserialize)]
struct HostFacts {
    identity: Identity,
}

record::read_from_json!(IndexHead, HostFacts);

/// The last decision, as far as it tells whether the run has ended.
#[derive(Deserialize)]
#[serde(tag = "decision", rename_all = "kebab-case")]
enum LastDecision {
    Ended {
        stopped_by: Option<i32>,
    },
    #[serde(other)]
    Running,
}

fn read(name: &str, store: &Path) -> Entry {
    let folder = store.join(name);
    let entry = Entry {
        run: name.to_owned(),
        tags: tags::read(&folder),
        ..Entry::default()
    };
    match peek::<IndexHead>(&folder, "plan.json") {
        Some(head)
            if head.schema == SCHEMA && !matches!(head.kind, Some(Kind::Try | Kind::Profile)) =>
        {
            of_plan(head, &folder, entry)
        }
        // A try or profile, another version's run, or nothing that can be read.
        _ => {
            let line = open(&folder.display().to_string()).and_then(|opened| match opened {
                Opened::Program(kept) => Ok((
                    report::command::line(&judge::program::judge(&kept)),
                    kept.plan.created,
                )),
                Opened::Run(folder, _) => folder
                    .plan()
                    .map(|plan| ("damaged".to_owned(), plan.created)),
            });
            match line {
                Ok((description, created)) => Entry {
                    created,
                    description,
                    ..entry
                },
                Err(error) => Entry {
                    description: format!("{error:#}"),
                    ..entry
                },
            }
        }
    }
}

fn of_plan(head: IndexHead, folder: &Path, entry: Entry) -> Entry {
    let experiments: Vec<String> = head.experiments.into_iter().map(|e| e.name).collect();
    let (ended, done) = match last(folder) {
        Some(LastDecision::Ended { stopped_by }) => (true, stopped_by.is_none()),
        Some(LastDecision::Running) | None => (false, false),
    };
    let kind = match head.kind.unwrap_or_default() {
        Kind::Claims => "claims on ",
        Kind::Advise => "advise ",
        _ => "",
    };
    let description = format!(
        "{kind}{}{}",
        experiments.join(" "),
        if done { "" } else { "  (interrupted)" }
    );
    let host = peek::<HostFacts>(folder, "environment.json").map(|place| {
        [place.identity.name, place.identity.machine]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    });
    let (created, version) = (head.created, head.version);
    Entry {
        created,
        version,
        ended,
        experiments,
        description,
        host: host.unwrap_or_default(),
        ..entry
    }
}

fn last(folder: &Path) -> Option<LastDecision> {
    let mut file = Folder::open(folder).ok()?.file("decisions.jsonl").ok()?;
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))
        .ok()?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail).ok()?;
    let whole = &tail[..tail.iter().rposition(|byte| *byte == b'\n')?];
    let line = whole
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(whole, |end| &whole[end + 1..]);
    serde_json::from_slice(line).ok()
}
