//! Files in the binary: the workers and their sources, the experiments, the published figures and the claims.

pub use workers::{
    ADVISING, COUNTING, FUNCTIONS, HARNESS, HELPER, NATIVE_METHODS, NATIVE_WORKERS, PackedFile,
    RUST_HALVES, RUST_METHODS, SOURCES, all_sources, is_packaged, prebuilt, source,
};

include!(concat!(env!("OUT_DIR"), "/carried.rs"));
