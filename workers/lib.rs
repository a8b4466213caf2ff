//! The workers that Pagewise carries: the native ones as programs, and the sources of all. Nothing here runs anything.
#![forbid(unsafe_code)]

use flate2::read::DeflateDecoder;
use std::io::Read;

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

/// The text of a source below `workers/`, as the measured worker was built from it.
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
