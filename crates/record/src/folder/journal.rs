//! Journals: `launches.jsonl` and `decisions.jsonl`, a sealed line each, appended whole or not at all.

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::read::bytes;
use super::seal::{line_seal, sealed_line, split_line};

/// The most of a file's end that is read for its last line, in bytes.
const TAIL_BYTES: u64 = 1 << 20;

/// The lines of a journal, and what is damaged.
pub(super) struct Lines<T> {
    /// The lines that are as they were written, with their numbers from 1.
    pub values: Vec<(usize, T)>,
    /// A sentence for each line that is not.
    pub damage: Vec<String>,
}

/// Appends a line: the whole of it or, where there is no room, nothing. What a killed run left behind the last whole line goes.
pub(super) fn append(path: &Path, start: impl Fn() -> String, value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string(value)?;
    let write = || {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        let from = length.saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail)?;
        let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        file.set_len(from + whole as u64)?;
        let tail = String::from_utf8_lossy(&tail[..whole]);
        let last = tail.lines().last().and_then(|line| Some(split_line(line)?.0.to_owned()));
        let line = sealed_line(&last.unwrap_or_else(&start), &json) + "\n";
        file.write_all(line.as_bytes()).inspect_err(|_| {
            let _ = file.set_len(from + whole as u64);
        })
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Whether the first line of a journal was written behind this start; one without a whole line tells nothing against it.
pub(super) fn begins_sound(path: &Path, start: &str) -> bool {
    let bytes = bytes(path).unwrap_or_default();
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return true };
    let line = std::str::from_utf8(&bytes[..end]).ok().and_then(split_line);
    line.is_some_and(|(seal, json)| seal == line_seal(start, &json))
}

/// Reads a journal. A last line without an end was cut short by a killed run and is left out without a word.
pub(super) fn read<T: DeserializeOwned>(path: &Path, start: &str) -> Result<Lines<T>> {
    let bytes = if path.try_exists().unwrap_or(true) { bytes(path)? } else { Vec::new() };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let (mut values, mut damage, mut before) = (Vec::new(), Vec::new(), start.to_owned());
    for (i, line) in bytes[..whole].split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() && i + 1 == bytes[..whole].split(|byte| *byte == b'\n').count() {
            break;
        }
        let found = std::str::from_utf8(line).ok().and_then(split_line).map(|(seal, json)| (seal.to_owned(), json));
        let sound = found.as_ref().is_some_and(|(seal, json)| *seal == line_seal(&before, json));
        let value = found.as_ref().filter(|_| sound).and_then(|(_, json)| serde_json::from_str(json).ok());
        match value {
            Some(value) => values.push((i + 1, value)),
            None => damage.push(format!("{name}: line {} is not as it was written", i + 1)),
        }
        before = found.map_or_else(String::new, |(seal, _)| seal);
    }
    Ok(Lines { values, damage })
}
