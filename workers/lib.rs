//! The workers that Pagewise carries: the native ones as programs, and the sources of all. Nothing here runs anything.
#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// The text of a source below `workers/`, as the measured worker was built from it.
pub fn source(path: &str) -> Option<&'static str> {
    SOURCES
        .iter()
        .find(|(p, _)| *p == path)
        .map(|(_, text)| *text)
}

/// Prebuilt files below `folder`, by their path in it; none in a binary that was not made by packaging.
pub fn prebuilt(folder: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    PREBUILT
        .iter()
        .filter_map(move |(path, bytes)| Some((path.strip_prefix(folder)?, *bytes)))
}

/// True for a binary made by packaging, which carries a Go worker and Java classes.
pub fn is_packaged() -> bool {
    !PREBUILT.is_empty()
}
