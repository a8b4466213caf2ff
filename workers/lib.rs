//! The workers that Pagewise carries: the native ones as programs, and the sources of all. Nothing here runs anything.
#![forbid(unsafe_code)]

use flate2::read::DeflateDecoder;
use std::io::Read;
use std::sync::OnceLock;

/// A built file that the program carries compressed; few starts need its bytes.
#[derive(Clone, Copy, Debug)]
pub struct PackedFile {
    packed: &'static [u8],
    /// Number of its bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hex.
    pub sha256: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/carried.rs"));

impl PackedFile {
    /// Its bytes, as they were built.
    pub fn content(&self) -> Vec<u8> {
        let mut content = Vec::with_capacity(usize::try_from(self.bytes).unwrap_or_default());
        DeflateDecoder::new(self.packed)
            .read_to_end(&mut content)
            .expect("the build wrote it whole");
        content
    }
}

/// Every source of a worker with its path in the repository, in the order of their paths. Those that are only shown are
/// unpacked when they are first wanted.
pub fn all_sources() -> Vec<(&'static str, &'static str)> {
    static SHOWN: OnceLock<String> = OnceLock::new();
    let shown = SHOWN.get_or_init(|| {
        String::from_utf8(SHOWN_SOURCES.content()).expect("the build wrote it in UTF-8")
    });
    let mut sources: Vec<_> = divided(shown).chain(SOURCES.iter().copied()).collect();
    sources.sort_unstable();
    sources
}

/// Files that the build joined: each behind a line with its path and the number of its bytes.
fn divided(joined: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = joined;
    std::iter::from_fn(move || {
        let (head, below) = rest.split_once('\n')?;
        let (path, bytes) = head.split_once(' ')?;
        let (text, after) = below.split_at_checked(bytes.parse().ok()?)?;
        rest = after.strip_prefix('\n')?;
        Some((path, text))
    })
}

/// The text of a source below `workers/` that something is built with here.
pub fn source(path: &str) -> Option<&'static str> {
    SOURCES
        .iter()
        .find(|(p, _)| *p == path)
        .map(|(_, text)| *text)
}

/// Prebuilt files below `folder`, by their path in it; none in a binary that was not made by packaging.
pub fn prebuilt(folder: &str) -> impl Iterator<Item = (&'static str, &'static PackedFile)> {
    PREBUILT
        .iter()
        .filter_map(move |(path, file)| Some((path.strip_prefix(folder)?, file)))
}

/// True for a binary made by packaging, which carries a Go worker and Java classes.
pub fn is_packaged() -> bool {
    !PREBUILT.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_as_it_lies_in_the_repository() {
        let sources = all_sources();
        for name in ["c/harness/worker.h", "c/methods/fault/touch.c", "go/go.mod"] {
            let path = format!("workers/{name}");
            let text = std::fs::read_to_string(format!("{}/{name}", env!("CARGO_MANIFEST_DIR")));
            let carried = sources.iter().find(|(carried, _)| *carried == path);
            assert_eq!(
                carried.map(|(_, text)| *text),
                text.ok().as_deref(),
                "{name}"
            );
        }
        let mut joined = String::new();
        for (path, text) in &sources {
            joined += &format!("{path} {}\n{text}\n", text.len());
        }
        assert_eq!(divided(&joined).collect::<Vec<_>>(), sources);
    }
}
