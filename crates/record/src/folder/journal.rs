//! Journals: `launches.jsonl` and `decisions.jsonl`, a sealed line each, appended whole or not at all.

use super::seal::{line_seal, sealed_line, split_line};
use crate::json::{FromJson, ToJson};
use anyhow::{Context, Result};
use files::Folder;
use std::error::Error as _;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes at a file's end that are read for its last line.
const TAIL_BYTES: u64 = 1 << 20;

/// The lines of a journal, and its damage.
#[derive(Debug)]
pub struct Lines<T> {
    /// Records of intact lines, in order.
    pub records: Vec<T>,
    /// Damaged parts, one sentence each.
    pub damage: Vec<String>,
}

/// Appends a line: the whole of it or, without room, nothing. An unfinished line of a killed run is removed.
pub(super) fn append(
    folder: &Folder,
    name: &str,
    start: impl Fn() -> String,
    value: &impl ToJson,
) -> Result<()> {
    let json = value.to_json()?.to_string();
    let mut file = folder.edit(name)?;
    let mut write = || {
        let length = file.seek(SeekFrom::End(0))?;
        let from = length.saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        (&file).take(TAIL_BYTES).read_to_end(&mut tail)?;
        let whole = tail
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |last| last + 1);
        let end = from + whole as u64;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        let tail = String::from_utf8_lossy(&tail[..whole]);
        let last = tail
            .lines()
            .last()
            .and_then(|line| Some(split_line(line)?.0.to_owned()));
        let line = sealed_line(&last.unwrap_or_else(&start), &json) + "\n";
        file.write_all(line.as_bytes()).inspect_err(|_| {
            let _ = file.set_len(end);
        })
    };
    write().with_context(|| format!("cannot write {}", folder.path().join(name).display()))
}

/// True unless the first line of a journal was written behind another start.
pub(super) fn begins_sound(folder: &Folder, name: &str, start: &str) -> bool {
    let bytes = bytes_if_there(folder, name).unwrap_or_default();
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return true;
    };
    let line = std::str::from_utf8(&bytes[..end]).ok().and_then(split_line);
    line.is_some_and(|(seal, json)| seal == line_seal(start, &json))
}

/// Reads a journal. A last line without an end was cut short by a kill and is left out.
pub(super) fn read<T: FromJson>(folder: &Folder, name: &str, start: &str) -> Result<Lines<T>> {
    let bytes = bytes_if_there(folder, name)?;
    let mut lines = Lines {
        records: Vec::new(),
        damage: Vec::new(),
    };
    let mut before = start.to_owned();
    for (i, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let Some(line) = line.strip_suffix(b"\n") else {
            break;
        };
        let split = std::str::from_utf8(line)
            .ok()
            .and_then(split_line)
            .map(|(seal, json)| (seal.to_owned(), json));
        let sound = split
            .as_ref()
            .is_some_and(|(seal, json)| *seal == line_seal(&before, json));
        let value = split
            .as_ref()
            .filter(|_| sound)
            .and_then(|(_, json)| T::from_json(json.as_bytes()).ok());
        match value {
            Some(value) => lines.records.push(value),
            None => lines
                .damage
                .push(format!("{name}: line {} is not as it was written", i + 1)),
        }
        before = split.map_or_else(String::new, |(seal, _)| seal);
    }
    Ok(lines)
}

/// Largest file of JSON that is read, in bytes: 20,000 cells take two thirds of it.
const LARGEST: u64 = 96 << 20;

/// Error of a kept folder in which something is not as it was written.
#[derive(Debug, thiserror::Error)]
#[error("{} is damaged: {seen}", path.display())]
pub struct Damaged {
    /// File that is damaged.
    pub path: PathBuf,
    /// Damage in one sentence.
    pub seen: String,
}

impl Damaged {
    pub(super) fn altered(path: PathBuf) -> Damaged {
        Damaged {
            path,
            seen: "it is not as it was written".to_owned(),
        }
    }
}

/// Bytes of a file of a kept folder.
/// Errors: [`Damaged`] if it is missing, larger than any run needs, or no regular file.
pub(super) fn bytes(folder: &Folder, name: &str) -> Result<Vec<u8>> {
    folder
        .read(name, LARGEST)
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => error.into(),
            _ => {
                let seen = error
                    .source()
                    .map_or_else(String::new, |cause| cause.to_string());
                Damaged {
                    path: folder.path().join(name),
                    seen,
                }
                .into()
            }
        })
}

/// Bytes of a file of a kept folder; none if it is missing.
pub(super) fn bytes_if_there(folder: &Folder, name: &str) -> Result<Vec<u8>> {
    if folder.entry(name).is_err_and(|error| error.is_missing()) {
        Ok(Vec::new())
    } else {
        bytes(folder, name)
    }
}

/// A JSON file of a limited size, by the folder's path; `None` if it cannot be read. For lists, which name no damage.
pub fn peek<T: FromJson>(folder: &Path, name: &str) -> Option<T> {
    T::from_json(&bytes(&Folder::open(folder).ok()?, name).ok()?).ok()
}
