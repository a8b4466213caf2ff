//! `transcripts.zst`: one zstd frame a launch, with its requests, transcripts and messages one behind the other, so
//! that `zstdcat` shows them and a kill costs the last frame at most.

use super::TRANSCRIPTS;
use crate::hash::{sha256_hex, sha256_of};
use crate::launches::Frame;
use anyhow::{Context, Result, bail};
use files::Folder;
use std::cell::RefCell;
use std::io::{Read, Seek, SeekFrom, Write};
use zstd::bulk::Decompressor;

/// A level that costs about a millisecond a launch.
const LEVEL: i32 = 9;
/// Most bytes of a launch, packed or not: a launch of 600,000 samples.
const MOST_BYTES: u64 = 1 << 26;
/// Most bytes of a launch relative to its packed ones, and bytes that every frame may have besides: transcripts shrink to an
/// eighth at best, and a few kilobytes that unpack to many megabytes are no launch.
const MOST_RATIO: u64 = 64;
const FREE_BYTES: u64 = 1 << 20;
/// Most frames behind the last recorded one that are counted.
const MOST_BEHIND: usize = 1000;
/// Bytes of a frame that hold its first line.
const HEAD_BYTES: u64 = 64;

/// One text of a frame, such as `request.a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramePart {
    /// Name within the frame.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Appends a launch's texts as a frame behind `end`, where the last recorded one ends; the rest of a killed run is removed.
pub(super) fn append(
    folder: &Folder,
    end: u64,
    launch: usize,
    parts: &[FramePart],
) -> Result<Frame> {
    let mut text = format!("pagewise launch {launch}\n").into_bytes();
    for part in parts {
        text.extend(format!("part {} {}\n", part.name, part.bytes.len()).into_bytes());
        text.extend(&part.bytes);
        text.push(b'\n');
    }
    if text.len() as u64 > MOST_BYTES {
        bail!(
            "launch {launch} wrote {} bytes, more than the {MOST_BYTES} that can be read again",
            text.len()
        );
    }
    let packed = zstd::bulk::compress(&text, LEVEL).context("zstd")?;
    if text.len() as u64 > most_unpacked(&packed) {
        bail!(
            "launch {launch} wrote {} bytes that shrink to {}, and are no transcript",
            text.len(),
            packed.len()
        );
    }
    let mut file = folder.edit(TRANSCRIPTS)?;
    let mut write = || {
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(&packed).inspect_err(|_| {
            let _ = file.set_len(end);
        })
    };
    write()
        .with_context(|| format!("cannot write {}", folder.path().join(TRANSCRIPTS).display()))?;
    Ok(Frame {
        offset: end,
        length: packed.len() as u64,
        sha256: sha256_hex(&[&packed]),
    })
}

/// Most bytes that a frame may unpack to.
fn most_unpacked(packed: &[u8]) -> u64 {
    MOST_BYTES.min(FREE_BYTES + MOST_RATIO * packed.len() as u64)
}

