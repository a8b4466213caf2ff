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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Concern {
    /// The path of the file that is read; never split at commas.
    File,
    /// Size of a file, in bytes.
    FileSize,
    /// Folder in which a file is made.
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
    /// Limit in bytes.
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
mod tests {
    use super::*;

    #[test]
    fn a_bound_refuses_or_slows() {
        assert_eq!(
            Bound::parse("4096"),
            Some(Bound {
                bytes: 4096,
                slows: false
            })
        );
        assert_eq!(
            Bound::parse("high:4096"),
            Some(Bound {
                bytes: 4096,
                slows: true
            })
        );
        assert_eq!(
            (Bound::parse("unbounded"), Bound::parse("high:")),
            (None, None)
        );
    }
    use crate::cell::Cell;
    use crate::experiment::Experiment;

    const TEXT: &str = r#"
name = "x"
title = "x"
question = "x?"
unit = "byte"
phases = ["go"]
baseline = "a"
content = "none"
[parameters.input]
kind = "text"
meaning = "the file"
concerns = "file"
default = ["capture"]
[parameters.warmth]
kind = "choice"
meaning = "the cache"
concerns = "page-cache"
default = ["hot"]
"#;

    #[test]
    fn a_key_of_any_name_can_concern_a_file() {
        let experiment = Experiment::parse("x.toml", TEXT).unwrap();
        assert_eq!(
            (
                experiment.key(Concern::File),
                experiment.key(Concern::FileSize)
            ),
            (Some("input"), None)
        );
        assert_eq!(experiment.concern_of("warmth"), Some(Concern::PageCache));
        assert_eq!(
            (
                experiment.concern_of("nothing"),
                experiment.concern_of("go")
            ),
            (None, None)
        );
        let parameters = [("warmth".to_owned(), "cold".to_owned())].into();
        let cell = Cell {
            experiment: "x".into(),
            method: "a".into(),
            worker: "c".into(),
            parameters,
        };
        assert_eq!(experiment.value(&cell, Concern::PageCache), Some("cold"));
        assert_eq!(experiment.value(&cell, Concern::File), None);
    }

    #[test]
    fn a_wrong_concern_is_named_with_line_and_column() {
        for (right, wrong, said) in [
            (
                "\"page-cache\"",
                "\"page-cahce\"",
                "line 17, column 12: unknown variant `page-cahce`, expected one of `file`",
            ),
            (
                "\"page-cache\"",
                "\"file-size\"",
                "line 14, column 1: parameter warmth concerns what a size says, and is a choice",
            ),
            (
                "kind = \"choice\"\nmeaning = \"the cache\"\nconcerns = \"page-cache\"",
                "kind = \"text\"\nmeaning = \"the cache\"\nconcerns = \"file\"",
                "line 14, column 1: parameter warmth concerns the same as input",
            ),
        ] {
            let error = Experiment::parse("x.toml", &TEXT.replace(right, wrong))
                .unwrap_err()
                .to_string();
            assert!(error.contains(said), "{error}, not {said}");
        }
    }
}
