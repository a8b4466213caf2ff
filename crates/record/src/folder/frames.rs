//! `transcripts.zst`: one zstd frame a launch, with its requests, transcripts and messages one behind the other, so
//! that `zstdcat` shows
//! them and a kill costs the last frame at most.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::seal::sha256_hex;
use crate::launches::Frame;
use anyhow::{Context, Result, bail};
use zstd::bulk::Decompressor;

/// A level that costs about a millisecond a launch.
const LEVEL: i32 = 9;
/// More than this is no launch of ours, in bytes.
const MOST_BYTES: u64 = 1 << 30;

/// One text of a frame, such as `request.a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Appends a launch's texts as a frame behind `end`, where the last recorded one ends; what a killed run left there goes.
pub(super) fn append(path: &Path, end: u64, launch: usize, parts: &[Part]) -> Result<Frame> {
    let mut text = format!("pagewise launch {launch}\n").into_bytes();
    for part in parts {
        text.extend(format!("part {} {}\n", part.name, part.bytes.len()).into_bytes());
        text.extend(&part.bytes);
        text.push(b'\n');
    }
    let packed = zstd::bulk::compress(&text, LEVEL).context("zstd")?;
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(&packed).inspect_err(|_| {
            let _ = file.set_len(end);
        })
    };
    write().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Frame { offset: end, length: packed.len() as u64, sha256: sha256_hex(&[&packed]) })
}

/// Frames that say they hold no more bytes than this are unpacked into one piece of memory.
const AT_ONCE_BYTES: u64 = 1 << 26;

thread_local! {
    /// What unpacks frames: to make it costs more than a small one.
    static UNPACKING: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// What a frame holds, by its own word of how much that is; none where that word is missing or untrue.
fn unpacked_at_once(packed: &[u8]) -> Option<Vec<u8>> {
    let size = zstd::zstd_safe::get_frame_content_size(packed).ok()?.filter(|size| *size <= AT_ONCE_BYTES)?;
    UNPACKING.with_borrow_mut(|kept| {
        let unpacking = match kept {
            Some(unpacking) => unpacking,
            None => kept.insert(Decompressor::new().ok()?),
        };
        unpacking.decompress(packed, usize::try_from(size).ok()?).ok()
    })
}

/// The text of a frame; an error says what is wrong with it.
pub(super) fn read(path: &Path, frame: &Frame) -> Result<Vec<u8>> {
    if frame.length > MOST_BYTES {
        bail!("its frame would be {} bytes long", frame.length);
    }
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    file.seek(SeekFrom::Start(frame.offset))?;
    let mut packed = Vec::with_capacity(usize::try_from(frame.length.min(AT_ONCE_BYTES))?);
    file.take(frame.length).read_to_end(&mut packed)?;
    if packed.len() as u64 != frame.length || sha256_hex(&[&packed]) != frame.sha256 {
        bail!("its frame in transcripts.zst is not as it was written");
    }
    if let Some(text) = unpacked_at_once(&packed) {
        return Ok(text);
    }
    let mut text = Vec::new();
    zstd::stream::read::Decoder::new(&packed[..])?.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

/// The numbers of the launches whose whole frames lie behind this byte; what is no frame ends them.
pub(super) fn behind(path: &Path, end: u64) -> Vec<usize> {
    let mut found = Vec::new();
    let Ok(mut file) = File::open(path) else { return found };
    if file.seek(SeekFrom::Start(end)).is_err() {
        return found;
    }
    let mut input = BufReader::new(file);
    while input.fill_buf().is_ok_and(|left| !left.is_empty()) {
        let Ok(decoder) = zstd::stream::read::Decoder::with_buffer(&mut input) else { break };
        let mut text = Vec::new();
        if decoder.single_frame().take(MOST_BYTES).read_to_end(&mut text).is_err() {
            break;
        }
        let head = after_line(&text).and_then(|(head, _)| std::str::from_utf8(head).ok());
        let Some(number) = head.and_then(|h| h.strip_prefix("pagewise launch ")?.parse().ok()) else { break };
        found.push(number);
    }
    found
}

/// The names and bytes of what stands in a frame's text.
pub(super) fn parts(text: &[u8]) -> Result<Vec<(&str, &[u8])>> {
    let mut found = Vec::new();
    let mut rest = after_line(text).map(|(_, rest)| rest).context("its frame is empty")?;
    while let Some((head, body)) = after_line(rest) {
        let head = std::str::from_utf8(head)?;
        let words = head.strip_prefix("part ").and_then(|words| words.split_once(' '));
        let (name, length) = words.context("its frame has a part without a head")?;
        let length: usize = length.parse()?;
        let bytes = body.get(..length).context("its frame has a part that is cut short")?;
        found.push((name, bytes));
        rest = body.get(length + 1..).unwrap_or_default();
    }
    Ok(found)
}

fn after_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    Some((&text[..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_a_flipped_bit_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("transcripts.zst");
        let texts = |n: u8| {
            vec![Part { name: "request.a".into(), bytes: vec![n; 100] }, Part { name: "t".into(), bytes: Vec::new() }]
        };
        let first = append(&path, 0, 0, &texts(1)).unwrap();
        let second = append(&path, first.length, 1, &texts(2)).unwrap();
        let read_parts = |frame: &Frame| -> Result<Vec<Part>> {
            let text = read(&path, frame)?;
            let found = parts(&text)?;
            Ok(found.into_iter().map(|(name, bytes)| Part { name: name.into(), bytes: bytes.into() }).collect())
        };
        assert_eq!(read_parts(&first).unwrap(), texts(1));
        assert_eq!(read_parts(&second).unwrap(), texts(2));
        assert_eq!((behind(&path, 0), behind(&path, first.length), behind(&path, 1)), (vec![0, 1], vec![1], vec![]));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[second.offset as usize + 9] ^= 4;
        std::fs::write(&path, bytes).unwrap();
        assert!(read(&path, &second).unwrap_err().to_string().contains("not as it was written"));
        assert_eq!(read_parts(&first).unwrap(), texts(1));
    }
}
