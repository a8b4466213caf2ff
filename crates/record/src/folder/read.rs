//! Files of a run, none of them larger than a run makes it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// A file of JSON with more bytes than this is not read: 20,000 cells take a quarter of it.
const LARGEST: u64 = 256 << 20;

/// The bytes of a file of a run; more of them than any run has are not read.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    let length = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
    if length > LARGEST {
        bail!("{} is damaged: it has {length} bytes, which no run needs", path.display());
    }
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
