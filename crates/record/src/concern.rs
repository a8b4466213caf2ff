//! Dimensions that the laboratory acts on: it makes a file, evicts it, bounds memory. Which key
//! that is stands in `experiments/*.toml`; no code names one.

use serde::{Deserialize, Serialize};

/// The value of a [`Concern::FilePlace`] that is a file system whose pages are its storage.
pub const TMPFS: &str = "tmpfs";
/// The value of a [`Concern::FilePlace`] that is a file system on a device.
pub const DISK: &str = "disk";
/// The value of a [`Concern::PageCache`] that evicts the file.
pub const COLD: &str = "cold";
/// The value of a [`Concern::PageCache`] that empties everybody's cache.
pub const DROPPED: &str = "dropped";

/// Dimension that a parameter sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Concern {
    /// The path of the file that is read; never split at commas.
    File,
    FileSize,
    FilePlace,
    /// Use of the file's content. The first of its values can be done with any file.
    FileContent,
    /// State of the file in the page cache before each sample.
    PageCache,
    /// The most memory that the worker may take: a memory cgroup.
    MemoryBound,
    /// The same where the worker keeps the bound by itself, too, so that it is measured where no cgroup can be made.
    OwnMemoryBound,
}

/// A bound on memory, as a value of a parameter that concerns one: `268435456`, or `high:268435456`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub bytes: u64,
    /// True for a throttle (memory.high), false for a hard limit (memory.max).
    pub slows: bool,
}

/// Prefix of the size of a bound that throttles.
pub const SLOWS: &str = "high:";

impl Bound {
    /// `None` where the value is no bound, such as `unbounded`.
    pub fn parse(value: &str) -> Option<Bound> {
        let size = value.strip_prefix(SLOWS);
        Some(Bound {
            bytes: size.unwrap_or(value).parse().ok()?,
            slows: size.is_some(),
        })
    }
}

#[cfg(test)]
#[path = "../tests/unit/concern.rs"]
mod tests;