thread_local! {
    /// Unpacks frames; making it costs more than a small frame.
    static UNPACKING: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

fn unpacked(packed: &[u8]) -> Result<Vec<u8>> {
    let size = zstd::zstd_safe::get_frame_content_size(packed)
        .ok()
        .flatten()
        .context("its frame states no size")?;
    if size > most_unpacked(packed) {
        bail!("its frame would unpack to {size} bytes");
    }
    UNPACKING.with_borrow_mut(|kept| {
        let unpacking = match kept {
            Some(unpacking) => unpacking,
            None => kept.insert(Decompressor::new()?),
        };
        Ok(unpacking.decompress(packed, usize::try_from(size)?)?)
    })
}

/// Bytes of transcripts.zst from an offset, at most so many.
fn stretch(folder: &Folder, from: u64, most: u64) -> Result<Vec<u8>> {
    let mut file = folder.file(TRANSCRIPTS)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a frame; an error names its damage.
pub(super) fn read(folder: &Folder, frame: &Frame) -> Result<Vec<u8>> {
    if frame.length > MOST_BYTES {
        bail!("its frame would be {} bytes long", frame.length);
    }
    let packed = stretch(folder, frame.offset, frame.length)?;
    if packed.len() as u64 != frame.length || sha256_hex(&[&packed]) != frame.sha256 {
        bail!("its frame in transcripts.zst is not as it was written");
    }
    unpacked(&packed)
}

/// True if every one of these frames is there as it was written. None is unpacked.
pub(super) fn are_whole(folder: &Folder, frames: &[Frame]) -> bool {
    let Ok(mut file) = folder.file(TRANSCRIPTS) else {
        return frames.is_empty();
    };
    frames.iter().all(|frame| {
        file.seek(SeekFrom::Start(frame.offset)).is_ok()
            && sha256_of((&file).take(frame.length)).is_ok_and(|hash| hash == frame.sha256)
    })
}

/// The numbers of the launches whose whole frames lie behind this byte; the first other byte ends them.
pub(super) fn behind(folder: &Folder, end: u64) -> Vec<usize> {
    let bytes = stretch(folder, end, MOST_BYTES).unwrap_or_default();
    let (mut numbers, mut rest) = (Vec::new(), &bytes[..]);
    while let Ok(length) = zstd::zstd_safe::find_frame_compressed_size(rest)
        && numbers.len() < MOST_BEHIND
    {
        let mut text = Vec::new();
        let head = zstd::stream::read::Decoder::with_buffer(&rest[..length]);
        if head
            .and_then(|head| head.take(HEAD_BYTES).read_to_end(&mut text))
            .is_err()
        {
            break;
        }
        let head = after_line(&text).and_then(|(head, _)| std::str::from_utf8(head).ok());
        let Some(number) = head.and_then(|h| h.strip_prefix("pagewise launch ")?.parse().ok())
        else {
            break;
        };
        numbers.push(number);
        rest = &rest[length..];
    }
    numbers
}

/// The names and bytes of what stands in a frame's text.
pub(super) fn parts(text: &[u8]) -> Result<Vec<(&str, &[u8])>> {
    let mut parts = Vec::new();
    let mut rest = after_line(text)
        .map(|(_, rest)| rest)
        .context("its frame is empty")?;
    while let Some((head, body)) = after_line(rest) {
        let head = std::str::from_utf8(head)?;
        let head = head
            .strip_prefix("part ")
            .and_then(|head| head.split_once(' '));
        let (name, length) = head.context("its frame has a part without a head")?;
        let length: usize = length.parse()?;
        let bytes = body
            .get(..length)
            .context("its frame has a part that is cut short")?;
        parts.push((name, bytes));
        rest = body.get(length + 1..).unwrap_or_default();
    }
    Ok(parts)
}

fn after_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    Some((&text[..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_that_unpack_to_many_are_no_launch() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let zeros = |count: usize| {
            [FramePart {
                name: "transcript".into(),
                bytes: vec![0; count],
            }]
        };
        let error = append(&folder, 0, 0, &zeros(2 << 20)).unwrap_err();
        assert!(error.to_string().contains("are no transcript"), "{error:#}");
        let packed = zstd::bulk::compress(&vec![0; 2 << 20], LEVEL).unwrap();
        let error = unpacked(&packed).unwrap_err();
        assert!(error.to_string().contains("would unpack"), "{error:#}");
        append(&folder, 0, 0, &zeros(1 << 19)).unwrap();
    }

    #[test]
    fn texts_come_back_and_a_flipped_bit_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let texts = |n: u8| {
            vec![
                FramePart {
                    name: "request.a".into(),
                    bytes: vec![n; 100],
                },
                FramePart {
                    name: "t".into(),
                    bytes: Vec::new(),
                },
            ]
        };
        let first = append(&folder, 0, 0, &texts(1)).unwrap();
        let second = append(&folder, first.length, 1, &texts(2)).unwrap();
        let read_parts = |frame: &Frame| -> Result<Vec<FramePart>> {
            let text = read(&folder, frame)?;
            let found = parts(&text)?;
            Ok(found
                .into_iter()
                .map(|(name, bytes)| FramePart {
                    name: name.into(),
                    bytes: bytes.into(),
                })
                .collect())
        };
        assert_eq!(read_parts(&first).unwrap(), texts(1));
        assert_eq!(read_parts(&second).unwrap(), texts(2));
        assert_eq!(
            (
                behind(&folder, 0),
                behind(&folder, first.length),
                behind(&folder, 1)
            ),
            (vec![0, 1], vec![1], vec![])
        );
        let mut bytes = folder.read(TRANSCRIPTS, MOST_BYTES).unwrap();
        bytes[second.offset as usize + 9] ^= 4;
        folder.write(TRANSCRIPTS, &bytes).unwrap();
        assert!(
            read(&folder, &second)
                .unwrap_err()
                .to_string()
                .contains("not as it was written")
        );
        assert_eq!(read_parts(&first).unwrap(), texts(1));
    }
}
