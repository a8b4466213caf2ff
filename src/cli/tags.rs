//! Tags of a kept run: words by which several runs are named at once. They stand in a file of their own, because what
//! a run itself wrote is never changed.

use anyhow::{Result, bail};
use record::folder::{RunFolder, peek};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FILE: &str = "tags.json";
/// Longest tag, and most tags of one run.
const MOST: (usize, usize) = (40, 100);

#[derive(Default, Serialize, Deserialize)]
struct Tags {
    tags: Vec<String>,
    /// Absent in files of older versions.
    #[serde(default, skip_serializing)]
    seal: Option<String>,
}

record::read_from_json!(Tags);
record::written_to_json!(Tags);

/// The tags of the run in a folder. Damaged ones are named and not used.
pub(super) fn read(folder: &Path) -> Vec<String> {
    let run = RunFolder::open(&folder.to_string_lossy(), folder);
    let Some(run) = run.ok().filter(|run| run.has(FILE)) else {
        return Vec::new();
    };
    let unsealed = || peek::<Tags>(folder, FILE).filter(|kept| kept.seal.is_none());
    let Some(kept) = run.read_sealed::<Tags>(FILE).ok().or_else(unsealed) else {
        remark!(
            "pagewise: {} is damaged; its tags are not used",
            folder.join(FILE).display()
        );
        return Vec::new();
    };
    kept.tags
        .into_iter()
        .filter(|tag| check(tag).is_ok())
        .collect()
}

/// A tag of the command line.
pub(super) fn checked(tag: &str) -> Result<String> {
    check(tag).map(|()| tag.to_owned())
}

fn check(tag: &str) -> Result<()> {
    let good = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    if !tag.is_empty() && tag.len() <= MOST.0 && tag.chars().all(good) {
        Ok(())
    } else {
        bail!(
            "{tag:?} is no tag: up to {} letters, digits, dots, hyphens and underscores are",
            MOST.0
        )
    }
}

/// Gives a run tags, or takes them from it; what it has then.
pub(super) fn change(folder: &RunFolder, tags: &[String], remove: bool) -> Result<Vec<String>> {
    tags.iter().try_for_each(|tag| check(tag))?;
    let mut kept = read(folder.path());
    kept.retain(|tag| !tags.contains(tag));
    if !remove {
        kept.extend(tags.iter().cloned());
    }
    kept.sort();
    kept.dedup();
    if kept.len() > MOST.1 {
        bail!("a run has at most {} tags", MOST.1);
    }
    let new = Tags {
        tags: kept,
        seal: None,
    };
    folder.write_sealed(FILE, &new)?;
    Ok(new.tags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_word() {
        for good in ["before", "6.12-rc1", "a_b"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for wrong in ["", "a b", "../x", "\u{1b}[2J", &"x".repeat(41)] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
