//! The workers that Pagewise carries: the native ones as programs, and the sources of all. Nothing here runs anything.
#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// The text of a source below `workers/`, as the measured worker was built from it.
pub fn source(path: &str) -> Option<&'static str> {
    SOURCES.iter().find(|(p, _)| *p == path).map(|(_, text)| *text)
}
