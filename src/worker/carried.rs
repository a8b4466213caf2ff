//! What the binary carries: the workers and their sources, the experiments and the published figures.

pub use workers::{HELPER, NATIVE_METHODS, NATIVE_WORKERS, SOURCES, source};

include!(concat!(env!("OUT_DIR"), "/carried.rs"));
